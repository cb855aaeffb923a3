/* SPDX-License-Identifier: MIT */
/*
 * defrag: its own options, and which planner they mean. The rest of a run is in
 * common/cli; where blocks shall go is in pack.c.
 */
#include "defrag/pack.h"

#include <fraglab/cli.h>
#include <string.h>

static const char *const mode_names[] = {
	[DEFRAG_FULL] = "full",
	[DEFRAG_FILES] = "files",
	[DEFRAG_FREE] = "free",
};
#define MODE_COUNT (sizeof(mode_names) / sizeof(mode_names[0]))

static const char usage[] =
	"Usage: defrag [OPTION]... IMAGE\n"
	"Make the files of the ext2/3/4 filesystem in IMAGE contiguous and its free\n"
	"space too, in place; print before and after. File content, names, times,\n"
	"owners and extended attributes do not change.\n"
	"\n"
	"Defragmentation:\n"
	"      --mode MODE      full: files and free space (default);\n"
	"                       files: files only; free: free space only\n"
	"      --order ORDER    keep: files stay in their order (the only order so far)\n"
	"      --threshold N    leave files with at most N fragments alone (default 1)\n"
	"\n" FL_CLI_USAGE "\n"
	"Not in this version (status 16): --max-move, --max-time.\n";

static int take_option(void *context, const char *name, const char *value, struct fl_diag *diag)
{
	struct defrag_settings *settings = context;
	uint64_t number;
	size_t i;
	int error;

	if (!strcmp(name, "mode")) {
		for (i = 0; i < MODE_COUNT; i++)
			if (!strcmp(value, mode_names[i])) {
				settings->mode = (enum defrag_mode)i;
				return 0;
			}
		return fl_fail(diag, FL_ESYNTAX, "not full, files or free: '%s'", value);
	}
	if (!strcmp(name, "order")) {
		if (!strcmp(value, "keep"))
			return 0;
		if (!strcmp(value, "path") || !strncmp(value, "list=", 5))
			return fl_fail(diag, FL_ESYNTAX, "'%s' " FL_CLI_NOT_AVAILABLE, value);
		return fl_fail(diag, FL_ESYNTAX, "no such order: '%s'", value);
	}
	if (!strcmp(name, "threshold")) {
		error = fl_cli_number(value, 0, UINT32_MAX, &number, diag);
		if (!error)
			settings->threshold = (uint32_t)number;
		return error;
	}
	return fl_fail(diag, FL_ESYNTAX, FL_CLI_NOT_AVAILABLE);
}

static int make_target(void *context, const struct fl_map *map, struct fl_target *target,
		       struct fl_report *report, struct fl_diag *diag)
{
	const struct defrag_settings *settings = context;

	report->profile = strdup(mode_names[settings->mode]);
	if (!report->profile)
		return FL_ENOMEM;
	return defrag_target(settings, map, target, diag);
}

static bool leaves(void *context, const struct fl_map *map, uint32_t index)
{
	const struct defrag_settings *settings = context;
	const struct fl_file *file = &map->files.at[index];

	if (settings->mode == DEFRAG_FREE)
		return true;
	return fl_fragments(&map->extents.at[file->first_extent], file->extent_count) <=
	       settings->threshold;
}

int main(int argc, char **argv)
{
	static const struct fl_program_option own_options[] = {
		{"max-move", 0, true}, {"max-time", 0, true},  {"mode", 0, true},
		{"order", 0, true},    {"threshold", 0, true}, {NULL, 0, false},
	};
	struct defrag_settings settings = {.mode = DEFRAG_FULL, .threshold = 1};
	const struct fl_program program = {
		.name = "defrag",
		.usage = usage,
		.option = take_option,
		.own_options = own_options,
		.target = make_target,
		.leaves = leaves,
		.settings = &settings,
	};

	return fl_cli_main(&program, argc, argv);
}
