/* SPDX-License-Identifier: MIT */
/*
 * The free blocks of one block group, for the allocator: a bitmap with its counts.
 * Knows nothing of policy nor of other groups.
 */
#ifndef FRAGLAB_SIM_GROUP_H
#define FRAGLAB_SIM_GROUP_H

#include <fraglab/error.h>

/* Blocks are counted from the group's first. Zero-initialise, then set size (> 0). */
struct fl_simgroup {
	uint64_t *bits; /* set: free. NULL: all free (free == size) or all in use (free == 0) */
	uint32_t size;
	uint32_t free;
	uint32_t runs;	  /* maximal runs of free blocks */
	uint32_t longest; /* no free run is longer; exact after a scan found nothing */
};

void fl_simgroup_free(struct fl_simgroup *group);

/* start + len within size, len > 0. FL_EINVAL: not all are in use (give), not all free (take). */
int fl_simgroup_give(struct fl_simgroup *group, uint32_t start, uint32_t len) FL_CHECKED;
int fl_simgroup_take(struct fl_simgroup *group, uint32_t start, uint32_t len) FL_CHECKED;

/* Free blocks in a row from start on; 0 when start is in use or past the end. */
uint32_t fl_simgroup_free_at(const struct fl_simgroup *group, uint32_t start);

/* The first free run that has a block at or after from, cut at from. False: none. */
bool fl_simgroup_next(const struct fl_simgroup *group, uint32_t from, uint32_t *start,
		      uint32_t *len);

#endif
