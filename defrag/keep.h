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
 * Marks the units that lie well: beside a neighbour in the order wanted or in path order (that of
 * a new disk), or so long that it does not matter. FL_ENOMEM
 */
int keep_find_well(const struct fl_map *map, struct units *units) FL_CHECKED;
/*
 * Keeps whole units that lie well and in the packed part, and where at least `percent` of the
 * neighbourhood is such: what is kept then costs few gaps.
 */
int keep_dense(const struct fl_map *map, struct units *units, const struct room *room,
	       unsigned percent) FL_CHECKED;

/* Blocks of what is kept and not pinned. */
uint64_t keep_blocks(const struct units *units);
/*
 * Of what is kept and not pinned, releases the last units of the packed part, at least so many
 * blocks: with them the gaps before can be filled. FL_ENOMEM
 */
int keep_release_last(struct units *units, const struct room *room, uint64_t blocks) FL_CHECKED;

#endif
