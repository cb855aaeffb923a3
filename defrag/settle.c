/* SPDX-License-Identifier: MIT */
/*
 * Repeats a planner on the maps that its targets lead to. What one round vacates is room for
 * the next; a file is still moved only once, from where it is to where it ends.
 */
#include "defrag/settle.h"

#include <stdlib.h>
#include <string.h>

/* With this share free, ordering ends: what it would take is not tried for each round. */
#define ROOMY_SHARE 8

/* Whether there surely is a way to any layout, as far as it matters here. */
static bool is_roomy(const struct fl_map *map)
{
	return map->free_blocks >= map->geo.blocks / ROOMY_SHARE;
}

int settle_follow(const struct fl_map *map, struct fl_target *target, struct fl_map **next,
		  struct fl_diag *diag)
{
	struct fl_plan *plan = NULL;
	int error = fl_target_finish(target, map, diag);

	*next = NULL;
	if (!error && is_roomy(map))
		return fl_target_predict(map, target, next, diag);
	if (!error)
		error = fl_plan_order(map, target, NULL, &plan, diag);
	if (!error && !plan->left_blocks)
		error = fl_plan_predict(map, plan, next, diag);
	fl_plan_free(plan);
	return error == FL_ENOROOM ? 0 : error;
}

int settle_cost(const struct fl_map *map, struct fl_target *target, uint64_t *moved,
		struct fl_diag *diag)
{
	struct fl_plan *plan = NULL;
	int error = fl_target_finish(target, map, diag);

	*moved = UINT64_MAX;
	if (!error)
		error = fl_plan_order(map, target, NULL, &plan, diag);
	if (!error && !plan->left_blocks)
		*moved = plan->moved_blocks;
	fl_plan_free(plan);
	return error == FL_ENOROOM ? 0 : error;
}

static bool same_place(const struct fl_map *a, const struct fl_map *b, size_t index)
{
	const struct fl_file *x = &a->files.at[index], *y = &b->files.at[index];

	if (x->extent_count != y->extent_count || x->tree_count != y->tree_count)
		return false;
	for (size_t i = 0; i < x->extent_count; i++)
		if (a->extents.at[x->first_extent + i].pblk !=
			    b->extents.at[y->first_extent + i].pblk ||
		    a->extents.at[x->first_extent + i].len !=
			    b->extents.at[y->first_extent + i].len)
			return false;
	return !x->tree_count || !memcmp(a->trees.at + x->first_tree, b->trees.at + y->first_tree,
					 x->tree_count * sizeof(fl_pblk));
}

/* Adds a file to the target, where the last map has it. */
static int add_file(const struct fl_map *map, const struct fl_map *last, uint32_t index,
		    struct fl_runs *runs, struct fl_target *target)
{
	const struct fl_file *file = &last->files.at[index];
	uint64_t tree_blocks;
	int error = 0;

	runs->count = 0;
	for (size_t i = 0; i < file->extent_count && !error; i++) {
		const struct fl_extent *extent = &last->extents.at[file->first_extent + i];

		error = fl_array_push(runs, ((struct fl_run){extent->pblk, extent->len}));
	}
	if (!error)
		error = fl_target_add(target, map, index, runs->at, runs->count, &tree_blocks);
	for (size_t i = 0; i < file->tree_count && !error; i++)
		error = fl_target_add_tree(target, last->trees.at[file->first_tree + i], 1);
	return error;
}

static int difference(const struct fl_map *map, const struct fl_map *last, struct fl_target *target)
{
	struct fl_runs runs = {0};
	int error = 0;

	for (uint32_t f = 0; f < map->files.count && !error; f++)
		if (!same_place(map, last, f))
			error = add_file(map, last, f, &runs, target);
	fl_array_free(&runs);
	return error;
}

int settle(settle_planner planner, const struct defrag_settings *settings, const struct fl_map *map,
	   int rounds, struct fl_target *target, bool *reached, struct fl_diag *diag)
{
	struct fl_map *last = NULL, *next = NULL;
	int error = 0;

	*reached = true;
	for (int round = 0; !error; round++) {
		const struct fl_map *now = last ? last : map;
		struct fl_target step = {0};
		bool planned = !round && target->files.count;

		*reached = round < rounds;
		if (!*reached)
			break;
		error = fl_watch_step(settings->watch, "rounds", (uint64_t)round, (uint64_t)rounds);
		if (error)
			break;
		if (planned) {
			step = *target;
			*target = (struct fl_target){0};
		} else {
			error = planner(settings, now, &step, diag);
		}
		if (!error && step.files.count)
			error = settle_follow(now, &step, &next, diag);
		*reached = next || !step.files.count;
		/* What cannot be reached from here is still worth the way to it. */
		if (!error && !round && !*reached) {
			*target = step;
			return 0;
		}
		target->sparing |= step.sparing;
		fl_target_free(&step);
		if (!next)
			break;
		fl_map_free(last);
		last = next;
		next = NULL;
	}
	if (!error && last)
		error = difference(map, last, target);
	fl_map_free(last);
	return error;
}
