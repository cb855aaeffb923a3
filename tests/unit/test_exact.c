/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of files in exactly so many fragments: exact or refused, and nothing else touched.
 * Must not need an image.
 */
#include "frag/target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/history_lab.h"

/* Names the file: "/f". The text must be there before the names that fl_map_path walks. */
static void name_file(struct fl_map *map, uint32_t file)
{
	static const char texts[] = "\0f";
	struct fl_name root = {.ino = 2, .parent = FL_NO_NAME, .text = 0};
	struct fl_name name = {.ino = map->files.at[file].ino, .parent = 0, .text = 1};

	assert_int_equal(fl_array_append(&map->texts, texts, sizeof(texts)), 0);
	assert_int_equal(fl_array_push(&map->names, root), 0);
	assert_int_equal(fl_array_push(&map->names, name), 0);
	map->files.at[file].name = 1;
}

static int wish(const struct fl_map *map, const char *path, uint64_t fragments,
		struct fl_target *target, struct fl_diag *diag)
{
	struct frag_settings settings = {.months = 1};
	int err;

	assert_int_equal(fl_array_push(&settings.wishes, ((struct frag_wish){path, fragments})), 0);
	err = frag_target(&settings, map, target, diag);
	fl_array_free(&settings.wishes);
	return err;
}

/* Of a target that is met: this file alone, in exactly so many fragments, also when it is moved. */
static void check_met(const struct fl_map *map, uint32_t file, uint64_t fragments,
		      const struct fl_target *target)
{
	struct fl_plan *plan;
	struct fl_map *after;
	int err;

	if (!target->files.count) {
		assert_int_equal(fl_file_fragments(map, &map->files.at[file]), fragments);
		return;
	}
	assert_int_equal(target->files.count, 1);
	assert_int_equal(target->files.at[0].file, file);
	assert_int_equal(fl_fragments(target->extents.at, target->extents.count), fragments);
	err = fl_plan_order(map, target, &(struct fl_order_options){0}, &plan, NULL);
	assert_int_equal(err, 0);
	if (!plan->left_blocks) {
		assert_int_equal(fl_plan_predict(map, plan, &after, NULL), 0);
		for (uint32_t i = 0; i < map->files.count; i++)
			assert_int_equal(fl_file_fragments(after, &after->files.at[i]),
					 i == file ? fragments
						   : fl_file_fragments(map, &map->files.at[i]));
		assert_int_equal(after->files.at[file].blocks, map->files.at[file].blocks);
		fl_map_free(after);
	}
	fl_plan_free(plan);
}

static void exact_or_refused(void **state)
{
	static const uint32_t percents[] = {30, 58, 90, 97, 99};
	static const uint64_t wanted[] = {1, 2, 3, 7, 40, 341, 342, 1000, 5000};
	size_t met = 0, refused = 0;

	(void)state;
	for (size_t p = 0; p < sizeof(percents) / sizeof(*percents); p++)
		for (uint64_t seed = 1; seed <= 8; seed++) {
			const struct lab_disk disk = {.blocks = 16384,
						      .block_bytes = seed % 2 ? 1024 : 4096,
						      .per_group = seed % 2 ? 8192 : 32768,
						      .percent_full = percents[p],
						      .indirect = seed & 2,
						      .scattered = seed & 4,
						      .seed = seed,
						      .most_blocks = 3000};
			struct fl_map *map;
			uint32_t file = 0;

			assert_int_equal(lab_map(&disk, &map), 0);
			for (uint32_t i = 0; i < map->files.count; i++)
				if (map->files.at[i].kind == FL_KIND_REGULAR &&
				    fl_file_movable(&map->files.at[i]) &&
				    map->files.at[i].blocks > map->files.at[file].blocks)
					file = i;
			name_file(map, file);
			for (size_t n = 0; n < sizeof(wanted) / sizeof(*wanted); n++) {
				struct fl_target target = {0};
				struct fl_diag diag = {{0}};
				int err = wish(map, n % 2 ? "/f" : "/[a-z]", wanted[n], &target,
					       &diag);

				met += !err;
				refused += err != 0;
				if (!err)
					check_met(map, file, wanted[n], &target);
				else if (map->files.at[file].blocks >= wanted[n])
					assert_true(err == FL_ENOROOM &&
						    (strstr(diag.text, "the fewest are") ||
						     strstr(diag.text, "mapping tree")));
				else
					assert_non_null(strstr(diag.text, "its blocks are"));
				fl_target_free(&target);
			}
			fl_map_free(map);
		}
	assert_true(met > 200 && refused > 40);
}

static void senseless_wishes_are_refused(void **state)
{
	const struct lab_disk disk = {.blocks = 16384,
				      .block_bytes = 1024,
				      .per_group = 8192,
				      .percent_full = 60,
				      .seed = 1};
	struct fl_target target = {0};
	struct fl_diag diag = {{0}};
	struct fl_map *map;

	(void)state;
	assert_int_equal(lab_map(&disk, &map), 0);
	name_file(map, 3);
	assert_int_equal(wish(map, "/g", 2, &target, &diag), FL_ENOROOM);
	assert_non_null(strstr(diag.text, "/g: there is no such file"));
	assert_int_equal(wish(map, "/f", 0, &target, &diag), FL_ESYNTAX);
	map->files.at[3].pin = FL_PIN_IMMUTABLE;
	assert_int_equal(wish(map, "/f", 1, &target, &diag), FL_ENOROOM);
	assert_non_null(strstr(diag.text, "/f: must stay where it is"));
	map->files.at[3].pin = FL_PIN_NONE;
	/* A pattern is for regular files; a directory must be named. */
	map->files.at[3].kind = FL_KIND_DIRECTORY;
	assert_int_equal(wish(map, "/?", 1, &target, &diag), FL_ENOROOM);
	assert_int_equal(wish(map, "/f", 1, &target, &diag), 0);
	fl_target_free(&target);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_or_refused),
		cmocka_unit_test(senseless_wishes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
