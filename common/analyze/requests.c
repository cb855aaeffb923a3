/* SPDX-License-Identifier: MIT */
/*
 * From runs of blocks to requests: merging in the plug, cutting at the limit. Knows nothing of
 * files.
 */
#include "streams.h"

static int issue(const struct stream *stream, struct fl_run run, bool write)
{
	const struct fl_geometry *geo = &stream->map->geo;
	uint32_t block_sectors = geo->block_bytes / FL_SECTOR_BYTES;

	while (run.len) {
		uint64_t blocks = fl_min(run.len, stream->max_blocks);
		struct fl_io io = {
			.lbn = fl_lbn_of(geo, run.start),
			.sectors = (uint32_t)(blocks * block_sectors),
			.write = write,
		};
		int error = stream->sink(stream->context, &io);

		if (error)
			return error;
		run.start += blocks;
		run.len -= blocks;
	}
	return 0;
}

int fl_stream_unplug(struct stream *stream)
{
	struct fl_run run = stream->plugged;

	stream->plugged.len = 0;
	return issue(stream, run, stream->plugged_write);
}

int fl_stream_add(struct stream *stream, struct fl_run run, bool write)
{
	struct fl_run *last = &stream->plugged;
	int error;

	if (last->len && stream->plugged_write == write) {
		if (fl_run_end(*last) == run.start) {
			last->len += run.len;
			return 0;
		}
		if (fl_run_end(run) == last->start && run.len + last->len <= stream->max_blocks) {
			last->start = run.start;
			last->len += run.len;
			return 0;
		}
	}
	error = fl_stream_unplug(stream);
	*last = run;
	stream->plugged_write = write;
	return error;
}

int fl_stream_issue(struct stream *stream, struct fl_run run, bool write)
{
	int error = fl_stream_unplug(stream);

	return error ? error : issue(stream, run, write);
}
