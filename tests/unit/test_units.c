/* SPDX-License-Identifier: MIT */
/*
 * Clusters: the map of units and the way back, by hand and with random layouts that go through a
 * whole plan.
 */
#include <fraglab/plan.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "frag/target.h"

#define RATIO 16u

static struct fl_map *new_map(uint64_t clusters)
{
	const struct fl_geometry geo = {
		.block_bytes = 1024,
		.blocks = clusters * RATIO,
		.blocks_per_group = 8192 * RATIO,
		.groups = 1,
		.flex_groups = 1,
		.cluster_blocks = RATIO,
		.inodes_per_group = 1024,
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

static struct fl_file *begin_file(struct fl_map *map)
{
	struct fl_file file = {.ino = 12 + (fl_ino)map->files.count,
			       .name = FL_NO_NAME,
			       .path_rank = (uint32_t)map->files.count,
			       .listing_rank = (uint32_t)map->files.count,
			       .first_extent = map->extents.count,
			       .first_tree = map->trees.count};

	assert_int_equal(fl_array_push(&map->files, file), 0);
	return &map->files.at[map->files.count - 1];
}

static void add_extent(struct fl_map *map, fl_lblk lblk, fl_pblk pblk, uint32_t len, bool unwritten)
{
	struct fl_extent extent = {pblk, lblk, len, unwritten};
	struct fl_file *file = &map->files.at[map->files.count - 1];

	assert_int_equal(fl_array_push(&map->extents, extent), 0);
	file->extent_count++;
	file->blocks += len;
}

static void add_tree(struct fl_map *map, fl_pblk block)
{
	assert_int_equal(fl_array_push(&map->trees, block), 0);
	map->files.at[map->files.count - 1].tree_count++;
}

static void assert_extent(const struct fl_extent *e, fl_lblk lblk, fl_pblk pblk, uint32_t len,
			  bool unwritten)
{
	assert_int_equal(e->lblk, lblk);
	assert_int_equal(e->pblk, pblk);
	assert_int_equal(e->len, len);
	assert_int_equal(e->unwritten, unwritten);
}

/* Two files: one with several extents in a cluster, one that crosses clusters. */
static struct fl_map *two_files(void)
{
	struct fl_map *map = new_map(40);

	add_fixed(map, 0, 3);
	add_fixed(map, 5, 20); /* ends in the middle of cluster 1 */
	begin_file(map);
	add_extent(map, 0, 160, 2, false);
	add_extent(map, 3, 163, 1, true);
	add_extent(map, 9, 169, 1, false);
	add_extent(map, 32, 192, 16, true);
	add_extent(map, 50, 338, 30, false);
	add_tree(map, 480);
	begin_file(map);
	add_extent(map, 5, 405, 40, false);
	return map;
}

static void test_to_units(void **state)
{
	struct fl_map *map = two_files(), *units;
	const struct fl_extent *e;

	(void)state;
	assert_int_equal(fl_map_finish(map, NULL), 0);
	/* Clusters 0, 1, 10, 12, 21, 22, 25..27 and 30 are taken. */
	assert_int_equal(map->free_blocks, (40 - 10) * RATIO);
	assert_int_equal(fl_file_room(map, &map->files.at[0]), 4 * RATIO);
	assert_int_equal(fl_file_fragments(map, &map->files.at[0]), 3);
	assert_int_equal(fl_map_units(map, &units, NULL), 0);
	assert_int_equal(units->geo.block_bytes, 1024 * RATIO);
	assert_int_equal(units->geo.blocks, 40);
	assert_int_equal(units->free_blocks, 30);
	assert_int_equal(units->fixed.count, 1);
	assert_int_equal(units->fixed.at[0].len, 2);
	assert_int_equal(units->files.at[0].blocks, 4);
	assert_int_equal(units->files.at[0].extent_count, 3);
	e = units->extents.at + units->files.at[0].first_extent;
	assert_extent(&e[0], 0, 10, 1, false);
	assert_extent(&e[1], 2, 12, 1, true);
	assert_extent(&e[2], 3, 21, 2, false);
	assert_int_equal(units->trees.at[0], 30);
	assert_int_equal(units->groups.count, 0);
	e = units->extents.at + units->files.at[1].first_extent;
	assert_extent(&e[0], 0, 25, 3, false);
	fl_map_free(units);
	fl_map_free(map);
}

static void test_expand(void **state)
{
	const struct fl_extent there[] = {{7, 0, 1, false}, {3, 2, 2, true}, {20, 4, 1, false}};
	struct fl_map *map = two_files(), *units;
	struct fl_extents out = {0};
	uint64_t tree;

	(void)state;
	assert_int_equal(fl_map_finish(map, NULL), 0);
	assert_int_equal(fl_map_units(map, &units, NULL), 0);
	assert_int_equal(fl_units_expand(units, 0, there, 3, &out), 0);
	assert_int_equal(out.count, 6);
	assert_extent(&out.at[0], 0, 7 * RATIO, 2, false);
	assert_extent(&out.at[1], 3, 7 * RATIO + 3, 1, true);
	assert_extent(&out.at[2], 9, 7 * RATIO + 9, 1, false);
	assert_extent(&out.at[3], 32, 3 * RATIO, 16, true);
	assert_extent(&out.at[4], 50, 4 * RATIO + 2, 14, false);
	assert_extent(&out.at[5], 64, 20 * RATIO, 16, false);
	/* Six extents do not fit the inode. */
	assert_int_equal(fl_map_tree_blocks(units, 0, there, 3, &tree), 0);
	assert_int_equal(tree, 1);
	/* A cluster without a place. */
	out.count = 0;
	assert_int_equal(fl_units_expand(units, 0, there, 2, &out), FL_EPLAN);
	fl_array_free(&out);
	fl_map_free(units);
	fl_map_free(map);
}

static void refuse(struct fl_map *map, const char *words)
{
	struct fl_map *units = NULL;
	struct fl_diag diag = {{0}};

	assert_int_equal(fl_map_finish(map, NULL), 0);
	assert_int_equal(fl_map_units(map, &units, &diag), FL_EDAMAGED);
	assert_non_null(strstr(diag.text, words));
	assert_null(units);
	fl_map_free(map);
}

static void test_damage(void **state)
{
	struct fl_map *map = new_map(40);

	(void)state;
	begin_file(map);
	add_extent(map, 1, 160, 2, false);
	refuse(map, "not at its place");

	map = new_map(40);
	begin_file(map);
	add_extent(map, 0, 160, 1, false);
	add_extent(map, 2, 178, 1, false);
	refuse(map, "torn");

	map = new_map(40);
	begin_file(map);
	add_extent(map, 0, 160, 1, false);
	begin_file(map);
	add_extent(map, 3, 163, 1, false);
	refuse(map, "is used by");

	map = new_map(40);
	add_fixed(map, 160, 1);
	begin_file(map);
	add_extent(map, 3, 163, 1, false);
	refuse(map, "is used by");

	map = new_map(40);
	begin_file(map)->mapping = FL_MAPPING_INDIRECT;
	add_extent(map, 0, 160, 1, false);
	refuse(map, "block by block");
}

/* --- random layouts --- */

static struct fl_map *random_map(struct fl_rng *rng, uint64_t clusters)
{
	struct fl_map *map = new_map(clusters);
	uint64_t next = 2;

	add_fixed(map, 0, 20);
	while (next + 12 < clusters * 6 / 10) {
		uint64_t extents = 1 + fl_rng_below(rng, 9), lblk = fl_rng_below(rng, 40), count;

		begin_file(map);
		for (uint64_t i = 0; i < extents && next + 12 < clusters * 6 / 10; i++) {
			uint32_t len = 1 + (uint32_t)fl_rng_below(rng, 50);

			/* In the cluster of the one before when it can be. */
			if (lblk % RATIO == 0 || !i)
				next += 1 + fl_rng_below(rng, 2);
			len = (uint32_t)fl_min(len, RATIO * 2 - lblk % RATIO);
			add_extent(map, (fl_lblk)lblk, next * RATIO + lblk % RATIO, len,
				   fl_rng_chance(rng, 1, 4));
			count = (lblk % RATIO + len) / RATIO;
			next += count;
			lblk += len;
			/* A hole, within the cluster or to the begin of another. */
			if (lblk % RATIO && fl_rng_chance(rng, 1, 2))
				lblk += fl_rng_below(rng, RATIO - lblk % RATIO);
			else if (lblk % RATIO)
				lblk += RATIO - lblk % RATIO;
		}
		next++;
		count = fl_tree_blocks(&map->geo, FL_MAPPING_EXTENTS,
				       map->extents.at +
					       map->files.at[map->files.count - 1].first_extent,
				       map->files.at[map->files.count - 1].extent_count);
		for (uint64_t i = 0; i < count; i++)
			add_tree(map, next++ * RATIO);
	}
	assert_int_equal(fl_map_finish(map, NULL), 0);
	return map;
}

/* Everything into the upper part, cut at random. */
static void random_target(struct fl_rng *rng, const struct fl_map *units, struct fl_target *target)
{
	fl_pblk next = units->geo.blocks;

	for (uint32_t f = 0; f < units->files.count; f++) {
		uint64_t rest = units->files.at[f].blocks, tree;
		struct fl_runs runs = {0};

		while (rest) {
			struct fl_run run = {.len = 1 + fl_rng_below(rng, rest)};

			next -= run.len;
			run.start = next;
			next -= fl_rng_chance(rng, 1, 9);
			rest -= run.len;
			assert_int_equal(fl_array_push(&runs, run), 0);
		}
		assert_int_equal(fl_target_add(target, units, f, runs.at, runs.count, &tree), 0);
		next -= tree;
		assert_int_equal(fl_target_add_tree(target, next, tree), 0);
		fl_array_free(&runs);
		if (next < units->geo.blocks * 2 / 10)
			break;
	}
	assert_int_equal(fl_target_finish(target, units, NULL), 0);
}

/* The same logical blocks in the same states, each at its place in a cluster. */
static void compare_file(const struct fl_map *a, const struct fl_map *b, size_t index)
{
	const struct fl_file *left = &a->files.at[index], *right = &b->files.at[index];
	size_t i = 0, j = 0;
	uint32_t done = 0, done2 = 0;

	assert_int_equal(left->blocks, right->blocks);
	while (i < left->extent_count && j < right->extent_count) {
		const struct fl_extent *x = &a->extents.at[left->first_extent + i];
		const struct fl_extent *y = &b->extents.at[right->first_extent + j];
		uint32_t len = (uint32_t)fl_min(x->len - done, y->len - done2);

		assert_int_equal(x->lblk + done, y->lblk + done2);
		assert_int_equal(x->unwritten, y->unwritten);
		assert_int_equal(y->pblk % RATIO, y->lblk % RATIO);
		done = done + len == x->len ? (i++, 0u) : done + len;
		done2 = done2 + len == y->len ? (j++, 0u) : done2 + len;
	}
	assert_true(i == left->extent_count && j == right->extent_count);
	assert_int_equal(right->tree_count,
			 fl_tree_blocks(&b->geo, FL_MAPPING_EXTENTS,
					b->extents.at + right->first_extent, right->extent_count));
}

static void test_random_plans(void **state)
{
	const struct frag_settings year = {.months = 12, .seed = 1};
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	(void)state;
	printf("SEED=%llu\n", (unsigned long long)seed);
	for (uint64_t round = 0; round < 60; round++) {
		struct fl_map *map, *units, *moved, *blocks;
		struct fl_target target = {0};
		struct fl_plan *plan;
		struct fl_rng rng;

		fl_rng_seed(&rng, seed * 1000 + round);
		map = random_map(&rng, 120 + fl_rng_below(&rng, 600));
		assert_int_equal(fl_map_units(map, &units, NULL), 0);
		assert_int_equal(units->free_blocks * RATIO, map->free_blocks);
		if (round % 3)
			random_target(&rng, units, &target);
		else
			assert_int_equal(frag_target(&year, units, &target, NULL), 0);
		assert_int_equal(fl_plan_order(units, &target, NULL, &plan, NULL), 0);
		assert_int_equal(plan->left_blocks, 0);
		assert_int_equal(fl_plan_predict(units, plan, &moved, NULL), 0);
		assert_int_equal(fl_units_to_blocks(moved, &blocks, NULL), 0);
		assert_int_equal(moved->free_blocks * RATIO, blocks->free_blocks);
		assert_int_equal(blocks->fixed.count, map->fixed.count);
		for (size_t f = 0; f < map->files.count; f++)
			compare_file(map, blocks, f);
		fl_map_free(blocks);
		fl_map_free(moved);
		fl_plan_free(plan);
		fl_target_free(&target);
		fl_map_free(units);
		fl_map_free(map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_to_units),
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_random_plans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
