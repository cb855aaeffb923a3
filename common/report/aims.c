/* SPDX-License-Identifier: MIT */
/*
 * What was wanted of the layout beside what was achieved, for people.
 */
#include "parts.h"

const struct fl_metrics *fl_report_outcome(const struct fl_report *report)
{
	if (report->has_after)
		return &report->after;
	return report->has_predicted ? &report->predicted : &report->images[0].metrics;
}

void fl_report_print_aims(FILE *out, const struct fl_report *report)
{
	char wanted[FL_AIM_TEXT], achieved[FL_AIM_TEXT];

	if (!report->aims.count)
		return;
	fprintf(out, "\n%-15s %14s %14s\n", "target", "wanted",
		report->has_after ? "achieved" : "predicted");
	for (size_t i = 0; i < report->aims.count; i++) {
		const struct fl_aim *aim = &report->aims.at[i];
		uint64_t value = fl_aim_value(aim->key, fl_report_outcome(report));

		fprintf(out, "  %-13s %14s %14s  %s\n", fl_aim_name(aim->key),
			fl_aim_format(aim->key, aim->wanted, wanted),
			fl_aim_format(aim->key, value, achieved),
			fl_aim_met(aim, value) ? "met" : "missed");
	}
}
