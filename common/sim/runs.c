/* SPDX-License-Identifier: MIT */
/*
 * Looks for free runs and buddies in one block group. Changes nothing but what it remembers of
 * the head; must not decide which run is the best for whom: that is scan.c.
 */
#include "common/sim/bits.h"

static unsigned log2_of(uint32_t value)
{
	return 31 - (unsigned)__builtin_clz(value);
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

/* The bits of a word from which on so many are set (1 .. 64), in it and in the next. */
static inline uint64_t begins_of(uint64_t word, uint64_t next, uint32_t len)
{
	for (uint32_t have = 1, step; have < len && word; have += step) {
		step = (uint32_t)fl_min(have, len - have);
		word &= word >> step | next << (WORD_BITS - step);
		next &= next >> step;
	}
	return word;
}

/* The longest run that begins in from .. limit-1, the first of equals; len as found so far. */
struct longest {
	uint32_t from, limit;
	uint32_t most;	 /* look at so many runs */
	uint32_t enough; /* one so long ends it */
	uint32_t start, len;
};

/* Returns how many runs it looked at. Most are short, and none in a word beats the best. */
static uint32_t find_longest(const struct fl_simgroup *group, struct longest *l)
{
	const uint64_t *bits = group->bits;
	uint32_t first = l->from / WORD_BITS, end = (uint32_t)fl_div_up(l->limit, WORD_BITS);
	uint32_t words = (uint32_t)words_of(group, 0), most = l->most, best = l->len, count = 0;

	for (uint32_t word = first; word < end && count < most; word++) {
		uint64_t begins = bits[word], better;

		if (!begins)
			continue;
		begins &= ~(begins << 1 | (word ? bits[word - 1] >> (WORD_BITS - 1) : 0));
		if (word == first || word + 1 == end)
			begins &= word_mask(word, l->from, l->limit);
		if (most != UINT32_MAX)
			count += (uint32_t)__builtin_popcountll(begins);
		for (; count > most; count--) /* without the last of them */
			begins &= ~((uint64_t)1
				    << (WORD_BITS - 1 - (uint32_t)__builtin_clzll(begins)));
		better = begins & begins_of(bits[word], word + 1 < words ? bits[word + 1] : 0,
					    best < WORD_BITS ? best + 1 : WORD_BITS);
		for (; better; better &= better - 1) {
			uint32_t at = word * WORD_BITS + (uint32_t)__builtin_ctzll(better);
			uint32_t len = find_next(group, at, false) - at;

			if (len > best) {
				l->start = at;
				l->len = best = len;
			}
			if (len >= l->enough)
				return count;
		}
	}
	return count;
}

/* Makes the head as many runs as it is to have, or all there are. */
static void fit_head(struct fl_simgroup *group)
{
	struct fl_simgroup_head *head = &group->head;
	uint32_t last;

	while (head->runs < FL_SIMGROUP_HEAD && head->end < group->size) {
		uint32_t start = find_next(group, head->end, true);

		if (start == group->size) {
			head->end = start;
			return;
		}
		head->end = find_next(group, start, false);
		head->runs++;
		if (head->end - start > head->len) {
			head->len = head->end - start;
			head->from = start;
		}
	}
	for (; head->runs > FL_SIMGROUP_HEAD; head->runs--) {
		last = find_last(group, head->end);
		head->end = run_start(group, 0, last);
	}
}

static void find_in_head(struct fl_simgroup *group, uint32_t *start, uint32_t *len)
{
	struct fl_simgroup_head *head = &group->head;
	struct longest l = {.most = UINT32_MAX};

	fit_head(group);
	l.limit = head->end;
	l.from = head->from;
	l.enough = head->len;
	l.len = head->len - 1;
	find_longest(group, &l);
	if (l.len < head->len) {
		/* Those are used up: the next shorter ones. */
		l = (struct longest){
			.limit = head->end, .most = UINT32_MAX, .enough = head->len - 1};
		find_longest(group, &l);
	}
	head->from = *start = l.start;
	head->len = *len = l.len;
}

uint32_t fl_simgroup_longest(struct fl_simgroup *group, uint32_t limit, uint32_t most,
			     uint32_t than, uint32_t *start, uint32_t *len)
{
	struct longest l = {.limit = limit, .most = most, .enough = UINT32_MAX, .len = than};
	uint32_t count;

	*start = *len = 0;
	if (!group->bits || limit == 0) {
		*len = limit && group->free > than ? group->free : 0;
		return limit && group->free;
	}
	if (limit == group->size && most <= FL_SIMGROUP_HEAD && group->runs) {
		count = (uint32_t)fl_min(most, group->runs);
		find_in_head(group, start, len);
		if (*len <= than)
			*len = 0;
		if (*len == 0 || count == group->head.runs)
			return count;
	}
	count = find_longest(group, &l);
	*start = l.start;
	*len = l.len > than ? l.len : 0;
	return count;
}

void fl_simgroup_note_given(struct fl_simgroup *group, uint32_t start, uint32_t end)
{
	struct fl_simgroup_head *head = &group->head;
	uint32_t begin, stop;

	if (start > head->end)
		return;
	if (end >= head->end) {
		*head = (struct fl_simgroup_head){0};
		return;
	}
	begin = run_start(group, 0, start);
	stop = find_next(group, end - 1, false);
	/* A run on either side is one with it now. */
	head->runs = head->runs + 1 - (begin < start) - (stop > end);
	if (stop - begin > head->len || (stop - begin == head->len && begin < head->from)) {
		head->len = stop - begin;
		head->from = begin;
	}
}
