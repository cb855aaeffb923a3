/* SPDX-License-Identifier: MIT */
/*
 * A file read whole through the page cache: the windows of mm/readahead.c, and the requests that
 * ext4 makes of one. Which files are read is decided in walk.c.
 */
#include "streams.h"

struct reader {
	struct stream *stream;
	const struct fl_file *file;
	uint64_t end;	   /* blocks of the file up to i_size */
	uint64_t window;   /* blocks of the current window */
	uint64_t boundary; /* logical block where it ends */
	size_t trees;	   /* mapping-tree blocks read so far */
	struct fl_run run; /* the bio at hand; len 0: none */
};

/* Ends the bio: it goes into the plug. */
static int submit(struct reader *reader)
{
	struct fl_run run = reader->run;

	reader->run.len = 0;
	return run.len ? fl_stream_add(reader->stream, run, false) : 0;
}

static int end_window(struct reader *reader)
{
	int error = submit(reader);

	return error ? error : fl_stream_unplug(reader->stream);
}

/* The window that has this block; get_next_ra_size doubles, or multiplies by 4 when small. */
static int enter_window(struct reader *reader, uint64_t lblk)
{
	uint64_t most = reader->stream->window_blocks;

	if (lblk < reader->boundary)
		return 0;
	while (lblk >= reader->boundary && reader->window < most) {
		uint64_t factor = reader->window < most / 16 ? 4 : 2;

		reader->window = fl_min(reader->window * factor, most);
		reader->boundary += reader->window;
	}
	if (lblk >= reader->boundary)
		reader->boundary += ((lblk - reader->boundary) / most + 1) * most;
	return end_window(reader);
}

/*
 * The mapping-tree blocks that must be there before the mapping of this place is known. The read
 * waits, so the plug is issued first; the bio at hand stays open.
 */
static int read_trees(struct reader *reader, uint64_t place)
{
	const struct fl_file *file = reader->file;
	struct stream *stream = reader->stream;

	while (reader->trees < file->tree_count && !stream->options->data_only &&
	       fl_stream_tree_due(stream, file, reader->trees) <= place) {
		struct fl_run block = {
			.start = stream->map->trees.at[file->first_tree + reader->trees++],
			.len = 1,
		};
		int error = fl_stream_issue(stream, block, false);

		if (error)
			return error;
	}
	return 0;
}

static int read_extent(struct reader *reader, const struct fl_extent *extent)
{
	uint64_t lblk = extent->lblk, end = fl_min(fl_extent_lend(extent), reader->end);
	fl_pblk pblk = extent->pblk;
	int error = 0;

	while (lblk < end && !error) {
		uint64_t len;

		error = enter_window(reader, lblk);
		if (error)
			return error;
		len = fl_min(end, reader->boundary) - lblk;
		if (reader->run.len && fl_run_end(reader->run) != pblk)
			error = submit(reader);
		if (!reader->run.len)
			reader->run.start = pblk;
		reader->run.len += len;
		lblk += len;
		pblk += len;
	}
	return error;
}

int fl_stream_read_file(struct stream *stream, const struct fl_file *file)
{
	const struct fl_extent *extents = fl_array_from(&stream->map->extents, file->first_extent);
	uint64_t block_bytes = stream->map->geo.block_bytes;
	struct reader reader = {
		.stream = stream,
		.file = file,
		.end = fl_div_up(file->size_bytes, block_bytes),
		.window = stream->first_blocks,
		.boundary = stream->first_blocks,
	};
	int error = 0;

	for (size_t i = 0; i < file->extent_count && !error; i++) {
		bool indirect = file->mapping == FL_MAPPING_INDIRECT;

		if (extents[i].lblk >= reader.end)
			break;
		/* The window's plug does not reach over its end for the sake of a tree block. */
		if (!extents[i].unwritten)
			error = enter_window(&reader, extents[i].lblk);
		if (!error)
			error = read_trees(
				&reader,
				indirect ? fl_min(fl_extent_lend(&extents[i]), reader.end) - 1 : i);
		if (!error && !extents[i].unwritten)
			error = read_extent(&reader, &extents[i]);
	}
	return error ? error : end_window(&reader);
}
