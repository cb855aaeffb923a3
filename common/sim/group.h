/* SPDX-License-Identifier: MIT */
/*
 * The free blocks of one block group, for the allocator: a bitmap with its buddies and counts.
 * Knows nothing of policy nor of other groups.
 */
#ifndef FRAGLAB_SIM_GROUP_H
#define FRAGLAB_SIM_GROUP_H

#include <fraglab/error.h>

/* Chunks have 2^0 .. 2^(FL_SIM_ORDERS - 1) blocks: enough for blocks of 64 KiB. */
#define FL_SIM_ORDERS 18

#define FL_SIMGROUP_HEAD 201 /* what a search looks at: s_mb_max_to_scan of mballoc.c, and one */

/*
 * What is remembered of a group's first runs, up to FL_SIMGROUP_HEAD of them, since searches on a
 * fragmented disk ask for the longest of these again and again. Zeroed, it says nothing.
 */
struct fl_simgroup_head {
	uint32_t end;  /* no free run goes over it */
	uint32_t runs; /* free runs before end */
	uint32_t len;  /* none of them is longer */
	uint32_t from; /* those that begin before from are shorter than len */
};

/*
 * Blocks are counted from the group's first. Zero-initialise, then set size (> 0) and top.
 *
 * A chunk of order k is 2^k blocks at a multiple of 2^k, all free. The buddy of ext4 that holds a
 * free block is the largest chunk with it, of order top at most; so the buddies need no state.
 */
struct fl_simgroup {
	/* Level k has a bit for each chunk of order k that is free. One after the other, each
	 * beginning in a word. NULL: all blocks are free (free == size) or in use (free == 0). */
	uint64_t *bits;
	uint32_t size;
	uint32_t free;
	uint32_t runs;			/* maximal runs of free blocks */
	uint32_t chunks[FL_SIM_ORDERS]; /* bits that are set in each level */
	uint8_t top;			/* the greatest order; below FL_SIM_ORDERS */
	struct fl_simgroup_head head;
};

void fl_simgroup_free(struct fl_simgroup *group);

/* start + len within size, len > 0. FL_EINVAL: not all are in use (give), not all free (take). */
int fl_simgroup_give(struct fl_simgroup *group, uint32_t start, uint32_t len) FL_CHECKED;
int fl_simgroup_take(struct fl_simgroup *group, uint32_t start, uint32_t len) FL_CHECKED;

/* Free blocks in a row from start on; 0 when start is in use or past the end. */
uint32_t fl_simgroup_free_at(const struct fl_simgroup *group, uint32_t start);

/* The first free run of at least `least` blocks (> 0) after `from`, cut at from. False: none. */
bool fl_simgroup_next(const struct fl_simgroup *group, uint32_t from, uint32_t least,
		      uint32_t *start, uint32_t *len);

/*
 * How many free runs begin before block `limit`, at most `most` (> 0); and the longest of these,
 * the first of equals, when one is longer than `than`, else *len is 0. limit: the group's size, or
 * a block after one in use. Fast when these are the first FL_SIMGROUP_HEAD runs or all of a group
 * that has fewer, or when `than` is not exceeded by any.
 */
uint32_t fl_simgroup_longest(struct fl_simgroup *group, uint32_t limit, uint32_t most,
			     uint32_t than, uint32_t *start, uint32_t *len);

/* Whether there is a buddy of this order. */
static inline bool fl_simgroup_has_buddy(const struct fl_simgroup *group, unsigned order)
{
	return group->chunks[order] > (order < group->top ? 2 * group->chunks[order + 1] : 0);
}
/* The first block of the first buddy of this order; there is one. */
uint32_t fl_simgroup_buddy(const struct fl_simgroup *group, unsigned order);
/*
 * How many blocks from start on, where a buddy begins, whole buddies have, as many as hold `want`
 * or as there are before end, where the free run ends: mb_find_extent.
 */
uint32_t fl_simgroup_extent(const struct fl_simgroup *group, uint32_t start, uint32_t end,
			    uint32_t want);

#endif
