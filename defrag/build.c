/* SPDX-License-Identifier: MIT */
/*
 * Turns the places of units into a target layout. Must not choose places, but of trees whose
 * size is only known now.
 */
#include "defrag/packer.h"

#include <stdlib.h>

/* Takes single blocks for a tree, from the shortest runs that stay free. */
static int take_tree(struct packer *packer, struct fl_target *target, uint64_t need)
{
	while (need) {
		struct fl_run *run;
		uint64_t part;

		if (!packer->left.count)
			return FL_ENOROOM;
		run = &packer->left.at[packer->left.count - 1];
		part = fl_min(run->len, need);
		if (fl_target_add_tree(target, run->start, part))
			return FL_ENOMEM;
		run->start += part;
		run->len -= part;
		need -= part;
		if (!run->len)
			packer->left.count--;
	}
	return 0;
}

static int push_run(struct fl_runs *runs, fl_pblk start, uint64_t len)
{
	if (runs->count && fl_run_end(runs->at[runs->count - 1]) == start) {
		runs->at[runs->count - 1].len += len;
		return 0;
	}
	return fl_array_push(runs, ((struct fl_run){start, len}));
}

/* Where the unit's data shall be, as runs in logical order. */
static int unit_runs(const struct packer *packer, const struct unit *unit, struct fl_runs *runs)
{
	const struct fl_extent *extents = fl_array_from(&packer->map->extents, unit->first_extent);
	const struct fl_run *pieces = fl_array_from(&packer->units.pieces, unit->first_piece);
	int error = 0;

	if (unit->placed && !unit->split)
		return push_run(runs, unit->to + unit->tree, unit->blocks);
	for (size_t i = 0; unit->placed && i < unit->piece_count && !error; i++)
		error = push_run(runs, pieces[i].start, pieces[i].len);
	for (size_t i = 0; !unit->placed && i < unit->extent_count && !error; i++)
		error = push_run(runs, extents[i].pblk, extents[i].len);
	return error;
}

/* Adds the file whose units are first..end-1, when one of them moves. */
static int add_file(struct packer *packer, size_t first, size_t end, struct fl_target *target)
{
	const struct units *units = &packer->units;
	const struct unit *unit = &units->at[first];
	struct fl_runs runs = {0};
	uint64_t tree = 0;
	bool moves = false;
	int error = 0;

	for (size_t i = first; i < end; i++)
		moves |= units->at[i].placed;
	if (!moves)
		return 0;
	for (size_t i = first; i < end && !error; i++)
		error = unit_runs(packer, &units->at[i], &runs);
	if (!error)
		error = fl_target_add(target, packer->map, unit->file, runs.at, runs.count, &tree);
	if (!error && unit->placed && !unit->split && unit->tree == tree)
		error = fl_target_add_tree(target, unit->to, tree);
	else if (!error)
		error = take_tree(packer, target, tree);
	fl_array_free(&runs);
	return error;
}

int packer_target(struct packer *packer, struct fl_target *target)
{
	const struct units *units = &packer->units;
	int error = 0;

	/* Bytes that are counted are spent on what they are for. */
	target->sparing = packer->settings->mode == DEFRAG_FILES || packer->settings->max_bytes;
	fl_runs_longest_first(&packer->left);
	for (size_t i = 0; i < units->count && !error;) {
		size_t end = units_file_end(units, i);

		error = add_file(packer, i, end, target);
		i = end;
	}
	return error;
}
