/* SPDX-License-Identifier: MIT */
/*
 * The command line's pure parts: options, exit status, the progress line, files that
 * appear whole, files left over. Runs no program and needs no image.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cli/messages.h"
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/cli/progress.h"
#include "common/cli/run.h"

/* --- options --- */

struct seen {
	char name[16], value[16];
};

static int take(void *settings, const char *name, const char *value, struct fl_diag *diag)
{
	struct seen *seen = settings;

	(void)snprintf(seen->name, sizeof(seen->name), "%s", name);
	(void)snprintf(seen->value, sizeof(seen->value), "%s", value ? value : "(none)");
	if (value && !strcmp(value, "help"))
		return FL_OPTION_QUESTION;
	if (value && !strcmp(value, "bad"))
		return fl_fail(diag, FL_ESYNTAX, "is bad");
	return 0;
}

static const struct fl_program_option own[] = {
	{"speed", 's', true},
	{"own-flag", 'w', false},
	{NULL, 0, false},
};

struct parsed {
	struct fl_options options;
	enum fl_request request;
	struct fl_diag diag;
	struct seen seen;
	char name[8];
	char *argv[32];
};

/* Arguments separated by spaces in line, which must be writable. */
static int parse(struct parsed *parsed, char *line)
{
	const struct fl_program program = {
		.name = "prog",
		.usage = "",
		.option = take,
		.own_options = own,
		.settings = &parsed->seen,
	};
	int argc = 0;
	char *word;

	memset(parsed, 0, sizeof(*parsed));
	parsed->argv[argc++] = strcpy(parsed->name, "prog");
	while ((word = strsep(&line, " ")))
		parsed->argv[argc++] = word;
	return fl_options_parse(&program, argc, parsed->argv, &parsed->options, &parsed->request,
				&parsed->diag);
}

static void options_defaults(void **state)
{
	struct parsed p;
	char line[] = "image";

	(void)state;
	assert_int_equal(parse(&p, line), 0);
	assert_int_equal(p.request, FL_REQUEST_RUN);
	assert_int_equal(p.options.image_count, 1);
	assert_string_equal(p.options.images[0], "image");
	assert_int_equal(p.options.analysis.workload_count, 3);
	assert_int_equal(p.options.analysis.workloads[0], FL_WORKLOAD_READ_ALL);
	assert_int_equal(p.options.analysis.workloads[1], FL_WORKLOAD_READ_INODE_ORDER);
	assert_int_equal(p.options.analysis.workloads[2], FL_WORKLOAD_READ_DIRECTORY_ORDER);
	assert_int_equal(p.options.analysis.stream.max_io_bytes, 0);
	assert_int_equal(p.options.progress, FL_PROGRESS_AUTO);
	assert_false(p.options.json || p.options.dry_run || p.options.analyze);
	assert_null(p.options.output_path);
}

static void options_all(void **state)
{
	struct parsed p;
	char line[] = "image -n --json=j --csv=c -o out --verify --workload "
		      "read-inode-order --max-io 64K --progress never -v -s 7 -P 12";

	(void)state;
	assert_int_equal(parse(&p, line), 0);
	assert_true(p.options.dry_run && p.options.json && p.options.verify && p.options.verbose);
	assert_string_equal(p.options.json_path, "j");
	assert_string_equal(p.options.csv_path, "c");
	assert_string_equal(p.options.output_path, "out");
	assert_int_equal(p.options.analysis.workload_count, 1);
	assert_int_equal(p.options.analysis.workloads[0], FL_WORKLOAD_READ_INODE_ORDER);
	assert_int_equal(p.options.analysis.stream.max_io_bytes, 65536);
	assert_int_equal(p.options.progress, FL_PROGRESS_NEVER);
	assert_string_equal(p.seen.name, "speed");
	assert_string_equal(p.seen.value, "7");
	assert_string_equal(p.options.images[0], "image");
	assert_int_equal(p.options.partition, 12);
	assert_false(p.options.has_offset);
}

static void options_order(void **state)
{
	struct parsed p;
	char offset[] = "--offset 1M --undo u image";
	char analyze[] = "a --analyze b c", last_wins[] = "-q -v image", after[] = "-- -n",
	     help[] = "-h --no-such-option", question[] = "--speed help --no-such-option",
	     json[] = "--json image";

	(void)state;
	assert_int_equal(parse(&p, offset), 0);
	assert_true(p.options.has_offset && p.options.offset_bytes == 1 << 20);
	assert_int_equal(p.options.partition, 0);
	assert_string_equal(p.options.undo_path, "u");
	assert_int_equal(parse(&p, analyze), 0);
	assert_int_equal(p.options.image_count, 3);
	assert_string_equal(p.options.images[2], "c");
	assert_int_equal(parse(&p, last_wins), 0);
	assert_true(p.options.verbose && !p.options.quiet);
	assert_int_equal(parse(&p, after), 0);
	assert_string_equal(p.options.images[0], "-n");
	assert_false(p.options.dry_run);
	assert_int_equal(parse(&p, help), 0);
	assert_int_equal(p.request, FL_REQUEST_HELP);
	assert_int_equal(parse(&p, question), 0);
	assert_int_equal(p.request, FL_REQUEST_ANSWER);
	assert_int_equal(parse(&p, json), 0);
	assert_true(p.options.json);
	assert_null(p.options.json_path);
	assert_string_equal(p.options.images[0], "image");
}

static void options_errors(void **state)
{
	static const struct {
		const char *line, *text;
	} cases[] = {
		{"-x image", "option -x: unknown"},
		{"-nx image", "option -x: unknown"},
		{"--xyz=1 image", "option --xyz=1: unknown"},
		{"--ver image", "option --ver: ambiguous"},
		{"image --speed", "option --speed: needs a value"},
		{"image -s", "option --speed: needs a value"},
		{"--own-flag=1 image", "option --own-flag: takes no value"},
		{"-s bad image", "option --speed: is bad"},
		{"--undo f -o c image",
		 "option --undo: nothing to undo with --output, IMAGE stays as it is"},
		{"--undo f --analyze image", "option --undo: nothing to undo with --analyze"},
		{"-P 0 image", "option --partition: not between 1 and 65535: '0'"},
		{"-P x image", "option --partition: not a number: 'x'"},
		{"--offset 1X image", "option --offset: not a size: '1X'"},
		{"--offset 1000 image", "option --offset: not a multiple of 512 bytes: '1000'"},
		{"-P 1 --offset 1M image", "options --partition and --offset: only one of them"},
		{"--disk floppy image", "option --disk: no such disk model: 'floppy'"},
		{"--queue 0 image", "option --queue: not between 1 and 1024: '0'"},
		{"--rate 0 image", "option --rate: not a size above 0: '0'"},
		{"--write-cache x image", "option --write-cache: not a size: 'x'"},
		{"--write-cache 9G --disk raid5 image", "option --write-cache: more than 8G: '9G'"},
		{"--write-cache 1M --disk ssd image", "option --write-cache: needs --disk raid5"},
		{"--capture f image", "option --capture: needs --analyze"},
		{"--read-ahead 1K image",
		 "option --read-ahead: not a multiple of 4K, at most 1G: '1K'"},
		{"--interleave a", "option --interleave: needs --analyze and two images or more"},
		{"--interleave --analyze a",
		 "option --interleave: needs --analyze and two images or more"},
		{"-n", "no image is named"},
		{"a b", "several images: only --analyze takes more than one"},
	};
	struct parsed p;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[80];

		(void)snprintf(line, sizeof(line), "%s", cases[i].line);
		assert_int_equal(parse(&p, line), FL_ESYNTAX);
		assert_string_equal(p.diag.text, cases[i].text);
	}
}

static void numbers(void **state)
{
	static const char *const wrong[] = {"",
					    " 1",
					    "1 ",
					    "+1",
					    "-1",
					    "0x1",
					    "1e3",
					    "18446744073709551616",
					    "99999999999999999999"};
	struct fl_diag diag;
	uint64_t value = 77;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(fl_cli_number(wrong[i], 0, UINT64_MAX, &value, &diag), FL_ESYNTAX);
	assert_int_equal(fl_cli_number("4", 5, 9, &value, &diag), FL_ESYNTAX);
	assert_int_equal(fl_cli_number("10", 5, 9, &value, &diag), FL_ESYNTAX);
	assert_int_equal(value, 77);
	assert_int_equal(fl_cli_number("5", 5, 9, &value, &diag), 0);
	assert_int_equal(value, 5);
	assert_int_equal(fl_cli_number("009", 5, 9, &value, &diag), 0);
	assert_int_equal(value, 9);
	assert_int_equal(fl_cli_number("18446744073709551615", 0, UINT64_MAX, &value, &diag), 0);
	assert_true(value == UINT64_MAX);
}

/* --- exit status --- */

static void statuses(void **state)
{
	static const struct {
		int error, untouched, written;
	} cases[] = {
		{FL_OK, 0, 0},	      {FL_ENOMEM, 4, 8},  {FL_EIO, 4, 8},
		{FL_EHOSTFULL, 4, 8}, {FL_EBUSY, 2, 8},	  {FL_ENOTEXT, 2, 8},
		{FL_ESHORT, 2, 8},    {FL_EDIRTY, 2, 8},  {FL_EFEATURE, 2, 8},
		{FL_EDAMAGED, 2, 8},  {FL_ENOROOM, 2, 8}, {FL_EINVAL, 2, 8},
		{FL_EPLAN, 4, 8},     {FL_EVERIFY, 4, 8}, {FL_ECANCELLED, 32, 32},
		{FL_ESYNTAX, 16, 16},
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(fl_message_status(cases[i].error, FL_IMAGE_UNTOUCHED),
				 cases[i].untouched);
		assert_int_equal(fl_message_status(cases[i].error, FL_IMAGE_COPIED),
				 cases[i].untouched == 2 ? 4 : cases[i].untouched);
		assert_int_equal(fl_message_status(cases[i].error, FL_IMAGE_UNCLEAN),
				 cases[i].written);
		assert_int_equal(fl_message_status(cases[i].error, FL_IMAGE_CLEAN),
				 cases[i].written);
		assert_int_equal(fl_message_status(cases[i].error, FL_IMAGE_DONE),
				 cases[i].written);
	}
}

/* --- progress --- */

static void progress_lines(void **state)
{
	struct fl_progress inodes = {.phase = "scanning", .unit = "inodes"};
	struct fl_progress bytes = {.phase = "moving", .unit_bytes = 4096};
	const int64_t second = 1000000000;
	char text[80];

	(void)state;
	fl_progress_format(&inodes, 0, 0, 0, text, sizeof(text));
	assert_string_equal(text, "scanning");
	fl_progress_format(&inodes, 0, 200, 0, text, sizeof(text));
	assert_string_equal(text, "scanning 0%, 0 of 200 inodes");
	fl_progress_format(&inodes, 199, 200, second, text, sizeof(text));
	assert_string_equal(text, "scanning 99%, 199 of 200 inodes");
	fl_progress_format(&bytes, 256, 1024, 10 * second, text, sizeof(text));
	assert_string_equal(text, "moving 25%, 1 MiB of 4 MiB, 0:30 left");
	fl_progress_format(&bytes, 256, 256 * 1024, 10 * second, text, sizeof(text));
	assert_string_equal(text, "moving 0%, 1 MiB of 1 GiB, 2:50:30 left");
	/* Done, more than done, and counts that overflow a product. */
	fl_progress_format(&inodes, 200, 200, 10 * second, text, sizeof(text));
	assert_string_equal(text, "scanning 100%, 200 of 200 inodes");
	fl_progress_format(&inodes, 201, 200, 10 * second, text, sizeof(text));
	assert_string_equal(text, "scanning 100%, 201 of 200 inodes");
	fl_progress_format(&inodes, UINT64_MAX / 2, UINT64_MAX, second, text, sizeof(text));
	assert_non_null(strstr(text, "scanning 49%"));
}

/* --- files --- */

static void read_file(const char *path, char *text, size_t size)
{
	FILE *stream = fopen(path, "r");
	size_t got;

	assert_non_null(stream);
	got = fread(text, 1, size - 1, stream);
	text[got] = '\0';
	assert_int_equal(fclose(stream), 0);
}

static void output_whole(void **state)
{
	char folder[] = "/tmp/fraglab-unit.XXXXXX", path[64], link[64], text[64];
	struct fl_diag diag = {{0}};
	struct stat status;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof(path), "%s/out", folder);
	(void)snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(fl_output_file(path, "first\n", &diag), 0);
	assert_int_equal(fl_output_file(path, "second\n", &diag), 0);
	read_file(path, text, sizeof(text));
	assert_string_equal(text, "second\n");
	assert_int_equal(symlink("out", link), 0);
	assert_int_equal(fl_output_file(link, "third\n", &diag), 0);
	assert_int_equal(lstat(link, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	read_file(path, text, sizeof(text));
	assert_string_equal(text, "third\n");
	assert_int_equal(fl_output_file("/dev/full", "text", &diag), FL_EHOSTFULL);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(unlink(path), 0);
	/* Nothing else may be there: rmdir would fail. */
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(fl_output_file(path, "text", &diag), FL_EIO);
}

/* --- files left over --- */

static bool leaves_none(void *settings, const struct fl_map *map, uint32_t file)
{
	(void)settings;
	(void)map;
	(void)file;
	return false;
}

static bool leaves_even(void *settings, const struct fl_map *map, uint32_t file)
{
	(void)settings;
	return map->files.at[file].ino % 2 == 0;
}

static void add_file(struct fl_map *map, fl_ino ino, fl_pblk first, uint32_t fragments)
{
	struct fl_file file = {.ino = ino,
			       .kind = FL_KIND_REGULAR,
			       .path_rank = ino - 12,
			       .listing_rank = ino - 12};
	struct fl_name name = {.ino = ino, .parent = 0, .text = (uint32_t)map->texts.count};
	uint32_t i;

	file.name = (uint32_t)map->names.count;
	file.first_extent = map->extents.count;
	file.extent_count = fragments;
	file.blocks = fragments;
	assert_int_equal(fl_array_push(&map->texts, (char)('a' + ino - 12)), 0);
	assert_int_equal(fl_array_push(&map->texts, '\0'), 0);
	assert_int_equal(fl_array_push(&map->names, name), 0);
	for (i = 0; i < fragments; i++) {
		struct fl_extent extent = {.pblk = first + 2 * i, .lblk = i, .len = 1};

		assert_int_equal(fl_array_push(&map->extents, extent), 0);
	}
	assert_int_equal(fl_array_push(&map->files, file), 0);
}

/* Inodes 12 .. 23 with 2 .. 13 fragments, then 24 in one piece. */
static struct fl_map *sample_map(void)
{
	const struct fl_geometry geo = {
		.block_bytes = 4096,
		.blocks = 4096,
		.blocks_per_group = 32768,
		.groups = 1,
		.flex_groups = 1,
		.cluster_blocks = 1,
		.inodes_per_group = 128,
		.inode_bytes = 256,
	};
	const struct fl_name root = {.ino = 2, .parent = FL_NO_NAME, .text = 0};
	struct fl_diag diag = {{0}};
	struct fl_map *map;
	fl_ino ino;

	assert_int_equal(fl_map_new(&geo, &map), 0);
	assert_int_equal(fl_array_push(&map->texts, '\0'), 0);
	assert_int_equal(fl_array_push(&map->names, root), 0);
	for (ino = 12; ino < 24; ino++)
		add_file(map, ino, 100 * (ino - 11), ino - 10);
	add_file(map, 24, 3000, 1);
	assert_int_equal(fl_map_finish(map, &diag), 0);
	return map;
}

static void left_over(void **state)
{
	struct fl_program program = {.name = "prog", .leaves = leaves_none};
	struct run run = {.program = &program};
	struct fl_map *map = sample_map();
	bool beyond = false;

	(void)state;
	assert_int_equal(fl_run_find_left(&run, map, &beyond), 0);
	assert_true(beyond);
	assert_int_equal(run.report.left_total, 12);
	assert_int_equal(run.report.left_count, FL_LEFT_SHOWN);
	assert_int_equal(run.report.left[0].fragments, 13);
	assert_string_equal(run.report.left[0].path, "/l");
	assert_int_equal(run.report.left[0].reason, FL_LEFT_NO_ROOM);
	assert_int_equal(run.report.left[9].fragments, 4);
	fl_report_free(&run.report);

	/* Half is left on purpose, half because of a signal: nothing was beyond reach. */
	memset(&run, 0, sizeof(run));
	program.leaves = leaves_even;
	run.program = &program;
	run.stopped = true;
	assert_int_equal(fl_run_find_left(&run, map, &beyond), 0);
	assert_false(beyond);
	assert_int_equal(run.report.left[0].reason, FL_LEFT_STOPPED); /* inode 23 */
	assert_int_equal(run.report.left[1].reason, FL_LEFT_MODE);    /* inode 22 */
	fl_report_free(&run.report);

	/* A program that promises nothing leaves nothing. */
	memset(&run, 0, sizeof(run));
	program.leaves = NULL;
	run.program = &program;
	beyond = true;
	assert_int_equal(fl_run_find_left(&run, map, &beyond), 0);
	assert_false(beyond);
	assert_int_equal(run.report.left_total, 0);
	fl_map_free(map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_defaults), cmocka_unit_test(options_all),
		cmocka_unit_test(options_order),    cmocka_unit_test(options_errors),
		cmocka_unit_test(numbers),	    cmocka_unit_test(statuses),
		cmocka_unit_test(progress_lines),   cmocka_unit_test(output_whole),
		cmocka_unit_test(left_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
