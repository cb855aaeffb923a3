/* SPDX-License-Identifier: MIT */
/*
 * The bitmaps of one block group, 64 bits at a time: what changes them. Must not decide where
 * anything goes: that is scan.c.
 */

#include <stdlib.h>
#include <string.h>

#include "common/sim/bits.h"

void fl_simgroup_free(struct fl_simgroup *group)
{
	free(group->bits);
	group->bits = NULL;
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
	group->head = (struct fl_simgroup_head){0};
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
	fl_simgroup_note_given(group, start, end);
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
	if (start < group->head.end)
		group->head.runs = group->head.runs + before + after - 1;
	drop_bits(group);
	return 0;
}
