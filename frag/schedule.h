/* SPDX-License-Identifier: MIT */
/*
 * The schedule: when each file of the map is written, in which pieces. Pure; knows
 * nothing of places on the disk.
 */
#ifndef FRAG_SCHEDULE_H
#define FRAG_SCHEDULE_H

#include <fraglab/map.h>

#include "frag/profile.h"

/* Times are ticks from day 0; a month has 2^32 of them (about 0.6 ms each). */
#define FRAG_MONTH_TICKS ((uint64_t)1 << 32)
#define FRAG_DAY_TICKS (FRAG_MONTH_TICKS / 30)

/* blocks: the file is written whole, to be replaced when its next events come. */
#define FRAG_EARLY_VERSION 0u
/* blocks: all that is not yet written. */
#define FRAG_ALL_THE_REST UINT32_MAX

struct frag_event {
	uint64_t when;
	uint32_t file;	 /* index into map->files */
	uint32_t blocks; /* to append, or one of the two above */
};

struct frag_events {
	FL_ARRAY(struct frag_event);
};

struct frag_schedule_options {
	const struct frag_profile *profile;
	uint32_t months;
	uint64_t seed;
	bool gentle; /* every file is written once and in one go */
};

/*
 * Fills events (zero-initialised; free with fl_array_free), in order of time. The events of
 * a file add up to all its blocks. The same file draws the same numbers for any number of
 * months: those with more months have the same last months. FL_ENOMEM. O(n log n).
 */
int frag_schedule(const struct fl_map *map, const struct frag_schedule_options *options,
		  struct frag_events *events) FL_CHECKED;

#endif
