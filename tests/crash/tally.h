/* SPDX-License-Identifier: MIT */
/*
 * What the workers of a sweep find, in memory that they share: counts, and what e2fsck
 * complained about. Knows which complaints are allowed, and why.
 */
#ifndef TESTS_CRASH_TALLY_H
#define TESTS_CRASH_TALLY_H

#include <fraglab/types.h>

struct tally;

/* Shared by all processes forked later. NULL: no memory. */
struct tally *tally_new(void);

enum tally_count {
	TALLY_CUTS,	 /* power cuts, second ones included */
	TALLY_SECOND,	 /* cuts in the run that resumes */
	TALLY_FAULTS,	 /* failing operations */
	TALLY_CANCELS,	 /* runs that were cancelled */
	TALLY_UNDOS,	 /* cuts of runs with an undo file */
	TALLY_FORCED,	 /* those after which e2undo wanted -f */
	TALLY_FSCKS,	 /* runs of e2fsck */
	TALLY_DIRTY,	 /* cuts after which e2fsck had something to fix */
	TALLY_RESUMED,	 /* runs of a program to its end after a cut or fault */
	TALLY_FAILURES,	 /* cuts and faults that broke the promise */
	TALLY_BAD_UNITS, /* units of work with such */
	TALLY_NEXT,	 /* the next unit of work */
	TALLY_COUNTS
};

/* Gives the value before. */
uint64_t tally_add(struct tally *tally, enum tally_count which, uint64_t by);
uint64_t tally_get(const struct tally *tally, enum tally_count which);

/* Counts a complaint; false when it is not an allowed one. */
bool tally_complaint(struct tally *tally, const char *kind);
/* All kinds, with their counts, and why they are allowed. */
void tally_print(const struct tally *tally);

#endif
