/* SPDX-License-Identifier: MIT */
/*
 * Histograms with vscsiStats' edges. Knows the edges and how to count; where the
 * values come from is none of its business.
 */
#include <fraglab/hist.h>

#include <string.h>

static const int64_t length_edges[] = {
	512,   1024,  2048,  4095,  4096,  8191,   8192,   16383,  16384,
	32768, 49152, 65535, 65536, 81920, 131072, 262144, 524288,
};

static const int64_t seek_edges[] = {
	-500000, -100000, -50000, -10000, -5000, -1000, -500, -128,  -64,   -32,    -16,
	-8,	 -6,	  -4,	  -2,	  -1,	 0,	1,    2,     4,	    6,	    8,
	16,	 32,	  64,	  128,	  500,	 1000,	5000, 10000, 50000, 100000, 500000,
};

static const int64_t time_edges[] = {
	1, 10, 100, 500, 1000, 5000, 15000, 30000, 50000, 100000,
};

static const int64_t outstanding_edges[] = {
	1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 64,
};

#define EDGES(array) array, sizeof(array) / sizeof(array[0])

static const struct {
	const char *name;
	const int64_t *edges;
	size_t edge_count;
} kinds[FL_HIST_KINDS] = {
	[FL_HIST_LENGTH] = {"length", EDGES(length_edges)},
	[FL_HIST_SEEK] = {"seek_distance", EDGES(seek_edges)},
	[FL_HIST_WINDOWED_SEEK] = {"windowed_seek_distance", EDGES(seek_edges)},
	[FL_HIST_LATENCY] = {"latency_us", EDGES(time_edges)},
	[FL_HIST_INTERARRIVAL] = {"interarrival_us", EDGES(time_edges)},
	[FL_HIST_OUTSTANDING] = {"outstanding", EDGES(outstanding_edges)},
};

_Static_assert(sizeof(seek_edges) / sizeof(seek_edges[0]) < FL_HIST_MAX_BUCKETS,
	       "the longest row of edges and one bucket more must fit");

void fl_hist_init(struct fl_hist *hist, enum fl_hist_kind kind)
{
	memset(hist, 0, sizeof(*hist));
	hist->kind = kind;
}

void fl_hist_add(struct fl_hist *hist, int64_t value)
{
	const int64_t *edges = kinds[hist->kind].edges;
	size_t low = 0, high = kinds[hist->kind].edge_count;

	/* The first edge that is not below the value; none: the bucket past the last edge. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (edges[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	hist->buckets[low]++;
	if (!hist->count || value < hist->min)
		hist->min = value;
	if (!hist->count || value > hist->max)
		hist->max = value;
	hist->count++;
	hist->sum += (double)value;
}

const int64_t *fl_hist_edges(enum fl_hist_kind kind, size_t *count)
{
	*count = kinds[kind].edge_count + 1;
	return kinds[kind].edges;
}

const char *fl_hist_name(enum fl_hist_kind kind)
{
	return kinds[kind].name;
}
