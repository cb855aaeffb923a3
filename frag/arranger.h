/* SPDX-License-Identifier: MIT */
/*
 * The parts while they are given places, private to arrange.c and placed.c.
 */
#ifndef FRAG_ARRANGER_H
#define FRAG_ARRANGER_H

#include "frag/arrange.h"

#define FRAG_NO_ITEM UINT32_MAX

struct frag_item {
	uint64_t key, len;
	fl_pblk start;
	uint32_t file, before, after; /* neighbours in the file or in its tree, or FRAG_NO_ITEM */
	uint32_t next;		      /* in its queue */
	uint8_t kind;
	bool placed;
};

struct frag_queue {
	uint32_t first;
	uint64_t count;
};

struct frag_arranger {
	const struct frag_base *base;
	FL_ARRAY(struct frag_item) items;
	struct frag_queue parts, holes; /* not placed yet, in the order wanted; parts: no holes */
	uint32_t *pieces, *trees;	/* by file: the first item of each; or FRAG_NO_ITEM */
	uint64_t cap;			/* of a hole; UINT64_MAX: none */
	uint32_t last;	   /* what ends where the next part begins; none: the border of the space */
	bool before_hole;  /* the run at hand ends where a hole begins */
	uint64_t run_left; /* blocks of the run at hand */
};

/* Sorts the parts and makes items of them. FL_ENOMEM. Close it also after a failure. */
int frag_arranger_open(struct frag_arranger *a, struct frag_parts *parts) FL_CHECKED;
void frag_arranger_close(struct frag_arranger *a);

/*
 * The target of parts that all have their places. A tree that has become larger than its part takes
 * blocks of holes, from the ends of long ones while there are such. FL_ENOROOM, FL_ENOMEM.
 */
int frag_arranger_target(const struct frag_arranger *a, struct fl_target *target) FL_CHECKED;

#endif
