/* SPDX-License-Identifier: MIT */
/*
 * Cuts files up into so many pieces, and gives each its turn on the disk. Pieces are those of the
 * aged layout as far as they go.
 */
#include "frag/parts.h"

#include <stdlib.h>

struct cutter {
	const struct frag_base *base;
	const struct frag_dials *dials;
	struct frag_parts *parts;
	struct fl_rng rng;
	uint64_t spread; /* blocks of the disk that the pieces of what was one are strewn over */
	struct fl_runs aged; /* fragments of the file at hand, in logical order */
	struct fl_target trial;
};

void frag_dials_seed(const struct frag_dials *dials, uint64_t number, struct fl_rng *rng)
{
	fl_rng_seed(rng, dials->seed * 0x9E3779B97F4A7C15u + number);
}

static int list_fragments(struct cutter *c, uint32_t f)
{
	const struct fl_target *aged = &c->base->aged;
	const struct fl_target_file *item = &aged->files.at[f];

	c->aged.count = 0;
	for (size_t i = 0; i < item->extent_count; i++) {
		const struct fl_extent *extent = &aged->extents.at[item->first_extent + i];
		struct fl_run *last = c->aged.count ? &c->aged.at[c->aged.count - 1] : NULL;

		if (last && fl_run_end(*last) == extent->pblk)
			last->len += extent->len;
		else if (fl_array_push(&c->aged, ((struct fl_run){extent->pblk, extent->len})))
			return FL_ENOMEM;
	}
	return 0;
}

static int add_piece(struct cutter *c, uint32_t f, uint32_t piece, uint64_t key, uint64_t len)
{
	return fl_array_push(c->parts, ((struct frag_part){.key = key,
							   .len = len,
							   .file = f,
							   .piece = piece,
							   .kind = FRAG_PART_PIECE}));
}

/* Neighbouring fragments become one, about as many for each piece. */
static int join_fragments(struct cutter *c, uint32_t f, uint32_t count)
{
	const uint64_t had = c->aged.count;
	int err = 0;

	for (uint32_t piece = 0; piece < count && !err; piece++) {
		uint64_t len = 0, first = had * piece / count, end = had * (piece + 1) / count;

		for (uint64_t i = first; i < end; i++)
			len += c->aged.at[i].len;
		err = add_piece(c, f, piece, c->aged.at[first].start, len);
	}
	return err;
}

/* One fragment becomes several, of uneven length, each further on by about the same distance. */
static int split_fragment(struct cutter *c, uint32_t f, struct fl_run run, uint64_t pieces,
			  uint32_t *piece)
{
	uint64_t from = 0, key = run.start;
	int err = 0;

	for (uint64_t i = 1; i <= pieces && !err; i++) {
		uint64_t end = frag_portion(run.len, i, pieces);
		uint64_t before = frag_portion(run.len, i - 1, pieces);

		if (i < pieces && end - before > 1)
			end -= fl_rng_below(&c->rng, (end - before + 1) / 2);
		err = add_piece(c, f, (*piece)++, key, end - from);
		from = end;
		key = run.start + frag_portion(c->spread, i, pieces) +
		      fl_rng_below(&c->rng, c->spread / pieces + 1);
	}
	return err;
}

static int split_fragments(struct cutter *c, uint32_t f, uint32_t count)
{
	const uint64_t more = count - c->aged.count;
	const uint64_t cuts = c->base->files[f].blocks - c->aged.count; /* possible ones */
	uint64_t seen = 0, given = 0;
	uint32_t piece = 0;
	int err = 0;

	for (size_t i = 0; i < c->aged.count && !err; i++) {
		uint64_t upto;

		seen += c->aged.at[i].len - 1;
		upto = cuts ? frag_portion(more, seen, cuts) : 0;
		if (i + 1 == c->aged.count)
			upto = more;
		/* Never more than there are blocks: what is too much goes to the next one. */
		upto = fl_min(upto, given + c->aged.at[i].len - 1);
		err = split_fragment(c, f, c->aged.at[i], 1 + upto - given, &piece);
		given = upto;
	}
	return err;
}

/* Gives pieces another turn where the dial for the order says so. */
static void set_order(struct cutter *c, uint32_t f, size_t first)
{
	const uint64_t path_at = c->base->files[f].path_at;
	const int32_t order = c->dials->order;
	uint64_t before = 0;
	struct fl_rng rng;

	frag_dials_seed(c->dials, 2 * (uint64_t)f + 1, &rng);
	for (size_t i = first; i < c->parts->count; i++) {
		struct frag_part *part = &c->parts->at[i];
		uint64_t draw = fl_rng_below(&rng, FRAG_DRAW_ONE);
		uint64_t place = fl_rng_below(&rng, c->base->map->geo.blocks);

		if (draw < (uint64_t) - (int64_t)order && order < 0)
			part->key = path_at + before;
		else if (order > 0 && draw < (uint64_t)order)
			part->key = place;
		before += part->len;
	}
}

/* Blocks of the tree that the pieces from `first` on need, when none follows another. */
static int count_tree(struct cutter *c, uint32_t f, size_t first, uint64_t *tree_blocks)
{
	const uint32_t number = c->base->aged.files.at[f].file;
	fl_pblk at = 0;

	c->aged.count = 0;
	for (size_t i = first; i < c->parts->count; i++) {
		struct fl_run run = {.start = at, .len = c->parts->at[i].len};

		if (fl_array_push(&c->aged, run))
			return FL_ENOMEM;
		at = fl_run_end(run) + 1;
	}
	c->trial.files.count = c->trial.extents.count = 0;
	return fl_target_add(&c->trial, c->base->map, number, c->aged.at, c->aged.count,
			     tree_blocks);
}

static int add_file(struct cutter *c, uint32_t f, uint32_t count, uint64_t *tree_blocks)
{
	const size_t tree = c->parts->count, first = tree + 1;
	uint64_t blocks = 0;
	int err = list_fragments(c, f);

	frag_dials_seed(c->dials, 2 * (uint64_t)f, &c->rng);
	/* Its place; where there is no tree the pieces move up. */
	if (!err)
		err = fl_array_push(c->parts,
				    ((struct frag_part){.file = f, .kind = FRAG_PART_TREE}));
	if (!err)
		err = count < c->aged.count ? join_fragments(c, f, count)
					    : split_fragments(c, f, count);
	if (err)
		return err;
	set_order(c, f, first);
	err = count_tree(c, f, first, &blocks);
	if (err)
		return err;
	*tree_blocks += blocks;
	c->parts->at[tree].len = blocks;
	c->parts->at[tree].key = c->parts->at[first].key;
	if (blocks)
		return 0;
	for (size_t i = first; i < c->parts->count; i++)
		c->parts->at[i - 1] = c->parts->at[i];
	c->parts->count--;
	return 0;
}

int frag_parts_of_files(const struct frag_base *base, const struct frag_dials *dials,
			const uint32_t *counts, struct frag_parts *parts, uint64_t *tree_blocks)
{
	struct cutter c = {.base = base,
			   .dials = dials,
			   .parts = parts,
			   .spread = base->map->geo.blocks / 32 + 64};
	int err = 0;

	*tree_blocks = 0;
	for (uint32_t f = 0; f < base->aged.files.count && !err; f++)
		err = add_file(&c, f, counts[f], tree_blocks);
	fl_array_free(&c.aged);
	fl_target_free(&c.trial);
	return err;
}
