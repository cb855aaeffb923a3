/* SPDX-License-Identifier: MIT */
/*
 * Parts become items with neighbours, and items with places a target. Must not give places.
 */
#include <stdlib.h>

#include "frag/arranger.h"

static int compare_parts(const void *a, const void *b)
{
	const struct frag_part *left = a, *right = b;
	int order = fl_compare(left->key, right->key);

	if (!order)
		order = fl_compare(left->file, right->file);
	if (!order)
		order = fl_compare(left->kind, right->kind);
	if (!order)
		order = fl_compare(left->piece, right->piece);
	return order ? order : fl_compare(left->len, right->len);
}

static void enqueue(struct frag_arranger *a, struct frag_queue *queue, uint32_t *tail,
		    uint32_t index)
{
	*(*tail == FRAG_NO_ITEM ? &queue->first : &a->items.at[*tail].next) = index;
	*tail = index;
	queue->count++;
}

/* Two queues, in the order of the parts, which are sorted. */
static void make_items(struct frag_arranger *a, const struct frag_parts *parts)
{
	uint32_t tails[2] = {FRAG_NO_ITEM, FRAG_NO_ITEM};

	for (uint32_t i = 0; i < parts->count; i++) {
		const struct frag_part *part = &parts->at[i];
		const bool hole = part->kind == FRAG_PART_HOLE;

		a->items.at[a->items.count++] = (struct frag_item){.key = part->key,
								   .len = part->len,
								   .file = part->file,
								   .before = FRAG_NO_ITEM,
								   .after = FRAG_NO_ITEM,
								   .next = FRAG_NO_ITEM,
								   .kind = part->kind};
		enqueue(a, hole ? &a->holes : &a->parts, &tails[hole], i);
	}
}

/* Joins the pieces of each file in logical order; by_piece has room for all. */
static void join_pieces(struct frag_arranger *a, const struct frag_parts *parts, uint32_t *ends,
			uint32_t *by_piece)
{
	const size_t files = a->base->aged.files.count;

	for (size_t i = 0; i < parts->count; i++)
		if (parts->at[i].kind == FRAG_PART_PIECE)
			ends[parts->at[i].file + 1]++;
	for (size_t f = 0; f < files; f++)
		ends[f + 1] += ends[f];
	for (uint32_t i = 0; i < parts->count; i++) {
		const struct frag_part *part = &parts->at[i];

		if (part->kind == FRAG_PART_PIECE)
			by_piece[ends[part->file] + part->piece] = i;
		if (part->kind == FRAG_PART_TREE)
			a->trees[part->file] = i;
	}
	for (size_t f = 0; f < files; f++) {
		a->pieces[f] = by_piece[ends[f]];
		for (uint32_t i = ends[f] + 1; i < ends[f + 1]; i++) {
			a->items.at[by_piece[i]].before = by_piece[i - 1];
			a->items.at[by_piece[i - 1]].after = by_piece[i];
		}
	}
}

int frag_arranger_open(struct frag_arranger *a, struct frag_parts *parts)
{
	const size_t files = a->base->aged.files.count;
	uint32_t *ends = calloc(files + 1, sizeof(*ends));
	uint32_t *by_piece = fl_alloc(fl_max(parts->count, 1), sizeof(*by_piece));
	int err = FL_ENOMEM;

	a->pieces = fl_alloc(files + 1, sizeof(*a->pieces));
	a->trees = fl_alloc(files + 1, sizeof(*a->trees));
	if (!ends || !by_piece || !a->pieces || !a->trees ||
	    fl_array_reserve(&a->items, parts->count))
		goto out;
	for (size_t f = 0; f < files; f++)
		a->trees[f] = FRAG_NO_ITEM;
	if (parts->count)
		qsort(parts->at, parts->count, sizeof(*parts->at), compare_parts);
	make_items(a, parts);
	join_pieces(a, parts, ends, by_piece);
	err = 0;
out:
	free(ends);
	free(by_piece);
	return err;
}

void frag_arranger_close(struct frag_arranger *a)
{
	fl_array_free(&a->items);
	free(a->pieces);
	free(a->trees);
	a->pieces = a->trees = NULL;
}

/* --- the target --- */

struct writer {
	const struct frag_arranger *a;
	struct fl_target *target;
	struct fl_runs holes, runs;
	size_t next, longest; /* of the holes: to be tried next; to be spared */
};

static int list_holes(struct writer *w)
{
	const struct frag_arranger *a = w->a;

	for (size_t i = 0; i < a->items.count; i++) {
		const struct frag_item *item = &a->items.at[i];

		if (item->kind == FRAG_PART_HOLE &&
		    fl_array_push(&w->holes, ((struct fl_run){item->start, item->len})))
			return FL_ENOMEM;
	}
	for (size_t i = 1; i < w->holes.count; i++)
		if (w->holes.at[i].len > w->holes.at[w->longest].len)
			w->longest = i;
	return 0;
}

/* A block at the end of a hole that leaves something of it; the longest, and short ones, last. */
static bool take_block(struct writer *w, fl_pblk *block)
{
	for (size_t least = 2, tried = 0; least; tried++) {
		struct fl_run *hole;

		if (tried == w->holes.count) {
			tried = 0;
			least--;
			continue;
		}
		w->next = (w->next + 1) % w->holes.count;
		hole = &w->holes.at[w->next];
		if (hole->len < least || (least == 2 && w->next == w->longest))
			continue;
		*block = hole->start + --hole->len;
		return true;
	}
	return false;
}

static int add_tree(struct writer *w, uint32_t f, uint64_t blocks)
{
	const struct frag_arranger *a = w->a;
	int err = 0;

	for (uint32_t i = a->trees[f]; i != FRAG_NO_ITEM && blocks && !err;
	     i = a->items.at[i].after) {
		uint64_t len = fl_min(a->items.at[i].len, blocks);

		err = fl_target_add_tree(w->target, a->items.at[i].start, len);
		blocks -= len;
	}
	for (; blocks && !err; blocks--) {
		fl_pblk block;

		if (!w->holes.count || !take_block(w, &block))
			return FL_ENOROOM;
		err = fl_target_add_tree(w->target, block, 1);
	}
	return err;
}

static int add_file(struct writer *w, uint32_t f)
{
	const struct frag_arranger *a = w->a;
	uint64_t tree_blocks;
	int err = 0;

	w->runs.count = 0;
	for (uint32_t i = a->pieces[f]; i != FRAG_NO_ITEM && !err; i = a->items.at[i].after)
		err = fl_array_push(&w->runs,
				    ((struct fl_run){a->items.at[i].start, a->items.at[i].len}));
	if (!err)
		err = fl_target_add(w->target, a->base->map, a->base->aged.files.at[f].file,
				    w->runs.at, w->runs.count, &tree_blocks);
	return err ? err : add_tree(w, f, tree_blocks);
}

int frag_arranger_target(const struct frag_arranger *a, struct fl_target *target)
{
	struct writer w = {.a = a, .target = target};
	int err = list_holes(&w);

	for (uint32_t f = 0; f < a->base->aged.files.count && !err; f++)
		err = add_file(&w, f);
	fl_array_free(&w.holes);
	fl_array_free(&w.runs);
	return err;
}
