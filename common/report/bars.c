/* SPDX-License-Identifier: MIT */
/*
 * Histograms as bars of '#', folded from vscsiStats' buckets into a few bands.
 */
#include "parts.h"

#define LABEL_WIDTH 23
#define BAR_ONE 40 /* with one column */
#define BAR_TWO 20 /* with two */

/* Values up to `upper` that are over the band before's; uppers are edges of the kind. */
struct band {
	int64_t upper;
	const char *label;
};

static const struct band seek_bands[] = {
	{-50000, "50,000 or more back"},
	{-5000, "5,000 or more back"},
	{-500, "500 or more back"},
	{0, "less back"},
	{1, "next (+1)"},
	{500, "up to 500 ahead"},
	{5000, "up to 5,000 ahead"},
	{50000, "up to 50,000 ahead"},
	{INT64_MAX, "over 50,000 ahead"},
};

static const struct band length_bands[] = {
	{4096, "up to 4 KiB"},	   {8192, "up to 8 KiB"},     {16384, "up to 16 KiB"},
	{32768, "up to 32 KiB"},   {65536, "up to 64 KiB"},   {131072, "up to 128 KiB"},
	{262144, "up to 256 KiB"}, {524288, "up to 512 KiB"}, {INT64_MAX, "over 512 KiB"},
};

#define BANDS (sizeof(seek_bands) / sizeof(seek_bands[0]))
_Static_assert(BANDS == sizeof(length_bands) / sizeof(length_bands[0]), "one size for both");

static void fold(const struct fl_hist *hist, const struct band *bands, uint64_t folded[BANDS])
{
	size_t buckets, band = 0;
	const int64_t *edges = fl_hist_edges(hist->kind, &buckets);

	for (size_t i = 0; i < BANDS; i++)
		folded[i] = 0;
	for (size_t i = 0; i < buckets; i++) {
		int64_t edge = i + 1 < buckets ? edges[i] : INT64_MAX;

		while (edge > bands[band].upper)
			band++;
		folded[band] += hist->buckets[i];
	}
}

static void print_bar(FILE *out, uint64_t part, uint64_t whole, unsigned int room, bool pad)
{
	double share = whole ? (double)part / (double)whole : 0.0;
	unsigned int length = (unsigned int)(share * room + 0.5);

	fprintf(out, "%5.1f %%%s", share * 100.0, length || pad ? " " : "");
	for (unsigned int i = 0; i < length; i++)
		fputc('#', out);
	if (pad)
		fprintf(out, "%*s", (int)(room - length), "");
}

static void print_hist(FILE *out, const struct band *bands, const struct fl_hist *left,
		       const struct fl_hist *right)
{
	uint64_t a[BANDS], b[BANDS] = {0};
	unsigned int room = right ? BAR_TWO : BAR_ONE;

	fold(left, bands, a);
	if (right)
		fold(right, bands, b);
	for (size_t i = 0; i < BANDS; i++) {
		if (!a[i] && !b[i])
			continue;
		fprintf(out, "  %-*s", LABEL_WIDTH - 2, bands[i].label);
		print_bar(out, a[i], left->count, room, right != NULL);
		if (right)
			print_bar(out, b[i], right->count, room, false);
		fputc('\n', out);
	}
}

static void print_title(FILE *out, const char *title, const struct fl_report_column *left,
			const struct fl_report_column *right)
{
	size_t pad = BAR_TWO + 8;
	size_t used = fl_report_width(left->head);

	fprintf(out, "%-*s", right ? LABEL_WIDTH : 0, title);
	if (right)
		fprintf(out, "  %s%*s%s", left->head, (int)(used < pad ? pad - used : 1), "",
			right->head);
	fputc('\n', out);
}

void fl_report_print_bars(FILE *out, const struct fl_report_column *left,
			  const struct fl_report_column *right)
{
	const struct fl_io_metrics *a = &left->metrics->io[0];
	const struct fl_io_metrics *b = right ? &right->metrics->io[0] : NULL;

	fprintf(out, "%s\n", fl_workload_name(a->workload));
	print_title(out, "seek, 512-byte blocks", left, right);
	print_hist(out, seek_bands, &a->seek, b ? &b->seek : NULL);
	print_title(out, "I/O length", left, right);
	print_hist(out, length_bands, &a->length, b ? &b->length : NULL);
}
