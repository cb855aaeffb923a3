/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: all fragments in the order wanted as one sequence, and what is best to move of
 * it at a given price of a block. Must not know the budget.
 */
#ifndef DEFRAG_SEQUENCE_H
#define DEFRAG_SEQUENCE_H

#include "defrag/packer.h"

/* What a joint is worth; prices are whole numbers, so that every machine chooses the same. */
#define JOINT (INT64_C(1) << 20)
/*
 * BEHIND: the last of those laid behind one that is kept. AHEAD is none of a fragment's own: a
 * kept one comes after it when those before are laid ahead of it.
 */
enum state { KEPT, MOVED, BEHIND, AHEAD, STATES };

struct beside {
	int64_t value; /* of the sequence up to the unit, if this is chosen */
	size_t first;  /* BEHIND: the kept one; AHEAD: the first that is laid ahead */
};

/* What is known of a unit. */
struct item {
	size_t gap_behind, gap_ahead; /* index of the free run there; or how many there are */
	struct beside behind, ahead;
	int64_t best;	   /* value of the sequence up to it, whatever its state */
	uint8_t state;	   /* which is this one */
	uint8_t before[2]; /* if it is KEPT, MOVED: the best state of the one before */
};

struct sequence {
	struct packer *packer;
	struct item *items; /* by unit */
};

/* Blocks that a choice moves: beside kept fragments, and into other gaps. */
struct choice {
	uint64_t beside, away;
};

/* Finds the gap on each side of each unit. items: one a unit, zeroed. FL_ENOMEM. */
int sequence_find_gaps(struct sequence *sequence) FL_CHECKED;
/* The best choice at a price (> 0), noted in the units: keep, placed, to. */
struct choice sequence_choose(struct sequence *sequence, int64_t price);

#endif
