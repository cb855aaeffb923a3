/* SPDX-License-Identifier: MIT */
/*
 * Reads what was recorded elsewhere: the trace that is to be replayed, line by line, and a host's
 * histograms. Knows nothing of what is in them.
 */
#include "common/cli/run.h"

#include <errno.h>
#include <fraglab/trace.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "common/cli/signals.h"

static int read_lines(struct run *run, FILE *file, struct fl_trace *trace, struct fl_diag *reason)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t bytes;
	int error = 0;

	errno = 0;
	while (!error && (bytes = getline(&line, &room, file)) >= 0) {
		error = fl_signals_stop_asked() ? FL_ECANCELLED
						: fl_trace_line(trace, line, (size_t)bytes, reason);
		errno = 0;
	}
	/* getline fails alike at the end, on an error, and without memory. */
	if (!error && !feof(file))
		error = errno == ENOMEM ? FL_ENOMEM
					: fl_fail(&run->diag, FL_EIO, "reading the trace %s: %s",
						  run->options->trace_path, strerror(errno));
	free(line);
	return error;
}

int fl_run_load_trace(struct run *run)
{
	const char *path = run->options->trace_path;
	struct fl_diag reason = {{0}};
	FILE *file;
	int error;

	if (!path[0])
		return 0;
	run->action = "reading the trace";
	file = fopen(path, "re");
	if (!file)
		return fl_fail(&run->diag, FL_EIO, "opening the trace %s: %s", path,
			       strerror(errno));
	error = fl_trace_new(&run->trace);
	if (!error)
		error = read_lines(run, file, run->trace, &reason);
	if (!error)
		error = fl_trace_finish(run->trace, &reason);
	run->analysis.stream.trace = run->trace;
	(void)fclose(file);
	if (error == FL_ESYNTAX)
		return fl_fail(&run->diag, error, "option --workload: trace %s: %s", path,
			       reason.text);
	return error;
}

/* A thousand disks; a host writes some 14 KiB a disk. */
#define CAPTURE_MOST ((size_t)16 << 20)

/* Appends the whole file; *bytes is its length. */
static int read_text(FILE *file, const char *path, char **text, size_t *bytes, struct fl_diag *diag)
{
	FL_ARRAY(char) read = {0};
	size_t got = 1;
	int error = 0;

	while (!error && got) {
		error = fl_array_reserve(&read, read.count + BUFSIZ);
		if (error)
			break;
		got = fread(read.at + read.count, 1, BUFSIZ, file);
		read.count += got;
		if (ferror(file))
			error = fl_fail(diag, FL_EIO, "reading the capture %s: %s", path,
					strerror(errno));
		else if (read.count > CAPTURE_MOST)
			error = fl_fail(diag, FL_ESYNTAX,
					"option --capture: capture %s: over 16 MiB", path);
		else if (fl_signals_stop_asked())
			error = FL_ECANCELLED;
	}
	if (error) {
		fl_array_free(&read);
		return error;
	}
	*text = read.at;
	*bytes = read.count;
	return 0;
}

int fl_run_load_capture(struct run *run)
{
	const char *path = run->options->capture_path;
	struct fl_diag reason = {{0}};
	char *text = NULL;
	size_t bytes = 0;
	FILE *file;
	int error;

	if (!path)
		return 0;
	run->action = "reading the capture";
	file = fopen(path, "re");
	if (!file)
		return fl_fail(&run->diag, FL_EIO, "opening the capture %s: %s", path,
			       strerror(errno));
	error = read_text(file, path, &text, &bytes, &run->diag);
	(void)fclose(file);
	if (error)
		return error;
	run->report.capture_path = path;
	error = fl_captures_parse(text, bytes, &run->report.captures, &reason);
	free(text);
	if (error == FL_ESYNTAX)
		return fl_fail(&run->diag, error, "option --capture: capture %s: %s", path,
			       reason.text);
	return error;
}
