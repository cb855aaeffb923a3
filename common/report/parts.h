/* SPDX-License-Identifier: MIT */
/*
 * What the renderers share: text that is safe to show, columns, bars. Private to
 * common/report.
 */
#ifndef FRAGLAB_REPORT_PARTS_H
#define FRAGLAB_REPORT_PARTS_H

#include <fraglab/report.h>

#include <stdio.h>

#define REPORT_COLUMNS 80

/* "pinned", "no-room", "mode", "stopped", "budget". */
const char *fl_report_reason(enum fl_left_reason reason);
/* "system", "hidden", ... */
const char *fl_report_pin(enum fl_pin pin);
/* "ext2", "ext3" or "ext4", by the features, as blkid tells them apart. */
const char *fl_report_type(const struct fl_report_filesystem *filesystem);

/* --- safe.c: bytes from outside, made fit to show --- */

/* Bytes of the UTF-8 character at text; 0 when it is not valid there. */
size_t fl_report_utf8(const char *text);

/*
 * A malloc'd copy in valid UTF-8 without control characters: other bytes become \xNN. NULL:
 * no memory. columns > 0: cut at the front, with "..." before the rest, to that many columns.
 */
char *fl_report_safe(const char *text, size_t columns);
/* Columns a terminal needs for text that fl_report_safe made, counted generously. */
size_t fl_report_width(const char *text);

/* --- cells.c: numbers as people read them --- */

#define REPORT_CELL 32

/* "26,397"; without commas, then with K, M, G, T, P, E (of 1000), where columns are few. */
const char *fl_report_count(uint64_t value, size_t columns, char cell[REPORT_CELL]);

/* --- csv.c --- */

/* vscsiStats' name of a histogram; NULL: it has none such. */
const char *fl_report_csv_name(enum fl_hist_kind kind, enum fl_capture_of of);

/* --- table.c --- */

struct fl_report_column {
	const char *head; /* fits the column */
	const struct fl_metrics *metrics;
	uint32_t block_bytes;
};

/* Columns that a table of this many columns (with the change) leaves each. */
size_t fl_report_column_width(size_t columns);

struct fl_report_table {
	const struct fl_report_column *columns;
	size_t count;
	/* A last column, the change between these two; NULL: none. */
	const struct fl_metrics *first, *last;
	bool colour;
};

void fl_report_print_table(FILE *out, const struct fl_report_table *table);

/* --- bars.c --- */

/* As many as stand side by side. */
#define REPORT_SIDE_BY_SIDE 4

/*
 * Seek distance, length and latency of the first workload, those that there are; 1 to
 * REPORT_SIDE_BY_SIDE columns, with heads.
 */
void fl_report_print_bars(FILE *out, const struct fl_report_column *columns, size_t count,
			  bool headed);

/* --- text_images.c --- */

/*
 * Free space and the first workload's histograms, side by side as far as there is room; beside the
 * latter those of the report's captures. FL_ENOMEM.
 */
int fl_report_print_histograms(FILE *out, const struct fl_report *report,
			       const struct fl_report_column *columns, size_t count) FL_CHECKED;
/* --analyze: a column an image, four to a table, the change from first to last at the end. */
int fl_report_print_images(FILE *out, const struct fl_report *report, bool colour) FL_CHECKED;

/* --- space.c --- */

/* Free extents by size: how many, and their share of the free blocks. Columns as for the bars. */
void fl_report_print_space(FILE *out, const struct fl_report_column *columns, size_t count);

/* --- curve.c --- */

/* What parts of the plan would buy; nothing when that is not known. */
void fl_report_print_curve(FILE *out, const struct fl_report *report);

/* --- aims.c --- */

/* The metrics that what is wanted is held against: after the run, else predicted. */
const struct fl_metrics *fl_report_outcome(const struct fl_report *report);
/* What was wanted, and what was achieved; nothing when nothing was. */
void fl_report_print_aims(FILE *out, const struct fl_report *report);

/* --- blame.c --- */

/* The files with the most seeks in the first workload; titled: says whose. FL_ENOMEM. */
int fl_report_print_blame(FILE *out, const struct fl_report_column *column, bool titled) FL_CHECKED;

#endif
