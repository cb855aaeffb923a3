/* SPDX-License-Identifier: MIT */
/*
 * Where defrag wants the blocks to be: three packing policies over one set of steps. Pure.
 */
#ifndef DEFRAG_PACK_H
#define DEFRAG_PACK_H

#include <fraglab/plan.h>

enum defrag_mode {
	DEFRAG_FULL,  /* files whole, as directories list them where moved; free space consolidated
		       */
	DEFRAG_FILES, /* files whole with the fewest blocks moved; free space as it comes */
	DEFRAG_FREE,  /* free space consolidated; fragments stay as they are cut */
};

enum defrag_order {
	DEFRAG_KEEP, /* what lies well stays; what moves goes in the order in which directories are
			listed */
	DEFRAG_PATH, /* everything in path order, from the front */
	DEFRAG_LIST, /* listed files first, in the order of the list, from the front */
};

struct defrag_settings {
	enum defrag_mode mode;
	enum defrag_order order; /* full mode only */
	const uint32_t *listed;	 /* DEFRAG_LIST: indexes into map->files; FL_NO_NAME is skipped */
	size_t listed_count;
	/*
	 * At most about so many bytes of data should move, those that save the most seeks; else,
	 * when none do, the mode's own way, which is longer. 0: no limit.
	 */
	uint64_t max_bytes;
	const struct fl_watch *watch; /* hears of rounds; NULL: none */
	uint32_t threshold; /* leave files with at most this many fragments alone; 0 or 1: none */
};

/*
 * Fills target (zero-initialised) with the files that shall move. An empty target means that
 * the image is as good as this mode makes it. O(n log n) in files and runs. FL_ENOMEM;
 * what the watch returns.
 * A file for which there is no run long enough is cut into as few as there is room for (full),
 * or stays (files).
 */
int defrag_target(const struct defrag_settings *settings, const struct fl_map *map,
		  struct fl_target *target, struct fl_diag *diag) FL_CHECKED;

#endif
