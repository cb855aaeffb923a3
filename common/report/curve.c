/* SPDX-License-Identifier: MIT */
/*
 * The curve of a dry run, for people: what a part of the bytes buys.
 */
#include "parts.h"

void fl_report_print_curve(FILE *out, const struct fl_report *report)
{
	char bytes[FL_SIZE_TEXT], largest[FL_SIZE_TEXT];
	char fragments[REPORT_CELL], seeks[REPORT_CELL], extents[REPORT_CELL];

	if (!report->has_curve)
		return;
	fprintf(out, "\n%12s %11s %11s %12s %12s %13s\n", "moved", "fragments", "seeks",
		"sequential", "free extents", "largest free");
	for (size_t i = 0; i < FL_CURVE_POINTS; i++) {
		const struct fl_curve_point *point = &report->curve[i];

		fprintf(out, "%12s %11s %11s %10.1f %% %12s %13s\n",
			fl_size_format(point->bytes, bytes),
			fl_report_count(point->fragments, 11, fragments),
			fl_report_count(point->seeks, 11, seeks), point->sequential_ratio * 100,
			fl_report_count(point->free_extents, 12, extents),
			fl_size_format(point->largest_free_bytes, largest));
	}
}
