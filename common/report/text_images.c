/* SPDX-License-Identifier: MIT */
/*
 * The report on several images side by side, and what hangs on columns: histograms, and what is
 * left of a sequence when they run at once. Text for people, as text.c.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* The last part of a path, cut to the column; numbered when another image looks the same. */
static char *image_head(const struct fl_report *report, size_t index, size_t columns)
{
	const char *path = report->images[index].path, *slash = strrchr(path, '/');
	const char *base = slash && slash[1] ? slash + 1 : path;
	bool clash = false;
	char *head = fl_report_safe(base, columns), *numbered = NULL, *cut;

	for (size_t i = 0; head && i < report->image_count && !clash; i++) {
		const char *other = report->images[i].path;
		char *shown;

		slash = strrchr(other, '/');
		shown = fl_report_safe(slash && slash[1] ? slash + 1 : other, columns);
		clash = i != index && shown && !strcmp(head, shown);
		free(shown);
	}
	if (!clash)
		return head;
	free(head);
	cut = fl_report_safe(base, columns > 6 ? columns - 3 : columns);
	if (cut && asprintf(&numbered, "%zu:%s", index + 1, cut) < 0)
		numbered = NULL;
	free(cut);
	return numbered;
}

static void free_heads(struct fl_report_column *columns, char **heads, size_t count)
{
	for (size_t i = 0; heads && i < count; i++)
		free(heads[i]);
	free(heads);
	free(columns);
}

#define DISKS_SHOWN 3 /* of a capture; the JSON document has all */

/* A disk of a capture as a column; its histograms stand for those of a workload. */
struct captured {
	char head[REPORT_CELL];
	struct fl_metrics metrics;
};

static void fill_captured(const struct fl_captures *captures, size_t first,
			  struct fl_io_metrics *io)
{
	fl_hist_init(&io->seek, FL_HIST_SEEK);
	fl_hist_init(&io->length, FL_HIST_LENGTH);
	fl_hist_init(&io->latency, FL_HIST_LATENCY);
	for (size_t i = first; i < captures->count; i++) {
		const struct fl_capture *capture = &captures->at[i];

		if (capture->of != FL_CAPTURE_ALL ||
		    !fl_captures_same_disk(&captures->at[first], capture))
			continue;
		if (capture->hist.kind == FL_HIST_SEEK)
			io->seek = capture->hist;
		else if (capture->hist.kind == FL_HIST_LENGTH)
			io->length = capture->hist;
		else if (capture->hist.kind == FL_HIST_LATENCY)
			io->latency = capture->hist;
	}
}

/* The capture's columns, at most DISKS_SHOWN; returns how many. */
static size_t add_captures(const struct fl_captures *captures, struct captured *captured,
			   struct fl_report_column *columns)
{
	size_t count = 0;

	for (size_t i = 0; i < captures->count && count < DISKS_SHOWN; i++) {
		if (!fl_captures_first_of_disk(captures, i))
			continue;
		snprintf(captured[count].head, REPORT_CELL, "capture %zu", count + 1);
		fill_captured(captures, i, &captured[count].metrics.io[0]);
		columns[count] = (struct fl_report_column){captured[count].head,
							   &captured[count].metrics, 0};
		count++;
	}
	if (count == 1)
		snprintf(captured[0].head, REPORT_CELL, "capture");
	return count;
}

int fl_report_print_histograms(FILE *out, const struct fl_report *report,
			       const struct fl_report_column *columns, size_t count)
{
	struct fl_report_column *all;
	struct captured *captured;

	for (size_t i = 0; i < count; i += REPORT_SIDE_BY_SIDE) {
		fputc('\n', out);
		fl_report_print_space(out, columns + i, fl_min(count - i, REPORT_SIDE_BY_SIDE));
	}
	if (!columns[0].metrics->io_count || !columns[0].metrics->io[0].ios)
		return 0;
	all = fl_alloc(count + DISKS_SHOWN, sizeof(*all));
	captured = fl_alloc(DISKS_SHOWN, sizeof(*captured));
	if (all && captured) {
		memcpy(all, columns, count * sizeof(*all));
		count += add_captures(&report->captures, captured, all + count);
		for (size_t i = 0; i < count; i += REPORT_SIDE_BY_SIDE) {
			fprintf(out, "\n%s\n",
				fl_workload_name(columns[0].metrics->io[0].workload));
			fl_report_print_bars(out, all + i, fl_min(count - i, REPORT_SIDE_BY_SIDE),
					     count > 1);
		}
	}
	free(all);
	free(captured);
	return all && captured ? 0 : FL_ENOMEM;
}

/* --interleave: what the array under all guests sees, and what is left of going in sequence. */
static void print_interleaved(FILE *out, const struct fl_report *report)
{
	for (size_t i = 0; i < report->interleaved_count; i++) {
		const struct fl_io_metrics *alone = &report->interleaved[i].alone;
		const struct fl_io_metrics *together = &report->interleaved[i].together;

		fprintf(out, "\n%zu guests on one array: %s\n", report->image_count,
			fl_workload_name(alone->workload));
		fprintf(out, "%29s %14s\n", "in turn", "at once");
		fprintf(out, "%-16s%11.1f %% %12.1f %%\n", "sequential I/Os",
			alone->sequential_ratio * 100.0, together->sequential_ratio * 100.0);
		fprintf(out, "%-16s%13.1f %14.1f\n", "seeks / 100 MiB", alone->seeks_per_100mib,
			together->seeks_per_100mib);
		if (alone->disk != FL_DISK_NONE)
			fprintf(out, "%-16s%13.1f %14.1f\n%-16s%13.1f %14.1f\n", "mean latency, ms",
				alone->mean_latency_us / 1000.0, together->mean_latency_us / 1000.0,
				"seconds", alone->seconds, together->seconds);
		fprintf(out, "%.1f %% of the sequential share is left when they run at once.\n",
			report->interleaved[i].kept * 100.0);
	}
}

/* --analyze: a column an image, four to a table, the change from first to last at the end. */
int fl_report_print_images(FILE *out, const struct fl_report *report, bool colour)
{
	size_t count = report->image_count;
	size_t width = fl_report_column_width(count > REPORT_SIDE_BY_SIDE ? REPORT_SIDE_BY_SIDE + 1
									  : count + (count > 1));
	struct fl_report_column *columns = fl_alloc(count, sizeof(*columns));
	char **heads = calloc(count, sizeof(*heads));
	int error = FL_ENOMEM;

	if (!columns || !heads)
		goto out;
	for (size_t i = 0; i < count; i++) {
		heads[i] = image_head(report, i, width - 1);
		if (!heads[i])
			goto out;
		columns[i].head = heads[i];
		columns[i].metrics = &report->images[i].metrics;
		columns[i].block_bytes = report->images[i].filesystem.block_bytes;
	}
	for (size_t i = 0; i < count; i += REPORT_SIDE_BY_SIDE) {
		struct fl_report_table table = {
			.columns = columns + i,
			.count = fl_min(count - i, REPORT_SIDE_BY_SIDE),
			.colour = colour,
		};

		fputc('\n', out);
		if (count > 1 && i + REPORT_SIDE_BY_SIDE >= count) {
			table.first = columns[0].metrics;
			table.last = columns[count - 1].metrics;
		}
		fl_report_print_table(out, &table);
	}
	error = fl_report_print_histograms(out, report, columns, count);
	if (error)
		goto out;
	print_interleaved(out, report);
	for (size_t i = 0; i < count && !error; i++)
		error = fl_report_print_blame(out, &columns[i], count > 1);
out:
	free_heads(columns, heads, count);
	return error;
}
