/* SPDX-License-Identifier: MIT */
/*
 * Profiles: what kind of use a disk has seen, as numbers only. Must not hold code: a new
 * profile is one more entry of the table in profile.c.
 */
#ifndef FRAG_PROFILE_H
#define FRAG_PROFILE_H

#include <fraglab/error.h>

/*
 * Files behave by size: class i holds files of at most frag_class_bytes[i] bytes (counted in
 * blocks); the last class has no limit.
 */
#define FRAG_CLASSES 5
extern const uint64_t frag_class_bytes[FRAG_CLASSES];

/* One size of temporary files: above the one before it in the table, up to `bytes`. */
struct frag_size_weight {
	uint64_t bytes;
	uint32_t weight; /* relative to the sum of the table */
};

struct frag_profile {
	const char *name;    /* as -p takes it */
	const char *summary; /* a line for people */

	/* Percent of the files that were written on day 0, in path order: the installed system.
	 * The others are born at any time up to the end. */
	uint32_t installed_percent;
	/* Percent of the files that are saved anew in a month: new blocks, then the old ones
	 * are freed. Files that grow are not. */
	uint32_t rewritten_percent;

	/* Percent of a size class that grows by appends from its birth to the end (logs, mail
	 * boxes, databases). Directories always do. */
	uint32_t growing_percent[FRAG_CLASSES];
	/* Percent of a growing file that is there from the first write; the rest is appended. */
	uint32_t growing_first_percent;
	/* Appends a month: half of the growing files of a class have this many, a quarter twice as
	 * many, an eighth four times, and so on up to appends_most. */
	uint32_t appends[FRAG_CLASSES];
	uint32_t appends_most;

	/* Percent of a size class (of what neither grows nor is installed) that is written while
	 * others write: in chunks, by turns. */
	uint32_t shared_percent[FRAG_CLASSES];
	uint32_t writers;		  /* files written by turns at a time, at most; >= 2 */
	uint64_t chunk_least, chunk_most; /* bytes of a turn; each file keeps its own */
	/* Percent of the turns after which a temporary file of the same size is written. */
	uint32_t turn_temporary_percent;

	/* Temporary files written in a day, in thousandths of the disk. */
	uint32_t temporary_permille;
	/* Percent of the deleted temporaries that are the newest; the others have any age. */
	uint32_t short_lived_percent;
	const struct frag_size_weight *sizes; /* of temporaries; ends with weight 0 */

	/* How full the disk gets, percent: it wanders between the two, and ends at the peak, just
	 * before the temporaries go. A disk whose files alone need more goes half way from
	 * there to full. */
	uint32_t low_percent, peak_percent;
};

/* NULL: no such profile. */
const struct frag_profile *frag_profile_find(const char *name);
/* Profile number i, from 0, the first is the default; NULL past the end. */
const struct frag_profile *frag_profile_at(size_t i);

#endif
