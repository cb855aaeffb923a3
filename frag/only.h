/* SPDX-License-Identifier: MIT */
/*
 * Half of an aged layout: the fragments of the files without those of the free space, or the
 * other way round. Pure; must not know how the layout came about.
 */
#ifndef FRAG_ONLY_H
#define FRAG_ONLY_H

#include <fraglab/plan.h>

/*
 * Both take an aged target (in the order of map->files, not finished) and fill another one
 * (zero-initialised) for the same map. FL_ENOMEM; FL_ENOROOM: no free blocks for mapping trees.
 */

/*
 * Files are in the pieces that the aged target has them in, in the same order on the disk, but
 * on the blocks that the data of these files has now. Free space keeps its places, but for
 * the mapping trees: more than now take the smallest free extents, fewer leave some blocks.
 */
int frag_only_files(const struct fl_map *map, const struct fl_target *aged,
		    struct fl_target *target) FL_CHECKED;

/*
 * Holes are where the aged target has them, as far as this can be done without parting files:
 * the fragments that files have now are moved out of the way, each whole, or stay. No file has
 * more fragments than now. Mapping trees stay.
 */
int frag_only_free(const struct fl_map *map, const struct fl_target *aged,
		   struct fl_target *target) FL_CHECKED;

/* Puts what one of the two makes of the target in its place; neither: it stays as it is. */
int frag_only(const struct fl_map *map, bool files, bool free, struct fl_target *target) FL_CHECKED;

#endif
