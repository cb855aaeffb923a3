/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of the block set: against a plain array of flags, by seed.
 */
#include <fraglab/blockset.h>
#include <fraglab/util.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define SIZE 100000u /* three chunks and a short one */

static void same(const struct fl_blockset *set, const unsigned char *model)
{
	uint64_t count = 0, pos = 0;
	struct fl_run run;

	for (uint64_t i = 0; i < SIZE; i++) {
		assert_int_equal(fl_blockset_has(set, i), model[i]);
		count += model[i];
	}
	assert_int_equal(fl_blockset_count(set), count);
	while (fl_blockset_next_run(set, pos, SIZE, &run)) {
		for (; pos < run.start; pos++)
			assert_false(model[pos]);
		for (; pos < fl_run_end(run); pos++)
			assert_true(model[pos]);
		assert_true(pos == SIZE || !model[pos]);
	}
	for (; pos < SIZE; pos++)
		assert_false(model[pos]);
}

static void behaves_like_an_array(void **state)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 42;
	unsigned char *model = calloc(SIZE, 1);
	struct fl_blockset *set, *copy;
	struct fl_rng rng;

	(void)state;
	printf("SEED=%llu\n", (unsigned long long)seed);
	fl_rng_seed(&rng, seed);
	assert_int_equal(fl_blockset_new(SIZE, &set), 0);
	for (int step = 0; step < 400; step++) {
		uint64_t start = fl_rng_below(&rng, SIZE);
		uint64_t len = fl_rng_below(&rng, fl_rng_chance(&rng, 1, 8) ? SIZE : 200);
		bool in = fl_rng_chance(&rng, 1, 2);
		uint64_t count = 0;

		len = fl_min(len, SIZE - start);
		for (uint64_t i = 0; i < len; i++) {
			count += model[start + i];
			model[start + i] = in;
		}
		assert_int_equal(fl_blockset_count_range(set, start, len), count);
		assert_int_equal(in ? fl_blockset_add(set, start, len)
				    : fl_blockset_remove(set, start, len),
				 0);
		if (step % 20 == 0)
			same(set, model);
	}
	assert_int_equal(fl_blockset_copy(set, &copy), 0);
	same(copy, model);
	fl_blockset_free(set);
	fl_blockset_free(copy);
	free(model);
}

static void edges(void **state)
{
	struct fl_blockset *set;
	uint64_t block = 99;

	(void)state;
	assert_int_equal(fl_blockset_new(UINT64_C(1) << 33, &set), 0);
	assert_int_equal(fl_blockset_add(set, (UINT64_C(1) << 33) - 1, 1), 0);
	assert_true(fl_blockset_find(set, 0, UINT64_MAX, true, &block));
	assert_int_equal(block, (UINT64_C(1) << 33) - 1);
	assert_int_equal(fl_blockset_add(set, (UINT64_C(1) << 33) - 1, 2), FL_EINVAL);
	assert_int_equal(fl_blockset_add(set, UINT64_MAX, 2), FL_EINVAL);
	assert_false(fl_blockset_has(set, UINT64_MAX));
	assert_int_equal(fl_blockset_count_range(set, UINT64_MAX, 5), 0);
	fl_blockset_free(set);
	assert_int_equal(fl_blockset_new(0, &set), 0);
	assert_false(fl_blockset_find(set, 0, 10, false, &block));
	fl_blockset_free(set);
	fl_blockset_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behaves_like_an_array),
		cmocka_unit_test(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
