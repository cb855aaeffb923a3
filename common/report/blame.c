/* SPDX-License-Identifier: MIT */
/*
 * The files that cost the most seeks, as a list. Only lays out.
 */
#include "parts.h"

#include <stdlib.h>

#define INDENT 23

int fl_report_print_blame(FILE *out, const struct fl_report_column *column, bool titled)
{
	const struct fl_blame *blame;
	char count[REPORT_CELL];
	size_t shown = 0;

	if (!column->metrics->io_count)
		return 0;
	blame = &column->metrics->io[0].blame;
	if (!blame->worst_count)
		return 0;
	/* A file in one piece costs one seek: no news. */
	while (shown < blame->worst_count && blame->worst[shown].seeks > 1)
		shown++;
	fprintf(out, "\n%s%s%s: ", fl_workload_name(column->metrics->io[0].workload),
		titled ? ", " : "", titled ? column->head : "");
	if (!shown) {
		fprintf(out, "no file costs more than one of the %s seeks\n",
			fl_report_count(blame->seeks, 20, count));
		return 0;
	}
	fprintf(out, "files that cost most of the %s seeks\n",
		fl_report_count(blame->seeks, 20, count));
	fprintf(out, "%11s  %7s   file\n", "seeks", "share");
	for (size_t i = 0; i < shown; i++) {
		const struct fl_blamed *blamed = &blame->worst[i];
		char *safe = fl_report_safe(blamed->path, REPORT_COLUMNS - INDENT);

		if (!safe)
			return FL_ENOMEM;
		fprintf(out, "%11s  %5.1f %%   %s\n", fl_report_count(blamed->seeks, 11, count),
			blamed->share * 100.0, safe);
		free(safe);
	}
	return 0;
}
