/* SPDX-License-Identifier: MIT */
/*
 * Growable arrays, checked arithmetic, the seeded generator, sizes as text.
 * No I/O and no knowledge of filesystems.
 */
#ifndef FRAGLAB_UTIL_H
#define FRAGLAB_UTIL_H

#include <fraglab/error.h>

/*
 * A growable array. Zero-initialised means empty. Members may be read freely;
 * growing goes through the macros. Growth doubles, so n pushes cost O(n).
 *
 *	FL_ARRAY(struct fl_run) runs = { 0 };
 *	if (fl_array_push(&runs, run)) return FL_ENOMEM;
 *	fl_array_free(&runs);
 */
#define FL_ARRAY(type)                                                                             \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t count, room;                                                                \
	}

/* Evaluates to 0, or FL_ENOMEM with the array unchanged. */
#define fl_array_reserve(array, total)                                                             \
	fl_array_reserve_((void **)&(array)->at, &(array)->room, (total), sizeof(*(array)->at))

/* Evaluates to 0, or FL_ENOMEM with the array unchanged. */
#define fl_array_push(array, value)                                                                \
	(fl_array_reserve((array), (array)->count + 1)                                             \
		 ? FL_ENOMEM                                                                       \
		 : ((array)->at[(array)->count++] = (value), 0))

/* Appends `number` items of the same type. Evaluates to 0, or FL_ENOMEM with the array unchanged.
 */
#define fl_array_append(array, items, number)                                                      \
	fl_array_append_((void **)&(array)->at, &(array)->count, &(array)->room,                   \
			 1 ? (items) : (array)->at, (number), sizeof(*(array)->at))

/* The items from number `first` on (0 .. count). NULL when nothing was ever put in: C has no NULL +
 * 0. */
#define fl_array_from(array, first) ((array)->at ? (array)->at + (first) : NULL)

#define fl_array_free(array)                                                                       \
	do {                                                                                       \
		fl_array_free_((void **)&(array)->at);                                             \
		(array)->count = (array)->room = 0;                                                \
	} while (0)

int fl_array_reserve_(void **at, size_t *room, size_t total, size_t item_bytes) FL_CHECKED;
int fl_array_append_(void **at, size_t *count, size_t *room, const void *items, size_t number,
		     size_t item_bytes) FL_CHECKED;
void fl_array_free_(void **at);

/* malloc/calloc of count * item_bytes with the product checked; NULL on overflow or no memory. */
void *fl_alloc(size_t count, size_t item_bytes);
/*
 * malloc of so much for direct I/O: aligned for any disk, and in huge pages where it is large and
 * the host has them: to touch 256 MiB for the first time took 0.4 s in small ones, in a virtual
 * machine, and nothing measurable in huge ones. NULL: no memory.
 */
void *fl_alloc_buffer(size_t count, size_t item_bytes);

/* Three-way comparison for comparators. */
#define fl_compare(a, b) (((a) > (b)) - ((a) < (b)))

static inline uint64_t fl_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t fl_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t fl_div_up(uint64_t value, uint64_t divisor)
{
	return value / divisor + (value % divisor != 0);
}

/*
 * xoshiro256** 1.0 (Blackman and Vigna, public domain), its state filled by
 * splitmix64 from one seed. The algorithm is frozen: a seed gives the same
 * sequence in every version and on every machine (tests pin vectors).
 */
struct fl_rng {
	uint64_t s[4];
};

void fl_rng_seed(struct fl_rng *rng, uint64_t seed);
uint64_t fl_rng_next(struct fl_rng *rng);
/* Uniform in 0 .. bound - 1, unbiased; bound > 0. */
uint64_t fl_rng_below(struct fl_rng *rng, uint64_t bound);
/* Uniform in low .. high, both included; low <= high. */
uint64_t fl_rng_between(struct fl_rng *rng, uint64_t low, uint64_t high);
/* True with probability numerator / denominator. */
bool fl_rng_chance(struct fl_rng *rng, uint64_t numerator, uint64_t denominator);
/* An independent generator, seeded from this one's next value and a label. */
void fl_rng_fork(struct fl_rng *rng, uint64_t label, struct fl_rng *out);

/*
 * "4096", "512K", "1M", "2G", "1T" (powers of 1024; lower case too) to bytes.
 * FL_ESYNTAX: empty, signed, trailing junk, or more than 64 bits.
 */
int fl_size_parse(const char *text, uint64_t *bytes) FL_CHECKED;

/*
 * How a long computation says how far it is, and hears that it is to end: step returns 0, or
 * FL_ECANCELLED. unit names what is counted ("days"); NULL: bytes. Cheap enough to call a hundred
 * times a second. A watch of NULL, or without a step, hears nothing and never ends anything.
 */
struct fl_watch {
	int (*step)(void *context, const char *unit, uint64_t done, uint64_t total);
	void *context;
};

static inline int fl_watch_step(const struct fl_watch *watch, const char *unit, uint64_t done,
				uint64_t total)
{
	return watch && watch->step ? watch->step(watch->context, unit, done, total) : 0;
}

#define FL_SIZE_TEXT 16
/* "0 B", "512 B", "1.5 KiB", "12 MiB", "3.4 GiB": three significant digits. Returns text. */
const char *fl_size_format(uint64_t bytes, char text[FL_SIZE_TEXT]);

/* --- ranked.c --- */

/* An index and its place in some order. */
struct fl_ranked {
	uint64_t rank;
	uint32_t index;
};

/* By rank, of equal ones by index. */
void fl_ranked_sort(struct fl_ranked *at, size_t count);

#endif
