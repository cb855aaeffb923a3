/* SPDX-License-Identifier: MIT */
/*
 * Values of options: from text to number, name or path, or the reason why not. Must not know which
 * option it is.
 */
#include "common/cli/option_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MULTIPLE_LIMIT (UINT64_C(1) << 30)
#define MOST_PARTITIONS 65535 /* no table has more */

int fl_cli_number(const char *text, uint64_t low, uint64_t high, uint64_t *value,
		  struct fl_diag *diag)
{
	uint64_t number = 0;
	const char *at;

	for (at = text; *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (number > (UINT64_MAX - digit) / 10)
			return fl_fail(diag, FL_ESYNTAX, "number too large: '%s'", text);
		number = number * 10 + digit;
	}
	if (at == text || *at)
		return fl_fail(diag, FL_ESYNTAX, "not a number: '%s'", text);
	if (number < low || number > high)
		return fl_fail(diag, FL_ESYNTAX, "not between %" PRIu64 " and %" PRIu64 ": '%s'",
			       low, high, text);
	*value = number;
	return 0;
}

/* "trace=FILE" becomes "trace". */
static int take_trace(char *name, struct fl_options *options, struct fl_diag *diag)
{
	char *path = strchr(name, '=') + 1;

	if (!*path || strlen(path) >= sizeof(options->trace_path))
		return fl_fail(diag, FL_ESYNTAX,
			       *path ? "the name of the trace is too long"
				     : "the name of the trace is empty");
	strcpy(options->trace_path, path);
	path[-1] = '\0';
	return 0;
}

static int take_workload(char *name, struct fl_options *options, struct fl_diag *diag)
{
	struct fl_analyze_options *analysis = &options->analysis;
	enum fl_workload workload;
	uint64_t bytes;
	size_t i;

	if (!strcmp(name, "trace"))
		return fl_fail(diag, FL_ESYNTAX, "'trace' needs a file: trace=FILE");
	if (!strncmp(name, "trace=", 6)) {
		int error = take_trace(name, options, diag);

		if (error)
			return error;
	}
	if (!strncmp(name, "install=", 8)) {
		if (fl_size_parse(name + 8, &bytes) || !bytes)
			return fl_fail(diag, FL_ESYNTAX, "not a size above 0: '%s'", name);
		analysis->stream.install_bytes = bytes;
		name[strlen("install")] = '\0';
	}
	if (!fl_workload_find(name, &workload))
		return fl_fail(diag, FL_ESYNTAX, "no such workload: '%s'", name);
	for (i = 0; i < analysis->workload_count; i++)
		if (analysis->workloads[i] == workload)
			return fl_fail(diag, FL_ESYNTAX, "named twice: '%s'", name);
	analysis->workloads[analysis->workload_count++] = workload;
	return 0;
}

int fl_option_workloads(const char *list, struct fl_options *options, struct fl_diag *diag)
{
	char *copy = strdup(list), *rest = copy, *name;
	int error = 0;

	if (!copy)
		return FL_ENOMEM;
	options->analysis.workload_count = 0;
	options->trace_path[0] = '\0';
	while (!error && (name = strsep(&rest, ",")))
		error = take_workload(name, options, diag);
	free(copy);
	return error;
}

/* A size above 0 that is a multiple of so many KiB. */
int fl_option_multiple(const char *value, unsigned kib, uint64_t *bytes, struct fl_diag *diag)
{
	uint64_t found;

	if (fl_size_parse(value, &found))
		return fl_fail(diag, FL_ESYNTAX, "not a size: '%s'", value);
	if (!found || found > MULTIPLE_LIMIT || found % (kib * UINT64_C(1024)))
		return fl_fail(diag, FL_ESYNTAX, "not a multiple of %uK, at most 1G: '%s'", kib,
			       value);
	*bytes = found;
	return 0;
}

int fl_option_queue(const char *value, struct fl_disk_options *disk, struct fl_diag *diag)
{
	uint64_t depth;
	int error = fl_cli_number(value, 1, FL_DISK_QUEUE_MOST, &depth, diag);

	if (!error)
		disk->queue_depth = (uint32_t)depth;
	return error;
}

int fl_option_write_cache(const char *value, struct fl_disk_options *disk, struct fl_diag *diag)
{
	uint64_t bytes;

	if (fl_size_parse(value, &bytes))
		return fl_fail(diag, FL_ESYNTAX, "not a size: '%s'", value);
	if (bytes > FL_DISK_CACHE_MOST)
		return fl_fail(diag, FL_ESYNTAX, "more than 8G: '%s'", value);
	disk->write_cache_bytes = bytes;
	return 0;
}

int fl_option_progress(const char *value, enum fl_progress_when *when, struct fl_diag *diag)
{
	if (!strcmp(value, "auto"))
		*when = FL_PROGRESS_AUTO;
	else if (!strcmp(value, "always"))
		*when = FL_PROGRESS_ALWAYS;
	else if (!strcmp(value, "never"))
		*when = FL_PROGRESS_NEVER;
	else
		return fl_fail(diag, FL_ESYNTAX, "not auto, always or never: '%s'", value);
	return 0;
}

int fl_option_path(const char *value, const char **path, struct fl_diag *diag)
{
	if (!*value)
		return fl_fail(diag, FL_ESYNTAX, "the file's name is empty");
	*path = value;
	return 0;
}

int fl_option_offset(const char *value, struct fl_options *options, struct fl_diag *diag)
{
	uint64_t bytes;

	if (fl_size_parse(value, &bytes))
		return fl_fail(diag, FL_ESYNTAX, "not a size: '%s'", value);
	if (bytes % FL_SECTOR_BYTES)
		return fl_fail(diag, FL_ESYNTAX, "not a multiple of 512 bytes: '%s'", value);
	options->offset_bytes = bytes;
	options->has_offset = true;
	return 0;
}

int fl_option_partition(const char *value, struct fl_options *options, struct fl_diag *diag)
{
	uint64_t number;
	int error = fl_cli_number(value, 1, MOST_PARTITIONS, &number, diag);

	if (!error)
		options->partition = (unsigned)number;
	return error;
}
