/* SPDX-License-Identifier: MIT */
/*
 * The bitmaps of one block group, 64 bits at a time. Must not decide where
 * anything goes: that is scan.c.
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
static uint32_t find_next(const struct fl_simgroup *group, uint32_t from, bool is_free)
{
	if (from >= group->size)
		return group->size;
	if (!group->bits)
		return (group->free != 0) == is_free ? from : group->size;
	return find_bit(group->bits, from, group->size, is_free ? 0 : UINT64_MAX);
}

static size_t words_of(const struct fl_simgroup *group, unsigned order)
{
	return (size_t)fl_div_up(group->size >> order, WORD_BITS);
}

static uint64_t *level_of(const struct fl_simgroup *group, unsigned order)
{
	uint64_t *level = group->bits;

	for (unsigned k = 0; k < order; k++)
		level += words_of(group, k);
	return level;
}

static bool bit_of(const uint64_t *level, uint32_t at)
{
	return level[at / WORD_BITS] >> (at % WORD_BITS) & 1;
}

/* What a uniform group has of each order. */
static void count_uniform(struct fl_simgroup *group)
{
	group->runs = group->free != 0;
	for (unsigned k = 0; k <= group->top; k++)
		group->chunks[k] = group->free ? group->size >> k : 0;
}

/* Gives a uniform group its bitmaps. */
static int need_bits(struct fl_simgroup *group)
{
	size_t words = 0;

	if (group->bits)
		return 0;
	for (unsigned k = 0; k <= group->top; k++)
		words += words_of(group, k);
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
	count_uniform(group);
}

/* Clears the bits start .. end-1 of a level; how many of them were set. */
static uint32_t clear_bits(uint64_t *level, uint32_t start, uint32_t end)
{
	uint32_t cleared = 0;

	for (uint32_t word = start / WORD_BITS; word * WORD_BITS < end; word++) {
		uint64_t mask = word_mask(word, start, end);

		cleared += (uint32_t)__builtin_popcountll(level[word] & mask);
		level[word] &= ~mask;
	}
	return cleared;
}

static void set_bits(uint64_t *level, uint32_t start, uint32_t end)
{
	for (uint32_t word = start / WORD_BITS; word * WORD_BITS < end; word++)
		level[word] |= word_mask(word, start, end);
}

/* Chunks that are free now that the blocks start .. end-1 are; those below are set already. */
static void raise_chunks(struct fl_simgroup *group, uint32_t start, uint32_t end)
{
	uint64_t *below = group->bits;

	for (unsigned k = 1; k <= group->top; k++) {
		uint64_t *level = below + words_of(group, k - 1);
		uint32_t count = group->size >> k;
		uint32_t from = start >> k, to = (uint32_t)fl_min(((end - 1) >> k) + 1, count);

		while (from < to && !(bit_of(below, 2 * from) && bit_of(below, 2 * from + 1)))
			from++;
		while (from < to && !(bit_of(below, 2 * to - 2) && bit_of(below, 2 * to - 1)))
			to--;
		if (from >= to)
			return;
		set_bits(level, from, to);
		group->chunks[k] += to - from;
		below = level;
	}
}

static void lower_chunks(struct fl_simgroup *group, uint32_t start, uint32_t end)
{
	uint64_t *level = group->bits;

	for (unsigned k = 0; k <= group->top; k++) {
		uint32_t count = group->size >> k;
		uint32_t from = start >> k, to = (uint32_t)fl_min(((end - 1) >> k) + 1, count);

		if (from < to)
			group->chunks[k] -= clear_bits(level, from, to);
		level += words_of(group, k);
	}
}

int fl_simgroup_give(struct fl_simgroup *group, uint32_t start, uint32_t len)
{
	uint32_t end = start + len;
	bool before, after;
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
	before = start > 0 && bit_of(group->bits, start - 1);
	after = end < group->size && bit_of(group->bits, end);
	set_bits(group->bits, start, end);
	group->chunks[0] += len;
	raise_chunks(group, start, end);
	group->free += len;
	group->runs = group->runs + 1 - before - after;
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
	before = start > 0 && bit_of(group->bits, start - 1);
	after = end < group->size && bit_of(group->bits, end);
	lower_chunks(group, start, end);
	group->free -= len;
	group->runs = group->runs + before + after - 1;
	drop_bits(group);
	return 0;
}

uint32_t fl_simgroup_buddy(const struct fl_simgroup *group, unsigned order)
{
	const uint64_t *level, *above;
	uint32_t above_count = group->size >> (order + 1);

	/* All blocks free: the chunks of the top come first, then smaller and smaller ones. */
	if (!group->bits)
		return order == group->top ? 0 : above_count << (order + 1);
	level = level_of(group, order);
	above = level + words_of(group, order);
	for (uint32_t word = 0;; word++) {
		for (uint64_t rest = level[word] & word_mask(word, 0, group->size >> order); rest;
		     rest &= rest - 1) {
			uint32_t at = word * WORD_BITS + (uint32_t)__builtin_ctzll(rest);

			if (order == group->top || at / 2 >= above_count || !bit_of(above, at / 2))
				return at << order;
		}
	}
}

static unsigned log2_of(uint32_t value)
{
	return 31 - (unsigned)__builtin_clz(value);
}

uint32_t fl_simgroup_extent(const struct fl_simgroup *group, uint32_t start, uint32_t end,
			    uint32_t want)
{
	uint32_t at = start;

	do {
		unsigned order = log2_of(end - at);

		if (at)
			order = (unsigned)fl_min(order, (unsigned)__builtin_ctz(at));
		at += 1u << fl_min(order, group->top);
	} while (at - start < want && at < end);
	return at - start;
}

uint32_t fl_simgroup_free_at(const struct fl_simgroup *group, uint32_t start)
{
	return start >= group->size ? 0 : find_next(group, start, false) - start;
}

/* The first chunk of this order at or after number `at`; the level's length: none. */
static uint32_t next_chunk(const struct fl_simgroup *group, unsigned order, uint32_t at)
{
	uint32_t count = group->size >> order;

	return at < count ? find_bit(level_of(group, order), at, count, 0) : count;
}

/* The first block of the free run that has this one, not before `from`. */
static uint32_t run_start(const struct fl_simgroup *group, uint32_t from, uint32_t block)
{
	for (uint32_t word = (block + WORD_BITS - 1) / WORD_BITS; word-- > from / WORD_BITS;) {
		uint64_t used = ~group->bits[word] & word_mask(word, from, block);

		if (used)
			return word * WORD_BITS + WORD_BITS - (uint32_t)__builtin_clzll(used);
	}
	return from;
}

/* So long a run has a chunk of half its length, so those levels are searched that have few bits. */
bool fl_simgroup_next(const struct fl_simgroup *group, uint32_t from, uint32_t least,
		      uint32_t *start, uint32_t *len)
{
	unsigned order = (unsigned)fl_min(log2_of(least + 1) - 1, group->top);

	while (from < group->size) {
		uint32_t found, begin, end;

		if (!group->bits) {
			begin = group->free ? from : group->size;
			end = group->size;
		} else {
			found = next_chunk(group, order, (from + (1u << order) - 1) >> order);
			if (found == group->size >> order)
				return false;
			begin = order ? run_start(group, from, found << order) : found;
			end = find_next(group, found << order, false);
		}
		if (begin < end && end - begin >= least) {
			*start = begin;
			*len = end - begin;
			return true;
		}
		from = end;
	}
	return false;
}
