/* SPDX-License-Identifier: MIT */
/*
 * All fragments in the order of the units are one sequence, of which each joint that is no seek is
 * worth 1. Fragments that move are laid into gaps one behind the other, which joins those that were
 * neighbours in the sequence; or right behind a fragment that stays, or right ahead of one,
 * where the gap there holds them. At a given price of a block the best choice is found in one
 * pass over the states that a fragment can be in. Must not move what is pinned.
 */
#include "defrag/sequence.h"

#include <stdlib.h>

#define NEVER (INT64_MIN / 2)
/* So many fragments are laid behind, or ahead of, one at most. */
#define BESIDE_MOST 64

static fl_pblk unit_end(const struct sequence *seq, const struct unit *unit)
{
	return fl_extent_pend(fl_array_from(&seq->packer->map->extents,
					    unit->first_extent + unit->extent_count - 1));
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

/* What the first fragment beside a kept one would cost; UINT64_MAX: there is none. */
static uint64_t cost_beside(const struct units *units, size_t index)
{
	return index < units->count && !units->at[index].pinned ? units->at[index].blocks
								: UINT64_MAX;
}

/* Each gap serves the side whose neighbour in the sequence is shorter. */
int sequence_find_gaps(struct sequence *seq)
{
	const struct units *units = &seq->packer->units;
	const struct fl_runs *runs = &seq->packer->map->free;
	size_t *ahead_of = fl_alloc(runs->count, sizeof(*ahead_of));

	if (!ahead_of)
		return FL_ENOMEM;
	for (size_t i = 0; i < runs->count; i++)
		ahead_of[i] = units->count;
	for (size_t i = 0; i < units->count; i++) {
		seq->items[i].gap_behind = run_at(runs, unit_end(seq, &units->at[i]), false);
		seq->items[i].gap_ahead = run_at(runs, units->at[i].at, true);
		if (seq->items[i].gap_ahead < runs->count)
			ahead_of[seq->items[i].gap_ahead] = i;
	}
	for (size_t i = 0; i < units->count; i++) {
		size_t gap = seq->items[i].gap_behind;
		size_t other = gap < runs->count ? ahead_of[gap] : units->count;

		if (other == units->count)
			continue;
		if (cost_beside(units, i + 1) <= cost_beside(units, other - 1))
			seq->items[other].gap_ahead = runs->count;
		else
			seq->items[i].gap_behind = runs->count;
	}
	free(ahead_of);
	return 0;
}

static bool joined(const struct sequence *seq, size_t i)
{
	const struct units *units = &seq->packer->units;

	return i && unit_end(seq, &units->at[i - 1]) == units->at[i].at;
}

static enum state best_of(const int64_t *values, enum state count)
{
	enum state best = KEPT;

	for (enum state s = MOVED; s < count; s++)
		if (values[s] > values[best])
			best = s;
	return best;
}

static uint64_t room_in(const struct sequence *seq, size_t gap)
{
	const struct fl_runs *runs = &seq->packer->map->free;

	return gap < runs->count ? runs->at[gap].len : 0;
}

/* Values what follows unit i, if it stays and they are laid behind it. */
static void value_behind(struct sequence *seq, size_t i, int64_t value, int64_t price)
{
	const struct units *units = &seq->packer->units;
	uint64_t room = room_in(seq, seq->items[i].gap_behind);

	for (size_t k = i + 1; room && k < units->count && k <= i + BESIDE_MOST; k++) {
		const struct unit *unit = &units->at[k];

		if (unit->pinned || unit->blocks > room)
			return;
		room -= unit->blocks;
		value += JOINT - price * (int64_t)unit->blocks;
		if (value > seq->items[k].behind.value)
			seq->items[k].behind = (struct beside){value, i};
	}
}

/* Values unit i if it stays and those before it are laid ahead of it. */
static void value_ahead(struct sequence *seq, size_t i, int64_t price)
{
	const struct units *units = &seq->packer->units;
	uint64_t room = room_in(seq, seq->items[i].gap_ahead);
	int64_t gain = 0;

	seq->items[i].ahead.value = NEVER;
	for (size_t k = i; room && k-- > 0 && k + BESIDE_MOST >= i;) {
		const struct unit *unit = &units->at[k];
		int64_t value;

		if (unit->pinned || unit->blocks > room)
			return;
		room -= unit->blocks;
		gain += JOINT - price * (int64_t)unit->blocks;
		value = gain + (k ? seq->items[k - 1].best : 0);
		if (value > seq->items[i].ahead.value)
			seq->items[i].ahead = (struct beside){value, k};
	}
}

/* Fills in what is best for each unit at a price. */
static void value_all(struct sequence *seq, int64_t price)
{
	const struct units *units = &seq->packer->units;
	int64_t before[STATES] = {0, NEVER, NEVER, NEVER};

	for (size_t i = 0; i < units->count; i++)
		seq->items[i].behind.value = NEVER;
	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];
		int64_t kept[STATES] = {before[KEPT] + (joined(seq, i) ? JOINT : 0), before[MOVED],
					before[BEHIND], NEVER};
		int64_t moved[STATES] = {before[KEPT], before[MOVED] + JOINT, before[BEHIND],
					 NEVER};

		value_ahead(seq, i, price);
		kept[AHEAD] = seq->items[i].ahead.value;
		seq->items[i].before[KEPT] = (uint8_t)best_of(kept, STATES);
		seq->items[i].before[MOVED] = (uint8_t)best_of(moved, AHEAD);
		before[KEPT] = kept[seq->items[i].before[KEPT]];
		before[MOVED] = unit->pinned ? NEVER
					     : moved[seq->items[i].before[MOVED]] -
						       price * (int64_t)unit->blocks;
		before[BEHIND] = seq->items[i].behind.value;
		seq->items[i].state = (uint8_t)best_of(before, AHEAD);
		seq->items[i].best = before[seq->items[i].state];
		value_behind(seq, i, before[KEPT], price);
	}
}

/* Lays units first..end-1 one behind the other. Their blocks. */
static uint64_t lay(struct units *units, size_t first, size_t end, fl_pblk to)
{
	uint64_t blocks = 0;

	for (size_t k = first; k < end; k++) {
		units->at[k].keep = false;
		units->at[k].placed = true;
		units->at[k].to = to + blocks;
		blocks += units->at[k].blocks;
	}
	return blocks;
}

static uint64_t lay_ahead(struct units *units, size_t first, size_t end)
{
	uint64_t blocks = 0;

	for (size_t k = first; k < end; k++)
		blocks += units->at[k].blocks;
	return lay(units, first, end, units->at[end].at - blocks);
}

/* Goes back over the best choice, noting it in the units. */
struct choice sequence_choose(struct sequence *seq, int64_t price)
{
	struct units *units = &seq->packer->units;
	struct choice choice = {0};
	enum state state = KEPT;

	value_all(seq, price);
	for (size_t i = units->count; i-- > 0;) {
		struct unit *unit = &units->at[i];
		bool last = i + 1 == units->count;

		if (last)
			state = seq->items[i].state;
		if (state == BEHIND) {
			size_t first = seq->items[i].behind.first;

			choice.beside +=
				lay(units, first + 1, i + 1, unit_end(seq, &units->at[first]));
			i = first + 1;
			state = KEPT;
			continue;
		}
		unit->placed = false;
		unit->keep = state == KEPT;
		choice.away += state == MOVED ? unit->blocks : 0;
		state = seq->items[i].before[state];
		if (state == AHEAD) {
			size_t first = seq->items[i].ahead.first;

			choice.beside += lay_ahead(units, first, i);
			i = first;
			state = first ? seq->items[first - 1].state : KEPT;
		}
	}
	return choice;
}
