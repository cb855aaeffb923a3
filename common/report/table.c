/* SPDX-License-Identifier: MIT */
/*
 * The table of metrics: one row a figure, one column a state or an image, and the
 * change. Only lays out; every figure comes from the metrics.
 */
#include "parts.h"

#include <string.h>

#define LABEL_WIDTH 27
#define WIDEST_COLUMN 17

enum form {
	FORM_COUNT,
	FORM_BYTES,
	FORM_TENTHS,  /* one decimal */
	FORM_SCORE,   /* 0..1, three decimals */
	FORM_PERCENT, /* 0..1 as per cent */
};

enum figure {
	FILES,
	FRAGMENTS,
	FRAGMENTED,
	FRAGMENTED_SHARE,
	AVOIDABLE,
	MOST_FRAGMENTS,
	LAYOUT_SCORE,
	FREE_SPACE,
	FREE_EXTENTS,
	LARGEST_FREE,
	LARGEST_FREE_SHARE,
	E4DEFRAG, /* the first of other tools' scores */
	NON_CONTIGUOUS,
	FILEFRAG,
	IOS,
	MEAN_IO,
	SEQUENTIAL,
	SEEKS,
	SEEKS_PER_100MIB,
	LATENCY, /* from here on: with a disk model only */
	SLOW,
	SECONDS,
	FIGURES
};

static const struct {
	const char *label;
	enum form form;
	int better; /* 1: more is better; -1: less is better; 0: neither */
} figures[FIGURES] = {
	[FILES] = {"files", FORM_COUNT, 0},
	[FRAGMENTS] = {"fragments", FORM_COUNT, -1},
	[FRAGMENTED] = {"files in pieces", FORM_COUNT, -1},
	[FRAGMENTED_SHARE] = {"  share of the files", FORM_PERCENT, -1},
	[AVOIDABLE] = {"avoidable fragments", FORM_COUNT, -1},
	[MOST_FRAGMENTS] = {"most fragmented file", FORM_COUNT, -1},
	[LAYOUT_SCORE] = {"layout score", FORM_SCORE, 1},
	[FREE_SPACE] = {"free space", FORM_BYTES, 0},
	[FREE_EXTENTS] = {"free extents", FORM_COUNT, -1},
	[LARGEST_FREE] = {"largest free extent", FORM_BYTES, 1},
	[LARGEST_FREE_SHARE] = {"  of the largest possible", FORM_PERCENT, 1},
	[E4DEFRAG] = {"  e4defrag score", FORM_TENTHS, -1},
	[NON_CONTIGUOUS] = {"  e2fsck non-contiguous", FORM_PERCENT, -1},
	[FILEFRAG] = {"  filefrag extents", FORM_COUNT, -1},
	[IOS] = {"  I/Os", FORM_COUNT, -1},
	[MEAN_IO] = {"  mean I/O", FORM_BYTES, 1},
	[SEQUENTIAL] = {"  sequential I/Os", FORM_PERCENT, 1},
	[SEEKS] = {"  seeks", FORM_COUNT, -1},
	[SEEKS_PER_100MIB] = {"  seeks per 100 MiB", FORM_TENTHS, -1},
	[LATENCY] = {"  mean latency, ms", FORM_TENTHS, -1},
	[SLOW] = {"  I/Os over 30 ms", FORM_PERCENT, -1},
	[SECONDS] = {"  seconds, estimated", FORM_TENTHS, -1},
};

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0.0;
}

/* Rounded; what no integer holds becomes the largest. */
static uint64_t whole(double value)
{
	return value < 18446744073709549568.0 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

/* io: for the figures of a workload; else ignored. */
static double value_of(enum figure figure, const struct fl_metrics *m, size_t io)
{
	switch (figure) {
	case FILES:
		return (double)m->files.count;
	case FRAGMENTS:
		return (double)m->files.fragments;
	case FRAGMENTED:
		return (double)m->files.fragmented;
	case FRAGMENTED_SHARE:
		return share(m->files.fragmented, m->files.count);
	case AVOIDABLE:
		return (double)m->files.avoidable_fragments;
	case MOST_FRAGMENTS:
		return m->files.largest_count ? (double)m->files.largest_fragments[0] : 0.0;
	case LAYOUT_SCORE:
		return m->files.layout_score;
	case FREE_SPACE: /* the mean is exact enough to get the bytes back, rounded to be equal */
		return (double)whole(m->free.mean_bytes * (double)m->free.extents);
	case FREE_EXTENTS:
		return (double)m->free.extents;
	case LARGEST_FREE:
		return (double)m->free.largest_bytes;
	case LARGEST_FREE_SHARE:
		return share(m->free.largest_bytes, m->free.largest_possible_bytes);
	case E4DEFRAG:
		return m->legacy.e4defrag.score;
	case NON_CONTIGUOUS:
		return m->legacy.e2fsck.percent / 100.0;
	case FILEFRAG:
		return (double)m->legacy.filefrag.extents;
	case IOS:
		return (double)m->io[io].ios;
	case MEAN_IO:
		return m->io[io].mean_io_bytes;
	case SEQUENTIAL:
		return m->io[io].sequential_ratio;
	case SEEKS:
		return (double)m->io[io].seeks;
	case SEEKS_PER_100MIB:
		return m->io[io].seeks_per_100mib;
	case LATENCY:
		return m->io[io].mean_latency_us / 1000.0;
	case SLOW:
		return m->io[io].slow_ratio;
	case SECONDS:
		return m->io[io].seconds;
	case FIGURES:
		break;
	}
	return 0.0;
}

static void format_value(enum form form, double value, size_t columns, char cell[REPORT_CELL])
{
	char size[FL_SIZE_TEXT];

	switch (form) {
	case FORM_COUNT:
		fl_report_count(whole(value), columns, cell);
		return;
	case FORM_BYTES:
		snprintf(cell, REPORT_CELL, "%s", fl_size_format(whole(value), size));
		return;
	case FORM_TENTHS:
		if (value < 1000.0)
			snprintf(cell, REPORT_CELL, "%.1f", value);
		else
			fl_report_count(whole(value), columns, cell);
		return;
	case FORM_SCORE:
		snprintf(cell, REPORT_CELL, "%.3f", value);
		return;
	case FORM_PERCENT:
		snprintf(cell, REPORT_CELL, "%.1f %%", value * 100.0);
		return;
	}
}

/* From a to b, which differ. */
static void format_change(enum form form, double a, double b, size_t columns,
			  char cell[REPORT_CELL])
{
	double change = b - a, percent;
	char number[REPORT_CELL];

	if (form == FORM_SCORE) {
		snprintf(cell, REPORT_CELL, "%+.3f", change);
		return;
	}
	if (form == FORM_PERCENT) {
		snprintf(cell, REPORT_CELL, "%+.1f pt", change * 100.0);
		return;
	}
	percent = a > 0.0 ? change / a * 100.0 : 0.0;
	if (a > 0.0 && b / a >= 10.0) {
		if (b / a < 1000.0)
			snprintf(cell, REPORT_CELL, "x %.1f", b / a);
		else
			snprintf(cell, REPORT_CELL, "x %s",
				 fl_report_count(whole(b / a), columns - 3, number));
		return;
	}
	/* From nothing, or too little to show in per cent: the difference itself. */
	if (percent > -0.05 && percent < 0.05) {
		format_value(form, change < 0.0 ? -change : change, columns - 2, number);
		snprintf(cell, REPORT_CELL, "%c%.*s", change < 0.0 ? '-' : '+', REPORT_CELL - 2,
			 number);
		return;
	}
	/* "-100 %" is for what is gone altogether. */
	if (percent < -99.9 && b > 0.0)
		percent = -99.9;
	snprintf(cell, REPORT_CELL, "%+.1f %%", percent);
}

size_t fl_report_column_width(size_t columns)
{
	size_t width = (REPORT_COLUMNS - LABEL_WIDTH) / columns;

	return width < WIDEST_COLUMN ? width : WIDEST_COLUMN;
}

/* Right-justified, at least one blank before it. */
static void print_cell(FILE *out, const char *text, size_t width, const char *before,
		       const char *after)
{
	size_t used = fl_report_width(text);

	fprintf(out, "%*s%s%s%s", used < width ? (int)(width - used) : 1, "", before, text, after);
}

static void print_change(FILE *out, const struct fl_report_table *table, enum figure figure,
			 size_t io, size_t width)
{
	double a = value_of(figure, table->first, io), b = value_of(figure, table->last, io);
	int direction = (b > a) - (b < a);
	const char *colour = "";
	char cell[REPORT_CELL] = "=";

	if (direction)
		format_change(figures[figure].form, a, b, width, cell);
	if (table->colour && direction && figures[figure].better)
		colour = direction == figures[figure].better ? "\033[32m" : "\033[31m";
	print_cell(out, cell, width, colour, *colour ? "\033[0m" : "");
}

static void print_row(FILE *out, const struct fl_report_table *table, enum figure figure, size_t io)
{
	size_t width = fl_report_column_width(table->count + (table->first != NULL));
	char cell[REPORT_CELL];

	fprintf(out, "%-*s", LABEL_WIDTH, figures[figure].label);
	for (size_t i = 0; i < table->count; i++) {
		format_value(figures[figure].form, value_of(figure, table->columns[i].metrics, io),
			     width - 1, cell);
		print_cell(out, cell, width, "", "");
	}
	if (table->first)
		print_change(out, table, figure, io, width);
	fputc('\n', out);
}

void fl_report_print_table(FILE *out, const struct fl_report_table *table)
{
	size_t width = fl_report_column_width(table->count + (table->first != NULL));
	const struct fl_metrics *metrics = table->columns[0].metrics;

	fprintf(out, "%*s", LABEL_WIDTH, "");
	for (size_t i = 0; i < table->count; i++)
		print_cell(out, table->columns[i].head, width, "", "");
	if (table->first)
		print_cell(out, "change", width, "", "");
	fputc('\n', out);

	for (enum figure figure = FILES; figure < IOS; figure++) {
		if (figure == E4DEFRAG)
			fprintf(out, "as other tools count\n");
		print_row(out, table, figure, 0);
	}
	for (size_t io = 0; io < metrics->io_count; io++) {
		enum fl_disk_model disk = metrics->io[io].disk;
		enum figure end = disk == FL_DISK_NONE ? LATENCY : FIGURES;

		fprintf(out, "%s%s%s\n", fl_workload_name(metrics->io[io].workload),
			disk == FL_DISK_NONE ? "" : " on ",
			disk == FL_DISK_NONE ? "" : fl_disk_name(disk));
		for (enum figure figure = IOS; figure < end; figure++)
			print_row(out, table, figure, io);
	}
}
