/* SPDX-License-Identifier: MIT */
/*
 * Turns map and target into pieces, and indexes them by place. Must not decide what moves
 * when.
 */
#include "order.h"

#include <stdlib.h>

void order_index_here(struct order *order, uint32_t index)
{
	struct piece *piece = &order->pieces.at[index];
	uint32_t *head = &order->here[order_bucket(order, piece->at)];

	piece->next_here = *head;
	*head = index;
}

static void index_there(struct order *order, uint32_t index)
{
	struct piece *piece = &order->pieces.at[index];
	uint32_t *head = &order->there[order_bucket(order, piece->to)];

	piece->next_there = *head;
	*head = index;
}

static int push_piece(struct order *order, struct piece piece, uint32_t *index)
{
	piece.next = piece.next_here = piece.next_there = NONE;
	if (order->pieces.count >= NONE || fl_array_push(&order->pieces, piece))
		return FL_ENOMEM;
	*index = (uint32_t)(order->pieces.count - 1);
	return 0;
}

int piece_split(struct order *order, uint32_t piece, uint32_t keep, uint32_t *tail)
{
	struct piece made = order->pieces.at[piece];
	struct piece *head;
	uint32_t next = made.next;

	made.at += keep;
	made.to += keep;
	made.lblk += keep;
	made.len -= keep;
	made.partial = false;
	if (push_piece(order, made, tail))
		return FL_ENOMEM;
	head = &order->pieces.at[piece];
	head->len = keep;
	head->next = *tail;
	order->pieces.at[*tail].next = next;
	order_index_here(order, *tail);
	index_there(order, *tail);
	return 0;
}

static int push_waiting(struct order *order, struct piece piece, uint32_t *index)
{
	int error = push_piece(order, piece, index);

	if (error)
		return error;
	order_index_here(order, *index);
	index_there(order, *index);
	order->files.at[piece.file].waiting++;
	order->waiting_blocks += piece.len;
	error = fl_blockset_add(order->wanted, piece.to, piece.len);
	if (!error)
		error = piece_recount(order, *index);
	return error;
}

/* Adds a segment, cut at bucket edges, to the end of the file's list. */
static int add_segment(struct order *order, struct piece segment, uint32_t *last)
{
	while (segment.len) {
		struct piece piece = segment;
		uint32_t index;
		int error;

		if (segment.at == segment.to) {
			piece.state = PIECE_DONE;
			error = push_piece(order, piece, &index);
		} else {
			uint64_t bucket = UINT64_C(1) << order->bucket_shift;
			uint64_t room = fl_min(bucket - (piece.at & (bucket - 1)),
					       bucket - (piece.to & (bucket - 1)));

			piece.len = (uint32_t)fl_min(piece.len, room);
			error = push_waiting(order, piece, &index);
		}
		if (error)
			return error;
		if (*last == NONE)
			order->files.at[piece.file].first = index;
		else
			order->pieces.at[*last].next = index;
		*last = index;
		segment.at += piece.len;
		segment.to += piece.len;
		segment.lblk += piece.len;
		segment.len -= piece.len;
	}
	return 0;
}

static int add_data(struct order *order, uint32_t index)
{
	const struct fl_target_file *item = &order->target->files.at[order->files.at[index].target];
	const struct fl_file *file = &order->map->files.at[item->file];
	const struct fl_extent *now = fl_array_from(&order->map->extents, file->first_extent);
	const struct fl_extent *then = fl_array_from(&order->target->extents, item->first_extent);
	uint32_t now_done = 0, then_done = 0, last = NONE;
	size_t n = 0, t = 0;

	while (n < file->extent_count && t < item->extent_count) {
		uint32_t len = (uint32_t)fl_min(now[n].len - now_done, then[t].len - then_done);
		struct piece segment = {
			.at = now[n].pblk + now_done,
			.to = then[t].pblk + then_done,
			.lblk = now[n].lblk + now_done,
			.len = len,
			.file = index,
			.unwritten = now[n].unwritten,
		};
		int error = add_segment(order, segment, &last);

		if (error)
			return error;
		now_done += len;
		then_done += len;
		if (now_done == now[n].len) {
			now_done = 0;
			n++;
		}
		if (then_done == then[t].len) {
			then_done = 0;
			t++;
		}
	}
	return 0;
}

int order_add_tree_place(struct order *order, uint32_t file, fl_pblk block)
{
	struct piece piece = {.at = block,
			      .len = 1,
			      .file = file,
			      .kind = PIECE_TREE_NOW,
			      .state = PIECE_WAITING};
	uint32_t made;
	int error = push_piece(order, piece, &made);

	if (!error)
		order_index_here(order, made);
	return error;
}

static int add_trees(struct order *order, uint32_t index)
{
	struct order_file *file = &order->files.at[index];
	const struct fl_target_file *item = &order->target->files.at[file->target];
	int error;

	for (size_t i = 0; i < file->tree_count; i++) {
		error = order_add_tree_place(order, index, file->tree[i]);
		if (error)
			return error;
	}
	for (size_t i = 0; i < item->tree_count; i++) {
		struct piece piece = {.to = order->target->trees.at[item->first_tree + i],
				      .len = 1,
				      .file = index,
				      .kind = PIECE_TREE_GOAL,
				      .state = PIECE_WAITING};
		uint32_t made;

		error = push_piece(order, piece, &made);
		if (!error)
			error = fl_blockset_add(order->wanted, piece.to, 1);
		if (error)
			return error;
		index_there(order, made);
		if (fl_blockset_has(order->free, piece.to))
			order->pieces.at[made].state = PIECE_DONE;
		else {
			order->pieces.at[made].blocked = 1;
			file->tree_blocked++;
		}
	}
	return 0;
}

static bool same_layout(const struct order *order, const struct fl_target_file *item)
{
	const struct fl_file *file = &order->map->files.at[item->file];
	const struct fl_extent *now = fl_array_from(&order->map->extents, file->first_extent);
	const struct fl_extent *then = fl_array_from(&order->target->extents, item->first_extent);
	uint32_t now_done = 0, then_done = 0;
	size_t n = 0, t = 0;

	/* Stored extents may be cut differently; only the places count. */
	while (n < file->extent_count && t < item->extent_count) {
		uint32_t len = (uint32_t)fl_min(now[n].len - now_done, then[t].len - then_done);

		if (now[n].pblk + now_done != then[t].pblk + then_done)
			return false;
		now_done = now_done + len == now[n].len ? (n++, 0u) : now_done + len;
		then_done = then_done + len == then[t].len ? (t++, 0u) : then_done + len;
	}
	if (file->tree_count != item->tree_count)
		return false;
	for (size_t i = 0; i < item->tree_count; i++)
		if (order->map->trees.at[file->first_tree + i] !=
		    order->target->trees.at[item->first_tree + i])
			return false;
	return true;
}

static int add_file(struct order *order, uint32_t target)
{
	const struct fl_target_file *item = &order->target->files.at[target];
	const struct fl_file *file = &order->map->files.at[item->file];
	struct order_file made = {.target = target, .first = NONE};
	uint32_t index = (uint32_t)order->files.count;
	int error;

	if (same_layout(order, item))
		return 0;
	made.tree = fl_alloc(file->tree_count, sizeof(*made.tree));
	if (!made.tree)
		return FL_ENOMEM;
	made.tree_count = file->tree_count;
	for (size_t i = 0; i < file->tree_count; i++)
		made.tree[i] = order->map->trees.at[file->first_tree + i];
	if (fl_array_push(&order->files, made)) {
		free(made.tree);
		return FL_ENOMEM;
	}
	order->trees_away++;
	error = add_data(order, index);
	if (!error)
		error = add_trees(order, index);
	if (!error && !order->files.at[index].waiting && !order->files.at[index].tree_blocked)
		error = fl_array_push(&order->trees_ready, index);
	return error;
}

static int setup_sets(struct order *order)
{
	const struct fl_map *map = order->map;
	uint64_t blocks = map->geo.blocks;

	order->bucket_shift = (unsigned)__builtin_ctz(BUCKET_BLOCKS);
	while (blocks >> order->bucket_shift >= MOST_BUCKETS)
		order->bucket_shift++;
	order->bucket_count = order_bucket(order, blocks - 1) + 1;
	order->here = fl_alloc(order->bucket_count, sizeof(*order->here));
	order->there = fl_alloc(order->bucket_count, sizeof(*order->there));
	if (!order->here || !order->there || fl_blockset_new(blocks, &order->free) ||
	    fl_blockset_new(blocks, &order->wanted))
		return FL_ENOMEM;
	for (size_t i = 0; i < order->bucket_count; i++)
		order->here[i] = order->there[i] = NONE;
	for (size_t i = 0; i < map->free.count; i++)
		if (fl_blockset_add(order->free, map->free.at[i].start, map->free.at[i].len))
			return FL_ENOMEM;
	return 0;
}

/* Scratch: free blocks that nobody is to have. */
static int setup_scratch(struct order *order)
{
	fl_pblk pos = 0, end = order->map->geo.blocks;
	struct fl_run run;

	if (fl_blockset_copy(order->free, &order->scratch))
		return FL_ENOMEM;
	while (fl_blockset_next_run(order->wanted, pos, end, &run)) {
		if (fl_blockset_remove(order->scratch, run.start, run.len))
			return FL_ENOMEM;
		pos = fl_run_end(run);
	}
	return 0;
}

int order_setup(struct order *order)
{
	int error = setup_sets(order);

	for (size_t i = 0; i < order->target->files.count && !error; i++)
		error = add_file(order, (uint32_t)i);
	if (!error)
		error = setup_scratch(order);
	return error;
}

void order_teardown(struct order *order)
{
	for (size_t i = 0; i < order->files.count; i++)
		free(order->files.at[i].tree);
	fl_array_free(&order->files);
	fl_array_free(&order->pieces);
	fl_array_free(&order->ready);
	fl_array_free(&order->keys);
	fl_array_free(&order->partial);
	fl_array_free(&order->put_off);
	fl_array_free(&order->trees_ready);
	fl_array_free(&order->touched);
	fl_array_free(&order->freed);
	fl_array_free(&order->mapping);
	fl_array_free(&order->lent);
	fl_array_free(&order->path);
	free(order->here);
	free(order->there);
	fl_blockset_free(order->free);
	fl_blockset_free(order->wanted);
	fl_blockset_free(order->scratch);
}
