/* SPDX-License-Identifier: MIT */
/*
 * All fragments in the order of the units are one sequence, of which each joint that is no seek is
 * worth 1. Fragments that move are laid into gaps one behind the other, which joins those that were
 * neighbours in the sequence; or right behind a fragment that stays, or right ahead of one,
 * where the gap there holds them. At a given price of a block the best choice is found in one
 * pass over the states that a fragment can be in. Must not move what is pinned, or keep what leaves.
 */
#include "defrag/sequence.h"

#include <stdlib.h>

#define NEVER (INT64_MIN / 2)
/* So many fragments are laid behind, or ahead of, one at most. */
#define BESIDE_MOST 64

static fl_pblk unit_end(const struct unit *unit)
{
	return unit->at + unit->blocks;
}

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

int sequence_new(struct packer *packer, struct sequence *seq)
{
	*seq = (struct sequence){.packer = packer};
	seq->items = fl_alloc(packer->units.count, sizeof(*seq->items));
	return seq->items ? 0 : FL_ENOMEM;
}

void sequence_free(struct sequence *seq)
{
	free(seq->items);
	fl_array_free(&seq->gaps);
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

		item->behind_it = unit->leaves ? none : find_side(seq, unit_end(unit), false);
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
			       units->at[k].to == unit_end(&units->at[i]) + blocks;
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

static bool joined(const struct sequence *seq, size_t i)
{
	const struct units *units = &seq->packer->units;

	return i && unit_end(&units->at[i - 1]) == units->at[i].at;
}

static enum state best_of(const int64_t *values, enum state count)
{
	enum state best = KEPT;

	for (enum state s = MOVED; s < count; s++)
		if (values[s] > values[best])
			best = s;
	return best;
}

/*
 * A file's mapping tree is read before its data: where the file's first fragment stays, the tree
 * lies elsewhere, which is a seek more, and parts the fragment from the one before.
 */
static int64_t tree_worth(const struct unit *unit)
{
	return unit->tree ? JOINT : 0;
}

/* Values what follows unit i, if it stays and they are laid behind it. */
static void value_behind(struct sequence *seq, size_t i, int64_t value, int64_t price)
{
	const struct units *units = &seq->packer->units;
	uint64_t room = units->at[i].leaves ? 0 : seq->items[i].behind_it.room;

	for (size_t k = i + 1; room && k < units->count && k <= i + BESIDE_MOST; k++) {
		const struct unit *unit = &units->at[k];

		if (unit->pinned || unit_size(unit) > room)
			return;
		room -= unit_size(unit);
		value += JOINT + tree_worth(unit) - price * (int64_t)unit->blocks;
		if (value > seq->items[k].behind.value)
			seq->items[k].behind = (struct beside){value, i};
	}
}

/* Values unit i if it stays and those before it are laid ahead of it. */
static void value_ahead(struct sequence *seq, size_t i, int64_t price)
{
	const struct units *units = &seq->packer->units;
	uint64_t room = units->at[i].leaves ? 0 : seq->items[i].ahead_of_it.room;
	int64_t gain = -tree_worth(&units->at[i]);

	seq->items[i].ahead.value = NEVER;
	for (size_t k = i; room && k-- > 0 && k + BESIDE_MOST >= i;) {
		const struct unit *unit = &units->at[k];
		int64_t value;

		if (unit->pinned || unit_size(unit) > room)
			return;
		room -= unit_size(unit);
		gain += JOINT + tree_worth(unit) - price * (int64_t)unit->blocks;
		value = gain + (k ? seq->items[k - 1].best : 0);
		if (value > seq->items[i].ahead.value)
			seq->items[i].ahead = (struct beside){value, k};
	}
}

/* Fills in what is best for each unit at a price. */
static void value_all(struct sequence *seq, int64_t price)
{
	const struct units *units = &seq->packer->units;
	const int64_t away = price + seq->cut_price;
	int64_t before[STATES] = {0, NEVER, NEVER, NEVER};

	for (size_t i = 0; i < units->count; i++)
		seq->items[i].behind.value = NEVER;
	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];
		int64_t kept[STATES] = {before[KEPT] +
						(joined(seq, i) ? JOINT - tree_worth(unit) : 0),
					before[MOVED], before[BEHIND], NEVER};
		int64_t moved[STATES] = {before[KEPT], before[MOVED] + JOINT, before[BEHIND],
					 NEVER};

		value_ahead(seq, i, price);
		kept[AHEAD] = seq->items[i].ahead.value;
		seq->items[i].before[KEPT] = (uint8_t)best_of(kept, STATES);
		seq->items[i].before[MOVED] = (uint8_t)best_of(moved, AHEAD);
		before[KEPT] = unit->leaves ? NEVER : kept[seq->items[i].before[KEPT]];
		before[MOVED] = unit->pinned ? NEVER
					     : moved[seq->items[i].before[MOVED]] -
						       away * (int64_t)unit->blocks +
						       tree_worth(unit);
		before[BEHIND] = seq->items[i].behind.value;
		seq->items[i].state = (uint8_t)best_of(before, AHEAD);
		seq->items[i].best = before[seq->items[i].state];
		value_behind(seq, i, before[KEPT], price);
	}
}

/* Lays units first..end-1 one behind the other. */
static void lay(struct units *units, size_t first, size_t end, fl_pblk to)
{
	for (size_t k = first; k < end; k++) {
		units->at[k].keep = false;
		units->at[k].placed = true;
		units->at[k].to = to;
		to += unit_size(&units->at[k]);
	}
}

static void lay_ahead(struct units *units, size_t first, size_t end)
{
	uint64_t size = 0;

	for (size_t k = first; k < end; k++)
		size += unit_size(&units->at[k]);
	lay(units, first, end, units->at[end].at - size);
}

static struct choice add_up(const struct units *units)
{
	struct choice choice = {0};

	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];

		if (unit->keep)
			continue;
		*(unit->placed ? &choice.beside : &choice.away) += unit->blocks;
		choice.trees += unit->tree;
	}
	return choice;
}

/* Goes back over the best choice, noting it in the units. */
struct choice sequence_choose(struct sequence *seq, int64_t price)
{
	struct units *units = &seq->packer->units;
	enum state state = KEPT;

	value_all(seq, price);
	for (size_t i = units->count; i-- > 0;) {
		struct unit *unit = &units->at[i];
		bool last = i + 1 == units->count;

		if (last)
			state = seq->items[i].state;
		if (state == BEHIND) {
			size_t first = seq->items[i].behind.first;

			lay(units, first + 1, i + 1, unit_end(&units->at[first]));
			i = first + 1;
			state = KEPT;
			continue;
		}
		unit->placed = false;
		unit->keep = state == KEPT;
		state = seq->items[i].before[state];
		if (state == AHEAD) {
			size_t first = seq->items[i].ahead.first;

			lay_ahead(units, first, i);
			i = first;
			state = first ? seq->items[first - 1].state : KEPT;
		}
	}
	return add_up(units);
}
