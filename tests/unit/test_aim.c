/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of what layouts are wanted to have: figures with their tolerances, shapes with their
 * distances. Must not lay anything out.
 */
#include <fraglab/aim.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* --- aims --- */

static void aims_are_parsed(void **state)
{
	static const struct {
		const char *text;
		enum fl_aim_key key;
		uint64_t wanted;
	} good[] = {
		{"sequential=15%", FL_AIM_SEQUENTIAL, 150000},
		{"sequential=0.15", FL_AIM_SEQUENTIAL, 150000},
		{"fragmented=.5%", FL_AIM_FRAGMENTED, 5000},
		{"fragmented=100%", FL_AIM_FRAGMENTED, 1000000},
		{"layout-score=1", FL_AIM_LAYOUT_SCORE, 1000000},
		{"layout-score=0.6", FL_AIM_LAYOUT_SCORE, 600000},
		{"extents=8", FL_AIM_EXTENTS, 8000000},
		{"extents=2.25", FL_AIM_EXTENTS, 2250000},
		{"largest-free=4M", FL_AIM_LARGEST_FREE, 4 << 20},
		{"free-extents=20000", FL_AIM_FREE_EXTENTS, 20000},
	};
	static const char *const bad[] = {
		"",
		"=",
		"sequential",
		"sequential=",
		"sequential=15",
		"sequential=100.1%",
		"sequential=1.01",
		"sequential=-1%",
		"sequential=1%%",
		"sequential=.",
		"sequential= 1%",
		"layout-score=1.0000001",
		"extents=1.99",
		"extents=8%",
		"extents=1e1",
		"extents=1234567890123",
		"largest-free=0",
		"largest-free=4X",
		"free-extents=2K",
		"free-extents=0",
		"free-extents=-1",
		"like-free=0",
		"like-files=0.1",
		"SEQUENTIAL=15%",
	};
	struct fl_diag diag;
	struct fl_aim aim;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(fl_aim_parse(good[i].text, &aim, &diag), 0);
		assert_int_equal(aim.key, good[i].key);
		assert_int_equal(aim.wanted, good[i].wanted);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		diag.text[0] = '\0';
		if (fl_aim_parse(bad[i], &aim, &diag) != FL_ESYNTAX)
			fail_msg("%s", bad[i]);
		assert_non_null(
			strstr(diag.text, strchr(bad[i], '=') ? strchr(bad[i], '=') + 1 : bad[i]));
	}
}

static void aims_have_tolerances(void **state)
{
	static const struct {
		enum fl_aim_key key;
		uint64_t wanted, least, most;
	} rows[] = {
		{FL_AIM_SEQUENTIAL, 150000, 140000, 160000},
		{FL_AIM_LAYOUT_SCORE, 600000, 590000, 610000},
		{FL_AIM_EXTENTS, 8000000, 7600000, 8400000},
		{FL_AIM_FREE_EXTENTS, 20000, 19000, 21000},
		{FL_AIM_FREE_EXTENTS, 19, 19, 19},
		{FL_AIM_LARGEST_FREE, 4 << 20, (4 << 20) - 209715, (4 << 20) + 209715},
		{FL_AIM_LIKE_FREE, 0, 0, 50000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct fl_aim aim = {rows[i].key, rows[i].wanted};

		assert_true(fl_aim_met(&aim, rows[i].least));
		assert_true(fl_aim_met(&aim, rows[i].most));
		assert_false(fl_aim_met(&aim, rows[i].most + 1));
		if (rows[i].least)
			assert_false(fl_aim_met(&aim, rows[i].least - 1));
	}
}

static void values_are_those_of_the_metrics(void **state)
{
	struct fl_metrics *metrics = calloc(1, sizeof(*metrics));

	(void)state;
	assert_non_null(metrics);
	metrics->files.count = 200;
	metrics->files.blocks = 1200;
	metrics->files.fragments = 500;
	metrics->files.fragmented = 50;
	metrics->free.extents = 7;
	metrics->free.largest_bytes = 8192;
	metrics->io_count = 1;
	metrics->io[0].ios = 1000;
	metrics->io[0].seeks = 850;
	assert_int_equal(fl_aim_value(FL_AIM_SEQUENTIAL, metrics), 150000);
	assert_int_equal(fl_aim_value(FL_AIM_FRAGMENTED, metrics), 250000);
	assert_int_equal(fl_aim_value(FL_AIM_EXTENTS, metrics), 7000000);
	assert_int_equal(fl_aim_value(FL_AIM_LAYOUT_SCORE, metrics), 700000);
	assert_int_equal(fl_aim_value(FL_AIM_LARGEST_FREE, metrics), 8192);
	assert_int_equal(fl_aim_value(FL_AIM_FREE_EXTENTS, metrics), 7);
	/* Nothing to divide by. */
	memset(metrics, 0, sizeof(*metrics));
	assert_int_equal(fl_aim_value(FL_AIM_SEQUENTIAL, metrics), 0);
	assert_int_equal(fl_aim_value(FL_AIM_EXTENTS, metrics), 0);
	assert_int_equal(fl_aim_value(FL_AIM_LAYOUT_SCORE, metrics), FL_AIM_ONE);
	free(metrics);
}

/* --- shapes --- */

static void add_numbers(struct fl_numbers *numbers, const uint64_t *at, size_t count)
{
	assert_int_equal(fl_array_append(numbers, at, count), 0);
}

static void distances_are_known_ones(void **state)
{
	static const uint64_t ones[] = {1, 1, 1, 1}, half[] = {1, 1, 5, 9}, far[] = {7, 7, 8};
	struct fl_shape a = {0}, b = {0};

	(void)state;
	add_numbers(&a.free_bytes, ones, 4);
	add_numbers(&b.free_bytes, half, 4);
	assert_int_equal(fl_shape_free_distance(&a, &b), 500000);
	assert_int_equal(fl_shape_free_distance(&b, &a), 500000);
	assert_int_equal(fl_shape_free_distance(&a, &a), 0);
	/* Files of a class, weighed; one that the other lacks is held against its nearest. */
	add_numbers(&a.fragments[12], ones, 4);
	add_numbers(&a.fragments[20], ones, 4);
	add_numbers(&b.fragments[12], half, 4);
	add_numbers(&b.fragments[19], far, 3);
	assert_int_equal(fl_shape_files_distance(&a, &b), 750000);
	assert_int_equal(fl_shape_files_distance(&b, &b), 0);
	fl_shape_free(&a);
	fl_shape_free(&b);
}

static void quantiles_keep_the_distribution(void **state)
{
	static const uint64_t numbers[] = {1, 2, 2, 10};
	struct fl_numbers list = {0};

	(void)state;
	add_numbers(&list, numbers, 4);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(fl_numbers_quantile(&list, i, 4), numbers[i]);
	for (uint64_t i = 0; i < 8; i++)
		assert_int_equal(fl_numbers_quantile(&list, i, 8), numbers[i / 2]);
	assert_int_equal(fl_numbers_quantile(&list, 0, 1), 2);
	assert_int_equal(fl_numbers_quantile(&list, 1, 2), 10);
	fl_array_free(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aims_are_parsed),
		cmocka_unit_test(aims_have_tolerances),
		cmocka_unit_test(values_are_those_of_the_metrics),
		cmocka_unit_test(distances_are_known_ones),
		cmocka_unit_test(quantiles_keep_the_distribution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
