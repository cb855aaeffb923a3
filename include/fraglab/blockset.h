/* SPDX-License-Identifier: MIT */
/*
 * A set of block numbers 0 .. size-1 that stays small for long runs: chunks of
 * 32768 blocks that are all out, all in, or a 4 KiB bitmap. Memory is
 * size / 4096 bytes + 4 KiB per mixed chunk, so 2^33 blocks need 2 MiB and up.
 */
#ifndef FRAGLAB_BLOCKSET_H
#define FRAGLAB_BLOCKSET_H

#include <fraglab/error.h>

struct fl_blockset;

/* An empty set over 0 .. size-1. FL_ENOMEM. Free with fl_blockset_free (NULL is legal). */
int fl_blockset_new(uint64_t size, struct fl_blockset **set) FL_CHECKED;
int fl_blockset_copy(const struct fl_blockset *from, struct fl_blockset **set) FL_CHECKED;
void fl_blockset_free(struct fl_blockset *set);

uint64_t fl_blockset_size(const struct fl_blockset *set);
/* Number of members; O(1). */
uint64_t fl_blockset_count(const struct fl_blockset *set);
/* Out of range is "not a member". */
bool fl_blockset_has(const struct fl_blockset *set, uint64_t block);
/* Members among start .. start+len-1; O(len / 64 + chunks). */
uint64_t fl_blockset_count_range(const struct fl_blockset *set, uint64_t start, uint64_t len);

/*
 * Put in or take out start .. start+len-1; members or not before, both are fine.
 * FL_EINVAL when the range leaves the set, FL_ENOMEM; after either the set may
 * hold a part of the change and is only fit to be freed.
 */
int fl_blockset_add(struct fl_blockset *set, uint64_t start, uint64_t len) FL_CHECKED;
int fl_blockset_remove(struct fl_blockset *set, uint64_t start, uint64_t len) FL_CHECKED;

/*
 * The first block in from .. limit-1 that is (want) or is not (!want) a member.
 * False: none; *block is then untouched. Skips uniform chunks in one step.
 */
bool fl_blockset_find(const struct fl_blockset *set, uint64_t from, uint64_t limit, bool want,
		      uint64_t *block);

/*
 * The first maximal run of members that begins in from .. limit-1, cut at limit.
 * Loop: for (pos = 0; fl_blockset_next_run(set, pos, end, &run); pos = fl_run_end(run))
 */
bool fl_blockset_next_run(const struct fl_blockset *set, uint64_t from, uint64_t limit,
			  struct fl_run *run);

#endif
