/* SPDX-License-Identifier: MIT */
/*
 * Streams of I/Os: what the disk under a filesystem would see while a workload
 * runs. Generated from a map, handed I/O by I/O to a consumer: no stream is stored.
 */
#ifndef FRAGLAB_STREAM_H
#define FRAGLAB_STREAM_H

#include <fraglab/map.h>

enum fl_workload {
	FL_WORKLOAD_READ_ALL,	      /* every named file, path order, whole */
	FL_WORKLOAD_READ_INODE_ORDER, /* the same files by inode number */
	FL_WORKLOAD_TRACE,	      /* recorded I/O: see trace.h */
	FL_WORKLOADS
};

/* "read-all", "read-inode-order", "trace". */
const char *fl_workload_name(enum fl_workload workload);
/* False: no such workload. */
bool fl_workload_find(const char *name, enum fl_workload *workload);

struct fl_io {
	fl_lbn lbn;	  /* first 512-byte block */
	uint32_t sectors; /* length, > 0 */
	bool write;
};

struct fl_trace;

struct fl_stream_options {
	uint64_t max_io_bytes; /* largest request; a multiple of the block size; 0: 512 KiB */
	const struct fl_trace *trace; /* for FL_WORKLOAD_TRACE; borrowed */
};

/* Consumes one I/O; a non-zero result ends the stream and is returned. */
typedef int (*fl_io_sink)(void *context, const struct fl_io *io);

/*
 * Generates the stream. Each file is read whole, in logical order; holes and unwritten extents
 * are not read (the kernel returns zeros without I/O); a request never spans two fragments or
 * two files and is at most max_io_bytes long. Pinned but named files are read as well. Written
 * extents that are neighbours on the disk are one fragment here, even across a hole.
 * FL_EINVAL: max_io_bytes is no multiple of the block size, or there is no trace to replay;
 * FL_ENOMEM; what the sink returned.
 */
int fl_stream_run(const struct fl_map *map, enum fl_workload workload,
		  const struct fl_stream_options *options, fl_io_sink sink,
		  void *context) FL_CHECKED;

#endif
