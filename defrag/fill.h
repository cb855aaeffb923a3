/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: puts units into gaps.
 */
#ifndef DEFRAG_FILL_H
#define DEFRAG_FILL_H

#include "defrag/units.h"

/*
 * Fills the gaps, in the order given, with units that are neither kept nor placed: in path
 * order as long as they fit (in_order), then what is left of a gap with the longest units that
 * do. Units that are long beside the gaps get theirs first, or few would be left that hold
 * them; the first `preferred` gaps are to be taken before the others. What stays open is appended
 * to left. O((gaps + units) log units + long units * gaps).
 */
int fill_gaps(struct units *units, const struct fl_runs *gaps, size_t preferred, bool in_order,
	      struct fl_runs *left) FL_CHECKED;

/*
 * Cuts units that are not placed yet into the longest of the runs that are left, and takes them
 * out of left (sorted by length after it); with only_better just those that get fewer pieces than
 * they are in. *split counts the units cut. FL_ENOROOM.
 */
int fill_split(struct units *units, struct fl_runs *left, bool only_better,
	       size_t *split) FL_CHECKED;

#endif
