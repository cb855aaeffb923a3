/* SPDX-License-Identifier: MIT */
/*
 * Runs by classes of their lengths, as allocators of memory keep free blocks ("segregated fit").
 */
#include "defrag/lengths.h"

#include <stdlib.h>

/* So many runs of the class in which a length lies are looked at: they may be shorter than it. */
#define TRIED 16

/* The class that begins at or below a length: exact below LENGTHS_STEPS. */
static size_t class_of(uint64_t len)
{
	unsigned shift = 0;

	while (len >> shift >= 2 * LENGTHS_STEPS)
		shift++;
	return shift * LENGTHS_STEPS + (size_t)(len >> shift);
}

int lengths_new(struct fl_runs *runs, struct lengths *lengths)
{
	lengths->runs = runs;
	lengths->next = fl_alloc(runs->count, sizeof(*lengths->next));
	if (!lengths->next)
		return FL_ENOMEM;
	for (size_t i = 0; i < LENGTHS_CLASSES; i++)
		lengths->first[i] = LENGTHS_NONE;
	/* The first ones are found first. */
	for (size_t i = runs->count; i-- > 0;)
		lengths_put(lengths, i);
	return 0;
}

void lengths_free(struct lengths *lengths)
{
	free(lengths->next);
}

void lengths_put(struct lengths *lengths, size_t run)
{
	size_t class = class_of(lengths->runs->at[run].len);

	if (!lengths->runs->at[run].len)
		return;
	lengths->next[run] = lengths->first[class];
	lengths->first[class] = run;
}

static size_t take(struct lengths *lengths, size_t *link)
{
	size_t run = *link;

	if (run != LENGTHS_NONE)
		*link = lengths->next[run];
	return run;
}

size_t lengths_take(struct lengths *lengths, uint64_t len)
{
	size_t class = class_of(len);
	size_t *link = &lengths->first[class];

	for (int tried = 0; *link != LENGTHS_NONE && tried < TRIED; tried++) {
		if (lengths->runs->at[*link].len >= len)
			return take(lengths, link);
		link = &lengths->next[*link];
	}
	while (++class < LENGTHS_CLASSES)
		if (lengths->first[class] != LENGTHS_NONE)
			return take(lengths, &lengths->first[class]);
	return LENGTHS_NONE;
}

size_t lengths_take_longest(struct lengths *lengths)
{
	for (size_t class = LENGTHS_CLASSES; class -- > 0;)
		if (lengths->first[class] != LENGTHS_NONE)
			return take(lengths, &lengths->first[class]);
	return LENGTHS_NONE;
}
