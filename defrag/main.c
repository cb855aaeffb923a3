/* SPDX-License-Identifier: MIT */
/*
 * defrag: its own options, and which planner they mean. The rest of a run is in
 * common/cli; where blocks shall go is in pack.c.
 */
#include "defrag/list.h"
#include "defrag/pack.h"

#include <fraglab/cli.h>
#include <stdlib.h>
#include <string.h>

static const char *const mode_names[] = {
	[DEFRAG_FULL] = "full",
	[DEFRAG_FILES] = "files",
	[DEFRAG_FREE] = "free",
};

/* What the command line says, and what of it holds memory. */
struct choices {
	struct defrag_settings settings;
	struct fl_budget budget;
	struct path_list list;
	uint32_t *listed;
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
	"      --order ORDER    keep: what lies well stays (default); path: everything in\n"
	"                       path order, from the front; list=FILE: the files whose\n"
	"                       paths are in FILE first, in that order\n"
	"      --max-move BYTES move at most so much, what gains most for a byte first\n"
	"      --max-time SEC   end after the batch in which so many seconds are over\n"
	"      --threshold N    leave files with at most N fragments alone (default 1)\n"
	"\n" FL_CLI_USAGE;

static int take_mode(struct choices *choices, const char *value, struct fl_diag *diag)
{
	for (size_t i = 0; i < MODE_COUNT; i++)
		if (!strcmp(value, mode_names[i])) {
			choices->settings.mode = (enum defrag_mode)i;
			return 0;
		}
	return fl_fail(diag, FL_ESYNTAX, "not full, files or free: '%s'", value);
}

static int take_order(struct choices *choices, const char *value, struct fl_diag *diag)
{
	if (!strcmp(value, "keep")) {
		choices->settings.order = DEFRAG_KEEP;
	} else if (!strcmp(value, "path")) {
		choices->settings.order = DEFRAG_PATH;
	} else if (!strncmp(value, "list=", 5)) {
		choices->settings.order = DEFRAG_LIST;
		list_free(&choices->list);
		return list_read(value + 5, &choices->list, diag);
	} else {
		return fl_fail(diag, FL_ESYNTAX, "not keep, path or list=FILE: '%s'", value);
	}
	return 0;
}

static int take_option(void *context, const char *name, const char *value, struct fl_diag *diag)
{
	struct choices *choices = context;
	uint64_t number;
	int error;

	if (!strcmp(name, "mode"))
		return take_mode(choices, value, diag);
	if (!strcmp(name, "order"))
		return take_order(choices, value, diag);
	if (!strcmp(name, "threshold")) {
		error = fl_cli_number(value, 0, UINT32_MAX, &number, diag);
		if (!error)
			choices->settings.threshold = (uint32_t)number;
		return error;
	}
	if (!strcmp(name, "max-time"))
		return fl_cli_number(value, 1, UINT32_MAX, &choices->budget.seconds, diag);
	if (!strcmp(name, "max-move")) {
		if (fl_size_parse(value, &number) || !number)
			return fl_fail(diag, FL_ESYNTAX, "not a size above 0: '%s'", value);
		choices->budget.bytes = number;
		return 0;
	}
	return FL_EINVAL; /* there is no other option */
}

/* Finds the files of the list; names that are not there go to the report. */
static int find_listed(struct choices *choices, const struct fl_map *map, struct fl_report *report)
{
	struct path_list *list = &choices->list;
	int error;

	free(choices->listed);
	choices->listed = fl_alloc(list->count, sizeof(*choices->listed));
	if (!report->missing)
		report->missing = fl_alloc(list->count, sizeof(*report->missing));
	if (!choices->listed || !report->missing)
		return FL_ENOMEM;
	error = list_find(list, map, choices->listed);
	/* The same ones if planning begins anew. */
	while (report->missing_count)
		free(report->missing[--report->missing_count]);
	for (size_t i = 0; i < list->count && !error; i++) {
		if (choices->listed[i] != FL_NO_NAME)
			continue;
		report->missing[report->missing_count] = strdup(list->at[i]);
		error = report->missing[report->missing_count] ? 0 : FL_ENOMEM;
		report->missing_count += !error;
	}
	choices->settings.listed = choices->listed;
	choices->settings.listed_count = list->count;
	return error;
}

static int make_target(void *context, const struct fl_map *map,
		       const struct fl_analyze_options *analysis, const struct fl_watch *watch,
		       struct fl_target *target, struct fl_report *report, struct fl_diag *diag)
{
	struct choices *choices = context;
	int error = 0;

	(void)analysis;
	choices->settings.watch = watch;
	choices->settings.max_bytes = choices->budget.bytes;
	choices->budget.gain = choices->settings.order != DEFRAG_KEEP  ? FL_GAIN_ANY
			       : choices->settings.mode == DEFRAG_FREE ? FL_GAIN_FREE
								       : FL_GAIN_FRAGMENTS;
	choices->budget.reading = choices->settings.order == DEFRAG_PATH
					  ? FL_WORKLOAD_READ_ALL
					  : FL_WORKLOAD_READ_DIRECTORY_ORDER;
	free(report->profile);
	report->profile = strdup(mode_names[choices->settings.mode]);
	if (!report->profile)
		return FL_ENOMEM;
	if (choices->settings.order != DEFRAG_KEEP && choices->settings.mode != DEFRAG_FULL)
		return fl_fail(diag, FL_ESYNTAX, "--order path and list need --mode full");
	if (choices->settings.order == DEFRAG_LIST)
		error = find_listed(choices, map, report);
	return error ? error : defrag_target(&choices->settings, map, target, diag);
}

static bool leaves(void *context, const struct fl_map *map, uint32_t index)
{
	const struct choices *choices = context;
	const struct fl_file *file = &map->files.at[index];

	if (choices->settings.mode == DEFRAG_FREE)
		return true;
	return fl_file_fragments(map, file) <= choices->settings.threshold;
}

int main(int argc, char **argv)
{
	static const struct fl_program_option own_options[] = {
		{"max-move", 0, true}, {"max-time", 0, true},  {"mode", 0, true},
		{"order", 0, true},    {"threshold", 0, true}, {NULL, 0, false},
	};
	struct choices choices = {.settings = {.mode = DEFRAG_FULL, .threshold = 1}};
	int status;
	const struct fl_program program = {
		.name = "defrag",
		.usage = usage,
		.option = take_option,
		.own_options = own_options,
		.target = make_target,
		.leaves = leaves,
		.budget = &choices.budget,
		.settings = &choices,
	};

	status = fl_cli_main(&program, argc, argv);
	list_free(&choices.list);
	free(choices.listed);
	return status;
}
