/* SPDX-License-Identifier: MIT */
/*
 * Streams: what is read, in which order, in which requests. Maps are built by hand;
 * 1 KiB blocks make two sectors each.
 */
#include <fraglab/stream.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

struct log {
	struct fl_io ios[64];
	size_t count;
	size_t fail_at; /* the sink refuses this I/O; 0: none */
};

static int record(void *context, const struct fl_io *io)
{
	struct log *log = context;

	assert_true(log->count < 64);
	log->ios[log->count++] = *io;
	return log->fail_at && log->count == log->fail_at ? FL_ECANCELLED : 0;
}

static struct fl_map *new_map(void)
{
	const struct fl_geometry geo = {
		.block_bytes = 1024,
		.blocks = 8192,
		.first_data_block = 1,
		.blocks_per_group = 8192,
		.groups = 1,
		.flex_groups = 1,
		.cluster_blocks = 1,
		.inodes_per_group = 256,
		.inode_bytes = 256,
	};
	struct fl_map *map;

	assert_int_equal(fl_map_new(&geo, &map), 0);
	assert_int_equal(fl_array_push(&map->fixed, ((struct fl_run){0, 100})), 0);
	return map;
}

/* A file whose extents follow with add_extent; rank FL_NO_NAME: without a name. */
static void add_file(struct fl_map *map, fl_ino ino, uint32_t rank)
{
	struct fl_file file = {
		.ino = ino,
		.kind = FL_KIND_REGULAR,
		.pin = rank == FL_NO_NAME ? FL_PIN_HIDDEN : FL_PIN_NONE,
		.name = rank == FL_NO_NAME ? FL_NO_NAME : 0,
		.path_rank = rank,
		.listing_rank = rank,
		.first_extent = map->extents.count,
	};

	assert_int_equal(fl_array_push(&map->files, file), 0);
}

static void add_extent(struct fl_map *map, fl_lblk lblk, fl_pblk pblk, uint32_t len, bool unwritten)
{
	struct fl_file *file = &map->files.at[map->files.count - 1];

	assert_int_equal(
		fl_array_push(&map->extents, ((struct fl_extent){pblk, lblk, len, unwritten})), 0);
	file->extent_count++;
	file->blocks += len;
	file->size_bytes = ((uint64_t)lblk + len) * 1024;
}

static struct fl_map *finish(struct fl_map *map)
{
	struct fl_diag diag = {0};

	if (fl_map_finish(map, &diag))
		fail_msg("%s", diag.text);
	return map;
}

static void expect_run(const struct fl_map *map, enum fl_workload workload, uint64_t max_io_bytes,
		       const uint64_t (*blocks)[2], size_t count)
{
	/* One window for all: read-ahead has its own tests. */
	const struct fl_stream_options options = {
		.max_io_bytes = max_io_bytes,
		.readahead_bytes = 8 << 20,
		.read_bytes = 8 << 20,
		.data_only = true,
	};
	struct log log = {0};

	assert_int_equal(fl_stream_run(map, workload, &options, record, &log), 0);
	assert_int_equal(log.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(log.ios[i].lbn, blocks[i][0] * 2);
		assert_int_equal(log.ios[i].sectors, blocks[i][1] * 2);
		assert_false(log.ios[i].write);
	}
}

#define EXPECT(map, workload, max_io_bytes, ...)                                                   \
	do {                                                                                       \
		static const uint64_t blocks_[][2] = {__VA_ARGS__};                                \
		expect_run(map, workload, max_io_bytes, blocks_,                                   \
			   sizeof(blocks_) / sizeof(blocks_[0]));                                  \
	} while (0)

static void test_names(void **state)
{
	enum fl_workload workload = FL_WORKLOADS;

	(void)state;
	for (unsigned i = 0; i < FL_WORKLOADS; i++) {
		assert_true(fl_workload_find(fl_workload_name((enum fl_workload)i), &workload));
		assert_int_equal(workload, i);
	}
	assert_true(fl_workload_find("read-all", &workload));
	assert_int_equal(workload, FL_WORKLOAD_READ_ALL);
	assert_true(fl_workload_find("read-inode-order", &workload));
	assert_int_equal(workload, FL_WORKLOAD_READ_INODE_ORDER);
	assert_false(fl_workload_find("read-al", &workload));
	assert_false(fl_workload_find("", &workload));
	assert_int_equal(workload, FL_WORKLOAD_READ_INODE_ORDER);
}

static void test_order_and_unnamed(void **state)
{
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 2);
	add_extent(map, 0, 200, 4, false);
	add_file(map, 21, 0);
	add_extent(map, 0, 300, 4, false);
	add_file(map, 22, FL_NO_NAME);
	add_extent(map, 0, 400, 4, false);
	add_file(map, 23, 1);
	add_extent(map, 0, 500, 4, false);
	map->files.at[3].pin = FL_PIN_IMMUTABLE; /* stays, but is read */
	finish(map);

	EXPECT(map, FL_WORKLOAD_READ_ALL, 0, {300, 4}, {500, 4}, {200, 4});
	EXPECT(map, FL_WORKLOAD_READ_INODE_ORDER, 0, {200, 4}, {300, 4}, {500, 4});
	fl_map_free(map);
}

static void test_cut_at_the_limit(void **state)
{
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 1000, 1025, false);
	add_file(map, 21, 1);
	add_extent(map, 0, 3000, 512, false);
	finish(map);

	/* The default is 512 KiB. */
	EXPECT(map, FL_WORKLOAD_READ_ALL, 0, {1000, 512}, {1512, 512}, {2024, 1}, {3000, 512});
	EXPECT(map, FL_WORKLOAD_READ_ALL, 1024 * 1024, {1000, 1024}, {2024, 1}, {3000, 512});
	fl_map_free(map);
}

/* Stored extents that touch are cut as one run, not each for itself. */
static void test_touching_extents_merge(void **state)
{
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 200, 3, false);
	add_extent(map, 3, 203, 3, false);
	add_extent(map, 10, 206, 3, false); /* after a hole, but next on the disk */
	add_extent(map, 13, 220, 2, false);
	add_extent(map, 15, 218, 2, false); /* just before: merged in front */
	finish(map);

	EXPECT(map, FL_WORKLOAD_READ_ALL, 4096, {200, 4}, {204, 4}, {208, 1}, {218, 4});
	EXPECT(map, FL_WORKLOAD_READ_ALL, 0, {200, 9}, {218, 4});
	fl_map_free(map);
}

static void test_unwritten_is_not_read(void **state)
{
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 200, 4, true);
	add_extent(map, 4, 204, 4, false);
	add_extent(map, 8, 208, 4, true);
	add_extent(map, 12, 212, 4, false);
	add_file(map, 21, 1);
	add_extent(map, 0, 300, 4, true);
	add_file(map, 22, 2); /* the unwritten part lies elsewhere: the written ones touch */
	add_extent(map, 0, 400, 4, false);
	add_extent(map, 4, 500, 4, true);
	add_extent(map, 8, 404, 4, false);
	finish(map);

	EXPECT(map, FL_WORKLOAD_READ_ALL, 0, {204, 4}, {212, 4}, {400, 8});
	fl_map_free(map);
}

static void test_requests_end_with_the_file(void **state)
{
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 200, 4, false);
	add_file(map, 21, 1);
	add_extent(map, 0, 204, 4, false);
	finish(map);

	EXPECT(map, FL_WORKLOAD_READ_ALL, 0, {200, 4}, {204, 4});
	fl_map_free(map);
}

static void test_empty_and_misuse(void **state)
{
	struct fl_map *map = finish(new_map());
	const struct fl_stream_options odd = {.max_io_bytes = 1536}, none = {0};
	const struct fl_stream_options huge = {.max_io_bytes = (uint64_t)1 << 42};
	struct log log = {0};

	(void)state;
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_READ_ALL, &none, record, &log), 0);
	assert_int_equal(log.count, 0);
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_READ_ALL, &odd, record, &log), FL_EINVAL);
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_READ_ALL, &huge, record, &log), FL_EINVAL);
	assert_int_equal(fl_stream_run(map, FL_WORKLOADS, &none, record, &log), FL_EINVAL);
	fl_map_free(map);
}

/* Streams with other options; in blocks of 1 KiB. */
static void expect_with(const struct fl_map *map, enum fl_workload workload,
			const struct fl_stream_options *options, const uint64_t (*blocks)[2],
			size_t count)
{
	struct log log = {0};

	assert_int_equal(fl_stream_run(map, workload, options, record, &log), 0);
	assert_int_equal(log.count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(log.ios[i].lbn, blocks[i][0] * 2);
		assert_int_equal(log.ios[i].sectors, blocks[i][1] * 2);
	}
}

#define EXPECT_WITH(map, workload, options, ...)                                                   \
	do {                                                                                       \
		static const uint64_t blocks_[][2] = {__VA_ARGS__};                                \
		expect_with(map, workload, options, blocks_,                                       \
			    sizeof(blocks_) / sizeof(blocks_[0]));                                 \
	} while (0)

/* 128 KiB a window; reads of 10 KiB begin with 32 and double, reads of 128 KiB begin full. */
static void test_readahead_windows(void **state)
{
	const struct fl_stream_options large = {.data_only = true};
	const struct fl_stream_options small = {.data_only = true, .read_bytes = 10240};
	const struct fl_stream_options tiny = {.data_only = true, .read_bytes = 1};
	const struct fl_stream_options wide = {
		.data_only = true, .readahead_bytes = 512 << 10, .read_bytes = 1};
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 1000, 400, false);
	finish(map);
	EXPECT_WITH(map, FL_WORKLOAD_READ_ALL, &large, {1000, 128}, {1128, 128}, {1256, 128},
		    {1384, 16});
	EXPECT_WITH(map, FL_WORKLOAD_READ_ALL, &small, {1000, 32}, {1032, 64}, {1096, 128},
		    {1224, 128}, {1352, 48});
	/* One page: four of them first (a 32nd of the window), then twice as many. */
	EXPECT_WITH(map, FL_WORKLOAD_READ_ALL, &tiny, {1000, 16}, {1016, 32}, {1048, 64},
		    {1112, 128}, {1240, 128}, {1368, 32});
	/* Below a 16th of the window it grows fourfold. */
	EXPECT_WITH(map, FL_WORKLOAD_READ_ALL, &wide, {1000, 16}, {1016, 64}, {1080, 128},
		    {1208, 192});
	fl_map_free(map);
}

/* Inside a window neighbours merge, also in front; windows are never crossed; i_size ends it. */
static void test_readahead_merges(void **state)
{
	const struct fl_stream_options options = {.data_only = true};
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 1010, 10, false);
	add_extent(map, 10, 1000, 10, false);	      /* in front of the one before */
	add_extent(map, 20, 1020, 5, false);	      /* behind both */
	add_extent(map, 300, 1025, 40, false);	      /* adjacent, but two windows further */
	map->files.at[0].size_bytes = 310 * 1024 + 1; /* the rest is past its end */
	finish(map);
	EXPECT_WITH(map, FL_WORKLOAD_READ_ALL, &options, {1000, 25}, {1025, 11});
	fl_map_free(map);
}

/*
 * Cold: inodes 20 and 21 share a block of the table (4 a block), which comes with 32 around it
 * as far as it is used; a directory by blocks in hash order; a tree block before its extents.
 */
static void test_cold_metadata(void **state)
{
	const struct fl_stream_options options = {0}, warm = {.data_only = true};
	const struct fl_group_places places = {10, 11, 20, 40};
	struct fl_map *map = new_map();

	(void)state;
	assert_int_equal(fl_array_push(&map->groups, places), 0);
	add_file(map, 2, 0);
	map->files.at[0].kind = FL_KIND_DIRECTORY;
	add_extent(map, 0, 200, 4, false);
	add_file(map, 20, 1);
	add_extent(map, 0, 300, 2, false);
	add_extent(map, 2, 310, 2, false);
	assert_int_equal(fl_array_push(&map->trees, 250), 0);
	assert_int_equal(fl_array_push(&map->trees, 251), 0);
	map->files.at[1].tree_count = 2;
	finish(map);
	EXPECT_WITH(map, FL_WORKLOAD_READ_ALL, &options, {21, 10}, {20, 1}, {200, 1}, {202, 1},
		    {201, 1}, {203, 1}, {250, 1}, {251, 1}, {300, 2}, {310, 2});
	EXPECT_WITH(map, FL_WORKLOAD_READ_ALL, &warm, {300, 2}, {310, 2});
	fl_map_free(map);
}

/* Every block written is free in the map, data comes once, all writes; the seed decides. */
static void test_install(void **state)
{
	const struct fl_stream_options options = {.install_bytes = 1 << 20, .data_only = true};
	struct fl_map *map = new_map();
	struct log log = {0};
	uint64_t blocks = 0;

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 4000, 96, false);
	finish(map);
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_INSTALL, &options, record, &log), 0);
	assert_true(log.count > 1);
	for (size_t i = 0; i < log.count; i++) {
		uint64_t first = log.ios[i].lbn / 2, end = first + log.ios[i].sectors / 2;

		assert_true(log.ios[i].write);
		assert_true(first >= 100 && end <= 8192);
		assert_true(end <= 4000 || first >= 4096);
		blocks += end - first;
		for (size_t j = 0; j < i; j++)
			assert_true(log.ios[i].lbn >= log.ios[j].lbn + log.ios[j].sectors ||
				    log.ios[j].lbn >= log.ios[i].lbn + log.ios[i].sectors);
	}
	assert_true(blocks >= 1024);
	fl_map_free(map);
}

struct tally {
	uint64_t ios, blocks;
	uint64_t runs; /* I/Os that do not go on where the one before ended */
	fl_lbn next;
};

static int count_io(void *context, const struct fl_io *io)
{
	struct tally *tally = context;

	tally->ios++;
	tally->blocks += io->sectors / 2;
	tally->runs += io->lbn != tally->next;
	tally->next = io->lbn + io->sectors;
	return 0;
}

/* 4,096 blocks in use, so many of them a journal. */
static struct tally install_beside(uint32_t journal)
{
	const struct fl_stream_options options = {.install_bytes = 1 << 20, .data_only = true};
	struct fl_map *map = new_map();
	struct tally tally = {0};

	if (journal) {
		add_file(map, 8, FL_NO_NAME);
		map->files.at[0].kind = FL_KIND_JOURNAL;
		add_extent(map, 0, 4000, journal, false);
	}
	if (journal < 4096) {
		add_file(map, 20, 0);
		add_extent(map, 0, 4000 + journal, 4096 - journal, false);
	}
	finish(map);
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_INSTALL, &options, count_io, &tally), 0);
	fl_map_free(map);
	return tally;
}

/* Where data go does not depend on the journal; how many files share a request does. */
static void test_install_credits(void **state)
{
	struct tally none = install_beside(0), large = install_beside(4096),
		     small = install_beside(1024);

	(void)state;
	assert_true(none.blocks == large.blocks && none.blocks == small.blocks);
	assert_true(none.runs == large.runs && none.runs == small.runs);
	assert_true(none.ios < large.ios);
	assert_true(large.ios < small.ios);
}

/* A rate says how much is written back at a time: what is made in five seconds. */
static void test_commit_bytes(void **state)
{
	struct fl_stream_options options = {.install_rate = 0};

	(void)state;
	assert_int_equal(fl_stream_commit_bytes(&options), FL_STREAM_COMMIT_BYTES);
	options.install_rate = 1000;
	assert_int_equal(fl_stream_commit_bytes(&options), 5000);
	options.install_rate = UINT64_MAX;
	assert_true(fl_stream_commit_bytes(&options) > UINT64_MAX - 5);
}

static void test_inside_large_files(void **state)
{
	const struct fl_stream_options options = {.max_io_bytes = 1 << 20};
	struct fl_map *map = new_map();

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 1000, 600, false);
	add_extent(map, 600, 2000, 424, false);
	add_file(map, 21, 1);
	add_extent(map, 0, 3000, 3, false);
	add_file(map, 22, FL_NO_NAME);
	add_extent(map, 0, 4000, 3000, false);
	finish(map);
	EXPECT_WITH(map, FL_WORKLOAD_SEQUENTIAL_512K, &options, {1000, 512}, {1512, 88},
		    {2000, 424}, {3000, 3});
	fl_map_free(map);
}

static void test_sink_ends_the_stream(void **state)
{
	struct fl_map *map = new_map();
	const struct fl_stream_options options = {.max_io_bytes = 2048};
	struct log log = {.fail_at = 2};

	(void)state;
	add_file(map, 20, 0);
	add_extent(map, 0, 200, 10, false);
	add_file(map, 21, 1);
	add_extent(map, 0, 300, 10, false);
	finish(map);
	assert_int_equal(fl_stream_run(map, FL_WORKLOAD_READ_ALL, &options, record, &log),
			 FL_ECANCELLED);
	assert_int_equal(log.count, 2);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_order_and_unnamed),
		cmocka_unit_test(test_cut_at_the_limit),
		cmocka_unit_test(test_touching_extents_merge),
		cmocka_unit_test(test_unwritten_is_not_read),
		cmocka_unit_test(test_requests_end_with_the_file),
		cmocka_unit_test(test_empty_and_misuse),
		cmocka_unit_test(test_sink_ends_the_stream),
		cmocka_unit_test(test_readahead_windows),
		cmocka_unit_test(test_readahead_merges),
		cmocka_unit_test(test_cold_metadata),
		cmocka_unit_test(test_install),
		cmocka_unit_test(test_install_credits),
		cmocka_unit_test(test_commit_bytes),
		cmocka_unit_test(test_inside_large_files),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
