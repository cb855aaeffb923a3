/* SPDX-License-Identifier: MIT */
/*
 * All fragments in the order of the units are one sequence, of which each joint that is no seek is
 * worth 1. Fragments that move are laid into gaps one behind the other, which joins those that were
 * neighbours in the sequence; or right behind a fragment that stays, or right ahead of one,
 * where the gap there holds them. At a given price of a block the best choice is found in one
 * pass over the states that a fragment can be in. Must not move what is pinned, or keep what
 * leaves.
 */
#include "defrag/sequence.h"

#include <stdlib.h>

#define NEVER (INT64_MIN / 2)
/* So many fragments are laid behind, or ahead of, one at most. */
#define BESIDE_MOST 64

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

static bool joined(const struct sequence *seq, size_t i)
{
	const struct units *units = &seq->packer->units;

	return i && unit_data_end(&units->at[i - 1]) == units->at[i].at;
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
	uint64_t room = seq->items[i].behind_it.room;

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
	uint64_t room = seq->items[i].ahead_of_it.room;
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
		before[MOVED] = unit->pinned
					? NEVER
					: moved[seq->items[i].before[MOVED]] -
						  away * (int64_t)unit->blocks + tree_worth(unit);
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

			lay(units, first + 1, i + 1, unit_data_end(&units->at[first]));
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
