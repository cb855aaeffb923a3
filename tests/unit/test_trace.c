/* SPDX-License-Identifier: MIT */
/*
 * Traces: what is taken in, what is refused and on which line, and where the I/Os end up on a
 * map built by hand. Random damage must never do more than be refused.
 */
#include <fraglab/report.h>
#include <fraglab/trace.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "map_lab.h"

#define MANY 64

struct log {
	struct fl_io ios[MANY];
	size_t count, total;
	size_t fail_at; /* the sink refuses this I/O; 0: none */
};

static int record(void *context, const struct fl_io *io)
{
	struct log *log = context;

	assert_true(io->sectors > 0);
	if (log->count < MANY)
		log->ios[log->count++] = *io;
	log->total++;
	return log->fail_at && log->total == log->fail_at ? FL_ECANCELLED : 0;
}

/*
 * 1 KiB blocks, two sectors each. "/dir/a b": blocks 0..9 at 100, 10..19 at 110 (neighbours),
 * a hole of 5, 25..29 at 200, unwritten 30..34 at 205, 35..39 at 210. "/dir/c": 4 blocks at 300.
 * "/c": 1 at 400.
 */
static struct fl_map *worked_map(void)
{
	struct fl_map *map = lab_map(1024, 4000);
	uint32_t root, dir;

	root = lab_name(map, FL_NO_NAME, 2, "");
	dir = lab_name(map, root, 10, "dir");
	lab_file(map, 11, FL_KIND_REGULAR, lab_name(map, dir, 11, "a b"));
	lab_extent(map, 0, 100, 10);
	lab_extent(map, 10, 110, 10);
	lab_extent(map, 25, 200, 5);
	lab_unwritten(map, 30, 205, 5);
	lab_extent(map, 35, 210, 5);
	lab_file(map, 12, FL_KIND_REGULAR, lab_name(map, dir, 12, "c"));
	lab_extent(map, 0, 300, 4);
	lab_file(map, 13, FL_KIND_REGULAR, lab_name(map, root, 13, "c"));
	lab_extent(map, 0, 400, 1);
	/* A name without blocks. */
	(void)lab_name(map, root, 14, "empty");
	lab_finish(map);
	return map;
}

static struct fl_trace *parse(const char *text)
{
	struct fl_trace *trace = NULL;
	struct fl_diag diag = {{0}};

	if (fl_trace_parse(text, strlen(text), &trace, &diag))
		fail_msg("%s", diag.text);
	return trace;
}

static void refuse_bytes(const char *text, size_t bytes, const char *why)
{
	struct fl_trace *trace = NULL;
	struct fl_diag diag = {{0}};

	assert_int_equal(fl_trace_parse(text, bytes, &trace, &diag), FL_ESYNTAX);
	assert_null(trace);
	if (strncmp(diag.text, why, strlen(why)))
		fail_msg("\"%s\" does not begin with \"%s\"", diag.text, why);
}

static void refuse(const char *text, const char *why)
{
	refuse_bytes(text, strlen(text), why);
}

/* Each I/O as {first sector, sectors, write}. */
static void expect(const char *text, uint64_t max_io_bytes, const uint64_t (*ios)[3], size_t count)
{
	struct fl_map *map = worked_map();
	struct fl_trace *trace = parse(text);
	struct fl_diag diag = {{0}};
	struct log log = {0};

	assert_int_equal(fl_trace_check(trace, map, &diag), 0);
	assert_int_equal(fl_trace_run(trace, map, max_io_bytes, record, &log), 0);
	assert_int_equal(log.total, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(log.ios[i].lbn, ios[i][0]);
		assert_int_equal(log.ios[i].sectors, ios[i][1]);
		assert_int_equal(log.ios[i].write, ios[i][2]);
	}
	fl_trace_free(trace);
	fl_map_free(map);
}

#define EXPECT(text, max_io_bytes, ...)                                                            \
	do {                                                                                       \
		static const uint64_t ios_[][3] = {__VA_ARGS__};                                   \
		expect(text, max_io_bytes, ios_, sizeof(ios_) / sizeof(ios_[0]));                  \
	} while (0)

#define V2 "fio version 2 iolog\n"
#define V3 "fio version 3 iolog\n"

static void test_fio_files(void **state)
{
	(void)state;
	EXPECT(V2 "/dir/c add\n/dir/c open\n/dir/c read 0 4096\n/dir/c write 1024 512\n"
		  "/dir/c sync 0 0\n/dir/c datasync 0 0\n/dir/c trim 0 512\n/dir/c wait 100 0\n"
		  "/dir/c sync\n/dir/c close\n",
	       0, {600, 8, 0}, {602, 1, 1});
	/* A blank in the name; blanks around; a time before it; the end of a line of DOS. */
	EXPECT(V2 "  /dir/a b   read\t1024 1024  ", 0, {202, 2, 0});
	EXPECT(V3 "17 /dir/a b add\r\n18 /dir/a b read 1024 1024\r\n", 0, {202, 2, 0});
	EXPECT("\n \n" V2 "\n/dir/c read 0 512", 0, {600, 1, 0});
}

static void test_fio_extents(void **state)
{
	(void)state;
	/* Two extents that are neighbours are one I/O; cut at the limit of 4 KiB. */
	EXPECT(V2 "/dir/a b read 0 20480\n", 0, {200, 40, 0});
	EXPECT(V2 "/dir/a b read 0 10240\n", 4096, {200, 8, 0}, {208, 8, 0}, {216, 4, 0});
	/* Over the hole; unwritten blocks are not read, but written. */
	EXPECT(V2 "/dir/a b read 19456 40960\n", 0, {238, 2, 0}, {400, 10, 0}, {420, 10, 0});
	EXPECT(V2 "/dir/a b write 19456 40960\n", 0, {238, 2, 1}, {400, 30, 1});
	/* Whole sectors: bytes 1000 .. 1100 are in sectors 1 and 2. */
	EXPECT(V2 "/dir/c read 1000 101\n", 0, {601, 2, 0});
	/* Neither the hole nor what is behind the end is I/O. */
	EXPECT(V2 "/dir/a b read 20480 5120\n/dir/c read 4096 4096\n/dir/c read 3584 99999\n"
		  "/dir/c read 9223372032559808512 4294967295\n",
	       0, {607, 1, 0});
	/* Two I/Os stay two. */
	EXPECT(V2 "/dir/c read 0 1024\n/dir/c read 1024 1024\n", 0, {600, 2, 0}, {602, 2, 0});
}

static void test_paths(void **state)
{
	struct fl_map *map = worked_map();
	struct fl_diag diag = {{0}};
	struct fl_trace *trace;
	struct log log = {0};

	(void)state;
	/* As it is called from the root; else without its first folders. */
	EXPECT(V2 "/dir/c read 0 512\n/c read 0 512\ndir/c read 0 512\n/mnt/dir/c read 0 512\n"
		  "/mnt/x/c read 0 512\n//dir//c read 0 512\n",
	       0, {600, 1, 0}, {800, 1, 0}, {600, 1, 0}, {600, 1, 0}, {800, 1, 0}, {600, 1, 0});

	trace = parse(V2 "/dir/c read 0 512\n/none add\n/dir/none read 0 512\n");
	assert_int_equal(fl_trace_check(trace, map, &diag), FL_ESYNTAX);
	assert_string_equal(diag.text,
			    "line 4: the image has no file with blocks of this name: /dir/none");
	assert_int_equal(fl_trace_run(trace, map, 0, record, &log), FL_EINVAL);
	assert_int_equal(log.total, 0);
	fl_trace_free(trace);
	/* A file without blocks, a longer and a shorter name, a directory without blocks, "/". */
	for (size_t i = 0; i < 5; i++) {
		static const char *const names[] = {"/empty", "/dir/cc", "/dir/a", "/dir", "/"};
		char text[64];

		snprintf(text, sizeof(text), V2 "%s read 0 512\n", names[i]);
		trace = parse(text);
		assert_int_equal(fl_trace_check(trace, map, &diag), FL_ESYNTAX);
		fl_trace_free(trace);
	}
	fl_map_free(map);

	/* A map without any name. */
	map = lab_map(1024, 100);
	lab_finish(map);
	trace = parse(V2 "/c read 0 512\n");
	assert_int_equal(fl_trace_check(trace, map, &diag), FL_ESYNTAX);
	fl_trace_free(trace);
	fl_map_free(map);
}

static void test_many_paths(void **state)
{
	struct fl_trace *trace;
	struct fl_diag diag = {{0}};
	char line[64];

	(void)state;
	assert_int_equal(fl_trace_new(&trace), 0);
	assert_int_equal(fl_trace_line(trace, V2, strlen(V2), &diag), 0);
	for (int i = 0; i < 3000; i++) {
		int length = snprintf(line, sizeof(line), "/f%d read %d 512", i % 1000, i);

		assert_int_equal(fl_trace_line(trace, line, (size_t)length, &diag), 0);
	}
	assert_int_equal(fl_trace_finish(trace, &diag), 0);
	assert_int_equal(fl_trace_count(trace), 3000);
	fl_trace_free(trace);
}

static void test_fio_device(void **state)
{
	(void)state;
	EXPECT(V2 "/dev/sda add\n/dev/sda read 51200 1024\n/dev/sda write 1048576 2048\n", 1024,
	       {100, 2, 0}, {2048, 2, 1}, {2050, 2, 1});
	/* What the longest line can ask for is bounded. */
	EXPECT(V2 "/dev/sda read 0 4294967295\n", (uint64_t)1 << 32, {0, 8388608, 0});
}

#define EVENT "8,0    1        1     0.000000000   697  "

static void test_blkparse(void **state)
{
	(void)state;
	EXPECT("  8,0    1        1     0.000000000   697  Q   R 223490 + 8 [a b]\n"
	       "  8,0    1        2     0.000001829   697  G   R 223490 + 8 [a b]\n"
	       "  8,0    1        0     0.000003000     0  m   N cfq697 insert_request\n"
	       "  8,0    1        3     0.000002197   697  P   N [a b]\n" EVENT
	       "I   R 223490 + 8 [a b]\n" EVENT "D   R 223490 + 8 [a b]\n" EVENT
	       "D FWFS 100 + 16 [kworker/0:1H]\n" EVENT "D  WS 200 + 0 [kworker/0:1H]\n" EVENT
	       "D  FN [kworker/0:1H]\n" EVENT "D  DS 4096 + 1024 [fstrim]\n" EVENT
	       "D  RA 300 + 1 [x]\n" EVENT "D   R 36 (12 00 00 00 24 00) [smartctl]\n" EVENT
	       "C   R 223490 + 8 [0]\n" EVENT "UT  N [a] 1\n"
	       "CPU0 (8,0):\n Reads Queued:           1,        4KiB\t Writes Queued: 0\n"
	       "\nTotal (8,0):\nnonsense that is not looked at\n",
	       0, {223490, 8, 0}, {100, 16, 1}, {300, 1, 0});
	/* Nothing issued: what was queued counts. The other device's line is not looked at then. */
	EXPECT(EVENT "Q   W 10 + 2 [x]\n" EVENT "Q  RM 20 + 2 [x]\n", 0, {10, 2, 1}, {20, 2, 0});
	EXPECT("9,0 1 1 0.1 1 Q W 5 + 2 [x]\n" EVENT "Q W 10 + 2 [x]\n" EVENT "D W 11 + 2 [x]\n", 0,
	       {11, 2, 1});
}

static void test_refused(void **state)
{
	(void)state;
	refuse("", "no read or write in it");
	refuse("\n\n", "no read or write in it");
	refuse(V2, "no read or write in it");
	refuse(V2 "/c add\n/c trim 0 512\n", "no read or write in it");
	refuse("fio version 4 iolog\n", "line 1: this version of a fio iolog is not known");
	refuse("fio version 2\n", "line 1: neither");
	refuse("\nrw, 0, 4096\n", "line 2: neither");
	refuse(V2 "/c read 0 512\n/c\n", "line 3: not a line of a fio iolog");
	refuse(V2 "/c read 0\n", "line 2: not a line");
	refuse(V2 "/c read 0 -1\n", "line 2: not a line");
	refuse(V2 "/c read 0x10 512\n", "line 2: not a line");
	refuse(V2 "/c read 0 512 \x01\n", "line 2: not text");
	refuse(V2 "/c grow 0 512\n", "line 2: no such action");
	refuse(V2 "read 0 512\n", "line 2: no name before the action");
	refuse(V2 " add\n", "line 2: no name before the action");
	refuse(V2 "/c read 0 0\n", "line 2: its length is 0 or 4 GiB and more");
	refuse(V2 "/c read 0 4294967296\n", "line 2: its length");
	refuse(V2 "/c read 9223372036854775807 1\n", "line 2: its offset is too large");
	refuse(V2 "/c read 18446744073709551615 1\n", "line 2: its offset is too large");
	refuse(V2 "/c read 18446744073709551616 1\n", "line 2: not a line");
	refuse(V3 "/c read 0 512\n", "line 2: no time before the name");
	refuse(V3 "5\n", "line 2: not a line");
	refuse(EVENT "D R\n", "line 1: no \"SECTOR + COUNT\"");
	refuse(EVENT "D\n", "line 1: the event is cut off");
	refuse(EVENT "D R 5 - 8 [x]\n", "line 1: no \"SECTOR + COUNT\"");
	refuse(EVENT "D R 5 + 8388608 [x]\n", "line 1: its length is 4 GiB or more");
	refuse(EVENT "D R 36028797018963967 + 1 [x]\n", "line 1: its sector is too large");
	refuse(EVENT "Z R 5 + 8 [x]\n", "line 1: neither");
	refuse("8,0 1 1 0 697 D R 5 + 8 [x]\n", "line 1: neither");
	refuse("8.0 1 1 0.0 697 D R 5 + 8 [x]\n", "line 1: neither");
	refuse("4294967296,0 1 1 0.0 697 D R 5 + 8 [x]\n", "line 1: neither");
	refuse(EVENT "D R 5 + 8 [x]\n" V2, "line 2: neither");
	refuse(EVENT "D R 5 + 8 [x]\n8,16 1 1 0.0 697 D R 5 + 8 [x]\n",
	       "line 2: an I/O of another device");
	refuse(EVENT "Q R 5 + 8 [x]\n8,16 1 1 0.0 697 Q R 5 + 8 [x]\n",
	       "line 2: an I/O of another device");
	refuse_bytes("fio\0version", 11, "line 1: not text");
	refuse_bytes("\x07\x61\x74\x65\0\0\0\0", 8, "line 1: not text");
}

static void test_workload(void **state)
{
	struct fl_map *map = worked_map();
	struct fl_trace *trace = parse(V2 "/dir/c read 0 4096\n/dir/c read 0 512\n");
	struct fl_stream_options options = {.max_io_bytes = 2048};
	struct log log = {.fail_at = 2};

	(void)state;
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_TRACE, &options, record, &log), FL_EINVAL);
	options.trace = trace;
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_TRACE, &options, record, &log),
			 FL_ECANCELLED);
	assert_int_equal(log.total, 2);
	assert_int_equal(fl_trace_run(trace, map, 1000, record, &log), FL_EINVAL);
	assert_int_equal(fl_trace_run(trace, map, (uint64_t)1 << 42, record, &log), FL_EINVAL);
	fl_trace_free(trace);
	fl_map_free(map);
}

/* What --fio-log writes, read back as a trace of a device, gives the same stream. */
static void test_export_comes_back(void **state)
{
	struct fl_map *map = worked_map();
	const struct fl_stream_options options = {.max_io_bytes = 4096};
	struct log wanted = {0}, found = {0};
	struct fl_trace *trace;
	char *text, *device;
	size_t lines = 0;

	(void)state;
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_READ_ALL, &options, record, &wanted), 0);
	assert_int_equal(fl_report_fio_log(map, FL_WORKLOAD_READ_ALL, &options, &text), 0);
	assert_memory_equal(
		text, V2 FL_FIO_DEVICE " add\n" FL_FIO_DEVICE " open\n" FL_FIO_DEVICE " read ",
		strlen(V2) + 3 * strlen(FL_FIO_DEVICE) + 16);
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, wanted.total + 4);
	/* The name becomes that of a device: "fraglab-disk" and "/dev/xvdabcd" are as long. */
	while ((device = strstr(text, FL_FIO_DEVICE)))
		memcpy(device, "/dev/xvdabcd", strlen(FL_FIO_DEVICE));
	trace = parse(text);
	assert_int_equal(fl_trace_count(trace), wanted.total);
	assert_int_equal(fl_trace_run(trace, map, 4096, record, &found), 0);
	assert_int_equal(found.total, wanted.total);
	for (size_t i = 0; i < wanted.count; i++) {
		assert_int_equal(found.ios[i].lbn, wanted.ios[i].lbn);
		assert_int_equal(found.ios[i].sectors, wanted.ios[i].sectors);
	}
	fl_trace_free(trace);
	free(text);
	fl_map_free(map);
}

/* Bytes changed, cut out or doubled at random: taken in or refused, never anything else. */
static void test_damage(void **state)
{
	static const char *const seeds[] = {
		V2 "/dir/a b add\n/dir/a b read 0 20480\n/dir/c write 0 512\n/dev/sda read 5 5\n",
		V3 "1 /dir/a b add\n2 /dir/a b read 19456 40960\n3 /dir/c sync 0 0\n",
		EVENT "Q R 5 + 8 [x]\n" EVENT "D FWS 9 + 16 [a b]\nCPU0 (8,0):\n x\n",
	};
	static const char alphabet[] = " \t\n\r0123456789,.+-()[]/abcDQRWF\xff\0\x01";
	const char *from = getenv("SEED");
	uint64_t seed = from ? strtoull(from, NULL, 10) : 1;
	struct fl_map *map = worked_map();
	struct fl_rng rng;
	size_t taken = 0;

	(void)state;
	print_message("SEED=%" PRIu64 "\n", seed);
	fl_rng_seed(&rng, seed);
	for (int round = 0; round < 20000; round++) {
		const char *text = seeds[fl_rng_below(&rng, 3)];
		size_t bytes = strlen(text), changes = (size_t)fl_rng_below(&rng, 5);
		/* Of its exact size, so that a sanitizer sees every byte too many. */
		char *copy = malloc(bytes);
		struct fl_trace *trace;
		struct fl_diag diag;
		struct log log = {0};

		assert_non_null(copy);
		memcpy(copy, text, bytes);
		for (size_t i = 0; i < changes; i++)
			copy[fl_rng_below(&rng, bytes)] =
				alphabet[fl_rng_below(&rng, sizeof(alphabet) - 1)];
		if (fl_rng_chance(&rng, 1, 4)) {
			char *cut = realloc(copy, bytes = (size_t)fl_rng_below(&rng, bytes) + 1);

			assert_non_null(cut);
			copy = cut;
		}
		if (!fl_trace_parse(copy, bytes, &trace, &diag)) {
			int error = fl_trace_run(trace, map, 0, record, &log);

			assert_true(!error || error == FL_EINVAL);
			taken++;
			fl_trace_free(trace);
		}
		free(copy);
	}
	assert_true(taken > 1000);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fio_files),
		cmocka_unit_test(test_fio_extents),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_many_paths),
		cmocka_unit_test(test_fio_device),
		cmocka_unit_test(test_blkparse),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_workload),
		cmocka_unit_test(test_export_comes_back),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
