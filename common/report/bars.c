/* SPDX-License-Identifier: MIT */
/*
 * Histograms as bars of '#', folded from vscsiStats' buckets into a few bands.
 */
#include "parts.h"

#define LABEL_WIDTH 23

/* What a column has, by the number of columns: its width, and the longest bar in it. */
static const struct {
	unsigned int width, bar;
} layouts[REPORT_SIDE_BY_SIDE + 1] = {{0, 0}, {48, 40}, {28, 20}, {19, 10}, {14, 5}};

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

static const struct band latency_bands[] = {
	{100, "up to 0.1 ms"},	{500, "up to 0.5 ms"},	  {1000, "up to 1 ms"},
	{5000, "up to 5 ms"},	{15000, "up to 15 ms"},	  {30000, "up to 30 ms"},
	{50000, "up to 50 ms"}, {100000, "up to 100 ms"}, {INT64_MAX, "over 100 ms"},
};

#define BANDS (sizeof(seek_bands) / sizeof(seek_bands[0]))
_Static_assert(BANDS == sizeof(length_bands) / sizeof(length_bands[0]), "one size for all");
_Static_assert(BANDS == sizeof(latency_bands) / sizeof(latency_bands[0]), "one size for all");

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

/* One row of one column; the last column is not filled up with blanks. */
static void print_bar(FILE *out, uint64_t part, uint64_t whole, size_t columns, bool last)
{
	double share = whole ? (double)part / (double)whole : 0.0;
	unsigned int length = (unsigned int)(share * layouts[columns].bar + 0.5);

	fprintf(out, "%5.1f %%%s", share * 100.0, length || !last ? " " : "");
	for (unsigned int i = 0; i < length; i++)
		fputc('#', out);
	if (!last)
		fprintf(out, "%*s", (int)(layouts[columns].width - 8 - length), "");
}

static void print_title(FILE *out, const char *title, const struct fl_report_column *columns,
			size_t count, bool headed)
{
	fprintf(out, "%-*s", headed ? LABEL_WIDTH : 0, title);
	for (size_t i = 0; headed && i < count; i++) {
		size_t used = fl_report_width(columns[i].head) + 2, width = layouts[count].width;

		fprintf(out, "  %s%*s", columns[i].head,
			i + 1 == count ? 0 : (int)(used < width ? width - used : 1), "");
	}
	fputc('\n', out);
}

/* hists[i] belongs to column i. */
static void print_hists(FILE *out, const struct band *bands, const struct fl_hist *const *hists,
			size_t count)
{
	uint64_t folded[REPORT_SIDE_BY_SIDE][BANDS];

	for (size_t i = 0; i < count; i++)
		fold(hists[i], bands, folded[i]);
	for (size_t band = 0; band < BANDS; band++) {
		bool any = false;

		for (size_t i = 0; i < count; i++)
			any |= folded[i][band] != 0;
		if (!any)
			continue;
		fprintf(out, "  %-*s", LABEL_WIDTH - 2, bands[band].label);
		for (size_t i = 0; i < count; i++)
			print_bar(out, folded[i][band], hists[i]->count, count, i + 1 == count);
		fputc('\n', out);
	}
}

static const struct fl_hist *hist_of(const struct fl_io_metrics *io, enum fl_hist_kind kind)
{
	return kind == FL_HIST_SEEK	? &io->seek
	       : kind == FL_HIST_LENGTH ? &io->length
					: &io->latency;
}

void fl_report_print_bars(FILE *out, const struct fl_report_column *columns, size_t count,
			  bool headed)
{
	static const struct {
		enum fl_hist_kind kind;
		const char *title;
		const struct band *bands;
	} shown[] = {
		{FL_HIST_SEEK, "seek, 512-byte blocks", seek_bands},
		{FL_HIST_LENGTH, "I/O length", length_bands},
		{FL_HIST_LATENCY, "latency", latency_bands},
	};

	for (size_t k = 0; k < sizeof(shown) / sizeof(shown[0]); k++) {
		const struct fl_hist *hists[REPORT_SIDE_BY_SIDE] = {NULL};
		bool any = false;

		for (size_t i = 0; i < count; i++) {
			hists[i] = hist_of(&columns[i].metrics->io[0], shown[k].kind);
			any |= hists[i]->count != 0;
		}
		if (!any)
			continue;
		print_title(out, shown[k].title, columns, count, headed);
		print_hists(out, shown[k].bands, hists, count);
	}
}
