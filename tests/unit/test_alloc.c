/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of the allocator model: where runs are found, and that nothing is ever
 * given twice. Must not depend on which of several equal places is chosen.
 */
#include <fraglab/alloc.h>
#include <fraglab/blockset.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#define GROUP 1000u

static struct fl_geometry geometry(uint64_t blocks, uint32_t first, uint32_t flex)
{
	return (struct fl_geometry){
		.block_bytes = 1024,
		.blocks = blocks,
		.first_data_block = first,
		.blocks_per_group = GROUP,
		.groups = (uint32_t)fl_div_up(blocks - first, GROUP),
		.flex_groups = flex,
		.cluster_blocks = 1,
		.inodes_per_group = 100,
		.inode_bytes = 256,
	};
}

static struct fl_alloc *new_alloc(uint64_t blocks, const struct fl_run *slots, size_t count)
{
	struct fl_geometry geo = geometry(blocks, 1, 1);
	struct fl_alloc *alloc;

	assert_int_equal(fl_alloc_new(&geo, slots, count, &alloc), 0);
	return alloc;
}

static void expect(struct fl_alloc *alloc, fl_pblk goal, uint64_t want, fl_pblk start, uint64_t len)
{
	struct fl_run run;

	assert_int_equal(fl_alloc_take(alloc, goal, want, &run), 0);
	assert_int_equal(run.start, start);
	assert_int_equal(run.len, len);
}

static void goal_comes_first(void **state)
{
	const struct fl_run slots[] = {{10, 5}, {20, 50}, {100, 3}};
	struct fl_alloc *alloc = new_alloc(1001, slots, 3);

	(void)state;
	assert_int_equal(fl_alloc_free_blocks(alloc), 58);
	expect(alloc, 30, 4, 30, 4);   /* in the middle of a run */
	expect(alloc, 34, 36, 34, 36); /* up to its end */
	assert_int_equal(fl_alloc_free_blocks(alloc), 18);
	fl_alloc_free(alloc);
}

/* Group 0 begins with block 1: buddies are aligned to that. */
static void best_fit_in_whole_buddies(void **state)
{
	const struct fl_run slots[] = {{9, 8}, {33, 6}, {101, 4}, {199, 3}};
	struct fl_alloc *alloc = new_alloc(1001, slots, 4);

	(void)state;
	expect(alloc, 500, 5, 33, 5);  /* 4 + 2 blocks are the shortest that hold 5 */
	expect(alloc, 500, 4, 101, 4); /* a power of two: the smallest buddy, not half of 8 */
	expect(alloc, 500, 3, 199, 3); /* exactly, though 2 + 1 buddies */
	expect(alloc, 500, 4, 9, 4);
	expect(alloc, 1, 1, 38, 1);
	fl_alloc_free(alloc);
}

static void following_groups_then_round(void **state)
{
	/* Groups 0, 1, 3 and 5; the average run of group 3 is too short for 40. */
	const struct fl_run slots[] = {{1, 60},	  {1001, 2}, {3001, 45},
				       {3100, 1}, {3200, 1}, {5001, 40}};
	struct fl_alloc *alloc = new_alloc(6001, slots, 6);

	(void)state;
	expect(alloc, 1500, 40, 5001, 40); /* group 3 fits, group 5 fits on average */
	expect(alloc, 1500, 40, 1, 40);	   /* 60 in one run, before group 3's 47 in three */
	expect(alloc, 1500, 40, 3001, 40);
	expect(alloc, 4500, 40, 41, 20); /* nothing fits: the longest */
	fl_alloc_free(alloc);
}

static void a_run_stays_in_its_group(void **state)
{
	const struct fl_run slots[] = {{1, 3000}};
	struct fl_alloc *alloc = new_alloc(3001, slots, 1);
	struct fl_run run;

	(void)state;
	expect(alloc, 1001, 5000, 1001, 1000);
	expect(alloc, 901, 200, 769, 200); /* 128 + 64 + 32 blocks are the best fit */
	assert_int_equal(fl_alloc_take(alloc, 1, 0, &run), FL_EINVAL);
	fl_alloc_free(alloc);
}

static void full_is_no_room(void **state)
{
	const struct fl_run slots[] = {{7, 2}};
	struct fl_alloc *alloc = new_alloc(2500, slots, 1);
	struct fl_run run = {.start = 99, .len = 77};

	(void)state;
	expect(alloc, 2499, 9, 7, 2); /* the last group is a partial one */
	assert_int_equal(fl_alloc_free_blocks(alloc), 0);
	for (int hint = FL_ALLOC_NEAR; hint <= FL_ALLOC_STREAM; hint++)
		assert_int_equal(fl_alloc_take_as(alloc, (enum fl_alloc_hint)hint, 7, 1, &run),
				 FL_ENOROOM);
	assert_int_equal(run.start, 99);
	assert_int_equal(run.len, 77);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){2490, 10}), 0);
	expect(alloc, UINT64_MAX, 10, 2490, 10); /* a goal off the disk is group 0 */
	fl_alloc_free(alloc);
}

static void misuse_is_refused(void **state)
{
	const struct fl_run slots[] = {{10, 10}};
	const struct fl_run twice[] = {{10, 10}, {15, 1}};
	struct fl_geometry geo = geometry(2001, 1, 1);
	struct fl_alloc *alloc = new_alloc(2001, slots, 1), *none = NULL;

	(void)state;
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){9, 2}), FL_EINVAL);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){19, 1}), FL_EINVAL);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){0, 1}), FL_EINVAL);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){2000, 2}), FL_EINVAL);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){30, 0}), FL_EINVAL);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){UINT64_MAX, 2}), FL_EINVAL);
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){19, 2}), FL_EINVAL);
	assert_int_equal(fl_alloc_free_blocks(alloc), 10);
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){12, 3}), 0);
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){14, 1}), FL_EINVAL);
	assert_int_equal(fl_alloc_free_blocks(alloc), 7);
	assert_int_equal(fl_alloc_new(&geo, twice, 2, &none), FL_EINVAL);
	assert_null(none);
	fl_alloc_free(alloc);
	fl_alloc_free(NULL);
}

static void give_joins(void **state)
{
	const struct fl_run slots[] = {{1, 1000}};
	struct fl_alloc *alloc = new_alloc(1001, slots, 1);

	(void)state;
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){1, 1000}), 0);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){100, 64}), 0);
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){228, 64}), 0);
	expect(alloc, 1, 65, 100, 64); /* the bound of the group is now exact */
	assert_int_equal(fl_alloc_give(alloc, (struct fl_run){100, 128}), 0);
	expect(alloc, 1, 192, 100, 192);
	fl_alloc_free(alloc);
}

static fl_pblk write_some(struct fl_alloc *alloc, uint32_t *ahead, struct fl_alloc_file file,
			  uint64_t want)
{
	struct fl_run run;

	assert_int_equal(fl_alloc_write(alloc, ahead, &file, want, &run), 0);
	assert_int_equal(run.len, want);
	return run.start;
}

static void small_files_share_a_window(void **state)
{
	const struct fl_run slots[] = {{1, 2000}};
	struct fl_alloc *alloc = new_alloc(2001, slots, 1);
	struct fl_alloc_file file = {.ino = 1, .goal = 1001, .small = true};
	fl_pblk next = 1001;
	uint32_t ahead = 0;

	(void)state;
	for (uint64_t len = 1; len <= 15; len++) {
		assert_int_equal(write_some(alloc, &ahead, file, len), next);
		next += len;
		/* The goal counts for the window only. */
		file.goal = 1;
	}
	assert_int_equal(ahead, 0);
	/* The window is closed to others, but not counted as used. */
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){next, 1}), FL_EINVAL);
	assert_int_equal(fl_alloc_free_blocks(alloc), 2000 - 120);
	/* A new one where the goal is; what is left of the old one waits for who fits. */
	for (int i = 0; i < 26; i++)
		(void)write_some(alloc, &ahead, file, 15);
	assert_int_equal(write_some(alloc, &ahead, file, 15), 1);
	assert_int_equal(write_some(alloc, &ahead, file, 2), 16);
	file.goal = 1001;
	assert_int_equal(write_some(alloc, &ahead, file, 2), 1511);
	fl_alloc_free(alloc);
}

/* 20 blocks of 1 KiB are the beginning of 32 KiB, as long as the file is open. */
static void an_open_file_keeps_its_window(void **state)
{
	const struct fl_run slots[] = {{1, 256}};
	struct fl_alloc *alloc = new_alloc(1001, slots, 1);
	struct fl_alloc_file file = {.ino = 1, .goal = 1, .open = true};
	struct fl_alloc_file other = {.ino = 2, .goal = 1};
	uint32_t ahead = 0, none = 0;
	fl_pblk first;

	(void)state;
	first = write_some(alloc, &ahead, file, 20);
	assert_int_not_equal(ahead, 0);
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){first + 31, 1}), FL_EINVAL);
	assert_int_equal(fl_alloc_free_blocks(alloc), 236);
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){first + 50, 1}), 0);
	file.blocks = 20;
	file.goal = first + 20;
	assert_int_equal(write_some(alloc, &ahead, file, 5), first + 20);
	assert_int_equal(fl_alloc_close(alloc, &ahead), 0);
	assert_int_equal(ahead, 0);
	/* Closed: another one gets exactly what it needs, and nothing is kept. */
	(void)write_some(alloc, &none, other, 17);
	assert_int_equal(none, 0);
	/* Open again: on at its end, when all of the window is free there; to 64 KiB now. */
	file.blocks = 25;
	file.goal = first + 25;
	assert_int_not_equal(write_some(alloc, &ahead, file, 10), first + 25);
	fl_alloc_free(alloc);
}

static void deleted_blocks_wait_for_the_commit(void **state)
{
	const struct fl_run slots[] = {{1, 100}};
	struct fl_alloc *alloc = new_alloc(1001, slots, 1);
	struct fl_alloc_file file = {.ino = 1, .goal = 1, .small = true};
	uint32_t ahead = 0;
	struct fl_run run;

	(void)state;
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){1, 100}), 0);
	assert_int_equal(fl_alloc_delete(alloc, (struct fl_run){1, 10}), 0);
	assert_int_equal(fl_alloc_delete(alloc, (struct fl_run){51, 10}), 0);
	assert_int_equal(fl_alloc_free_blocks(alloc), 20);
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){1, 1}), FL_EINVAL);
	/* Nothing else is there: it does not wait for that. */
	assert_int_equal(write_some(alloc, &ahead, file, 10), 1);
	assert_int_equal(fl_alloc_free_blocks(alloc), 10);
	assert_int_equal(fl_alloc_delete(alloc, (struct fl_run){91, 10}), 0);
	assert_int_equal(fl_alloc_commit(alloc), 0);
	/* What is left of the window is given up for who needs it. */
	assert_int_equal(fl_alloc_take(alloc, 1, 20, &run), 0);
	assert_int_equal(fl_alloc_take(alloc, 1, 20, &run), 0);
	assert_int_equal(fl_alloc_free_blocks(alloc), 0);
	assert_int_equal(fl_alloc_take(alloc, 1, 1, &run), FL_ENOROOM);
	assert_int_equal(fl_alloc_delete(alloc, (struct fl_run){1, 10}), 0);
	assert_int_equal(fl_alloc_delete(alloc, (struct fl_run){1, 10}), 0);
	assert_int_equal(fl_alloc_commit(alloc), FL_EINVAL);
	fl_alloc_free(alloc);
}

static void streams_go_on(void **state)
{
	const struct fl_run slots[] = {{1, 3000}};
	struct fl_alloc *alloc = new_alloc(3001, slots, 1);
	struct fl_run run;

	(void)state;
	assert_int_equal(fl_alloc_take_as(alloc, FL_ALLOC_STREAM, 2001, 20, &run), 0);
	assert_int_equal(run.start, 2001);
	/* The goal is taken: on in the group of the last one, not in the goal's. */
	assert_int_equal(fl_alloc_claim(alloc, (struct fl_run){5, 1}), 0);
	assert_int_equal(fl_alloc_take_as(alloc, FL_ALLOC_STREAM, 5, 20, &run), 0);
	assert_in_range(run.start, 2001, 3000);
	assert_int_equal(fl_alloc_take_as(alloc, FL_ALLOC_NEAR, 5, 20, &run), 0);
	assert_in_range(run.start, 1, 1000);
	fl_alloc_free(alloc);
}

static void goals_of_inodes(void **state)
{
	struct fl_geometry geo = geometry(20001, 1, 1);
	struct fl_alloc *alloc;

	(void)state;
	assert_int_equal(fl_alloc_new(&geo, NULL, 0, &alloc), 0);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 1, false), 1);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 100, true), 1);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 101, false), 1001);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 2000, false), 19001);
	fl_alloc_free(alloc);
	geo.flex_groups = 16;
	assert_int_equal(fl_alloc_new(&geo, NULL, 0, &alloc), 0);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 1501, true), 1);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 1501, false), 1001);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 1601, true), 16001);
	assert_int_equal(fl_alloc_goal_of_inode(alloc, 2000, false), 17001);
	fl_alloc_free(alloc);
}

static uint64_t seed_of_run(void)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	printf("SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

static uint32_t count_runs(const struct fl_blockset *set, uint64_t end)
{
	struct fl_run run;
	uint32_t runs = 0;

	for (fl_pblk pos = 0; fl_blockset_next_run(set, pos, end, &run); pos = fl_run_end(run))
		runs++;
	return runs;
}

/* An allocator, and the plain set that it is held against. */
static void open_both(const struct fl_geometry *geo, const struct fl_run *slots, size_t count,
		      struct fl_alloc **alloc, struct fl_blockset **set)
{
	assert_int_equal(fl_alloc_new(geo, slots, count, alloc), 0);
	assert_int_equal(fl_blockset_new(geo->blocks, set), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(fl_blockset_add(*set, slots[i].start, slots[i].len), 0);
}

/* Against a plain set: what is taken was free, what fits somewhere is not cut. */
static void random_against_a_set(void **state)
{
	FL_ARRAY(struct fl_run) held = {0};
	struct fl_geometry geo = geometry(13700, 1, 4);
	const struct fl_run slots[] = {{5, 3000}, {3100, 1}, {3600, 10000}};
	struct fl_alloc *alloc;
	struct fl_blockset *set;
	struct fl_rng rng;
	struct fl_run run;

	(void)state;
	fl_rng_seed(&rng, seed_of_run());
	open_both(&geo, slots, 3, &alloc, &set);
	for (int i = 0; i < 20000; i++) {
		uint64_t most = (uint64_t)1 << fl_rng_below(&rng, 11);
		uint64_t want = 1 + fl_rng_below(&rng, most);
		fl_pblk goal = fl_rng_below(&rng, geo.blocks + 100), block;

		if (held.count && fl_rng_chance(&rng, held.count, 900)) {
			size_t victim = (size_t)fl_rng_below(&rng, held.count);

			run = held.at[victim];
			held.at[victim] = held.at[--held.count];
			assert_int_equal(fl_alloc_give(alloc, run), 0);
			assert_int_equal(fl_blockset_add(set, run.start, run.len), 0);
		} else if (fl_blockset_count(set) == 0) {
			assert_int_equal(fl_alloc_take(alloc, goal, want, &run), FL_ENOROOM);
		} else {
			enum fl_alloc_hint hint = (enum fl_alloc_hint)fl_rng_below(&rng, 2);
			uint32_t runs = count_runs(set, geo.blocks);

			assert_int_equal(fl_alloc_take_as(alloc, hint, goal, want, &run), 0);
			assert_in_range(run.len, 1, want);
			assert_false(
				fl_blockset_find(set, run.start, fl_run_end(run), false, &block));
			assert_int_equal(fl_group_of(&geo, run.start),
					 fl_group_of(&geo, fl_run_end(run) - 1));
			/* Cut short only when no group has so many in a row, or many runs. */
			for (uint32_t g = 0; runs <= 150 && run.len < want && g < geo.groups; g++) {
				struct fl_run free_run;
				fl_pblk end = fl_group_end(&geo, g);

				for (fl_pblk pos = fl_group_first(&geo, g);
				     fl_blockset_next_run(set, pos, end, &free_run);
				     pos = fl_run_end(free_run))
					assert_true(free_run.len < fl_min(want, GROUP));
			}
			assert_int_equal(fl_blockset_remove(set, run.start, run.len), 0);
			assert_int_equal(fl_array_push(&held, run), 0);
		}
		assert_int_equal(fl_alloc_free_blocks(alloc), fl_blockset_count(set));
	}
	fl_array_free(&held);
	fl_blockset_free(set);
	fl_alloc_free(alloc);
}

/* Files that are written, closed and deleted: no block is given twice, and none gets lost. */
static void random_writes_against_a_set(void **state)
{
	enum { FILES = 40 };
	struct {
		struct fl_alloc_file file;
		uint32_t ahead;
		FL_ARRAY(struct fl_run) runs;
	} files[FILES] = {{.ahead = 0}};
	struct fl_geometry geo = geometry(22000, 1, 4);
	const struct fl_run slots[] = {{5, 3000}, {3100, 1}, {3600, 18000}};
	uint64_t used = 0;
	struct fl_alloc *alloc;
	struct fl_blockset *set;
	struct fl_rng rng;
	struct fl_run run;

	(void)state;
	fl_rng_seed(&rng, seed_of_run());
	open_both(&geo, slots, 3, &alloc, &set);
	for (int i = 0; i < 30000; i++) {
		size_t f = (size_t)fl_rng_below(&rng, FILES);
		struct fl_alloc_file *file = &files[f].file;
		uint64_t what = fl_rng_below(&rng, 10);
		uint64_t want = 1 + fl_rng_below(&rng, (uint64_t)1 << fl_rng_below(&rng, 9));

		if (what == 0 || fl_alloc_free_blocks(alloc) < want) {
			assert_int_equal(fl_alloc_close(alloc, &files[f].ahead), 0);
			for (size_t k = 0; k < files[f].runs.count; k++) {
				run = files[f].runs.at[k];
				assert_int_equal(fl_alloc_delete(alloc, run), 0);
				assert_int_equal(fl_blockset_add(set, run.start, run.len), 0);
				used -= run.len;
			}
			files[f].runs.count = 0;
			*file = (struct fl_alloc_file){.ino = (fl_ino)f, .goal = f * 500};
		} else if (what == 1) {
			assert_int_equal(fl_alloc_close(alloc, &files[f].ahead), 0);
			file->open = false;
		} else if (what == 2) {
			assert_int_equal(fl_alloc_commit(alloc), 0);
		} else {
			file->open |= what > 4;
			file->small = file->blocks + want <= FL_ALLOC_SMALL_BLOCKS;
			assert_int_equal(fl_alloc_write(alloc, &files[f].ahead, file, want, &run),
					 0);
			assert_in_range(run.len, 1, want);
			/* Whose blocks they are: nobody's, or they were deleted. */
			assert_int_equal(fl_blockset_remove(set, run.start, run.len), 0);
			assert_int_equal(fl_array_push(&files[f].runs, run), 0);
			file->blocks += run.len;
			file->goal = fl_run_end(run);
			used += run.len;
		}
		assert_int_equal(fl_alloc_free_blocks(alloc), 21001 - used);
		assert_int_equal(fl_blockset_count(set), 21001 - used);
	}
	for (size_t f = 0; f < FILES; f++)
		fl_array_free(&files[f].runs);
	fl_blockset_free(set);
	fl_alloc_free(alloc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(goal_comes_first),
		cmocka_unit_test(best_fit_in_whole_buddies),
		cmocka_unit_test(following_groups_then_round),
		cmocka_unit_test(a_run_stays_in_its_group),
		cmocka_unit_test(full_is_no_room),
		cmocka_unit_test(misuse_is_refused),
		cmocka_unit_test(give_joins),
		cmocka_unit_test(small_files_share_a_window),
		cmocka_unit_test(an_open_file_keeps_its_window),
		cmocka_unit_test(deleted_blocks_wait_for_the_commit),
		cmocka_unit_test(random_writes_against_a_set),
		cmocka_unit_test(streams_go_on),
		cmocka_unit_test(goals_of_inodes),
		cmocka_unit_test(random_against_a_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
