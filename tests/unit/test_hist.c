/* SPDX-License-Identifier: MIT */
/*
 * Histograms: every edge of every kind, from both sides. The edges are written out
 * again here on purpose: they are a contract with captures from real hosts.
 */
#include <fraglab/hist.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#define TIME_EDGES {1, 10, 100, 500, 1000, 5000, 15000, 30000, 50000, 100000}, 10
#define SEEK_EDGES                                                                                 \
	{-500000, -100000, -50000, -10000, -5000, -1000, -500, -128,  -64,   -32,    -16,          \
	 -8,	  -6,	   -4,	   -2,	   -1,	  0,	 1,    2,     4,     6,	     8,            \
	 16,	  32,	   64,	   128,	   500,	  1000,	 5000, 10000, 50000, 100000, 500000},      \
		33

static const struct {
	enum fl_hist_kind kind;
	const char *name;
	int64_t edges[FL_HIST_MAX_BUCKETS];
	size_t count;
} expected[] = {
	{FL_HIST_LENGTH,
	 "length",
	 {512, 1024, 2048, 4095, 4096, 8191, 8192, 16383, 16384, 32768, 49152, 65535, 65536, 81920,
	  131072, 262144, 524288},
	 17},
	{FL_HIST_SEEK, "seek_distance", SEEK_EDGES},
	{FL_HIST_WINDOWED_SEEK, "windowed_seek_distance", SEEK_EDGES},
	{FL_HIST_LATENCY, "latency_us", TIME_EDGES},
	{FL_HIST_INTERARRIVAL, "interarrival_us", TIME_EDGES},
	{FL_HIST_OUTSTANDING, "outstanding", {1, 2, 4, 6, 8, 12, 16, 20, 24, 28, 32, 64}, 12},
};

static void test_edges(void **state)
{
	(void)state;
	assert_int_equal(sizeof(expected) / sizeof(expected[0]), FL_HIST_KINDS);
	for (size_t k = 0; k < FL_HIST_KINDS; k++) {
		size_t buckets;
		const int64_t *edges = fl_hist_edges(expected[k].kind, &buckets);

		assert_int_equal(buckets, expected[k].count + 1);
		assert_string_equal(fl_hist_name(expected[k].kind), expected[k].name);
		for (size_t i = 0; i < expected[k].count; i++)
			assert_int_equal(edges[i], expected[k].edges[i]);
	}
}

/* Adds one value to an empty histogram and gives the bucket it fell into. */
static size_t bucket_of(enum fl_hist_kind kind, int64_t value)
{
	struct fl_hist hist;
	size_t found = FL_HIST_MAX_BUCKETS;

	fl_hist_init(&hist, kind);
	fl_hist_add(&hist, value);
	assert_int_equal(hist.count, 1);
	assert_int_equal(hist.min, value);
	assert_int_equal(hist.max, value);
	for (size_t i = 0; i < FL_HIST_MAX_BUCKETS; i++) {
		if (!hist.buckets[i])
			continue;
		assert_int_equal(hist.buckets[i], 1);
		assert_int_equal(found, FL_HIST_MAX_BUCKETS);
		found = i;
	}
	return found;
}

static void test_both_sides_of_every_edge(void **state)
{
	(void)state;
	for (size_t k = 0; k < FL_HIST_KINDS; k++) {
		enum fl_hist_kind kind = expected[k].kind;

		for (size_t i = 0; i < expected[k].count; i++) {
			int64_t edge = expected[k].edges[i];

			assert_int_equal(bucket_of(kind, edge), i);
			assert_int_equal(bucket_of(kind, edge + 1), i + 1);
			if (!i || expected[k].edges[i - 1] < edge - 1)
				assert_int_equal(bucket_of(kind, edge - 1), i);
		}
		assert_int_equal(bucket_of(kind, INT64_MIN), 0);
		assert_int_equal(bucket_of(kind, INT64_MAX), expected[k].count);
	}
}

static void test_sequential_has_its_own_bucket(void **state)
{
	(void)state;
	assert_int_equal(bucket_of(FL_HIST_SEEK, 1), 17);
	assert_int_equal(bucket_of(FL_HIST_SEEK, 0), 16);
	assert_int_equal(bucket_of(FL_HIST_SEEK, 2), 18);
}

static void test_sums(void **state)
{
	struct fl_hist hist;

	(void)state;
	fl_hist_init(&hist, FL_HIST_SEEK);
	assert_int_equal(hist.count, 0);
	assert_int_equal(hist.min, 0);
	assert_int_equal(hist.max, 0);
	fl_hist_add(&hist, 7);
	fl_hist_add(&hist, -3000);
	fl_hist_add(&hist, 8);
	assert_int_equal(hist.kind, FL_HIST_SEEK);
	assert_int_equal(hist.count, 3);
	assert_int_equal(hist.min, -3000);
	assert_int_equal(hist.max, 8);
	assert_true(hist.sum == -2985.0);
	assert_int_equal(hist.buckets[21], 2); /* 7 and 8 */
	assert_int_equal(hist.buckets[5], 1);  /* -5000 < -3000 <= -1000 */
}

/* Zero is a value like others; an initialised minimum must not hide it. */
static void test_minimum_of_positive_values(void **state)
{
	struct fl_hist hist;

	(void)state;
	fl_hist_init(&hist, FL_HIST_LENGTH);
	fl_hist_add(&hist, 4096);
	fl_hist_add(&hist, 8192);
	assert_int_equal(hist.min, 4096);
	fl_hist_init(&hist, FL_HIST_SEEK);
	fl_hist_add(&hist, -5);
	fl_hist_add(&hist, -9);
	assert_int_equal(hist.max, -5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_both_sides_of_every_edge),
		cmocka_unit_test(test_sequential_has_its_own_bucket),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_minimum_of_positive_values),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
