/* SPDX-License-Identifier: MIT */
/*
 * The status line on stderr: phase, percent, done of total, time left. Only shows;
 * nothing about the run depends on it.
 */
#ifndef FRAGLAB_CLI_PROGRESS_H
#define FRAGLAB_CLI_PROGRESS_H

#include <fraglab/cli.h>

struct fl_progress {
	const char *program;	    /* borrowed */
	const char *phase;	    /* borrowed; NULL: none */
	const char *unit;	    /* borrowed: "inodes"; NULL: bytes */
	uint64_t unit_bytes;	    /* bytes of one step, when unit is NULL */
	bool shown;		    /* anything is shown at all */
	bool redraw;		    /* on a terminal: one line, drawn over */
	int width;		    /* characters of the line that stands there */
	int64_t phase_ns, drawn_ns; /* monotonic clock; drawn_ns 0: not in this phase */
};

void fl_progress_init(struct fl_progress *progress, const char *program, enum fl_progress_when when,
		      bool quiet);

/* A new phase; unit names what is counted, or is NULL for steps of unit_bytes bytes each. */
void fl_progress_phase(struct fl_progress *progress, const char *phase, const char *unit,
		       uint64_t unit_bytes);

/* context is a struct fl_progress: fits fl_scan_progress and fl_move_options.progress. */
void fl_progress_update(void *context, uint64_t done, uint64_t total);

/* Takes the line away; before anything else is printed. */
void fl_progress_clear(struct fl_progress *progress);

/* The line for a state, without the program's name; elapsed and text are the caller's. */
void fl_progress_format(const struct fl_progress *progress, uint64_t done, uint64_t total,
			int64_t elapsed_ns, char *text, size_t text_bytes);

#endif
