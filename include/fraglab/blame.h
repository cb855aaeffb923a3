/* SPDX-License-Identifier: MIT */
/*
 * Whose fault the seeks of a stream are: each is charged to the file that the I/O after the
 * seek goes to. Knows nothing of workloads.
 */
#ifndef FRAGLAB_BLAME_H
#define FRAGLAB_BLAME_H

#include <fraglab/stream.h>

#define FL_BLAMED 10	  /* files that are named */
#define FL_BLAME_PATH 256 /* a longer path is cut at the front ("...") */

struct fl_blamed {
	fl_ino ino;
	uint64_t seeks;
	double share;		  /* of all seeks of the stream, 0..1 */
	char path[FL_BLAME_PATH]; /* escaped; "<inode 8>" without a name */
};

struct fl_blame {
	uint64_t seeks; /* of the stream; also what no file of the map owns (metadata, new files) */
	uint64_t owned; /* of them, those charged to a file */
	uint64_t files; /* files that are charged with any */
	struct fl_blamed worst[FL_BLAMED]; /* most seeks first; of equals the lower inode */
	size_t worst_count;
};

/* Collects; opaque. Borrows the map. */
struct fl_blamer;

/* O(n log n) in the map's runs. FL_ENOMEM. Free with fl_blamer_free (NULL is legal). */
int fl_blamer_new(const struct fl_map *map, struct fl_blamer **blamer) FL_CHECKED;
void fl_blamer_free(struct fl_blamer *blamer);

/* Begins a stream: the next I/O has no predecessor. */
void fl_blamer_start(struct fl_blamer *blamer);
/* The next I/O of the stream. O(log n) for a seek, else O(1). */
void fl_blamer_note(struct fl_blamer *blamer, const struct fl_io *io);
/* The verdict on the stream so far. O(files). */
void fl_blamer_sum(const struct fl_blamer *blamer, struct fl_blame *blame);

#endif
