/* SPDX-License-Identifier: MIT */
/*
 * Gives parts their places: one after the other, from the first block of the space to the last.
 * Pure.
 */
#ifndef FRAG_ARRANGE_H
#define FRAG_ARRANGE_H

#include "frag/parts.h"

/*
 * Lays the parts (those of all files of the base, and holes; together as many blocks as the space
 * has) by their keys. No two holes touch, no piece begins where the one before it in its file ends,
 * and at the end of a run of space another part that fits comes earlier, or the border between two
 * pieces of a file moves; as far as all that can be done. What can't be makes a fragment or a hole
 * more or less. `largest`: blocks of a hole that is to stay whole, and that none surpasses; 0:
 * none.
 *
 * Fills target (zero-initialised), in the order of map->files. parts are sorted. FL_ENOROOM: too
 * few free blocks for the mapping trees; FL_EINVAL: the blocks are not those of the space;
 * FL_ENOMEM.
 */
int frag_arrange(const struct frag_base *base, struct frag_parts *parts, uint64_t largest,
		 struct fl_target *target) FL_CHECKED;

#endif
