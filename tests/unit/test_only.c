/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of the halves of an aged layout: files without free space, free space without
 * files. Must not need an image.
 */
#include "frag/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/history_lab.h"

/* FL_ENOROOM is only allowed where hardly anything is free. */
static int age(const struct fl_map *map, struct frag_settings settings, struct fl_target *target)
{
	struct fl_diag diag = {{0}};
	int err = frag_target(&settings, map, target, &diag);

	if (err && (err != FL_ENOROOM || map->free_blocks * 50 > map->geo.blocks)) {
		print_error("%d %s\n", err, diag.text);
		fail();
	}
	return err;
}

static struct lab_figures figures_of(const struct fl_map *map, const struct fl_target *target)
{
	struct lab_figures figures;

	assert_int_equal(lab_measure(map, target, &figures), 0);
	return figures;
}

static void each_half_comes_alone(void **state)
{
	const struct lab_disk disk = {.blocks = 131072,
				      .block_bytes = 4096,
				      .per_group = 32768,
				      .percent_full = 58,
				      .seed = 7};
	struct fl_target both = {0}, files = {0}, free = {0};
	struct lab_figures before, aged, alone;
	struct fl_map *map;

	(void)state;
	assert_int_equal(lab_map(&disk, &map), 0);
	before = figures_of(map, NULL);
	assert_int_equal(age(map, (struct frag_settings){.months = 6, .seed = 1}, &both), 0);
	aged = figures_of(map, &both);

	assert_int_equal(age(map,
			     (struct frag_settings){.months = 6, .seed = 1, .files_only = true},
			     &files),
			 0);
	alone = figures_of(map, &files);
	assert_int_equal(files.files.count, both.files.count);
	assert_in_range(alone.fragments, aged.fragments * 99 / 100, aged.fragments * 101 / 100);
	assert_in_range(alone.free_extents, 1, before.free_extents);
	assert_true(alone.largest_free * 100 >= before.largest_free * 95);

	assert_int_equal(
		age(map, (struct frag_settings){.months = 6, .seed = 1, .free_only = true}, &free),
		0);
	alone = figures_of(map, &free);
	assert_true(alone.fragments <= before.fragments);
	assert_true(alone.free_extents > 100 * before.free_extents);
	assert_true(alone.free_extents * 5 > aged.free_extents);
	assert_true(alone.largest_free * 4 < before.largest_free);
	fl_target_free(&both);
	fl_target_free(&files);
	fl_target_free(&free);
	fl_map_free(map);
}

/* No file has more fragments than before. */
static void check_whole(const struct fl_map *map, const struct fl_target *target)
{
	for (size_t i = 0; i < target->files.count; i++) {
		const struct fl_target_file *item = &target->files.at[i];
		const struct fl_file *file = &map->files.at[item->file];

		assert_true(
			fl_fragments(target->extents.at + item->first_extent, item->extent_count) <=
			fl_fragments(map->extents.at + file->first_extent, file->extent_count));
	}
}

/* Data where data was: only mapping trees may have taken or left blocks. */
static void check_places(const struct fl_map *map, const struct fl_target *target)
{
	struct fl_blockset *now;

	assert_int_equal(fl_blockset_new(map->geo.blocks, &now), 0);
	for (size_t i = 0; i < map->extents.count; i++)
		assert_int_equal(
			fl_blockset_add(now, map->extents.at[i].pblk, map->extents.at[i].len), 0);
	for (size_t i = 0; i < target->extents.count; i++)
		assert_int_equal(fl_blockset_count_range(now, target->extents.at[i].pblk,
							 target->extents.at[i].len),
				 target->extents.at[i].len);
	fl_blockset_free(now);
}

static void any_disk(void **state)
{
	static const uint32_t percents[] = {0, 2, 33, 58, 90, 97, 99, 100};

	(void)state;
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++)
		for (uint64_t seed = 1; seed <= 8; seed++) {
			const struct lab_disk disk = {.blocks = 8192 * (1 + seed % 4),
						      .block_bytes = seed % 2 ? 1024 : 4096,
						      .per_group = seed % 2 ? 8192 : 32768,
						      .percent_full = percents[i],
						      .indirect = seed & 2,
						      .scattered = seed & 4,
						      .seed = seed,
						      .most_blocks = seed & 4 ? 400 : 0};
			struct frag_settings settings = {.months = 3, .seed = seed};
			struct fl_target files = {0}, free = {0};
			struct fl_map *map;

			assert_int_equal(lab_map(&disk, &map), 0);
			settings.files_only = true;
			if (!age(map, settings, &files))
				check_places(map, &files);
			settings.files_only = false;
			settings.free_only = true;
			if (!age(map, settings, &free))
				check_whole(map, &free);
			fl_target_free(&files);
			fl_target_free(&free);
			fl_map_free(map);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_half_comes_alone),
		cmocka_unit_test(any_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
