/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: everything from a damaged image to a plan, and the move itself. Whatever was
 * accepted must then work: a refusal after the scan, a promise that does not come true or other
 * content is a finding.
 *
 * Input: seed, flags, planner, a number for it, then damage (seed.c). FUZZ_SEEDS: their directory.
 * FUZZ_DUMP=FILE keeps the damaged image, to look at a finding with other tools.
 */
#include <fraglab/analyze.h>
#include <fraglab/move.h>
#include <fraglab/scan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "defrag/pack.h"
#include "frag/target.h"
#include "tests/fuzz/seed.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);
size_t LLVMFuzzerMutate(uint8_t *input, size_t length, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *input, size_t length, size_t most, unsigned int number);

enum {
	HEADER_BYTES = 4,
	FLAG_KEEP_CHECKSUMS = 3, /* both bits: damage stays as it is, checksums are wrong */
	FLAG_MOVE = 4,
	FLAG_ANALYZE = 8,
	FLAG_UNPIN = 16,
	FLAG_SMALL_BATCHES = 32,
	FLAG_CUT = 64, /* the plan, to as many blocks as the number says */
};

static struct seeds seeds;

struct state {
	const uint8_t *header;
	struct fl_device *below, *device;
	struct fl_fs *fs;
	struct fl_map *map, *units; /* units may be map */
	struct fl_diag diag;
};

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *directory = getenv("FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	initialize_ext2_error_table();
	if (!directory) {
		(void)fprintf(stderr, "fuzz_scan: FUZZ_SEEDS names no directory of seeds\n");
		exit(2);
	}
	seeds_load(directory, &seeds);
	return 0;
}

static void finding(const struct state *state, const char *what, int error)
{
	(void)fprintf(stderr, "FINDING: %s: %d (%s): %s\n", what, error, fl_error_text(error),
		      state->diag.text);
	abort();
}

static void must(const struct state *state, const char *what, int error)
{
	if (error && error != FL_ENOMEM)
		finding(state, what, error);
}

/* --- looking at maps --- */

/* The two simple workloads, or one of all, maybe with the disk that costs least to model. */
static bool measure(const struct state *state, const struct fl_map *map, struct fl_metrics *metrics)
{
	struct fl_analyze_options options = {
		.workloads = {FL_WORKLOAD_READ_ALL, FL_WORKLOAD_READ_INODE_ORDER},
		.workload_count = 2,
	};
	const uint8_t number = state->header[3];
	int error;

	options.stream.max_io_bytes = map->geo.block_bytes * UINT64_C(8);
	if (state->header[2] & 0x40) {
		options.workload_count = 1;
		options.workloads[0] = (enum fl_workload)(number % FL_WORKLOADS);
		/* A trace comes from a text, which has a target of its own. */
		if (options.workloads[0] == FL_WORKLOAD_TRACE)
			options.workloads[0] = FL_WORKLOAD_READ_ALL;
		options.disk.model = number & 8 ? FL_DISK_SSD : FL_DISK_NONE;
	}
	error = fl_analyze(map, &options, metrics);
	must(state, "analyze", error);
	return !error;
}

static void look_around(const struct state *state)
{
	const struct fl_map *map = state->map;
	struct fl_places places = {0};
	char path[300], feature[FL_FEATURE_NAME];

	for (size_t i = 0; fl_fs_feature(state->fs, i, feature); i++)
		if (!memchr(feature, '\0', sizeof(feature)))
			abort();
	must(state, "places", fl_map_places(map, &places));
	fl_array_free(&places);

	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];

		(void)fl_map_path(map, file->name, i & 1, path, i & 2 ? sizeof(path) : 20);
		(void)fl_file_fragments(map, file);
	}
}

/* Attribute blocks have their own place in them, quota files the sizes of mapping trees. */
static bool keeps_content(const struct fl_file *file)
{
	return file->kind != FL_KIND_XATTR && file->kind != FL_KIND_HIDDEN;
}

/* A sum of all that files hold. */
static uint64_t content(const struct state *state, const struct fl_map *map,
			struct fl_device *device)
{
	const uint32_t size = map->geo.block_bytes;
	uint64_t sum = 1469598103934665603u;
	uint8_t *block = malloc(size);

	if (!block)
		abort();
	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];

		for (size_t e = 0; keeps_content(file) && e < file->extent_count; e++) {
			const struct fl_extent *extent = &map->extents.at[file->first_extent + e];

			for (uint32_t at = 0; at < extent->len; at++) {
				sum = (sum ^ file->ino) * 1099511628211u;
				sum = (sum ^ (extent->lblk + at)) * 1099511628211u;
				sum = (sum ^ extent->unwritten) * 1099511628211u;
				if (extent->unwritten)
					continue;
				must(state, "reading content",
				     fl_device_read(device, block, size,
						    (extent->pblk + at) * size));
				for (uint32_t b = 0; b < size; b++)
					sum = (sum ^ block[b]) * 1099511628211u;
			}
		}
	}
	free(block);
	return sum;
}

/* --- the steps of a run --- */

static void drop_map(struct state *state)
{
	if (state->units != state->map)
		fl_map_free(state->units);
	fl_map_free(state->map);
	state->map = state->units = NULL;
	fl_fs_close(state->fs);
	state->fs = NULL;
}

static int scan(struct state *state, enum fl_fs_mode mode)
{
	int error = fl_fs_open(state->device, mode, &state->fs, &state->diag);

	if (!error)
		error = fl_scan(state->fs, NULL, NULL, &state->map, &state->diag);
	if (error)
		return error;
	if (state->header[1] & FLAG_UNPIN)
		fl_map_unpin(state->map, FL_PIN_IMMUTABLE);
	state->units = state->map;
	if (state->map->geo.cluster_blocks > 1) {
		state->units = NULL;
		error = fl_map_units(state->map, &state->units, &state->diag);
	}
	return error;
}

/* Two figures at most, from one byte. */
static size_t choose_aims(uint8_t byte, struct fl_aim aims[2])
{
	size_t count = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct fl_aim *aim = &aims[count];
		const unsigned level = byte / 36u + i; /* 0 .. 8 */

		aim->key = (enum fl_aim_key)(i ? byte / 6 % 6 : byte % 6);
		if (i && aim->key == aims[0].key)
			break;
		switch (fl_aim_unit(aim->key)) {
		case FL_AIM_RATIO:
			aim->wanted = FL_AIM_ONE / 8 * level;
			break;
		case FL_AIM_MEAN:
			aim->wanted = FL_AIM_ONE * (2 + level);
			break;
		case FL_AIM_COUNT:
			aim->wanted = UINT64_C(1) << (2 * level);
			break;
		case FL_AIM_BYTES:
			aim->wanted = UINT64_C(1024) << (2 * level);
			break;
		}
		count++;
	}
	return count;
}

static int make_target(struct state *state, struct fl_target *target)
{
	const uint8_t *header = state->header;
	static const struct fl_analyze_options analysis = {.workloads = {FL_WORKLOAD_READ_ALL},
							   .workload_count = 1};
	struct fl_aim aims[2] = {{0}};
	uint32_t listed[8];
	struct frag_wish wish = {.path = "/*", .fragments = header[3] % 9 + 1u};
	struct frag_settings frag = {.months = header[3] % 12 + 1u,
				     .seed = header[3],
				     .files_only = header[2] % 8 == 1,
				     .free_only = header[2] % 8 == 2};
	struct defrag_settings defrag = {
		.mode = (enum defrag_mode)(header[2] % 3),
		.order = header[2] % 3 == DEFRAG_FULL ? (enum defrag_order)(header[2] / 3 % 3)
						      : DEFRAG_KEEP,
		.listed = listed,
		.max_bytes = header[3] % 4 ? 0 : header[3] * UINT64_C(1024),
		.threshold = header[3] % 5,
	};

	if (header[2] % 8 == 4) {
		frag.aims.at = aims;
		frag.aims.count = choose_aims(header[3], aims);
		frag.analysis = &analysis;
	}
	if (header[2] % 8 == 3) {
		frag.wishes.at = &wish;
		frag.wishes.count = 1;
	}
	if (header[2] & 0x80)
		return frag_target(&frag, state->units, target, &state->diag);
	for (size_t i = 0; i < 8 && state->units->files.count; i++)
		listed[defrag.listed_count++] =
			(uint32_t)((header[3] * 7u + i * 5) % (state->units->files.count + 1));
	for (size_t i = 0; i < defrag.listed_count; i++)
		if (listed[i] == state->units->files.count)
			listed[i] = FL_NO_NAME;
	return defrag_target(&defrag, state->units, target, &state->diag);
}

/* May be refused although the image is well: no room, or what a program says that it does not do.
 */
static bool is_refusal(int error)
{
	return error == FL_ENOROOM || error == FL_EFEATURE || error == FL_ENOMEM;
}

static bool make_plan(struct state *state, struct fl_target *target, struct fl_plan **plan)
{
	struct fl_order_options options = {.batch_blocks =
						   state->header[1] & FLAG_SMALL_BATCHES ? 16 : 0};
	uint64_t next;
	int error = make_target(state, target);

	if (!error) {
		error = fl_target_finish(target, state->units, &state->diag);
		must(state, "checking the target", error);
	}
	if (!error)
		error = fl_plan_order(state->units, target, &options, plan, &state->diag);
	if (error && !is_refusal(error))
		finding(state, "planning", error);
	if (!error && state->header[1] & FLAG_CUT)
		must(state, "cutting the plan",
		     fl_plan_cut_to_gain(state->units, *plan, state->header[3],
					 (enum fl_gain)(state->header[3] % 3), &next,
					 &state->diag));
	return !error;
}

static bool predict(struct state *state, const struct fl_plan *plan, struct fl_metrics *metrics)
{
	struct fl_map *predicted = NULL;
	int error = fl_plan_predict(state->units, plan, &predicted, &state->diag);
	bool good;

	must(state, "predicting", error);
	if (!error) {
		error = fl_map_into_blocks(&predicted, &state->diag);
		must(state, "predicting in blocks", error);
	}
	good = !error && measure(state, predicted, metrics);
	fl_map_free(predicted);
	return good;
}

/* What the plan promised must be what a second scan finds, with the same content. */
static void move(struct state *state, const struct fl_plan *plan,
		 const struct fl_metrics *predicted)
{
	struct fl_move_options options = {.verify = true, .buffer_bytes = 1 << 16};
	uint64_t before = content(state, state->map, state->below);
	struct fl_deviation deviation;
	struct fl_move_result result;
	struct fl_metrics metrics;
	int error = fl_move_run(state->fs, state->units, plan, &options, &result, &state->diag);

	if (error && result.wrote)
		finding(state, "moving", error);
	if (error)
		return;
	drop_map(state);
	must(state, "scanning again", scan(state, FL_FS_READ));
	if (!state->units || !measure(state, state->map, &metrics))
		return;
	if (!fl_metrics_equal(predicted, &metrics, &deviation, 1, NULL)) {
		(void)snprintf(state->diag.text, sizeof(state->diag.text), "%s: %s, not %s",
			       deviation.name, deviation.found, deviation.expected);
		finding(state, "the prediction", 0);
	}
	if (content(state, state->map, state->device) != before)
		finding(state, "other content", 0);
}

static void run(struct state *state)
{
	const bool moves = state->header[1] & FLAG_MOVE;
	enum fl_fs_mode mode = state->header[1] & FLAG_ANALYZE ? FL_FS_ANALYZE
			       : moves			       ? FL_FS_CHANGE
							       : FL_FS_READ;
	struct fl_target target = {0};
	struct fl_plan *plan = NULL;
	enum fl_trailer trailer;
	struct fl_metrics metrics;

	if (scan(state, mode))
		return;
	look_around(state);
	must(state, "trailer", fl_fs_trailer(state->fs, &trailer));
	if (measure(state, state->map, &metrics) && mode != FL_FS_ANALYZE &&
	    make_plan(state, &target, &plan) && predict(state, plan, &metrics) && moves)
		move(state, plan, &metrics);
	fl_plan_free(plan);
	fl_target_free(&target);
}

static void dump(const struct seed *seed, const char *path)
{
	FILE *out = fopen(path, "wbe");

	if (!out || fwrite(seed->bytes, 1, seed->size_bytes, out) != seed->size_bytes ||
	    fclose(out))
		abort();
}

/* Every other time one more record, else what libFuzzer has in mind. */
size_t LLVMFuzzerCustomMutator(uint8_t *input, size_t length, size_t most, unsigned int number)
{
	uint8_t record[SEED_RECORD_BYTES];
	struct fl_rng rng;
	size_t bytes;

	fl_rng_seed(&rng, number);
	if (length < HEADER_BYTES || fl_rng_chance(&rng, 1, 2))
		return LLVMFuzzerMutate(input, length, most);
	bytes = seed_invent(&seeds.at[input[0] % seeds.count], &rng, record);
	if (length + bytes > most)
		length = HEADER_BYTES;
	if (length + bytes > most)
		return length;
	memcpy(input + length, record, bytes);
	return length + bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	struct state state = {.header = input};
	struct fl_verdicts verdicts = {0};
	struct seed *seed;

	if (length < HEADER_BYTES)
		return -1;
	seed = &seeds.at[input[0] % seeds.count];
	seed_damage(seed, input + HEADER_BYTES, length - HEADER_BYTES,
		    (input[1] & FLAG_KEEP_CHECKSUMS) != FLAG_KEEP_CHECKSUMS);
	if (getenv("FUZZ_DUMP"))
		dump(seed, getenv("FUZZ_DUMP"));
	state.below = seed_device(seed);
	must(&state, "overlay", fl_device_overlay(state.below, &state.device));
	(void)!fl_fs_verdicts(state.device, &verdicts, &state.diag);
	fl_array_free(&verdicts);
	run(&state);
	drop_map(&state);
	fl_device_close(state.device);
	fl_device_close(state.below);
	seed_restore(seed);
	return 0;
}
