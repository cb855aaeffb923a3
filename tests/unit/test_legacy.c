/* SPDX-License-Identifier: MIT */
/*
 * Scores of other tools and the blame for seeks, on maps built by hand; each expectation is
 * worked out from the tool's rule. tests/kernel/legacy.sh compares with the tools themselves.
 */
#include <fraglab/analyze.h>

#include <stdio.h>
#include "map_lab.h"

/* Not in single precision: 1e-5 is what that leaves. */
static void assert_near(double found, double expected)
{
	if (found < expected - 1e-4 || found > expected + 1e-4)
		fail_msg("%g is not %g", found, expected);
}

static void expect_e4defrag(const struct fl_map *map, size_t file, uint64_t extents, uint64_t best,
			    double score)
{
	struct fl_legacy_file view;

	fl_legacy_e4defrag(map, &map->files.at[file], &view);
	assert_int_equal(view.extents, extents);
	assert_int_equal(view.best, best);
	assert_near(view.score, score);
}

static void test_e4defrag_of_a_file(void **state)
{
	struct fl_map *map = lab_map(4096, 4000);

	(void)state;
	map->geo.blocks_per_group = 100;
	map->geo.groups = 40;
	/* 20 blocks in one extent: no excess. */
	lab_file(map, 11, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 100, 20);
	/* The same run, stored as two extents, is one for FIEMAP; unwritten is one of its own. */
	lab_file(map, 12, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 200, 10);
	lab_extent(map, 10, 210, 5);
	lab_unwritten(map, 15, 215, 5);
	/* A hole parts extents even where the blocks touch: ratio 1 * 100 / 20 = 5, score 40. */
	lab_file(map, 13, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 300, 10);
	lab_extent(map, 11, 310, 10);
	/* 3 of 20 blocks: 2 * 100 / 20 = 10 is not over 10: score 80. */
	lab_file(map, 14, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 400, 5);
	lab_extent(map, 5, 410, 5);
	lab_extent(map, 10, 420, 10);
	/* 2 of 5 blocks: 20 is over 10: 80 + 20 * 20 / 100 = 84. */
	lab_file(map, 15, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 500, 2);
	lab_extent(map, 2, 510, 3);
	/* 201 blocks: best is 3 groups' worth, it has 1: -2 * 100 / 201 * 8. */
	lab_file(map, 16, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 600, 201);
	/* Exactly 200: 2. */
	lab_file(map, 17, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 900, 200);
	lab_finish(map);

	expect_e4defrag(map, 0, 1, 1, 0.0);
	expect_e4defrag(map, 1, 2, 1, 40.0);
	expect_e4defrag(map, 2, 2, 1, 40.0);
	expect_e4defrag(map, 3, 3, 1, 80.0);
	expect_e4defrag(map, 4, 2, 1, 84.0);
	expect_e4defrag(map, 5, 1, 3, -1600.0 / 201.0);
	expect_e4defrag(map, 6, 1, 2, -4.0);
	map->geo.flex_groups = 2;
	expect_e4defrag(map, 5, 1, 2, -800.0 / 201.0);
	expect_e4defrag(map, 6, 1, 1, 0.0);
	fl_map_free(map);
}

static void test_e4defrag_of_a_filesystem(void **state)
{
	struct fl_map *map = lab_map(4096, 4000);
	struct fl_legacy_metrics metrics;
	uint32_t root, lost, folder;

	(void)state;
	root = lab_name(map, FL_NO_NAME, 2, "");
	lost = lab_name(map, root, 11, "lost+found");
	folder = lab_name(map, root, 12, "folder");
	lab_file(map, 2, FL_KIND_DIRECTORY, root);
	lab_extent(map, 0, 60, 1);
	lab_file(map, 11, FL_KIND_DIRECTORY, lost);
	lab_extent(map, 0, 61, 1);
	/* Counts twice: two links. */
	lab_file(map, 13, FL_KIND_REGULAR, lab_name(map, folder, 13, "linked"))->links = 2;
	lab_extent(map, 0, 100, 5);
	lab_extent(map, 5, 110, 5);
	lab_file(map, 14, FL_KIND_REGULAR, lab_name(map, folder, 14, "lost+found"));
	lab_extent(map, 0, 200, 10);
	/* None of these count: below /lost+found, empty but preallocated, without a name. */
	lab_file(map, 15, FL_KIND_REGULAR, lab_name(map, lost, 15, "#15"));
	lab_extent(map, 0, 300, 1);
	lab_extent(map, 1, 310, 1);
	lab_file(map, 16, FL_KIND_REGULAR, lab_name(map, root, 16, "empty"))->size_bytes = 0;
	lab_unwritten(map, 0, 400, 4);
	lab_unwritten(map, 4, 410, 4);
	lab_file(map, 17, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 500, 1);
	lab_file(map, 18, FL_KIND_SYMLINK, lab_name(map, root, 18, "slow"));
	lab_extent(map, 0, 510, 1);
	lab_finish(map);

	fl_legacy(map, &metrics);
	assert_int_equal(metrics.e4defrag.files, 3);
	assert_int_equal(metrics.e4defrag.extents, 2 * 2 + 1);
	assert_int_equal(metrics.e4defrag.best, 3);
	assert_int_equal(metrics.e4defrag.blocks, 30);
	assert_near(metrics.e4defrag.score, 8.0 * 2.0 * 100.0 / 30.0);
	assert_int_equal(metrics.e4defrag.worst_count, 2);
	assert_int_equal(metrics.e4defrag.worst[0].ino, 13);
	assert_string_equal(metrics.e4defrag.worst[0].path, "/folder/linked");
	assert_string_equal(metrics.e4defrag.worst[1].path, "/folder/lost+found");
	/* filefrag: every regular file with a name, once: 13, 14, 15, 16. */
	assert_int_equal(metrics.filefrag.files, 4);
	assert_int_equal(metrics.filefrag.extents, 2 + 1 + 2 + 2);
	fl_map_free(map);
}

static void test_the_worst_are_five(void **state)
{
	struct fl_map *map = lab_map(4096, 8000);
	struct fl_legacy_metrics metrics;
	uint32_t root;

	(void)state;
	root = lab_name(map, FL_NO_NAME, 2, "");
	/* File 20 + n of 10 blocks has n + 1 extents. */
	for (uint32_t n = 0; n < 8; n++) {
		char name[8];

		snprintf(name, sizeof(name), "f%u", n);
		lab_file(map, 20 + n, FL_KIND_REGULAR, lab_name(map, root, 20 + n, name));
		for (uint32_t i = 0; i <= n; i++)
			lab_extent(map, i, 100 + n * 100 + i * 2, i == n ? 10 - n : 1);
	}
	lab_finish(map);
	fl_legacy(map, &metrics);
	assert_int_equal(metrics.e4defrag.worst_count, FL_LEGACY_WORST);
	for (uint32_t i = 0; i < FL_LEGACY_WORST; i++) {
		assert_int_equal(metrics.e4defrag.worst[i].ino, 27 - i);
		assert_int_equal(metrics.e4defrag.worst[i].extents, 8 - i);
	}
	assert_string_equal(metrics.e4defrag.worst[0].path, "/f7");
	fl_map_free(map);
}

static void test_filefrag(void **state)
{
	struct fl_map *map = lab_map(4096, 4000);

	(void)state;
	lab_file(map, 11, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 5, 100, 5);
	lab_extent(map, 10, 105, 5);	/* goes on */
	lab_extent(map, 20, 110, 5);	/* the hole is left out */
	lab_extent(map, 30, 120, 5);	/* the hole is kept: 115 + 5 */
	lab_unwritten(map, 35, 125, 5); /* the state does not matter */
	lab_extent(map, 45, 134, 5);	/* neither 130 nor 135 */
	lab_extent(map, 50, 90, 5);	/* backwards */
	lab_finish(map);
	assert_int_equal(fl_legacy_filefrag(map, &map->files.at[0]), 3);
	fl_map_free(map);
}

static void test_e2fsck_extents(void **state)
{
	struct fl_map *map = lab_map(4096, 4000);
	struct fl_legacy_metrics metrics;

	(void)state;
	map->geo.blocks_per_group = 20;
	map->geo.groups = 200;
	/* Contiguous across a hole; where its tree block lies does not matter. */
	lab_file(map, 11, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 100, 5);
	lab_extent(map, 9, 105, 5);
	lab_tree(map, 300);
	/* Scattered. */
	lab_file(map, 12, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 200, 5);
	lab_extent(map, 5, 206, 5);
	lab_file(map, 13, FL_KIND_DIRECTORY, FL_NO_NAME);
	lab_extent(map, 0, 220, 1);
	lab_extent(map, 1, 222, 1);
	/* 19 blocks and a tree block are a group's worth: never counted. */
	lab_file(map, 14, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 400, 10);
	lab_extent(map, 10, 420, 9);
	lab_tree(map, 310);
	/* 19 are less, unless there is a block of attributes as well. */
	lab_file(map, 15, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 500, 10);
	lab_extent(map, 10, 520, 9);
	lab_file(map, 16, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 540, 10);
	lab_extent(map, 10, 560, 9);
	/* The journal counts as a file, the list of bad blocks does not. */
	lab_file(map, 17, FL_KIND_JOURNAL, FL_NO_NAME);
	lab_extent(map, 0, 600, 1);
	lab_extent(map, 1, 602, 1);
	lab_file(map, 18, FL_KIND_BAD_BLOCKS, FL_NO_NAME);
	lab_extent(map, 0, 610, 1);
	lab_extent(map, 1, 612, 1);
	lab_file(map, 16, FL_KIND_XATTR, FL_NO_NAME);
	lab_extent(map, 0, 700, 1);
	assert_int_equal(fl_array_push(&map->owners, 16), 0);
	map->files.at[map->files.count - 1].owner_count = 1;
	lab_finish(map);

	fl_legacy(map, &metrics);
	assert_int_equal(metrics.e2fsck.files, 3); /* 12, 15, 17 */
	assert_int_equal(metrics.e2fsck.directories, 1);
	assert_near(metrics.e2fsck.percent, 4.0); /* of 100 inodes */
	map->geo.used_inodes = 3000;		  /* 4 * 10000 / 3000 = 13; (13 + 5) / 10 = 1 */
	fl_legacy(map, &metrics);
	assert_near(metrics.e2fsck.percent, 0.1);
	map->geo.used_inodes = 0;
	fl_legacy(map, &metrics);
	assert_near(metrics.e2fsck.percent, 0.0);
	fl_map_free(map);
}

/* 1 KiB blocks: 12 direct pointers, 256 in an indirect block. */
static void test_e2fsck_indirect(void **state)
{
	struct fl_map *map = lab_map(1024, 8000);

	(void)state;
	/* 0: as mke2fs lays it out: 12 data, the indirect block, data. */
	lab_file(map, 11, FL_KIND_REGULAR, FL_NO_NAME)->mapping = FL_MAPPING_INDIRECT;
	lab_extent(map, 0, 100, 12);
	lab_extent(map, 12, 113, 8);
	lab_tree(map, 112);
	/* 1: data in one run, the indirect block elsewhere. */
	lab_file(map, 12, FL_KIND_REGULAR, FL_NO_NAME)->mapping = FL_MAPPING_INDIRECT;
	lab_extent(map, 0, 200, 20);
	lab_tree(map, 300);
	/* 2: direct blocks only. */
	lab_file(map, 13, FL_KIND_REGULAR, FL_NO_NAME)->mapping = FL_MAPPING_INDIRECT;
	lab_extent(map, 0, 400, 12);
	/*
	 * 3: into the double indirect range: 12, IND, 256, DIND, IND, data; all in one run, so
	 * stored as three extents with gaps of one and two blocks.
	 */
	lab_file(map, 14, FL_KIND_REGULAR, FL_NO_NAME)->mapping = FL_MAPPING_INDIRECT;
	lab_extent(map, 0, 1000, 12);
	lab_extent(map, 12, 1013, 256);
	lab_extent(map, 268, 1271, 256);
	lab_extent(map, 524, 1528, 10);
	lab_tree(map, 1012);
	lab_tree(map, 1269);
	lab_tree(map, 1270);
	lab_tree(map, 1527);
	/* 4: the same, the two upper blocks swapped. */
	lab_file(map, 15, FL_KIND_REGULAR, FL_NO_NAME)->mapping = FL_MAPPING_INDIRECT;
	lab_extent(map, 0, 2000, 12);
	lab_extent(map, 12, 2013, 256);
	lab_extent(map, 268, 2271, 256);
	lab_tree(map, 2012);
	lab_tree(map, 2270);
	lab_tree(map, 2269);
	/* 5: a hole over the whole single indirect range, so that block is missing too. */
	lab_file(map, 16, FL_KIND_REGULAR, FL_NO_NAME)->mapping = FL_MAPPING_INDIRECT;
	lab_extent(map, 3, 3000, 2);
	lab_extent(map, 300, 3004, 4);
	lab_tree(map, 3002);
	lab_tree(map, 3003);
	lab_finish(map);

	assert_false(fl_legacy_scattered(map, &map->files.at[0]));
	assert_true(fl_legacy_scattered(map, &map->files.at[1]));
	assert_false(fl_legacy_scattered(map, &map->files.at[2]));
	assert_false(fl_legacy_scattered(map, &map->files.at[3]));
	assert_true(fl_legacy_scattered(map, &map->files.at[4]));
	assert_false(fl_legacy_scattered(map, &map->files.at[5]));
	fl_map_free(map);
}

static void test_e2freefrag(void **state)
{
	struct fl_map *map = lab_map(4096, 100);
	struct fl_legacy_metrics metrics;

	(void)state;
	/* Free: 50..52 (3), 60..99 (40): the mean of 21.5 blocks is cut to 21. */
	lab_file(map, 11, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 53, 7);
	lab_finish(map);
	fl_legacy(map, &metrics);
	assert_int_equal(metrics.e2freefrag.min_kib, 12);
	assert_int_equal(metrics.e2freefrag.max_kib, 160);
	assert_int_equal(metrics.e2freefrag.mean_kib, 84);
	fl_map_free(map);

	map = lab_map(4096, 51);
	lab_file(map, 11, FL_KIND_REGULAR, FL_NO_NAME);
	lab_extent(map, 0, 50, 1);
	lab_finish(map);
	fl_legacy(map, &metrics);
	assert_int_equal(metrics.e2freefrag.min_kib, 0);
	assert_int_equal(metrics.e2freefrag.mean_kib, 0);
	assert_int_equal(metrics.e4defrag.files, 0);
	assert_near(metrics.e4defrag.score, 0.0);
	fl_map_free(map);
}

/* --- blame --- */

static void note(struct fl_blamer *blamer, fl_pblk block, uint32_t blocks)
{
	const struct fl_io io = {.lbn = block * 2, .sectors = blocks * 2};

	fl_blamer_note(blamer, &io);
}

static void test_blame(void **state)
{
	struct fl_map *map = lab_map(1024, 4000);
	struct fl_blamer *blamer;
	struct fl_blame blame;
	uint32_t root;

	(void)state;
	root = lab_name(map, FL_NO_NAME, 2, "");
	lab_file(map, 11, FL_KIND_REGULAR, lab_name(map, root, 11, "one"));
	lab_extent(map, 0, 100, 10);
	lab_extent(map, 10, 200, 10);
	lab_file(map, 12, FL_KIND_REGULAR, lab_name(map, root, 12, "t\xffo"));
	lab_extent(map, 0, 110, 10);
	lab_file(map, 13, FL_KIND_JOURNAL, FL_NO_NAME);
	lab_extent(map, 0, 300, 10);
	lab_finish(map);
	assert_int_equal(fl_blamer_new(map, &blamer), 0);

	fl_blamer_start(blamer);
	note(blamer, 100, 5);  /* a seek: the first */
	note(blamer, 105, 5);  /* goes on */
	note(blamer, 110, 10); /* goes on, into another file: free */
	note(blamer, 200, 5);  /* seek */
	note(blamer, 209, 1);  /* seek; the last block of its extent */
	note(blamer, 210, 1);  /* goes on, where no file is */
	note(blamer, 305, 1);  /* seek into the journal */
	note(blamer, 119, 1);  /* seek */
	note(blamer, 3000, 1); /* seek to what nobody owns */
	note(blamer, 10, 1);   /* metadata, before every file */
	fl_blamer_sum(blamer, &blame);
	assert_int_equal(blame.seeks, 7);
	assert_int_equal(blame.owned, 5);
	assert_int_equal(blame.files, 3);
	assert_int_equal(blame.worst_count, 3);
	assert_string_equal(blame.worst[0].path, "/one");
	assert_int_equal(blame.worst[0].seeks, 3);
	assert_near(blame.worst[0].share, 3.0 / 7.0);
	/* Of equals the lower inode is first. */
	assert_string_equal(blame.worst[1].path, "/t\\xffo");
	assert_int_equal(blame.worst[1].ino, 12);
	assert_string_equal(blame.worst[2].path, "<inode 13>");
	assert_int_equal(blame.worst[2].seeks, 1);

	/* Another stream begins from nothing. */
	fl_blamer_start(blamer);
	fl_blamer_sum(blamer, &blame);
	assert_int_equal(blame.seeks, 0);
	assert_int_equal(blame.worst_count, 0);
	note(blamer, 10, 1);
	fl_blamer_sum(blamer, &blame);
	assert_int_equal(blame.seeks, 1);
	assert_int_equal(blame.owned, 0);
	fl_blamer_free(blamer);
	fl_map_free(map);
}

static void test_blame_names_ten(void **state)
{
	struct fl_map *map = lab_map(1024, 8000);
	struct fl_blamer *blamer;
	struct fl_blame blame;

	(void)state;
	for (uint32_t n = 0; n < 15; n++) {
		lab_file(map, 20 + n, FL_KIND_REGULAR, FL_NO_NAME);
		lab_extent(map, 0, 100 + n * 100, 40);
	}
	lab_finish(map);
	assert_int_equal(fl_blamer_new(map, &blamer), 0);
	fl_blamer_start(blamer);
	/* File n gets n % 12 + 1 seeks. */
	for (uint32_t n = 0; n < 15; n++)
		for (uint32_t i = 0; i <= n % 12; i++)
			note(blamer, 100 + n * 100 + i * 2, 1);
	fl_blamer_sum(blamer, &blame);
	assert_int_equal(blame.files, 15);
	assert_int_equal(blame.worst_count, FL_BLAMED);
	for (uint32_t i = 0; i < 9; i++) {
		assert_int_equal(blame.worst[i].ino, 20 + 11 - i);
		assert_int_equal(blame.worst[i].seeks, 12 - i);
	}
	assert_int_equal(blame.worst[9].seeks, 3); /* files 2 and 14 */
	assert_int_equal(blame.worst[9].ino, 22);
	fl_blamer_free(blamer);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_e4defrag_of_a_file),
		cmocka_unit_test(test_e4defrag_of_a_filesystem),
		cmocka_unit_test(test_the_worst_are_five),
		cmocka_unit_test(test_filefrag),
		cmocka_unit_test(test_e2fsck_extents),
		cmocka_unit_test(test_e2fsck_indirect),
		cmocka_unit_test(test_e2freefrag),
		cmocka_unit_test(test_blame),
		cmocka_unit_test(test_blame_names_ten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
