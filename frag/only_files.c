/* SPDX-License-Identifier: MIT */
/*
 * Only files: the aged order of the pieces, without the holes between them. Must not take a free
 * block for data.
 */
#include "frag/only.h"

#include <stdlib.h>

/* A piece of a file: an extent of the aged target, by the same index. */
struct piece {
	fl_pblk aged; /* where the aged target has it */
	uint32_t len;
	uint32_t index;
};

struct only_files {
	const struct fl_map *map;
	const struct fl_target *aged;
	struct piece *pieces;  /* in the order of the disk */
	uint64_t *offsets;     /* by index: blocks of all pieces before it on the disk */
	struct fl_runs places; /* of the data now, by start */
	uint64_t *ends;	       /* by place: blocks up to its end */
	struct fl_runs trees;  /* blocks for mapping trees, in the order in which they are given */
	size_t tree_next;
};

static int compare_pieces(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return fl_compare(left->aged, right->aged);
}

/* Whether a piece continues another of the same file that it does not touch in the aged target. */
static bool continues(const struct piece *piece, const struct piece *next)
{
	return next->index == piece->index + 1 && next->aged != piece->aged + piece->len;
}

/*
 * Pieces in the order of the disk, then their offsets. Pieces of one file that only a hole keeps
 * apart would become one; the next one of another file goes between them.
 */
static int order_pieces(struct only_files *only)
{
	const size_t count = only->aged->extents.count;
	uint64_t offset = 0;

	only->pieces = fl_alloc(count, sizeof(*only->pieces));
	only->offsets = fl_alloc(count, sizeof(*only->offsets));
	if (!only->pieces || !only->offsets)
		return FL_ENOMEM;
	for (size_t i = 0; i < count; i++) {
		const struct fl_extent *extent = &only->aged->extents.at[i];

		only->pieces[i] = (struct piece){extent->pblk, extent->len, (uint32_t)i};
	}
	qsort(only->pieces, count, sizeof(*only->pieces), compare_pieces);
	for (size_t i = 0; i < count; i++) {
		struct piece *piece = &only->pieces[i];

		if (i && i + 1 < count && continues(piece - 1, piece)) {
			struct piece other = piece[1];

			piece[1] = *piece;
			*piece = other;
		}
		only->offsets[piece->index] = offset;
		offset += piece->len;
	}
	return 0;
}

/* What the files of the target have now. */
static int collect_places(struct only_files *only)
{
	const struct fl_map *map = only->map;
	uint64_t end = 0;

	for (size_t i = 0; i < only->aged->files.count; i++) {
		const struct fl_file *file = &map->files.at[only->aged->files.at[i].file];

		for (size_t e = 0; e < file->extent_count; e++) {
			const struct fl_extent *extent = &map->extents.at[file->first_extent + e];

			if (fl_array_push(&only->places,
					  ((struct fl_run){extent->pblk, extent->len})))
				return FL_ENOMEM;
		}
		for (size_t t = 0; t < file->tree_count; t++)
			if (fl_array_push(
				    &only->trees,
				    ((struct fl_run){map->trees.at[file->first_tree + t], 1})))
				return FL_ENOMEM;
	}
	fl_runs_normalize(&only->places);
	only->ends = fl_alloc(fl_max(only->places.count, 1), sizeof(*only->ends));
	if (!only->ends)
		return FL_ENOMEM;
	for (size_t i = 0; i < only->places.count; i++)
		only->ends[i] = end += only->places.at[i].len;
	return 0;
}

/* After the blocks that trees have now: free ones, those of the smallest extents first. */
static int add_free_for_trees(struct only_files *only)
{
	struct fl_runs free = {0};
	int err = fl_array_append(&free, only->map->free.at, only->map->free.count);

	fl_runs_shortest_first(&free);
	if (!err)
		err = fl_array_append(&only->trees, free.at, free.count);
	fl_array_free(&free);
	return err;
}

/* The places of len blocks from an offset on. */
static int cut(const struct only_files *only, uint64_t offset, uint64_t len, struct fl_runs *runs)
{
	size_t low = 0, high = only->places.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (only->ends[middle] <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	for (; len; low++) {
		uint64_t left = only->ends[low] - offset;
		struct fl_run run = {.start = fl_run_end(only->places.at[low]) - left,
				     .len = fl_min(left, len)};

		if (fl_array_push(runs, run))
			return FL_ENOMEM;
		offset += run.len;
		len -= run.len;
	}
	return 0;
}

static int place_tree(struct only_files *only, uint64_t blocks, struct fl_target *target)
{
	while (blocks) {
		struct fl_run *run = &only->trees.at[only->tree_next];
		uint64_t len;
		int err;

		if (only->tree_next == only->trees.count)
			return FL_ENOROOM;
		len = fl_min(run->len, blocks);
		err = fl_target_add_tree(target, run->start, len);
		if (err)
			return err;
		run->start += len;
		run->len -= len;
		only->tree_next += run->len == 0;
		blocks -= len;
	}
	return 0;
}

static int place_file(struct only_files *only, const struct fl_target_file *file,
		      struct fl_runs *runs, struct fl_target *target)
{
	uint64_t tree_blocks;
	int err = 0;

	runs->count = 0;
	for (size_t i = 0; i < file->extent_count && !err; i++) {
		size_t index = file->first_extent + i;

		err = cut(only, only->offsets[index], only->aged->extents.at[index].len, runs);
	}
	if (!err)
		err = fl_target_add(target, only->map, file->file, runs->at, runs->count,
				    &tree_blocks);
	return err ? err : place_tree(only, tree_blocks, target);
}

int frag_only_files(const struct fl_map *map, const struct fl_target *aged,
		    struct fl_target *target)
{
	struct only_files only = {.map = map, .aged = aged};
	struct fl_runs runs = {0};
	int err = 0;

	if (!aged->files.count)
		return 0;
	err = collect_places(&only);
	if (!err)
		err = add_free_for_trees(&only);
	if (!err)
		err = order_pieces(&only);
	for (size_t i = 0; i < aged->files.count && !err; i++)
		err = place_file(&only, &aged->files.at[i], &runs, target);
	fl_array_free(&runs);
	fl_array_free(&only.places);
	fl_array_free(&only.trees);
	free(only.ends);
	free(only.offsets);
	free(only.pieces);
	return err;
}
