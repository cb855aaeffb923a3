/* SPDX-License-Identifier: MIT */
/*
 * The mover on images with quota, clusters and attribute inodes: refused before the first write
 * when quota cannot be kept, and repairable wherever the writes stop.
 */
#include <tests/lib/image.h>

#include <common/fs/fs_internal.h>
#include <fraglab/move.h>

#include "frag/target.h"

/* A few files whose mapping trees grow when they are fragmented. */
static void make_source(struct bench *b)
{
	bench_run(b,
		  "mkdir -p $D/src/d; for i in 1 2 3 4 5 6 7 8 9; do seq 1 $((i * 9000)) "
		  ">$D/src/d/f$i; done; for i in $(seq 0 2 80); do seq 1000 1300 | head -c 1024 | "
		  "dd of=$D/src/comb bs=1024 seek=$i conv=notrunc; done");
}

/* Lets so many writes pass, then none, as if the power were cut. */
struct cut {
	long writes_left;
	long writes;
};

static int count_down(void *context, const struct fl_device_event *event)
{
	struct cut *cut = context;

	if (event->op == FL_OP_READ || event->op == FL_OP_FLUSH)
		return cut->writes_left < 0 ? FL_EIO : 0;
	cut->writes++;
	return --cut->writes_left < 0 ? FL_EIO : 0;
}

/* Ages the image in place; the writes that came through are in cut->writes. */
static int age(struct bench *b, struct cut *cut, struct fl_move_result *result)
{
	struct frag_settings settings = {.months = 2, .seed = 5};
	struct fl_move_options options = {0};
	struct fl_target target = {0};
	struct fl_map *units = NULL, *map;
	struct fl_device *file, *device;
	struct fl_plan *plan = NULL;
	int error;

	bench_close(b);
	assert_int_equal(fl_device_file_open(b->path, FL_DEVICE_WRITE, &file, &b->diag), 0);
	assert_int_equal(fl_device_recorder(file, count_down, cut, &device), 0);
	if (fl_fs_open(device, FL_FS_CHANGE, &b->fs, &b->diag) ||
	    fl_scan(b->fs, NULL, NULL, &b->map, &b->diag))
		fail_msg("%s", b->diag.text);
	map = b->map;
	if (map->geo.cluster_blocks > 1) {
		assert_int_equal(fl_map_units(map, &units, &b->diag), 0);
		map = units;
	}
	assert_int_equal(frag_target(&settings, map, &target, &b->diag), 0);
	assert_int_equal(
		fl_plan_order(map, &target, &(struct fl_order_options){300}, &plan, &b->diag), 0);
	error = fl_move_run(b->fs, map, plan, &options, result, &b->diag);
	fl_plan_free(plan);
	fl_target_free(&target);
	fl_map_free(units);
	fl_map_free(b->map);
	fl_fs_close(b->fs);
	b->map = NULL;
	b->fs = NULL;
	fl_device_close(device);
	fl_device_close(file);
	return error;
}

static void fsck_clean(struct bench *b)
{
	bench_run(
		b,
		"e2fsck -fn $I >$D/fsck 2>&1; cat $D/fsck; ! grep -q 'WARNING\\|Optimize' $D/fsck");
}

static void make_image(struct bench *b, const char *arguments)
{
	bench_make(b, "12M", arguments);
	if (strstr(arguments, "ea_inode"))
		bench_debugfs(
			b, "ea_set -f src/d/f1 d/f2 user.big\nea_set -f src/d/f1 d/f3 user.big\n");
	bench_debugfs(b, "sif d/f3 uid 77\nsif comb uid 70000\nsif d/f9 gid 78\n");
	bench_run(b, "e2fsck -fy $I || test $? = 1; cp $I $D/original");
}

static const char *const images[] = {
	"-t ext4 -b 1024 -J size=1",
	"-t ext4 -b 1024 -I 256 -J size=1 -O quota,project -E quotatype=usrquota:grpquota:prjquota",
	"-t ext4 -b 1024 -I 256 -J size=1 -O bigalloc -C 4096",
	"-t ext4 -b 1024 -I 256 -J size=1 -O bigalloc,quota -C 2048 -E quotatype=usrquota",
	"-t ext4 -b 1024 -I 256 -J size=1 -O ea_inode,quota -E quotatype=usrquota",
};

/* At most so many cuts an image, spread over all writes. */
#define CUTS 12

static void test_cuts(void **state)
{
	struct bench *b = *state;

	make_source(b);
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
		struct cut whole = {.writes_left = 1000000};
		struct fl_move_result result;
		long step;

		make_image(b, images[i]);
		if (age(b, &whole, &result))
			fail_msg("%s: %s", images[i], b->diag.text);
		assert_true(whole.writes > 20);
		assert_true(result.batches > 1);
		fsck_clean(b);
		step = whole.writes / CUTS + 1;
		for (long writes = 0; writes < whole.writes; writes += step) {
			struct cut cut = {.writes_left = writes};

			bench_run(b, "cp $D/original $I");
			assert_int_not_equal(age(b, &cut, &result), 0);
			if (bench_try(b, "e2fsck -fy $I || test $? = 1"))
				fail_msg("%s: cut after %ld writes: e2fsck -fy", images[i], writes);
			fsck_clean(b);
			bench_scan_ok(b);
			bench_close(b);
		}
	}
}

/* Without an entry, or in a format of another version, usage could not be kept. */
static void test_quota_refused(void **state)
{
	struct bench *b = *state;
	struct cut cut = {.writes_left = 1000000};
	struct fl_move_result result;
	fl_pblk block;

	make_source(b);
	make_image(b, images[1]);
	/* Whichever of them gets a mapping tree of another size. */
	bench_debugfs(b, "sif d/f4 uid 4711\nsif d/f5 uid 4711\nsif d/f6 uid 4711\n"
			 "sif d/f7 uid 4711\nsif d/f8 uid 4711\nsif d/f9 uid 4711\n"
			 "sif comb uid 4711\n");
	assert_int_equal(age(b, &cut, &result), FL_EDAMAGED);
	assert_non_null(strstr(b->diag.text, "no entry for id 4711"));
	assert_false(result.wrote);
	assert_int_equal(cut.writes, 0);

	bench_run(b, "cp $D/original $I");
	bench_scan_ok(b);
	block = 0;
	for (size_t i = 0; i < b->map->files.count; i++)
		if (b->map->files.at[i].ino == EXT4_GRP_QUOTA_INO)
			block = b->map->extents.at[b->map->files.at[i].first_extent].pblk;
	assert_int_not_equal(block, 0);
	bench_close(b);
	bench_poke(b, "\0", 1, block * 1024 + 4);
	assert_int_equal(age(b, &cut, &result), FL_EFEATURE);
	assert_false(result.wrote);
	bench_poke(b, "\0", 1, block * 1024);
	assert_int_equal(age(b, &cut, &result), FL_EDAMAGED);
	assert_int_equal(cut.writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_cuts, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_quota_refused, bench_setup, bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
