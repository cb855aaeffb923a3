/* SPDX-License-Identifier: MIT */
/*
 * File fragmentation of a map. Counts; judges nothing and knows no I/O.
 */
#include "parts.h"

#include <fraglab/shape.h>

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

/* `broken`: the fragments of each file that has more than one; sorts them. */
static double worst_ratio(const struct fl_file_metrics *sum, struct fl_numbers *broken)
{
	uint64_t files = fl_div_up(sum->count, 100), fragments = 0;

	fl_numbers_sort(broken);
	for (size_t i = broken->count; i-- > 0 && files; files--)
		fragments += broken->at[i];
	/* The others of them are whole. */
	return sum->count ? (double)(fragments + files) / (double)sum->fragments : 0.0;
}

int fl_analyze_files(const struct fl_map *map, const struct fl_runs *slots_by_length,
		     struct fl_file_metrics *metrics)
{
	struct fl_file_metrics sum = {0};
	struct fl_numbers broken = {0};

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
		if (fragments > 1 && fl_array_push(&broken, fragments)) {
			fl_array_free(&broken);
			return FL_ENOMEM;
		}
	}
	/* A fragment of n blocks has n - 1 that follow the one before. */
	sum.layout_score = sum.blocks > sum.count ? (double)(sum.blocks - sum.fragments) /
							    (double)(sum.blocks - sum.count)
						  : 1.0;
	sum.worst_ratio = worst_ratio(&sum, &broken);
	fl_array_free(&broken);
	*metrics = sum;
	return 0;
}
