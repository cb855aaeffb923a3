/* SPDX-License-Identifier: MIT */
/*
 * A batch from the files that were touched: their moves, their mapping trees, and what becomes
 * free. Must not choose what is moved.
 */
#include "order.h"

#include <stdlib.h>

/* The mapping the file has after the batch, as stored, in order->mapping. */
static int collect_mapping(struct order *order, const struct order_file *file,
			   enum fl_mapping mapping)
{
	order->mapping.count = 0;
	for (uint32_t i = file->first; i != NONE; i = order->pieces.at[i].next) {
		const struct piece *piece = &order->pieces.at[i];
		struct fl_extent extent = {piece->at, piece->lblk, piece->len, piece->unwritten};

		if (fl_extents_append(&order->mapping, mapping, extent))
			return FL_ENOMEM;
	}
	return 0;
}

/* Returns a block that order_take_scratch gave. */
static int give_back(struct order *order, fl_pblk block)
{
	if (fl_blockset_has(order->wanted, block))
		return fl_array_push(&order->lent, ((struct fl_run){block, 1}));
	return fl_blockset_add(order->free, block, 1) ? FL_ENOMEM
						      : fl_blockset_add(order->scratch, block, 1);
}

/* Final places for the tree when the file is complete and they are free, else scratch. */
static int place_tree(struct order *order, struct order_file *file, uint64_t need, fl_pblk *tree)
{
	const struct fl_target_file *item = &order->target->files.at[file->target];
	bool home = !file->waiting && !file->tree_blocked && need == item->tree_count;
	uint64_t done = 0;
	int error = 0;

	for (; home && done < need && !error; done++) {
		tree[done] = order->target->trees.at[item->first_tree + done];
		error = fl_blockset_remove(order->free, tree[done], 1);
		if (!error)
			error = fl_blockset_remove(order->wanted, tree[done], 1);
	}
	while (done < need && !error) {
		struct fl_run run;

		error = order_take_scratch(order, need - done, &run);
		for (uint64_t i = 0; i < run.len && !error; i++)
			tree[done++] = run.start + i;
	}
	if (!error && home && !file->tree_home) {
		file->tree_home = true;
		order->trees_away--;
	}
	if (error == FL_ENOROOM)
		for (uint64_t i = 0; i < done; i++)
			if (give_back(order, tree[i]))
				return FL_ENOMEM;
	return error;
}

/* Takes a file out of the batch: there is no room for its mapping tree. */
static int put_back(struct order *order, struct order_file *file)
{
	for (uint32_t i = file->first; i != NONE; i = order->pieces.at[i].next) {
		struct piece *piece = &order->pieces.at[i];
		int error;

		if (!piece->moving)
			continue;
		error = fl_blockset_add(order->free, piece->at, piece->len);
		if (piece->state == PIECE_DONE) {
			piece->state = PIECE_READY;
			file->waiting++;
			order->waiting_blocks += piece->len;
			order->ready_blocks += piece->len;
			if (!error)
				error = fl_blockset_add(order->wanted, piece->to, piece->len);
			if (!error)
				error = fl_array_push(&order->ready, i);
		} else {
			piece->evicted = false;
			if (!error)
				error = fl_blockset_add(order->scratch, piece->at, piece->len);
		}
		piece->at = piece->from;
		piece->moving = false;
		if (error)
			return error;
	}
	if (!file->waiting && !file->tree_blocked && !file->tree_home)
		return fl_array_push(&order->trees_ready, (uint32_t)(file - order->files.at));
	return 0;
}

/* Also out of their buckets: a tree may be rewritten thousands of times. */
static void forget_tree_places(struct order *order, uint32_t index, struct order_file *file)
{
	for (size_t i = 0; i < file->tree_count; i++) {
		uint32_t *link = &order->here[order_bucket(order, file->tree[i])];

		while (*link != NONE) {
			struct piece *piece = &order->pieces.at[*link];

			if (piece->kind == PIECE_TREE_NOW && piece->file == index &&
			    piece->at == file->tree[i]) {
				piece->gone = true;
				*link = piece->next_here;
			} else {
				link = &piece->next_here;
			}
		}
	}
}

static int free_run(struct order *order, fl_pblk start, uint64_t len)
{
	return fl_array_push(&order->freed, ((struct fl_run){start, len}));
}

/* Whether a piece goes on where the move before it, of the same switch, ends. */
static bool extends(const struct fl_move *last, const struct piece *piece)
{
	return last->unwritten == piece->unwritten && last->lblk + last->len == piece->lblk &&
	       last->from + last->len == piece->from && last->to + last->len == piece->at;
}

static int emit_moves(struct order *order, struct order_file *file, struct fl_switch *item)
{
	struct fl_plan *plan = order->plan;

	item->first_move = plan->moves.count;
	for (uint32_t i = file->first; i != NONE; i = order->pieces.at[i].next) {
		struct piece *piece = &order->pieces.at[i];

		if (!piece->moving)
			continue;
		piece->moving = false;
		plan->moved_blocks += piece->len;
		if (free_run(order, piece->from, piece->len))
			return FL_ENOMEM;
		if (plan->moves.count > item->first_move &&
		    extends(&plan->moves.at[plan->moves.count - 1], piece)) {
			plan->moves.at[plan->moves.count - 1].len += piece->len;
			continue;
		}
		if (fl_array_push(&plan->moves, ((struct fl_move){.from = piece->from,
								  .to = piece->at,
								  .lblk = piece->lblk,
								  .len = piece->len,
								  .unwritten = piece->unwritten})))
			return FL_ENOMEM;
	}
	item->move_count = (uint32_t)(plan->moves.count - item->first_move);
	return 0;
}

static int emit_tree(struct order *order, uint32_t index, struct order_file *file, fl_pblk *tree,
		     size_t count, struct fl_switch *item)
{
	struct fl_plan *plan = order->plan;

	item->first_tree = plan->trees.count;
	item->tree_count = count;
	for (size_t i = 0; i < count; i++)
		if (fl_array_push(&plan->trees, tree[i]) ||
		    (fl_blockset_has(order->wanted, tree[i]) &&
		     order_add_tree_place(order, index, tree[i])))
			return FL_ENOMEM;
	for (size_t i = 0; i < file->tree_count; i++)
		if (free_run(order, file->tree[i], 1))
			return FL_ENOMEM;
	forget_tree_places(order, index, file);
	free(file->tree);
	file->tree = tree;
	file->tree_count = count;
	return 0;
}

static int emit_file(struct order *order, uint32_t index, uint64_t *blocks, bool *moved)
{
	struct order_file *file = &order->files.at[index];
	uint32_t map_file = order->target->files.at[file->target].file;
	enum fl_mapping mapping = order->map->files.at[map_file].mapping;
	struct fl_switch item = {.file = map_file};
	fl_pblk *tree = NULL;
	uint64_t need = 0;
	int error;

	file->touched = false;
	error = collect_mapping(order, file, mapping);
	if (error)
		return error;
	error = fl_map_tree_blocks(order->map, map_file, order->mapping.at, order->mapping.count,
				   &need);
	if (error)
		return error;
	tree = fl_alloc((size_t)need, sizeof(*tree));
	if (!tree)
		return FL_ENOMEM;
	error = place_tree(order, file, need, tree);
	if (error) {
		free(tree);
		return error == FL_ENOROOM ? put_back(order, file) : error;
	}
	error = emit_tree(order, index, file, tree, (size_t)need, &item);
	if (!error)
		error = emit_moves(order, file, &item);
	if (error)
		return error;
	for (uint32_t i = 0; i < item.move_count; i++)
		*blocks += order->plan->moves.at[item.first_move + i].len;
	*blocks += need;
	*moved = true;
	return fl_array_push(&order->plan->switches, item);
}

static int compare_indexes(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return fl_compare(*left, *right);
}

int order_emit(struct order *order, bool *moved)
{
	struct fl_batch batch = {.first_switch = order->plan->switches.count};
	int error = 0;

	*moved = false;
	if (order->touched.count)
		qsort(order->touched.at, order->touched.count, sizeof(*order->touched.at),
		      compare_indexes);
	for (size_t i = 0; i < order->touched.count && !error; i++)
		error = emit_file(order, order->touched.at[i], &batch.blocks, moved);
	order->touched.count = 0;
	batch.switch_count = order->plan->switches.count - batch.first_switch;
	if (!error && *moved)
		error = fl_array_push(&order->plan->batches, batch);
	fl_runs_normalize(&order->freed);
	for (size_t i = 0; i < order->freed.count && !error; i++)
		error = order_freed(order, order->freed.at[i]);
	order->freed.count = 0;
	for (size_t i = 0; i < order->lent.count && !error; i++)
		error = order_freed(order, order->lent.at[i]);
	order->lent.count = 0;
	return error;
}
