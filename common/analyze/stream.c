/* SPDX-License-Identifier: MIT */
/*
 * Workloads by name, and their parameters made whole. What a workload does is in the files of the
 * generators (walk.c, install.c, inside.c).
 */
#include <fraglab/trace.h>

#include <string.h>
#include "streams.h"

#define DEFAULT_MAX_IO_BYTES (512u * 1024u)
#define DEFAULT_READAHEAD_BYTES (128u * 1024u)
#define DEFAULT_READ_BYTES (128u * 1024u)

static const char *const workload_names[FL_WORKLOADS] = {
	[FL_WORKLOAD_READ_ALL] = "read-all",
	[FL_WORKLOAD_READ_INODE_ORDER] = "read-inode-order",
	[FL_WORKLOAD_READ_DIRECTORY_ORDER] = "read-directory-order",
	[FL_WORKLOAD_INSTALL] = "install",
	[FL_WORKLOAD_RANDOM_8K] = "random-8k",
	[FL_WORKLOAD_SEQUENTIAL_512K] = "sequential-512k",
	[FL_WORKLOAD_TRACE] = "trace",
};

const char *fl_workload_name(enum fl_workload workload)
{
	return workload_names[workload];
}

bool fl_workload_find(const char *name, enum fl_workload *workload)
{
	for (unsigned int i = 0; i < FL_WORKLOADS; i++) {
		if (!strcmp(name, workload_names[i])) {
			*workload = (enum fl_workload)i;
			return true;
		}
	}
	return false;
}

/* get_init_ra_size: pages of a file's first window, for a read of so many. */
static uint64_t first_window(uint64_t pages, uint64_t most)
{
	uint64_t size = 1;

	while (size < pages && size < most)
		size *= 2;
	if (size <= most / 32)
		return size * 4;
	if (size <= most / 4)
		return size * 2;
	return most;
}

static int prepare(struct stream *stream)
{
	const struct fl_stream_options *options = stream->options;
	uint64_t max_io = options->max_io_bytes ? options->max_io_bytes : DEFAULT_MAX_IO_BYTES;
	uint64_t window =
		options->readahead_bytes ? options->readahead_bytes : DEFAULT_READAHEAD_BYTES;
	uint64_t read = options->read_bytes ? options->read_bytes : DEFAULT_READ_BYTES;
	uint64_t block_bytes = stream->map->geo.block_bytes, pages;

	if (max_io % block_bytes || max_io / FL_SECTOR_BYTES > UINT32_MAX ||
	    window % FL_STREAM_PAGE_BYTES)
		return FL_EINVAL;
	stream->max_blocks = max_io / block_bytes;
	pages = first_window(fl_div_up(read, FL_STREAM_PAGE_BYTES), window / FL_STREAM_PAGE_BYTES);
	stream->window_blocks = fl_max(window / block_bytes, 1);
	stream->first_blocks = fl_max(pages * FL_STREAM_PAGE_BYTES / block_bytes, 1);
	return fl_blockset_new(stream->map->geo.blocks, &stream->cached);
}

int fl_stream_run(const struct fl_map *map, enum fl_workload workload,
		  const struct fl_stream_options *options, fl_io_sink sink, void *context)
{
	struct stream stream = {.map = map, .options = options, .sink = sink, .context = context};
	int error;

	if (workload == FL_WORKLOAD_TRACE)
		return options->trace ? fl_trace_run(options->trace, map, options->max_io_bytes,
						     sink, context)
				      : FL_EINVAL;
	error = prepare(&stream);
	if (error)
		return error;
	switch (workload) {
	case FL_WORKLOAD_READ_ALL:
	case FL_WORKLOAD_READ_INODE_ORDER:
	case FL_WORKLOAD_READ_DIRECTORY_ORDER:
		error = fl_stream_walk(&stream, workload);
		break;
	case FL_WORKLOAD_INSTALL:
		error = fl_stream_install(&stream);
		break;
	case FL_WORKLOAD_RANDOM_8K:
		error = fl_stream_random(&stream);
		break;
	case FL_WORKLOAD_SEQUENTIAL_512K:
		error = fl_stream_sequential(&stream);
		break;
	case FL_WORKLOAD_TRACE: /* replayed above */
	case FL_WORKLOADS:
	default:
		error = FL_EINVAL;
	}
	if (!error)
		error = fl_stream_unplug(&stream);
	fl_blockset_free(stream.cached);
	return error;
}
