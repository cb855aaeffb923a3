/* SPDX-License-Identifier: MIT */
/*
 * The three policies: attempts from the one that moves least to the one that keeps nothing,
 * until one is good enough. Must not order moves: common/plan does.
 */
#include "defrag/pack.h"

#include "defrag/fill.h"
#include "defrag/keep.h"
#include "defrag/room.h"
#include "defrag/units.h"

#include <fraglab/blockset.h>
#include <stdlib.h>

/* Good enough: this share of the largest free extent possible ... */
#define LARGEST_PERCENT 95
/* ... in at most so many times the free extents that fixed metadata forces. */
#define FREE_EXTENTS_FACTOR 2
/* Passes of files mode, each using what the ones before have vacated. */
#define FILES_PASSES 8

struct packer {
	const struct fl_map *map;
	const struct defrag_settings *settings;
	struct units units;
	struct fl_runs left;	  /* runs that stay free */
	struct fl_blockset *open; /* scratch: what gaps are cut from */
};

/* What an attempt leads to. */
struct outcome {
	size_t split; /* units for which no run was long enough */
	uint64_t free_extents, largest_free;
};

/* --- gaps --- */

static int take_file_trees(struct packer *packer, const struct fl_file *file)
{
	int error = 0;

	for (size_t i = 0; i < file->tree_count && !error; i++)
		error = fl_blockset_remove(packer->open,
					   packer->map->trees.at[file->first_tree + i], 1);
	return error;
}

static int take_file_data(struct packer *packer, const struct fl_file *file)
{
	int error = 0;

	for (size_t i = 0; i < file->extent_count && !error; i++) {
		const struct fl_extent *e = &packer->map->extents.at[file->first_extent + i];

		error = fl_blockset_remove(packer->open, e->pblk, e->len);
	}
	return error;
}

/* Takes what kept units occupy out of the open blocks. */
static int take_kept(struct packer *packer)
{
	const struct units *units = &packer->units;
	int error = 0;

	for (size_t i = 0; i < units->count && !error;) {
		const struct fl_file *file = &packer->map->files.at[units->at[i].file];
		bool all_kept = true;
		size_t end = i;

		for (; end < units->count && units->at[end].file == units->at[i].file && !error;
		     end++) {
			const struct unit *unit = &units->at[end];

			all_kept &= unit->keep;
			if (unit->keep)
				error = unit->whole ? fl_blockset_remove(packer->open, unit->at,
									 unit->blocks)
						    : take_file_data(packer, file);
		}
		/* A file of which a part moves gets a new tree. */
		if (!error && all_kept)
			error = take_file_trees(packer, file);
		i = end;
	}
	return error;
}

static int open_runs(struct packer *packer, const struct fl_runs *runs)
{
	int error = 0;

	for (size_t i = 0; i < runs->count && !error; i++)
		error = fl_blockset_add(packer->open, runs->at[i].start, runs->at[i].len);
	return error;
}

/* The open parts of the runs, in the order of the runs. */
static int cut_gaps(struct packer *packer, const struct fl_runs *runs, struct fl_runs *gaps)
{
	for (size_t i = 0; i < runs->count; i++) {
		fl_pblk pos = runs->at[i].start, end = fl_run_end(runs->at[i]);
		struct fl_run gap;

		for (; fl_blockset_next_run(packer->open, pos, end, &gap); pos = fl_run_end(gap))
			if (fl_array_push(gaps, gap))
				return FL_ENOMEM;
	}
	return 0;
}

static int make_gaps(struct packer *packer, const struct room *room, struct fl_runs *gaps,
		     size_t *preferred)
{
	int error = fl_blockset_new(packer->map->geo.blocks, &packer->open);

	if (!error)
		error = open_runs(packer, &room->packed);
	if (!error)
		error = open_runs(packer, &room->zones);
	if (!error)
		error = take_kept(packer);
	if (!error)
		error = cut_gaps(packer, &room->packed, gaps);
	*preferred = gaps->count;
	if (!error)
		error = cut_gaps(packer, &room->zones, gaps);
	fl_blockset_free(packer->open);
	packer->open = NULL;
	return error;
}

/* --- attempts --- */

static void forget_places(struct units *units)
{
	for (size_t i = 0; i < units->count; i++)
		units->at[i].placed = units->at[i].split = false;
	units->pieces.count = 0;
}

static void weigh(const struct packer *packer, struct outcome *outcome)
{
	outcome->free_extents = packer->left.count;
	outcome->largest_free = 0;
	for (size_t i = 0; i < packer->left.count; i++)
		outcome->largest_free = fl_max(outcome->largest_free, packer->left.at[i].len);
}

/* Places everything that is not kept into the room. */
static int attempt(struct packer *packer, const struct room *room, struct outcome *outcome)
{
	struct fl_runs gaps = {0};
	size_t preferred;
	int error;

	forget_places(&packer->units);
	packer->left.count = 0;
	error = make_gaps(packer, room, &gaps, &preferred);
	if (!error)
		error = fill_gaps(&packer->units, &gaps, preferred, true, &packer->left);
	if (!error)
		error = fill_split(&packer->units, &packer->left, &outcome->split);
	weigh(packer, outcome);
	fl_array_free(&gaps);
	return error;
}

static bool good_enough(const struct packer *packer, const struct outcome *outcome)
{
	const struct units *units = &packer->units;
	uint64_t total = 0, possible, forced;

	if (!units->by_length.count)
		return true;
	for (size_t i = 0; i < packer->left.count; i++)
		total += packer->left.at[i].len;
	possible = fl_min(total, units->by_length.at[0].len);
	forced = fl_fragments_forced(total, units->by_length.at, units->by_length.count);
	return !outcome->split && outcome->largest_free >= possible * LARGEST_PERCENT / 100 &&
	       outcome->free_extents <= forced * FREE_EXTENTS_FACTOR;
}

/* --- the target --- */

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

static int unit_runs(const struct units *units, const struct unit *unit, struct fl_runs *runs)
{
	int error = 0;

	if (unit->keep)
		return push_run(runs, unit->at, unit->blocks);
	if (!unit->split)
		return push_run(runs, unit->to + unit->tree, unit->blocks);
	for (size_t i = 0; i < unit->piece_count && !error; i++) {
		struct fl_run piece = units->pieces.at[unit->first_piece + i];

		error = push_run(runs, piece.start, piece.len);
	}
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
		error = unit_runs(units, &units->at[i], &runs);
	if (!error)
		error = fl_target_add(target, packer->map, unit->file, runs.at, runs.count, &tree);
	if (!error && end - first == 1 && !unit->split && unit->tree == tree)
		error = fl_target_add_tree(target, unit->to, tree);
	else if (!error)
		error = take_tree(packer, target, tree);
	fl_array_free(&runs);
	return error;
}

static int compare_longest_first(const void *a, const void *b)
{
	const struct fl_run *left = a, *right = b;

	return left->len != right->len ? fl_compare(right->len, left->len)
				       : fl_compare(left->start, right->start);
}

static int make_target(struct packer *packer, struct fl_target *target)
{
	const struct units *units = &packer->units;
	int error = 0;

	if (packer->left.count)
		qsort(packer->left.at, packer->left.count, sizeof(*packer->left.at),
		      compare_longest_first);
	for (size_t i = 0; i < units->count && !error;) {
		size_t end = i + 1;

		while (end < units->count && units->at[end].file == units->at[i].file)
			end++;
		error = add_file(packer, i, end, target);
		i = end;
	}
	return error;
}

/* --- policies --- */

static uint64_t used_blocks(const struct packer *packer)
{
	uint64_t used = 0;

	for (size_t i = 0; i < packer->units.count; i++)
		used += unit_size(&packer->units.at[i]);
	for (size_t f = 0; f < packer->map->files.count; f++)
		if (packer->settings->mode == DEFRAG_FREE &&
		    fl_file_movable(&packer->map->files.at[f]))
			used += packer->map->files.at[f].tree_count;
	return fl_min(used, packer->units.slot_blocks);
}

/* Whether an attempt is worth less than what there is: then nothing should move. */
static bool no_better(const struct packer *packer, const struct outcome *outcome)
{
	size_t broken = 0;

	for (size_t i = 0; i < packer->units.count; i++)
		broken += !packer->units.at[i].whole && !packer->units.at[i].pinned;
	return outcome->split >= broken && outcome->free_extents >= packer->map->free.count;
}

static int consolidate(struct packer *packer, struct fl_target *target)
{
	static const unsigned densities[] = {50, 75, 90};
	struct room all = {0}, room = {0};
	struct outcome outcome = {0};
	bool good = false;
	int error = room_all(&packer->units, &all);

	if (!error)
		error = room_consolidated(packer->map, &packer->units, used_blocks(packer), &room);
	if (error)
		goto out;
	keep_whole(&packer->units);
	error = attempt(packer, &all, &outcome);
	good = !error && good_enough(packer, &outcome);
	for (size_t i = 0; i < sizeof(densities) / sizeof(*densities) && !good; i++) {
		if (error && error != FL_ENOROOM)
			goto out;
		error = keep_dense(packer->map, &packer->units, &room, densities[i]);
		if (!error)
			error = attempt(packer, &room, &outcome);
		good = !error && good_enough(packer, &outcome);
	}
	if (!good) {
		if (error && error != FL_ENOROOM)
			goto out;
		keep_nothing(&packer->units);
		error = attempt(packer, &room, &outcome);
		if (error == FL_ENOROOM || (!error && no_better(packer, &outcome))) {
			forget_places(&packer->units);
			error = 0;
		}
	}
	if (!error)
		error = make_target(packer, target);
out:
	room_free(&all);
	room_free(&room);
	return error;
}

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

static int compare_shortest_first(const void *a, const void *b)
{
	return compare_longest_first(b, a);
}

/* Each file into the shortest run that holds it; nothing else moves. */
static int files_only(struct packer *packer, struct fl_target *target)
{
	struct units *units = &packer->units;
	bool *released = fl_alloc(units->count, sizeof(*released));
	struct fl_runs gaps = {0};
	int error = released ? 0 : FL_ENOMEM;

	keep_whole(units);
	for (size_t i = 0; i < packer->map->free.count && !error; i++)
		error = fl_array_push(&gaps, packer->map->free.at[i]);
	for (int pass = 0; pass < FILES_PASSES && !error; pass++) {
		size_t before;

		if (gaps.count)
			qsort(gaps.at, gaps.count, sizeof(*gaps.at), compare_shortest_first);
		packer->left.count = 0;
		error = fill_gaps(units, &gaps, gaps.count, false, &packer->left);
		gaps.count = 0;
		for (size_t i = 0; i < packer->left.count && !error; i++)
			error = fl_array_push(&gaps, packer->left.at[i]);
		before = gaps.count;
		if (!error)
			error = release_placed(packer, released, &gaps);
		if (gaps.count == before)
			break;
		fl_runs_normalize(&gaps);
	}
	if (!error)
		error = make_target(packer, target);
	fl_array_free(&gaps);
	free(released);
	return error;
}

int defrag_target(const struct defrag_settings *settings, const struct fl_map *map,
		  struct fl_target *target, struct fl_diag *diag)
{
	struct packer packer = {.map = map, .settings = settings};
	int error = units_collect(map, settings, &packer.units);

	if (!error)
		error = settings->mode == DEFRAG_FILES ? files_only(&packer, target)
						       : consolidate(&packer, target);
	units_free(&packer.units);
	fl_array_free(&packer.left);
	return error ? fl_fail(diag, error, "planning: %s", fl_error_text(error)) : 0;
}
