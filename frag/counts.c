/* SPDX-License-Identifier: MIT */
/*
 * Which files are in pieces, and in how many. Must not decide where pieces lie.
 */
#include "frag/parts.h"

#include <stdlib.h>

struct counter {
	const struct frag_base *base;
	uint32_t *counts;
	uint64_t *weights; /* by file; 0: has all it can take, or is whole */
};

/* Puts the `large` largest in, then the likely ones; gives the most fragments beyond one. */
static uint64_t choose(struct counter *c, uint64_t fragmented, uint64_t large)
{
	const struct frag_base *base = c->base;
	uint64_t most = 0, chosen = 0;

	for (size_t f = 0; f < base->aged.files.count; f++)
		c->counts[f] = base->files[f].least;
	for (; chosen < large; chosen++) {
		const uint32_t f = base->largest[chosen];

		c->counts[f] = (uint32_t)fl_max(2, base->files[f].least);
		most += base->files[f].blocks - 1;
		c->weights[f] = 1;
	}
	for (size_t i = 0; chosen < fragmented && i < base->breakable; i++) {
		const uint32_t f = base->likely[i];

		if (c->weights[f])
			continue;
		c->counts[f] = (uint32_t)fl_max(2, base->files[f].least);
		most += base->files[f].blocks - 1;
		chosen++;
	}
	for (uint64_t i = 0; i < large; i++)
		c->weights[base->largest[i]] = 0;
	return most;
}

/* The likely ones, and as many large ones as it takes to have so many fragments. */
static void choose_files(struct counter *c, uint64_t fragmented, uint64_t extra)
{
	uint64_t low = 0, high = fragmented;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (choose(c, fragmented, middle) >= extra)
			high = middle;
		else
			low = middle + 1;
	}
	(void)choose(c, fragmented, low);
}

/* More fragments for who has them in the history, and for large files; some get far more. */
static uint64_t weight_of(const struct frag_base_file *file, struct fl_rng *rng)
{
	unsigned doublings = (unsigned)__builtin_ctzll(fl_rng_next(rng) | 64);
	uint64_t blocks = fl_min(file->blocks, UINT64_C(1) << 24), root = 1;

	while (root * root < blocks)
		root *= 2;
	return fl_min(((uint64_t)(file->fragments - 1) << 6) + (root << doublings), UINT64_C(1)
											    << 28);
}

static uint64_t room_of(const struct counter *c, uint32_t f)
{
	return fl_min(c->base->files[f].blocks, UINT32_MAX) - c->counts[f];
}

/* One round: to each its share, as far as it can take it. What is left. */
static uint64_t share_out(struct counter *c, uint64_t rest)
{
	uint64_t all = 0, left = rest;

	for (size_t i = 0; i < c->base->breakable; i++)
		all += c->weights[c->base->likely[i]];
	for (size_t i = 0; i < c->base->breakable && all; i++) {
		const uint32_t f = c->base->likely[i];
		uint64_t more = fl_min(frag_portion(rest, c->weights[f], all), room_of(c, f));

		more = fl_min(more, left);
		c->counts[f] += (uint32_t)more;
		left -= more;
		if (!room_of(c, f))
			c->weights[f] = 0;
	}
	return left;
}

/* Gives the chosen files, which have the fewest fragments they can, so many more. */
static void spread(struct counter *c, uint64_t rest, const struct frag_dials *dials)
{
	const struct frag_base *base = c->base;
	uint64_t before = 0;
	struct fl_rng rng;

	for (size_t i = 0; i < base->breakable; i++) {
		const uint32_t f = base->likely[i];

		frag_dials_seed(dials, ~(uint64_t)f, &rng);
		if (c->counts[f] > 1 && room_of(c, f))
			c->weights[f] = weight_of(&base->files[f], &rng);
	}
	while (rest && rest != before) {
		before = rest;
		rest = share_out(c, rest);
	}
	while (rest) {
		before = rest;
		for (size_t i = 0; i < base->breakable && rest; i++) {
			const uint32_t f = base->likely[i];

			if (c->counts[f] > 1 && room_of(c, f)) {
				c->counts[f]++;
				rest--;
			}
		}
		if (rest == before)
			return;
	}
}

/* Each file has what those of its size have in the other image; the likely ones the most. */
static void count_alike(const struct frag_base *base, const struct fl_shape *like, uint32_t *counts)
{
	uint64_t sizes[FL_SHAPE_CLASSES] = {0}, seen[FL_SHAPE_CLASSES] = {0};

	for (size_t f = 0; f < base->aged.files.count; f++) {
		counts[f] = base->files[f].least;
		if (base->files[f].counted)
			sizes[fl_shape_class(base->files[f].bytes)]++;
	}
	for (size_t i = 0; i < base->breakable; i++) {
		const struct frag_base_file *file = &base->files[base->likely[i]];
		const size_t class = fl_shape_class(file->bytes);
		const struct fl_numbers *numbers = fl_shape_fragments(like, class);
		uint64_t most = fl_min(file->blocks, UINT32_MAX), count = file->least;

		if (numbers->count)
			count = fl_numbers_quantile(numbers, sizes[class] - ++seen[class],
						    sizes[class]);
		counts[base->likely[i]] = (uint32_t)fl_max(fl_min(count, most), file->least);
	}
}

int frag_parts_count(const struct frag_base *base, const struct frag_dials *dials, uint32_t *counts)
{
	const size_t count = base->aged.files.count;
	struct counter c = {.base = base, .counts = counts};
	uint64_t fragmented = fl_max(fl_min(dials->fragmented, base->breakable), base->forced);
	uint64_t least = frag_base_least_extra(base, fragmented), extra;

	if (dials->like) {
		count_alike(base, dials->like, counts);
		return 0;
	}
	if (dials->fragmented == base->moved.fragmented && dials->extra == base->moved.extra) {
		for (size_t f = 0; f < count; f++)
			counts[f] = base->files[f].fragments;
		return 0;
	}
	c.weights = calloc((size_t)fl_max(count, 1), sizeof(*c.weights));
	if (!c.weights)
		return FL_ENOMEM;
	extra = fl_max(fl_min(dials->extra, frag_base_most_extra(base, fragmented)), least);
	choose_files(&c, fragmented, extra);
	spread(&c, extra - least, dials);
	free(c.weights);
	return 0;
}
