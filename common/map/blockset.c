/* SPDX-License-Identifier: MIT */
/*
 * A set of block numbers in uniform or bitmap chunks. Must not know what a block is for.
 */
#include <fraglab/blockset.h>
#include <fraglab/util.h>

#include <stdlib.h>
#include <string.h>

#define CHUNK_BITS 32768u
#define CHUNK_WORDS (CHUNK_BITS / 64)

struct chunk {
	uint64_t *words; /* NULL while the chunk is uniform */
	uint32_t members;
};

struct fl_blockset {
	uint64_t size, count;
	size_t chunk_count;
	struct chunk *chunks;
};

int fl_blockset_new(uint64_t size, struct fl_blockset **set)
{
	struct fl_blockset *made = calloc(1, sizeof(*made));
	uint64_t chunks = fl_div_up(size, CHUNK_BITS);

	if (!made || chunks > SIZE_MAX)
		goto fail;
	made->size = size;
	made->chunk_count = (size_t)chunks;
	made->chunks = fl_alloc(made->chunk_count, sizeof(*made->chunks));
	if (!made->chunks)
		goto fail;
	*set = made;
	return 0;
fail:
	free(made);
	return FL_ENOMEM;
}

void fl_blockset_free(struct fl_blockset *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->chunk_count; i++)
		free(set->chunks[i].words);
	free(set->chunks);
	free(set);
}

int fl_blockset_copy(const struct fl_blockset *from, struct fl_blockset **set)
{
	struct fl_blockset *made;

	if (fl_blockset_new(from->size, &made))
		return FL_ENOMEM;
	made->count = from->count;
	for (size_t i = 0; i < from->chunk_count; i++) {
		made->chunks[i].members = from->chunks[i].members;
		if (!from->chunks[i].words)
			continue;
		made->chunks[i].words = malloc(CHUNK_WORDS * sizeof(uint64_t));
		if (!made->chunks[i].words) {
			fl_blockset_free(made);
			return FL_ENOMEM;
		}
		memcpy(made->chunks[i].words, from->chunks[i].words,
		       CHUNK_WORDS * sizeof(uint64_t));
	}
	*set = made;
	return 0;
}

uint64_t fl_blockset_size(const struct fl_blockset *set)
{
	return set->size;
}

uint64_t fl_blockset_count(const struct fl_blockset *set)
{
	return set->count;
}

/* Blocks of the set that chunk i covers; the last chunk may be short. */
static uint32_t chunk_span(const struct fl_blockset *set, size_t i)
{
	return (uint32_t)fl_min(CHUNK_BITS, set->size - (uint64_t)i * CHUNK_BITS);
}

bool fl_blockset_has(const struct fl_blockset *set, uint64_t block)
{
	const struct chunk *chunk;

	if (block >= set->size)
		return false;
	chunk = &set->chunks[block / CHUNK_BITS];
	if (!chunk->words)
		return chunk->members != 0;
	return chunk->words[block % CHUNK_BITS / 64] >> (block % 64) & 1;
}

/* The bits of word `word` that lie in low .. high-1 (bit numbers in the chunk). */
static uint64_t word_mask(uint32_t word, uint32_t low, uint32_t high)
{
	uint32_t first = word * 64, end = first + 64;
	uint64_t mask = UINT64_MAX;

	if (low > first)
		mask &= UINT64_MAX << (low - first);
	if (high < end)
		mask &= UINT64_MAX >> (end - high);
	return mask;
}

static uint32_t chunk_count_range(const struct chunk *chunk, uint32_t low, uint32_t high)
{
	uint32_t count = 0;

	if (!chunk->words)
		return chunk->members ? high - low : 0;
	for (uint32_t w = low / 64; w * 64 < high; w++)
		count += (uint32_t)__builtin_popcountll(chunk->words[w] & word_mask(w, low, high));
	return count;
}

uint64_t fl_blockset_count_range(const struct fl_blockset *set, uint64_t start, uint64_t len)
{
	uint64_t count = 0, end;

	if (start >= set->size)
		return 0;
	end = len > set->size - start ? set->size : start + len;
	while (start < end) {
		size_t i = (size_t)(start / CHUNK_BITS);
		uint64_t stop = fl_min(end, (uint64_t)(i + 1) * CHUNK_BITS);

		count += chunk_count_range(&set->chunks[i], (uint32_t)(start % CHUNK_BITS),
					   (uint32_t)(stop - (uint64_t)i * CHUNK_BITS));
		start = stop;
	}
	return count;
}

static int chunk_make_words(const struct fl_blockset *set, size_t i)
{
	struct chunk *chunk = &set->chunks[i];
	uint32_t span = chunk_span(set, i);

	if (chunk->words)
		return 0;
	chunk->words = calloc(CHUNK_WORDS, sizeof(uint64_t));
	if (!chunk->words)
		return FL_ENOMEM;
	if (chunk->members)
		for (uint32_t w = 0; w * 64 < span; w++)
			chunk->words[w] = word_mask(w, 0, span);
	return 0;
}

static int chunk_change(struct fl_blockset *set, size_t i, uint32_t low, uint32_t high, bool in)
{
	struct chunk *chunk = &set->chunks[i];
	uint32_t span = chunk_span(set, i), before = chunk->members;

	if (!chunk->words && (before != 0) == in)
		return 0;
	if (low == 0 && high == span) {
		free(chunk->words);
		chunk->words = NULL;
		chunk->members = in ? span : 0;
	} else {
		if (chunk_make_words(set, i))
			return FL_ENOMEM;
		for (uint32_t w = low / 64; w * 64 < high; w++) {
			uint64_t mask = word_mask(w, low, high), old = chunk->words[w];

			chunk->words[w] = in ? old | mask : old & ~mask;
			chunk->members += (uint32_t)__builtin_popcountll(chunk->words[w]);
			chunk->members -= (uint32_t)__builtin_popcountll(old);
		}
		if (chunk->members == 0 || chunk->members == span) {
			free(chunk->words);
			chunk->words = NULL;
		}
	}
	set->count += chunk->members;
	set->count -= before;
	return 0;
}

static int change(struct fl_blockset *set, uint64_t start, uint64_t len, bool in)
{
	uint64_t end = start + len;

	if (start > set->size || len > set->size - start)
		return FL_EINVAL;
	while (start < end) {
		size_t i = (size_t)(start / CHUNK_BITS);
		uint64_t stop = fl_min(end, (uint64_t)(i + 1) * CHUNK_BITS);

		if (chunk_change(set, i, (uint32_t)(start % CHUNK_BITS),
				 (uint32_t)(stop - (uint64_t)i * CHUNK_BITS), in))
			return FL_ENOMEM;
		start = stop;
	}
	return 0;
}

int fl_blockset_add(struct fl_blockset *set, uint64_t start, uint64_t len)
{
	return change(set, start, len, true);
}

int fl_blockset_remove(struct fl_blockset *set, uint64_t start, uint64_t len)
{
	return change(set, start, len, false);
}

/* First bit in low .. high-1 of a mixed chunk that equals want; high when there is none. */
static uint32_t chunk_find(const struct chunk *chunk, uint32_t low, uint32_t high, bool want)
{
	for (uint32_t w = low / 64; w * 64 < high; w++) {
		uint64_t word = want ? chunk->words[w] : ~chunk->words[w];

		word &= word_mask(w, low, high);
		if (word)
			return w * 64 + (uint32_t)__builtin_ctzll(word);
	}
	return high;
}

bool fl_blockset_find(const struct fl_blockset *set, uint64_t from, uint64_t limit, bool want,
		      uint64_t *block)
{
	limit = fl_min(limit, set->size);
	while (from < limit) {
		size_t i = (size_t)(from / CHUNK_BITS);
		const struct chunk *chunk = &set->chunks[i];
		uint64_t base = (uint64_t)i * CHUNK_BITS;
		uint64_t stop = fl_min(limit, base + CHUNK_BITS);

		if (!chunk->words) {
			if ((chunk->members != 0) == want) {
				*block = from;
				return true;
			}
		} else {
			uint32_t high = (uint32_t)(stop - base);
			uint32_t bit = chunk_find(chunk, (uint32_t)(from - base), high, want);

			if (bit < high) {
				*block = base + bit;
				return true;
			}
		}
		from = stop;
	}
	return false;
}

bool fl_blockset_next_run(const struct fl_blockset *set, uint64_t from, uint64_t limit,
			  struct fl_run *run)
{
	uint64_t start, end;

	limit = fl_min(limit, set->size);
	if (!fl_blockset_find(set, from, limit, true, &start))
		return false;
	if (!fl_blockset_find(set, start, limit, false, &end))
		end = limit;
	run->start = start;
	run->len = end - start;
	return true;
}
