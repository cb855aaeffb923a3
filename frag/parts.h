/* SPDX-License-Identifier: MIT */
/*
 * What a layout to order consists of: pieces of files, mapping trees and holes, and the order in
 * which they lie. Pure; where each begins is for frag/arrange.h.
 */
#ifndef FRAG_PARTS_H
#define FRAG_PARTS_H

#include <fraglab/shape.h>

#include "frag/base.h"

enum frag_part_kind { FRAG_PART_TREE, FRAG_PART_PIECE, FRAG_PART_HOLE };

struct frag_part {
	uint64_t key;	/* parts lie by key, kind, file and piece */
	uint64_t len;	/* blocks of the map, > 0 */
	uint32_t file;	/* as in the base; holes: 0 */
	uint32_t piece; /* from 0, in logical order */
	uint8_t kind;	/* enum frag_part_kind */
};

/* Pieces of a file follow one another, in logical order, after its tree. */
struct frag_parts {
	FL_ARRAY(struct frag_part);
};

/* How a layout is wanted. */
struct frag_dials {
	/* Of the files that move and count: with more than one fragment, and fragments beyond one.
	 * Those of the base: as the history has them. */
	uint64_t fragmented, extra;
	/*
	 * From -FRAG_DRAW_ONE: all files in the order of their paths and holes behind them, over 0:
	 * as in the history, to FRAG_DRAW_ONE: no order at all.
	 */
	int32_t order;
	uint64_t holes;	  /* how many */
	uint64_t largest; /* blocks of the largest hole; 0: as it comes */
	/* NULL, or what files and holes are shaped like; then fragmented, extra and holes say
	 * nothing. Borrowed. */
	const struct fl_shape *like;
	uint64_t seed;
};

/* A generator for one of the things that are drawn. */
void frag_dials_seed(const struct frag_dials *dials, uint64_t number, struct fl_rng *rng);

/* Fragments of each file of the base, in counts. Dials beyond what is possible: the nearest. */
int frag_parts_count(const struct frag_base *base, const struct frag_dials *dials,
		     uint32_t *counts) FL_CHECKED;

/*
 * Pieces and mapping trees for these counts, into parts (empty). FL_ENOMEM. *tree_blocks: of all
 * trees.
 */
int frag_parts_of_files(const struct frag_base *base, const struct frag_dials *dials,
			const uint32_t *counts, struct frag_parts *parts,
			uint64_t *tree_blocks) FL_CHECKED;

/*
 * Appends holes of so many blocks in all, shaped like those of the base. At least one if there
 * are blocks, and none is longer than the dials and the space allow, so that there may be more
 * than asked for. FL_ENOMEM.
 */
int frag_parts_of_holes(const struct frag_base *base, const struct frag_dials *dials,
			uint64_t blocks, struct frag_parts *parts) FL_CHECKED;

#endif
