/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: what is read from text. The first byte says which reader, for plans also
 * for which map. Plans that are taken must survive printing, and valid ones must be predictable.
 */
#include <fraglab/cli.h>
#include <fraglab/scan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "defrag/list.h"
#include "frag/profile.h"
#include "tests/fuzz/lab.h"
#include "tests/fuzz/seed.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

struct scanned {
	struct fl_map *map, *units;
};

static struct seeds seeds; /* kept: what a library has of them is no leak */
static FL_ARRAY(struct scanned) maps;
static char list_path[] = "/tmp/fraglab-fuzz-XXXXXX";
static int list_fd;

static void remove_list(void)
{
	(void)unlink(list_path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *directory = getenv("FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	initialize_ext2_error_table();
	if (!directory)
		exit(2);
	seeds_load(directory, &seeds);
	for (size_t i = 0; i < seeds.count; i++) {
		struct fl_device *device = seed_device(&seeds.at[i]);
		struct scanned scanned = {0};
		struct fl_diag diag;
		struct fl_fs *fs;

		check(!fl_fs_open(device, FL_FS_READ, &fs, &diag));
		check(!fl_scan(fs, NULL, NULL, &scanned.map, &diag));
		fl_fs_close(fs);
		fl_device_close(device);
		scanned.units = scanned.map;
		if (scanned.map->geo.cluster_blocks > 1)
			check(!fl_map_units(scanned.map, &scanned.units, &diag));
		check(!fl_array_push(&maps, scanned));
	}
	list_fd = mkstemp(list_path);
	check(list_fd >= 0 && !atexit(remove_list));
	return 0;
}

static void read_plan(const struct fl_map *map, const char *text)
{
	struct fl_plan *plan = NULL, *again = NULL;
	char *printed = NULL, *reprinted = NULL;
	struct fl_map *predicted = NULL;
	struct fl_diag diag;

	if (fl_plan_parse(map, text, &plan, &diag))
		return;
	check(!fl_plan_print(map, plan, &printed));
	check(!fl_plan_parse(map, printed, &again, &diag));
	check(!fl_plan_print(map, again, &reprinted) && !strcmp(printed, reprinted));
	if (!fl_plan_validate(map, plan, &diag)) {
		check(!fl_plan_predict(map, plan, &predicted, &diag));
		fl_map_free(predicted);
	}
	fl_plan_free(plan);
	fl_plan_free(again);
	free(printed);
	free(reprinted);
}

static void read_list(const struct fl_map *map, const char *text, size_t length)
{
	struct path_list list = {0};
	struct fl_diag diag;

	check(!ftruncate(list_fd, 0) && pwrite(list_fd, text, length, 0) == (ssize_t)length);
	if (!list_read(list_path, &list, &diag)) {
		uint32_t *files = fl_alloc(list.count, sizeof(*files));

		check(files && !list_find(&list, map, files));
		for (size_t i = 0; i < list.count; i++)
			check(files[i] == FL_NO_NAME || files[i] < map->files.count);
		free(files);
	}
	list_free(&list);
}

static void read_numbers(const char *text)
{
	char formatted[FL_SIZE_TEXT];
	enum fl_workload workload;
	struct fl_diag diag;
	uint64_t value;

	if (!fl_size_parse(text, &value))
		check(strlen(fl_size_format(value, formatted)) < FL_SIZE_TEXT);
	if (!fl_cli_number(text, 3, 1000000, &value, &diag))
		check(value >= 3 && value <= 1000000);
	if (fl_workload_find(text, &workload))
		check(!strcmp(fl_workload_name(workload), text));
}

/* What is taken keeps to the limits that the history counts on. */
static void read_profile(const char *text)
{
	struct frag_profile profile = {0};
	struct fl_diag diag;
	size_t sizes = 0;

	if (frag_profile_parse(text, &profile, &diag))
		return;
	check(profile.low_percent <= profile.peak_percent && profile.peak_percent < 100);
	check(profile.chunk_least && profile.chunk_least <= profile.chunk_most);
	check(profile.writers && profile.summary[0]);
	while (sizes < FRAG_MOST_SIZES && profile.sizes[sizes].weight)
		sizes++;
	check(sizes && !profile.sizes[sizes].weight);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	const struct scanned *scanned;
	char *text;

	if (!length)
		return -1;
	text = malloc(length);
	check(text != NULL);
	memcpy(text, input + 1, length - 1);
	text[length - 1] = '\0';
	scanned = &maps.at[input[0] / 4 % maps.count];
	switch (input[0] % 4) {
	case 0:
	case 1:
		read_plan(scanned->units, text);
		break;
	case 2:
		read_list(scanned->map, text, length - 1);
		break;
	case 3:
		read_numbers(text);
		read_profile(text);
		break;
	}
	free(text);
	return 0;
}
