/* SPDX-License-Identifier: MIT */
/*
 * Histograms in vscsiStats' CSV layout, so that tools made for captures from real
 * hosts read ours. Whole numbers only, so the locale has no say.
 */
#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>

/* Names for all, reads and writes; a kind that a capture has for all only has one. */
struct titles {
	enum fl_hist_kind kind;
	const char *names[3];
};

static const struct titles titles[] = {
	{FL_HIST_LENGTH,
	 {"IO lengths of commands", "IO lengths of Read commands", "IO lengths of Write commands"}},
	{FL_HIST_SEEK,
	 {"distance (in LBNs) between successive commands",
	  "distance (in LBNs) between successive Read commands",
	  "distance (in LBNs) between successive Write commands"}},
	{FL_HIST_WINDOWED_SEEK,
	 {"distance (in LBNs) between each command from the closest of previous 16", NULL, NULL}},
	{FL_HIST_LATENCY,
	 {"latency of IOs in Microseconds (us)", "latency of Read IOs in Microseconds (us)",
	  "latency of Write IOs in Microseconds (us)"}},
	{FL_HIST_OUTSTANDING,
	 {"number of outstanding IOs when a new IO is issued",
	  "number of outstanding Read IOs when a new Read IO is issued",
	  "number of outstanding Write IOs when a new Write IO is issued"}},
	{FL_HIST_INTERARRIVAL,
	 {"latency of IO interarrival time in Microseconds (us)",
	  "latency of IO interarrival time for Reads in Microseconds (us)",
	  "latency of IO interarrival time for Writes in Microseconds (us)"}},
};

const char *fl_report_csv_name(enum fl_hist_kind kind, enum fl_capture_of of)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (titles[i].kind == kind)
			return titles[i].names[of];
	return NULL;
}

struct disk {
	size_t handle; /* counts streams */
	size_t image;
};

static void print_hist(FILE *out, const struct disk *disk, const char *name,
		       const struct fl_hist *hist)
{
	size_t buckets;
	const int64_t *edges = fl_hist_edges(hist->kind, &buckets);
	double mean = hist->count ? hist->sum / (double)hist->count : 0.0;

	fprintf(out,
		"Histogram: %s,virtual machine worldGroupID,0,virtual disk handleID,%zu "
		"(scsi0:%zu)\n",
		name, disk->handle, disk->image);
	fprintf(out, "min,%" PRId64 "\nmax,%" PRId64 "\nmean,%" PRId64 "\ncount,%" PRIu64 "\n",
		hist->min, hist->max, (int64_t)(mean < 0.0 ? mean - 0.5 : mean + 0.5), hist->count);
	fprintf(out, "Frequency,Histogram Bucket Limit\n");
	for (size_t i = 0; i < buckets; i++)
		fprintf(out, "%" PRIu64 ",%" PRId64 "\n", hist->buckets[i],
			edges[i + 1 < buckets ? i : i - 1]);
}

static const struct fl_hist *side_hist(const struct fl_io_side *side, enum fl_hist_kind kind)
{
	switch (kind) {
	case FL_HIST_LENGTH:
		return &side->length;
	case FL_HIST_SEEK:
		return &side->seek;
	case FL_HIST_LATENCY:
		return &side->latency;
	case FL_HIST_INTERARRIVAL:
		return &side->interarrival;
	case FL_HIST_OUTSTANDING:
	default:
		return &side->outstanding;
	}
}

static const struct fl_hist *all_hist(const struct fl_io_metrics *io, enum fl_hist_kind kind)
{
	switch (kind) {
	case FL_HIST_LENGTH:
		return &io->length;
	case FL_HIST_SEEK:
		return &io->seek;
	case FL_HIST_WINDOWED_SEEK:
		return &io->windowed_seek;
	case FL_HIST_LATENCY:
		return &io->latency;
	case FL_HIST_INTERARRIVAL:
		return &io->interarrival;
	case FL_HIST_OUTSTANDING:
	default:
		return &io->outstanding;
	}
}

static void print_stream(FILE *out, const struct disk *disk, const struct fl_io_metrics *io)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++) {
		enum fl_hist_kind kind = titles[i].kind;

		print_hist(out, disk, titles[i].names[0], all_hist(io, kind));
		if (!titles[i].names[1])
			continue;
		print_hist(out, disk, titles[i].names[1], side_hist(&io->reads, kind));
		print_hist(out, disk, titles[i].names[2], side_hist(&io->writes, kind));
	}
}

static void print_state(FILE *out, struct disk *disk, const struct fl_metrics *metrics)
{
	for (size_t i = 0; i < metrics->io_count; i++) {
		print_stream(out, disk, &metrics->io[i]);
		disk->handle++;
	}
	disk->image++;
}

int fl_report_csv(const struct fl_report *report, char **text)
{
	struct disk disk = {0};
	char *made = NULL;
	size_t size;
	bool failed;
	FILE *out;

	if (!report->image_count)
		return FL_EINVAL;
	out = open_memstream(&made, &size);
	if (!out)
		return FL_ENOMEM;
	if (!report->analyze && report->has_after)
		print_state(out, &disk, &report->after);
	else if (!report->analyze && report->has_predicted)
		print_state(out, &disk, &report->predicted);
	else
		for (size_t i = 0; i < report->image_count; i++)
			print_state(out, &disk, &report->images[i].metrics);
	for (size_t i = 0; i < report->interleaved_count; i++, disk.handle++)
		print_stream(out, &disk, &report->interleaved[i].together);
	failed = ferror(out);
	if (fclose(out) || failed) {
		free(made);
		return FL_ENOMEM;
	}
	*text = made;
	return 0;
}
