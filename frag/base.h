/* SPDX-License-Identifier: MIT */
/*
 * What a layout to order begins with: an aged layout, with what is known of its files and holes.
 * Pure. Files are counted as the aged target has them: number f is aged.files.at[f].
 */
#ifndef FRAG_BASE_H
#define FRAG_BASE_H

#include <fraglab/plan.h>

#define FRAG_DRAW_ONE (UINT64_C(1) << 16)

struct frag_base_file {
	uint64_t blocks;     /* of the map: with bigalloc, clusters */
	uint64_t bytes;	     /* of its data blocks */
	uint64_t path_at;    /* where it lies when all are in path order, a block of the disk */
	uint32_t fragments;  /* as aged */
	uint32_t least;	     /* fragments that fixed metadata force */
	uint32_t draw;	     /* of the seed, 0 .. FRAG_DRAW_ONE - 1 */
	uint32_t propensity; /* files with lower ones are fragmented first */
	bool counted;	     /* in the metrics of files */
};

/* Files that count, in numbers of the metrics. */
struct frag_base_sum {
	uint64_t files, blocks, fragmented, extra; /* extra: fragments beyond one a file */
};

struct frag_base {
	const struct fl_map *map; /* borrowed */
	struct fl_target aged;	  /* in the order of map->files */
	struct fl_runs space;	  /* all that the aged files and the holes have, by start */
	struct fl_runs by_length; /* the same, longest first */
	uint64_t space_blocks, longest_space, data_blocks;
	struct fl_runs holes; /* free space of the aged layout, by start */
	uint64_t free_blocks; /* the sum of holes */
	struct frag_base_file *files;
	/* The counted files of two blocks and more: the likely first, and the largest first. */
	uint32_t *likely, *largest;
	size_t breakable;
	size_t forced;		    /* how many of them can't be whole; they are first in both */
	struct frag_base_sum moved; /* of the aged layout */
	struct frag_base_sum still; /* files that stay where they are */
};

/*
 * Takes over aged (also when it fails). in_inode_order: what path_at goes by in place of
 * paths. FL_ENOMEM. Free with frag_base_free.
 */
int frag_base_new(struct frag_base *base, const struct fl_map *map, struct fl_target *aged,
		  uint64_t seed, bool in_inode_order) FL_CHECKED;
void frag_base_free(struct frag_base *base);

/* part / whole of a number; part is at most whole, whole not 0. */
uint64_t frag_portion(uint64_t number, uint64_t part, uint64_t whole);

/* The fewest and the most fragments beyond one that so many breakable files have together. */
uint64_t frag_base_least_extra(const struct frag_base *base, uint64_t fragmented);
uint64_t frag_base_most_extra(const struct frag_base *base, uint64_t fragmented);

#endif
