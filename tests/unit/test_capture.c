/* SPDX-License-Identifier: MIT */
/*
 * Captures in vscsiStats' CSV layout: one as a host writes it, ours read back, and damage.
 */
#include <fraglab/report.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DISK ",virtual machine worldGroupID,4113,virtual disk handleID,8195 (scsi0:1)\n"

/* A database's log and data on one disk. Three of the sixteen; the counts are made up. */
static const char capture[] =
	"Histogram: IO lengths of Write commands" DISK
	"min,512\nmax,1048576\nmean,21340\ncount,2213\n"
	"Frequency,Histogram Bucket Limit\n"
	"310,512\n22,1024\n17,2048\n0,4095\n801,4096\n0,8191\n402,8192\n3,16383\n120,16384\n"
	"98,32768\n41,49152\n12,65535\n250,65536\n9,81920\n70,131072\n31,262144\n20,524288\n"
	"7,524288\n"
	"Histogram: distance (in LBNs) between each command from the closest of previous 16" DISK
	"min,-104857600\nmax,83886080\nmean,-1250\ncount,9000\n"
	"Frequency,Histogram Bucket Limit\n"
	"500,-500000\n40,-100000\n30,-50000\n60,-10000\n20,-5000\n50,-1000\n10,-500\n20,-128\n"
	"10,-64\n10,-32\n0,-16\n0,-8\n0,-6\n0,-4\n0,-2\n50,-1\n200,0\n7000,1\n0,2\n0,4\n0,6\n10,8\n"
	"40,16\n50,32\n100,64\n100,128\n200,500\n100,1000\n100,5000\n100,10000\n50,50000\n"
	"50,100000\n50,500000\n50,500000\n"
	"\n"
	"Histogram: latency of IO interarrival time for Reads in Microseconds (us)" DISK
	"min,9223372036854775807\nmax,-9223372036854775808\nmean,0\ncount,0\n"
	"Frequency,Histogram Bucket Limit\n"
	"0,1\n0,10\n0,100\n0,500\n0,1000\n0,5000\n0,15000\n0,30000\n0,50000\n0,100000\n0,100000\n";

static void refuse(const char *text, const char *why)
{
	struct fl_captures captures = {0};
	struct fl_diag diag = {{0}};

	assert_int_equal(fl_captures_parse(text, strlen(text), &captures, &diag), FL_ESYNTAX);
	assert_null(captures.at);
	if (strncmp(diag.text, why, strlen(why)))
		fail_msg("\"%s\" does not begin with \"%s\"", diag.text, why);
}

static void parse(const char *text, struct fl_captures *captures)
{
	struct fl_diag diag = {{0}};

	if (fl_captures_parse(text, strlen(text), captures, &diag))
		fail_msg("%s", diag.text);
}

/* Copies text with the first `from` in it replaced. */
static char *replaced(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *made;

	assert_non_null(at);
	made = malloc(strlen(text) + strlen(to) + 1);
	assert_non_null(made);
	memcpy(made, text, (size_t)(at - text));
	strcpy(made + (at - text), to);
	strcat(made, at + strlen(from));
	return made;
}

static void check_capture(const struct fl_captures *captures)
{
	const struct fl_capture *c = captures->at;

	assert_int_equal(captures->count, 3);
	assert_int_equal(c[0].hist.kind, FL_HIST_LENGTH);
	assert_int_equal(c[0].of, FL_CAPTURE_WRITES);
	assert_int_equal(c[0].world, 4113);
	assert_int_equal(c[0].handle, 8195);
	assert_int_equal(c[0].hist.count, 2213);
	assert_int_equal(c[0].hist.min, 512);
	assert_int_equal(c[0].hist.max, 1048576);
	assert_true(c[0].hist.sum > 21340.0 * 2213 - 1 && c[0].hist.sum < 21340.0 * 2213 + 1);
	assert_int_equal(c[0].hist.buckets[0], 310);
	assert_int_equal(c[0].hist.buckets[16], 20);
	assert_int_equal(c[0].hist.buckets[17], 7); /* over 512 KiB */
	assert_int_equal(c[0].hist.buckets[18], 0);
	assert_int_equal(c[1].hist.kind, FL_HIST_WINDOWED_SEEK);
	assert_int_equal(c[1].of, FL_CAPTURE_ALL);
	assert_int_equal(c[1].hist.min, -104857600);
	assert_int_equal(c[1].hist.buckets[17], 7000); /* +1 */
	assert_int_equal(c[2].hist.kind, FL_HIST_INTERARRIVAL);
	assert_int_equal(c[2].of, FL_CAPTURE_READS);
	assert_int_equal(c[2].hist.count, 0);
	assert_int_equal(c[2].hist.min, 0);
	assert_int_equal(c[2].hist.max, 0);
}

static void test_capture_of_a_host(void **state)
{
	struct fl_captures captures = {0};
	char *text, *at;

	(void)state;
	parse(capture, &captures);
	check_capture(&captures);
	fl_array_free(&captures);
	/* Lines that end as DOS has them, without the last end, and colons before the numbers. */
	text = calloc(2, sizeof(capture));
	assert_non_null(text);
	at = text;
	for (const char *from = capture; from[1]; from++) {
		if (*from == '\n')
			*at++ = '\r';
		*at++ = *from;
	}
	parse(text, &captures);
	check_capture(&captures);
	fl_array_free(&captures);
	free(text);
	text = replaced(capture, "worldGroupID,4113", "worldGroupID : 4113");
	parse(text, &captures);
	check_capture(&captures);
	fl_array_free(&captures);
	free(text);
	text = replaced(capture, "7,524288", "7,> 524288");
	parse(text, &captures);
	check_capture(&captures);
	fl_array_free(&captures);
	free(text);
}

static void fill(struct fl_hist *hist, enum fl_hist_kind kind)
{
	size_t buckets;
	const int64_t *edges = fl_hist_edges(kind, &buckets);

	fl_hist_init(hist, kind);
	/* Every edge and the value past it. */
	for (size_t i = 0; i + 1 < buckets; i++) {
		fl_hist_add(hist, edges[i]);
		fl_hist_add(hist, edges[i] + 1);
	}
}

/* Without I/Os every histogram is empty. */
static void fill_side(struct fl_io_side *side, bool any)
{
	void (*with)(struct fl_hist *, enum fl_hist_kind) = any ? fill : fl_hist_init;

	with(&side->length, FL_HIST_LENGTH);
	with(&side->seek, FL_HIST_SEEK);
	with(&side->latency, FL_HIST_LATENCY);
	with(&side->interarrival, FL_HIST_INTERARRIVAL);
	with(&side->outstanding, FL_HIST_OUTSTANDING);
}

static const struct fl_hist *hist_of(const struct fl_io_metrics *io, const struct fl_capture *c)
{
	const struct fl_io_side *side = c->of == FL_CAPTURE_READS ? &io->reads : &io->writes;
	const bool all = c->of == FL_CAPTURE_ALL;

	switch (c->hist.kind) {
	case FL_HIST_LENGTH:
		return all ? &io->length : &side->length;
	case FL_HIST_SEEK:
		return all ? &io->seek : &side->seek;
	case FL_HIST_WINDOWED_SEEK:
		assert_true(all);
		return &io->windowed_seek;
	case FL_HIST_LATENCY:
		return all ? &io->latency : &side->latency;
	case FL_HIST_INTERARRIVAL:
		return all ? &io->interarrival : &side->interarrival;
	default:
		return all ? &io->outstanding : &side->outstanding;
	}
}

static void test_ours_comes_back(void **state)
{
	struct fl_report_image image = {.path = NULL};
	struct fl_report report = {.tool = "frag",
				   .version = "0",
				   .analyze = true,
				   .images = &image,
				   .image_count = 1};
	struct fl_io_metrics *io = &image.metrics.io[0];
	struct fl_captures captures = {0};
	char *text;

	(void)state;
	memset(&image.metrics, 0, sizeof(image.metrics));
	image.metrics.io_count = 1;
	fill(&io->length, FL_HIST_LENGTH);
	fill(&io->seek, FL_HIST_SEEK);
	fill(&io->windowed_seek, FL_HIST_WINDOWED_SEEK);
	fill(&io->latency, FL_HIST_LATENCY);
	fill(&io->interarrival, FL_HIST_INTERARRIVAL);
	fill(&io->outstanding, FL_HIST_OUTSTANDING);
	fill_side(&io->reads, true);
	fill_side(&io->writes, false);
	io->ios = io->length.count;
	assert_int_equal(fl_report_csv(&report, &text), 0);
	parse(text, &captures);
	assert_int_equal(captures.count, 16);
	for (size_t i = 0; i < captures.count; i++) {
		const struct fl_capture *c = &captures.at[i];
		const struct fl_hist *wanted = hist_of(io, c);

		assert_int_equal(c->hist.count, wanted->count);
		assert_int_equal(c->hist.min, wanted->min);
		assert_int_equal(c->hist.max, wanted->max);
		assert_memory_equal(c->hist.buckets, wanted->buckets, sizeof(wanted->buckets));
	}
	fl_array_free(&captures);
	free(text);
}

static void refuse_replaced(const char *from, const char *to, const char *why)
{
	char *text = replaced(capture, from, to);

	refuse(text, why);
	free(text);
}

static void test_refused(void **state)
{
	(void)state;
	refuse("", "no histogram in it");
	refuse("\n\n", "no histogram in it");
	refuse("freq,limit\n", "line 1: no histogram begins here");
	refuse_replaced("IO lengths of Write", "IO lengths of write", "line 1: a histogram of an");
	refuse_replaced("commands,virtual", "commands, virtual", "line 1: a histogram of an");
	refuse_replaced("4113", "x", "line 1: no virtual machine");
	refuse_replaced("handleID,8195", "handle,8195", "line 1: no virtual machine");
	refuse_replaced("min,512", "min,", "line 2: no line \"min,NUMBER\"");
	refuse_replaced("min,512", "min,512x", "line 2: no line \"min,NUMBER\"");
	refuse_replaced("max,", "most,", "line 3: no line \"max,NUMBER\"");
	refuse_replaced("min,512", "min,1048577", "line 5: count, min and max");
	refuse_replaced("count,2213", "count,-1", "line 5: count, min and max");
	refuse_replaced("count,2213", "count,9223372036854775808", "line 5: no line \"count");
	refuse_replaced("count,2213", "count,2214", "line 24: the frequencies do not add up");
	refuse_replaced("Frequency,", "frequency,", "line 6: no line \"Frequency");
	refuse_replaced("22,1024", "22,1025", "line 8: a limit");
	refuse_replaced("22,1024", "-22,1024", "line 8: no line \"FREQUENCY");
	refuse_replaced("22,1024", "22;1024", "line 8: no line \"FREQUENCY");
	refuse_replaced("22,1024\n", "", "line 8: a limit");
	refuse_replaced("310,512\n22,1024", "9223372036854775807,512\n9,1024", "line 8: the freq");
	refuse("Histogram: IO lengths of commands" DISK, "line 1: no line \"min");
}

/* Bytes changed or cut off at random: taken in or refused, never anything else. */
static void test_damage(void **state)
{
	static const char alphabet[] = " \t\n\r0123456789,:->H\xff\0";
	const char *from = getenv("SEED");
	uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
	struct fl_rng rng;

	(void)state;
	print_message("SEED=%" PRIu64 "\n", seed);
	fl_rng_seed(&rng, seed);
	for (int round = 0; round < 5000; round++) {
		size_t bytes = (size_t)fl_rng_between(&rng, 1, sizeof(capture) - 1);
		size_t changes = (size_t)fl_rng_below(&rng, 4);
		/* Of its exact size, so that a sanitizer sees every byte too many. */
		char *copy = malloc(bytes);
		struct fl_captures captures = {0};
		struct fl_diag diag;

		assert_non_null(copy);
		memcpy(copy, capture, bytes);
		for (size_t i = 0; i < changes; i++)
			copy[fl_rng_below(&rng, bytes)] =
				alphabet[fl_rng_below(&rng, sizeof(alphabet) - 1)];
		if (!fl_captures_parse(copy, bytes, &captures, &diag))
			fl_array_free(&captures);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capture_of_a_host),
		cmocka_unit_test(test_ours_comes_back),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
