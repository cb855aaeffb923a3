/* SPDX-License-Identifier: MIT */
/*
 * The bitmap of one block group, 64 blocks at a time. Must not decide where
 * anything goes: that is alloc.c.
 */
#include "common/sim/group.h"

#include <stdlib.h>
#include <string.h>

#include <fraglab/util.h>

#define WORD_BITS 64u

void fl_simgroup_free(struct fl_simgroup *group)
{
	free(group->bits);
	group->bits = NULL;
}

/* The bits of word number `word` that lie in start .. end-1. */
static uint64_t word_mask(uint32_t word, uint32_t start, uint32_t end)
{
	uint64_t mask = UINT64_MAX;

	if (start > word * WORD_BITS)
		mask &= UINT64_MAX << (start % WORD_BITS);
	if (end < (word + 1) * WORD_BITS)
		mask &= UINT64_MAX >> (WORD_BITS - end % WORD_BITS);
	return mask;
}

/* The first block at or after from that is free (or, not free); size when there is none. */
static uint32_t find_next(const struct fl_simgroup *group, uint32_t from, bool is_free)
{
	uint64_t flip = is_free ? 0 : UINT64_MAX;

	if (from >= group->size)
		return group->size;
	if (!group->bits)
		return (group->free != 0) == is_free ? from : group->size;
	for (uint32_t word = from / WORD_BITS; word * WORD_BITS < group->size; word++) {
		uint64_t bits = (group->bits[word] ^ flip) & word_mask(word, from, group->size);

		if (bits)
			return word * WORD_BITS + (uint32_t)__builtin_ctzll(bits);
	}
	return group->size;
}

/* Free blocks in a row that end just before `end`. */
static uint32_t free_before(const struct fl_simgroup *group, uint32_t end)
{
	if (end == 0 || !group->bits)
		return group->bits || group->free == 0 ? 0 : end;
	for (uint32_t word = (end - 1) / WORD_BITS + 1; word-- > 0;) {
		uint64_t used = ~group->bits[word] & word_mask(word, 0, end);

		if (used)
			return end -
			       (word * WORD_BITS + WORD_BITS - (uint32_t)__builtin_clzll(used));
	}
	return end;
}

/* Gives a uniform group its bitmap. */
static int need_bits(struct fl_simgroup *group)
{
	size_t words = (size_t)fl_div_up(group->size, WORD_BITS);

	if (group->bits)
		return 0;
	group->bits = fl_alloc(words, sizeof(*group->bits));
	if (!group->bits)
		return FL_ENOMEM;
	memset(group->bits, group->free ? 0xff : 0, words * sizeof(*group->bits));
	return 0;
}

/* A group that is all free or all in use needs no bitmap: most of a huge disk is so. */
static void drop_bits(struct fl_simgroup *group)
{
	if (group->free != 0 && group->free != group->size)
		return;
	free(group->bits);
	group->bits = NULL;
	group->runs = group->free != 0;
	group->longest = group->free;
}

static void flip(struct fl_simgroup *group, uint32_t start, uint32_t end)
{
	for (uint32_t word = start / WORD_BITS; word * WORD_BITS < end; word++)
		group->bits[word] ^= word_mask(word, start, end);
}

int fl_simgroup_give(struct fl_simgroup *group, uint32_t start, uint32_t len)
{
	uint32_t end = start + len;
	uint32_t before, after;
	int err;

	if (find_next(group, start, true) < end)
		return FL_EINVAL;
	if (len == group->size) {
		group->free = len;
		drop_bits(group);
		return 0;
	}
	err = need_bits(group);
	if (err)
		return err;
	before = free_before(group, start);
	after = fl_simgroup_free_at(group, end);
	flip(group, start, end);
	group->free += len;
	group->runs = group->runs + 1 - (before > 0) - (after > 0);
	group->longest = (uint32_t)fl_max(group->longest, before + len + after);
	drop_bits(group);
	return 0;
}

int fl_simgroup_take(struct fl_simgroup *group, uint32_t start, uint32_t len)
{
	uint32_t end = start + len;
	bool before, after;
	int err;

	if (find_next(group, start, false) < end)
		return FL_EINVAL;
	if (len == group->size) {
		group->free = 0;
		drop_bits(group);
		return 0;
	}
	err = need_bits(group);
	if (err)
		return err;
	before = start > 0 && fl_simgroup_free_at(group, start - 1) > 0;
	after = fl_simgroup_free_at(group, end) > 0;
	flip(group, start, end);
	group->free -= len;
	group->runs = group->runs + before + after - 1;
	group->longest = (uint32_t)fl_min(group->longest, group->free);
	drop_bits(group);
	return 0;
}

uint32_t fl_simgroup_free_at(const struct fl_simgroup *group, uint32_t start)
{
	return start >= group->size ? 0 : find_next(group, start, false) - start;
}

bool fl_simgroup_next(const struct fl_simgroup *group, uint32_t from, uint32_t *start,
		      uint32_t *len)
{
	uint32_t found = find_next(group, from, true);

	if (found >= group->size)
		return false;
	*start = found;
	*len = find_next(group, found, false) - found;
	return true;
}
