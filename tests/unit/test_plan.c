/* SPDX-License-Identifier: MIT */
/*
 * Property tests of planning: random maps and random targets, from empty to one free
 * block. What the order promises is checked by the layout, which is written apart.
 */
#include <fraglab/blockset.h>
#include <fraglab/plan.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct pool {
	FL_ARRAY(fl_pblk);
};

/* Every block of the slots, in random order but in pieces of up to `chunk` blocks. */
static void fill_pool(struct pool *pool, const struct fl_runs *slots, uint32_t chunk,
		      struct fl_rng *rng)
{
	FL_ARRAY(struct fl_run) pieces = {0};

	for (size_t i = 0; i < slots->count; i++) {
		struct fl_run rest = slots->at[i];

		while (rest.len) {
			uint64_t len = fl_min(rest.len, fl_rng_between(rng, 1, chunk));

			assert_int_equal(fl_array_push(&pieces, ((struct fl_run){rest.start, len})),
					 0);
			rest.start += len;
			rest.len -= len;
		}
	}
	for (size_t i = pieces.count; i > 1; i--) {
		size_t j = (size_t)fl_rng_below(rng, i);
		struct fl_run swap = pieces.at[i - 1];

		pieces.at[i - 1] = pieces.at[j];
		pieces.at[j] = swap;
	}
	for (size_t i = 0; i < pieces.count; i++)
		for (uint64_t b = 0; b < pieces.at[i].len; b++)
			assert_int_equal(fl_array_push(pool, pieces.at[i].start + b), 0);
	fl_array_free(&pieces);
}

static fl_pblk draw(struct pool *pool)
{
	return pool->at[--pool->count];
}

static void add_file(struct fl_map *map, struct pool *pool, uint32_t blocks, struct fl_rng *rng)
{
	struct fl_file file = {.ino = (fl_ino)(12 + map->files.count),
			       .mapping = fl_rng_chance(rng, 1, 4) ? FL_MAPPING_INDIRECT
								   : FL_MAPPING_EXTENTS,
			       .name = FL_NO_NAME,
			       .path_rank = FL_NO_NAME,
			       .listing_rank = FL_NO_NAME};
	struct fl_extents list = {0};
	uint32_t lblk = 0;
	uint64_t tree;

	for (uint32_t i = 0; i < blocks && pool->count; i++) {
		struct fl_extent extent = {draw(pool), lblk, 1, false};

		extent.unwritten = file.mapping == FL_MAPPING_EXTENTS && i % 50 > 45;
		assert_int_equal(fl_extents_append(&list, file.mapping, extent), 0);
		file.blocks++;
		lblk += fl_rng_chance(rng, 1, 20) ? (uint32_t)fl_rng_between(rng, 2, 500) : 1;
	}
	tree = fl_tree_blocks(&map->geo, file.mapping, list.at, list.count);
	if (file.blocks && pool->count >= tree) {
		file.first_extent = map->extents.count;
		file.extent_count = list.count;
		for (size_t i = 0; i < list.count; i++)
			assert_int_equal(fl_array_push(&map->extents, list.at[i]), 0);
		file.first_tree = map->trees.count;
		file.tree_count = (size_t)tree;
		for (uint64_t i = 0; i < tree; i++)
			assert_int_equal(fl_array_push(&map->trees, draw(pool)), 0);
		assert_int_equal(fl_array_push(&map->files, file), 0);
	}
	fl_array_free(&list);
}

static struct fl_map *random_map(struct fl_rng *rng, uint64_t blocks, uint64_t keep_free)
{
	struct fl_geometry geo = {.block_bytes = 1024,
				  .blocks = blocks,
				  .first_data_block = 1,
				  .blocks_per_group = 8192,
				  .groups = 1,
				  .flex_groups = 1,
				  .cluster_blocks = 1};
	struct pool pool = {0};
	struct fl_runs slots = {0};
	struct fl_diag diag;
	struct fl_map *map;

	assert_int_equal(fl_map_new(&geo, &map), 0);
	for (fl_pblk at = 0; at < blocks; at += 1000)
		assert_int_equal(
			fl_array_push(&map->fixed, ((struct fl_run){at, fl_min(7, blocks - at)})),
			0);
	assert_int_equal(fl_map_slots(map, &slots), 0);
	fill_pool(&pool, &slots, (uint32_t)fl_rng_between(rng, 1, 60), rng);
	while (pool.count > keep_free) {
		uint32_t size = fl_rng_chance(rng, 1, 10) ? 2000 : 40;

		size = (uint32_t)fl_min(fl_rng_between(rng, 1, size), pool.count - keep_free);
		add_file(map, &pool, size, rng);
		if (pool.count < keep_free + 40)
			break;
	}
	/* Single blocks up to the wanted fullness. */
	while (pool.count > keep_free)
		add_file(map, &pool, 1, rng);
	assert_int_equal(fl_map_finish(map, &diag), 0);
	fl_array_free(&slots);
	fl_array_free(&pool);
	return map;
}

/* Every file somewhere else; blocks that the pool cannot give end the target early. */
static void random_target(struct fl_rng *rng, const struct fl_map *map, struct fl_target *target)
{
	struct fl_runs slots = {0};
	struct pool pool = {0};
	struct fl_diag diag;

	assert_int_equal(fl_map_slots(map, &slots), 0);
	fill_pool(&pool, &slots, (uint32_t)fl_rng_between(rng, 1, 400), rng);
	for (uint32_t f = 0; f < map->files.count; f++) {
		const struct fl_file *file = &map->files.at[f];
		struct fl_runs runs = {0};
		uint64_t tree;

		for (uint64_t b = 0; b < file->blocks; b++) {
			fl_pblk block = pool.count ? draw(&pool) : 0;

			if (runs.count && fl_run_end(runs.at[runs.count - 1]) == block)
				runs.at[runs.count - 1].len++;
			else
				assert_int_equal(fl_array_push(&runs, ((struct fl_run){block, 1})),
						 0);
		}
		assert_int_equal(fl_target_add(target, map, f, runs.at, runs.count, &tree), 0);
		for (uint64_t i = 0; i < tree; i++)
			assert_int_equal(
				fl_target_add_tree(target, pool.count ? draw(&pool) : 0, 1), 0);
		fl_array_free(&runs);
	}
	/* Trees may need more than there is: then the target is not valid, and not of interest. */
	if (fl_target_finish(target, map, &diag))
		target->files.count = 0;
	fl_array_free(&slots);
	fl_array_free(&pool);
}

static void check_reached(const struct fl_map *map, const struct fl_target *target)
{
	for (size_t i = 0; i < target->files.count; i++) {
		const struct fl_target_file *item = &target->files.at[i];
		const struct fl_file *file = &map->files.at[item->file];

		assert_int_equal(file->tree_count, item->tree_count);
		assert_memory_equal(map->trees.at + file->first_tree,
				    target->trees.at + item->first_tree,
				    file->tree_count * sizeof(fl_pblk));
		assert_int_equal(file->extent_count, item->extent_count);
		for (size_t e = 0; e < file->extent_count; e++) {
			const struct fl_extent *a = &map->extents.at[file->first_extent + e];
			const struct fl_extent *b = &target->extents.at[item->first_extent + e];

			assert_int_equal(a->pblk, b->pblk);
			assert_int_equal(a->lblk, b->lblk);
			assert_int_equal(a->len, b->len);
			assert_int_equal(a->unwritten, b->unwritten);
		}
	}
}

static void check_text(const struct fl_map *map, const struct fl_plan *plan)
{
	struct fl_diag diag = {""};
	struct fl_plan *again;
	char *text, *text_again;

	assert_int_equal(fl_plan_print(map, plan, &text), 0);
	if (fl_plan_parse(map, text, &again, &diag))
		fail_msg("%s", diag.text);
	assert_int_equal(fl_plan_print(map, again, &text_again), 0);
	assert_string_equal(text, text_again);
	assert_int_equal(fl_plan_validate(map, again, &diag), 0);
	free(text);
	free(text_again);
	fl_plan_free(again);
}

static void check_one(uint64_t seed, uint64_t blocks, uint64_t keep_free, uint64_t batch,
		      bool complete)
{
	struct fl_order_options options = {.batch_blocks = batch};
	struct fl_target target = {0};
	struct fl_diag diag = {""};
	struct fl_map *map, *predicted;
	struct fl_plan *plan;
	struct fl_rng rng;
	int error;

	fl_rng_seed(&rng, seed);
	map = random_map(&rng, blocks, keep_free);
	random_target(&rng, map, &target);
	error = fl_plan_order(map, &target, &options, &plan, &diag);
	if (error == FL_ENOROOM && !complete && !map->free_blocks) {
		fl_target_free(&target);
		fl_map_free(map);
		return;
	}
	if (error)
		fail_msg("seed %llu: %s", (unsigned long long)seed, diag.text);
	if (fl_plan_predict(map, plan, &predicted, &diag))
		fail_msg("seed %llu: %s", (unsigned long long)seed, diag.text);
	if (complete && plan->left_blocks)
		fail_msg("seed %llu: %llu of %llu blocks left, free %llu", (unsigned long long)seed,
			 (unsigned long long)plan->left_blocks,
			 (unsigned long long)plan->needed_blocks,
			 (unsigned long long)map->free_blocks);
	if (!plan->left_blocks)
		check_reached(predicted, &target);
	if (getenv("SHOW"))
		printf("blocks %llu free %llu files %zu: needed %llu moved %llu left %llu batches "
		       "%zu\n",
		       (unsigned long long)blocks, (unsigned long long)map->free_blocks,
		       map->files.count, (unsigned long long)plan->needed_blocks,
		       (unsigned long long)plan->moved_blocks,
		       (unsigned long long)plan->left_blocks, plan->batches.count);
	check_text(map, plan);
	fl_map_free(predicted);
	fl_plan_free(plan);
	fl_target_free(&target);
	fl_map_free(map);
}

static uint64_t base_seed(void)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	printf("SEED=%llu\n", (unsigned long long)seed);
	return seed;
}

static void roomy_disks_reach_their_target(void **state)
{
	uint64_t seed = base_seed();

	(void)state;
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 60; i++)
			check_one(seed + round + i, 1000 + i * 300, 400 + i * 100, i % 3 ? 64 : 0,
				  true);
}

static void tight_disks_end_in_a_valid_plan(void **state)
{
	uint64_t seed = base_seed() + 1000;

	(void)state;
	for (uint64_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 60; i++)
			check_one(seed + round + i, 500 + i * 100, 1 + i / 2, i % 2 ? 16 : 0,
				  false);
}

/* Long files that all go a little to the left: each copy would overlap itself. */
static void sliding_costs_two_copies(void **state)
{
	static const uint64_t steps[] = {1, 10, 255, 300, 3000};
	struct fl_geometry geo = {.block_bytes = 4096,
				  .blocks = 200000,
				  .blocks_per_group = 32768,
				  .groups = 7,
				  .flex_groups = 1,
				  .cluster_blocks = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct fl_target target = {0};
		struct fl_diag diag = {""};
		struct fl_plan *plan;
		struct fl_map *map;
		uint64_t tree;

		assert_int_equal(fl_map_new(&geo, &map), 0);
		assert_int_equal(fl_array_push(&map->fixed, ((struct fl_run){0, 10})), 0);
		for (uint32_t f = 0; f < 5; f++) {
			struct fl_extent extent = {10 + steps[i] + f * 20000ull, 0, 20000, false};
			struct fl_file file = {.ino = 12 + f,
					       .mapping = FL_MAPPING_EXTENTS,
					       .name = FL_NO_NAME,
					       .path_rank = FL_NO_NAME,
					       .listing_rank = FL_NO_NAME,
					       .blocks = 20000,
					       .first_extent = f,
					       .extent_count = 1};

			assert_int_equal(fl_array_push(&map->extents, extent), 0);
			assert_int_equal(fl_array_push(&map->files, file), 0);
		}
		assert_int_equal(fl_map_finish(map, &diag), 0);
		for (uint32_t f = 0; f < 5; f++)
			assert_int_equal(fl_target_add(&target, map, f,
						       &(struct fl_run){10 + f * 20000ull, 20000},
						       1, &tree),
					 0);
		assert_int_equal(fl_target_finish(&target, map, &diag), 0);
		assert_int_equal(fl_plan_order(map, &target, NULL, &plan, &diag), 0);
		assert_int_equal(fl_plan_validate(map, plan, &diag), 0);
		assert_int_equal(plan->left_blocks, 0);
		if (getenv("SHOW"))
			printf("slide by %llu: moved %llu of %llu, %zu batches, %zu moves\n",
			       (unsigned long long)steps[i], (unsigned long long)plan->moved_blocks,
			       (unsigned long long)plan->needed_blocks, plan->batches.count,
			       plan->moves.count);
		assert_true(plan->moved_blocks <= 2 * plan->needed_blocks);
		assert_true(plan->batches.count <= 150);
		fl_plan_free(plan);
		fl_target_free(&target);
		fl_map_free(map);
	}
}

/* Each batch rewrites the whole mapping of a file, so that one file must not be in very many. */
static void long_mappings_take_few_batches(void **state)
{
	enum { COUNT = 8000 };
	/* Blocks so large that 256 of them are a batch's usual bytes. */
	struct fl_geometry geo = {.block_bytes = 1u << 20,
				  .blocks = 4 * COUNT,
				  .blocks_per_group = 8u << 20,
				  .groups = 1,
				  .flex_groups = 1,
				  .cluster_blocks = 1};
	struct fl_file file = {.ino = 12,
			       .mapping = FL_MAPPING_EXTENTS,
			       .name = FL_NO_NAME,
			       .path_rank = FL_NO_NAME,
			       .listing_rank = FL_NO_NAME,
			       .blocks = COUNT,
			       .extent_count = COUNT,
			       .tree_count = 1};
	struct fl_target target = {0};
	struct fl_diag diag = {""};
	struct fl_plan *plan;
	struct fl_map *map;
	uint64_t tree;

	(void)state;
	assert_int_equal(fl_map_new(&geo, &map), 0);
	assert_int_equal(fl_array_push(&map->fixed, ((struct fl_run){0, 1})), 0);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct fl_extent extent = {2 + 2ull * i, i, 1, false};

		assert_int_equal(fl_array_push(&map->extents, extent), 0);
	}
	assert_int_equal(fl_array_push(&map->trees, 1), 0);
	assert_int_equal(fl_array_push(&map->files, file), 0);
	assert_int_equal(fl_map_finish(map, &diag), 0);
	assert_int_equal(
		fl_target_add(&target, map, 0, &(struct fl_run){3 * COUNT, COUNT}, 1, &tree), 0);
	assert_int_equal(tree, 0);
	assert_int_equal(fl_target_finish(&target, map, &diag), 0);
	assert_int_equal(fl_plan_order(map, &target, NULL, &plan, &diag), 0);
	assert_int_equal(fl_plan_validate(map, plan, &diag), 0);
	assert_int_equal(plan->left_blocks, 0);
	assert_int_equal(plan->batches.count, 8);
	fl_plan_free(plan);
	fl_target_free(&target);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_mappings_take_few_batches),
		cmocka_unit_test(roomy_disks_reach_their_target),
		cmocka_unit_test(tight_disks_end_in_a_valid_plan),
		cmocka_unit_test(sliding_costs_two_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
