/* SPDX-License-Identifier: MIT */
/*
 * Files mode: files whole, nothing else moved. Must not move a file that is whole.
 */
#include "defrag/fill.h"
#include "defrag/keep.h"
#include "defrag/packer.h"

#include <stdlib.h>
#include <string.h>

/* Passes, each using what the ones before have vacated. */
#define PASSES 8

/* Makes the blocks that units placed since the last pass have left part of the gaps. */
static int release_placed(struct packer *packer, bool *released, struct fl_runs *gaps)
{
	const struct fl_map *map = packer->map;

	for (size_t i = 0; i < packer->units.count; i++) {
		const struct unit *unit = &packer->units.at[i];
		const struct fl_file *file = &map->files.at[unit->file];
		bool all = unit->extent_count == file->extent_count;

		if (!unit->placed || released[i])
			continue;
		released[i] = true;
		for (size_t e = 0; e < unit->extent_count; e++) {
			const struct fl_extent *extent = &map->extents.at[unit->first_extent + e];

			if (fl_array_push(gaps, ((struct fl_run){extent->pblk, extent->len})))
				return FL_ENOMEM;
		}
		for (size_t t = 0; all && t < file->tree_count; t++) {
			fl_pblk block = map->trees.at[file->first_tree + t];

			if (fl_array_push(gaps, ((struct fl_run){block, 1})))
				return FL_ENOMEM;
		}
	}
	return 0;
}

/* Blocks that trees may need: those of cut files have no place beside their data. */
static uint64_t tree_blocks(const struct packer *packer)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < packer->units.count; i++) {
		const struct unit *unit = &packer->units.at[i];
		bool again = i && packer->units.at[i - 1].file == unit->file;

		if (!unit->keep && !unit->pinned && !again)
			sum += fl_max(unit->tree, packer->map->files.at[unit->file].tree_count);
	}
	return sum;
}

/* Moves so many blocks from the shortest gaps to what stays free. */
static int set_aside(struct packer *packer, struct fl_runs *gaps, uint64_t blocks)
{
	size_t used = 0;

	fl_runs_normalize(gaps);
	fl_runs_shortest_first(gaps);
	for (; used < gaps->count && blocks; used++) {
		struct fl_run *run = &gaps->at[used], part = {run->start, fl_min(run->len, blocks)};

		if (fl_array_push(&packer->left, part))
			return FL_ENOMEM;
		blocks -= part.len;
		run->start += part.len;
		run->len -= part.len;
		if (run->len)
			break;
	}
	gaps->count -= used;
	if (used)
		memmove(gaps->at, gaps->at + used, gaps->count * sizeof(*gaps->at));
	return 0;
}

/* One pass: whole files into gaps, or cut ones into fewer pieces than they are in. */
static int pass(struct packer *packer, bool cut, bool *released, struct fl_runs *gaps, bool *placed)
{
	size_t split = 0, before;
	int error = 0;

	packer->left.count = 0;
	if (cut) {
		error = set_aside(packer, gaps, tree_blocks(packer));
		if (!error)
			error = fill_split(&packer->units, gaps, true, &split);
		for (size_t i = 0; i < gaps->count && !error; i++)
			error = fl_array_push(&packer->left, gaps->at[i]);
	} else {
		fl_runs_shortest_first(gaps);
		error = fill_gaps(&packer->units, gaps, gaps->count, FILL_BY_SIZE, &packer->left);
	}
	gaps->count = 0;
	for (size_t i = 0; i < packer->left.count && !error; i++)
		error = fl_array_push(gaps, packer->left.at[i]);
	before = gaps->count;
	if (!error)
		error = release_placed(packer, released, gaps);
	*placed = gaps->count > before;
	fl_runs_normalize(gaps);
	return error;
}

int packer_files_only(struct packer *packer, struct fl_target *target)
{
	bool *released = fl_alloc(packer->units.count, sizeof(*released));
	struct fl_runs gaps = {0};
	bool placed = true;
	int error = released ? 0 : FL_ENOMEM;

	keep_whole(&packer->units);
	for (size_t i = 0; i < packer->map->free.count && !error; i++)
		error = fl_array_push(&gaps, packer->map->free.at[i]);
	for (int i = 0; i < PASSES && placed && !error; i++)
		error = pass(packer, false, released, &gaps, &placed);
	if (!error)
		error = pass(packer, true, released, &gaps, &placed);
	if (!error)
		error = packer_target(packer, target);
	fl_array_free(&gaps);
	free(released);
	return error;
}

/* Blocks that move when all fragments of at most `longest` blocks are joined to neighbours. */
static uint64_t cost_of(const struct units *units)
{
	uint64_t cost = 0;

	for (size_t i = 0; i < units->count; i++)
		if (!units->at[i].whole && !units->at[i].pinned)
			cost += unit_size(&units->at[i]);
	return cost;
}

int packer_within(struct packer *packer, uint64_t max_blocks, struct fl_target *target)
{
	uint64_t low = 0, high = 1;
	int error = 0;

	while (high < packer->map->geo.blocks)
		high *= 2;
	/* The most that may be moved: the greatest length that keeps within the budget. */
	while (high - low > 1 && !error) {
		uint64_t middle = low + (high - low) / 2;

		units_free(&packer->units);
		error = units_collect_parts(packer->map, packer->settings, middle, &packer->units);
		if (cost_of(&packer->units) <= max_blocks)
			low = middle;
		else
			high = middle;
	}
	units_free(&packer->units);
	if (!error)
		error = units_collect_parts(packer->map, packer->settings, low, &packer->units);
	return error ? error : packer_files_only(packer, target);
}
