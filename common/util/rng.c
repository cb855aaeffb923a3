/* SPDX-License-Identifier: MIT */
/*
 * The seeded generator. Frozen: a change here changes every image made by seed.
 */
#include <fraglab/util.h>

static uint64_t rotate_left(uint64_t value, unsigned bits)
{
	return value << bits | value >> (64 - bits);
}

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

void fl_rng_seed(struct fl_rng *rng, uint64_t seed)
{
	for (size_t i = 0; i < 4; i++)
		rng->s[i] = splitmix64(&seed);
}

uint64_t fl_rng_next(struct fl_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t fl_rng_below(struct fl_rng *rng, uint64_t bound)
{
	/* Values below the remainder of 2^64 / bound would make the low results likelier. */
	uint64_t reject_below = (0 - bound) % bound;
	uint64_t value;

	do {
		value = fl_rng_next(rng);
	} while (value < reject_below);
	return value % bound;
}

uint64_t fl_rng_between(struct fl_rng *rng, uint64_t low, uint64_t high)
{
	uint64_t span = high - low + 1;

	return span ? low + fl_rng_below(rng, span) : fl_rng_next(rng);
}

bool fl_rng_chance(struct fl_rng *rng, uint64_t numerator, uint64_t denominator)
{
	return fl_rng_below(rng, denominator) < numerator;
}

void fl_rng_fork(struct fl_rng *rng, uint64_t label, struct fl_rng *out)
{
	fl_rng_seed(out, fl_rng_next(rng) ^ label * 0x9E3779B97F4A7C15u);
}
