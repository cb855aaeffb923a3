/* SPDX-License-Identifier: MIT */
/*
 * Free space by the size of its extents, as e2freefrag shows it, a column a state or an image.
 * Only lays out.
 */
#include "parts.h"

#define LABEL_WIDTH 23

/* Rows are powers of two of bytes, as images may differ in their block size. */
#define LEAST_POWER 10
#define MOST_POWER (FL_FREE_BUCKETS + 16)

/* "4 KiB - 8 KiB": from 2^power bytes up to, not including, twice that. */
static void print_label(FILE *out, unsigned int power)
{
	char from[FL_SIZE_TEXT], to[FL_SIZE_TEXT], label[2 * FL_SIZE_TEXT + 4];

	snprintf(label, sizeof(label), "%s - %s", fl_size_format(UINT64_C(1) << power, from),
		 fl_size_format(UINT64_C(2) << power, to));
	fprintf(out, "  %-*s", LABEL_WIDTH - 2, label);
}

/* The bucket of a column for a row; a row that it cannot have gives an empty one. */
static size_t bucket_of(const struct fl_report_column *column, unsigned int power)
{
	size_t bucket = power;

	for (uint32_t bytes = column->block_bytes; bytes > 1 && bucket; bytes >>= 1)
		bucket--;
	return (uint64_t)column->block_bytes >> power > 1 || bucket >= FL_FREE_BUCKETS
		       ? FL_FREE_BUCKETS
		       : bucket;
}

static uint64_t extents_of(const struct fl_report_column *column, size_t bucket)
{
	return bucket < FL_FREE_BUCKETS ? column->metrics->free.histogram[bucket].extents : 0;
}

static void print_cell(FILE *out, const struct fl_report_column *column, size_t bucket,
		       size_t width)
{
	const struct fl_free_metrics *space = &column->metrics->free;
	uint64_t extents = extents_of(column, bucket);
	double share = 0.0;
	char cell[REPORT_CELL];

	if (extents && space->blocks)
		share = (double)space->histogram[bucket].blocks * 100.0 / (double)space->blocks;
	fprintf(out, "%*s %5.1f%%", (int)width - 7, fl_report_count(extents, width - 8, cell),
		share);
}

void fl_report_print_space(FILE *out, const struct fl_report_column *columns, size_t count)
{
	size_t width = (REPORT_COLUMNS - LABEL_WIDTH) / count;

	if (width > 19)
		width = 19;
	fprintf(out, "%-*s", LABEL_WIDTH, "free extents of");
	for (size_t i = 0; i < count; i++) {
		size_t used = fl_report_width(columns[i].head);

		fprintf(out, "%*s%s", used < width ? (int)(width - used) : 1, "", columns[i].head);
	}
	fputc('\n', out);
	for (unsigned int power = LEAST_POWER; power < MOST_POWER; power++) {
		bool any = false;

		for (size_t i = 0; i < count; i++)
			any |= extents_of(&columns[i], bucket_of(&columns[i], power)) != 0;
		if (!any)
			continue;
		print_label(out, power);
		for (size_t i = 0; i < count; i++)
			print_cell(out, &columns[i], bucket_of(&columns[i], power), width);
		fputc('\n', out);
	}
}
