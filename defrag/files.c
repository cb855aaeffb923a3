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

/*
 * Blocks that mapping trees may need of files that are cut: these have no place beside their data.
 */
static uint64_t tree_blocks(const struct packer *packer)
{
	const struct units *units = &packer->units;
	uint64_t sum = 0;

	for (size_t i = 0, end; i < units->count; i = end) {
		const struct fl_file *file = &packer->map->files.at[units->at[i].file];
		bool moves = false;

		end = units_file_end(units, i);
		for (size_t k = i; k < end; k++)
			moves |= !units->at[k].keep && !units->at[k].pinned;
		/* One more than there is: it may have to be cut where a gap ends. */
		if (moves)
			sum += fl_max(units->at[i].tree, file->tree_count + 1);
	}
	return sum;
}

int packer_set_aside(struct packer *packer, struct fl_runs *gaps, uint64_t blocks)
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
		error = packer_set_aside(packer, gaps, tree_blocks(packer));
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
