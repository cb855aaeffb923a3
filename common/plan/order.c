/* SPDX-License-Identifier: MIT */
/*
 * Orders the way from map to target into batches: run what is ready, split where part of
 * a destination is free, break cycles through scratch space. Must not choose targets.
 */
#include "order.h"

#include <stdlib.h>

/*
 * Every batch that has a part of a file writes the whole of its mapping anew. So that this
 * does not grow with the square of a file's extents, a batch holds at least this share of them.
 */
#define BATCH_SHARE 8
/*
 * Pieces are split, and cycles broken, when less than this share of what waits is ready (of an
 * eviction at most, for cycles). Splitting makes pieces that each take a request of their own, and
 * one leads to others: of what waits for the places that the parts leave. So only parts are split
 * off that are worth a request, until that is too slow: a batch moves less than one part of
 * PACE_SHARE of what could go at once. Evicting copies twice: as long as it copies no more than one
 * part of so many of what had to move, it is done early; then only where hardly anything is ready.
 * Chosen by measurement, on layouts that a kernel aged: 90 % full, 487,150 moves became 163,000 of
 * 1.10 times the blocks.
 */
#define SPLIT_SHARE 16
#define PART_BYTES (UINT64_C(128) << 10)
#define PACE_SHARE 64
#define EVICT_SHARE 4
#define EVICT_SHARE_SPENT 64
#define EVICTED_ROOMY 28
#define EVICTED_TIGHT 5
/* Tight: less is free than this share of what has to move. */
#define TIGHT_SHARE 4
/* The pace is looked at after so many batches: they should fill half of what is free. */
#define PACE_BATCHES 64

/* Moves a ready piece to its destination, as part of the batch that is being formed. */
int order_take_piece(struct order *order, struct piece *piece)
{
	int error = order_touch(order, piece->file);

	piece->from = piece->at;
	piece->at = piece->to;
	piece->moving = true;
	piece->state = PIECE_DONE;
	order->files.at[piece->file].waiting--;
	order->waiting_blocks -= piece->len;
	if (!error)
		error = fl_blockset_remove(order->free, piece->to, piece->len);
	if (!error)
		error = fl_blockset_remove(order->wanted, piece->to, piece->len);
	return error;
}

static int compare_keys(const void *a, const void *b)
{
	const struct ready_key *left = a, *right = b;

	return fl_compare(left->behind, right->behind);
}

/*
 * More is ready than the batch takes: goes on behind where the last such batch ended on the disk,
 * then round, so that what is written together lies together.
 */
static int sort_ready(struct order *order)
{
	order->keys.count = 0;
	for (size_t i = 0; i < order->ready.count; i++) {
		uint32_t index = order->ready.at[i];
		/* What lies before it comes last: the difference wraps. */
		struct ready_key key = {order->pieces.at[index].to - order->written_to, index};

		if (fl_array_push(&order->keys, key))
			return FL_ENOMEM;
	}
	qsort(order->keys.at, order->keys.count, sizeof(*order->keys.at), compare_keys);
	for (size_t i = 0; i < order->ready.count; i++)
		order->ready.at[i] = order->keys.at[i].index;
	return 0;
}

/* Puts ready pieces into the batch, as many as it takes. */
static int take_ready(struct order *order)
{
	size_t count = order->ready.count, left = 0;
	uint64_t blocks = 0;
	int error = 0;

	if (order->ready_blocks > order->batch_blocks)
		error = sort_ready(order);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		uint32_t index = order->ready.at[i];
		struct piece *piece = &order->pieces.at[index];

		/* Not now: without room for the file's tree, or evicted in this very batch (it
		 * would be copied from a place that is not written yet). */
		if (error || blocks >= order->batch_blocks || piece->moving ||
		    !order_affordable(order, piece->file)) {
			order->ready.at[left++] = index;
			continue;
		}
		order->ready_blocks -= piece->len;
		blocks += piece->len;
		order->written_to = piece->to + piece->len;
		error = order_take_piece(order, piece);
	}
	order->ready.count = left;
	return error;
}

static int take_trees(struct order *order)
{
	int error = 0;

	for (size_t i = 0; i < order->trees_ready.count && !error; i++)
		if (!order->files.at[order->trees_ready.at[i]].tree_home)
			error = order_touch(order, order->trees_ready.at[i]);
	order->trees_ready.count = 0;
	return error;
}

/* How much may be evicted at once: half of the scratch stays for mapping trees. */
static uint64_t evict_limit(const struct order *order)
{
	return fl_min(order->batch_blocks, order->budget / 2 + 1);
}

/* What may be copied twice only to get on faster. */
static uint64_t credit(const struct order *order)
{
	uint64_t needed = order->plan->needed_blocks, most;
	bool tight = order->map->free_blocks < needed / TIGHT_SHARE;

	most = order->target->sparing ? 0 : needed / (tight ? EVICTED_TIGHT : EVICTED_ROOMY);
	return most - fl_min(most, order->evicted_blocks);
}

static bool lacks_parts(const struct order *order)
{
	return !order->ready_blocks || order->ready_blocks < order->waiting_blocks / SPLIT_SHARE;
}

/* Whether less is ready than one of so many parts of what could be evicted. */
static bool lacks(const struct order *order, unsigned share)
{
	return order->ready_blocks < fl_min(order->waiting_blocks, evict_limit(order)) / share ||
	       (!order->ready_blocks && !order->trees_ready.count);
}

static int evict(struct order *order, bool must)
{
	uint64_t most = credit(order);

	if (most && lacks(order, EVICT_SHARE))
		return order_evict(order, fl_min(most, evict_limit(order)));
	return must || lacks(order, EVICT_SHARE_SPENT) ? order_evict(order, evict_limit(order)) : 0;
}

/* Shorter parts from now on, where a batch took too little of what could go at once. */
static void keep_pace(struct order *order, uint64_t could, uint64_t waited)
{
	if (waited - order->waiting_blocks < could / PACE_SHARE)
		order->part_blocks /= 2;
}

static int form_batch(struct order *order, bool must_evict, bool *moved)
{
	const uint64_t before = order->waiting_blocks;
	uint64_t could = fl_min(order->batch_blocks, fl_blockset_count(order->free));
	int error = 0;

	order->budget = fl_blockset_count(order->scratch);
	if (lacks_parts(order))
		error = order_split_partial(order);
	if (!error)
		error = evict(order, must_evict);
	if (!error && !order->touched.count)
		error = order_lend(order);
	if (!error)
		error = take_ready(order);
	keep_pace(order, could, before);
	if (!error)
		error = take_trees(order);
	if (!error)
		error = order_emit(order, moved);
	return error;
}

/* Whether so little goes that window by window would be faster; asked before each batch. */
static bool crawls(struct order *order)
{
	uint64_t before = order->waiting_before;

	if (order->plan->batches.count % PACE_BATCHES)
		return false;
	order->waiting_before = order->waiting_blocks;
	return before && order->waiting_blocks > fl_blockset_count(order->free) &&
	       before - fl_min(before, order->waiting_blocks) < fl_blockset_count(order->free) / 2;
}

static int run(struct order *order, struct fl_diag *diag)
{
	bool moved = true;
	int error = 0;

	if ((order->waiting_blocks || order->trees_away) && !order->map->free_blocks)
		return fl_fail(diag, FL_ENOROOM,
			       "no free block in the filesystem, so nothing can be moved; "
			       "delete or move away at least one file");
	while (!error && (order->waiting_blocks || order->trees_away)) {
		error = form_batch(order, false, &moved);
		if (!error && !moved)
			error = form_batch(order, true, &moved);
		if (!error && (!moved || crawls(order)))
			return order_tight(order);
	}
	return error;
}

static uint64_t default_batch(const struct fl_map *map, const struct fl_target *target)
{
	uint64_t blocks = FL_PLAN_BATCH_BYTES / map->geo.block_bytes;

	for (size_t i = 0; i < target->files.count; i++) {
		const struct fl_target_file *item = &target->files.at[i];
		size_t before = map->files.at[item->file].extent_count;

		blocks = fl_max(blocks, fl_max(before, item->extent_count) / BATCH_SHARE);
	}
	return blocks;
}

int fl_plan_order(const struct fl_map *map, const struct fl_target *target,
		  const struct fl_order_options *options, struct fl_plan **plan,
		  struct fl_diag *diag)
{
	struct order order = {.map = map, .target = target};
	int error = FL_ENOMEM;

	order.batch_blocks = options ? options->batch_blocks : 0;
	if (!order.batch_blocks)
		order.batch_blocks = default_batch(map, target);
	order.plan = calloc(1, sizeof(*order.plan));
	if (!order.plan)
		return FL_ENOMEM;
	error = order_setup(&order);
	if (!error) {
		order.plan->needed_blocks = order.waiting_blocks;
		order.part_blocks = target->sparing ? 0 : PART_BYTES / map->geo.block_bytes;
		order.put_off_part = order.part_blocks;
		error = run(&order, diag);
		order.plan->left_blocks = order.waiting_blocks;
	}
	order_teardown(&order);
	if (error)
		fl_plan_free(order.plan);
	else
		*plan = order.plan;
	return error;
}
