/* SPDX-License-Identifier: MIT */
/*
 * The status line on stderr: phase, percent, done of total, time left. Only shows;
 * nothing about the run depends on it.
 */
#include "common/cli/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define REDRAW_NS (SECOND_NS / 10)	  /* a terminal: at most ten times a second */
#define LINE_NS SECOND_NS		  /* a file or pipe: at most one line a second */
#define ESTIMATE_AFTER_NS (2 * SECOND_NS) /* the first moments say little about the rest */
#define LINE_COLUMNS 79

static int64_t now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		return 0;
	return now.tv_sec * SECOND_NS + now.tv_nsec;
}

void fl_progress_init(struct fl_progress *progress, const char *program, enum fl_progress_when when,
		      bool quiet)
{
	memset(progress, 0, sizeof(*progress));
	progress->program = program;
	progress->redraw = isatty(STDERR_FILENO) == 1;
	progress->shown = !quiet && (when == FL_PROGRESS_ALWAYS ||
				     (when == FL_PROGRESS_AUTO && progress->redraw));
}

void fl_progress_phase(struct fl_progress *progress, const char *phase, const char *unit,
		       uint64_t unit_bytes)
{
	fl_progress_clear(progress);
	progress->phase = phase;
	progress->unit = unit;
	progress->unit_bytes = unit_bytes;
	progress->phase_ns = now_ns();
	/* A phase that is over at once need not flash up on a terminal. */
	progress->drawn_ns = progress->redraw ? progress->phase_ns : 0;
}

/* Percent without overflow for any 64-bit counts; total > 0. */
static unsigned percent_of(uint64_t done, uint64_t total)
{
	if (done >= total)
		return 100;
	return (unsigned)((unsigned __int128)done * 100 / total);
}

static void format_left(uint64_t done, uint64_t total, int64_t elapsed_ns, char *text,
			size_t text_bytes)
{
	unsigned __int128 left_ns;
	uint64_t left;

	text[0] = '\0';
	if (!done || done >= total || elapsed_ns < ESTIMATE_AFTER_NS)
		return;
	left_ns = (unsigned __int128)elapsed_ns * (total - done) / done;
	if (left_ns / SECOND_NS >= 100 * 3600)
		return;
	left = (uint64_t)(left_ns / SECOND_NS);
	if (left >= 3600)
		(void)snprintf(text, text_bytes, ", %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left",
			       left / 3600, left / 60 % 60, left % 60);
	else
		(void)snprintf(text, text_bytes, ", %" PRIu64 ":%02" PRIu64 " left", left / 60,
			       left % 60);
}

void fl_progress_format(const struct fl_progress *progress, uint64_t done, uint64_t total,
			int64_t elapsed_ns, char *text, size_t text_bytes)
{
	char left[32], done_text[FL_SIZE_TEXT], total_text[FL_SIZE_TEXT];

	if (!total) {
		(void)snprintf(text, text_bytes, "%s", progress->phase);
		return;
	}
	format_left(done, total, elapsed_ns, left, sizeof(left));
	if (progress->unit)
		(void)snprintf(text, text_bytes, "%s %u%%, %" PRIu64 " of %" PRIu64 " %s%s",
			       progress->phase, percent_of(done, total), done, total,
			       progress->unit, left);
	else
		(void)snprintf(text, text_bytes, "%s %u%%, %s of %s%s", progress->phase,
			       percent_of(done, total),
			       fl_size_format(done * progress->unit_bytes, done_text),
			       fl_size_format(total * progress->unit_bytes, total_text), left);
}

void fl_progress_update(void *context, uint64_t done, uint64_t total)
{
	struct fl_progress *progress = context;
	char text[LINE_COLUMNS + 1];
	int64_t now;
	int width;

	if (!progress->shown || !progress->phase)
		return;
	now = now_ns();
	if (progress->drawn_ns &&
	    now - progress->drawn_ns < (progress->redraw ? REDRAW_NS : LINE_NS))
		return;
	progress->drawn_ns = now;
	fl_progress_format(progress, done, total, now - progress->phase_ns, text, sizeof(text));
	if (!progress->redraw) {
		(void)fprintf(stderr, "%s: %s\n", progress->program, text);
		return;
	}
	/* Spaces over the rest of a longer line: works on terminals without escape codes too. */
	width = (int)strlen(text);
	(void)fprintf(stderr, "\r%s%*s", text,
		      progress->width > width ? progress->width - width : 0, "");
	(void)fflush(stderr);
	progress->width = width;
}

void fl_progress_clear(struct fl_progress *progress)
{
	if (!progress->shown || !progress->redraw || !progress->width)
		return;
	(void)fprintf(stderr, "\r%*s\r", progress->width, "");
	(void)fflush(stderr);
	progress->width = 0;
}
