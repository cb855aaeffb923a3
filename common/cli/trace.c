/* SPDX-License-Identifier: MIT */
/*
 * Reads the trace that is to be replayed, line by line. Knows nothing of what is in it.
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
