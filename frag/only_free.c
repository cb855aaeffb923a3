/* SPDX-License-Identifier: MIT */
/*
 * Only free space: what lies where the aged layout has holes gives way, whole. Must not part what
 * lies together.
 */
#include "frag/only.h"

#include <fraglab/alloc.h>
#include <stdlib.h>

/* A fragment of a file as it lies now. */
struct fragment {
	fl_pblk start, goal; /* goal: where the aged target has the file's first block */
	uint64_t len;
	uint32_t file;
	bool moved;
};

struct only_free {
	const struct fl_map *map;
	struct fl_blockset *holes;	     /* free in the aged target */
	struct fl_alloc *alloc;		     /* free now, and not to become holes */
	FL_ARRAY(struct fragment) fragments; /* by file, in logical order */
	FL_ARRAY(size_t) in_the_way;	     /* indexes of fragments, longest first */
};

/* Takes out of the holes what a file has in the aged target. */
static int fill(struct fl_blockset *holes, const struct fl_extent *extents, size_t extent_count,
		const fl_pblk *trees, size_t tree_count)
{
	int err = 0;

	for (size_t i = 0; i < extent_count && !err; i++)
		err = fl_blockset_remove(holes, extents[i].pblk, extents[i].len);
	for (size_t i = 0; i < tree_count && !err; i++)
		err = fl_blockset_remove(holes, trees[i], 1);
	return err;
}

static int find_holes(struct only_free *only, const struct fl_target *aged)
{
	const struct fl_map *map = only->map;
	struct fl_runs slots = {0};
	size_t next = 0;
	int err = fl_map_slots(map, &slots);

	if (!err)
		err = fl_blockset_new(map->geo.blocks, &only->holes);
	for (size_t i = 0; i < slots.count && !err; i++)
		err = fl_blockset_add(only->holes, slots.at[i].start, slots.at[i].len);
	for (uint32_t f = 0; f < map->files.count && !err; f++) {
		const struct fl_file *file = &map->files.at[f];
		const struct fl_target_file *item = fl_array_from(&aged->files, next);

		if (next < aged->files.count && item->file == f) {
			next++;
			err = fill(only->holes, fl_array_from(&aged->extents, item->first_extent),
				   item->extent_count,
				   fl_array_from(&aged->trees, item->first_tree), item->tree_count);
		} else if (fl_file_movable(file)) {
			err = fill(only->holes, fl_array_from(&map->extents, file->first_extent),
				   file->extent_count, fl_array_from(&map->trees, file->first_tree),
				   file->tree_count);
		}
	}
	fl_array_free(&slots);
	return err;
}

/* What is free now and not to be a hole. */
static int open_room(struct only_free *only)
{
	const struct fl_map *map = only->map;
	struct fl_runs room = {0};
	int err = 0;

	for (size_t i = 0; i < map->free.count && !err; i++) {
		fl_pblk pos = map->free.at[i].start, end = fl_run_end(map->free.at[i]);

		while (!err && fl_blockset_find(only->holes, pos, end, false, &pos)) {
			struct fl_run run = {.start = pos};

			if (!fl_blockset_find(only->holes, pos, end, true, &pos))
				pos = end;
			run.len = pos - run.start;
			err = fl_array_push(&room, run);
		}
	}
	if (!err)
		err = fl_alloc_new(&map->geo, room.at, room.count, &only->alloc);
	fl_array_free(&room);
	return err;
}

/* The fragments of a file; those on holes can give way if its mapping tree will do for it. */
static int add_fragments(struct only_free *only, const struct fl_target *aged,
			 const struct fl_target_file *item)
{
	const struct fl_file *file = &only->map->files.at[item->file];
	const struct fl_extent *extents = &only->map->extents.at[file->first_extent];
	size_t first = only->fragments.count;
	uint64_t tree_blocks;
	int err = fl_map_tree_blocks(only->map, item->file, extents, file->extent_count,
				     &tree_blocks);

	for (size_t i = 0; i < file->extent_count && !err; i++) {
		struct fragment fragment = {.start = extents[i].pblk,
					    .len = extents[i].len,
					    .goal = aged->extents.at[item->first_extent].pblk,
					    .file = item->file};

		if (i && extents[i].pblk == fl_extent_pend(&extents[i - 1]))
			only->fragments.at[only->fragments.count - 1].len += fragment.len;
		else
			err = fl_array_push(&only->fragments, fragment);
	}
	for (size_t i = first; i < only->fragments.count && !err; i++) {
		const struct fragment *fragment = &only->fragments.at[i];

		if (tree_blocks <= file->tree_count &&
		    fl_blockset_count_range(only->holes, fragment->start, fragment->len))
			err = fl_array_push(&only->in_the_way, i);
	}
	return err;
}

/* Longest first, where room is scarcest. The context: struct only_free. */
static int compare_in_the_way(const void *a, const void *b, void *context)
{
	const struct only_free *only = context;
	const size_t left = *(const size_t *)a, right = *(const size_t *)b;
	int order = fl_compare(only->fragments.at[right].len, only->fragments.at[left].len);

	return order ? order : fl_compare(left, right);
}

/* The blocks of a place that was left and that are not to be a hole. */
static int give_back(struct only_free *only, struct fl_run left)
{
	fl_pblk pos = left.start, end = fl_run_end(left);
	int err = 0;

	while (!err && fl_blockset_find(only->holes, pos, end, false, &pos)) {
		struct fl_run run = {.start = pos};

		if (!fl_blockset_find(only->holes, pos, end, true, &pos))
			pos = end;
		run.len = pos - run.start;
		err = fl_alloc_give(only->alloc, run);
	}
	return err;
}

/* Moves a fragment to where it is whole and no hole is to be; or leaves it. */
static int give_way(struct only_free *only, struct fragment *fragment)
{
	struct fl_run old = {.start = fragment->start, .len = fragment->len}, run;
	int err = fl_alloc_take(only->alloc, fragment->goal, fragment->len, &run);

	if (err)
		return err == FL_ENOROOM ? 0 : err;
	if (run.len < fragment->len)
		return fl_alloc_give(only->alloc, run);
	fragment->start = run.start;
	fragment->moved = true;
	return give_back(only, old);
}

/* Files of which a fragment has moved, with the trees that they have. */
static int add_moved(const struct only_free *only, const struct fl_target *aged,
		     struct fl_target *target)
{
	const struct fl_map *map = only->map;
	struct fl_runs runs = {0};
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < aged->files.count && !err; i++) {
		const uint32_t number = aged->files.at[i].file;
		const struct fl_file *file = &map->files.at[number];
		uint64_t tree_blocks = 0;
		bool moved = false;

		runs.count = 0;
		for (; at < only->fragments.count && only->fragments.at[at].file == number; at++) {
			const struct fragment *fragment = &only->fragments.at[at];

			moved |= fragment->moved;
			if (fl_array_push(&runs, ((struct fl_run){fragment->start, fragment->len})))
				err = FL_ENOMEM;
		}
		if (!err && moved)
			err = fl_target_add(target, map, number, runs.at, runs.count, &tree_blocks);
		for (size_t t = 0; t < tree_blocks && !err; t++)
			err = fl_target_add_tree(target, map->trees.at[file->first_tree + t], 1);
	}
	fl_array_free(&runs);
	return err;
}

int frag_only_free(const struct fl_map *map, const struct fl_target *aged, struct fl_target *target)
{
	struct only_free only = {.map = map};
	int err = find_holes(&only, aged);

	if (!err)
		err = open_room(&only);
	for (size_t i = 0; i < aged->files.count && !err; i++)
		err = add_fragments(&only, aged, &aged->files.at[i]);
	if (!err && only.in_the_way.count)
		qsort_r(only.in_the_way.at, only.in_the_way.count, sizeof(*only.in_the_way.at),
			compare_in_the_way, &only);
	for (size_t i = 0; i < only.in_the_way.count && !err; i++)
		err = give_way(&only, &only.fragments.at[only.in_the_way.at[i]]);
	if (!err)
		err = add_moved(&only, aged, target);
	fl_array_free(&only.in_the_way);
	fl_array_free(&only.fragments);
	fl_alloc_free(only.alloc);
	fl_blockset_free(only.holes);
	return err;
}
