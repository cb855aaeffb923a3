/* SPDX-License-Identifier: MIT */
/*
 * The report for people, within 80 columns. Prints into memory only, and never a
 * byte from outside that is not safe for a terminal.
 */
#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEVIATIONS_SHOWN 10
#define INDENT 17 /* of what follows a section's first word */

/* A path from outside on the current line, which has `used` columns already. */
static int print_path(FILE *out, const char *path, size_t used)
{
	char *safe = fl_report_safe(path ? path : "", REPORT_COLUMNS - used);

	if (!safe)
		return FL_ENOMEM;
	fprintf(out, "%s\n", safe);
	free(safe);
	return 0;
}

/* "ext4, 4.00 GiB in 4 KiB blocks, 58.3 % in use"; no newline. */
static void print_filesystem(FILE *out, const struct fl_report_filesystem *fs)
{
	char size[FL_SIZE_TEXT], block[FL_SIZE_TEXT];

	fprintf(out, "%s, %s in %s blocks, %.1f %% in use", fl_report_type(fs),
		fl_size_format(fs->blocks * fs->block_bytes, size),
		fl_size_format(fs->block_bytes, block),
		fs->blocks ? (double)fs->used_blocks * 100.0 / (double)fs->blocks : 0.0);
}

/* Nothing for a filesystem that takes the whole image. */
static void print_place(FILE *out, const struct fl_report_image *image, const char *indent)
{
	if (!image->placed)
		return;
	fputs(indent, out);
	if (image->partition)
		fprintf(out, "partition %u, ", image->partition);
	fprintf(out, "from byte %" PRIu64 "\n", image->offset_bytes);
}

static int print_heading(FILE *out, const struct fl_report *report)
{
	int used = fprintf(out, "%s %s: ", report->tool, report->version);
	int error;

	if (report->analyze && report->image_count > 1) {
		fprintf(out, "%zu images\n", report->image_count);
		for (size_t i = 0; i < report->image_count; i++) {
			used = fprintf(out, "%3zu  ", i + 1);
			error = print_path(out, report->images[i].path,
					   used > 0 ? (size_t)used : 0);
			if (error)
				return error;
			fputs("     ", out);
			print_filesystem(out, &report->images[i].filesystem);
			fputc('\n', out);
			print_place(out, &report->images[i], "     ");
		}
		return 0;
	}
	error = print_path(out, report->images[0].path, used > 0 ? (size_t)used : 0);
	if (error)
		return error;
	print_filesystem(out, &report->images[0].filesystem);
	fputc('\n', out);
	print_place(out, &report->images[0], "");
	if (report->profile && !strcmp(report->tool, "frag"))
		fprintf(out, "profile %.20s, %" PRIu32 " months, seed %" PRIu64 "\n",
			report->profile, report->months, report->seed);
	else if (report->profile)
		fprintf(out, "mode %.20s\n", report->profile);
	return 0;
}

/* Before, and after or what is predicted. */
static int print_states(FILE *out, const struct fl_report *report, bool colour)
{
	uint32_t block_bytes = report->images[0].filesystem.block_bytes;
	struct fl_report_column columns[2] = {
		{"before", &report->images[0].metrics, block_bytes},
	};
	struct fl_report_table table = {.columns = columns, .count = 1, .colour = colour};

	if (report->has_after)
		columns[1] = (struct fl_report_column){"after", &report->after, block_bytes};
	else if (report->has_predicted)
		columns[1] =
			(struct fl_report_column){"predicted", &report->predicted, block_bytes};
	if (columns[1].metrics) {
		table.count = 2;
		table.first = columns[0].metrics;
		table.last = columns[1].metrics;
	}
	fputc('\n', out);
	fl_report_print_table(out, &table);
	if (fl_report_print_histograms(out, report, columns, table.count))
		return FL_ENOMEM;
	return fl_report_print_blame(out, &columns[table.count - 1], table.count > 1);
}

/* A budget that is too small. */
static void print_next(FILE *out, const struct fl_report *report)
{
	const bool small = report->next_bytes % ((uint64_t)1 << 20) != 0;

	fprintf(out, "%-*snothing: too little for any improvement\n", INDENT, "moved");
	fprintf(out, "%-*sthe next improvement takes --max-move %" PRIu64 "%c\n", INDENT, "budget",
		report->next_bytes >> (small ? 10 : 20), small ? 'K' : 'M');
}

static void print_moves(FILE *out, const struct fl_report *report)
{
	const struct fl_move_result *moves = &report->moves;
	char size[FL_SIZE_TEXT], count[REPORT_CELL], batches[REPORT_CELL], flushes[REPORT_CELL];

	fputc('\n', out);
	if (report->next_bytes) {
		print_next(out, report);
		return;
	}
	if (!report->planned_bytes && !moves->wrote && !moves->bytes) {
		fprintf(out, "%-*snothing has to move\n", INDENT, "moved");
		return;
	}
	if (report->dry_run) {
		fprintf(out, "%-*s%s; nothing was written\n", INDENT, "would move",
			fl_size_format(report->planned_bytes, size));
	} else {
		fprintf(out, "%-*s%s in %s extents", INDENT, "moved",
			fl_size_format(moves->bytes, size),
			fl_report_count(moves->extents, 20, count));
		if (moves->bytes < report->planned_bytes)
			fprintf(out, ", of %s planned",
				fl_size_format(report->planned_bytes, size));
		fprintf(out, "\n%*s%s batches, %s flushes, %.1f s", INDENT, "",
			fl_report_count(moves->batches, 9, batches),
			fl_report_count(moves->flushes, 9, flushes), report->seconds);
		if (report->seconds > 0.0)
			fprintf(out, ", %.1f MiB/s",
				(double)moves->bytes / (1024.0 * 1024.0) / report->seconds);
		fputc('\n', out);
	}
	fprintf(out, "%-*s%s at the least", INDENT, "had to move",
		fl_size_format(report->needed_bytes, size));
	if (report->needed_bytes)
		fprintf(out, "; the plan moves %.2f times that",
			(double)report->planned_bytes / (double)report->needed_bytes);
	fputc('\n', out);
	if (moves->fenced)
		fprintf(out, "%-*sthe image is still marked unclean: run e2fsck -fy on it\n",
			INDENT, "state");
}

/* What stays by its nature; three reasons to a line. */
static void print_pinned(FILE *out, const struct fl_file_metrics *files)
{
	char count[REPORT_CELL];
	size_t shown = 0;

	for (size_t i = FL_PIN_NONE + 1; i < FL_PIN_COUNT; i++) {
		if (!files->pinned[i])
			continue;
		if (shown % 3)
			fputs(", ", out);
		else
			fprintf(out, "%s%-*s", shown ? "\n" : "", INDENT,
				shown ? "" : "pinned files");
		fprintf(out, "%s %s", fl_report_count(files->pinned[i], 9, count),
			fl_report_pin((enum fl_pin)i));
		shown++;
	}
	if (shown)
		fputc('\n', out);
}

static int print_left(FILE *out, const struct fl_report *report)
{
	static const char *const reasons[] = {
		[FL_LEFT_PINNED] = "pinned",	      [FL_LEFT_NO_ROOM] = "no free room",
		[FL_LEFT_MODE] = "not asked for",     [FL_LEFT_STOPPED] = "stopped before",
		[FL_LEFT_BUDGET] = "over the budget",
	};
	char count[REPORT_CELL];

	if (!report->left_total)
		return 0;
	fprintf(out, "%-*s%s files%s\n", INDENT, "still in pieces",
		fl_report_count(report->left_total, 20, count),
		report->left_total > report->left_count ? ", these the most fragmented:" : "");
	fprintf(out, "%11s  %-14s  %s\n", "fragments", "why", "file");
	for (size_t i = 0; i < report->left_count; i++) {
		const struct fl_left *left = &report->left[i];
		int error;

		fprintf(out, "%11s  %-14s  ", fl_report_count(left->fragments, 11, count),
			reasons[left->reason]);
		error = print_path(out, left->path, 29);
		if (error)
			return error;
	}
	return 0;
}

/* Names of a list that are not in the image; a long list is cut. */
static int print_missing(FILE *out, const struct fl_report *report)
{
	char count[REPORT_CELL];

	if (!report->missing_count)
		return 0;
	fprintf(out, "%-*s%s names of the list are not there, or have no blocks:\n", INDENT,
		"missing", fl_report_count(report->missing_count, 20, count));
	for (size_t i = 0; i < report->missing_count && i < FL_LEFT_SHOWN; i++) {
		int error;

		fprintf(out, "%*s", INDENT, "");
		error = print_path(out, report->missing[i], INDENT);
		if (error)
			return error;
	}
	return 0;
}

static void print_prediction(FILE *out, const struct fl_report *report)
{
	struct fl_deviation deviations[DEVIATIONS_SHOWN];
	size_t count;

	if (!report->has_predicted || !report->has_after)
		return;
	if (fl_metrics_equal(&report->predicted, &report->after, deviations, DEVIATIONS_SHOWN,
			     &count)) {
		fprintf(out, "%-*smet in every metric\n", INDENT, "prediction");
		return;
	}
	/* A plan that was stopped cannot have come out as promised; its misses tell nothing. */
	if (report->moves.bytes < report->planned_bytes) {
		fprintf(out, "%-*sfor the whole plan, which did not run to its end\n", INDENT,
			"prediction");
		return;
	}
	fprintf(out, "%-*smissed in %zu metrics:\n", INDENT, "prediction", count);
	for (size_t i = 0; i < count && i < DEVIATIONS_SHOWN; i++)
		fprintf(out, "  %s\n%*s%s predicted, %s found\n", deviations[i].name, INDENT, "",
			deviations[i].expected, deviations[i].found);
	if (count > DEVIATIONS_SHOWN)
		fprintf(out, "  and %zu more\n", count - DEVIATIONS_SHOWN);
}

static int print_report(FILE *out, const struct fl_report *report, bool colour)
{
	const struct fl_metrics *last = fl_report_outcome(report);
	int error = print_heading(out, report);

	if (error)
		return error;
	if (report->analyze)
		return fl_report_print_images(out, report, colour);
	error = print_states(out, report, colour);
	if (error)
		return error;
	print_moves(out, report);
	fl_report_print_curve(out, report);
	fl_report_print_aims(out, report);
	print_pinned(out, &last->files);
	error = print_left(out, report);
	if (!error)
		error = print_missing(out, report);
	if (error)
		return error;
	print_prediction(out, report);
	return 0;
}

int fl_report_text(const struct fl_report *report, bool colour, char **text)
{
	char *made = NULL;
	size_t size;
	FILE *out;
	int error;

	if (!report->image_count)
		return FL_EINVAL;
	out = open_memstream(&made, &size);
	if (!out)
		return FL_ENOMEM;
	error = print_report(out, report, colour);
	if (ferror(out) && !error)
		error = FL_ENOMEM;
	if (fclose(out) && !error)
		error = FL_ENOMEM;
	if (error) {
		free(made);
		return error;
	}
	*text = made;
	return 0;
}
