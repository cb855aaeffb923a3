/* SPDX-License-Identifier: MIT */
/*
 * The write-back cache of an array's controller: which blocks are in it, and which stripe is
 * destaged next. Only sets and orders; times are made in disk.c.
 *
 * What is dirty is gathered by stripe, so that neighbours that arrive one after the other leave
 * together. Stripes leave in sweeps by number: those that were dirty when the sweep began (FSCAN).
 */
#include <stdlib.h>
#include <string.h>
#include "disks.h"

#define NONE UINT32_MAX

struct entry {
	uint64_t stripe;
	uint64_t lines; /* a bit for each dirty line of the stripe */
	uint32_t next;	/* in its chain, or in the list of unused ones */
};

struct cache {
	uint64_t capacity, used; /* lines; used: dirty ones and those on their way to the disks */
	struct entry *entries;	 /* capacity of them: a stripe has at least one line */
	uint32_t unused;
	uint32_t *chains; /* by hash of the stripe */
	uint64_t mask;
	FL_ARRAY(uint64_t) sweep, later; /* stripes: of this sweep, sorted; of the next one */
	size_t at;			 /* next of the sweep */
};

int fl_cache_new(uint64_t bytes, struct cache **out)
{
	struct cache *cache = calloc(1, sizeof(*cache));
	uint64_t chains = 1;

	if (!cache)
		return FL_ENOMEM;
	cache->capacity = fl_max(bytes / CACHE_LINE_BYTES, 1);
	while (chains < cache->capacity)
		chains *= 2;
	cache->mask = chains - 1;
	cache->entries = fl_alloc(cache->capacity, sizeof(*cache->entries));
	cache->chains = fl_alloc(chains, sizeof(*cache->chains));
	if (!cache->entries || !cache->chains) {
		fl_cache_free(cache);
		return FL_ENOMEM;
	}
	for (uint64_t i = 0; i < chains; i++)
		cache->chains[i] = NONE;
	for (uint64_t i = 0; i < cache->capacity; i++)
		cache->entries[i].next = i + 1 < cache->capacity ? (uint32_t)i + 1 : NONE;
	*out = cache;
	return 0;
}

void fl_cache_free(struct cache *cache)
{
	if (!cache)
		return;
	fl_array_free(&cache->sweep);
	fl_array_free(&cache->later);
	free(cache->entries);
	free(cache->chains);
	free(cache);
}

/* The link that leads to the stripe's entry, or to the end of its chain. */
static uint32_t *find(struct cache *cache, uint64_t stripe)
{
	uint32_t *link =
		&cache->chains[((stripe * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & cache->mask];

	while (*link != NONE && cache->entries[*link].stripe != stripe)
		link = &cache->entries[*link].next;
	return link;
}

static uint64_t dirty_lines(struct cache *cache, uint64_t stripe)
{
	uint32_t index = *find(cache, stripe);

	return index == NONE ? 0 : cache->entries[index].lines;
}

/* The part of an I/O that lies in one stripe; *at is a sector, and goes to the next stripe's. */
static uint64_t lines_of(const struct fl_io *io, uint64_t *at, uint64_t *stripe)
{
	uint64_t end = io->lbn + io->sectors, first = *at % RAID5_STRIPE_SECTORS, stop, count;

	*stripe = *at / RAID5_STRIPE_SECTORS;
	stop = fl_min(end - *stripe * RAID5_STRIPE_SECTORS, RAID5_STRIPE_SECTORS);
	*at = *stripe * RAID5_STRIPE_SECTORS + stop;
	first /= CACHE_LINE_SECTORS;
	count = fl_div_up(stop, CACHE_LINE_SECTORS) - first;
	return (((uint64_t)1 << count) - 1) << first;
}

static unsigned int count_lines(uint64_t lines)
{
	return (unsigned int)__builtin_popcountll(lines);
}

bool fl_cache_holds(struct cache *cache, const struct fl_io *io)
{
	for (uint64_t at = io->lbn, stripe; at < io->lbn + io->sectors;) {
		uint64_t lines = lines_of(io, &at, &stripe);

		if (lines & ~dirty_lines(cache, stripe))
			return false;
	}
	return true;
}

bool fl_cache_has_room(struct cache *cache, const struct fl_io *io)
{
	uint64_t needed = 0;

	for (uint64_t at = io->lbn, stripe; at < io->lbn + io->sectors;) {
		uint64_t lines = lines_of(io, &at, &stripe);

		needed += count_lines(lines & ~dirty_lines(cache, stripe));
	}
	/* What is larger than the cache passes through it alone. */
	return needed <= cache->capacity - fl_min(cache->used, cache->capacity) ||
	       (needed > cache->capacity && !cache->used);
}

static int add_stripe(struct cache *cache, uint64_t stripe, uint64_t lines)
{
	uint32_t *link = find(cache, stripe), index = *link;
	unsigned int added;

	if (index == NONE) {
		index = cache->unused;
		if (index == NONE) /* larger than the cache: its rest is not held */
			return 0;
		if (fl_array_push(&cache->later, stripe))
			return FL_ENOMEM;
		cache->unused = cache->entries[index].next;
		cache->entries[index] = (struct entry){.stripe = stripe, .next = NONE};
		*link = index;
	}
	added = count_lines(lines & ~cache->entries[index].lines);
	cache->entries[index].lines |= lines;
	cache->used += added;
	return 0;
}

int fl_cache_add(struct cache *cache, const struct fl_io *io)
{
	int error = 0;

	for (uint64_t at = io->lbn, stripe; at < io->lbn + io->sectors && !error;) {
		uint64_t lines = lines_of(io, &at, &stripe);

		error = add_stripe(cache, stripe, lines);
	}
	return error;
}

bool fl_cache_pressed(const struct cache *cache)
{
	return cache->used >= cache->capacity / 4 * 3;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool fl_cache_destage(struct cache *cache, uint64_t *stripe, uint64_t *lines)
{
	uint32_t *link, index;

	if (cache->at == cache->sweep.count) {
		uint64_t *stripes = cache->sweep.at;
		size_t room = cache->sweep.room;

		cache->sweep.at = cache->later.at;
		cache->sweep.count = cache->later.count;
		cache->sweep.room = cache->later.room;
		cache->later.at = stripes;
		cache->later.count = 0;
		cache->later.room = room;
		cache->at = 0;
		if (!cache->sweep.count)
			return false;
		qsort(cache->sweep.at, cache->sweep.count, sizeof(*cache->sweep.at), compare);
	}
	*stripe = cache->sweep.at[cache->at++];
	link = find(cache, *stripe);
	index = *link;
	*lines = cache->entries[index].lines;
	*link = cache->entries[index].next;
	cache->entries[index].next = cache->unused;
	cache->unused = index;
	return true;
}

void fl_cache_clean(struct cache *cache, uint64_t lines)
{
	cache->used -= count_lines(lines);
}
