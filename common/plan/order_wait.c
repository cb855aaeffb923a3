/* SPDX-License-Identifier: MIT */
/*
 * Who waits for what: pieces become ready as their destinations become free. Must not
 * move anything.
 */
#include "order.h"

/* So much of a destination is open: hardly anything is left to wait for. */
#define OPEN_PERCENT 90

static int make_ready(struct order *order, uint32_t index)
{
	struct piece *piece = &order->pieces.at[index];

	if (fl_array_push(&order->ready, index))
		return FL_ENOMEM;
	piece->state = PIECE_READY;
	order->ready_blocks += piece->len;
	return 0;
}

static int note_partial(struct order *order, uint32_t index)
{
	struct piece *piece = &order->pieces.at[index];

	if (piece->partial || piece->blocked == piece->len)
		return 0;
	piece->partial = true;
	return fl_array_push(&order->partial, index);
}

int piece_recount(struct order *order, uint32_t index)
{
	struct piece *piece = &order->pieces.at[index];

	piece->blocked =
		piece->len - (uint32_t)fl_blockset_count_range(order->free, piece->to, piece->len);
	return piece->blocked ? note_partial(order, index) : make_ready(order, index);
}

/* A run became free under the destination of a piece. */
static int unblock(struct order *order, uint32_t index, uint32_t blocks)
{
	struct piece *piece = &order->pieces.at[index];
	struct order_file *file = &order->files.at[piece->file];

	piece->blocked -= blocks;
	if (piece->kind == PIECE_DATA)
		return piece->blocked ? note_partial(order, index) : make_ready(order, index);
	piece->state = PIECE_DONE;
	if (--file->tree_blocked == 0 && !file->waiting && !file->tree_home)
		return fl_array_push(&order->trees_ready, piece->file);
	return 0;
}

static int freed_in_bucket(struct order *order, size_t bucket, struct fl_run run)
{
	for (uint32_t i = order->there[bucket]; i != NONE; i = order->pieces.at[i].next_there) {
		const struct piece *piece = &order->pieces.at[i];
		fl_pblk low = fl_max(piece->to, run.start);
		fl_pblk high = fl_min(piece->to + piece->len, fl_run_end(run));
		int error;

		if (piece->state != PIECE_WAITING || low >= high)
			continue;
		error = unblock(order, i, (uint32_t)(high - low));
		if (error)
			return error;
	}
	return 0;
}

int order_freed(struct order *order, struct fl_run run)
{
	fl_pblk pos = run.start, end = fl_run_end(run), start, stop;
	size_t first = order_bucket(order, run.start), last = order_bucket(order, end - 1);
	int error = fl_blockset_add(order->free, run.start, run.len);

	while (!error && fl_blockset_find(order->wanted, pos, end, false, &start)) {
		if (!fl_blockset_find(order->wanted, start, end, true, &stop))
			stop = end;
		error = fl_blockset_add(order->scratch, start, stop - start);
		pos = stop;
	}
	for (size_t bucket = first; !order->tight && bucket <= last && !error; bucket++)
		error = freed_in_bucket(order, bucket, run);
	return error;
}

uint32_t order_occupant(const struct order *order, fl_pblk block)
{
	uint32_t i = order->here[order_bucket(order, block)];

	for (; i != NONE; i = order->pieces.at[i].next_here) {
		const struct piece *piece = &order->pieces.at[i];

		if (piece->state != PIECE_DONE && !piece->gone && !piece->moving &&
		    !piece->evicted && block >= piece->at && block - piece->at < piece->len)
			return i;
	}
	return NONE;
}

/* Cuts a waiting piece into parts whose destination is all free or all occupied. */
static int split_by_freeness(struct order *order, uint32_t index)
{
	for (;;) {
		const struct piece *piece = &order->pieces.at[index];
		fl_pblk end = piece->to + piece->len, edge;
		bool is_free = fl_blockset_has(order->free, piece->to);
		uint32_t tail;
		int error;

		if (!fl_blockset_find(order->free, piece->to, end, !is_free, &edge))
			return piece_recount(order, index);
		error = piece_split(order, index, (uint32_t)(edge - piece->to), &tail);
		if (error)
			return error;
		order->files.at[order->pieces.at[index].file].waiting++;
		error = piece_recount(order, index);
		if (error)
			return error;
		index = tail;
	}
}

static bool is_partial(const struct piece *piece)
{
	return piece->state == PIECE_WAITING && piece->blocked && piece->blocked < piece->len;
}

static bool worth_splitting(const struct order *order, const struct piece *piece)
{
	uint64_t open = piece->len - piece->blocked;

	return open >= order->part_blocks || open * 100 >= (uint64_t)piece->len * OPEN_PERCENT;
}

/* What was not worth it may be by now, or has to be. */
static int look_at_all_again(struct order *order)
{
	int error = fl_array_append(&order->partial, order->put_off.at, order->put_off.count);

	order->put_off.count = 0;
	order->put_off_part = order->part_blocks;
	return error ? FL_ENOMEM : 0;
}

int order_split_partial(struct order *order)
{
	const bool all = !order->ready_blocks;
	int error = 0;

	if (all || order->part_blocks < order->put_off_part)
		error = look_at_all_again(order);
	for (size_t i = 0; i < order->partial.count && !error; i++) {
		uint32_t index = order->partial.at[i];
		struct piece *piece = &order->pieces.at[index];

		piece->partial = false;
		if (!is_partial(piece))
			continue;
		if (all || worth_splitting(order, piece))
			error = split_by_freeness(order, index);
		else if (fl_array_push(&order->put_off, index))
			error = FL_ENOMEM;
	}
	order->partial.count = 0;
	return error;
}
