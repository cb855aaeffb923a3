/* SPDX-License-Identifier: MIT */
/*
 * Breaks cycles of pieces that wait for each other, through scratch space. Must only take
 * blocks that are nobody's destination.
 */
#include "order.h"

/* Free runs looked at for one that holds a whole piece. */
#define SCRATCH_LOOKS 32

int order_take_scratch(struct order *order, uint64_t len, struct fl_run *run)
{
	fl_pblk pos = order->scratch_cursor, end = order->map->geo.blocks;
	struct fl_run best = {0}, seen;
	int error;

	if (!fl_blockset_next_run(order->scratch, pos, end, &seen))
		pos = 0;
	for (int i = 0; i < SCRATCH_LOOKS && best.len < len; i++) {
		if (!fl_blockset_next_run(order->scratch, pos, end, &seen))
			break;
		if (seen.len > best.len)
			best = seen;
		pos = fl_run_end(seen);
	}
	if (!best.len)
		return FL_ENOROOM;
	best.len = fl_min(best.len, len);
	error = fl_blockset_remove(order->scratch, best.start, best.len);
	if (!error)
		error = fl_blockset_remove(order->free, best.start, best.len);
	if (error)
		return error;
	order->scratch_cursor = fl_run_end(best);
	*run = best;
	return 0;
}

int order_touch(struct order *order, uint32_t file)
{
	if (order->files.at[file].touched)
		return 0;
	order->files.at[file].touched = true;
	return fl_array_push(&order->touched, file);
}

/* Moves a waiting piece, or as much of it as there is scratch for, out of the way. */
static int evict_piece(struct order *order, uint32_t index, uint64_t *blocks)
{
	uint32_t tail = index;

	while (tail != NONE) {
		struct fl_run run;
		struct piece *piece;
		int error = order_take_scratch(order, order->pieces.at[tail].len, &run);

		if (error)
			return error == FL_ENOROOM ? 0 : error;
		index = tail;
		tail = NONE;
		if (run.len < order->pieces.at[index].len) {
			error = piece_split(order, index, (uint32_t)run.len, &tail);
			if (error)
				return error;
			order->files.at[order->pieces.at[index].file].waiting++;
			error = piece_recount(order, index);
			if (!error)
				error = piece_recount(order, tail);
			if (error)
				return error;
		}
		piece = &order->pieces.at[index];
		piece->from = piece->at;
		piece->at = run.start;
		piece->moving = piece->evicted = true;
		*blocks += run.len;
		error = order_touch(order, piece->file);
		if (error)
			return error;
	}
	return 0;
}

/* What sits on the first occupied block of a waiting piece's destination. */
static uint32_t blocker(const struct order *order, uint32_t index)
{
	const struct piece *piece = &order->pieces.at[index];
	fl_pblk block;

	if (!fl_blockset_find(order->free, piece->to, piece->to + piece->len, false, &block))
		return NONE;
	return order_occupant(order, block);
}

/* The shortest piece of the cycle that `index` is on. */
static uint32_t cheapest_of_cycle(const struct order *order, uint32_t index)
{
	uint32_t best = index;

	for (uint32_t i = blocker(order, index); i != index && i != NONE; i = blocker(order, i))
		if (order->pieces.at[i].len < order->pieces.at[best].len)
			best = i;
	return best;
}

/* Follows who waits for whom until the chain ends, or closes: then the cycle is broken. */
static int walk_from(struct order *order, uint32_t index, uint32_t pass_start, uint64_t *blocks)
{
	uint32_t walk = ++order->walk;

	while (index != NONE) {
		struct piece *piece = &order->pieces.at[index];

		if (piece->kind == PIECE_TREE_NOW) {
			*blocks += order->files.at[piece->file].tree_count;
			return order_touch(order, piece->file);
		}
		if (piece->state != PIECE_WAITING || piece->moving)
			return 0;
		if (piece->walk == walk)
			return evict_piece(order, cheapest_of_cycle(order, index), blocks);
		if (piece->walk > pass_start)
			return 0; /* an earlier walk of this pass has dealt with what follows */
		piece->walk = walk;
		index = blocker(order, index);
	}
	return 0;
}

int order_evict(struct order *order, uint64_t limit, uint64_t *blocks)
{
	uint32_t pass_start = order->walk;
	size_t count = order->pieces.count;

	*blocks = 0;
	for (size_t i = 0; i < count && *blocks < limit; i++) {
		uint32_t index = (uint32_t)((order->walk_start + i) % count);
		const struct piece *piece = &order->pieces.at[index];
		int error;

		if (piece->state != PIECE_WAITING || piece->kind == PIECE_TREE_NOW ||
		    !piece->blocked || piece->walk > pass_start)
			continue;
		error = walk_from(order, index, pass_start, blocks);
		if (error)
			return error;
		if (*blocks >= limit)
			order->walk_start = index;
	}
	return 0;
}
