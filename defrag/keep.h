/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: what may stay where it is.
 */
#ifndef DEFRAG_KEEP_H
#define DEFRAG_KEEP_H

#include "defrag/room.h"

/* Keeps all units that are whole. */
void keep_whole(struct units *units);
/* Keeps nothing but what is pinned. */
void keep_nothing(struct units *units);
/*
 * Keeps whole units that lie in the packed part, well (beside their neighbours in path order,
 * or so long that it does not matter), and where at least `percent` of the neighbourhood is
 * such: what is kept then costs few gaps.
 */
int keep_dense(const struct fl_map *map, struct units *units, const struct room *room,
	       unsigned percent) FL_CHECKED;

#endif
