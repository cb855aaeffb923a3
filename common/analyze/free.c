/* SPDX-License-Identifier: MIT */
/*
 * Free space of a map. Counts; whether it is good enough is for the reader.
 */
#include "parts.h"

/* floor(log2(blocks)), at most the last bucket; blocks > 0. */
static size_t bucket_of(uint64_t blocks)
{
	size_t bucket = 0;

	while (blocks >>= 1)
		bucket++;
	return bucket < FL_FREE_BUCKETS ? bucket : FL_FREE_BUCKETS - 1;
}

void fl_analyze_free(const struct fl_map *map, const struct fl_runs *slots_by_length,
		     struct fl_free_metrics *metrics)
{
	struct fl_free_metrics sum = {0};
	uint64_t block_bytes = map->geo.block_bytes;
	uint64_t largest = 0;
	uint64_t longest_slot = slots_by_length->count ? slots_by_length->at[0].len : 0;

	for (size_t i = 0; i < map->free.count; i++) {
		uint64_t len = map->free.at[i].len;
		size_t bucket = bucket_of(len);

		sum.blocks += len;
		sum.histogram[bucket].extents++;
		sum.histogram[bucket].blocks += len;
		largest = fl_max(largest, len);
	}
	sum.extents = map->free.count;
	sum.largest_bytes = largest * block_bytes;
	sum.largest_possible_bytes = fl_min(longest_slot, sum.blocks) * block_bytes;
	if (sum.extents)
		sum.mean_bytes = (double)(sum.blocks * block_bytes) / (double)sum.extents;
	*metrics = sum;
}
