/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: puts units into gaps.
 */
#ifndef DEFRAG_FILL_H
#define DEFRAG_FILL_H

#include "defrag/units.h"

enum fill_how {
	/* The longest unit that fits goes first: gaps are filled closely. */
	FILL_BY_SIZE,
	/*
	 * Units that are long beside the gaps get theirs first, or few gaps would be left that hold
	 * them; then in the order wanted as long as units fit, then what is left of a gap by size.
	 */
	FILL_IN_ORDER,
	/* The same without the long ones first. */
	FILL_STRICTLY,
	/* Short gaps by size, first; then the long ones in order. */
	FILL_HOLES,
	/* Only units marked `first`, one after the other; a gap that the next does not fit is left.
	 */
	FILL_FIRST,
};

/*
 * Fills the gaps, in the order given, with units that are neither kept nor placed. Long units are
 * put into the first `preferred` gaps if they fit. What stays open is appended to left.
 * O((gaps + units) log units + long units * gaps).
 */
int fill_gaps(struct units *units, const struct fl_runs *gaps, size_t preferred, enum fill_how how,
	      struct fl_runs *left) FL_CHECKED;

/*
 * Cuts units that are not placed yet into the longest of the runs that are left, and takes them
 * out of left (sorted by length after it); with only_better just those that get fewer pieces than
 * they are in. *split counts the units cut. FL_ENOROOM.
 */
int fill_split(struct units *units, struct fl_runs *left, bool only_better,
	       size_t *split) FL_CHECKED;

#endif
