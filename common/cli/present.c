/* SPDX-License-Identifier: MIT */
/*
 * Brings the finished report where the options want it: stdout, files, as text, JSON or
 * CSV. Computes nothing.
 */
#include "common/cli/run.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "common/cli/output.h"

static bool wants_colour(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) == 1 && term && strcmp(term, "dumb") && !getenv("NO_COLOR");
}

/* Renders with render and hands the text to a file, or to stdout when path is NULL. */
static int deliver(struct run *run, int (*render)(const struct fl_report *, char **),
		   const char *path)
{
	char *text = NULL;
	int error;

	error = render(&run->report, &text);
	if (!error)
		error = path ? fl_output_file(path, text, &run->diag)
			     : fl_output_print(text, &run->diag);
	free(text);
	return error;
}

static int render_text(const struct fl_report *report, char **text)
{
	return fl_report_text(report, wants_colour(), text);
}

int fl_run_present(struct run *run)
{
	const struct fl_options *options = run->options;
	bool json_on_stdout = options->json && !options->json_path;
	int error = 0;

	run->action = "reporting";
	if (options->json)
		error = deliver(run, fl_report_json, options->json_path);
	if (!error && options->csv_path)
		error = deliver(run, fl_report_csv, options->csv_path);
	if (!error && run->fio_log)
		error = fl_output_file(options->fio_log_path, run->fio_log, &run->diag);
	if (!error && !json_on_stdout && !options->quiet)
		error = deliver(run, render_text, NULL);
	return error;
}
