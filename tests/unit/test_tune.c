/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of layouts to order: counts, holes, places, and the loop over them. Must not need an
 * image.
 */
#include "frag/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "frag/arrange.h"
#include "frag/dials.h"
#include "tests/unit/history_lab.h"

/* --- layouts; disks of several kinds --- */

static const struct lab_disk disks[] = {
	{.blocks = 16384, .block_bytes = 4096, .per_group = 8192, .percent_full = 58, .seed = 1},
	{.blocks = 16384,
	 .block_bytes = 1024,
	 .per_group = 4096,
	 .percent_full = 70,
	 .seed = 2,
	 .indirect = true},
	{.blocks = 16384, .block_bytes = 4096, .per_group = 2048, .percent_full = 97, .seed = 3},
	{.blocks = 8192,
	 .block_bytes = 4096,
	 .per_group = 8192,
	 .percent_full = 40,
	 .seed = 4,
	 .most_blocks = 3},
	{.blocks = 32768, .block_bytes = 1024, .per_group = 8192, .percent_full = 50, .seed = 5},
};
#define DISKS (sizeof(disks) / sizeof(*disks))

/* All files get a name, so that they count. */
static struct fl_map *named_map(const struct lab_disk *disk)
{
	struct fl_map *map = NULL;

	assert_int_equal(lab_map(disk, &map), 0);
	assert_int_equal(fl_array_append(&map->texts, "\0f", 3), 0);
	assert_int_equal(fl_array_push(&map->names, ((struct fl_name){2, FL_NO_NAME, 0})), 0);
	for (size_t i = 0; i < map->files.count; i++) {
		map->files.at[i].name = (uint32_t)map->names.count;
		map->files.at[i].size_bytes = map->files.at[i].blocks * disk->block_bytes;
		assert_int_equal(
			fl_array_push(&map->names, ((struct fl_name){map->files.at[i].ino, 0, 1})),
			0);
	}
	return map;
}

static void make_base(const struct fl_map *map, struct frag_base *base)
{
	struct frag_settings settings = {.months = 2, .seed = 1};
	struct fl_target aged = {0};

	assert_int_equal(frag_target(&settings, map, &aged, NULL), 0);
	assert_int_equal(frag_base_new(base, map, &aged, 1, false), 0);
}

static void counts_are_exact(void **state)
{
	(void)state;
	for (size_t d = 0; d < DISKS; d++) {
		struct fl_map *map = named_map(&disks[d]);
		struct frag_base base;
		uint32_t *counts;

		make_base(map, &base);
		counts = calloc(base.aged.files.count, sizeof(*counts));
		for (uint64_t files = base.forced; files <= base.breakable;
		     files += 1 + files / 3) {
			uint64_t least = frag_base_least_extra(&base, files);
			uint64_t most = frag_base_most_extra(&base, files);

			for (uint64_t extra = least; extra <= most;
			     extra += 1 + (most - least) / 7) {
				struct frag_dials dials = {
					.fragmented = files, .extra = extra, .seed = 3};
				uint64_t found = 0, more = 0;

				assert_int_equal(frag_parts_count(&base, &dials, counts), 0);
				for (size_t f = 0; f < base.aged.files.count; f++) {
					const struct frag_base_file *file = &base.files[f];

					assert_in_range(counts[f], 1, file->blocks);
					if (!file->counted)
						continue;
					found += counts[f] > 1;
					more += counts[f] - 1;
				}
				assert_int_equal(found, files);
				assert_int_equal(more, extra);
			}
		}
		free(counts);
		frag_base_free(&base);
		fl_map_free(map);
	}
}

/* Arranges for dials; the target is checked, and its figures are taken. */
static void arrange(const struct frag_base *base, const struct frag_dials *dials,
		    struct fl_metrics *metrics)
{
	const struct fl_analyze_options analysis = {.brief = true};
	struct frag_parts parts = {0};
	struct fl_target target = {0};
	struct fl_map *predicted;
	struct fl_diag diag = {{0}};
	uint64_t tree_blocks, spare = base->space_blocks - base->data_blocks;
	uint32_t *counts = calloc(base->aged.files.count, sizeof(*counts));

	assert_int_equal(frag_parts_count(base, dials, counts), 0);
	assert_int_equal(frag_parts_of_files(base, dials, counts, &parts, &tree_blocks), 0);
	assert_true(tree_blocks < spare);
	assert_int_equal(frag_parts_of_holes(base, dials, spare - tree_blocks, &parts), 0);
	assert_int_equal(frag_arrange(base, &parts, dials->largest, &target), 0);
	if (fl_target_finish(&target, base->map, &diag))
		fail_msg("%s", diag.text);
	assert_int_equal(fl_target_predict(base->map, &target, &predicted, &diag), 0);
	assert_int_equal(fl_analyze(predicted, &analysis, metrics), 0);
	fl_map_free(predicted);
	fl_target_free(&target);
	fl_array_free(&parts);
	free(counts);
}

static void places_keep_counts_and_holes(void **state)
{
	struct fl_metrics *metrics = calloc(1, sizeof(*metrics));
	struct fl_rng rng;

	(void)state;
	assert_non_null(metrics);
	fl_rng_seed(&rng, 7);
	for (size_t d = 0; d < DISKS; d++) {
		struct fl_map *map = named_map(&disks[d]);
		struct frag_base base;
		uint64_t forced = 0;

		make_base(map, &base);
		forced = base.space.count;
		for (int round = 0; round < 30; round++) {
			struct frag_dials dials = {
				.fragmented = fl_rng_between(&rng, base.forced, base.breakable),
				.order = (int32_t)fl_rng_below(&rng, 2 * FRAG_DRAW_ONE) -
					 (int32_t)FRAG_DRAW_ONE,
				.holes = fl_rng_between(&rng, base.space.count,
							base.free_blocks / 4),
				.seed = fl_rng_next(&rng),
			};
			uint64_t away;

			dials.extra = frag_base_least_extra(&base, dials.fragmented) +
				      fl_rng_below(&rng, 200);
			dials.extra =
				fl_min(dials.extra, frag_base_most_extra(&base, dials.fragmented));
			dials.holes = fl_min(dials.holes, base.aged.files.count / 2);
			if (round % 3 == 0)
				dials.largest = fl_min(base.free_blocks / 3, base.longest_space);
			arrange(&base, &dials, metrics);
			/* The borders of the space may cost a fragment each, and a hole. */
			away = metrics->files.fragments - metrics->files.count - base.still.extra;
			assert_in_range(away + forced, dials.extra, dials.extra + 2 * forced);
			away = metrics->files.fragmented - base.still.fragmented;
			assert_in_range(away + forced, dials.fragmented,
					dials.fragmented + 2 * forced);
			assert_in_range(metrics->free.extents + forced + 4, dials.holes,
					dials.holes + 2 * forced + 8);
			away = metrics->free.largest_bytes / map->geo.block_bytes;
			if (dials.largest && base.free_blocks / dials.largest + 1 < dials.holes)
				assert_in_range(away, dials.largest - dials.largest / 50,
						dials.largest + dials.largest / 50);
		}
		frag_base_free(&base);
		fl_map_free(map);
	}
	free(metrics);
}

/* --- the loop --- */

static const struct fl_analyze_options read_all = {.workloads = {FL_WORKLOAD_READ_ALL},
						   .workload_count = 1};

static int order_layout(const struct fl_map *map, const char *const *aims, bool files_only,
			struct fl_aims *parsed, struct fl_target *target, struct fl_diag *diag)
{
	struct frag_settings settings = {
		.months = 2, .seed = 5, .analysis = &read_all, .files_only = files_only};
	struct fl_aim aim;

	for (; *aims; aims++) {
		assert_int_equal(fl_aim_parse(*aims, &aim, diag), 0);
		assert_int_equal(fl_array_push(parsed, aim), 0);
	}
	settings.aims = *parsed;
	return frag_target(&settings, map, target, diag);
}

static void aims_are_met(void **state)
{
	static const char *const lists[][4] = {
		{"sequential=10%"},
		{"sequential=30%"},
		{"fragmented=20%"},
		{"extents=4"},
		{"layout-score=0.8"},
		{"largest-free=64K"},
		{"free-extents=60"},
		{"fragmented=15%", "extents=3", "free-extents=50"},
		{"sequential=12%", "free-extents=55"},
	};
	struct fl_metrics *metrics = calloc(1, sizeof(*metrics));
	size_t met = 0;

	(void)state;
	assert_non_null(metrics);
	for (size_t d = 0; d < DISKS; d++)
		for (size_t l = 0; l < sizeof(lists) / sizeof(*lists); l++) {
			struct fl_map *map = named_map(&disks[d]), *after;
			struct fl_target target = {0}, again = {0};
			struct fl_aims aims = {0}, same = {0};
			struct fl_diag diag = {{0}};
			int err = order_layout(map, lists[l], false, &aims, &target, &diag);

			if (err) {
				/* What can't be is said with its name. */
				assert_int_equal(err, FL_ENOROOM);
				assert_non_null(strstr(diag.text, "not possible; the nearest"));
			} else {
				assert_int_equal(fl_target_predict(map, &target, &after, &diag), 0);
				assert_int_equal(fl_analyze(after, &read_all, metrics), 0);
				met += fl_aims_met(&aims, metrics);
				fl_map_free(after);
				/* The same again. */
				assert_int_equal(
					order_layout(map, lists[l], false, &same, &again, &diag),
					0);
				assert_int_equal(again.extents.count, target.extents.count);
				for (size_t i = 0; i < again.extents.count; i++)
					assert_int_equal(again.extents.at[i].pblk,
							 target.extents.at[i].pblk);
			}
			fl_target_free(&target);
			fl_target_free(&again);
			fl_array_free(&aims);
			fl_array_free(&same);
			fl_map_free(map);
		}
	/* Most can be: of files with three blocks at most, few shares and means. */
	assert_in_range(met, 38, 45);
	free(metrics);
}

static struct fl_aim draw_aim(enum fl_aim_key key, struct fl_rng *rng)
{
	struct fl_aim aim = {.key = key};

	switch (fl_aim_unit(key)) {
	case FL_AIM_RATIO:
		aim.wanted = fl_rng_below(rng, FL_AIM_ONE + 1);
		break;
	case FL_AIM_MEAN:
		aim.wanted = fl_rng_between(rng, 2 * FL_AIM_ONE, 20 * FL_AIM_ONE);
		break;
	case FL_AIM_COUNT:
		aim.wanted = fl_rng_between(rng, 1, 400);
		break;
	case FL_AIM_BYTES:
		aim.wanted = fl_rng_between(rng, 1, 4096) * 1024;
		break;
	}
	return aim;
}

/* Whatever is asked of whatever disk: a target that holds, or a refusal that says why. */
static void any_aims_are_met_or_refused(void **state)
{
	struct fl_rng rng;
	size_t met = 0;

	(void)state;
	fl_rng_seed(&rng, 4711);
	for (unsigned round = 0; round < 300; round++) {
		const struct lab_disk disk = {
			.blocks = fl_rng_between(&rng, 600, 9000),
			.block_bytes = fl_rng_chance(&rng, 1, 2) ? 1024 : 4096,
			.per_group = (uint32_t)fl_rng_between(&rng, 256, 4096) / 8 * 8,
			.percent_full = (uint32_t)fl_rng_between(&rng, 5, 99),
			.spare_blocks = 8,
			.indirect = fl_rng_chance(&rng, 1, 3),
			.scattered = fl_rng_chance(&rng, 1, 5),
			.seed = round + 1,
			.most_blocks = fl_rng_chance(&rng, 1, 3) ? 40 : 0,
		};
		struct fl_map *map = named_map(&disk);
		struct frag_settings settings = {.months = 1,
						 .seed = round,
						 .analysis = &read_all,
						 .files_only = fl_rng_chance(&rng, 1, 6)};
		struct fl_target target = {0};
		struct fl_diag diag = {{0}};
		int err;

		settings.free_only = !settings.files_only && fl_rng_chance(&rng, 1, 6);
		for (int key = 0; key < FL_AIM_LIKE_FILES; key++) {
			bool of_free = key >= FL_AIM_LARGEST_FREE;
			struct fl_aim aim = draw_aim((enum fl_aim_key)key, &rng);

			if (fl_rng_chance(&rng, 1, 4) &&
			    !(of_free ? settings.files_only : settings.free_only))
				assert_int_equal(fl_array_push(&settings.aims, aim), 0);
		}
		err = frag_target(&settings, map, &target, &diag);
		if (err && (err != FL_ENOROOM || !diag.text[0]))
			fail_msg("round %u: %d: %s", round, err, diag.text);
		met += !err && settings.aims.count;
		fl_target_free(&target);
		fl_array_free(&settings.aims);
		fl_map_free(map);
	}
	assert_in_range(met, 30, 250);
}

/* What a target promises is what its plan, run to its end, comes to. */
static void predictions_agree(void **state)
{
	static const char *const aims[] = {"fragmented=10%", NULL};
	struct fl_metrics *by_target = calloc(1, sizeof(*by_target));
	struct fl_metrics *by_plan = calloc(1, sizeof(*by_plan));
	struct fl_map *map = named_map(&disks[0]), *after;
	struct fl_target target = {0};
	struct fl_aims parsed = {0};
	struct fl_plan *plan;
	struct fl_diag diag;

	(void)state;
	assert_int_equal(order_layout(map, aims, false, &parsed, &target, &diag), 0);
	assert_int_equal(fl_target_predict(map, &target, &after, &diag), 0);
	assert_int_equal(fl_analyze(after, &read_all, by_target), 0);
	fl_map_free(after);
	assert_int_equal(fl_plan_order(map, &target, &(struct fl_order_options){0}, &plan, &diag),
			 0);
	assert_int_equal(plan->left_blocks, 0);
	assert_int_equal(fl_plan_predict(map, plan, &after, &diag), 0);
	assert_int_equal(fl_analyze(after, &read_all, by_plan), 0);
	assert_true(fl_metrics_equal(by_target, by_plan, NULL, 0, NULL));
	fl_map_free(after);
	fl_plan_free(plan);
	fl_array_free(&parsed);
	fl_target_free(&target);
	fl_map_free(map);
	free(by_target);
	free(by_plan);
}

static void parts_exclude_aims(void **state)
{
	static const char *const aims[] = {"free-extents=9", NULL};
	struct fl_map *map = named_map(&disks[0]);
	struct fl_target target = {0};
	struct fl_aims parsed = {0};
	struct fl_diag diag = {{0}};

	(void)state;
	assert_int_equal(order_layout(map, aims, true, &parsed, &target, &diag), FL_ESYNTAX);
	assert_string_equal(diag.text, "--target free-extents: not with --files-only");
	fl_target_free(&target);
	fl_array_free(&parsed);
	fl_map_free(map);
}

/* --- like another --- */

/* A disk laid out like another one has its distributions. */
static void layouts_are_alike(void **state)
{
	const struct lab_disk like = {.blocks = 32768,
				      .block_bytes = 4096,
				      .per_group = 8192,
				      .percent_full = 70,
				      .seed = 11};
	struct fl_map *map = named_map(&disks[0]), *other = named_map(&like), *model, *after;
	struct frag_settings settings = {.months = 12, .seed = 9};
	struct fl_analyze_options analysis = read_all;
	struct fl_metrics *metrics = calloc(1, sizeof(*metrics));
	struct fl_target target = {0};
	struct fl_shape shape = {0};
	struct fl_diag diag = {{0}};

	(void)state;
	assert_non_null(metrics);
	assert_int_equal(frag_target(&settings, other, &target, &diag), 0);
	assert_int_equal(fl_target_predict(other, &target, &model, &diag), 0);
	assert_int_equal(fl_shape_of(model, &shape), 0);
	fl_target_free(&target);
	analysis.like = &shape;
	settings.analysis = &analysis;
	for (int key = FL_AIM_LIKE_FILES; key <= FL_AIM_LIKE_FREE; key++)
		assert_int_equal(
			fl_array_push(&settings.aims, ((struct fl_aim){(enum fl_aim_key)key, 0})),
			0);
	assert_int_equal(fl_analyze(map, &analysis, metrics), 0);
	assert_false(fl_aims_met(&settings.aims, metrics));
	assert_int_equal(frag_target(&settings, map, &target, &diag), 0);
	assert_int_equal(fl_target_predict(map, &target, &after, &diag), 0);
	assert_int_equal(fl_analyze(after, &analysis, metrics), 0);
	assert_true(metrics->like_files < 50000);
	fl_map_free(after);
	fl_array_free(&settings.aims);
	fl_shape_free(&shape);
	fl_target_free(&target);
	fl_map_free(model);
	fl_map_free(other);
	fl_map_free(map);
	free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_exact),  cmocka_unit_test(places_keep_counts_and_holes),
		cmocka_unit_test(aims_are_met),	     cmocka_unit_test(any_aims_are_met_or_refused),
		cmocka_unit_test(predictions_agree), cmocka_unit_test(parts_exclude_aims),
		cmocka_unit_test(layouts_are_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
