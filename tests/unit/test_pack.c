/* SPDX-License-Identifier: MIT */
/*
 * Tests of defrag's policies on synthetic aged disks: what each mode promises of the map that
 * its plan leads to, and that a second run finds nothing to do.
 */
#include "defrag/pack.h"
#include "frag/target.h"
#include "history_lab.h"

#include <fraglab/analyze.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

/* Orders a target and gives the map it leads to; cut: as defrag does. */
static struct fl_map *follow(const struct fl_map *map, struct fl_target *target, bool cut,
			     uint64_t *moved, uint64_t *left)
{
	struct fl_diag diag = {""};
	struct fl_map *after = NULL;
	struct fl_plan *plan = NULL;

	if (fl_target_finish(target, map, &diag) ||
	    fl_plan_order(map, target, NULL, &plan, &diag) ||
	    (cut && fl_plan_cut_losses(map, plan, &diag)) ||
	    fl_plan_predict(map, plan, &after, &diag))
		fail_msg("%s", diag.text);
	*moved = plan->moved_blocks;
	*left = plan->left_blocks;
	fl_plan_free(plan);
	fl_target_free(target);
	return after;
}

static struct fl_map *aged_map(const struct lab_disk *disk)
{
	struct frag_settings settings = {.months = 3, .seed = disk->seed};
	struct fl_target target = {0};
	struct fl_diag diag = {""};
	struct fl_map *fresh = NULL, *aged;
	uint64_t moved, left;

	assert_int_equal(lab_map(disk, &fresh), 0);
	if (frag_target(&settings, fresh, &target, &diag))
		fail_msg("%s", diag.text);
	aged = follow(fresh, &target, false, &moved, &left);
	fl_map_free(fresh);
	return aged;
}

static struct fl_map *packed_map(const struct fl_map *map, enum defrag_mode mode,
				 uint32_t threshold, uint64_t *moved, uint64_t *left)
{
	struct defrag_settings settings = {.mode = mode, .threshold = threshold};
	struct fl_target target = {0};
	struct fl_diag diag = {""};

	if (defrag_target(&settings, map, &target, &diag))
		fail_msg("%s", diag.text);
	return follow(map, &target, true, moved, left);
}

/* The files of the lab have no names, and so are not counted: counts all movable ones. */
static struct fl_metrics measure(const struct fl_map *map)
{
	struct fl_analyze_options options = {.workload_count = 0};
	struct fl_metrics metrics;
	assert_int_equal(fl_analyze(map, &options, &metrics), 0);
	for (size_t f = 0; f < map->files.count; f++) {
		const struct fl_file *file = &map->files.at[f];

		if (!fl_file_movable(file))
			continue;
		metrics.files.count++;
		metrics.files.fragments +=
			fl_fragments(map->extents.at + file->first_extent, file->extent_count);
	}
	return metrics;
}

static void check_full(const struct lab_disk *disk)
{
	struct fl_map *aged = aged_map(disk), *packed, *again;
	struct fl_metrics before = measure(aged), after;
	uint64_t moved, left;

	packed = packed_map(aged, DEFRAG_FULL, 0, &moved, &left);
	after = measure(packed);
	if (getenv("SHOW"))
		printf("%u %% full: fragments %llu -> %llu of %llu files, free extents %llu -> "
		       "%llu, largest %llu of %llu, moved %llu, left %llu\n",
		       disk->percent_full, (unsigned long long)before.files.fragments,
		       (unsigned long long)after.files.fragments,
		       (unsigned long long)after.files.count,
		       (unsigned long long)before.free.extents,
		       (unsigned long long)after.free.extents,
		       (unsigned long long)after.free.largest_bytes,
		       (unsigned long long)after.free.largest_possible_bytes,
		       (unsigned long long)moved, (unsigned long long)left);
	assert_int_equal(left, 0);
	assert_int_equal(after.files.fragments, after.files.count);
	assert_true(after.free.largest_bytes * 100 >= after.free.largest_possible_bytes * 95);
	assert_true(after.free.extents * 10 <= before.free.extents || after.free.extents <= 8);
	again = packed_map(packed, DEFRAG_FULL, 0, &moved, &left);
	assert_int_equal(moved, 0);
	fl_map_free(again);
	fl_map_free(packed);
	fl_map_free(aged);
}

static void full_makes_files_whole_and_free_space_one(void **state)
{
	(void)state;
	for (uint32_t percent = 20; percent <= 90; percent += 10) {
		struct lab_disk disk = {.blocks = 65536,
					.block_bytes = 4096,
					.per_group = 32768,
					.percent_full = percent,
					.seed = percent,
					.most_blocks = 4000};

		check_full(&disk);
		disk.indirect = true;
		disk.block_bytes = 1024;
		disk.per_group = 8192;
		disk.most_blocks = 1000;
		check_full(&disk);
	}
}

static void files_mode_moves_only_files_in_pieces(void **state)
{
	struct lab_disk disk = {.blocks = 65536,
				.block_bytes = 4096,
				.per_group = 32768,
				.percent_full = 60,
				.seed = 3,
				.most_blocks = 1000};
	struct fl_map *aged = aged_map(&disk), *packed;
	struct fl_metrics before = measure(aged), after;
	uint64_t moved, left;

	(void)state;
	packed = packed_map(aged, DEFRAG_FILES, 0, &moved, &left);
	after = measure(packed);
	assert_int_equal(left, 0);
	assert_true(after.files.fragments < before.files.fragments);
	for (size_t f = 0; f < aged->files.count; f++) {
		const struct fl_file *old = &aged->files.at[f], *new = &packed->files.at[f];
		uint64_t fragments =
			fl_fragments(aged->extents.at + old->first_extent, old->extent_count);
		uint64_t now =
			fl_fragments(packed->extents.at + new->first_extent, new->extent_count);

		assert_true(now <= fragments);
		if (fragments == 1)
			assert_int_equal(aged->extents.at[old->first_extent].pblk,
					 packed->extents.at[new->first_extent].pblk);
	}
	fl_map_free(packed);
	fl_map_free(aged);
}

static void check_one_run(const struct lab_disk *disk)
{
	struct fl_map *aged = aged_map(disk), *packed, *again;
	uint64_t moved, left;

	packed = packed_map(aged, DEFRAG_FILES, 0, &moved, &left);
	assert_int_equal(left, 0);
	again = packed_map(packed, DEFRAG_FILES, 0, &moved, &left);
	assert_int_equal(moved, 0);
	fl_map_free(again);
	fl_map_free(packed);
	fl_map_free(aged);
}

static void files_mode_is_done_in_one_run(void **state)
{
	struct lab_disk disk = {.blocks = 65536, .block_bytes = 4096, .per_group = 32768};

	(void)state;
	for (disk.seed = 1; disk.seed < 6; disk.seed++) {
		disk.percent_full = 50 + 8 * (uint32_t)disk.seed;
		check_one_run(&disk);
	}
	/* Round after round gains a little here, with no end in sight: full mode takes over. */
	disk.most_blocks = 1000;
	disk.percent_full = 91;
	check_one_run(&disk);
	disk.percent_full = 94;
	disk.seed = 12;
	check_one_run(&disk);
}

static void free_mode_consolidates_without_more_fragments(void **state)
{
	struct lab_disk disk = {.blocks = 65536,
				.block_bytes = 4096,
				.per_group = 32768,
				.percent_full = 60,
				.seed = 4,
				.most_blocks = 1000};
	struct fl_map *aged = aged_map(&disk), *packed, *again;
	struct fl_metrics before = measure(aged), after;
	uint64_t moved, left;

	(void)state;
	packed = packed_map(aged, DEFRAG_FREE, 0, &moved, &left);
	after = measure(packed);
	assert_int_equal(left, 0);
	assert_true(after.files.fragments <= before.files.fragments);
	assert_true(after.free.largest_bytes * 100 >= after.free.largest_possible_bytes * 95);
	assert_true(after.free.extents * 10 <= before.free.extents);
	again = packed_map(packed, DEFRAG_FREE, 0, &moved, &left);
	assert_int_equal(moved, 0);
	fl_map_free(again);
	fl_map_free(packed);
	fl_map_free(aged);
}

static void threshold_leaves_mildly_broken_files(void **state)
{
	struct lab_disk disk = {.blocks = 32768,
				.block_bytes = 4096,
				.per_group = 32768,
				.percent_full = 50,
				.seed = 5,
				.most_blocks = 1000};
	struct fl_map *aged = aged_map(&disk), *packed;
	uint64_t moved, left;

	(void)state;
	packed = packed_map(aged, DEFRAG_FILES, 3, &moved, &left);
	for (size_t f = 0; f < aged->files.count; f++) {
		const struct fl_file *old = &aged->files.at[f], *new = &packed->files.at[f];
		uint64_t fragments =
			fl_fragments(aged->extents.at + old->first_extent, old->extent_count);

		if (fragments > 1 && fragments <= 3)
			assert_int_equal(aged->extents.at[old->first_extent].pblk,
					 packed->extents.at[new->first_extent].pblk);
	}
	fl_map_free(packed);
	fl_map_free(aged);
}

/* Nearly full: all is done with 1 % free, and nothing gets worse with less. */
static void full_disks_go_on(void **state)
{
	(void)state;
	for (uint64_t spare = 8; spare <= 512; spare *= 4)
		for (int kind = 0; kind < 2; kind++) {
			struct lab_disk disk = {.blocks = 65536,
						.block_bytes = 4096,
						.per_group = 32768,
						.percent_full = 100,
						.spare_blocks = spare,
						.indirect = kind,
						.seed = spare,
						.most_blocks = 3000};
			struct fl_map *aged = aged_map(&disk), *packed;
			struct fl_metrics before = measure(aged), after;
			uint64_t moved, left;

			packed = packed_map(aged, DEFRAG_FULL, 0, &moved, &left);
			after = measure(packed);
			if (getenv("SHOW"))
				printf("%llu spare, kind %d: fragments %llu -> %llu, moved %llu, "
				       "left %llu\n",
				       (unsigned long long)spare, kind,
				       (unsigned long long)before.files.fragments,
				       (unsigned long long)after.files.fragments,
				       (unsigned long long)moved, (unsigned long long)left);
			assert_true(after.files.fragments <= before.files.fragments);
			if (spare >= 512)
				assert_int_equal(after.files.fragments, after.files.count);
			fl_map_free(packed);
			fl_map_free(aged);
		}
}

/* Of files whose beginning moves and that have a mapping tree then: it is read on the way. */
static void count_trees(const struct fl_map *before, const struct fl_map *after, size_t *count,
			size_t *joined)
{
	for (size_t f = 0; f < after->files.count; f++) {
		const struct fl_file *was = &before->files.at[f], *is = &after->files.at[f];
		fl_pblk at;

		if (!is->tree_count)
			continue;
		at = after->extents.at[is->first_extent].pblk;
		if (before->extents.at[was->first_extent].pblk == at)
			continue;
		++*count;
		*joined += after->trees.at[is->first_tree] + is->tree_count == at;
	}
}

/* Of so much of the whole way, the moves that save most: more than their share, and never more. */
static void a_budget_goes_where_it_saves_most(void **state)
{
	size_t trees = 0, joined = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		/* The last ones are 92 and 98 % full. */
		struct lab_disk disk = {.blocks = 65536,
					.block_bytes = 4096,
					.per_group = 32768,
					.percent_full = 50 + 6 * (uint32_t)seed,
					.seed = seed};
		struct fl_map *aged = aged_map(&disk);
		struct defrag_settings settings = {.mode = DEFRAG_FULL, .threshold = 1};
		uint64_t before = measure(aged).files.fragments, gain[2], moved[2], left;

		for (int i = 0; i < 2; i++) {
			struct fl_target target = {0};
			struct fl_diag diag = {""};
			struct fl_map *after;

			if (defrag_target(&settings, aged, &target, &diag))
				fail_msg("%s", diag.text);
			after = follow(aged, &target, true, &moved[i], &left);
			gain[i] = before - measure(after).files.fragments;
			if (i)
				count_trees(aged, after, &trees, &joined);
			fl_map_free(after);
			settings.max_bytes = moved[0] / 4 * aged->geo.block_bytes;
		}
		if (getenv("SHOW"))
			printf("%u %% full: of %llu blocks %llu, of %llu fragments %llu, of %zu "
			       "trees %zu joined\n",
			       disk.percent_full, (unsigned long long)moved[0],
			       (unsigned long long)moved[1], (unsigned long long)gain[0],
			       (unsigned long long)gain[1], trees, joined);
		assert_true(moved[1] <= moved[0] / 4);
		assert_true(moved[1] >= moved[0] / 4 * 95 / 100);
		assert_true(10 * gain[1] >= 8 * gain[0]);
		fl_map_free(aged);
	}
	assert_true(trees && 4 * joined >= 3 * trees);
}

/* The moves of a way to a target, and the blocks that they copy. */
static size_t order_moves(const struct fl_map *map, const struct fl_target *target, uint64_t *moved,
			  uint64_t *needed)
{
	struct fl_diag diag = {""};
	struct fl_plan *plan;
	size_t moves;

	if (fl_plan_order(map, target, NULL, &plan, &diag))
		fail_msg("%s", diag.text);
	assert_int_equal(plan->left_blocks, 0);
	*moved = plan->moved_blocks;
	*needed = plan->needed_blocks;
	moves = plan->moves.count;
	fl_plan_free(plan);
	return moves;
}

/*
 * A way that is to be fast takes fewer requests for some blocks that are copied twice; one that is
 * sparing copies hardly any twice.
 */
static void a_fast_way_takes_fewer_requests(void **state)
{
	size_t fast_all = 0, sparing_all = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct lab_disk disk = {.blocks = 131072,
					.block_bytes = 4096,
					.per_group = 32768,
					.percent_full = 55 + 5 * (uint32_t)seed,
					.seed = seed};
		struct defrag_settings settings = {.mode = DEFRAG_FULL, .threshold = 1};
		struct fl_map *aged = aged_map(&disk);
		struct fl_target target = {0};
		struct fl_diag diag = {""};
		uint64_t moved, needed;

		if (defrag_target(&settings, aged, &target, &diag) ||
		    fl_target_finish(&target, aged, &diag))
			fail_msg("%s", diag.text);
		fast_all += order_moves(aged, &target, &moved, &needed);
		assert_true(moved * 100 <= needed * 105);
		target.sparing = true;
		sparing_all += order_moves(aged, &target, &moved, &needed);
		assert_true(moved * 1000 <= needed * 1005);
		fl_target_free(&target);
		fl_map_free(aged);
	}
	assert_true(fast_all * 100 < sparing_all * 80);
}

/* A budget is spent in parts, of which one alone may hold no move. */
static void a_small_budget_is_spent(void **state)
{
	struct lab_disk disk = {.blocks = 65536,
				.block_bytes = 4096,
				.per_group = 32768,
				.percent_full = 60,
				.seed = 1};
	struct fl_map *aged = aged_map(&disk);

	(void)state;
	/* No fragment there has fewer. */
	for (uint64_t blocks = 8; blocks <= 40; blocks++) {
		struct defrag_settings settings = {.mode = DEFRAG_FILES,
						   .threshold = 1,
						   .max_bytes = blocks * aged->geo.block_bytes};
		struct fl_target target = {0};
		struct fl_diag diag = {""};
		uint64_t moved, left;

		if (defrag_target(&settings, aged, &target, &diag))
			fail_msg("%s", diag.text);
		fl_map_free(follow(aged, &target, true, &moved, &left));
		assert_in_range(moved, blocks * 3 / 4, blocks);
	}
	fl_map_free(aged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_makes_files_whole_and_free_space_one),
		cmocka_unit_test(files_mode_moves_only_files_in_pieces),
		cmocka_unit_test(files_mode_is_done_in_one_run),
		cmocka_unit_test(free_mode_consolidates_without_more_fragments),
		cmocka_unit_test(threshold_leaves_mildly_broken_files),
		cmocka_unit_test(full_disks_go_on),
		cmocka_unit_test(a_budget_goes_where_it_saves_most),
		cmocka_unit_test(a_fast_way_takes_fewer_requests),
		cmocka_unit_test(a_small_budget_is_spent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
