/* SPDX-License-Identifier: MIT */
/*
 * What both programs share at the command line: options, messages, progress, exit
 * status, and the run from image to report. The only module that prints.
 */
#ifndef FRAGLAB_CLI_H
#define FRAGLAB_CLI_H

#include <fraglab/report.h>

/* Exit status: bits, as e2fsck(8) uses them. */
enum fl_exit {
	FL_EXIT_DONE = 0,
	FL_EXIT_PARTLY = 1,	    /* done, but not all that was asked */
	FL_EXIT_REFUSED = 2,	    /* nothing written */
	FL_EXIT_FAILED = 4,	    /* nothing written */
	FL_EXIT_FAILED_WRITING = 8, /* after writing began; content intact */
	FL_EXIT_USAGE = 16,
	FL_EXIT_CANCELLED = 32, /* image consistent */
};

enum fl_progress_when { FL_PROGRESS_AUTO, FL_PROGRESS_ALWAYS, FL_PROGRESS_NEVER };

/* Options that frag and defrag share. */
struct fl_options {
	bool dry_run, analyze, quiet, verbose, verify;
	bool json; /* with json_path NULL: stdout, instead of the text report */
	const char *json_path, *csv_path, *output_path;
	enum fl_progress_when progress;
	struct fl_analyze_options analysis;
	char **images; /* borrowed from argv */
	size_t image_count;
};

/*
 * A program: its name, its own options, and how it makes a target. fl_cli_main does the rest:
 * parse, open, scan, plan, validate, predict, move, scan again, analyze, report.
 */
struct fl_program {
	const char *name;  /* "frag" */
	const char *usage; /* the whole of --help, lines of at most 80 columns */
	/*
	 * Takes one option of the program's own. value is NULL when it has none. 0, or FL_ESYNTAX
	 * with a diag text without the option's name ("not a number: 'x'").
	 */
	int (*option)(void *settings, const char *name, const char *value, struct fl_diag *diag);
	/* The program's own options: {long name, short name or 0, takes a value}; name NULL ends.
	 */
	const struct fl_program_option {
		const char *name;
		char letter;
		bool value;
	} * own_options;
	/* Fills the target (zero-initialised) from the map. seed and profile go to the report. */
	int (*target)(void *settings, const struct fl_map *map, struct fl_target *target,
		      struct fl_report *report, struct fl_diag *diag);
	/* The file may stay fragmented because of how the program was asked to work. */
	bool (*leaves)(void *settings, const struct fl_map *map, uint32_t file);
	void *settings;
};

int fl_cli_main(const struct fl_program *program, int argc, char **argv);

#endif
