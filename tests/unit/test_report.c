/* SPDX-License-Identifier: MIT */
/*
 * The renderers, each read back: JSON with a parser and every fixed key, CSV line by
 * line, text by what a person would look for and by its width.
 */
#include <fraglab/report.h>

#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define BLOCK 4096

static void fill_legacy(struct fl_legacy_metrics *legacy, bool better)
{
	legacy->e4defrag.files = 26000;
	legacy->e4defrag.extents = better ? 26010 : 70000;
	legacy->e4defrag.best = 26000;
	legacy->e4defrag.score = better ? 0.25 : 57.75;
	legacy->e4defrag.worst_count = 1;
	legacy->e4defrag.worst[0].ino = 4711;
	legacy->e4defrag.worst[0].extents = better ? 2 : 1243;
	legacy->e4defrag.worst[0].best = 1;
	legacy->e4defrag.worst[0].score = better ? 8.0 : 90.5;
	strcpy(legacy->e4defrag.worst[0].path, "/var/log/mail");
	legacy->e2fsck.files = better ? 5 : 8000;
	legacy->e2fsck.directories = better ? 0 : 12;
	legacy->e2fsck.percent = better ? 0.1 : 30.4;
	legacy->e2freefrag.min_kib = 4;
	legacy->e2freefrag.max_kib = 128;
	legacy->e2freefrag.mean_kib = 92;
	legacy->filefrag.files = 25990;
	legacy->filefrag.extents = better ? 26001 : 69000;
}

static void fill_blame(struct fl_blame *blame, bool better)
{
	blame->seeks = better ? 697 : 848;
	blame->owned = 690;
	blame->files = 400;
	blame->worst_count = 2;
	blame->worst[0].ino = 4711;
	blame->worst[0].seeks = better ? 1 : 424;
	blame->worst[0].share = better ? 1.0 / 697 : 0.5;
	strcpy(blame->worst[0].path, "/var/log/mail");
	blame->worst[1].ino = 12;
	blame->worst[1].seeks = 1;
	strcpy(blame->worst[1].path, "/once");
}

static void fill_side(struct fl_io_side *side, int64_t salt)
{
	fl_hist_init(&side->length, FL_HIST_LENGTH);
	fl_hist_init(&side->seek, FL_HIST_SEEK);
	fl_hist_init(&side->latency, FL_HIST_LATENCY);
	fl_hist_init(&side->interarrival, FL_HIST_INTERARRIVAL);
	fl_hist_init(&side->outstanding, FL_HIST_OUTSTANDING);
	for (int64_t i = 0; i < 50 + salt; i++) {
		fl_hist_add(&side->length, 512 * (i + salt));
		fl_hist_add(&side->seek, -i * salt);
		fl_hist_add(&side->latency, 900 * i + salt);
		fl_hist_add(&side->interarrival, 70 * i + salt);
		fl_hist_add(&side->outstanding, i + salt);
	}
}

/* Every histogram another, so that none can stand for another; a disk only when `better`. */
static void fill_timed(struct fl_io_metrics *io, bool better)
{
	fl_hist_init(&io->latency, FL_HIST_LATENCY);
	fl_hist_init(&io->interarrival, FL_HIST_INTERARRIVAL);
	fl_hist_init(&io->outstanding, FL_HIST_OUTSTANDING);
	for (int64_t i = 0; i < 90; i++) {
		fl_hist_add(&io->latency, 900 * i);
		fl_hist_add(&io->interarrival, 70 * i);
		fl_hist_add(&io->outstanding, i);
	}
	fill_side(&io->reads, better ? 1 : 2);
	fill_side(&io->writes, better ? 3 : 4);
}

/* Numbers that fit together loosely; `better` from 0 (as found) to 1 (all well). */
static void fill_metrics(struct fl_metrics *m, bool better)
{
	struct fl_io_metrics *io;

	memset(m, 0, sizeof(*m));
	m->files.count = 26397;
	m->files.blocks = 620000;
	m->files.extents = better ? 26400 : 79100;
	m->files.fragments = better ? 26402 : 79008;
	m->files.fragmented = better ? 5 : 8123;
	m->files.forced_fragments = 26400;
	m->files.avoidable_fragments = better ? 2 : 52608;
	m->files.layout_score = better ? 0.99987 : 0.853;
	m->files.largest_count = 2;
	m->files.largest_fragments[0] = better ? 2 : 1243;
	m->files.largest_fragments[1] = better ? 1 : 900;
	m->files.tree_blocks = better ? 3 : 800;
	m->files.pinned[FL_PIN_SYSTEM] = 2;
	m->files.pinned[FL_PIN_IMMUTABLE] = 1;
	m->free.blocks = 420000;
	m->free.extents = better ? 3 : 12253;
	m->free.largest_bytes = better ? (uint64_t)400000 * BLOCK : (uint64_t)1459 * BLOCK;
	m->free.largest_possible_bytes = (uint64_t)400000 * BLOCK;
	m->free.mean_bytes = 420000.0 * BLOCK / (double)m->free.extents;
	m->free.histogram[0].extents = 1;
	m->free.histogram[0].blocks = 1;
	m->free.histogram[5].extents = 2;
	m->free.histogram[5].blocks = 90;
	fill_legacy(&m->legacy, better);
	m->io_count = 2;
	for (unsigned w = 0; w < m->io_count; w++) {
		io = &m->io[w];
		io->workload = (enum fl_workload)w;
		io->ios = 1000;
		io->bytes = (uint64_t)1 << 60; /* over 2^53 */
		io->seeks = better ? 697 : 848;
		io->seeks_per_100mib = better ? 324.25 : 2479.5;
		io->sequential_ratio = better ? 0.303 : 0.152;
		io->mean_io_bytes = better ? 65536.5 : 30413;
		fill_blame(&io->blame, better);
		fl_hist_init(&io->length, FL_HIST_LENGTH);
		fl_hist_init(&io->seek, FL_HIST_SEEK);
		fl_hist_init(&io->windowed_seek, FL_HIST_WINDOWED_SEEK);
		for (int i = 0; i < 1000; i++) {
			fl_hist_add(&io->length, better ? 524288 : 4096 << (i % 7));
			if (!i)
				continue;
			fl_hist_add(&io->seek, i < (better ? 303 : 152) ? 1 : (i - 500) * 7001);
			fl_hist_add(&io->windowed_seek, i % 3 ? 1 : -i);
		}
		fill_timed(io, better);
	}
}

static char *copy(const char *text)
{
	char *made = strdup(text);

	assert_non_null(made);
	return made;
}

static void fill_image(struct fl_report_image *image, const char *path, bool better)
{
	image->path = copy(path);
	image->filesystem.block_bytes = BLOCK;
	image->filesystem.blocks = 1048576;
	image->filesystem.used_blocks = 628576;
	image->filesystem.free_blocks = 420000;
	image->filesystem.feature_count = 2;
	image->filesystem.features = calloc(2, sizeof(char *));
	image->filesystem.features[0] = copy("has_journal");
	image->filesystem.features[1] = copy("extent");
	fill_metrics(&image->metrics, better);
}

static struct fl_report *new_report(const char *tool, const char *path)
{
	struct fl_report *report = calloc(1, sizeof(*report));

	assert_non_null(report);
	report->tool = tool;
	report->version = "0.1.0";
	report->images = calloc(7, sizeof(*report->images));
	report->image_count = 1;
	fill_image(&report->images[0], path, false);
	report->profile = copy(strcmp(tool, "frag") ? "full" : "desktop");
	report->months = 6;
	return report;
}

/* As after a run that left one file. */
static struct fl_report *done_report(void)
{
	struct fl_report *report = new_report("defrag", "guest.img");

	report->has_predicted = report->has_after = true;
	fill_metrics(&report->predicted, true);
	fill_metrics(&report->after, true);
	report->moves.extents = 12345;
	report->moves.bytes = (uint64_t)3 << 30;
	report->moves.batches = 14;
	report->moves.flushes = 32;
	report->moves.wrote = true;
	report->planned_bytes = (uint64_t)3 << 30;
	report->needed_bytes = (uint64_t)2 << 30;
	report->seconds = 12.0;
	report->left = calloc(2, sizeof(*report->left));
	report->left[0].path = copy("/var/lib/\\xff\\xfe/journal");
	report->left[0].fragments = 170;
	report->left[0].reason = FL_LEFT_NO_ROOM;
	report->left[1].path = copy("/swap");
	report->left[1].fragments = 3;
	report->left[1].reason = FL_LEFT_PINNED;
	report->left_count = 2;
	report->left_total = 11;
	return report;
}

static void drop(struct fl_report *report)
{
	fl_report_free(report);
	free(report);
}

/* --- text --- */

/* Every line within 80 columns, printable, the text ends with a newline. */
static void check_lines(const char *text)
{
	const char *line = text;
	size_t width = 0;

	assert_true(*text && text[strlen(text) - 1] == '\n');
	for (const char *at = text; *at; at++) {
		if (*at == '\n') {
			if (width > 80)
				fail_msg("%zu columns: %.*s", width, (int)(at - line), line);
			assert_true(at == text || (at[-1] != ' ' && at[-1] != '\t'));
			width = 0;
			line = at + 1;
		} else if (!strncmp(at, "\033[", 2)) {
			at = strchr(at, 'm');
			assert_non_null(at);
		} else {
			assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
			/* The only wide characters here are of three bytes. */
			width += ((unsigned char)*at & 0xc0) != 0x80;
			width += ((unsigned char)*at & 0xf0) == 0xe0;
		}
	}
}

static char *text_of(const struct fl_report *report, bool colour)
{
	char *text = NULL;

	assert_int_equal(fl_report_text(report, colour, &text), 0);
	if (getenv("SHOW"))
		puts(text);
	check_lines(text);
	return text;
}

static void expect(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no \"%s\" in:\n%s", part, text);
}

static void refuse(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("\"%s\" in:\n%s", part, text);
}

static void expect_row(const char *text, const char *label, const char *before, const char *after,
		       const char *change)
{
	char row[128];

	snprintf(row, sizeof(row), "\n%-27s%17s%17s%17s\n", label, before, after, change);
	expect(text, row);
}

static void test_text_of_a_run(void **state)
{
	struct fl_report *report = done_report();
	char *text = text_of(report, false);

	(void)state;
	expect(text, "defrag 0.1.0: guest.img\n");
	expect(text, "ext4, 4 GiB in 4 KiB blocks, 59.9 % in use\n");
	expect(text, "mode full\n");
	expect(text, "before            after           change\n");
	expect_row(text, "files", "26,397", "26,397", "=");
	expect_row(text, "fragments", "79,008", "26,402", "-66.6 %");
	expect_row(text, "avoidable fragments", "52,608", "2", "-99.9 %"); /* not all are gone */
	expect_row(text, "layout score", "0.853", "1.000", "+0.147");
	expect_row(text, "free space", "1.60 GiB", "1.60 GiB", "=");
	expect_row(text, "largest free extent", "5.69 MiB", "1.52 GiB", "x 274.2");
	expect_row(text, "  of the largest possible", "0.4 %", "100.0 %", "+99.6 pt");
	expect_row(text, "  sequential I/Os", "15.2 %", "30.3 %", "+15.1 pt");
	expect_row(text, "  seeks per 100 MiB", "2,480", "324.2", "-86.9 %");
	expect(text, "\nas other tools count\n");
	expect_row(text, "  e4defrag score", "57.8", "0.2", "-99.6 %");
	expect_row(text, "  e2fsck non-contiguous", "30.4 %", "0.1 %", "-30.3 pt");
	expect_row(text, "  filefrag extents", "69,000", "26,001", "-62.3 %");
	expect(text, "\nfree extents of                     before              after\n");
	expect(text, "\n  4 KiB - 8 KiB                   1   0.0%           1   0.0%\n");
	expect(text, "\n  128 KiB - 256 KiB               2   0.0%           2   0.0%\n");
	/* Afterwards each file costs one. */
	expect(text, "\nread-all, after: no file costs more than one of the 697 seeks\n");
	expect(text, "\nread-all\n");
	expect(text, "\nread-inode-order\n");
	expect(text, "moved            3 GiB in 12,345 extents\n");
	expect(text, "14 batches, 32 flushes, 12.0 s, 256.0 MiB/s\n");
	expect(text, "had to move      2 GiB at the least; the plan moves 1.50 times that\n");
	expect(text, "pinned files     2 system, 1 immutable\n");
	expect(text, "still in pieces  11 files, these the most fragmented:\n");
	expect(text, "        170  no free room    /var/lib/\\xff\\xfe/journal\n");
	expect(text, "          3  pinned          /swap\n");
	expect(text, "prediction       met in every metric\n");
	refuse(text, "\033");
	refuse(text, "unclean");
	free(text);

	report->after.files.fragments++;
	report->after.io[1].windowed_seek.buckets[3] = UINT64_MAX;
	report->moves.fenced = true;
	text = text_of(report, false);
	expect(text, "prediction       missed in 2 metrics:\n");
	expect(text, "  files.fragments\n                 26402 predicted, 26403 found\n");
	expect(text, "  read-inode-order.windowed_seek_distance[3]\n");
	expect(text, "run e2fsck -fy");
	free(text);

	report->moves.bytes = (uint64_t)1 << 30;
	text = text_of(report, false);
	expect(text, "moved            1 GiB in 12,345 extents, of 3 GiB planned\n");
	expect(text, "which did not run to its end\n");
	refuse(text, "missed");
	free(text);
	drop(report);
}

static void test_text_colour(void **state)
{
	struct fl_report *report = done_report();
	char *text = text_of(report, true);

	(void)state;
	expect(text, "\033[32m-66.6 %\033[0m");	 /* fewer fragments */
	expect(text, "\033[32m+15.1 pt\033[0m"); /* more sequential */
	refuse(text, "\033[31m");
	free(text);
	fill_metrics(&report->images[0].metrics, true);
	fill_metrics(&report->after, false);
	text = text_of(report, true);
	expect(text, "\033[31m-15.1 pt\033[0m");
	expect(text, "\033[31m+199.3 %\033[0m");
	refuse(text, "\033[32m");
	free(text);
	drop(report);
}

static void test_text_of_a_dry_run(void **state)
{
	struct fl_report *report = new_report("frag", "guest.img");
	char *text;

	(void)state;
	report->dry_run = report->has_predicted = true;
	report->seed = UINT64_MAX;
	fill_metrics(&report->predicted, true);
	report->planned_bytes = 5 << 20;
	report->needed_bytes = 4 << 20;
	text = text_of(report, false);
	expect(text, "before        predicted           change\n");
	expect(text, "profile desktop, 6 months, seed 18446744073709551615\n");
	expect(text, "would move       5 MiB; nothing was written\n");
	expect(text, "had to move      4 MiB at the least; the plan moves 1.25 times that\n");
	refuse(text, "prediction ");
	refuse(text, "still in pieces");
	free(text);
	report->planned_bytes = report->needed_bytes = 0;
	text = text_of(report, false);
	expect(text, "nothing has to move\n");
	free(text);
	drop(report);
}

static void test_text_of_images(void **state)
{
	struct fl_report *report = new_report("defrag", "/images/aged/disk.img");
	char *text;
	size_t tables = 0;

	(void)state;
	report->analyze = true;
	text = text_of(report, false);
	expect(text, "defrag 0.1.0: /images/aged/disk.img\n");
	refuse(text, "change");
	refuse(text, "moved");
	free(text);

	fill_image(&report->images[report->image_count++], "/images/rebuilt/disk.img", true);
	text = text_of(report, false);
	expect(text, "defrag 0.1.0: 2 images\n");
	expect(text, "  1  /images/aged/disk.img\n");
	expect(text, "1:disk.img       2:disk.img           change\n");
	expect(text, "\nread-all, 1:disk.img: files that cost most of the 848 seeks\n"
		     "      seeks    share   file\n"
		     "        424   50.0 %   /var/log/mail\n\n"
		     "read-all, 2:disk.img: no file");
	free(text);

	for (int i = 0; i < 5; i++)
		fill_image(&report->images[report->image_count++],
			   i & 1 ? "a-very-long-name-of-an-image.raw" : "x\n\033[2J\377.img",
			   i & 1);
	text = text_of(report, false);
	for (const char *at = text; (at = strstr(at, "\nfragments ")); at++)
		tables++;
	assert_int_equal(tables, 2);
	/* Seven images are four and three side by side, for each histogram. */
	tables = 0;
	for (const char *at = text; (at = strstr(at, "\nI/O length  ")); at++)
		tables++;
	assert_int_equal(tables, 2);
	expect(text, "\\x0a\\x1b[2J\\xff.img");
	expect(text, "...");
	assert_true(strstr(text, " change\n") > strstr(text, "\nfragments "));
	assert_null(strstr(strstr(text, " change\n") + 1, " change\n"));
	free(text);
	drop(report);
}

/* The largest numbers there can be, and long wide names: still 80 columns. */
static void test_text_extremes(void **state)
{
	struct fl_report *report = done_report();
	char path[400];
	char *text;

	(void)state;
	free(report->images[0].path);
	for (size_t i = 0; i < 130; i++)
		memcpy(path + 3 * i, "\xe6\xbc\xa2", 3);
	path[390] = '\0';
	report->images[0].path = copy(path);
	free(report->left[0].path);
	report->left[0].path = copy(path);
	for (size_t i = 0; i < 2; i++) {
		struct fl_metrics *m = i ? &report->after : &report->images[0].metrics;

		m->files.count = m->files.fragments = m->files.fragmented = UINT64_MAX >> i;
		m->files.avoidable_fragments = i ? UINT64_MAX / 2 : 1;
		m->free.extents = 1;
		m->free.largest_bytes = (UINT64_MAX >> 1) >> (40 * i);
		m->free.largest_possible_bytes = UINT64_MAX;
		m->free.blocks = UINT64_MAX;
		m->free.histogram[3].extents = m->free.histogram[3].blocks = UINT64_MAX;
		m->legacy.e4defrag.score = i ? -1e6 : 96.5;
		m->legacy.filefrag.extents = UINT64_MAX;
		m->io[0].blame.seeks = m->io[0].blame.worst[0].seeks = UINT64_MAX;
		m->io[0].blame.worst[0].share = 1.0;
		memcpy(m->io[0].blame.worst[0].path, path, 255);
		m->io[0].seeks_per_100mib = i ? 1e18 : 1.0;
		for (size_t pin = 0; pin < FL_PIN_COUNT; pin++)
			m->files.pinned[pin] = UINT64_MAX;
	}
	report->moves.extents = report->moves.batches = report->moves.flushes = UINT64_MAX;
	report->moves.bytes = UINT64_MAX;
	report->left[0].fragments = UINT64_MAX;
	report->left_total = UINT64_MAX;
	report->seconds = 1e9;
	free(text_of(report, true));
	report->analyze = true;
	for (int i = 0; i < 3; i++) {
		fill_image(&report->images[report->image_count++], path, true);
		report->images[report->image_count - 1].metrics.files.fragments =
			(uint64_t)123456789012;
	}
	text = text_of(report, false);
	expect(text, "123 G");
	free(text);
	drop(report);
}

static void test_text_without_workloads(void **state)
{
	struct fl_report *report = done_report();
	char *text;

	(void)state;
	report->images[0].metrics.io_count = 0;
	report->predicted.io_count = report->after.io_count = 0;
	text = text_of(report, false);
	refuse(text, "read-all");
	refuse(text, "seek");
	free(text);
	drop(report);
}

/* --- JSON --- */

static json_t *json_of(const struct fl_report *report)
{
	char *text = NULL;
	json_error_t error;
	json_t *root;

	assert_int_equal(fl_report_json(report, &text), 0);
	assert_int_equal(text[strlen(text) - 1], '\n');
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	free(text);
	return root;
}

/* The value at a path like "before.files.count"; fails when there is none. */
static const json_t *at(const json_t *root, const char *path)
{
	char key[64];

	while (*path) {
		size_t length = strcspn(path, ".");

		assert_true(length < sizeof(key));
		memcpy(key, path, length);
		key[length] = '\0';
		root = json_is_array(root) ? json_array_get(root, strtoul(key, NULL, 10))
					   : json_object_get(root, key);
		if (!root)
			fail_msg("no key %s", path);
		path += length + (path[length] == '.');
	}
	return root;
}

static json_int_t integer_at(const json_t *root, const char *path)
{
	assert_true(json_is_integer(at(root, path)));
	return json_integer_value(at(root, path));
}

static void check_state(const json_t *m)
{
	static const char *const integers[] = {
		"files.count",
		"files.extents",
		"files.fragments",
		"files.fragmented",
		"files.avoidable_fragments",
		"files.largest_fragments.0",
		"files.pinned.system",
		"free.blocks",
		"free.extents",
		"free.largest_bytes",
		"free.largest_possible_bytes",
		"io.0.ios",
		"io.0.bytes",
		"io.0.seeks",
		"files.forced_fragments",
		"legacy.e4defrag.files",
		"legacy.e4defrag.extents",
		"legacy.e4defrag.best_extents",
		"legacy.e4defrag.worst.0.extents",
		"legacy.e4defrag.worst.0.best_extents",
		"legacy.e4defrag.worst.0.inode",
		"legacy.e2fsck.non_contiguous_files",
		"legacy.e2fsck.non_contiguous_directories",
		"legacy.e2freefrag.min_kib",
		"legacy.e2freefrag.max_kib",
		"legacy.e2freefrag.mean_kib",
		"legacy.e2freefrag.histogram.1.from_bytes",
		"legacy.filefrag.files",
		"legacy.filefrag.extents",
		"io.0.blame.seeks",
		"io.0.blame.owned_seeks",
		"io.0.blame.files",
		"io.1.blame.worst.1.seeks",
		"io.1.blame.worst.1.inode",
	};
	static const char *const reals[] = {
		"files.layout_score",
		"free.mean_bytes",
		"io.0.seeks_per_100mib",
		"io.0.sequential_ratio",
		"io.0.mean_io_bytes",
		"legacy.e4defrag.score",
		"legacy.e2fsck.non_contiguous_percent",
		"io.0.blame.worst.0.share",
	};
	static const char *const nulls[] = {
		"io.0.mean_latency_us",
		"io.0.slow_ratio",
		"io.0.histograms.latency_us",
		"io.0.histograms.outstanding",
	};
	static const struct {
		const char *path;
		size_t edges;
	} hists[] = {
		{"io.0.histograms.length", 17},
		{"io.0.histograms.seek_distance", 33},
		{"io.1.histograms.windowed_seek_distance", 33},
	};

	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++)
		(void)integer_at(m, integers[i]);
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		assert_true(json_is_real(at(m, reals[i])));
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		assert_true(json_is_null(at(m, nulls[i])));
	for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++) {
		const json_t *hist = at(m, hists[i].path), *counts = at(hist, "counts"), *count;
		json_int_t sum = 0;
		size_t index;

		assert_int_equal(json_array_size(at(hist, "edges")), hists[i].edges);
		assert_int_equal(json_array_size(counts), hists[i].edges + 1);
		json_array_foreach((json_t *)(uintptr_t)counts, index, count) sum +=
			json_integer_value(count);
		assert_int_equal(sum, integer_at(hist, "count"));
		(void)integer_at(hist, "min");
		(void)integer_at(hist, "max");
		assert_true(json_is_real(at(hist, "mean")));
	}
	assert_string_equal(json_string_value(at(m, "io.1.workload")), "read-inode-order");
	assert_int_equal(integer_at(m, "io.0.bytes"), (json_int_t)1 << 60);
	/* One block to 32 blocks: rows 0 .. 5. */
	assert_int_equal(json_array_size(at(m, "free.histogram")), 6);
	assert_int_equal(integer_at(m, "free.histogram.0.from_bytes"), BLOCK);
	assert_int_equal(integer_at(m, "free.histogram.0.to_bytes"), 2 * BLOCK);
	assert_int_equal(integer_at(m, "free.histogram.5.from_bytes"), 32 * BLOCK);
	assert_int_equal(integer_at(m, "free.histogram.5.to_bytes"), 64 * BLOCK);
	assert_int_equal(integer_at(m, "free.histogram.5.extents"), 2);
	assert_int_equal(integer_at(m, "free.histogram.5.blocks"), 90);
}

static void test_json_of_a_run(void **state)
{
	struct fl_report *report = done_report();
	json_t *root;

	(void)state;
	report->after.files.fragments++;
	root = json_of(report);
	assert_string_equal(json_string_value(at(root, "tool")), "defrag");
	assert_string_equal(json_string_value(at(root, "version")), "0.1.0");
	assert_string_equal(json_string_value(at(root, "image")), "guest.img");
	assert_string_equal(json_string_value(at(root, "mode")), "full");
	assert_int_equal(integer_at(root, "seed"), 0);
	assert_int_equal(integer_at(root, "filesystem.block_bytes"), BLOCK);
	assert_int_equal(integer_at(root, "filesystem.blocks"), 1048576);
	assert_int_equal(integer_at(root, "filesystem.used_blocks"), 628576);
	assert_int_equal(integer_at(root, "filesystem.free_blocks"), 420000);
	assert_string_equal(json_string_value(at(root, "filesystem.features.1")), "extent");
	check_state(at(root, "before"));
	check_state(at(root, "after"));
	check_state(at(root, "predicted"));
	assert_int_equal(integer_at(root, "before.files.fragments"), 79008);
	assert_int_equal(integer_at(root, "after.files.fragments"), 26403);
	assert_true(json_real_value(at(root, "before.files.layout_score")) == 0.853);
	assert_int_equal(integer_at(root, "moves.extents"), 12345);
	assert_int_equal(integer_at(root, "moves.bytes"), (json_int_t)3 << 30);
	assert_int_equal(integer_at(root, "moves.batches"), 14);
	assert_int_equal(integer_at(root, "moves.flushes"), 32);
	assert_true(json_real_value(at(root, "moves.seconds")) == 12.0);
	assert_true(json_is_false(at(root, "prediction.met")));
	assert_int_equal(json_array_size(at(root, "prediction.deviations")), 1);
	assert_string_equal(json_string_value(at(root, "prediction.deviations.0.metric")),
			    "files.fragments");
	assert_string_equal(json_string_value(at(root, "left.0.path")),
			    "/var/lib/\\xff\\xfe/journal");
	assert_string_equal(json_string_value(at(root, "left.0.reason")), "no-room");
	assert_int_equal(integer_at(root, "left.1.fragments"), 3);
	assert_int_equal(integer_at(root, "left_total"), 11);
	assert_null(json_object_get(root, "images"));
	json_decref(root);
	drop(report);
}

static void test_json_of_a_dry_run(void **state)
{
	struct fl_report *report = new_report("frag", "guest.img");
	json_t *root;

	(void)state;
	report->dry_run = report->has_predicted = true;
	report->seed = ((uint64_t)1 << 53) + 1;
	fill_metrics(&report->predicted, true);
	root = json_of(report);
	assert_int_equal(integer_at(root, "seed"), ((json_int_t)1 << 53) + 1);
	assert_int_equal(integer_at(root, "months"), 6);
	assert_string_equal(json_string_value(at(root, "profile")), "desktop");
	check_state(at(root, "predicted"));
	assert_null(json_object_get(root, "after"));
	assert_null(json_object_get(root, "prediction"));
	assert_int_equal(integer_at(root, "moves.extents"), 0);
	json_decref(root);
	report->seed = UINT64_MAX;
	root = json_of(report);
	assert_string_equal(json_string_value(at(root, "seed")), "18446744073709551615");
	json_decref(root);
	drop(report);
}

static void test_json_of_images(void **state)
{
	struct fl_report *report = new_report("defrag", "bad\xff\xc3(\xed\xa0\x80\xc3\xa9.img");
	json_t *root;

	(void)state;
	report->analyze = true;
	fill_image(&report->images[report->image_count++], "b\xc3\xa9\n\".img", true);
	root = json_of(report);
	assert_int_equal(json_array_size(at(root, "images")), 2);
	check_state(at(root, "images.0"));
	check_state(at(root, "images.1"));
	assert_string_equal(json_string_value(at(root, "images.0.path")),
			    "bad\\xff\\xc3(\\xed\\xa0\\x80\xc3\xa9.img");
	assert_string_equal(json_string_value(at(root, "images.1.path")), "b\xc3\xa9\n\".img");
	assert_int_equal(integer_at(root, "images.1.filesystem.blocks"), 1048576);
	assert_int_equal(integer_at(root, "images.1.files.fragments"), 26402);
	assert_null(json_object_get(root, "before"));
	assert_null(json_object_get(root, "after"));
	json_decref(root);
	drop(report);
}

static void test_json_is_deterministic(void **state)
{
	struct fl_report *report = done_report();
	char *first, *second;

	(void)state;
	assert_int_equal(fl_report_json(report, &first), 0);
	assert_int_equal(fl_report_json(report, &second), 0);
	assert_string_equal(first, second);
	expect(first, "\"sequential_ratio\": 0.303,");
	expect(first, "\"layout_score\": 0.99987,");
	free(first);
	free(second);
	drop(report);
}

/* --- CSV --- */

struct csv {
	char *text, *at;
};

static const char *next_line(struct csv *csv)
{
	char *line = csv->at, *end = strchr(line, '\n');

	assert_non_null(end);
	*end = '\0';
	csv->at = end + 1;
	return line;
}

static int64_t next_field(struct csv *csv, const char *name)
{
	const char *line = next_line(csv);
	size_t length = strlen(name);

	assert_true(!strncmp(line, name, length) && line[length] == ',');
	return strtoll(line + length + 1, NULL, 10);
}

/* Reads one histogram and compares it with the one expected. */
static void check_csv_hist(struct csv *csv, const char *name, size_t handle, size_t image,
			   const struct fl_hist *expected)
{
	size_t buckets;
	const int64_t *edges = fl_hist_edges(expected->kind, &buckets);
	char heading[256];

	snprintf(heading, sizeof(heading),
		 "Histogram: %s,virtual machine worldGroupID,0,virtual disk handleID,%zu "
		 "(scsi0:%zu)",
		 name, handle, image);
	assert_string_equal(next_line(csv), heading);
	assert_int_equal(next_field(csv, "min"), expected->min);
	assert_int_equal(next_field(csv, "max"), expected->max);
	(void)next_field(csv, "mean");
	assert_int_equal(next_field(csv, "count"), expected->count);
	assert_string_equal(next_line(csv), "Frequency,Histogram Bucket Limit");
	for (size_t i = 0; i < buckets; i++) {
		char *end;
		const char *line = next_line(csv);

		assert_int_equal(strtoull(line, &end, 10), expected->buckets[i]);
		assert_int_equal(*end, ',');
		assert_int_equal(strtoll(end + 1, &end, 10), edges[i + 1 < buckets ? i : i - 1]);
		assert_int_equal(*end, '\0');
	}
}

static void check_csv_stream(struct csv *csv, size_t handle, size_t image,
			     const struct fl_io_metrics *io)
{
#define CHECK(name, hist) check_csv_hist(csv, name, handle, image, hist)
	CHECK("IO lengths of commands", &io->length);
	CHECK("IO lengths of Read commands", &io->reads.length);
	CHECK("IO lengths of Write commands", &io->writes.length);
	CHECK("distance (in LBNs) between successive commands", &io->seek);
	CHECK("distance (in LBNs) between successive Read commands", &io->reads.seek);
	CHECK("distance (in LBNs) between successive Write commands", &io->writes.seek);
	CHECK("distance (in LBNs) between each command from the closest of previous 16",
	      &io->windowed_seek);
	CHECK("latency of IOs in Microseconds (us)", &io->latency);
	CHECK("latency of Read IOs in Microseconds (us)", &io->reads.latency);
	CHECK("latency of Write IOs in Microseconds (us)", &io->writes.latency);
	CHECK("number of outstanding IOs when a new IO is issued", &io->outstanding);
	CHECK("number of outstanding Read IOs when a new Read IO is issued",
	      &io->reads.outstanding);
	CHECK("number of outstanding Write IOs when a new Write IO is issued",
	      &io->writes.outstanding);
	CHECK("latency of IO interarrival time in Microseconds (us)", &io->interarrival);
	CHECK("latency of IO interarrival time for Reads in Microseconds (us)",
	      &io->reads.interarrival);
	CHECK("latency of IO interarrival time for Writes in Microseconds (us)",
	      &io->writes.interarrival);
#undef CHECK
}

static void test_csv(void **state)
{
	struct fl_report *report = done_report();
	struct csv csv = {0};

	(void)state;
	report->predicted.io[0].length.count = 7; /* must not be what is printed */
	assert_int_equal(fl_report_csv(report, &csv.text), 0);
	csv.at = csv.text;
	check_csv_stream(&csv, 0, 0, &report->after.io[0]);
	check_csv_stream(&csv, 1, 0, &report->after.io[1]);
	assert_int_equal(*csv.at, '\0');
	free(csv.text);

	report->has_after = false;
	assert_int_equal(fl_report_csv(report, &csv.text), 0);
	csv.at = csv.text;
	check_csv_stream(&csv, 0, 0, &report->predicted.io[0]);
	free(csv.text);
	drop(report);
}

static void test_csv_of_images(void **state)
{
	struct fl_report *report = new_report("defrag", "a.img");
	struct csv csv = {0};

	(void)state;
	report->analyze = true;
	fill_image(&report->images[report->image_count++], "b.img", true);
	assert_int_equal(fl_report_csv(report, &csv.text), 0);
	csv.at = csv.text;
	check_csv_stream(&csv, 0, 0, &report->images[0].metrics.io[0]);
	check_csv_stream(&csv, 1, 0, &report->images[0].metrics.io[1]);
	check_csv_stream(&csv, 2, 1, &report->images[1].metrics.io[0]);
	check_csv_stream(&csv, 3, 1, &report->images[1].metrics.io[1]);
	assert_int_equal(*csv.at, '\0');
	free(csv.text);
	drop(report);
}

static void test_no_image(void **state)
{
	struct fl_report report = {.tool = "frag", .version = "0"};
	char *text = NULL;

	(void)state;
	assert_int_equal(fl_report_text(&report, false, &text), FL_EINVAL);
	assert_int_equal(fl_report_json(&report, &text), FL_EINVAL);
	assert_int_equal(fl_report_csv(&report, &text), FL_EINVAL);
	assert_null(text);
	fl_report_free(&report);
	fl_report_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_of_a_run),
		cmocka_unit_test(test_text_colour),
		cmocka_unit_test(test_text_of_a_dry_run),
		cmocka_unit_test(test_text_of_images),
		cmocka_unit_test(test_text_extremes),
		cmocka_unit_test(test_text_without_workloads),
		cmocka_unit_test(test_json_of_a_run),
		cmocka_unit_test(test_json_of_a_dry_run),
		cmocka_unit_test(test_json_of_images),
		cmocka_unit_test(test_json_is_deterministic),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_csv_of_images),
		cmocka_unit_test(test_no_image),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
