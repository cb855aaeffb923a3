/* SPDX-License-Identifier: MIT */
/*
 * Disk models: times that can be worked out by hand, the queue, the array's arithmetic.
 */
#include "common/analyze/disks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MS UINT64_C(1000000)
#define TURN UINT64_C(8333333) /* of 7,200 rpm */

struct log {
	struct fl_disk_io done[64];
	size_t count;
};

static void note(void *context, const struct fl_disk_io *io)
{
	struct log *log = context;

	assert_true(log->count < 64);
	log->done[log->count++] = *io;
}

static uint64_t run(struct fl_disk_options options, const struct fl_io *ios, size_t count,
		    struct log *log)
{
	struct fl_disk *disk;
	uint64_t total = 0;

	log->count = 0;
	assert_int_equal(fl_disk_new(&options, note, log, &disk), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(fl_disk_submit(disk, &ios[i]), 0);
	assert_int_equal(fl_disk_finish(disk, &total), 0);
	assert_int_equal(log->count, count);
	fl_disk_free(disk);
	return total;
}

static void test_names_and_misuse(void **state)
{
	struct fl_disk_options options = {.model = FL_DISK_NONE};
	enum fl_disk_model model;
	struct fl_disk *disk;

	(void)state;
	for (unsigned i = 0; i < FL_DISK_MODELS; i++) {
		assert_true(fl_disk_find(fl_disk_name((enum fl_disk_model)i), &model));
		assert_int_equal(model, i);
	}
	assert_false(fl_disk_find("floppy", &model));
	assert_int_equal(fl_disk_new(&options, note, NULL, &disk), FL_EINVAL);
	options = (struct fl_disk_options){.model = FL_DISK_SSD,
					   .queue_depth = FL_DISK_QUEUE_MOST + 1};
	assert_int_equal(fl_disk_new(&options, note, NULL, &disk), FL_EINVAL);
	options = (struct fl_disk_options){.model = FL_DISK_MODELS};
	assert_int_equal(fl_disk_new(&options, note, NULL, &disk), FL_EINVAL);
	fl_disk_free(NULL);
}

/* In sequence it is all transfer: 119.4 MB/s; the same place again takes a whole turn. */
static void test_sequence_and_turn(void **state)
{
	const struct fl_io sequence[] = {{0, 1024, false}, {1024, 1024, false}};
	const struct fl_io again[] = {{0, 8, false}, {0, 8, false}};
	const struct fl_disk_options one = {.model = FL_DISK_HDD7200, .queue_depth = 1};
	struct log log;
	uint64_t total;

	(void)state;
	total = run(one, sequence, 2, &log);
	assert_in_range(total, 2048 * 4287, 2048 * 4291); /* 512 bytes: 4.288 us */
	assert_int_equal(log.done[0].latency_ns, log.done[1].issued_ns);
	total = run(one, again, 2, &log);
	assert_int_equal(total, TURN + log.done[0].latency_ns);
}

/* Random single accesses take the average seek and half a turn: 11.7 ms; writes one more. */
static void test_random_mean(void **state)
{
	const struct fl_disk_options one = {.model = FL_DISK_HDD7200, .queue_depth = 1};
	struct fl_io ios[64];
	struct log log;
	struct fl_rng rng;
	uint64_t reads = 0, writes = 0;

	(void)state;
	fl_rng_seed(&rng, 1);
	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < 64; i++)
			ios[i] = (struct fl_io){fl_rng_below(&rng, 1953525000), 8, false};
		reads += run(one, ios, 64, &log);
		for (size_t i = 0; i < 64; i++)
			ios[i].write = true;
		writes += run(one, ios, 64, &log);
	}
	assert_in_range(reads / (20 * 64), 11200000, 12100000);
	assert_in_range(writes / (20 * 64), reads / (20 * 64) + 500000, 13300000);
}

/* With a queue the drive picks what is near: more I/Os a second, but each waits longer. */
static void test_queue(void **state)
{
	struct fl_disk_options options = {.model = FL_DISK_HDD7200, .queue_depth = 1};
	struct fl_io ios[64];
	struct log log;
	struct fl_rng rng;
	uint64_t alone, queued;

	(void)state;
	fl_rng_seed(&rng, 2);
	for (size_t i = 0; i < 64; i++)
		ios[i] = (struct fl_io){fl_rng_below(&rng, 1953525000), 8, false};
	alone = run(options, ios, 64, &log);
	for (size_t i = 0; i < 64; i++) {
		assert_int_equal(log.done[i].outstanding, 1);
		assert_int_equal(log.done[i].io.lbn, ios[i].lbn);
	}
	options.queue_depth = 0; /* 32 */
	queued = run(options, ios, 64, &log);
	assert_true(queued < alone * 2 / 3);
	for (size_t i = 0; i < 64; i++)
		assert_true(log.done[i].outstanding <= 32 && log.done[i].outstanding > 0);
}

/* Nobody waits for ever: a far access among a flood of near ones is served within seconds. */
static void test_no_starvation(void **state)
{
	const struct fl_disk_options two = {.model = FL_DISK_HDD7200, .queue_depth = 2};
	struct fl_disk *disk;
	struct log log = {0};
	uint64_t total;
	struct fl_io far = {1900000000, 8, false};

	(void)state;
	assert_int_equal(fl_disk_new(&two, note, &log, &disk), 0);
	assert_int_equal(fl_disk_submit(disk, &(struct fl_io){0, 8, false}), 0);
	assert_int_equal(fl_disk_submit(disk, &far), 0);
	for (uint64_t i = 1; i < 60; i++)
		assert_int_equal(fl_disk_submit(disk, &(struct fl_io){i * 4096, 4096, false}), 0);
	assert_int_equal(fl_disk_finish(disk, &total), 0);
	for (size_t i = 0; i < log.count; i++)
		if (log.done[i].io.lbn == far.lbn)
			assert_in_range(log.done[i].latency_ns, 5 * MS, 600 * MS);
	fl_disk_free(disk);
}

/* A rate is a schedule: I/O n is not issued before the bytes before it are due. */
static void test_rate(void **state)
{
	const struct fl_disk_options slow = {.model = FL_DISK_SSD, .bytes_per_second = 512000};
	const struct fl_io ios[] = {{0, 100, true}, {500, 100, true}, {900, 100, false}};
	struct log log;

	(void)state;
	run(slow, ios, 3, &log);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(log.done[i].issued_ns, i * 100 * MS);
		assert_int_equal(log.done[i].outstanding, 1);
		assert_true(log.done[i].latency_ns < MS);
	}
	assert_int_equal(log.done[1].interarrival_ns, 100 * MS);
	assert_int_equal(log.done[1].interarrival_same_ns, 100 * MS);
	assert_int_equal(log.done[2].interarrival_same_ns, 0); /* the first read */
}

static void expect_accesses(struct raid_accesses *made, const struct raid_access *expected,
			    size_t count)
{
	assert_int_equal(made->count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(made->at[i].disk, expected[i].disk);
		assert_int_equal(made->at[i].later, expected[i].later);
		assert_int_equal(made->at[i].lbn, expected[i].lbn);
		assert_int_equal(made->at[i].sectors, expected[i].sectors);
		assert_int_equal(made->at[i].write, expected[i].write);
	}
	fl_array_free(made);
}

static void expect_raid(struct fl_io io, const struct raid_access *expected, size_t count)
{
	struct raid_accesses made = {0};

	assert_int_equal(fl_raid5_split(&io, &made), 0);
	expect_accesses(&made, expected, count);
}

static void test_raid5(void **state)
{
	/* Stripe 0 has its parity on disk 3, stripe 1 on disk 2 and data on 3, 0, 1. */
	static const struct raid_access read[] = {{2, false, 120, 8, false},
						  {3, false, 128, 8, false}};
	static const struct raid_access full[] = {{0, false, 0, 128, true},
						  {1, false, 0, 128, true},
						  {2, false, 0, 128, true},
						  {3, false, 0, 128, true}};
	/* One unit's part: its old data and parity, then both anew. */
	static const struct raid_access small[] = {{1, false, 16, 8, false},
						   {3, false, 16, 8, false},
						   {1, true, 16, 8, true},
						   {3, true, 16, 8, true}};
	/* Two whole units of three: cheaper to read the third. */
	static const struct raid_access two[] = {{2, false, 0, 128, false},
						 {0, true, 0, 128, true},
						 {1, true, 0, 128, true},
						 {3, true, 0, 128, true}};

	(void)state;
	expect_raid((struct fl_io){256 + 120, 16, false}, read, 2);
	expect_raid((struct fl_io){0, 384, true}, full, 4);
	expect_raid((struct fl_io){128 + 16, 8, true}, small, 4);
	expect_raid((struct fl_io){0, 256, true}, two, 4);
}

/* A small write of an array reads, waits for the turn, writes: more than a turn. */
static void test_raid5_small_write(void **state)
{
	const struct fl_disk_options one = {.model = FL_DISK_RAID5, .queue_depth = 1};
	const struct fl_io write[] = {{5000, 8, true}}, read[] = {{5000, 8, false}};
	struct log log;
	uint64_t written = run(one, write, 1, &log), got = run(one, read, 1, &log);

	(void)state;
	assert_true(written > got + TURN - MS);
	assert_true(written < got + 2 * TURN + 2 * MS);
}

/* With bursts, what is made in one is let go together, and the rate holds over all of them. */
static void test_bursts(void **state)
{
	const struct fl_disk_options bursts = {
		.model = FL_DISK_SSD, .bytes_per_second = 512000, .burst_bytes = 102400};
	const struct fl_io ios[] = {
		{0, 100, true}, {500, 100, true}, {900, 100, true}, {1500, 100, true}};
	struct log log;

	(void)state;
	run(bursts, ios, 4, &log);
	assert_int_equal(log.done[0].issued_ns, 0);
	assert_int_equal(log.done[1].issued_ns, 0);
	assert_int_equal(log.done[2].issued_ns, 200 * MS);
	assert_int_equal(log.done[3].issued_ns, 200 * MS);
}

static void expect_destage(uint64_t stripe, uint64_t lines, const struct raid_access *expected,
			   size_t count)
{
	struct raid_accesses made = {0};

	assert_int_equal(fl_raid5_write(stripe, lines, &made), 0);
	expect_accesses(&made, expected, count);
}

/* What a host's write of the same blocks takes; of a unit with a hole, the whole part. */
static void test_raid5_destage(void **state)
{
	static const struct raid_access full[] = {{0, false, 0, 128, true},
						  {1, false, 0, 128, true},
						  {2, false, 0, 128, true},
						  {3, false, 0, 128, true}};
	static const struct raid_access holed[] = {{1, false, 128 + 0, 24, false},
						   {2, false, 128 + 0, 24, false},
						   {1, true, 128 + 0, 24, true},
						   {2, true, 128 + 0, 24, true}};

	(void)state;
	expect_destage(0, UINT64_C(0xffffffffffff), full, 4);
	/* Stripe 1 has its parity on disk 2, its units on 3, 0 and 1. */
	expect_destage(1, UINT64_C(0x5) << 32, holed, 4);
}

static void test_write_cache_misuse(void **state)
{
	struct fl_disk_options options = {.model = FL_DISK_HDD7200, .write_cache_bytes = 1 << 20};
	struct fl_disk *disk;

	(void)state;
	assert_int_equal(fl_disk_new(&options, note, NULL, &disk), FL_EINVAL);
	options.model = FL_DISK_RAID5;
	options.write_cache_bytes = FL_DISK_CACHE_MOST + 1;
	assert_int_equal(fl_disk_new(&options, note, NULL, &disk), FL_EINVAL);
}

/* A write is done when the cache has it: 4 KiB over the link and a command. */
static void test_write_cache_takes(void **state)
{
	const struct fl_disk_options cached = {
		.model = FL_DISK_RAID5, .queue_depth = 1, .write_cache_bytes = 1 << 20};
	const struct fl_io ios[] = {{5000, 8, true}, {900000, 8, true}, {5000, 8, false}};
	const uint64_t taken = 4096 * 1000 / FL_DISK_CACHE_BYTES_A_US + FL_DISK_CACHE_COMMAND_NS;
	struct log log;

	(void)state;
	run(cached, ios, 3, &log);
	assert_int_equal(log.done[0].latency_ns, taken);
	assert_int_equal(log.done[1].latency_ns, taken);
	/* The read finds its blocks on their way to the disks: the first write left when the host
	 * was idle for a moment, so it needs a disk. */
	assert_true(log.done[2].latency_ns > taken);
}

/* A read of what is dirty needs no disk; of what is half dirty, it does. */
static void test_write_cache_reads(void **state)
{
	struct cache *cache;
	uint64_t stripe, lines;

	(void)state;
	assert_int_equal(fl_cache_new(64 * CACHE_LINE_BYTES, &cache), 0);
	assert_int_equal(fl_cache_add(cache, &(struct fl_io){376, 16, true}), 0);
	assert_true(fl_cache_holds(cache, &(struct fl_io){376, 16, false}));
	assert_true(fl_cache_holds(cache, &(struct fl_io){380, 4, false}));
	assert_false(fl_cache_holds(cache, &(struct fl_io){376, 24, false}));
	/* The I/O lies in two stripes; they leave in order, each with its line. */
	assert_true(fl_cache_destage(cache, &stripe, &lines));
	assert_int_equal(stripe, 0);
	assert_true(lines == UINT64_C(1) << 47);
	assert_false(fl_cache_holds(cache, &(struct fl_io){376, 8, false}));
	assert_true(fl_cache_destage(cache, &stripe, &lines));
	assert_int_equal(stripe, 1);
	assert_int_equal(lines, 1);
	assert_false(fl_cache_destage(cache, &stripe, &lines));
	fl_cache_free(cache);
}

/* Room is counted by lines until they are clean; a line that is dirty already needs none. */
static void test_write_cache_room(void **state)
{
	const struct fl_io first = {0, 64, true}, second = {64, 8, true}, huge = {4000, 800, true};
	struct cache *cache;
	uint64_t stripe, lines;

	(void)state;
	assert_int_equal(fl_cache_new(8 * CACHE_LINE_BYTES, &cache), 0);
	assert_true(fl_cache_has_room(cache, &huge)); /* it is empty: no room would ever do */
	assert_int_equal(fl_cache_add(cache, &first), 0);
	assert_true(fl_cache_pressed(cache));
	assert_true(fl_cache_has_room(cache, &first));
	assert_false(fl_cache_has_room(cache, &second));
	assert_false(fl_cache_has_room(cache, &huge));
	assert_true(fl_cache_destage(cache, &stripe, &lines));
	assert_false(fl_cache_has_room(cache, &second));
	fl_cache_clean(cache, lines);
	assert_true(fl_cache_has_room(cache, &second));
	fl_cache_free(cache);
}

/* Stripes leave in sweeps: what comes behind the sweep's place waits for the next one. */
static void test_write_cache_sweeps(void **state)
{
	const uint64_t come[] = {7, 3, 9}, expected[] = {3, 7, 9, 1};
	struct cache *cache;
	uint64_t stripe, lines;

	(void)state;
	assert_int_equal(fl_cache_new(1 << 20, &cache), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(fl_cache_add(cache, &(struct fl_io){come[i] * RAID5_STRIPE_SECTORS,
								     8, true}),
				 0);
	for (size_t i = 0; i < 4; i++) {
		assert_true(fl_cache_destage(cache, &stripe, &lines));
		assert_int_equal(stripe, expected[i]);
		if (i == 0)
			assert_int_equal(
				fl_cache_add(cache,
					     &(struct fl_io){1 * RAID5_STRIPE_SECTORS, 8, true}),
				0);
	}
	fl_cache_free(cache);
}

/* More than the cache holds is as slow as the disks; small sequential writes are gathered. */
static void test_write_cache_full(void **state)
{
	struct fl_disk_options options = {.model = FL_DISK_RAID5, .queue_depth = 4};
	struct fl_io scattered[64], sequence[64];
	struct log log;
	struct fl_rng rng;
	uint64_t through, back, slowest = 0, sequence_through, sequence_back;

	(void)state;
	fl_rng_seed(&rng, 3);
	for (size_t i = 0; i < 64; i++) {
		scattered[i] = (struct fl_io){fl_rng_below(&rng, 1000000) * 8, 8, true};
		sequence[i] = (struct fl_io){i * 32, 32, true};
	}
	through = run(options, scattered, 64, &log);
	sequence_through = run(options, sequence, 64, &log);
	options.write_cache_bytes = 16 * CACHE_LINE_BYTES;
	back = run(options, scattered, 64, &log);
	for (size_t i = 0; i < 64; i++)
		slowest = fl_max(slowest, log.done[i].latency_ns);
	assert_true(slowest > 5 * MS);
	assert_true(back > through / 10);
	options.write_cache_bytes = 128 * CACHE_LINE_BYTES;
	sequence_back = run(options, sequence, 64, &log);
	assert_true(sequence_back < sequence_through / 4);
}

static void test_flash(void **state)
{
	const struct fl_disk_options one = {.model = FL_DISK_SSD, .queue_depth = 1};
	const struct fl_io near[] = {{0, 8, false}, {8, 8, false}};
	const struct fl_io far[] = {{0, 8, false}, {900000000, 8, false}};
	const struct fl_io whole[] = {{0, 256, false}};
	struct log log;

	(void)state;
	/* No seek; a command, a page, 4 KiB over the link: 20 + 60 + 7.4 us. */
	assert_int_equal(run(one, near, 1, &log), 20000 + 60000 + 7447);
	assert_int_equal(run(one, far, 2, &log), 2 * (20000 + 60000 + 7447));
	/* 128 KiB: eight channels at once, then the link is what takes time. */
	assert_int_equal(run(one, whole, 1, &log), 20000 + 60000 + 8 * 29789);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_misuse),
		cmocka_unit_test(test_sequence_and_turn),
		cmocka_unit_test(test_random_mean),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_no_starvation),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_raid5),
		cmocka_unit_test(test_raid5_small_write),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_raid5_destage),
		cmocka_unit_test(test_write_cache_misuse),
		cmocka_unit_test(test_write_cache_takes),
		cmocka_unit_test(test_write_cache_reads),
		cmocka_unit_test(test_write_cache_room),
		cmocka_unit_test(test_write_cache_sweeps),
		cmocka_unit_test(test_write_cache_full),
		cmocka_unit_test(test_flash),
	};

	return cmocka_run_group_tests_name("disk", tests, NULL, NULL);
}
