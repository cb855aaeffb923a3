/* SPDX-License-Identifier: MIT */
/*
 * The gaps beside the fragments of a sequence, and how the two sides of each share it. Must not
 * choose what is laid into them.
 */
#include "defrag/sequence.h"

#include <stdlib.h>

/* The free run that begins at `start`, or ends there; free.count when there is none. */
static size_t run_at(const struct fl_runs *runs, fl_pblk start, bool ends)
{
	size_t low = 0, high = runs->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((ends ? fl_run_end(runs->at[middle]) : runs->at[middle].start) < start)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < runs->count && (ends ? fl_run_end(runs->at[low]) : runs->at[low].start) == start)
		return low;
	return runs->count;
}

/* What the units of a file leave; all of its mapping tree moves with any of them. */
static int add_left(struct sequence *seq, size_t first, size_t end)
{
	const struct units *units = &seq->packer->units;
	const struct fl_map *map = seq->packer->map;
	const struct fl_file *file = &map->files.at[units->at[first].file];
	bool leaves = false;
	int error = 0;

	for (size_t i = first; i < end && !error; i++) {
		const struct unit *unit = &units->at[i];

		leaves |= unit->leaves;
		if (unit->leaves)
			error = fl_array_push(&seq->gaps,
					      ((struct fl_run){unit->at, unit->blocks}));
	}
	for (size_t i = 0; leaves && i < file->tree_count && !error; i++)
		error = fl_array_push(&seq->gaps,
				      ((struct fl_run){map->trees.at[file->first_tree + i], 1}));
	return error;
}

static int collect_gaps(struct sequence *seq)
{
	const struct units *units = &seq->packer->units;
	const struct fl_runs *free = &seq->packer->map->free;
	int error = 0;

	seq->gaps.count = 0;
	for (size_t i = 0; i < free->count && !error; i++)
		error = fl_array_push(&seq->gaps, free->at[i]);
	for (size_t i = 0, end; i < units->count && !error; i = end) {
		end = units_file_end(units, i);
		error = add_left(seq, i, end);
	}
	fl_runs_normalize(&seq->gaps);
	return error;
}

/* By gap, the units on its two sides; how many units there are: none that stays. */
struct owners {
	size_t before, after;
};

static struct owners *find_owners(const struct sequence *seq)
{
	const size_t count = seq->packer->units.count;
	struct owners *owners = fl_alloc(seq->gaps.count, sizeof(*owners));

	for (size_t i = 0; owners && i < seq->gaps.count; i++)
		owners[i] = (struct owners){count, count};
	for (size_t i = 0; owners && i < count; i++) {
		const struct item *item = &seq->items[i];

		if (item->behind_it.gap < seq->gaps.count)
			owners[item->behind_it.gap].before = i;
		if (item->ahead_of_it.gap < seq->gaps.count)
			owners[item->ahead_of_it.gap].after = i;
	}
	return owners;
}

/* What the first fragment beside a kept one would cost; UINT64_MAX: there is none. */
static uint64_t cost_beside(const struct units *units, size_t index)
{
	return index < units->count && !units->at[index].pinned ? units->at[index].blocks
								: UINT64_MAX;
}

static struct side find_side(const struct sequence *seq, fl_pblk at, bool ends)
{
	struct side side = {.gap = run_at(&seq->gaps, at, ends)};

	if (side.gap < seq->gaps.count)
		side.room = seq->gaps.at[side.gap].len;
	return side;
}

/* Each gap serves the side whose neighbour in the sequence is shorter. */
int sequence_find_gaps(struct sequence *seq)
{
	const struct units *units = &seq->packer->units;
	struct owners *owners;
	int error = collect_gaps(seq);

	if (error)
		return error;
	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];
		struct side none = {.gap = seq->gaps.count};
		struct item *item = &seq->items[i];

		item->behind_it = unit->leaves ? none : find_side(seq, unit_data_end(unit), false);
		item->ahead_of_it = unit->leaves ? none : find_side(seq, unit->at, true);
	}
	owners = find_owners(seq);
	if (!owners)
		return FL_ENOMEM;
	for (size_t g = 0; g < seq->gaps.count; g++) {
		size_t before = owners[g].before, after = owners[g].after;

		if (before == units->count || after == units->count)
			continue;
		if (cost_beside(units, before + 1) <= cost_beside(units, after - 1))
			seq->items[after].ahead_of_it.room = 0;
		else
			seq->items[before].behind_it.room = 0;
	}
	free(owners);
	return 0;
}

/* Blocks that are laid right behind a unit. */
static uint64_t laid_behind(const struct sequence *seq, size_t i)
{
	const struct units *units = &seq->packer->units;
	uint64_t blocks = 0;

	if (i == units->count || !units->at[i].keep)
		return 0;
	for (size_t k = i + 1; k < units->count && units->at[k].placed &&
			       units->at[k].to == unit_data_end(&units->at[i]) + blocks;
	     k++)
		blocks += unit_size(&units->at[k]);
	return blocks;
}

/* Blocks that are laid right ahead of a unit. */
static uint64_t laid_ahead(const struct sequence *seq, size_t i)
{
	const struct units *units = &seq->packer->units;
	uint64_t blocks = 0;

	if (i == units->count || !units->at[i].keep)
		return 0;
	for (size_t k = i; k-- > 0 && units->at[k].placed &&
			   units->at[k].to + unit_size(&units->at[k]) + blocks == units->at[i].at;)
		blocks += unit_size(&units->at[k]);
	return blocks;
}

/* Blocks laid into a gap: at its beginning, and at its end. */
static void laid_into(const struct sequence *seq, size_t gap, const struct owners *owners,
		      uint64_t *beginning, uint64_t *end)
{
	*beginning = laid_behind(seq, owners->before);
	*end = laid_ahead(seq, owners->after);
	/* They meet, and were counted from both sides. */
	if (*beginning + *end > seq->gaps.at[gap].len)
		*end = 0;
}

int sequence_share_gaps(struct sequence *seq)
{
	const size_t count = seq->packer->units.count;
	struct owners *owners = find_owners(seq);

	if (!owners)
		return FL_ENOMEM;
	for (size_t g = 0; g < seq->gaps.count; g++) {
		struct side *behind, *ahead;
		uint64_t beginning, end;

		if (owners[g].before == count || owners[g].after == count)
			continue;
		behind = &seq->items[owners[g].before].behind_it;
		ahead = &seq->items[owners[g].after].ahead_of_it;
		laid_into(seq, g, &owners[g], &beginning, &end);
		if (beginning)
			behind->room = beginning;
		else if (end)
			behind->room = seq->gaps.at[g].len - end;
		if (end)
			ahead->room = end;
		else if (beginning)
			ahead->room = seq->gaps.at[g].len - beginning;
	}
	free(owners);
	return 0;
}

int sequence_open_gaps(const struct sequence *seq, struct fl_runs *open)
{
	struct owners *owners = find_owners(seq);
	int error = owners ? 0 : FL_ENOMEM;

	for (size_t g = 0; g < seq->gaps.count && !error; g++) {
		struct fl_run run = seq->gaps.at[g];
		uint64_t beginning, end;

		laid_into(seq, g, &owners[g], &beginning, &end);
		run.start += beginning;
		run.len -= beginning + end;
		if (run.len)
			error = fl_array_push(open, run);
	}
	free(owners);
	return error;
}
