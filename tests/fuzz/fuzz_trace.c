/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: what is recorded elsewhere and read here. The first byte says whether the rest
 * is a trace or a capture of histograms. A trace that is taken is replayed on a map.
 */
#include <fraglab/report.h>
#include <fraglab/trace.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/lab.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

static struct fl_map *map;

static void add_file(fl_ino ino, uint32_t name, fl_pblk start)
{
	struct fl_file file = {
		.ino = ino,
		.kind = FL_KIND_REGULAR,
		.name = name,
		.path_rank = name,
		.listing_rank = name,
		.blocks = 12,
		.first_extent = map->extents.count,
		.extent_count = 3,
	};

	check(!fl_array_push(&map->extents, ((struct fl_extent){start, 0, 4, false})));
	check(!fl_array_push(&map->extents, ((struct fl_extent){start + 4, 4, 4, true})));
	check(!fl_array_push(&map->extents, ((struct fl_extent){start + 20, 9, 4, false})));
	check(!fl_array_push(&map->files, file));
}

/* "/d/a" and "/c", each in pieces, with unwritten blocks and a hole. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fl_diag diag;

	(void)argc;
	(void)argv;
	map = lab_map(1000, 8192);
	lab_name(map, FL_NO_NAME, 2, "");
	lab_name(map, 0, 11, "d");
	lab_name(map, 1, 12, "a");
	lab_name(map, 0, 13, "c");
	add_file(12, 2, 100);
	add_file(13, 3, 200);
	check(!fl_map_finish(map, &diag));
	return 0;
}

static int sink(void *context, const struct fl_io *io)
{
	uint64_t *ios = context;

	check(io->sectors > 0 && io->sectors <= 8 * 1024 * 1024 / FL_SECTOR_BYTES);
	check(io->lbn <= INT64_MAX / FL_SECTOR_BYTES);
	return ++*ios > 100000 ? FL_ECANCELLED : 0;
}

static void read_trace(const char *text, size_t bytes)
{
	struct fl_trace *trace;
	struct fl_diag diag;
	uint64_t ios = 0;
	int error = fl_trace_parse(text, bytes, &trace, &diag);

	if (error) {
		check(error == FL_ESYNTAX && diag.text[0]);
		return;
	}
	check(fl_trace_count(trace) > 0);
	error = fl_trace_check(trace, map, &diag);
	check(!error || error == FL_ESYNTAX);
	if (error)
		check(fl_trace_run(trace, map, 0, sink, &ios) == FL_EINVAL && !ios);
	else
		error = fl_trace_run(trace, map, 8 * 1024 * 1024, sink, &ios);
	check(!error || error == FL_ESYNTAX || error == FL_ECANCELLED);
	fl_trace_free(trace);
}

static void read_capture(const char *text, size_t bytes)
{
	struct fl_captures captures = {0};
	struct fl_diag diag;
	int error = fl_captures_parse(text, bytes, &captures, &diag);

	check(!error || (error == FL_ESYNTAX && !captures.at));
	for (size_t i = 0; i < captures.count; i++) {
		const struct fl_hist *hist = &captures.at[i].hist;
		uint64_t sum = 0;

		for (size_t k = 0; k < FL_HIST_MAX_BUCKETS; k++)
			sum += hist->buckets[k];
		check(sum == hist->count);
	}
	fl_array_free(&captures);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	char *text;

	if (!length)
		return -1;
	/* Of its exact size: nothing may read a byte too many. */
	text = malloc(length - 1 ? length - 1 : 1);
	check(text != NULL);
	memcpy(text, input + 1, length - 1);
	if (input[0] % 2)
		read_capture(text, length - 1);
	else
		read_trace(text, length - 1);
	free(text);
	return 0;
}
