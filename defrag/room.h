/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: which parts of the slots shall be full and which free.
 */
#ifndef DEFRAG_ROOM_H
#define DEFRAG_ROOM_H

#include "defrag/units.h"

struct room {
	struct fl_runs packed; /* to be filled, in this order */
	struct fl_runs zones;  /* to be free; taken in this order when packed is not enough */
};

/* Everything may be used, nothing is to be free: for keeping as much as possible. */
int room_all(const struct units *units, struct room *room) FL_CHECKED;
/*
 * The longest slot is to be free, then those with the least in them, then the end of one more;
 * the rest is to hold `used` blocks.
 */
int room_consolidated(const struct fl_map *map, const struct units *units, uint64_t used,
		      struct room *room) FL_CHECKED;
void room_free(struct room *room);

#endif
