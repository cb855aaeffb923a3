/* SPDX-License-Identifier: MIT */
/*
 * The command line of both programs: from argv to struct fl_options and the program's own
 * settings. Opens nothing and prints nothing.
 */
#include "common/cli/options.h"

#include "common/cli/option_values.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum shared_id {
	OPT_ANALYZE,
	OPT_CAPTURE,
	OPT_CSV,
	OPT_DISK,
	OPT_DRY_RUN,
	OPT_FIO_LOG,
	OPT_HELP,
	OPT_INTERLEAVE,
	OPT_JSON,
	OPT_MAX_IO,
	OPT_MEMORY,
	OPT_MOVE_IMMUTABLE,
	OPT_OFFSET,
	OPT_OUTPUT,
	OPT_PARTITION,
	OPT_PROGRESS,
	OPT_QUEUE,
	OPT_QUIET,
	OPT_RATE,
	OPT_READ_AHEAD,
	OPT_UNDO,
	OPT_VERBOSE,
	OPT_VERIFY,
	OPT_VERSION,
	OPT_WORKLOAD,
	OPT_WRITE_CACHE,
};

struct shared_option {
	const char *name;
	char letter;  /* 0: none */
	int argument; /* as in struct option */
	enum shared_id id;
};

static const struct shared_option shared_options[] = {
	{"analyze", 0, no_argument, OPT_ANALYZE},
	{"capture", 0, required_argument, OPT_CAPTURE},
	{"csv", 0, required_argument, OPT_CSV},
	{"disk", 0, required_argument, OPT_DISK},
	{"dry-run", 'n', no_argument, OPT_DRY_RUN},
	{"fio-log", 0, required_argument, OPT_FIO_LOG},
	{"help", 'h', no_argument, OPT_HELP},
	{"interleave", 0, no_argument, OPT_INTERLEAVE},
	{"json", 0, optional_argument, OPT_JSON},
	{"max-io", 0, required_argument, OPT_MAX_IO},
	{"memory", 0, required_argument, OPT_MEMORY},
	{"move-immutable", 0, no_argument, OPT_MOVE_IMMUTABLE},
	{"offset", 0, required_argument, OPT_OFFSET},
	{"output", 'o', required_argument, OPT_OUTPUT},
	{"partition", 'P', required_argument, OPT_PARTITION},
	{"progress", 0, required_argument, OPT_PROGRESS},
	{"queue", 0, required_argument, OPT_QUEUE},
	{"quiet", 'q', no_argument, OPT_QUIET},
	{"rate", 0, required_argument, OPT_RATE},
	{"read-ahead", 0, required_argument, OPT_READ_AHEAD},
	{"undo", 0, required_argument, OPT_UNDO},
	{"verbose", 'v', no_argument, OPT_VERBOSE},
	{"verify", 0, no_argument, OPT_VERIFY},
	{"version", 'V', no_argument, OPT_VERSION},
	{"workload", 0, required_argument, OPT_WORKLOAD},
	{"write-cache", 0, required_argument, OPT_WRITE_CACHE},
};
#define SHARED_COUNT (sizeof(shared_options) / sizeof(shared_options[0]))

/* Above every letter, so that getopt's values tell long options apart from short ones. */
#define LONG_BASE 256

/* What getopt_long wants to be given, made of the shared and the program's own options. */
struct table {
	struct option *longs; /* shared, own, end; val is LONG_BASE + index */
	char *shorts;
	size_t count;
};

static void table_free(struct table *table)
{
	free(table->longs);
	free(table->shorts);
}

static char letter_of(const struct fl_program *program, size_t index)
{
	return index < SHARED_COUNT ? shared_options[index].letter
				    : program->own_options[index - SHARED_COUNT].letter;
}

static int table_fill(struct table *table, const struct fl_program *program)
{
	size_t own = 0, i, at = 0;

	while (program->own_options && program->own_options[own].name)
		own++;
	table->count = SHARED_COUNT + own;
	table->longs = calloc(table->count + 1, sizeof(*table->longs));
	/* ':' first (a missing value is told apart), then at most a letter and a ':' each. */
	table->shorts = calloc(2 * table->count + 2, 1);
	if (!table->longs || !table->shorts)
		return FL_ENOMEM;
	table->shorts[at++] = ':';
	for (i = 0; i < table->count; i++) {
		struct option *item = &table->longs[i];

		if (i < SHARED_COUNT) {
			item->name = shared_options[i].name;
			item->has_arg = shared_options[i].argument;
		} else {
			item->name = program->own_options[i - SHARED_COUNT].name;
			item->has_arg = program->own_options[i - SHARED_COUNT].value
						? required_argument
						: no_argument;
		}
		item->val = LONG_BASE + (int)i;
		if (letter_of(program, i)) {
			table->shorts[at++] = letter_of(program, i);
			if (item->has_arg == required_argument)
				table->shorts[at++] = ':';
		}
	}
	return 0;
}

/* Index of the option that getopt's value stands for. False: no option of ours. */
static bool table_find(const struct table *table, const struct fl_program *program, int value,
		       size_t *index)
{
	size_t i;

	if (value >= LONG_BASE) {
		*index = (size_t)(value - LONG_BASE);
		return *index < table->count;
	}
	for (i = 0; value > 0 && i < table->count; i++)
		if (letter_of(program, i) == value) {
			*index = i;
			return true;
		}
	return false;
}

/* One shared option; value is NULL when it has none. */
static int take_shared(const struct shared_option *option, const char *value,
		       struct fl_options *options, enum fl_request *request, struct fl_diag *diag)
{
	switch (option->id) {
	case OPT_ANALYZE:
		options->analyze = true;
		break;
	case OPT_CAPTURE:
		return fl_option_path(value, &options->capture_path, diag);
	case OPT_CSV:
		return fl_option_path(value, &options->csv_path, diag);
	case OPT_DISK:
		if (!fl_disk_find(value, &options->analysis.disk.model))
			return fl_fail(diag, FL_ESYNTAX, "no such disk model: '%s'", value);
		break;
	case OPT_DRY_RUN:
		options->dry_run = true;
		break;
	case OPT_FIO_LOG:
		return fl_option_path(value, &options->fio_log_path, diag);
	case OPT_HELP:
		*request = FL_REQUEST_HELP;
		break;
	case OPT_INTERLEAVE:
		options->interleave = true;
		break;
	case OPT_JSON:
		options->json = true;
		options->json_path = NULL;
		return value ? fl_option_path(value, &options->json_path, diag) : 0;
	case OPT_MAX_IO:
		return fl_option_multiple(value, 1, &options->analysis.stream.max_io_bytes, diag);
	case OPT_MEMORY:
		return fl_option_multiple(value, 64, &options->memory_bytes, diag);
	case OPT_OFFSET:
		return fl_option_offset(value, options, diag);
	case OPT_OUTPUT:
		return fl_option_path(value, &options->output_path, diag);
	case OPT_PARTITION:
		return fl_option_partition(value, options, diag);
	case OPT_PROGRESS:
		return fl_option_progress(value, &options->progress, diag);
	case OPT_QUEUE:
		return fl_option_queue(value, &options->analysis.disk, diag);
	case OPT_QUIET:
		options->quiet = true;
		options->verbose = false;
		break;
	case OPT_RATE:
		if (fl_size_parse(value, &options->analysis.disk.bytes_per_second) ||
		    !options->analysis.disk.bytes_per_second)
			return fl_fail(diag, FL_ESYNTAX, "not a size above 0: '%s'", value);
		options->analysis.stream.install_rate = options->analysis.disk.bytes_per_second;
		break;
	case OPT_READ_AHEAD:
		return fl_option_multiple(value, FL_STREAM_PAGE_BYTES / 1024,
					  &options->analysis.stream.readahead_bytes, diag);
	case OPT_UNDO:
		return fl_option_path(value, &options->undo_path, diag);
	case OPT_VERBOSE:
		options->verbose = true;
		options->quiet = false;
		break;
	case OPT_MOVE_IMMUTABLE:
		options->move_immutable = true;
		break;
	case OPT_VERIFY:
		options->verify = true;
		break;
	case OPT_VERSION:
		*request = FL_REQUEST_VERSION;
		break;
	case OPT_WORKLOAD:
		return fl_option_workloads(value, options, diag);
	case OPT_WRITE_CACHE:
		return fl_option_write_cache(value, &options->analysis.disk, diag);
	}
	return 0;
}

static int take(const struct fl_program *program, const struct table *table, size_t index,
		const char *value, struct fl_options *options, enum fl_request *request,
		struct fl_diag *diag)
{
	const char *name = table->longs[index].name;
	struct fl_diag reason = {{0}};
	int error;

	if (index < SHARED_COUNT) {
		error = take_shared(&shared_options[index], value, options, request, &reason);
	} else {
		error = program->option(program->settings, name, value, &reason);
		if (error == FL_OPTION_QUESTION) {
			*request = FL_REQUEST_ANSWER;
			error = 0;
		}
	}
	if (error != FL_ESYNTAX)
		return error;
	return fl_fail(diag, FL_ESYNTAX, "option --%s: %s", name, reason.text);
}

/* Several options begin with what was given, up to its '='. */
static bool is_ambiguous(const struct table *table, const char *argument)
{
	const char *name = argument + strspn(argument, "-");
	size_t length = strcspn(name, "="), matches = 0, i;

	for (i = 0; i < table->count; i++)
		matches += !strncmp(table->longs[i].name, name, length);
	return matches > 1;
}

/* What getopt could make nothing of. */
static int complain(const struct fl_program *program, const struct table *table, int verdict,
		    const char *argument, struct fl_diag *diag)
{
	size_t index;

	if (table_find(table, program, optopt, &index))
		return fl_fail(diag, FL_ESYNTAX, "option --%s: %s", table->longs[index].name,
			       verdict == ':' ? "needs a value" : "takes no value");
	if (optopt)
		return fl_fail(diag, FL_ESYNTAX, "option -%c: unknown", optopt);
	return fl_fail(diag, FL_ESYNTAX, "option %s: %s", argument,
		       is_ambiguous(table, argument) ? "ambiguous" : "unknown");
}

/* The rules that span several arguments. */
static int check(const struct fl_options *options, struct fl_diag *diag)
{
	size_t i;

	if (!options->image_count)
		return fl_fail(diag, FL_ESYNTAX, "no image is named");
	for (i = 0; i < options->image_count; i++)
		if (!options->images[i][0])
			return fl_fail(diag, FL_ESYNTAX, "the image's name is empty");
	if (options->image_count > 1 && !options->analyze)
		return fl_fail(diag, FL_ESYNTAX,
			       "several images: only --analyze takes more "
			       "than one");
	if (options->image_count > 1 && options->fio_log_path)
		return fl_fail(diag, FL_ESYNTAX, "option --fio-log: takes only one image");
	if (options->interleave && (!options->analyze || options->image_count < 2))
		return fl_fail(diag, FL_ESYNTAX,
			       "option --interleave: needs --analyze and two images or more");
	if (options->analysis.disk.write_cache_bytes &&
	    options->analysis.disk.model != FL_DISK_RAID5)
		return fl_fail(diag, FL_ESYNTAX, "option --write-cache: needs --disk raid5");
	if (options->capture_path && !options->analyze)
		return fl_fail(diag, FL_ESYNTAX, "option --capture: needs --analyze");
	if (options->analyze && options->output_path)
		return fl_fail(diag, FL_ESYNTAX,
			       "option --output: nothing to write with --analyze");
	if (options->partition && options->has_offset)
		return fl_fail(diag, FL_ESYNTAX,
			       "options --partition and --offset: only one of them");
	if (options->undo_path && options->analyze)
		return fl_fail(diag, FL_ESYNTAX, "option --undo: nothing to undo with --analyze");
	if (options->undo_path && options->output_path)
		return fl_fail(diag, FL_ESYNTAX,
			       "option --undo: nothing to undo with --output, IMAGE stays as it "
			       "is");
	return 0;
}

static void set_defaults(struct fl_options *options)
{
	memset(options, 0, sizeof(*options));
	options->analysis.workloads[0] = FL_WORKLOAD_READ_ALL;
	options->analysis.workloads[1] = FL_WORKLOAD_READ_INODE_ORDER;
	options->analysis.workloads[2] = FL_WORKLOAD_READ_DIRECTORY_ORDER;
	options->analysis.workload_count = 3;
}

int fl_options_parse(const struct fl_program *program, int argc, char **argv,
		     struct fl_options *options, enum fl_request *request, struct fl_diag *diag)
{
	struct table table = {0};
	size_t index;
	int error, value;

	*request = FL_REQUEST_RUN;
	set_defaults(options);
	error = table_fill(&table, program);
	/* Our own messages; and 0 makes getopt start afresh whatever was parsed before. */
	opterr = 0;
	optind = 0;
	while (!error && *request == FL_REQUEST_RUN &&
	       (value = getopt_long(argc, argv, table.shorts, table.longs, NULL)) != -1) {
		if (value == '?' || value == ':' || !table_find(&table, program, value, &index))
			error = complain(program, &table, value, argv[optind - 1], diag);
		else
			error = take(program, &table, index, optarg, options, request, diag);
	}
	if (!error && *request == FL_REQUEST_RUN) {
		options->images = argv + optind;
		options->image_count = argc > optind ? (size_t)(argc - optind) : 0;
		error = check(options, diag);
	}
	table_free(&table);
	return error;
}
