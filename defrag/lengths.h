/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: runs found by their length. Lengths that differ by less than a sixteenth are
 * one class, so that a run is found, and put back shorter, in a time that no number of runs
 * changes.
 */
#ifndef DEFRAG_LENGTHS_H
#define DEFRAG_LENGTHS_H

#include "defrag/pack.h"

#define LENGTHS_NONE SIZE_MAX
#define LENGTHS_STEPS 16u /* classes from a length to twice that */
#define LENGTHS_CLASSES (64u * LENGTHS_STEPS)

struct lengths {
	struct fl_runs *runs; /* borrowed */
	size_t *next;	      /* in its class, by run */
	size_t first[LENGTHS_CLASSES];
};

/* Puts all runs in. They may be changed while they are out. FL_ENOMEM. */
int lengths_new(struct fl_runs *runs, struct lengths *lengths) FL_CHECKED;
void lengths_free(struct lengths *lengths);

/* Takes out a run that has this length or is little longer; LENGTHS_NONE: none is as long. */
size_t lengths_take(struct lengths *lengths, uint64_t len);
/* Takes out one of the longest runs; LENGTHS_NONE: all are out. */
size_t lengths_take_longest(struct lengths *lengths);
/* Puts a run in; nothing happens when it is empty. */
void lengths_put(struct lengths *lengths, size_t run);

#endif
