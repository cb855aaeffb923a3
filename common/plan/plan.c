/* SPDX-License-Identifier: MIT */
/*
 * A plan's life, its validation and its prediction by simulation. Must not order moves.
 */
#include <fraglab/plan.h>

#include "layout.h"

#include <stdlib.h>

void fl_plan_free(struct fl_plan *plan)
{
	if (!plan)
		return;
	fl_array_free(&plan->batches);
	fl_array_free(&plan->switches);
	fl_array_free(&plan->moves);
	fl_array_free(&plan->trees);
	free(plan);
}

static uint64_t data_blocks(const struct fl_plan *plan, const struct fl_batch *batch)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < batch->switch_count; i++) {
		const struct fl_switch *item = &plan->switches.at[batch->first_switch + i];

		for (uint32_t m = 0; m < item->move_count; m++)
			blocks += plan->moves.at[item->first_move + m].len;
	}
	return blocks;
}

/* Moves and trees of dropped switches stay in their arrays, where nothing refers to them. */
static void drop_last(struct fl_plan *plan)
{
	const struct fl_batch *last = &plan->batches.at[--plan->batches.count];
	uint64_t blocks = data_blocks(plan, last);

	plan->moved_blocks -= blocks;
	plan->left_blocks += blocks;
	plan->switches.count = last->first_switch;
}

static int run_through(const struct fl_map *map, const struct fl_plan *plan,
		       struct fl_layout **layout, struct fl_diag *diag)
{
	struct fl_layout *made;
	int error = fl_layout_new(map, &made);

	if (error)
		return error;
	for (size_t i = 0; i < plan->batches.count && !error; i++)
		error = fl_layout_step(made, plan, i, NULL, NULL, diag);
	if (error)
		fl_layout_free(made);
	else
		*layout = made;
	return error;
}

int fl_plan_validate(const struct fl_map *map, const struct fl_plan *plan, struct fl_diag *diag)
{
	struct fl_layout *layout;
	int error = run_through(map, plan, &layout, diag);

	if (!error)
		fl_layout_free(layout);
	return error;
}

/* How many fragments the files have that a batch switches. */
static int64_t fragments_of(const struct fl_layout *layout, const struct fl_plan *plan,
			    const struct fl_batch *batch)
{
	int64_t fragments = 0;

	for (size_t i = 0; i < batch->switch_count; i++) {
		uint32_t file = plan->switches.at[batch->first_switch + i].file;
		struct fl_mapping_view view = fl_layout_file(layout, file);

		fragments += (int64_t)fl_fragments(view.extents, view.extent_count);
	}
	return fragments;
}

int fl_plan_cut_losses(const struct fl_map *map, struct fl_plan *plan, struct fl_diag *diag)
{
	int64_t change = 0, least = 0;
	struct fl_layout *layout;
	size_t best = 0;
	int error = fl_layout_new(map, &layout);

	if (error)
		return error;
	for (size_t i = 0; i < plan->batches.count && !error; i++) {
		const struct fl_batch *batch = &plan->batches.at[i];

		change -= fragments_of(layout, plan, batch);
		error = fl_layout_step(layout, plan, i, NULL, NULL, diag);
		if (error)
			break;
		change += fragments_of(layout, plan, batch);
		if (change < least) {
			least = change;
			best = i + 1;
		}
	}
	while (!error && change > 0 && plan->batches.count > best)
		drop_last(plan);
	fl_layout_free(layout);
	return error;
}

struct standing {
	int64_t fragments; /* more than in the beginning */
	uint64_t free_extents;
};

static bool gains(const struct standing *now, const struct standing *least, enum fl_gain gain)
{
	if (gain == FL_GAIN_ANY)
		return true;
	if (gain == FL_GAIN_FREE)
		return now->fragments <= 0 && now->free_extents < least->free_extents;
	return now->fragments < least->fragments ||
	       (now->fragments == least->fragments && now->free_extents < least->free_extents);
}

int fl_plan_cut_to_gain(const struct fl_map *map, struct fl_plan *plan, uint64_t max_blocks,
			enum fl_gain gain, uint64_t *next_blocks, struct fl_diag *diag)
{
	struct standing now = {.free_extents = map->free.count}, least = now;
	struct fl_layout *layout;
	uint64_t moved = 0;
	size_t best = 0;
	int error = fl_layout_new(map, &layout);

	*next_blocks = 0;
	if (error)
		return error;
	for (size_t i = 0; i < plan->batches.count && (moved <= max_blocks || !*next_blocks); i++) {
		const struct fl_batch *batch = &plan->batches.at[i];

		now.fragments -= fragments_of(layout, plan, batch);
		error = fl_layout_step(layout, plan, i, NULL, NULL, diag);
		if (error)
			break;
		now.fragments += fragments_of(layout, plan, batch);
		now.free_extents = fl_layout_free_extents(layout);
		moved += data_blocks(plan, batch);
		if (!gains(&now, &least, gain))
			continue;
		if (!*next_blocks)
			*next_blocks = moved;
		if (moved > max_blocks)
			break;
		least = now;
		best = i + 1;
	}
	while (!error && plan->batches.count > best)
		drop_last(plan);
	fl_layout_free(layout);
	return error;
}

int fl_plan_predict(const struct fl_map *map, const struct fl_plan *plan, struct fl_map **predicted,
		    struct fl_diag *diag)
{
	struct fl_layout *layout;
	int error = run_through(map, plan, &layout, diag);

	if (error)
		return error;
	error = fl_layout_to_map(layout, predicted, diag);
	fl_layout_free(layout);
	return error;
}
