/* SPDX-License-Identifier: MIT */
/*
 * Decides what stays. The less it keeps, the more is moved and the better the result.
 */
#include "defrag/keep.h"

#include <fraglab/blockset.h>
#include <stdlib.h>

/* Neighbourhoods in which density is measured, blocks. */
#define CHUNK_BLOCKS 1024u
/* A unit from this length on costs one seek wherever it is. */
#define LONG_BYTES (UINT64_C(1) << 20)
/* Neighbours in the order wanted at most this far apart are read without a long seek. */
#define NEAR_BYTES (UINT64_C(1) << 20)

void keep_whole(struct units *units)
{
	for (size_t i = 0; i < units->count; i++)
		units->at[i].keep = units->at[i].whole || units->at[i].pinned;
}

void keep_nothing(struct units *units)
{
	for (size_t i = 0; i < units->count; i++)
		units->at[i].keep = units->at[i].pinned;
}

/* Whether b begins shortly after a ends. */
static bool follows(const struct unit *a, const struct unit *b, uint64_t near)
{
	fl_pblk end = a->at + a->blocks;

	return a->whole && b->whole && b->at >= end && b->at - end <= near;
}

static void mark_neighbours(struct unit *a, struct unit *b, uint64_t near)
{
	if (follows(a, b, near))
		a->well = b->well = true;
}

int keep_find_well(const struct fl_map *map, struct units *units)
{
	struct fl_ranked *turns = fl_alloc(units->count, sizeof(*turns));
	const uint64_t near = NEAR_BYTES / map->geo.block_bytes;

	if (!turns)
		return FL_ENOMEM;
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->at[i];

		unit->well = unit->blocks >= LONG_BYTES / map->geo.block_bytes;
		turns[i] = (struct fl_ranked){map->files.at[unit->file].path_rank, (uint32_t)i};
	}
	fl_ranked_sort(turns, units->count);
	for (size_t i = 1; i < units->count; i++) {
		mark_neighbours(&units->at[i - 1], &units->at[i], near);
		mark_neighbours(&units->at[turns[i - 1].index], &units->at[turns[i].index], near);
	}
	free(turns);
	return 0;
}

/* Adds the blocks of a run to the counts of the chunks it touches. */
static void count_run(uint32_t *chunks, struct fl_run run)
{
	while (run.len) {
		uint64_t part = fl_min(run.len, CHUNK_BLOCKS - run.start % CHUNK_BLOCKS);

		chunks[run.start / CHUNK_BLOCKS] += (uint32_t)part;
		run.start += part;
		run.len -= part;
	}
}

/* Whether at least percent of the chunks around a run, weighted by its blocks, is kept. */
static bool dense(const uint32_t *kept, const uint32_t *room, struct fl_run run, unsigned percent)
{
	uint64_t have = 0, want = 0;

	while (run.len) {
		uint64_t part = fl_min(run.len, CHUNK_BLOCKS - run.start % CHUNK_BLOCKS);

		have += part * kept[run.start / CHUNK_BLOCKS];
		want += part * room[run.start / CHUNK_BLOCKS];
		run.start += part;
		run.len -= part;
	}
	return have * 100 >= want * percent;
}

/* Whether a run lies in one of the sorted packed runs. */
static bool inside(const struct fl_runs *packed, struct fl_run run)
{
	size_t low = 0, high = packed->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (packed->at[middle].start <= run.start)
			low = middle + 1;
		else
			high = middle;
	}
	return low && fl_run_end(run) <= fl_run_end(packed->at[low - 1]);
}

int keep_dense(const struct fl_map *map, struct units *units, const struct room *room,
	       unsigned percent)
{
	size_t count = (size_t)(map->geo.blocks / CHUNK_BLOCKS + 1);
	uint32_t *kept = fl_alloc(count, sizeof(*kept)), *whole = fl_alloc(count, sizeof(*whole));
	int error = kept && whole ? 0 : FL_ENOMEM;

	for (size_t i = 0; i < room->packed.count && !error; i++)
		count_run(whole, room->packed.at[i]);
	for (size_t i = 0; i < units->count && !error; i++) {
		struct unit *unit = &units->at[i];
		struct fl_run run = {unit->at, unit->blocks};

		unit->keep =
			unit->pinned || (unit->whole && inside(&room->packed, run) && unit->well);
		if (unit->keep && !unit->pinned)
			count_run(kept, run);
	}
	for (size_t i = 0; i < units->count && !error; i++) {
		struct unit *unit = &units->at[i];
		struct fl_run run = {unit->at, unit->blocks};

		if (unit->keep && !unit->pinned)
			unit->keep = dense(kept, whole, run, percent);
	}
	free(kept);
	free(whole);
	return error;
}

uint64_t keep_blocks(const struct units *units)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < units->count; i++)
		if (units->at[i].keep && !units->at[i].pinned)
			kept += unit_size(&units->at[i]);
	return kept;
}

int keep_release_last(struct units *units, const struct room *room, uint64_t blocks)
{
	/* By the blocks from each to the end of the packed part, around the disk. */
	struct fl_ranked *places = fl_alloc(units->count, sizeof(*places));
	fl_pblk end = room->zones.count ? room->zones.at[0].start : 0;
	size_t count = 0;

	if (!places)
		return FL_ENOMEM;
	for (size_t i = 0; i < units->count; i++)
		if (units->at[i].keep && !units->at[i].pinned)
			places[count++] = (struct fl_ranked){end - units->at[i].at, (uint32_t)i};
	fl_ranked_sort(places, count);
	for (size_t i = 0; i < count && blocks; i++) {
		struct unit *unit = &units->at[places[i].index];

		unit->keep = false;
		blocks -= fl_min(blocks, unit->blocks);
	}
	free(places);
	return 0;
}
