/* SPDX-License-Identifier: MIT */
/*
 * File fragmentation of a map. Counts; judges nothing and knows no I/O.
 */
#include "parts.h"

/* Keeps the largest in descending order. */
static void note_fragments(struct fl_file_metrics *metrics, uint64_t fragments)
{
	uint64_t *list = metrics->largest_fragments;
	size_t at = metrics->largest_count;

	if (at == FL_LARGEST_FRAGMENTS) {
		if (fragments <= list[at - 1])
			return;
		at--;
	} else {
		metrics->largest_count++;
	}
	for (; at && list[at - 1] < fragments; at--)
		list[at] = list[at - 1];
	list[at] = fragments;
}

void fl_analyze_files(const struct fl_map *map, const struct fl_runs *slots_by_length,
		      struct fl_file_metrics *metrics)
{
	struct fl_file_metrics sum = {0};

	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];
		uint64_t fragments, forced;

		if (!fl_file_movable(file))
			sum.pinned[file->pin] += file->kind != FL_KIND_XATTR;
		if (!fl_file_counted(file))
			continue;
		fragments = fl_file_fragments(map, file);
		forced = fl_fragments_forced(fl_file_room(map, file), slots_by_length->at,
					     slots_by_length->count);
		sum.count++;
		sum.blocks += file->blocks;
		sum.extents += file->extent_count;
		sum.fragments += fragments;
		sum.fragmented += fragments > 1;
		sum.forced_fragments += forced;
		sum.avoidable_fragments += fragments > forced ? fragments - forced : 0;
		sum.tree_blocks += file->tree_count;
		note_fragments(&sum, fragments);
	}
	/* A fragment of n blocks has n - 1 that follow the one before. */
	sum.layout_score = sum.blocks > sum.count ? (double)(sum.blocks - sum.fragments) /
							    (double)(sum.blocks - sum.count)
						  : 1.0;
	*metrics = sum;
}
