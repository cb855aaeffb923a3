/* SPDX-License-Identifier: MIT */
/*
 * Collects what can be moved, in path order. Must not decide where it goes.
 */
#include "defrag/units.h"

#include <stdlib.h>

static int compare_lengths(const void *a, const void *b)
{
	const struct fl_run *left = a, *right = b;

	return left->len != right->len ? fl_compare(right->len, left->len)
				       : fl_compare(left->start, right->start);
}

static int collect_slots(const struct fl_map *map, struct units *units)
{
	int error = fl_map_slots(map, &units->slots);

	for (size_t i = 0; i < units->slots.count && !error; i++) {
		units->slot_blocks += units->slots.at[i].len;
		error = fl_array_push(&units->by_length, units->slots.at[i]);
	}
	if (units->by_length.count)
		qsort(units->by_length.at, units->by_length.count, sizeof(*units->by_length.at),
		      compare_lengths);
	return error;
}

/* Mapping-tree blocks the file needs when its data is one run. */
static int whole_tree(const struct fl_map *map, const struct fl_file *file,
		      struct fl_extents *scratch, uint32_t *tree)
{
	fl_pblk at = 0;

	scratch->count = 0;
	for (size_t i = 0; i < file->extent_count; i++) {
		struct fl_extent extent = map->extents.at[file->first_extent + i];

		extent.pblk = at;
		at += extent.len;
		if (fl_extents_append(scratch, file->mapping, extent))
			return FL_ENOMEM;
	}
	*tree = (uint32_t)fl_tree_blocks(&map->geo, file->mapping, scratch->at, scratch->count);
	return 0;
}

static int add_whole(const struct fl_map *map, const struct defrag_settings *settings,
		     uint32_t index, struct fl_extents *scratch, struct units *units)
{
	const struct fl_file *file = &map->files.at[index];
	const struct fl_extent *extents = map->extents.at + file->first_extent;
	uint64_t fragments = fl_fragments(extents, file->extent_count);
	uint64_t forced =
		fl_fragments_forced(file->blocks, units->by_length.at, units->by_length.count);
	struct unit unit = {.file = index,
			    .blocks = file->blocks,
			    .at = extents[0].pblk,
			    .fragments = fragments,
			    .whole = fragments == 1,
			    .pinned = fragments > 1 &&
				      (fragments <= settings->threshold || fragments <= forced)};
	int error = whole_tree(map, file, scratch, &unit.tree);

	return error ? error : fl_array_push(units, unit);
}

static int add_fragments(const struct fl_map *map, uint32_t index, struct units *units)
{
	const struct fl_file *file = &map->files.at[index];
	const struct fl_extent *extents = map->extents.at + file->first_extent;

	for (size_t i = 0; i < file->extent_count; i++) {
		struct unit unit = {.file = index,
				    .blocks = extents[i].len,
				    .at = extents[i].pblk,
				    .fragments = 1,
				    .whole = true};

		if (i && extents[i].pblk == fl_extent_pend(&extents[i - 1]))
			units->at[units->count - 1].blocks += extents[i].len;
		else if (fl_array_push(units, unit))
			return FL_ENOMEM;
	}
	return 0;
}

struct ranked {
	uint32_t rank, file;
};

static int compare_ranks(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;

	return left->rank != right->rank ? fl_compare(left->rank, right->rank)
					 : fl_compare(left->file, right->file);
}

/* An xattr block goes with its first owner. */
static uint32_t rank_of(const struct fl_map *map, const struct fl_file *file)
{
	size_t owner;

	if (file->kind == FL_KIND_XATTR && fl_map_find(map, file->ino, &owner))
		return map->files.at[owner].path_rank;
	return file->path_rank;
}

int units_collect(const struct fl_map *map, const struct defrag_settings *settings,
		  struct units *units)
{
	FL_ARRAY(struct ranked) order = {0};
	struct fl_extents scratch = {0};
	int error = collect_slots(map, units);

	for (uint32_t f = 0; f < map->files.count && !error; f++)
		if (fl_file_movable(&map->files.at[f]) && map->files.at[f].extent_count)
			error = fl_array_push(
				&order, ((struct ranked){rank_of(map, &map->files.at[f]), f}));
	if (order.count)
		qsort(order.at, order.count, sizeof(*order.at), compare_ranks);
	for (size_t i = 0; i < order.count && !error; i++)
		error = settings->mode == DEFRAG_FREE
				? add_fragments(map, order.at[i].file, units)
				: add_whole(map, settings, order.at[i].file, &scratch, units);
	fl_array_free(&order);
	fl_array_free(&scratch);
	return error;
}

void units_free(struct units *units)
{
	fl_array_free(units);
	fl_array_free(&units->pieces);
	fl_array_free(&units->slots);
	fl_array_free(&units->by_length);
}
