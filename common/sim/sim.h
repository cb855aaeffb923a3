/* SPDX-License-Identifier: MIT */
/*
 * The allocator's state, shared by the files of this layer: alloc.c (what is free), scan.c (the
 * search) and reserve.c (preallocations). Private to sim.
 */
#ifndef FRAGLAB_SIM_SIM_H
#define FRAGLAB_SIM_SIM_H

#include <fraglab/alloc.h>

#include "common/sim/group.h"
#include "common/sim/index.h"

#define SIM_WINDOW_ORDERS 10 /* PREALLOC_TB_SIZE */
#define SIM_WINDOWS 10	     /* of an order: the tenth makes the kernel trim the list */
#define SIM_GOALS 2	     /* groups that large files go on in, for two processors */

/* What is left of the small files' windows of an order, the shortest first. */
struct sim_windows {
	struct fl_run at[SIM_WINDOWS];
	size_t count;
};

struct fl_alloc {
	struct fl_geometry geo;
	uint64_t free_blocks; /* also those that are reserved, or wait for the commit */
	struct fl_simgroup *groups;
	unsigned top;		     /* the greatest order of a buddy */
	struct sim_index by_buddy;   /* by the greatest order that has a buddy; each worth 1 */
	struct sim_index by_average; /* by the order of the average free run, and that length */
	struct sim_index by_free;    /* one order; by the free blocks */

	struct sim_windows windows[SIM_WINDOW_ORDERS];
	uint32_t goals[SIM_GOALS]; /* groups of the last large allocations, by inode */
	uint32_t goal_count;
	FL_ARRAY(struct fl_run) ahead; /* reserved for one file each; 0 is never used */
	uint32_t spare_ahead;	       /* first of a list through len; 0: none */
	FL_ARRAY(struct fl_run) freed; /* free once the journal commits */
};

/* --- alloc.c --- */

/* Makes blocks available to the search, or not; the count of free blocks stays. */
int sim_change(struct fl_alloc *alloc, struct fl_run run, bool give) FL_CHECKED;
/* Free blocks in a row from a block on, within its group. */
uint32_t sim_free_at(const struct fl_alloc *alloc, fl_pblk block);

/* --- scan.c --- */

struct sim_request {
	uint32_t group; /* where the search begins */
	uint32_t want;	/* blocks needed; at least one is given */
	uint32_t aim;	/* blocks looked for, from want on; what is found is cut at that */
	bool data;	/* of a regular file */
};

/* False: not one block is available. Takes nothing. */
bool sim_search(struct fl_alloc *alloc, const struct sim_request *request, struct fl_run *run);
/* The order of a free run of this average length among the sets. */
unsigned sim_average_order(const struct fl_alloc *alloc, uint32_t blocks);

/* --- reserve.c --- */

/* Gives up all that is reserved or waits; true: that was something. */
int sim_release_all(struct fl_alloc *alloc, bool *released) FL_CHECKED;

#endif
