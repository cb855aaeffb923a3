/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of frag's history: its targets are valid, repeatable, and as fragmented as an
 * aged disk is. Must not need an image.
 */
#include "frag/history.h"
#include "frag/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/history_lab.h"

static struct fl_map *new_map(const struct lab_disk *disk)
{
	struct fl_map *map;

	assert_int_equal(lab_map(disk, &map), 0);
	return map;
}

static const struct lab_disk gigabyte = {
	.blocks = 262144, .block_bytes = 4096, .per_group = 32768, .percent_full = 58, .seed = 7};

/* Good until the next call. */
static const struct frag_profile *profile_named(const char *name)
{
	static struct frag_profile profile;

	assert_int_equal(frag_profile_load(name, &profile, NULL), 0);
	return &profile;
}

static void age(const struct fl_map *map, const struct frag_settings *settings,
		struct fl_target *target)
{
	struct fl_diag diag = {.text = ""};
	int err = frag_target(settings, map, target, &diag);

	if (err)
		print_error("frag_target: %d %s\n", err, diag.text);
	assert_int_equal(err, 0);
}

static struct lab_figures figures_of(const struct fl_map *map, uint32_t months, uint64_t seed,
				     const char *profile)
{
	struct frag_settings settings = {
		.months = months, .seed = seed, .profile = profile_named(profile)};
	struct fl_target target = {0};
	struct lab_figures figures;

	age(map, &settings, &target);
	assert_int_equal(lab_measure(map, &target, &figures), 0);
	fl_target_free(&target);
	return figures;
}

static void six_months_on_a_desktop(void **state)
{
	struct fl_map *map = new_map(&gigabyte);
	struct lab_figures fresh, aged;

	(void)state;
	assert_int_equal(lab_measure(map, NULL, &fresh), 0);
	assert_true(fresh.sequential * 10 > fresh.ios * 8);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		aged = figures_of(map, 6, seed, "desktop");
		assert_int_equal(aged.files, fresh.files);
		assert_true(aged.one_or_two * 100 > aged.files * 80);
		assert_in_range(aged.fragmented * 100 / aged.files, 10, 40);
		assert_true(aged.over_hundred >= 3);
		/* The sequential ratio falls to a third or less: below the half that is wanted. */
		assert_true(aged.sequential * fresh.ios * 3 <= fresh.sequential * aged.ios);
		assert_true(aged.free_extents >= 1000 &&
			    aged.free_extents >= 100 * fresh.free_extents);
	}
	fl_map_free(map);
}

static void more_months_fragment_more(void **state)
{
	static const uint32_t months[] = {1, 3, 6, 12, 24};
	struct lab_disk disk = gigabyte;
	struct fl_map *map;

	(void)state;
	disk.blocks /= 2;
	map = new_map(&disk);
	for (size_t p = 0; frag_profile_texts[p].name; p++) {
		struct lab_figures last = {.ios = 1, .sequential = 1};

		for (size_t i = 0; i < sizeof(months) / sizeof(*months); i++) {
			struct lab_figures now =
				figures_of(map, months[i], 1, frag_profile_texts[p].name);

			assert_true(now.fragments > last.fragments);
			assert_true(now.fragmented >= last.fragmented);
			assert_true(now.sequential * last.ios < last.sequential * now.ios);
			last = now;
		}
	}
	fl_map_free(map);
}

static bool same_targets(const struct fl_target *a, const struct fl_target *b)
{
	if (a->files.count != b->files.count || a->extents.count != b->extents.count ||
	    a->trees.count != b->trees.count)
		return false;
	for (size_t i = 0; i < a->extents.count; i++)
		if (a->extents.at[i].pblk != b->extents.at[i].pblk ||
		    a->extents.at[i].lblk != b->extents.at[i].lblk ||
		    a->extents.at[i].len != b->extents.at[i].len)
			return false;
	return memcmp(a->trees.at, b->trees.at, a->trees.count * sizeof(*a->trees.at)) == 0;
}

static void the_same_seed_is_the_same(void **state)
{
	struct lab_disk disk = gigabyte;
	struct frag_settings settings = {.months = 6, .seed = 1};
	struct fl_target first = {0}, again = {0}, other = {0};
	struct fl_map *map;

	(void)state;
	disk.blocks /= 8;
	map = new_map(&disk);
	age(map, &settings, &first);
	settings.profile = profile_named("desktop"); /* the default */
	age(map, &settings, &again);
	settings.seed = 2;
	age(map, &settings, &other);
	assert_true(first.trees.count > 0);
	assert_true(same_targets(&first, &again));
	assert_false(same_targets(&first, &other));
	fl_target_free(&other);
	settings.seed = 1;
	settings.profile = profile_named("server");
	age(map, &settings, &other);
	assert_false(same_targets(&first, &other));
	fl_target_free(&first);
	fl_target_free(&again);
	fl_target_free(&other);
	fl_map_free(map);
}

/* Every movable file is in the target, unless the disk is so full that trees stay. */
static void check_any(const struct lab_disk *disk, uint32_t months, const char *profile)
{
	struct frag_settings settings = {
		.months = months, .seed = disk->seed, .profile = profile_named(profile)};
	struct fl_map *map = new_map(disk);
	struct fl_target target = {0};
	struct fl_diag diag;
	size_t movable = 0, without_tree = 0;
	int err = frag_target(&settings, map, &target, &diag);

	if (disk->percent_full >= 100) {
		assert_true(err == 0 || err == FL_ENOROOM);
	} else if (err) {
		print_error("%llu blocks, %u %% full: %d %s\n", (unsigned long long)disk->blocks,
			    disk->percent_full, err, diag.text);
		fail();
	}
	for (size_t i = 0; i < map->files.count; i++) {
		bool moves = fl_file_movable(&map->files.at[i]);

		movable += moves;
		without_tree += moves && map->files.at[i].tree_count == 0;
	}
	if (!err && disk->percent_full < 99)
		assert_int_equal(target.files.count, movable);
	else if (!err)
		assert_true(target.files.count >= without_tree);
	if (map->free_blocks == 0)
		assert_int_equal(err, FL_ENOROOM);
	fl_target_free(&target);
	fl_map_free(map);
}

static void any_fullness(void **state)
{
	static const uint32_t percents[] = {0, 1, 2, 10, 33, 58, 80, 90, 95, 97, 98, 99, 100};

	(void)state;
	for (size_t i = 0; i < sizeof(percents) / sizeof(*percents); i++)
		for (uint64_t seed = 1; seed <= 4; seed++) {
			struct lab_disk disk = {.blocks = 16384 * seed,
						.block_bytes = seed % 2 ? 1024 : 4096,
						.per_group = seed % 2 ? 8192 : 32768,
						.percent_full = percents[i],
						.indirect = seed > 2,
						.seed = seed};

			check_any(&disk, 3, seed % 2 ? "desktop" : "server");
		}
}

static void any_size(void **state)
{
	(void)state;
	for (uint64_t blocks = 40; blocks < 400000; blocks = blocks * 7 / 4 + 3) {
		struct lab_disk disk = {.blocks = blocks,
					.block_bytes = blocks % 2 ? 1024 : 4096,
					.per_group = blocks % 2 ? 8192 : 32768,
					.percent_full = 20 + (uint32_t)(blocks % 70),
					.seed = blocks,
					.most_blocks = fl_max(blocks / 10, 1)};

		check_any(&disk, 1 + (uint32_t)(blocks % 9), NULL);
	}
}

/* Each file needs a mapping tree whatever its place is, and hardly a block is free. */
static void trees_on_a_full_disk(void **state)
{
	(void)state;
	for (uint32_t percent = 95; percent <= 100; percent++)
		for (int indirect = 0; indirect < 2; indirect++) {
			struct lab_disk disk = {.blocks = 20000,
						.block_bytes = 1024,
						.per_group = 8192,
						.percent_full = percent,
						.indirect = indirect,
						.scattered = true,
						.seed = percent,
						.most_blocks = 400};

			check_any(&disk, 6, "desktop");
		}
}

/* A few free blocks: the mapping trees of an aged layout do not fit, a milder one must do. */
static void a_few_free_blocks(void **state)
{
	(void)state;
	for (uint64_t spare = 1; spare <= 4096; spare *= 2)
		for (int kind = 0; kind < 4; kind++) {
			struct lab_disk disk = {.blocks = 131072,
						.block_bytes = 4096,
						.per_group = 32768,
						.percent_full = 100,
						.spare_blocks = spare,
						.indirect = kind & 1,
						.scattered = kind & 2,
						.seed = spare,
						.most_blocks = kind & 2 ? 3000 : 0};

			check_any(&disk, 6, "server");
		}
}

/* The mildest history: files with mapping-tree blocks keep their places, the others move. */
static void trees_can_stay(void **state)
{
	struct lab_disk disk = {.blocks = 16384,
				.block_bytes = 4096,
				.per_group = 32768,
				.percent_full = 80,
				.indirect = true,
				.seed = 5};
	struct frag_history_options options = {
		.schedule = {.profile = profile_named(NULL), .months = 3, .seed = 1},
		.keep_trees = true,
	};
	struct fl_map *map = new_map(&disk);
	struct frag_history history = {0};
	size_t stay = 0, moved = 0;

	(void)state;
	assert_int_equal(frag_history_run(&history, map, &options, NULL), 0);
	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];
		uint64_t blocks = 0;

		for (uint32_t at = history.files[i].first; at;
		     at = history.chains.links.at[at].next)
			blocks += history.chains.links.at[at].len;
		if (file->tree_count || !fl_file_movable(file)) {
			stay++;
			assert_int_equal(blocks, 0);
		} else {
			moved++;
			assert_int_equal(blocks, file->blocks);
		}
	}
	assert_true(stay > 10 && moved > 100);
	/* Only the files are left: no temporary, no early version. */
	assert_int_equal(fl_alloc_free_blocks(history.alloc), map->free_blocks);
	/* What stays was not given away. */
	for (size_t i = 0; i < map->files.count; i++)
		if (map->files.at[i].tree_count)
			assert_int_equal(
				fl_alloc_give(
					history.alloc,
					(struct fl_run){map->trees.at[map->files.at[i].first_tree],
							1}),
				0);
	frag_history_free(&history);
	fl_map_free(map);
}

static void a_thousand_years_end(void **state)
{
	struct lab_disk disk = {.blocks = 2048,
				.block_bytes = 1024,
				.per_group = 8192,
				.percent_full = 50,
				.seed = 3};

	(void)state;
	check_any(&disk, FRAG_MOST_MONTHS, "desktop");
}

static void illegal_settings_are_refused(void **state)
{
	struct lab_disk disk = {.blocks = 2048,
				.block_bytes = 1024,
				.per_group = 8192,
				.percent_full = 50,
				.seed = 3};
	struct frag_settings bad[] = {
		{.months = 0},
		{.months = FRAG_MOST_MONTHS + 1},
		{.months = 6, .files_only = true, .free_only = true},
	};
	struct fl_map *map = new_map(&disk);
	struct fl_target target = {0};
	struct fl_diag diag;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		diag.text[0] = '\0';
		assert_int_equal(frag_target(&bad[i], map, &target, &diag), FL_ESYNTAX);
		assert_true(diag.text[0] != '\0');
		assert_int_equal(target.files.count, 0);
	}
	fl_map_free(map);
}

/* Ends at the first step after so many. */
struct listener {
	unsigned steps, most;
	uint64_t last, total;
};

static int listen_to(void *context, const char *unit, uint64_t done, uint64_t total)
{
	struct listener *listener = context;

	assert_string_equal(unit, "days");
	assert_true(done <= total && (!listener->steps || done > listener->last));
	listener->last = done;
	listener->total = total;
	return ++listener->steps > listener->most ? FL_ECANCELLED : 0;
}

static void a_watch_hears_of_days_and_ends_it(void **state)
{
	struct lab_disk disk = {.blocks = 16384,
				.block_bytes = 4096,
				.per_group = 32768,
				.percent_full = 60,
				.seed = 5};
	struct listener listener = {.most = 1000};
	const struct fl_watch watch = {listen_to, &listener};
	struct frag_history_options options = {
		.schedule = {.profile = profile_named(NULL), .months = 3, .seed = 1},
		.watch = &watch,
	};
	struct fl_map *map = new_map(&disk);
	struct frag_history history = {0}, cut = {0};

	(void)state;
	assert_int_equal(frag_history_run(&history, map, &options, NULL), 0);
	assert_int_equal(listener.total, 90);
	assert_true(listener.steps > 60);
	listener = (struct listener){.most = 20};
	assert_int_equal(frag_history_run(&cut, map, &options, NULL), FL_ECANCELLED);
	assert_int_equal(listener.steps, 21);
	frag_history_free(&history);
	frag_history_free(&cut);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(six_months_on_a_desktop),
		cmocka_unit_test(more_months_fragment_more),
		cmocka_unit_test(the_same_seed_is_the_same),
		cmocka_unit_test(any_fullness),
		cmocka_unit_test(any_size),
		cmocka_unit_test(trees_on_a_full_disk),
		cmocka_unit_test(a_few_free_blocks),
		cmocka_unit_test(trees_can_stay),
		cmocka_unit_test(a_watch_hears_of_days_and_ends_it),
		cmocka_unit_test(a_thousand_years_end),
		cmocka_unit_test(illegal_settings_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
