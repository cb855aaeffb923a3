/* SPDX-License-Identifier: MIT */
/*
 * A model of ext4's block allocator over a free map (layer sim): where the kernel would put the
 * next blocks of a file. Pure, deterministic, integer only.
 *
 * The facts are those of fs/ext4/mballoc.c, extents.c, balloc.c and file.c in Linux 6.18, with the
 * settings that a mount has by default (data=ordered, delayed allocation, no stripe).
 *
 * Modelled:
 * - the goal: for a file's first blocks the group of its inode, with flex groups of four and more
 *   the second group of the flex group (the first for directories); then just after its last block
 * - the search (ext4_mb_regular_allocator): the whole length at the goal; a buddy, when the length
 *   is a power of two; groups by their average free run; less and less of what is more than needed;
 *   groups by free blocks; anything. In order below 16 groups, else four groups and then the
 *   sets of groups by order. Best fit in whole buddies; at most 200 runs, 10 once one fits
 * - small files (16 blocks): windows of 512 blocks that they share, with what is left of them
 * - large files while open: the window that follows from the size (normalize), kept for
 *   the file until it is closed; the group in which large files go on, by inode number
 * - large files already closed: exactly what is needed, without a look at the goal
 * - blocks of deleted files: free when the journal commits
 * - all that is kept is given up when nothing else is free
 * No run crosses a group border.
 *
 * Not modelled: more than one processor's windows; blocks reserved for root and for metadata; the
 * number of an inode that is made in the history (its folder's stands for it); stripes; bitmaps
 * that were not read yet; locks that others hold; colouring without delayed allocation; that a
 * nearly full disk is written without delay.
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

/* What no file has: also blocks that are kept for some, or wait for the commit. */
uint64_t fl_alloc_free_blocks(const struct fl_alloc *alloc);

/*
 * Takes up to want blocks (> 0) as one run near goal: at the goal itself when enough is free
 * there; else as metadata and directories get them. run->len may be less than want, never 0.
 * FL_ENOROOM: nothing is free; FL_EINVAL: want is 0; FL_ENOMEM.
 */
int fl_alloc_take(struct fl_alloc *alloc, fl_pblk goal, uint64_t want,
		  struct fl_run *run) FL_CHECKED;

enum fl_alloc_hint {
	FL_ALLOC_NEAR, /* as fl_alloc_take */
	/* A large file: at the goal, else on from where the last large allocation ended. */
	FL_ALLOC_STREAM,
};

/* fl_alloc_take with a hint. */
int fl_alloc_take_as(struct fl_alloc *alloc, enum fl_alloc_hint hint, fl_pblk goal, uint64_t want,
		     struct fl_run *run) FL_CHECKED;

/* --- files that are written --- */

/* A file of at most this many blocks is a small one to ext4 (mb_stream_req). */
#define FL_ALLOC_SMALL_BLOCKS 16u

/* A regular file at the moment when blocks are found for it. */
struct fl_alloc_file {
	fl_ino ino;
	fl_pblk goal;	 /* one past its last block; without blocks, fl_alloc_goal_of_inode */
	uint64_t blocks; /* that it has already */
	bool small;	 /* with all that is written, on the disk or not yet: fl_alloc_is_small */
	bool open;	 /* for writing */
};

/* Whether a file of so many of the map's blocks (with bigalloc, whole clusters) is small. */
static inline bool fl_alloc_is_small(const struct fl_map *map, uint64_t blocks)
{
	return blocks * fl_map_unit_blocks(map) <= FL_ALLOC_SMALL_BLOCKS;
}

/*
 * Takes up to want blocks (> 0) as the next of a file. *ahead names what is kept for the file, 0:
 * nothing; it must be given back by fl_alloc_close. As fl_alloc_take.
 */
int fl_alloc_write(struct fl_alloc *alloc, uint32_t *ahead, const struct fl_alloc_file *file,
		   uint64_t want, struct fl_run *run) FL_CHECKED;
/* Gives back what is kept for a file, as when it is closed, truncated or deleted. */
int fl_alloc_close(struct fl_alloc *alloc, uint32_t *ahead) FL_CHECKED;
/* Gives blocks back that can be used again after the next commit. FL_ENOMEM. */
int fl_alloc_delete(struct fl_alloc *alloc, struct fl_run run) FL_CHECKED;
/* The journal commits: fsync(2) or sync(2). FL_EINVAL: a block was free already. */
int fl_alloc_commit(struct fl_alloc *alloc) FL_CHECKED;

/* --- without policy --- */

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
