/* SPDX-License-Identifier: MIT */
/*
 * Breaks cycles of pieces that wait for each other, through scratch space. Must only take
 * blocks that are nobody's destination.
 */
#include "order.h"

/* Free runs looked at for one that holds a whole piece. */
#define SCRATCH_LOOKS 32
/* Pieces with more than so many before them are not waited for: each would cost a batch. */
#define LONG_CHAIN 8

static int take_lent(struct order *order, uint64_t len, struct fl_run *run)
{
	struct fl_run *last;

	if (!order->lent.count)
		return FL_ENOROOM;
	last = &order->lent.at[order->lent.count - 1];
	run->start = last->start;
	run->len = fl_min(last->len, len);
	last->start += run->len;
	last->len -= run->len;
	if (!last->len)
		order->lent.count--;
	return 0;
}

int order_take_scratch(struct order *order, uint64_t len, struct fl_run *run)
{
	fl_pblk pos = order->scratch_cursor, end = order->map->geo.blocks;
	struct fl_run best = {0}, seen;
	int error;

	if (order->tight)
		return order_take_outside(order, 0, len, run) ? order_occupy(order, *run)
							      : FL_ENOROOM;
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
		return take_lent(order, len, run);
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

/* Scratch that the file's tree will need, as far as can be known before its batch is formed. */
static uint64_t tree_guess(const struct order *order, const struct order_file *file)
{
	uint32_t map_file = order->target->files.at[file->target].file;

	if (!file->waiting && !file->tree_blocked)
		return 0; /* it goes home */
	/* An extent tree may grow as pieces move apart. */
	return file->tree_count +
	       (order->map->files.at[map_file].mapping == FL_MAPPING_EXTENTS && file->tree_count);
}

bool order_affordable(const struct order *order, uint32_t index)
{
	const struct order_file *file = &order->files.at[index];

	/* At least a block must be left to move to. */
	return file->touched || !tree_guess(order, file) || tree_guess(order, file) < order->budget;
}

int order_touch(struct order *order, uint32_t index)
{
	struct order_file *file = &order->files.at[index];

	if (file->touched)
		return 0;
	file->touched = true;
	order->budget -= fl_min(order->budget, tree_guess(order, file));
	return fl_array_push(&order->touched, index);
}

/* Takes the last `take` blocks of a ready piece's destination from it. */
static int lend_piece(struct order *order, size_t place, uint32_t take)
{
	uint32_t index = order->ready.at[place];
	int error = 0;

	if (take < order->pieces.at[index].len) {
		uint32_t keep = order->pieces.at[index].len - take;

		error = piece_split(order, index, keep, &index);
		if (error)
			return error;
		order->files.at[order->pieces.at[index].file].waiting++;
	} else {
		order->ready.at[place] = order->ready.at[--order->ready.count];
	}
	order->pieces.at[index].state = PIECE_WAITING;
	order->pieces.at[index].blocked = take;
	order->ready_blocks -= take;
	order->budget += take;
	error = fl_blockset_remove(order->free, order->pieces.at[index].to, take);
	if (error)
		return error;
	return fl_array_push(&order->lent, ((struct fl_run){order->pieces.at[index].to, take}));
}

/* The place in the ready queue of the piece whose file needs the least for its tree. */
static size_t cheapest_ready(const struct order *order)
{
	size_t best = 0;

	for (size_t i = 0; i < order->ready.count; i++) {
		uint32_t file = order->pieces.at[order->ready.at[i]].file;
		uint32_t best_file = order->pieces.at[order->ready.at[best]].file;

		if (tree_guess(order, &order->files.at[file]) <
		    tree_guess(order, &order->files.at[best_file]))
			best = i;
	}
	return best;
}

/* What the file of the piece at a place in the ready queue needs for its tree. */
static uint64_t ready_need(const struct order *order, size_t place)
{
	return tree_guess(order, &order->files.at[order->pieces.at[order->ready.at[place]].file]);
}

int order_lend(struct order *order)
{
	size_t best, place = order->ready.count;
	uint64_t need;
	int error = 0;

	/* Nearly always the first can pay; the queue may be long, and this is asked each batch. */
	if (!order->ready.count || ready_need(order, 0) < order->budget)
		return 0;
	best = cheapest_ready(order);
	need = ready_need(order, best);
	if (need < order->budget)
		return 0;
	need += 1 - order->budget;
	if (order->ready_blocks < need + order->pieces.at[order->ready.at[best]].len)
		return 0;
	while (need && place-- > 0 && !error) {
		uint32_t take;

		if (place == best || order->pieces.at[order->ready.at[place]].moving)
			continue;
		take = (uint32_t)fl_min(need, order->pieces.at[order->ready.at[place]].len);
		/* What is taken whole is replaced by the last of the queue. */
		if (best == order->ready.count - 1 &&
		    take == order->pieces.at[order->ready.at[place]].len)
			best = place;
		error = lend_piece(order, place, take);
		need -= take;
	}
	return error;
}

/* Cuts a piece that is longer than `len`; *tail is what is left of it, else NONE. */
static int cut_to(struct order *order, uint32_t index, uint64_t len, uint32_t *tail)
{
	*tail = NONE;
	if (len >= order->pieces.at[index].len)
		return 0;
	order->files.at[order->pieces.at[index].file].waiting++;
	return piece_split(order, index, (uint32_t)len, tail);
}

/*
 * Moves a waiting piece, or as much of it as there is scratch for, out of the way. Its parts are
 * counted anew when they are not cut any more: what is queued as ready must stay as it is.
 */
static int evict_piece(struct order *order, uint32_t index, uint64_t *blocks)
{
	uint32_t tail = index;
	bool whole = true;
	int error = 0;

	/* A file that is touched without a move would be rewritten for nothing. */
	if (order->budget)
		error = order_touch(order, order->pieces.at[index].file);
	while (tail != NONE && order->budget && !error) {
		struct fl_run run;
		struct piece *piece;

		error = order_take_scratch(order, fl_min(order->budget, order->pieces.at[tail].len),
					   &run);
		if (error == FL_ENOROOM) {
			error = 0;
			break;
		}
		if (error)
			return error;
		index = tail;
		error = cut_to(order, index, run.len, &tail);
		if (error)
			return error;
		order->budget -= run.len;
		*blocks += run.len;
		order->evicted_blocks += run.len;
		piece = &order->pieces.at[index];
		piece->from = piece->at;
		piece->at = run.start;
		piece->moving = piece->evicted = true;
		whole = whole && tail == NONE;
		if (!whole)
			error = piece_recount(order, index);
	}
	return error || whole || tail == NONE ? error : piece_recount(order, tail);
}

/* What sits on the first occupied block of a waiting piece's destination that is not about to
 * leave. */
static uint32_t blocker(const struct order *order, uint32_t index)
{
	const struct piece *piece = &order->pieces.at[index];
	fl_pblk at = piece->to, end = piece->to + piece->len;

	while (fl_blockset_find(order->free, at, end, false, &at)) {
		uint32_t occupant = order_occupant(order, at);
		const struct piece *other;

		if (occupant == NONE)
			return NONE;
		other = &order->pieces.at[occupant];
		if (other->state != PIECE_READY)
			return occupant;
		at = other->at + other->len;
	}
	return NONE;
}

/* The shortest piece of the cycle that `index` is on and whose file can be touched; or NONE. */
static uint32_t cheapest_of_cycle(const struct order *order, uint32_t index)
{
	uint32_t best = NONE, i = index;

	do {
		const struct piece *piece = &order->pieces.at[i];

		if (order_affordable(order, piece->file) &&
		    (best == NONE || piece->len < order->pieces.at[best].len))
			best = i;
		i = blocker(order, i);
	} while (i != index && i != NONE);
	return best;
}

/* The end of a walk: everything on its path knows now how many wait before it. */
static int end_walk(struct order *order, uint32_t depth, uint64_t *blocks)
{
	int error = 0;

	for (size_t i = order->path.count; i-- > 0 && !error;) {
		uint32_t index = order->path.at[i];
		struct piece *piece = &order->pieces.at[index];

		piece->depth = ++depth;
		if (depth <= LONG_CHAIN || piece->kind != PIECE_DATA ||
		    !order_affordable(order, piece->file))
			continue;
		error = evict_piece(order, index, blocks);
		/* Those that wait for it wait for nothing else. */
		depth = 0;
	}
	return error;
}

/* Follows who waits for whom until the chain ends, or closes: then the cycle is broken. */
static int walk_from(struct order *order, uint32_t index, uint32_t pass_start, uint64_t *blocks)
{
	uint32_t walk = ++order->walk;

	order->path.count = 0;
	while (index != NONE) {
		struct piece *piece = &order->pieces.at[index];

		if (piece->kind == PIECE_TREE_NOW) {
			if (!order_affordable(order, piece->file))
				return 0;
			*blocks += order->files.at[piece->file].tree_count;
			return order_touch(order, piece->file);
		}
		if (piece->state != PIECE_WAITING || piece->moving)
			break;
		if (piece->walk == walk) {
			index = cheapest_of_cycle(order, index);
			return index == NONE ? 0 : evict_piece(order, index, blocks);
		}
		/* An earlier walk of this pass has dealt with what follows. */
		if (piece->walk > pass_start)
			return end_walk(order, piece->depth, blocks);
		piece->walk = walk;
		piece->depth = 0;
		if (fl_array_push(&order->path, index))
			return FL_ENOMEM;
		index = blocker(order, index);
	}
	return end_walk(order, 0, blocks);
}

int order_evict(struct order *order, uint64_t limit)
{
	uint32_t pass_start = order->walk;
	size_t count = order->pieces.count;
	uint64_t blocks = 0;

	for (size_t i = 0; i < count && blocks < limit; i++) {
		uint32_t index = (uint32_t)((order->walk_start + i) % count);
		const struct piece *piece = &order->pieces.at[index];
		int error;

		if (piece->state != PIECE_WAITING || piece->kind == PIECE_TREE_NOW ||
		    !piece->blocked || piece->walk > pass_start)
			continue;
		error = walk_from(order, index, pass_start, &blocks);
		if (error)
			return error;
		if (blocks >= limit)
			order->walk_start = index;
	}
	return 0;
}
