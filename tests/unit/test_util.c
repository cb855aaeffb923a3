/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of common/util. The generator's vectors are pinned for ever.
 */
#include <fraglab/util.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void arrays_grow(void **state)
{
	static const uint32_t more[] = {7, 8, 9};
	FL_ARRAY(uint32_t) array = {0};

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(fl_array_push(&array, i * 3), 0);
	assert_int_equal(array.count, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array.at[i], i * 3);
	assert_int_equal(fl_array_reserve(&array, SIZE_MAX / 2), FL_ENOMEM);
	assert_int_equal(array.at[999], 2997);
	assert_int_equal(fl_array_append(&array, more, 3), 0);
	assert_int_equal(fl_array_append(&array, (const uint32_t *)NULL, 0), 0);
	assert_int_equal(array.count, 1003);
	assert_int_equal(array.at[999], 2997);
	assert_int_equal(array.at[1002], 9);
	assert_int_equal(fl_array_append(&array, more, SIZE_MAX), FL_ENOMEM);
	assert_int_equal(array.count, 1003);
	fl_array_free(&array);
	assert_null(array.at);
	assert_int_equal(array.room, 0);
	assert_null(fl_alloc(SIZE_MAX, 2));
}

static void generator_is_frozen(void **state)
{
	static const uint64_t vectors[] = {0xb3f2af6d0fc710c5, 0x853b559647364cea,
					   0x92f89756082a4514, 0x642e1c7bc266a3a7};
	struct fl_rng rng;

	(void)state;
	fl_rng_seed(&rng, 1);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(fl_rng_next(&rng), vectors[i]);
}

static void generator_keeps_bounds(void **state)
{
	struct fl_rng rng, left, right;
	unsigned hits[3] = {0}, yes = 0;

	(void)state;
	fl_rng_seed(&rng, 7);
	for (int i = 0; i < 30000; i++) {
		uint64_t value = fl_rng_between(&rng, 5, 7);

		assert_in_range(value, 5, 7);
		hits[value - 5]++;
		yes += fl_rng_chance(&rng, 1, 4);
	}
	for (int i = 0; i < 3; i++)
		assert_in_range(hits[i], 9600, 10400);
	assert_in_range(yes, 7200, 7800);
	assert_int_equal(fl_rng_below(&rng, 1), 0);
	fl_rng_between(&rng, 0, UINT64_MAX);
	fl_rng_fork(&rng, 1, &left);
	fl_rng_fork(&rng, 1, &right);
	assert_int_not_equal(fl_rng_next(&left), fl_rng_next(&right));
}

static void sizes_parse(void **state)
{
	static const char *const bad[] = {"",	      "-1",  "+1", "1KK", "K",
					  "1 K",      "0x1", "1B", " 1",  "18446744073709551616",
					  "16777216T"};
	uint64_t bytes;

	(void)state;
	assert_int_equal(fl_size_parse("0", &bytes), 0);
	assert_int_equal(bytes, 0);
	assert_int_equal(fl_size_parse("512k", &bytes), 0);
	assert_int_equal(bytes, 512 * 1024);
	assert_int_equal(fl_size_parse("3T", &bytes), 0);
	assert_int_equal(bytes, (uint64_t)3 << 40);
	assert_int_equal(fl_size_parse("18446744073709551615", &bytes), 0);
	assert_int_equal(bytes, UINT64_MAX);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(fl_size_parse(bad[i], &bytes), FL_ESYNTAX);
}

static void sizes_format(void **state)
{
	char text[FL_SIZE_TEXT];

	(void)state;
	assert_string_equal(fl_size_format(0, text), "0 B");
	assert_string_equal(fl_size_format(1023, text), "1023 B");
	assert_string_equal(fl_size_format(1024, text), "1 KiB");
	assert_string_equal(fl_size_format(1536, text), "1.50 KiB");
	assert_string_equal(fl_size_format(1048575, text), "1023 KiB");
	assert_string_equal(fl_size_format(1048576 * 12 + 524288, text), "12.5 MiB");
	assert_string_equal(fl_size_format(UINT64_MAX, text), "15.9 EiB");
}

static void failures_carry_text(void **state)
{
	struct fl_diag diag;

	(void)state;
	assert_int_equal(fl_fail(&diag, FL_EIO, "block %d", 7), FL_EIO);
	assert_string_equal(diag.text, "block 7");
	assert_int_equal(fl_fail(NULL, FL_EPLAN, "x"), FL_EPLAN);
	for (int error = 0; error >= FL_ESYNTAX; error--)
		assert_string_not_equal(fl_error_text(error), "unknown error");
}

/* Past 32 bits too, and equal ones always the same way. */
static void ranked_sort(void **state)
{
	struct fl_ranked at[] = {{7, 2}, {UINT64_MAX, 0}, {7, 1}, {(uint64_t)1 << 40, 3}, {0, 9}};
	static const uint32_t expected[] = {9, 1, 2, 3, 0};

	(void)state;
	fl_ranked_sort(NULL, 0);
	fl_ranked_sort(at, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(at[i].index, expected[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays_grow),
		cmocka_unit_test(generator_is_frozen),
		cmocka_unit_test(generator_keeps_bounds),
		cmocka_unit_test(sizes_parse),
		cmocka_unit_test(sizes_format),
		cmocka_unit_test(failures_carry_text),
		cmocka_unit_test(ranked_sort),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
