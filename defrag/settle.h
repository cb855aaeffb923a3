/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: plans on until a second run would find nothing to do.
 */
#ifndef DEFRAG_SETTLE_H
#define DEFRAG_SETTLE_H

#include "defrag/pack.h"

/* Where rounds are cheap: far more than it takes. */
#define SETTLE_ROUNDS 64

/* One planner: fills a zero-initialised target. */
typedef int (*settle_planner)(const struct defrag_settings *settings, const struct fl_map *map,
			      struct fl_target *target, struct fl_diag *diag);

/*
 * Finishes a target, and gives the map that it leads to; *next is NULL when it cannot be reached,
 * for want of room on the way.
 */
int settle_follow(const struct fl_map *map, struct fl_target *target, struct fl_map **next,
		  struct fl_diag *diag) FL_CHECKED;

/*
 * Finishes a target, and counts the blocks that the way to it moves, those that go twice too;
 * UINT64_MAX: there is no way to all of it.
 */
int settle_cost(const struct fl_map *map, struct fl_target *target, uint64_t *moved,
		struct fl_diag *diag) FL_CHECKED;

/*
 * Plans, looks at the map that leads to, and plans again, until nothing is to be done or so many
 * rounds are over. A target that is not empty is the first round's. The target goes from the first
 * map to the last, each file once. *reached: false when there was no end to it, or no way to a
 * round's target for want of room; if that was the first, it is the target all the same.
 */
int settle(settle_planner planner, const struct defrag_settings *settings, const struct fl_map *map,
	   int rounds, struct fl_target *target, bool *reached, struct fl_diag *diag) FL_CHECKED;

#endif
