/* SPDX-License-Identifier: MIT */
/*
 * The analyzer: what a map means, in numbers. Pure functions of maps. Definitions
 * and JSON names are those of the README's table of metrics.
 */
#ifndef FRAGLAB_ANALYZE_H
#define FRAGLAB_ANALYZE_H

#include <fraglab/blame.h>
#include <fraglab/disk.h>
#include <fraglab/hist.h>
#include <fraglab/legacy.h>
#include <fraglab/shape.h>
#include <fraglab/stream.h>

#define FL_LARGEST_FRAGMENTS 10
#define FL_FREE_BUCKETS 40

struct fl_file_metrics {
	uint64_t count;		   /* named, movable inodes with data blocks */
	uint64_t blocks;	   /* their data blocks */
	uint64_t extents;	   /* as stored on disk */
	uint64_t fragments;	   /* physically consecutive runs in logical order, holes skipped */
	uint64_t fragmented;	   /* files with more than one fragment */
	uint64_t forced_fragments; /* the least that fixed metadata allows, summed over files */
	uint64_t avoidable_fragments; /* fragments beyond it, summed over files */
	/* Smith and Seltzer 1997: share of blocks, a file's first excluded, that follow the
	 * previous one physically; over all files. 1 when no file has two blocks. */
	double layout_score;
	uint64_t largest_fragments[FL_LARGEST_FRAGMENTS]; /* most fragmented files, descending */
	size_t largest_count;				  /* entries in use */
	/* Share of all fragments that are in the most fragmented 1 % of files, rounded up; 0 when
	 * there are no files. */
	double worst_ratio;
	uint64_t tree_blocks;	       /* mapping-tree blocks of the counted files */
	uint64_t pinned[FL_PIN_COUNT]; /* files with data blocks that stay, by reason */
};

struct fl_free_metrics {
	uint64_t blocks;
	uint64_t extents;
	uint64_t largest_bytes;
	uint64_t largest_possible_bytes; /* what fixed metadata and the free total allow */
	double mean_bytes;		 /* 0 when there is no free extent */
	/* Bucket i: extents of 2^i .. 2^(i+1)-1 blocks, as e2freefrag has them. */
	struct {
		uint64_t extents, blocks;
	} histogram[FL_FREE_BUCKETS];
};

/* The reads, or the writes, of a stream as if there were no others. */
struct fl_io_side {
	uint64_t ios, bytes;
	struct fl_hist length, seek;
	struct fl_hist latency, interarrival, outstanding; /* empty without a disk model */
};

struct fl_io_metrics {
	enum fl_workload workload;
	uint64_t ios, bytes;
	uint64_t
		seeks; /* I/Os that do not begin just after the previous one's end; the first too */
	double seeks_per_100mib;
	double sequential_ratio; /* share of I/Os in the +1 bin; 0 for an empty stream */
	double mean_io_bytes;
	struct fl_hist length, seek, windowed_seek;
	struct fl_blame blame; /* the files that the seeks go to */
	struct fl_io_side reads, writes;

	/* With a disk model; FL_DISK_NONE: what follows is 0 and empty. */
	enum fl_disk_model disk;
	double mean_latency_us;
	double slow_ratio; /* share of I/Os that take longer than FL_DISK_SLOW_US */
	double seconds;	   /* until the last I/O is done */
	struct fl_hist latency, interarrival, outstanding;
};

struct fl_metrics {
	struct fl_file_metrics files;
	struct fl_free_metrics free;
	struct fl_legacy_metrics legacy; /* scores of other tools */
	struct fl_io_metrics io[FL_WORKLOADS];
	size_t io_count;
	/* With options.like: how far its shape is from that one (shape.h), in millionths. */
	uint64_t like_files, like_free;
};

struct fl_analyze_options {
	enum fl_workload workloads[FL_WORKLOADS];
	size_t workload_count;
	struct fl_stream_options stream;
	struct fl_disk_options disk;
	const struct fl_shape *like; /* borrowed; NULL: nothing is compared */
	bool brief; /* without the scores of other tools and without blame, which stay 0 */
};

/*
 * All metrics of a map; io[i] is workloads[i]. O(n log n) in its runs. FL_ENOMEM;
 * FL_EINVAL: the options ask for what fl_stream_run refuses, or for too many workloads.
 */
int fl_analyze(const struct fl_map *map, const struct fl_analyze_options *options,
	       struct fl_metrics *metrics) FL_CHECKED;

/*
 * Several guests on one array: their streams, stored (16 bytes an I/O), then merged by time. The
 * guests' disks lie one after the other. A guest's own time goes on by the transfer of each of
 * its I/Os at 100 MB/s, and by 8 ms for each seek of its own stream; the guest that is behind
 * issues next (of several the first), and those that are done drop out.
 */
struct fl_interleave;

/* options are copied. FL_ENOMEM. Free with fl_interleave_free (NULL is legal). */
int fl_interleave_new(const struct fl_analyze_options *options,
		      struct fl_interleave **interleave) FL_CHECKED;
void fl_interleave_free(struct fl_interleave *interleave);
/* One guest more. FL_ENOMEM, and what fl_stream_run returns. */
int fl_interleave_add(struct fl_interleave *interleave, const struct fl_map *map) FL_CHECKED;

struct fl_interleaved {
	struct fl_io_metrics alone;    /* the guests one after the other */
	struct fl_io_metrics together; /* as the array sees them */
	double kept; /* sequential ratio together / alone; 0 when nothing was sequential alone */
};

/* Workload i of the options, over all guests. FL_ENOMEM, FL_EINVAL: no such i. */
int fl_interleave_measure(const struct fl_interleave *interleave, size_t i,
			  struct fl_interleaved *result) FL_CHECKED;

/* One metric that is not as expected. */
struct fl_deviation {
	char name[72];		      /* "files.fragments", "read-all.seek_distance[17]" */
	char expected[32], found[32]; /* the two values as text */
};

/*
 * True when every metric of both is exactly the same: the check that a prediction came true.
 * The first `room` metrics that differ go to deviations (NULL when room is 0), the number of
 * all that do to *count (NULL is legal).
 */
bool fl_metrics_equal(const struct fl_metrics *expected, const struct fl_metrics *found,
		      struct fl_deviation *deviations, size_t room, size_t *count);

#endif
