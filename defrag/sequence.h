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

/* The gap on one side of a unit. */
struct side {
	size_t gap;    /* index into gaps; gaps.count: there is none, or the unit leaves */
	uint64_t room; /* blocks of it for what is laid beside this unit */
};

/* What is known of a unit. */
struct item {
	struct side behind_it, ahead_of_it;
	struct beside behind, ahead;
	int64_t best;	   /* value of the sequence up to it, whatever its state */
	uint8_t state;	   /* which is this one */
	uint8_t before[2]; /* if it is KEPT, MOVED: the best state of the one before */
};

struct sequence {
	struct packer *packer;
	struct item *items;  /* by unit */
	struct fl_runs gaps; /* what is free, and what units leave that surely move; by start */
	uint64_t cuts;	     /* of what was laid away last */
	int64_t cut_price;   /* of a block that is laid away from what is kept, for it may be cut */
};

/* Data blocks that a choice moves: beside kept fragments, and into other gaps. */
struct choice {
	uint64_t beside, away;
	uint64_t trees; /* mapping-tree blocks that are laid ahead of these */
};

/* FL_ENOMEM. */
int sequence_new(struct packer *packer, struct sequence *sequence) FL_CHECKED;
void sequence_free(struct sequence *sequence);

/*
 * Finds the gaps anew, and those on both sides of each unit: where units leave (unit.leaves), what
 * they occupy now is room too. Each gap serves one side. FL_ENOMEM.
 */
int sequence_find_gaps(struct sequence *sequence) FL_CHECKED;
/* What the last choice left of a gap goes to the side that it did not serve. FL_ENOMEM. */
int sequence_share_gaps(struct sequence *sequence) FL_CHECKED;
/* The best choice at a price (> 0), noted in the units: keep, placed, to. */
struct choice sequence_choose(struct sequence *sequence, int64_t price);
/*
 * Notes in the first unit of each file how many mapping-tree blocks the file is going to have, as
 * chosen and laid: there is room for them ahead of it, if it moves. only_open: in those that have
 * no place yet.
 */
void sequence_expect_trees(struct sequence *sequence, bool only_open);
/*
 * Mapping-tree blocks of what moves that are not laid ahead of data. Where data is cut, more may
 * be needed than are expected: about as often as when it was laid last.
 */
uint64_t sequence_trees_elsewhere(const struct sequence *sequence);
/* Appends what units that are laid beside kept ones leave of the gaps; by start. FL_ENOMEM. */
int sequence_open_gaps(const struct sequence *sequence, struct fl_runs *open) FL_CHECKED;

#endif
