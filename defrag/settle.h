/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: plans on until a second run would find nothing to do.
 */
#ifndef DEFRAG_SETTLE_H
#define DEFRAG_SETTLE_H

#include "defrag/pack.h"

/* One planner: fills a zero-initialised target. */
typedef int (*settle_planner)(const struct defrag_settings *settings, const struct fl_map *map,
			      struct fl_target *target, struct fl_diag *diag);

/*
 * Plans, looks at the map that leads to, and plans again, until nothing is to be done or a few
 * rounds are over. The target goes from the first map to the last, each file once.
 */
int settle(settle_planner planner, const struct defrag_settings *settings, const struct fl_map *map,
	   struct fl_target *target, struct fl_diag *diag) FL_CHECKED;

#endif
