/* SPDX-License-Identifier: MIT */
/*
 * The analyzer on maps built by hand. Every expectation is worked out in a comment
 * or obvious from the map, never taken from the program's output.
 */
#include <fraglab/analyze.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct fl_map *new_map(uint32_t block_bytes, uint64_t blocks)
{
	const struct fl_geometry geo = {
		.block_bytes = block_bytes,
		.blocks = blocks,
		.first_data_block = block_bytes == 1024,
		.blocks_per_group = 8 * block_bytes,
		.groups = 1,
		.flex_groups = 1,
		.cluster_blocks = 1,
		.inodes_per_group = 256,
		.inode_bytes = 256,
	};
	struct fl_map *map;

	assert_int_equal(fl_map_new(&geo, &map), 0);
	return map;
}

static void add_fixed(struct fl_map *map, fl_pblk start, uint64_t len)
{
	assert_int_equal(fl_array_push(&map->fixed, ((struct fl_run){start, len})), 0);
}

static struct fl_file *add_file(struct fl_map *map, fl_ino ino, uint32_t rank, enum fl_pin pin)
{
	struct fl_file file = {
		.ino = ino,
		.kind = FL_KIND_REGULAR,
		.pin = (uint8_t)pin,
		.name = rank == FL_NO_NAME ? FL_NO_NAME : 0,
		.path_rank = rank,
		.listing_rank = rank,
		.first_extent = map->extents.count,
		.first_tree = map->trees.count,
	};

	assert_int_equal(fl_array_push(&map->files, file), 0);
	return &map->files.at[map->files.count - 1];
}

static void add_extent(struct fl_map *map, fl_lblk lblk, fl_pblk pblk, uint32_t len, bool unwritten)
{
	struct fl_file *file = &map->files.at[map->files.count - 1];

	assert_int_equal(
		fl_array_push(&map->extents, ((struct fl_extent){pblk, lblk, len, unwritten})), 0);
	file->extent_count++;
	file->blocks += len;
	file->size_bytes = ((uint64_t)lblk + len) * map->geo.block_bytes;
}

static void add_tree(struct fl_map *map, fl_pblk block)
{
	assert_int_equal(fl_array_push(&map->trees, block), 0);
	map->files.at[map->files.count - 1].tree_count++;
}

static void finish(struct fl_map *map)
{
	struct fl_diag diag = {0};

	if (fl_map_finish(map, &diag))
		fail_msg("%s", diag.text);
}

/*
 * 1000 blocks of 4 KiB; slots [100,126) [127,500) [510,600) [610,900) [910,1000):
 * 12: 40 blocks in 3 extents, the first two touch: 2 fragments; one tree block
 * 13: 1 block
 * 14: 410 blocks, more than the longest slot has: 2 fragments are forced, it has 3
 * 15: immutable, 16: hidden, with a tree block; both 10 blocks
 */
static struct fl_map *worked_map(void)
{
	struct fl_map *map = new_map(4096, 1000);

	add_fixed(map, 500, 10);
	add_fixed(map, 0, 100);
	add_file(map, 12, 2, FL_PIN_NONE);
	add_extent(map, 0, 100, 10, false);
	add_extent(map, 10, 110, 10, true);
	add_extent(map, 30, 130, 20, false);
	add_tree(map, 125);
	add_file(map, 13, 0, FL_PIN_NONE);
	add_extent(map, 0, 200, 1, false);
	add_file(map, 14, 3, FL_PIN_NONE);
	add_extent(map, 0, 300, 200, false);
	add_extent(map, 200, 610, 100, false);
	add_extent(map, 300, 720, 110, false);
	add_file(map, 15, 1, FL_PIN_IMMUTABLE);
	add_extent(map, 0, 600, 10, false);
	add_file(map, 16, FL_NO_NAME, FL_PIN_HIDDEN);
	add_extent(map, 0, 900, 10, false);
	add_tree(map, 126);
	finish(map);
	return map;
}

static const struct fl_analyze_options both_workloads = {
	.workloads = {FL_WORKLOAD_READ_ALL, FL_WORKLOAD_READ_INODE_ORDER},
	.workload_count = 2,
	/* One read-ahead window for all. */
	.stream =
		{
			.max_io_bytes = 256 * 1024,
			.readahead_bytes = 8 << 20,
			.read_bytes = 8 << 20,
			.data_only = true,
		},
};

static void analyze(const struct fl_map *map, const struct fl_analyze_options *options,
		    struct fl_metrics *metrics)
{
	memset(metrics, 0xa5, sizeof(*metrics));
	assert_int_equal(fl_analyze(map, options, metrics), 0);
}

static void test_files(void **state)
{
	struct fl_map *map = worked_map();
	struct fl_metrics m;

	(void)state;
	analyze(map, &both_workloads, &m);
	assert_int_equal(m.files.count, 3);
	assert_int_equal(m.files.blocks, 40 + 1 + 410);
	assert_int_equal(m.files.extents, 7);
	assert_int_equal(m.files.fragments, 2 + 1 + 3);
	assert_int_equal(m.files.fragmented, 2);
	assert_int_equal(m.files.forced_fragments, 1 + 1 + 2);
	assert_int_equal(m.files.avoidable_fragments, 1 + 0 + 1);
	assert_true(m.files.layout_score == 445.0 / 448.0);
	assert_int_equal(m.files.largest_count, 3);
	assert_int_equal(m.files.largest_fragments[0], 3);
	assert_int_equal(m.files.largest_fragments[1], 2);
	assert_int_equal(m.files.largest_fragments[2], 1);
	assert_int_equal(m.files.largest_fragments[3], 0);
	assert_true(m.files.worst_ratio ==
		    3.0 / 6.0); /* one file in three is the worst of a hundred */
	assert_int_equal(m.files.tree_blocks, 1);
	for (size_t i = 0; i < FL_PIN_COUNT; i++)
		assert_int_equal(m.files.pinned[i], i == FL_PIN_HIDDEN || i == FL_PIN_IMMUTABLE);
	fl_map_free(map);
}

/* Free: [120,125) [127,130) [150,200) [201,300) [510,600) [710,720) [830,900) [910,1000). */
static void test_free_space(void **state)
{
	struct fl_map *map = worked_map();
	struct fl_metrics m;
	uint64_t extents = 0;

	(void)state;
	analyze(map, &both_workloads, &m);
	assert_int_equal(m.free.blocks, 417);
	assert_int_equal(m.free.extents, 8);
	assert_int_equal(m.free.largest_bytes, 99 * 4096);
	assert_int_equal(m.free.largest_possible_bytes, 373 * 4096);
	assert_true(m.free.mean_bytes == 417.0 * 4096 / 8);
	assert_int_equal(m.free.histogram[1].extents, 1); /* 3 */
	assert_int_equal(m.free.histogram[1].blocks, 3);
	assert_int_equal(m.free.histogram[2].extents, 1); /* 5 */
	assert_int_equal(m.free.histogram[3].extents, 1); /* 10 */
	assert_int_equal(m.free.histogram[5].blocks, 50);
	assert_int_equal(m.free.histogram[6].extents, 4); /* 99 90 70 90 */
	assert_int_equal(m.free.histogram[6].blocks, 349);
	for (size_t i = 0; i < FL_FREE_BUCKETS; i++)
		extents += m.free.histogram[i].extents;
	assert_int_equal(extents, 8);
	fl_map_free(map);
}

/* The free total bounds the largest possible extent when the slots are longer. */
static void test_largest_possible_is_bounded_by_what_is_free(void **state)
{
	struct fl_map *map = new_map(1024, 1000);
	struct fl_metrics m;

	(void)state;
	add_fixed(map, 0, 100);
	add_file(map, 12, 0, FL_PIN_NONE);
	add_extent(map, 0, 132, 800, false);
	finish(map);
	analyze(map, &both_workloads, &m);
	assert_int_equal(m.free.largest_bytes, 68 * 1024);
	assert_int_equal(m.free.largest_possible_bytes, 100 * 1024);
	fl_map_free(map);
}

/*
 * At 64 blocks a request, in path order, blocks: 200+1 600+10 100+10 130+20 then 300+64 364+64
 * 428+64 492+8, 610+64 674+36, 720+64 784+46. Eight LBNs a block.
 */
static void test_io(void **state)
{
	struct fl_map *map = worked_map();
	struct fl_metrics m;
	const struct fl_io_metrics *io = &m.io[0];

	(void)state;
	analyze(map, &both_workloads, &m);
	assert_int_equal(m.io_count, 2);
	assert_int_equal(io->workload, FL_WORKLOAD_READ_ALL);
	assert_int_equal(io->ios, 12);
	assert_int_equal(io->bytes, 451 * 4096);
	assert_int_equal(io->seeks, 7);
	assert_true(io->sequential_ratio == 5.0 / 12.0);
	assert_true(io->mean_io_bytes == 451.0 * 4096 / 12);
	assert_true(io->seeks_per_100mib == 7.0 * 104857600.0 / (451.0 * 4096));

	assert_int_equal(io->length.count, 12);
	assert_int_equal(io->length.min, 4096);
	assert_int_equal(io->length.max, 262144);
	assert_true(io->length.sum == 451.0 * 4096);
	assert_int_equal(io->length.buckets[4], 1);  /* 4096 */
	assert_int_equal(io->length.buckets[9], 1);  /* 32768 */
	assert_int_equal(io->length.buckets[10], 2); /* 40960 twice */
	assert_int_equal(io->length.buckets[13], 1); /* 81920 */
	assert_int_equal(io->length.buckets[15], 7); /* over 131072 */

	/* The first I/O has no distance. 3193 -4079 161 1201 1 1 1 881 1 81 1 */
	assert_int_equal(io->seek.count, 11);
	assert_int_equal(io->seek.min, -4079);
	assert_int_equal(io->seek.max, 3193);
	assert_true(io->seek.sum == 3193.0 - 4079 + 161 + 1201 + 881 + 81 + 5);
	assert_int_equal(io->seek.buckets[17], 5);

	/* Block 610 follows the pinned file, block 100 is nearest to the first I/O.
	 * 3193 -807 161 793 1 1 1 1 1 81 1 */
	assert_int_equal(io->windowed_seek.count, 11);
	assert_int_equal(io->windowed_seek.min, -807);
	assert_int_equal(io->windowed_seek.max, 3193);
	assert_true(io->windowed_seek.sum == 3193.0 - 807 + 161 + 793 + 81 + 6);
	assert_int_equal(io->windowed_seek.buckets[17], 6);

	/* By inode: the same I/Os, 100+10 130+20 200+1 300.. 600+10; 600+10 is after 784+46. */
	assert_int_equal(m.io[1].workload, FL_WORKLOAD_READ_INODE_ORDER);
	assert_int_equal(m.io[1].ios, 12);
	assert_int_equal(m.io[1].bytes, 451 * 4096);
	assert_int_equal(m.io[1].seeks, 7);
	assert_int_equal(m.io[1].seek.min, 4800 - (830 * 8 - 1));
	fl_map_free(map);
}

/* One-block files, read in the order of the blocks given. */
static void analyze_blocks(const fl_pblk *blocks, size_t count, struct fl_metrics *m)
{
	const struct fl_analyze_options options = {
		.workloads = {FL_WORKLOAD_READ_INODE_ORDER},
		.workload_count = 1,
	};
	struct fl_map *map = new_map(1024, 8192);

	add_fixed(map, 0, 50);
	for (size_t i = 0; i < count; i++) {
		add_file(map, (fl_ino)(12 + i), (uint32_t)i, FL_PIN_NONE);
		add_extent(map, 0, blocks[i], 1, false);
	}
	finish(map);
	analyze(map, &options, m);
	fl_map_free(map);
}

/* Block 111 begins at LBN 222: 21 after the end of block 100 and 21 before that of block 121. */
static void test_windowed_tie_goes_forward(void **state)
{
	static const fl_pblk ahead_last[] = {100, 121, 111}, behind_last[] = {121, 100, 111};
	struct fl_metrics m;

	(void)state;
	analyze_blocks(ahead_last, 3, &m);
	assert_int_equal(m.io[0].windowed_seek.count, 2);
	assert_true(m.io[0].windowed_seek.sum == (242 - 201) + 21);
	assert_int_equal(m.io[0].seek.min, -21);
	analyze_blocks(behind_last, 3, &m);
	assert_true(m.io[0].windowed_seek.sum == (200 - 243) + 21);
}

/* The window is 16 I/Os: what the 17th before it read is forgotten. */
static void test_window_length(void **state)
{
	fl_pblk blocks[18];
	struct fl_metrics m;

	(void)state;
	blocks[0] = 100;
	for (size_t i = 1; i < 17; i++)
		blocks[i] = 4000 + 10 * i;
	blocks[17] = 101;
	/* Sixteen between: block 100 is the 17th before. */
	analyze_blocks(blocks, 18, &m);
	assert_int_equal(m.io[0].windowed_seek.min, 202 - (4011 * 2 - 1));
	assert_int_equal(m.io[0].windowed_seek.buckets[17], 0);
	/* Fifteen between: it is the 16th. */
	blocks[16] = 101;
	analyze_blocks(blocks, 17, &m);
	assert_int_equal(m.io[0].windowed_seek.buckets[17], 1);
	assert_int_equal(m.io[0].windowed_seek.min, 1);
	assert_int_equal(m.io[0].seek.min, 202 - (4151 * 2 - 1));
}

static void test_empty(void **state)
{
	struct fl_map *map = new_map(4096, 100);
	struct fl_metrics m;

	(void)state;
	add_fixed(map, 0, 100);
	finish(map);
	analyze(map, &both_workloads, &m);
	assert_int_equal(m.files.count, 0);
	assert_true(m.files.layout_score == 1.0);
	assert_int_equal(m.files.largest_count, 0);
	assert_int_equal(m.free.blocks, 0);
	assert_int_equal(m.free.extents, 0);
	assert_int_equal(m.free.largest_possible_bytes, 0);
	assert_true(m.free.mean_bytes == 0.0);
	assert_int_equal(m.io[0].ios, 0);
	assert_int_equal(m.io[0].seeks, 0);
	assert_true(m.io[0].sequential_ratio == 0.0);
	assert_true(m.io[0].seeks_per_100mib == 0.0);
	assert_true(m.io[0].mean_io_bytes == 0.0);
	fl_map_free(map);
}

/* Only one-block files: no block has one before it, so nothing is out of place. */
static void test_layout_score_of_single_blocks(void **state)
{
	static const fl_pblk blocks[] = {100, 300, 200};
	struct fl_metrics m;

	(void)state;
	analyze_blocks(blocks, 3, &m);
	assert_true(m.files.layout_score == 1.0);
	assert_int_equal(m.files.avoidable_fragments, 0);
}

static void test_most_fragmented(void **state)
{
	static const uint32_t fragments[] = {3, 1, 12, 4, 5, 6, 2, 7, 8, 9, 3, 11};
	static const uint64_t expected[] = {12, 11, 9, 8, 7, 6, 5, 4, 3, 3};
	struct fl_map *map = new_map(1024, 8192);
	struct fl_metrics m;
	fl_pblk at = 100;

	(void)state;
	add_fixed(map, 0, 100);
	for (uint32_t i = 0; i < 12; i++) {
		add_file(map, 12 + i, i, FL_PIN_NONE);
		for (uint32_t k = 0; k < fragments[i]; k++, at += 2)
			add_extent(map, k, at, 1, false);
	}
	finish(map);
	analyze(map, &both_workloads, &m);
	assert_int_equal(m.files.largest_count, 10);
	for (size_t i = 0; i < 10; i++)
		assert_int_equal(m.files.largest_fragments[i], expected[i]);
	assert_int_equal(m.files.fragmented, 11);
	fl_map_free(map);
}

static void test_misuse(void **state)
{
	struct fl_map *map = worked_map();
	struct fl_analyze_options options = both_workloads;
	struct fl_metrics m, before;

	(void)state;
	analyze(map, &options, &m);
	before = m;
	options.stream.max_io_bytes = 6000;
	assert_int_equal(fl_analyze(map, &options, &m), FL_EINVAL);
	options = both_workloads;
	options.workload_count = FL_WORKLOADS + 1;
	assert_int_equal(fl_analyze(map, &options, &m), FL_EINVAL);
	assert_true(fl_metrics_equal(&before, &m, NULL, 0, NULL));
	options.workload_count = 0;
	analyze(map, &options, &m);
	assert_int_equal(m.io_count, 0);
	fl_map_free(map);
}

static void test_comparison(void **state)
{
	struct fl_map *map = worked_map();
	struct fl_metrics a, b;
	struct fl_deviation deviations[2];
	size_t count = 99;

	(void)state;
	analyze(map, &both_workloads, &a);
	analyze(map, &both_workloads, &b);
	assert_true(fl_metrics_equal(&a, &b, deviations, 2, &count));
	assert_int_equal(count, 0);

	b.io[1].seek.buckets[17]++;
	assert_false(fl_metrics_equal(&a, &b, deviations, 2, &count));
	assert_int_equal(count, 1);
	assert_string_equal(deviations[0].name, "read-inode-order.seek_distance[17]");
	assert_string_equal(deviations[0].expected, "5");
	assert_string_equal(deviations[0].found, "6");

	b.files.fragments = UINT64_MAX;
	b.files.layout_score = 0.5;
	assert_false(fl_metrics_equal(&a, &b, deviations, 2, &count));
	assert_int_equal(count, 3);
	assert_string_equal(deviations[0].name, "files.fragments");
	assert_string_equal(deviations[0].found, "18446744073709551615");
	assert_string_equal(deviations[1].name, "files.layout_score");
	assert_string_equal(deviations[1].found, "0.5");
	assert_false(fl_metrics_equal(&a, &b, NULL, 0, NULL));

	b = a;
	b.io_count = 1;
	assert_false(fl_metrics_equal(&a, &b, deviations, 2, &count));
	assert_int_equal(count, 1);
	assert_string_equal(deviations[0].name, "io.count");
	b = a;
	b.free.histogram[FL_FREE_BUCKETS - 1].blocks++;
	assert_false(fl_metrics_equal(&a, &b, NULL, 0, &count));
	assert_int_equal(count, 1);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_free_space),
		cmocka_unit_test(test_largest_possible_is_bounded_by_what_is_free),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_windowed_tie_goes_forward),
		cmocka_unit_test(test_window_length),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_layout_score_of_single_blocks),
		cmocka_unit_test(test_most_fragmented),
		cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_comparison),
	};

	return cmocka_run_group_tests_name("analyze", tests, NULL, NULL);
}
