/* SPDX-License-Identifier: MIT */
/*
 * An ext4-like block allocator over a free map (layer sim): where the kernel would
 * put the next blocks of a file. Pure, deterministic, integer only.
 */
#ifndef FRAGLAB_ALLOC_H
#define FRAGLAB_ALLOC_H

#include <fraglab/map.h>

struct fl_alloc;

/*
 * An allocator in which exactly the blocks of the slots (fl_map_slots) are free: the disk
 * without its movable files. FL_ENOMEM. Free with fl_alloc_free (NULL is legal).
 */
int fl_alloc_new(const struct fl_geometry *geo, const struct fl_run *slots, size_t count,
		 struct fl_alloc **alloc) FL_CHECKED;
void fl_alloc_free(struct fl_alloc *alloc);

uint64_t fl_alloc_free_blocks(const struct fl_alloc *alloc);

/*
 * Takes up to want blocks (> 0) as one run near goal, as ext4's mballoc would: at the goal itself
 * when enough is free there; else the best fit in the goal's group, then in the groups after
 * it; else the longest run that can be found. run->len may be less than want, never 0.
 * FL_ENOROOM: nothing is free. The file alloc.c documents what is modelled and what is not.
 */
int fl_alloc_take(struct fl_alloc *alloc, fl_pblk goal, uint64_t want,
		  struct fl_run *run) FL_CHECKED;

/* A file of at most this many blocks is a small one to ext4 (mb_stream_req). */
#define FL_ALLOC_SMALL_BLOCKS 16u

/* What the blocks are for; ext4 looks in different places. */
enum fl_alloc_hint {
	FL_ALLOC_NEAR, /* as fl_alloc_take: metadata, directories */
	/*
	 * A file that stays small: the next blocks of a window (512 blocks) that all small files
	 * share, so they lie in the order of their writing. The goal says where a new window is
	 * looked for when the old one is used up.
	 */
	FL_ALLOC_SMALL,
	/* A large file: at the goal, else on from where the last large allocation ended. */
	FL_ALLOC_STREAM,
};

/* What ext4 makes of a file of so many of the map's blocks (with bigalloc, whole clusters). */
static inline enum fl_alloc_hint fl_alloc_hint_of(const struct fl_map *map, uint64_t blocks)
{
	return blocks * fl_map_unit_blocks(map) < FL_ALLOC_SMALL_BLOCKS ? FL_ALLOC_SMALL
									: FL_ALLOC_STREAM;
}

/* fl_alloc_take with a hint. FL_EINVAL: want is 0. */
int fl_alloc_take_as(struct fl_alloc *alloc, enum fl_alloc_hint hint, fl_pblk goal, uint64_t want,
		     struct fl_run *run) FL_CHECKED;

/*
 * Takes exactly this run. FL_EINVAL when it leaves the disk or one of its blocks is not free
 * (a run of several groups may then be taken in part: the allocator is only fit to be freed).
 */
int fl_alloc_claim(struct fl_alloc *alloc, struct fl_run run) FL_CHECKED;

/* Gives blocks back. FL_EINVAL when one of them is free already; as fl_alloc_claim. */
int fl_alloc_give(struct fl_alloc *alloc, struct fl_run run) FL_CHECKED;

/* Where the first blocks of this inode are looked for: its (flex) group. */
fl_pblk fl_alloc_goal_of_inode(const struct fl_alloc *alloc, fl_ino ino, bool directory);

#endif
