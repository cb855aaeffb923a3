/* SPDX-License-Identifier: MIT */
/*
 * Within a budget: the fragments whose moving saves the most seeks for a byte. Must not move
 * what is pinned, or more than the budget.
 *
 * The price of a block that the budget pays for is found by bisection: Lagrangian relaxation, as
 * for any knapsack with structure.
 */
#include "defrag/fill.h"
#include "defrag/sequence.h"

#include <stdlib.h>

/* Free runs without what is laid at their beginnings and ends. */
static int collect_gaps(const struct sequence *seq, struct fl_runs *gaps)
{
	const struct units *units = &seq->packer->units;
	const struct fl_runs *runs = &seq->packer->map->free;

	for (size_t i = 0; i < runs->count; i++)
		if (fl_array_push(gaps, runs->at[i]))
			return FL_ENOMEM;
	for (size_t i = 0; i < units->count; i++) {
		size_t behind = seq->items[i].gap_behind, ahead = seq->items[i].gap_ahead;

		if (!units->at[i].keep)
			continue;
		for (size_t k = i + 1;
		     behind < runs->count && k < units->count && units->at[k].placed &&
		     units->at[k].to == gaps->at[behind].start;
		     k++) {
			gaps->at[behind].start += units->at[k].blocks;
			gaps->at[behind].len -= units->at[k].blocks;
		}
		for (size_t k = i;
		     ahead < runs->count && k-- > 0 && units->at[k].placed &&
		     units->at[k].to + units->at[k].blocks == fl_run_end(gaps->at[ahead]);)
			gaps->at[ahead].len -= units->at[k].blocks;
	}
	return 0;
}

/*
 * A gap ends what lies in it, which costs a joint: those that do not hold what a joint costs are
 * not worth it.
 */
static uint64_t shortest_gap(int64_t price)
{
	return (uint64_t)(JOINT / price);
}

static uint64_t room_away(const struct sequence *seq, int64_t price)
{
	const struct fl_runs *runs = &seq->packer->map->free;
	uint64_t room = 0;

	for (size_t i = 0; i < runs->count; i++)
		if (runs->at[i].len >= shortest_gap(price))
			room += runs->at[i].len;
	return room;
}

/* Places what was chosen. */
static int place(struct sequence *seq, int64_t price)
{
	struct packer *packer = seq->packer;
	struct fl_runs gaps = {0};
	int error = collect_gaps(seq, &gaps);

	if (!error)
		error = packer_set_aside(packer, &gaps, packer_tree_blocks(packer));
	if (!error)
		fl_runs_longest_first(&gaps);
	while (gaps.count && gaps.at[gaps.count - 1].len < shortest_gap(price) && !error)
		error = fl_array_push(&packer->left, gaps.at[--gaps.count]);
	if (!error)
		error = fill_cut(&packer->units, &gaps, &packer->left);
	fl_array_free(&gaps);
	return error;
}

static void pin(struct packer *packer)
{
	const struct defrag_settings *settings = packer->settings;
	struct units *units = &packer->units;

	for (size_t i = 0, end; i < units->count; i = end) {
		for (end = i + 1; end < units->count && units->at[end].file == units->at[i].file;)
			end++;
		for (size_t k = i; k < end; k++)
			units->at[k].pinned = (end - i == 1 && settings->mode == DEFRAG_FILES) ||
					      (end - i > 1 && end - i <= settings->threshold);
	}
}

/* What a choice says of a unit. */
struct chosen {
	fl_pblk to;
	bool keep, placed;
};

static bool affordable(const struct choice *choice, uint64_t max_blocks, uint64_t room)
{
	return choice->beside + choice->away <= max_blocks && choice->away <= room;
}

static uint64_t *part_of(struct choice *choice, bool placed)
{
	return placed ? &choice->beside : &choice->away;
}

/*
 * A price decides of many units that are alike at once, and so leaves a part of the budget: up to
 * one that stays either way, the units are chosen at the lower price, which costs too much for all.
 */
static int mix(struct sequence *seq, int64_t low, int64_t high, uint64_t max_blocks)
{
	struct units *units = &seq->packer->units;
	struct chosen *dear = fl_alloc(fl_max(units->count, 1), sizeof(*dear));
	struct choice choice = sequence_choose(seq, high);
	uint64_t room = room_away(seq, high);
	size_t cut = 0;

	if (!dear)
		return FL_ENOMEM;
	for (size_t i = 0; i < units->count; i++)
		dear[i] = (struct chosen){units->at[i].to, units->at[i].keep, units->at[i].placed};
	(void)sequence_choose(seq, low);
	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];

		if (unit->keep && dear[i].keep && affordable(&choice, max_blocks, room))
			cut = i;
		if (!dear[i].keep)
			*part_of(&choice, dear[i].placed) -= unit->blocks;
		if (!unit->keep)
			*part_of(&choice, unit->placed) += unit->blocks;
	}
	for (size_t i = cut; i < units->count; i++) {
		units->at[i].to = dear[i].to;
		units->at[i].keep = dear[i].keep;
		units->at[i].placed = dear[i].placed;
	}
	free(dear);
	return 0;
}

static int solve(struct sequence *seq, uint64_t max_blocks)
{
	/* Above two joints a block nothing moves. */
	int64_t low = 0, high = 2 * JOINT + 1;
	int error = sequence_find_gaps(seq);

	if (error)
		return error;
	while (high - low > 1) {
		int64_t middle = low + (high - low) / 2;
		struct choice choice = sequence_choose(seq, middle);

		if (affordable(&choice, max_blocks, room_away(seq, middle)))
			high = middle;
		else
			low = middle;
	}
	error = mix(seq, low, high, max_blocks);
	return error ? error : place(seq, high);
}

int packer_within(struct packer *packer, uint64_t max_blocks, struct fl_target *target)
{
	struct sequence seq = {.packer = packer};
	int error = units_collect_fragments(packer->map, packer->settings, &packer->units);
	if (error)
		return error;
	pin(packer);
	seq.items = fl_alloc(packer->units.count, sizeof(*seq.items));
	error = seq.items ? solve(&seq, max_blocks) : FL_ENOMEM;
	free(seq.items);
	return error ? error : packer_target(packer, target);
}
