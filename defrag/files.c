/* SPDX-License-Identifier: MIT */
/*
 * Files mode: files whole, nothing else moved. Must not move a file that is whole.
 */
#include "defrag/fill.h"
#include "defrag/keep.h"
#include "defrag/packer.h"

#include <stdlib.h>

/* Passes, each using what the ones before have vacated. */
#define PASSES 8

/* Makes the blocks of files placed since the last pass part of the gaps. */
static int release_placed(struct packer *packer, bool *released, struct fl_runs *gaps)
{
	for (size_t i = 0; i < packer->units.count; i++) {
		const struct unit *unit = &packer->units.at[i];
		const struct fl_file *file = &packer->map->files.at[unit->file];

		if (!unit->placed || released[i])
			continue;
		released[i] = true;
		for (size_t e = 0; e < file->extent_count; e++) {
			const struct fl_extent *extent =
				&packer->map->extents.at[file->first_extent + e];

			if (fl_array_push(gaps, ((struct fl_run){extent->pblk, extent->len})))
				return FL_ENOMEM;
		}
		for (size_t t = 0; t < file->tree_count; t++)
			if (fl_array_push(gaps,
					  ((struct fl_run){
						  packer->map->trees.at[file->first_tree + t], 1})))
				return FL_ENOMEM;
	}
	return 0;
}

/* Shortest first: the gaps that fit closest are filled first. */
static int compare_lengths(const void *a, const void *b)
{
	const struct fl_run *left = a, *right = b;

	return left->len != right->len ? fl_compare(left->len, right->len)
				       : fl_compare(right->start, left->start);
}

/* One pass: whole files into gaps, or cut ones into fewer pieces than they are in. */
static int pass(struct packer *packer, bool cut, bool *released, struct fl_runs *gaps, bool *placed)
{
	size_t split = 0, before;
	int error = 0;

	packer->left.count = 0;
	if (cut) {
		error = fill_split(&packer->units, gaps, true, &split);
		for (size_t i = 0; i < gaps->count && !error; i++)
			error = fl_array_push(&packer->left, gaps->at[i]);
	} else {
		if (gaps->count)
			qsort(gaps->at, gaps->count, sizeof(*gaps->at), compare_lengths);
		error = fill_gaps(&packer->units, gaps, gaps->count, false, &packer->left);
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
