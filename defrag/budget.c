/* SPDX-License-Identifier: MIT */
/*
 * Within a budget: the fragments whose moving saves the most seeks for a byte. Must not move
 * what is pinned, or more than the budget.
 *
 * The price of a block that the budget pays for is found by bisection: Lagrangian relaxation, as
 * for any knapsack with structure. What is worth moving depends on the room there is for it, and
 * that on what moves: so most is chosen first as if there were room for all, and where that lies
 * now is room in the rounds that follow, each of which chooses more. What is chosen stays chosen,
 * but where it goes is open until the last round.
 */
#include "defrag/away.h"
#include "defrag/sequence.h"
#include "defrag/settle.h"

#include <stdlib.h>

/* Rounds, of which the first chooses this part of what the budget allows. */
#define ROUNDS 12
#define FIRST_PERCENT 70
/*
 * Joints that are lost for a block that is laid away, as the first round supposes; the others know
 * from the one before. Measured on layouts that a kernel has aged.
 */
#define FIRST_CUTS_PERCENT 3
/* The next block that is laid away is cut oftener than the mean one: the best gaps are taken. */
#define NEXT_CUTS 2
/* Parts of a budget that are tried, each at least three quarters of the one before. */
#define TRIES 8
/* Prices are told apart by this part of them. */
#define PRICE_STEPS 256

static void pin(struct packer *packer)
{
	const struct defrag_settings *settings = packer->settings;
	struct units *units = &packer->units;

	for (size_t i = 0, end; i < units->count; i = end) {
		end = units_file_end(units, i);
		for (size_t k = i; k < end; k++)
			units->at[k].pinned = (end - i == 1 && settings->mode == DEFRAG_FILES) ||
					      (end - i > 1 && end - i <= settings->threshold);
	}
}

/* What a round may move. */
struct limit {
	uint64_t blocks;
	uint64_t room; /* for what moves and its mapping trees */
};

static bool affordable(const struct sequence *seq, const struct choice *choice,
		       const struct limit *limit)
{
	uint64_t blocks = choice->beside + choice->away;

	return blocks <= limit->blocks &&
	       blocks + choice->trees + sequence_trees_elsewhere(seq) <= limit->room;
}

/* Tries a price: it is the new end of the range on the side where it lies. */
static void narrow(struct sequence *seq, const struct limit *limit, int64_t price, int64_t *low,
		   int64_t *high)
{
	struct choice choice;

	if (price <= *low || price >= *high)
		return;
	choice = sequence_choose(seq, price);
	*(affordable(seq, &choice, limit) ? high : low) = price;
}

/*
 * The lowest price at which the choice can be paid for is just below *high; at *low it cannot.
 * *high is where to begin, 0: nowhere.
 */
static void find_price(struct sequence *seq, const struct limit *limit, int64_t *low, int64_t *high)
{
	const int64_t guess = *high;

	*low = 0;
	/* Above two joints a block nothing moves. */
	*high = 2 * JOINT + 1;
	if (guess) {
		narrow(seq, limit, guess + guess / 8, low, high);
		narrow(seq, limit, guess - guess / 8, low, high);
	}
	while (*high - *low > 1 + *high / PRICE_STEPS)
		narrow(seq, limit, *low + (*high - *low) / 2, low, high);
}

/* What a choice says of a unit. */
struct chosen {
	fl_pblk to;
	bool keep, placed;
};

static void note(const struct units *units, struct chosen *chosen)
{
	for (size_t i = 0; i < units->count; i++)
		chosen[i] =
			(struct chosen){units->at[i].to, units->at[i].keep, units->at[i].placed};
}

/*
 * A price decides of many units that are alike at once, and so leaves a part of the budget: up to
 * one that stays either way, the units are chosen at the lower price, which costs too much for all.
 */
static int mix(struct sequence *seq, int64_t low, int64_t high, const struct limit *limit)
{
	struct units *units = &seq->packer->units;
	struct chosen *dear = fl_alloc(units->count, sizeof(*dear));
	struct choice choice = sequence_choose(seq, high);
	uint64_t blocks = choice.beside + choice.away, trees;
	size_t cut = 0;

	if (!dear)
		return FL_ENOMEM;
	note(units, dear);
	trees = choice.trees + sequence_trees_elsewhere(seq);
	if (low)
		choice = sequence_choose(seq, low);
	trees = fl_max(trees, choice.trees + sequence_trees_elsewhere(seq));
	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];

		if (unit->keep && dear[i].keep && blocks <= limit->blocks &&
		    blocks + trees <= limit->room)
			cut = i;
		blocks += unit->keep ? 0 : unit->blocks;
		blocks -= dear[i].keep ? 0 : unit->blocks;
	}
	for (size_t i = cut; i < units->count; i++) {
		units->at[i].to = dear[i].to;
		units->at[i].keep = dear[i].keep;
		units->at[i].placed = dear[i].placed;
	}
	free(dear);
	return 0;
}

/* All that moves moves in any case from now on, and where it is now is room. */
static void settle_on(struct sequence *seq)
{
	struct units *units = &seq->packer->units;

	sequence_expect_trees(seq, false);
	for (size_t i = 0; i < units->count; i++) {
		struct unit *unit = &units->at[i];

		unit->leaves = !unit->keep;
		unit->placed = unit->split = false;
	}
	units->pieces.count = 0;
}

/* Lays what is chosen to be away from what is kept; what that costs is the next round's guess. */
static int lay_away(struct sequence *seq, uint64_t away, bool last)
{
	struct packer *packer = seq->packer;
	struct fl_runs gaps = {0};
	uint64_t cuts = 0;
	int error = sequence_open_gaps(seq, &gaps);

	packer->left.count = 0;
	sequence_expect_trees(seq, true);
	if (!error)
		error = packer_set_aside(packer, &gaps, sequence_trees_elsewhere(seq));
	if (!error)
		error = away_lay(&packer->units, &gaps, &cuts);
	for (size_t i = 0; i < gaps.count && !error; i++)
		error = fl_array_push(&packer->left, gaps.at[i]);
	seq->cuts = cuts;
	if (away)
		seq->cut_price = (int64_t)(NEXT_CUTS * cuts * JOINT / away);
	fl_array_free(&gaps);
	/* There is room when it counts. */
	return error == FL_ENOROOM && !last ? 0 : error;
}

/*
 * Room for all that moves. What moves leaves as much as it takes, but for mapping trees: before the
 * last round it is enough that these find room.
 */
static uint64_t room_of_round(const struct sequence *seq, uint64_t max_blocks, bool last)
{
	uint64_t room = 0;

	if (!last)
		return max_blocks + seq->packer->map->free_blocks;
	for (size_t i = 0; i < seq->gaps.count; i++)
		room += seq->gaps.at[i].len;
	return room;
}

/* Chooses and lays as much as may move; *price is where to begin, 0: nowhere, and what it was. */
static int choose(struct sequence *seq, uint64_t max_blocks, bool last, int64_t *price)
{
	struct limit limit = {.blocks = max_blocks};
	struct choice choice;
	int64_t low;
	int error = sequence_find_gaps(seq);

	if (error)
		return error;
	limit.room = room_of_round(seq, max_blocks, last);
	find_price(seq, &limit, &low, price);
	(void)sequence_choose(seq, *price);
	error = sequence_share_gaps(seq);
	if (error)
		return error;
	find_price(seq, &limit, &low, price);
	choice = sequence_choose(seq, *price);
	if (last)
		error = mix(seq, low, *price, &limit);
	return error ? error : lay_away(seq, choice.away, last);
}

static int solve(struct sequence *seq, uint64_t max_blocks)
{
	const struct packer *packer = seq->packer;
	int64_t price = 0;
	int error = 0;

	for (size_t i = 0; i < packer->units.count; i++)
		seq->packer->units.at[i].keep = true;
	sequence_expect_trees(seq, false);
	seq->cut_price = JOINT * FIRST_CUTS_PERCENT / 100;
	for (int round = 0; round < ROUNDS && !error; round++) {
		const bool last = round + 1 == ROUNDS;
		uint64_t percent =
			FIRST_PERCENT + (uint64_t)(round * (100 - FIRST_PERCENT) / (ROUNDS - 1));

		error = fl_watch_step(packer->settings->watch, "rounds", (uint64_t)round, ROUNDS);
		if (!error)
			error = choose(seq, max_blocks * percent / 100, last, &price);
		if (!error && !last)
			settle_on(seq);
	}
	return error;
}

static int choose_within(struct packer *packer, uint64_t max_blocks, struct fl_target *target)
{
	struct sequence seq = {0};
	int error = units_collect_fragments(packer->map, packer->settings, &packer->units);

	if (error)
		return error;
	pin(packer);
	error = sequence_new(packer, &seq);
	if (!error)
		error = solve(&seq, max_blocks);
	sequence_free(&seq);
	return error ? error : packer_target(packer, target);
}

static int plan_within(const struct defrag_settings *settings, const struct fl_map *map,
		       uint64_t max_blocks, struct fl_target *target)
{
	struct packer packer = {.map = map, .settings = settings};
	int error = choose_within(&packer, max_blocks, target);

	units_free(&packer.units);
	fl_array_free(&packer.left);
	return error;
}

/*
 * Spends a budget. Where hardly anything is free, some is copied twice on the way, or mapping trees
 * find no room: less is chosen then, until all of the way is within the budget; else it is left to
 * be cut.
 */
int packer_budget(const struct defrag_settings *settings, const struct fl_map *map,
		  struct fl_target *target, struct fl_diag *diag)
{
	const uint64_t max_blocks = settings->max_bytes / map->geo.block_bytes;
	uint64_t blocks = max_blocks;

	for (int i = 0; i < TRIES; i++) {
		uint64_t moved = UINT64_MAX;
		int error;

		fl_target_free(target);
		error = plan_within(settings, map, blocks, target);
		if (!error && !target->files.count)
			return 0;
		if (!error)
			error = settle_cost(map, target, &moved, diag);
		else if (error == FL_ENOROOM)
			fl_target_free(target);
		else
			return fl_fail(diag, error, "planning: %s", fl_error_text(error));
		if (error && error != FL_ENOROOM)
			return error;
		if (moved <= max_blocks)
			return 0;
		blocks -= fl_max(fl_min(moved - max_blocks, blocks / 8) * 2, blocks / 64);
	}
	return 0;
}
