/* SPDX-License-Identifier: MIT */
/*
 * Workloads as streams of I/Os, generated from a map. Counts nothing and stores
 * no stream; what the I/Os mean is for the consumer.
 */
#include <fraglab/stream.h>

#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_IO_BYTES (512u * 1024u)

static const char *const workload_names[FL_WORKLOADS] = {
	[FL_WORKLOAD_READ_ALL] = "read-all",
	[FL_WORKLOAD_READ_INODE_ORDER] = "read-inode-order",
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

/* A file and its place in the order of reading. */
struct turn {
	uint32_t rank;
	uint32_t file;
};

static int compare_turns(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;
	int order = fl_compare(a->rank, b->rank);

	return order ? order : fl_compare(a->file, b->file);
}

struct stream {
	const struct fl_map *map;
	uint64_t max_blocks; /* of one request */
	fl_io_sink sink;
	void *context;
};

/* Reads one fragment in as few requests as the limit allows. */
static int read_run(const struct stream *stream, struct fl_run run)
{
	const struct fl_geometry *geo = &stream->map->geo;
	uint32_t block_sectors = geo->block_bytes / FL_SECTOR_BYTES;

	while (run.len) {
		uint64_t blocks = fl_min(run.len, stream->max_blocks);
		struct fl_io io = {
			.lbn = fl_lbn_of(geo, run.start),
			.sectors = (uint32_t)(blocks * block_sectors),
		};
		int error = stream->sink(stream->context, &io);

		if (error)
			return error;
		run.start += blocks;
		run.len -= blocks;
	}
	return 0;
}

/*
 * Stored extents that touch on the disk are one run: the kernel's requests know nothing of
 * extents, and a hole between two neighbours is no distance on the disk. Unwritten extents
 * drop out, so what lies on both sides of one never touches.
 */
static int read_file(const struct stream *stream, const struct fl_file *file)
{
	const struct fl_extent *extents = fl_array_from(&stream->map->extents, file->first_extent);
	struct fl_run run = {0};

	for (size_t i = 0; i < file->extent_count; i++) {
		if (extents[i].unwritten)
			continue;
		if (!run.len || fl_run_end(run) != extents[i].pblk) {
			int error = read_run(stream, run);

			if (error)
				return error;
			run.start = extents[i].pblk;
			run.len = 0;
		}
		run.len += extents[i].len;
	}
	return read_run(stream, run);
}

/* The named files in the workload's order. */
static int order_files(const struct fl_map *map, enum fl_workload workload, struct turn **turns,
		       size_t *count)
{
	struct turn *list = fl_alloc(map->files.count + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return FL_ENOMEM;
	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];

		if (file->name == FL_NO_NAME)
			continue;
		list[n].file = (uint32_t)i;
		list[n].rank = workload == FL_WORKLOAD_READ_ALL ? file->path_rank : file->ino;
		n++;
	}
	qsort(list, n, sizeof(*list), compare_turns);
	*turns = list;
	*count = n;
	return 0;
}

int fl_stream_run(const struct fl_map *map, enum fl_workload workload,
		  const struct fl_stream_options *options, fl_io_sink sink, void *context)
{
	uint64_t max_io_bytes = options->max_io_bytes;
	struct stream stream = {.map = map, .sink = sink, .context = context};
	struct turn *turns;
	size_t count;
	int error;

	if (!max_io_bytes)
		max_io_bytes = DEFAULT_MAX_IO_BYTES;
	if (max_io_bytes % map->geo.block_bytes || max_io_bytes / FL_SECTOR_BYTES > UINT32_MAX ||
	    (unsigned int)workload >= FL_WORKLOADS)
		return FL_EINVAL;
	stream.max_blocks = max_io_bytes / map->geo.block_bytes;

	error = order_files(map, workload, &turns, &count);
	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++)
		error = read_file(&stream, &map->files.at[turns[i].file]);
	free(turns);
	return error;
}
