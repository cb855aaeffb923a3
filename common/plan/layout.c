/* SPDX-License-Identifier: MIT */
/*
 * The state of a map part-way through a plan, and the rules a step must keep. The
 * validator and the mover both walk plans with it. Must not trust the plan.
 */
#include <fraglab/blockset.h>
#include <fraglab/plan.h>

#include "layout.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A file's own mapping, once it differs from the map's. */
struct changed {
	struct fl_extents extents;
	fl_pblk *trees;
	size_t tree_count;
};

struct fl_layout {
	const struct fl_map *map;
	struct fl_blockset *free; /* free on disk after the steps so far */
	struct changed **changed; /* by file; NULL: as in the map */
	uint32_t *stamp;	  /* by file: the last step that switched it, plus one */
	uint32_t step;
};

int fl_layout_new(const struct fl_map *map, struct fl_layout **layout)
{
	struct fl_layout *made = calloc(1, sizeof(*made));
	int error = FL_ENOMEM;

	if (!made)
		return FL_ENOMEM;
	made->map = map;
	made->changed = fl_alloc(map->files.count, sizeof(*made->changed));
	made->stamp = fl_alloc(map->files.count, sizeof(*made->stamp));
	if (!made->changed || !made->stamp || fl_blockset_new(map->geo.blocks, &made->free))
		goto fail;
	for (size_t i = 0; i < map->free.count; i++)
		if (fl_blockset_add(made->free, map->free.at[i].start, map->free.at[i].len))
			goto fail;
	*layout = made;
	return 0;
fail:
	fl_layout_free(made);
	return error;
}

static void free_changed(struct changed *changed)
{
	if (!changed)
		return;
	fl_array_free(&changed->extents);
	free(changed->trees);
	free(changed);
}

void fl_layout_free(struct fl_layout *layout)
{
	if (!layout)
		return;
	if (layout->changed)
		for (size_t f = 0; f < layout->map->files.count; f++)
			free_changed(layout->changed[f]);
	free(layout->changed);
	free(layout->stamp);
	fl_blockset_free(layout->free);
	free(layout);
}

uint64_t fl_layout_free_extents(const struct fl_layout *layout)
{
	fl_pblk end = layout->map->geo.blocks;
	uint64_t count = 0;
	struct fl_run run;

	for (fl_pblk at = 0; fl_blockset_next_run(layout->free, at, end, &run); count++)
		at = fl_run_end(run);
	return count;
}

struct fl_mapping_view fl_layout_file(const struct fl_layout *layout, uint32_t file)
{
	const struct fl_file *source = &layout->map->files.at[file];
	const struct changed *changed = layout->changed[file];

	if (changed)
		return (struct fl_mapping_view){changed->extents.at, changed->extents.count,
						changed->trees, changed->tree_count};
	return (struct fl_mapping_view){
		fl_array_from(&layout->map->extents, source->first_extent), source->extent_count,
		fl_array_from(&layout->map->trees, source->first_tree), source->tree_count};
}

const struct fl_blockset *fl_layout_free_blocks(const struct fl_layout *layout)
{
	return layout->free;
}

/* Where a rewrite of a mapping stands: extent `i` of the old one, `done` blocks of it used. */
struct cursor {
	struct fl_mapping_view old;
	size_t i;
	uint32_t done;
};

/* The unused rest of the current extent. False at the end. */
static bool cursor_rest(const struct cursor *cursor, struct fl_extent *rest)
{
	if (cursor->i == cursor->old.extent_count)
		return false;
	*rest = cursor->old.extents[cursor->i];
	rest->lblk += cursor->done;
	rest->pblk += cursor->done;
	rest->len -= cursor->done;
	return true;
}

static void cursor_advance(struct cursor *cursor, uint32_t len)
{
	cursor->done += len;
	if (cursor->done == cursor->old.extents[cursor->i].len) {
		cursor->done = 0;
		cursor->i++;
	}
}

/* Copies what lies before lblk unchanged. */
static int keep_until(struct cursor *cursor, enum fl_mapping mapping, uint64_t lblk,
		      struct fl_extents *out)
{
	struct fl_extent rest;

	while (cursor_rest(cursor, &rest) && rest.lblk < lblk) {
		rest.len = (uint32_t)fl_min(rest.len, lblk - rest.lblk);
		if (fl_extents_append(out, mapping, rest))
			return FL_ENOMEM;
		cursor_advance(cursor, rest.len);
	}
	return 0;
}

/* Replaces what the move covers; FL_EPLAN when the old mapping is not what the move says. */
static int apply_move(struct cursor *cursor, enum fl_mapping mapping, const struct fl_move *move,
		      struct fl_extents *out)
{
	uint32_t done = 0;

	while (done < move->len) {
		struct fl_extent rest;

		if (!cursor_rest(cursor, &rest) || rest.lblk != (uint64_t)move->lblk + done ||
		    rest.pblk != move->from + done || rest.unwritten != move->unwritten)
			return FL_EPLAN;
		rest.len = (uint32_t)fl_min(rest.len, move->len - done);
		rest.pblk = move->to + done;
		if (fl_extents_append(out, mapping, rest))
			return FL_ENOMEM;
		cursor_advance(cursor, rest.len);
		done += rest.len;
	}
	return 0;
}

static int rewrite(const struct fl_layout *layout, const struct fl_plan *plan,
		   const struct fl_switch *item, struct fl_extents *out, struct fl_diag *diag)
{
	const struct fl_file *file = &layout->map->files.at[item->file];
	struct cursor cursor = {.old = fl_layout_file(layout, item->file)};
	uint64_t next = 0; /* moves are in logical order and do not overlap */
	int error = 0;

	for (uint32_t i = 0; i < item->move_count && !error; i++) {
		const struct fl_move *move = &plan->moves.at[item->first_move + i];

		error = move->len && move->lblk >= next
				? keep_until(&cursor, file->mapping, move->lblk, out)
				: FL_EPLAN;
		if (!error)
			error = apply_move(&cursor, file->mapping, move, out);
		if (error == FL_EPLAN)
			return fl_fail(diag, error,
				       "inode %u: the move of %u blocks from logical block %u does "
				       "not fit its mapping",
				       file->ino, move->len, move->lblk);
		next = (uint64_t)move->lblk + move->len;
	}
	if (!error)
		error = keep_until(&cursor, file->mapping, UINT64_MAX, out);
	return error;
}

/* Takes blocks out of the free set; each can be taken once, and only if it was free before. */
static int claim(struct fl_layout *layout, fl_pblk start, uint64_t len, fl_ino ino,
		 struct fl_runs *claimed, struct fl_diag *diag)
{
	fl_pblk block = start;

	if (start >= layout->map->geo.blocks || len > layout->map->geo.blocks - start ||
	    fl_blockset_find(layout->free, start, start + len, false, &block))
		return fl_fail(diag, FL_EPLAN,
			       "inode %u: destination block %" PRIu64 " is not free", ino, block);
	if (claimed && fl_array_push(claimed, ((struct fl_run){start, len})))
		return FL_ENOMEM;
	return fl_blockset_remove(layout->free, start, len);
}

static int check_ranges(const struct fl_plan *plan, const struct fl_switch *item)
{
	bool good = item->first_move <= plan->moves.count &&
		    item->move_count <= plan->moves.count - item->first_move &&
		    item->first_tree <= plan->trees.count &&
		    item->tree_count <= plan->trees.count - item->first_tree;

	return good ? 0 : FL_EPLAN;
}

/* Everything that changes hands with one switch. */
static int trade(struct fl_layout *layout, const struct fl_plan *plan, const struct fl_switch *item,
		 struct fl_runs *claimed, struct fl_runs *released, struct fl_diag *diag)
{
	struct fl_mapping_view old = fl_layout_file(layout, item->file);
	fl_ino ino = layout->map->files.at[item->file].ino;
	int error = 0;

	for (uint32_t i = 0; i < item->move_count && !error; i++) {
		const struct fl_move *move = &plan->moves.at[item->first_move + i];

		error = claim(layout, move->to, move->len, ino, claimed, diag);
		if (!error)
			error = fl_array_push(released, ((struct fl_run){move->from, move->len}));
	}
	for (size_t i = 0; i < item->tree_count && !error; i++)
		error = claim(layout, plan->trees.at[item->first_tree + i], 1, ino, claimed, diag);
	for (size_t i = 0; i < old.tree_count && !error; i++)
		error = fl_array_push(released, ((struct fl_run){old.trees[i], 1}));
	return error;
}

static int step_switch(struct fl_layout *layout, const struct fl_plan *plan,
		       const struct fl_switch *item, struct fl_runs *claimed,
		       struct fl_runs *released, struct fl_diag *diag)
{
	const struct fl_map *map = layout->map;
	const struct fl_file *file;
	struct changed *changed;
	uint64_t tree_blocks = 0;
	int error = FL_ENOMEM;

	if (item->file >= map->files.count || check_ranges(plan, item))
		return fl_fail(diag, FL_EPLAN, "a switch is out of range");
	file = &map->files.at[item->file];
	if (!fl_file_movable(file) || layout->stamp[item->file] == layout->step)
		return fl_fail(diag, FL_EPLAN, "inode %u: pinned, or twice in one batch",
			       file->ino);
	layout->stamp[item->file] = layout->step;
	changed = calloc(1, sizeof(*changed));
	if (!changed)
		return FL_ENOMEM;
	error = rewrite(layout, plan, item, &changed->extents, diag);
	if (!error)
		error = fl_map_tree_blocks(map, item->file, changed->extents.at,
					   changed->extents.count, &tree_blocks);
	if (error)
		goto fail;
	if (item->tree_count != tree_blocks) {
		error = fl_fail(diag, FL_EPLAN, "inode %u: %zu mapping-tree blocks are wrong",
				file->ino, item->tree_count);
		goto fail;
	}
	error = trade(layout, plan, item, claimed, released, diag);
	if (error)
		goto fail;
	error = FL_ENOMEM;
	changed->trees = fl_alloc(item->tree_count, sizeof(*changed->trees));
	if (!changed->trees)
		goto fail;
	if (item->tree_count)
		memcpy(changed->trees, plan->trees.at + item->first_tree,
		       item->tree_count * sizeof(*changed->trees));
	changed->tree_count = item->tree_count;
	free_changed(layout->changed[item->file]);
	layout->changed[item->file] = changed;
	return 0;
fail:
	free_changed(changed);
	return error;
}

int fl_layout_step(struct fl_layout *layout, const struct fl_plan *plan, size_t batch,
		   struct fl_runs *claimed, struct fl_runs *released, struct fl_diag *diag)
{
	const struct fl_batch *item;
	struct fl_runs own = {0};
	int error = 0;

	if (batch >= plan->batches.count)
		return FL_EINVAL;
	if (!released)
		released = &own;
	if (claimed)
		claimed->count = 0;
	released->count = 0;
	item = &plan->batches.at[batch];
	if (item->first_switch > plan->switches.count ||
	    item->switch_count > plan->switches.count - item->first_switch)
		return fl_fail(diag, FL_EPLAN, "batch %zu is out of range", batch);
	layout->step++;
	for (size_t i = 0; i < item->switch_count && !error; i++)
		error = step_switch(layout, plan, &plan->switches.at[item->first_switch + i],
				    claimed, released, diag);
	if (!error) {
		fl_runs_normalize(released);
		if (claimed)
			fl_runs_normalize(claimed);
	}
	/* Only now: what this batch leaves must not be a destination in it. */
	for (size_t i = 0; i < released->count && !error; i++)
		error = fl_blockset_add(layout->free, released->at[i].start, released->at[i].len);
	fl_array_free(&own);
	return error;
}

int layout_add_file(struct fl_map *to, struct fl_file file, const struct fl_mapping_view *view)
{
	file.first_extent = to->extents.count;
	file.extent_count = view->extent_count;
	file.first_tree = to->trees.count;
	file.tree_count = view->tree_count;
	if (fl_array_append(&to->extents, view->extents, view->extent_count) ||
	    fl_array_append(&to->trees, view->trees, view->tree_count))
		return FL_ENOMEM;
	return fl_array_push(&to->files, file);
}

static int copy_file(const void *context, uint32_t index, struct fl_map *to)
{
	const struct fl_layout *layout = context;
	struct fl_file file = layout->map->files.at[index];
	struct fl_mapping_view view = fl_layout_file(layout, index);

	file.rebuilt |= layout->changed[index] != NULL;
	return layout_add_file(to, file, &view);
}

int fl_layout_to_map(const struct fl_layout *layout, struct fl_map **map, struct fl_diag *diag)
{
	return fl_map_rebuild(layout->map, copy_file, layout, map, diag);
}
