/* SPDX-License-Identifier: MIT */
/*
 * What the generators of streams share: the stream at hand and its requests. Private to
 * common/analyze.
 */
#ifndef FRAGLAB_ANALYZE_STREAMS_H
#define FRAGLAB_ANALYZE_STREAMS_H

#include <fraglab/blockset.h>
#include <fraglab/stream.h>

struct stream {
	const struct fl_map *map;
	const struct fl_stream_options *options;
	uint64_t max_blocks;	/* of one request */
	uint64_t window_blocks; /* read-ahead window once it is full */
	uint64_t first_blocks;	/* the first window of a file */
	fl_io_sink sink;
	void *context;
	struct fl_blockset *cached; /* metadata blocks that were read; NULL: none are */
	struct fl_run plugged;	    /* the last request of the plug, not issued yet; len 0: none */
	bool plugged_write;
};

/* --- requests.c --- */

/*
 * Adds blocks to the plug: merged with its last request when they touch it (behind, or in front
 * within the limit), as blk_attempt_plug_merge does; else that one is issued first.
 */
int fl_stream_add(struct stream *stream, struct fl_run run, bool write) FL_CHECKED;
/* Issues what is in the plug. */
int fl_stream_unplug(struct stream *stream) FL_CHECKED;
/* Unplugs and issues one request that nothing merges with (cut at the limit all the same). */
int fl_stream_issue(struct stream *stream, struct fl_run run, bool write) FL_CHECKED;

/* --- readahead.c, cold.c, walk.c --- */

/* Reads a file whole through the page cache. */
int fl_stream_read_file(struct stream *stream, const struct fl_file *file) FL_CHECKED;
/* Reads the inode's block of the table, and those around it. */
int fl_stream_read_inode(struct stream *stream, fl_ino ino) FL_CHECKED;
int fl_stream_read_directory(struct stream *stream, const struct fl_file *file) FL_CHECKED;
/* The place where the k-th mapping-tree block of a file is needed: extent index, or lblk. */
uint64_t fl_stream_tree_due(const struct stream *stream, const struct fl_file *file, size_t k);

/* --- generators --- */

int fl_stream_walk(struct stream *stream, enum fl_workload workload) FL_CHECKED;
int fl_stream_install(struct stream *stream) FL_CHECKED;
int fl_stream_random(struct stream *stream) FL_CHECKED;
int fl_stream_sequential(struct stream *stream) FL_CHECKED;

#endif
