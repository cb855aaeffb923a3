/* SPDX-License-Identifier: MIT */
/*
 * Histograms with the edges of VMware's vscsiStats, so that a capture from a real
 * host can be laid beside ours. A bucket counts values greater than the edge before
 * it and at most its own edge; the last bucket has no edge ("greater than").
 */
#ifndef FRAGLAB_HIST_H
#define FRAGLAB_HIST_H

#include <fraglab/error.h>

enum fl_hist_kind {
	FL_HIST_LENGTH, /* I/O length, bytes */
	FL_HIST_SEEK,	/* first LBN minus the previous I/O's last LBN, signed; +1 is sequential */
	FL_HIST_WINDOWED_SEEK, /* the same, to the closest of the previous 16 I/Os */
	FL_HIST_LATENCY,       /* microseconds */
	FL_HIST_INTERARRIVAL,  /* microseconds */
	FL_HIST_OUTSTANDING,   /* I/Os in flight when a new one is issued */
	FL_HIST_KINDS
};

#define FL_HIST_MAX_BUCKETS 40

struct fl_hist {
	enum fl_hist_kind kind;
	uint64_t count;
	int64_t min, max; /* 0 while count is 0 */
	double sum;	  /* for the mean; exact up to 2^53 */
	uint64_t buckets[FL_HIST_MAX_BUCKETS];
};

void fl_hist_init(struct fl_hist *hist, enum fl_hist_kind kind);
void fl_hist_add(struct fl_hist *hist, int64_t value);

/* Edges of a kind; *count is the number of buckets, one more than there are edges. */
const int64_t *fl_hist_edges(enum fl_hist_kind kind, size_t *count);
/* "length", "seek_distance", "windowed_seek_distance", "latency_us", ... as in the JSON. */
const char *fl_hist_name(enum fl_hist_kind kind);

#endif
