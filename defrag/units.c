/* SPDX-License-Identifier: MIT */
/*
 * Collects what can be moved, in the order wanted. Must not decide where it goes.
 */
#include "defrag/units.h"

#include <stdlib.h>

static int collect_slots(const struct fl_map *map, struct units *units)
{
	int error = fl_map_slots(map, &units->slots);

	for (size_t i = 0; i < units->slots.count && !error; i++) {
		units->slot_blocks += units->slots.at[i].len;
		error = fl_array_push(&units->by_length, units->slots.at[i]);
	}
	fl_runs_longest_first(&units->by_length);
	return error;
}

/* Mapping-tree blocks the file needs when its data is one run. */
static int whole_tree(const struct fl_map *map, uint32_t index, struct fl_extents *scratch,
		      uint32_t *tree)
{
	const struct fl_file *file = &map->files.at[index];
	uint64_t blocks = 0;
	fl_pblk at = 0;
	int error;

	scratch->count = 0;
	for (size_t i = 0; i < file->extent_count; i++) {
		struct fl_extent extent = map->extents.at[file->first_extent + i];

		extent.pblk = at;
		at += extent.len;
		if (fl_extents_append(scratch, file->mapping, extent))
			return FL_ENOMEM;
	}
	error = fl_map_tree_blocks(map, index, scratch->at, scratch->count, &blocks);
	*tree = (uint32_t)blocks;
	return error;
}

static int add_whole(const struct fl_map *map, const struct defrag_settings *settings,
		     uint32_t index, struct fl_extents *scratch, struct units *units)
{
	const struct fl_file *file = &map->files.at[index];
	const struct fl_extent *extents = fl_array_from(&map->extents, file->first_extent);
	uint64_t fragments = fl_fragments(extents, file->extent_count);
	uint64_t forced =
		fl_fragments_forced(file->blocks, units->by_length.at, units->by_length.count);
	struct unit unit = {.file = index,
			    .blocks = file->blocks,
			    .first_extent = file->first_extent,
			    .extent_count = file->extent_count,
			    .at = extents[0].pblk,
			    .fragments = fragments,
			    .whole = fragments == 1,
			    .pinned = fragments > 1 &&
				      (fragments <= settings->threshold || fragments <= forced)};
	int error = whole_tree(map, index, scratch, &unit.tree);

	return error ? error : fl_array_push(units, unit);
}

static int add_fragments(const struct fl_map *map, uint32_t index, struct units *units)
{
	const struct fl_file *file = &map->files.at[index];
	const struct fl_extent *extents = fl_array_from(&map->extents, file->first_extent);

	for (size_t i = 0; i < file->extent_count; i++) {
		struct unit unit = {.file = index,
				    .first_extent = file->first_extent + i,
				    .extent_count = 1,
				    .at = extents[i].pblk,
				    .blocks = extents[i].len,
				    .fragments = 1,
				    .whole = true};

		if (i && extents[i].pblk == fl_extent_pend(&extents[i - 1])) {
			units->at[units->count - 1].blocks += unit.blocks;
			units->at[units->count - 1].extent_count++;
		} else if (fl_array_push(units, unit)) {
			return FL_ENOMEM;
		}
	}
	return 0;
}

/*
 * The place in the order wanted; an xattr block goes with its first owner. Not by path unless that
 * is asked for: most programs that read a whole tree take its directories as these are listed.
 */
static uint32_t rank_of(const struct fl_map *map, const struct defrag_settings *settings,
			const struct fl_file *file)
{
	size_t owner;

	if (file->kind == FL_KIND_XATTR && fl_map_find(map, file->ino, &owner))
		file = &map->files.at[owner];
	return settings->order == DEFRAG_PATH ? file->path_rank : file->listing_rank;
}

/* Movable files in the order wanted: those of the list, then the others. */
static int rank_files(const struct fl_map *map, const struct defrag_settings *settings,
		      struct fl_ranked *order, size_t *count)
{
	bool listed = settings->order == DEFRAG_LIST;
	uint64_t *ranks = fl_alloc(map->files.count, sizeof(*ranks));

	if (!ranks)
		return FL_ENOMEM;
	for (size_t f = 0; f < map->files.count; f++)
		ranks[f] = ((uint64_t)1 << 32) + rank_of(map, settings, &map->files.at[f]);
	/* From the end, so that the first of two entries counts. */
	for (size_t i = settings->listed_count; listed && i-- > 0;)
		if (settings->listed[i] != FL_NO_NAME)
			ranks[settings->listed[i]] = i;
	*count = 0;
	for (uint32_t f = 0; f < map->files.count; f++)
		if (fl_file_movable(&map->files.at[f]) && map->files.at[f].extent_count)
			order[(*count)++] = (struct fl_ranked){ranks[f], f};
	fl_ranked_sort(order, *count);
	free(ranks);
	return 0;
}

static int collect(const struct fl_map *map, const struct defrag_settings *settings, bool fragments,
		   struct units *units)
{
	struct fl_ranked *order = fl_alloc(map->files.count, sizeof(*order));
	struct fl_extents scratch = {0};
	size_t count = 0;
	int error = order ? collect_slots(map, units) : FL_ENOMEM;

	if (!error)
		error = rank_files(map, settings, order, &count);
	for (size_t i = 0; i < count && !error; i++) {
		size_t first = units->count;

		error = fragments ? add_fragments(map, order[i].index, units)
				  : add_whole(map, settings, order[i].index, &scratch, units);
		for (; first < units->count; first++)
			units->at[first].first =
				settings->order == DEFRAG_LIST && order[i].rank < (uint64_t)1 << 32;
	}
	free(order);
	fl_array_free(&scratch);
	return error;
}

int units_collect(const struct fl_map *map, const struct defrag_settings *settings,
		  struct units *units)
{
	return collect(map, settings, settings->mode == DEFRAG_FREE, units);
}

int units_collect_fragments(const struct fl_map *map, const struct defrag_settings *settings,
			    struct units *units)
{
	return collect(map, settings, true, units);
}

void units_free(struct units *units)
{
	fl_array_free(units);
	fl_array_free(&units->pieces);
	fl_array_free(&units->slots);
	fl_array_free(&units->by_length);
	units->slot_blocks = 0;
}
