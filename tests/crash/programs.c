/* SPDX-License-Identifier: MIT */
/*
 * A run of a program without its command line. Must do what common/cli does, in that order; but
 * without a budget plans that end worse are run to their end too (see fl_plan_cut_losses): mover
 * and image must stand that.
 */
#include "tests/crash/programs.h"

#include <fraglab/scan.h>
#include <fraglab/util.h>

/* Small, so that the copy of a batch is many writes. */
#define BUFFER_BYTES (256u << 10)

const struct crash_program crash_programs[] = {
	{"frag", "desktop", .frag = {.months = 12, .seed = 1}},
	{"frag", "server", .frag = {.months = 24, .seed = 2}},
	{"defrag", "full", .defrag = true, .pack = {.mode = DEFRAG_FULL, .threshold = 1}},
	{"defrag", "files", .defrag = true, .pack = {.mode = DEFRAG_FILES, .threshold = 1}},
	{"defrag", "free", .defrag = true, .pack = {.mode = DEFRAG_FREE, .threshold = 1}},
	{"defrag", "budget", .defrag = true,
	 .pack = {.mode = DEFRAG_FULL, .threshold = 1, .max_bytes = 384 << 10}},
};
const size_t crash_program_count = sizeof(crash_programs) / sizeof(crash_programs[0]);

static uint64_t fragments_of(const struct fl_map *map)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < map->files.count; i++)
		sum += fl_fragments(map->extents.at + map->files.at[i].first_extent,
				    map->files.at[i].extent_count);
	return sum;
}

static bool same_extent(const struct fl_extent *a, const struct fl_extent *b)
{
	return a->pblk == b->pblk && a->lblk == b->lblk && a->len == b->len &&
	       a->unwritten == b->unwritten;
}

static bool same_file(const struct fl_map *a, const struct fl_map *b, size_t index)
{
	const struct fl_file *fa = &a->files.at[index], *fb = &b->files.at[index];

	if (fa->ino != fb->ino || fa->kind != fb->kind || fa->extent_count != fb->extent_count ||
	    fa->tree_count != fb->tree_count)
		return false;
	for (size_t i = 0; i < fa->extent_count; i++)
		if (!same_extent(&a->extents.at[fa->first_extent + i],
				 &b->extents.at[fb->first_extent + i]))
			return false;
	for (size_t i = 0; i < fa->tree_count; i++)
		if (a->trees.at[fa->first_tree + i] != b->trees.at[fb->first_tree + i])
			return false;
	return true;
}

static bool same(const struct fl_map *a, const struct fl_map *b)
{
	if (a->files.count != b->files.count || a->free_blocks != b->free_blocks)
		return false;
	for (size_t i = 0; i < a->files.count; i++)
		if (!same_file(a, b, i))
			return false;
	return true;
}

static int scan(struct fl_device *device, enum fl_fs_mode mode, struct fl_fs **fs,
		struct fl_map **map, struct fl_diag *diag)
{
	int error = fl_fs_open(device, mode, fs, diag);

	return error ? error : fl_scan(*fs, NULL, NULL, map, diag);
}

static int age(const struct crash_program *program, const struct fl_map *map,
	       struct fl_target *target, struct fl_diag *diag)
{
	struct frag_settings settings = program->frag;
	struct frag_profile profile;
	int error = frag_profile_load(program->mode, &profile, diag);

	settings.profile = &profile;
	return error ? error : frag_target(&settings, map, target, diag);
}

static int plan(const struct crash_program *program, const struct fl_map *map,
		uint32_t batch_blocks, struct fl_plan **made, struct fl_diag *diag)
{
	const uint64_t budget = program->pack.max_bytes / map->geo.block_bytes;
	const struct fl_order_options options = {
		.batch_blocks = budget ? fl_min(batch_blocks, budget / 8) : batch_blocks};
	struct fl_target target = {0};
	uint64_t next;
	int error = program->defrag ? defrag_target(&program->pack, map, &target, diag)
				    : age(program, map, &target, diag);

	if (!error)
		error = fl_target_finish(&target, map, diag);
	if (!error)
		error = fl_plan_order(map, &target, &options, made, diag);
	if (!error && budget && (*made)->left_blocks)
		error = fl_plan_cut_losses(map, *made, diag);
	if (!error && budget)
		error = fl_plan_cut_to_gain(map, *made, budget, FL_GAIN_FRAGMENTS, &next, diag);
	fl_target_free(&target);
	return error;
}

static int look_again(struct fl_device *device, const struct fl_map *promised,
		      struct crash_outcome *outcome)
{
	struct fl_map *map = NULL;
	struct fl_fs *fs = NULL;
	int error = scan(device, FL_FS_READ, &fs, &map, &outcome->diag);

	if (!error)
		outcome->predicted = same(promised, map);
	fl_map_free(map);
	fl_fs_close(fs);
	return error;
}

/* The map that a scan will find, in blocks. */
static int predict(const struct fl_map *units, const struct fl_plan *made, struct fl_map **promised,
		   struct fl_diag *diag)
{
	int error = fl_plan_predict(units, made, promised, diag);

	return error ? error : fl_map_into_blocks(promised, diag);
}

static bool no_others(void *context, uint32_t seconds)
{
	(void)context, (void)seconds;
	return true;
}

/* The mover asks before each batch. */
struct patience {
	const struct crash_conditions *conditions;
	size_t asked;
};

static bool cancelled(void *context)
{
	struct patience *patience = context;

	return patience->conditions->cancels && patience->asked++ == patience->conditions->batches;
}

int crash_program_run(const struct crash_program *program, struct fl_device *device,
		      const struct crash_conditions *conditions, struct crash_outcome *outcome)
{
	struct patience patience = {.conditions = conditions};
	const struct fl_move_options options = {.verify = conditions->verify,
						.buffer_bytes = BUFFER_BYTES,
						.cancelled = cancelled,
						.context = &patience,
						.claimant = {1, no_others, NULL}};
	struct fl_map *map = NULL, *units = NULL, *promised = NULL;
	struct fl_plan *made = NULL;
	struct fl_fs *fs = NULL;
	int error;

	*outcome = (struct crash_outcome){0};
	error = scan(device, FL_FS_CHANGE, &fs, &map, &outcome->diag);
	if (!error && map->geo.cluster_blocks > 1)
		error = fl_map_units(map, &units, &outcome->diag);
	else if (!error)
		units = map;
	if (!error)
		error = plan(program, units, conditions->batch_blocks, &made, &outcome->diag);
	if (!error)
		error = predict(units, made, &promised, &outcome->diag);
	if (!error) {
		outcome->planned = true;
		outcome->batches = made->batches.count;
		outcome->left_blocks = made->left_blocks;
		outcome->before = fragments_of(map);
		outcome->fragments = fragments_of(promised);
		error = fl_move_run(fs, units, made, &options, &outcome->moved, &outcome->diag);
	}
	fl_fs_close(fs);
	if (!error)
		error = look_again(device, promised, outcome);
	fl_plan_free(made);
	fl_map_free(promised);
	if (units != map)
		fl_map_free(units);
	fl_map_free(map);
	return error;
}
