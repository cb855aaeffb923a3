/* SPDX-License-Identifier: MIT */
/*
 * The words of a group's bitmaps, for group.c (what changes) and runs.c (what is looked for).
 */
#ifndef FRAGLAB_SIM_BITS_H
#define FRAGLAB_SIM_BITS_H

#include <fraglab/util.h>

#include "common/sim/group.h"

#define WORD_BITS 64u

/* The bits of word number `word` that lie in start .. end-1. */
static inline uint64_t word_mask(uint32_t word, uint32_t start, uint32_t end)
{
	uint64_t mask = UINT64_MAX;

	if (start > word * WORD_BITS)
		mask &= UINT64_MAX << (start % WORD_BITS);
	if (end < (word + 1) * WORD_BITS)
		mask &= UINT64_MAX >> (WORD_BITS - end % WORD_BITS);
	return mask;
}

/*
 * The first bit at or after from (below count) that is set, or with flip all ones that is not;
 * count when there is none. The search lives here.
 */
static inline uint32_t find_bit(const uint64_t *bits, uint32_t from, uint32_t count, uint64_t flip)
{
	uint32_t word = from / WORD_BITS;
	uint64_t found = (bits[word] ^ flip) & UINT64_MAX << (from % WORD_BITS);

	while (!found && ++word * WORD_BITS < count)
		found = bits[word] ^ flip;
	if (!found)
		return count;
	/* What is behind the last bit of a level means nothing. */
	return (uint32_t)fl_min(word * WORD_BITS + (uint32_t)__builtin_ctzll(found), count);
}

/* The first block at or after from that is free (or, not free); size when there is none. */
static inline uint32_t find_next(const struct fl_simgroup *group, uint32_t from, bool is_free)
{
	if (from >= group->size)
		return group->size;
	if (!group->bits)
		return (group->free != 0) == is_free ? from : group->size;
	return find_bit(group->bits, from, group->size, is_free ? 0 : UINT64_MAX);
}

/* The last free block before `end`; there is one. */
static inline uint32_t find_last(const struct fl_simgroup *group, uint32_t end)
{
	uint32_t word = (end - 1) / WORD_BITS;
	uint64_t found = group->bits[word] & word_mask(word, 0, end);

	while (!found)
		found = group->bits[--word];
	return word * WORD_BITS + WORD_BITS - 1 - (uint32_t)__builtin_clzll(found);
}

static inline size_t words_of(const struct fl_simgroup *group, unsigned order)
{
	return (size_t)fl_div_up(group->size >> order, WORD_BITS);
}

static inline uint64_t *level_of(const struct fl_simgroup *group, unsigned order)
{
	uint64_t *level = group->bits;

	for (unsigned k = 0; k < order; k++)
		level += words_of(group, k);
	return level;
}

static inline bool bit_of(const uint64_t *level, uint32_t at)
{
	return level[at / WORD_BITS] >> (at % WORD_BITS) & 1;
}

/* runs.c: mends what is remembered of the head; start .. end-1 has been given to the bitmaps. */
void fl_simgroup_note_given(struct fl_simgroup *group, uint32_t start, uint32_t end);

#endif
