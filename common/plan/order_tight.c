/* SPDX-License-Identifier: MIT */
/*
 * Ordering when hardly a block is free that nobody is to have. Waiting for each other in chains
 * comes to a stop there, as every file that is under way needs room for its mapping tree. So
 * this goes over the disk once, window by window: what sits in the window is moved out of the way,
 * then what belongs there is moved in. It costs more copies, but always goes on. Must not
 * touch what lies before the window: it is done.
 */
#include "order.h"

/* Of the room outside the window so much is kept for mapping trees. */
#define TREE_SHARE 2
/*
 * A window is at most so much longer than what there is room for, and so many buckets at least:
 * all of it is looked through each time.
 */
#define WINDOW_FACTOR 4
#define WINDOW_LEAST 16
/* With less than this share of what waits free, it would take thousands of batches. */
#define FREE_SHARE 512
/* So many times nothing may come of clearing and filling: what is in the way may shrink yet. */
#define IDLE_MOST 16

static fl_pblk window_end(const struct order *order)
{
	return fl_min((fl_pblk)order->window_end << order->bucket_shift, order->map->geo.blocks);
}

/* Free blocks behind the window, and those before its end that nobody is to have. */
static uint64_t room_outside(const struct order *order)
{
	fl_pblk end = window_end(order);

	return fl_blockset_count(order->free) - fl_blockset_count_range(order->free, 0, end) +
	       fl_blockset_count_range(order->scratch, 0, end);
}

bool order_take_outside(struct order *order, fl_pblk from, uint64_t len, struct fl_run *run)
{
	fl_pblk end = window_end(order);

	if (!fl_blockset_next_run(order->free, fl_max(from, end), order->map->geo.blocks, run) &&
	    !fl_blockset_next_run(order->free, end, order->map->geo.blocks, run) &&
	    !fl_blockset_next_run(order->scratch, 0, end, run))
		return false;
	run->len = fl_min(run->len, len);
	return true;
}

int order_occupy(struct order *order, struct fl_run run)
{
	int error = fl_blockset_remove(order->free, run.start, run.len);

	return error ? error : fl_blockset_remove(order->scratch, run.start, run.len);
}

/* Moves a piece out of the window, above its destination if possible: then it goes only once. */
static int evict(struct order *order, uint32_t index)
{
	int error = 0;

	while (index != NONE && order->budget && !error) {
		struct piece *piece = &order->pieces.at[index];
		fl_pblk bucket = (fl_pblk)1 << order->bucket_shift;
		struct fl_run run;
		uint32_t tail = NONE;

		if (!order_affordable(order, piece->file))
			return 0;
		error = order_touch(order, piece->file);
		if (error || !order->budget ||
		    !order_take_outside(order, piece->to, fl_min(piece->len, order->budget), &run))
			return error;
		run.len = fl_min(run.len, bucket - (run.start & (bucket - 1)));
		if (run.len < piece->len) {
			error = piece_split(order, index, (uint32_t)run.len, &tail);
			order->files.at[order->pieces.at[index].file].waiting++;
		}
		if (!error)
			error = order_occupy(order, run);
		piece = &order->pieces.at[index];
		piece->from = piece->at;
		piece->at = run.start;
		piece->moving = piece->evicted = true;
		order->budget -= run.len;
		if (!error)
			error = fl_array_push(&order->path, index);
		index = tail;
	}
	return error;
}

/* Out of a bucket goes what sits where something else is to be. */
static int clear_bucket(struct order *order, size_t bucket)
{
	for (uint32_t i = order->here[bucket], next; i != NONE; i = next) {
		const struct piece *piece = &order->pieces.at[i];
		fl_pblk block;
		int error = 0;

		next = piece->next_here;
		if (piece->state == PIECE_DONE || piece->gone || piece->moving ||
		    !fl_blockset_find(order->wanted, piece->at, piece->at + piece->len, true,
				      &block))
			continue;
		if (piece->kind == PIECE_DATA)
			error = evict(order, i);
		else if (order_affordable(order, piece->file))
			error = order_touch(order, piece->file);
		if (error)
			return error;
	}
	return 0;
}

/*
 * Takes out of a bucket's list what has left it; also what was moved within it: that is listed
 * anew.
 */
static void relist(struct order *order, size_t bucket)
{
	uint32_t *link = &order->here[bucket];

	while (*link != NONE) {
		struct piece *piece = &order->pieces.at[*link];

		if (piece->gone || piece->state == PIECE_DONE || piece->evicted ||
		    order_bucket(order, piece->at) != bucket)
			*link = piece->next_here;
		else
			link = &piece->next_here;
	}
}

static int emit(struct order *order, size_t first, bool *moved)
{
	int error = order_emit(order, moved);

	for (size_t b = first; b < order->window_end; b++)
		relist(order, b);
	for (size_t i = 0; i < order->path.count; i++) {
		struct piece *piece = &order->pieces.at[order->path.at[i]];

		/* Not where there was no room for its file's tree. */
		if (piece->evicted)
			order_index_here(order, order->path.at[i]);
		piece->evicted = false;
	}
	order->path.count = 0;
	return error;
}

/* Makes the window longer, as far as there is room for what is in it. */
static int clear_window(struct order *order, bool *moved)
{
	size_t first = order->window_first;
	uint64_t room = room_outside(order);
	uint64_t most = WINDOW_LEAST + ((room * WINDOW_FACTOR) >> order->bucket_shift);
	size_t end = (size_t)fl_min(order->bucket_count, first + most);
	int error = 0;

	order->path.count = 0;
	order->budget = fl_min(room - room / TREE_SHARE, order->batch_blocks);
	for (size_t b = first; b < end && order->budget && !error; b++) {
		if (b >= order->window_end) {
			fl_pblk start = window_end(order);
			uint64_t inside;

			order->window_end = b + 1;
			/* Free blocks that are no longer outside. */
			inside = fl_blockset_count_range(order->free, start,
							 window_end(order) - start) -
				 fl_blockset_count_range(order->scratch, start,
							 window_end(order) - start);
			if (inside >= order->budget) {
				if (b > first)
					order->window_end = b;
				if (b > first || inside >= room)
					break;
			}
			order->budget -= fl_min(inside, order->budget - 1);
		}
		error = clear_bucket(order, b);
	}
	return error ? error : emit(order, first, moved);
}

/* Moves what of a piece can go home. */
static int take_home(struct order *order, uint32_t index, uint64_t *blocks)
{
	while (index != NONE && *blocks < order->batch_blocks) {
		struct piece *piece = &order->pieces.at[index];
		fl_pblk end = piece->to + piece->len, edge;
		bool is_free = fl_blockset_has(order->free, piece->to);
		uint32_t tail = NONE;
		int error = 0;

		if (fl_blockset_find(order->free, piece->to, end, !is_free, &edge)) {
			error = piece_split(order, index, (uint32_t)(edge - piece->to), &tail);
			order->files.at[order->pieces.at[index].file].waiting++;
		}
		piece = &order->pieces.at[index];
		if (!error && is_free && !piece->moving && order_affordable(order, piece->file)) {
			*blocks += piece->len;
			error = order_take_piece(order, piece);
			if (!error)
				error = fl_blockset_remove(order->scratch, piece->to, piece->len);
		}
		if (error)
			return error;
		index = tail;
	}
	return 0;
}

/* A place of a final tree has become free; the file goes there with its last piece. */
static int open_tree_place(struct order *order, struct piece *piece)
{
	struct order_file *file = &order->files.at[piece->file];

	if (!fl_blockset_has(order->free, piece->to))
		return 0;
	piece->state = PIECE_DONE;
	if (--file->tree_blocked == 0 && !file->waiting && !file->tree_home)
		return order_touch(order, piece->file);
	return 0;
}

static int fill_window(struct order *order, bool *moved)
{
	size_t first = order->window_first;
	uint64_t blocks = 0;
	int error = 0;

	order->path.count = 0;
	order->budget = room_outside(order);
	for (size_t b = first; b < order->window_end && !error; b++)
		for (uint32_t i = order->there[b], next; i != NONE && !error; i = next) {
			struct piece *piece = &order->pieces.at[i];

			next = piece->next_there;
			if (piece->state == PIECE_DONE)
				continue;
			error = piece->kind == PIECE_DATA ? take_home(order, i, &blocks)
							  : open_tree_place(order, piece);
		}
	return error ? error : emit(order, first, moved);
}

static bool bucket_is_done(const struct order *order, size_t bucket)
{
	for (uint32_t i = order->there[bucket]; i != NONE; i = order->pieces.at[i].next_there)
		if (order->pieces.at[i].state != PIECE_DONE)
			return false;
	return true;
}

/* The final places of trees are free, or not, only once the window comes to them. */
static void close_tree_places(struct order *order)
{
	for (size_t i = 0; i < order->pieces.count; i++) {
		struct piece *piece = &order->pieces.at[i];
		struct order_file *file = &order->files.at[piece->file];

		if (piece->kind != PIECE_TREE_GOAL || piece->state != PIECE_DONE || file->tree_home)
			continue;
		piece->state = PIECE_WAITING;
		file->tree_blocked++;
	}
	order->trees_ready.count = 0;
}

/* Whether the window has come further than ever. */
static bool goes_on(struct order *order, uint64_t *waiting, size_t *away, size_t *first)
{
	bool better = order->waiting_blocks < *waiting || order->trees_away < *away ||
		      order->window_first > *first;

	*waiting = fl_min(*waiting, order->waiting_blocks);
	*away = (size_t)fl_min(*away, order->trees_away);
	*first = order->window_first;
	return better;
}

int order_tight(struct order *order)
{
	uint64_t waiting = order->waiting_blocks;
	size_t away = order->trees_away, first = 0, idle = 0;
	bool moved;
	int error = 0;

	if (fl_blockset_count(order->free) < order->waiting_blocks / FREE_SHARE)
		return 0;
	order->tight = true;
	close_tree_places(order);
	order->window_first = order->window_end = 0;
	while (!error && idle < IDLE_MOST && (order->waiting_blocks || order->trees_away)) {
		error = clear_window(order, &moved);
		if (!error)
			error = fill_window(order, &moved);
		while (order->window_first < order->window_end &&
		       bucket_is_done(order, order->window_first))
			order->window_first++;
		idle = goes_on(order, &waiting, &away, &first) ? 0 : idle + 1;
	}
	return error;
}
