/* SPDX-License-Identifier: MIT */
/*
 * Scores that other tools give a filesystem, computed as those tools do, so that their figures
 * and ours can be reconciled. Pure functions of a map; judges nothing.
 */
#ifndef FRAGLAB_LEGACY_H
#define FRAGLAB_LEGACY_H

#include <fraglab/map.h>

#define FL_LEGACY_WORST 5  /* as many as e4defrag -c lists */
#define FL_LEGACY_PATH 256 /* a longer path is cut at the front ("...") */

/* A file as `e4defrag -c FILE` sees it. */
struct fl_legacy_file {
	fl_ino ino;
	uint64_t extents; /* "now": extents as FIEMAP has them */
	uint64_t best;	  /* one for each (flex) group's worth of blocks */
	uint64_t blocks;
	double score;		   /* below 31 no problem, over 55 "needs defrag" to e4defrag */
	char path[FL_LEGACY_PATH]; /* escaped */
};

struct fl_legacy_metrics {
	/*
	 * `e4defrag -c` of the mounted filesystem: regular files with a name and a size outside
	 * /lost+found, those with several hard links once a link.
	 */
	struct {
		uint64_t files, extents, best, blocks;
		double score; /* 0 when there is no such file; may be below 0 */
		struct fl_legacy_file worst[FL_LEGACY_WORST]; /* by excess extents a block */
		size_t worst_count;
	} e4defrag;
	/*
	 * The last line of `e2fsck -f`: inodes whose blocks, indirect blocks included, are not all
	 * in one run, unless they have as many blocks as a group or more.
	 */
	struct {
		uint64_t files,
			directories; /* not contiguous; symlinks and the journal are files */
		double percent;	     /* of the inodes in use, in tenths as e2fsck rounds */
	} e2fsck;
	/*
	 * e2freefrag's lines above its histogram; that one is fl_free_metrics.histogram. With
	 * bigalloc e2freefrag 1.47 takes clusters for blocks and is wrong about both; these are
	 * right.
	 */
	struct {
		uint64_t min_kib, max_kib, mean_kib; /* each rounded down; 0 without free blocks */
	} e2freefrag;
	/* filefrag of every regular file with a name and blocks, hard links counted once. */
	struct {
		uint64_t files, extents;
	} filefrag;
};

/* e4defrag's view of one file; path stays empty. A file without blocks has the score 0. */
void fl_legacy_e4defrag(const struct fl_map *map, const struct fl_file *file,
			struct fl_legacy_file *view);
/* What filefrag counts: a new extent goes on neither with the hole kept nor with it left out. */
uint64_t fl_legacy_filefrag(const struct fl_map *map, const struct fl_file *file);
/* Whether e2fsck counts the inode as not contiguous. */
bool fl_legacy_scattered(const struct fl_map *map, const struct fl_file *file);

/* All of the above for a whole map. O(extents). */
void fl_legacy(const struct fl_map *map, struct fl_legacy_metrics *metrics);

#endif
