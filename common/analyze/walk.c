/* SPDX-License-Identifier: MIT */
/*
 * The workloads that read every file: in which order, and what reading one means by its kind.
 */
#include <stdlib.h>
#include "streams.h"

static uint32_t rank_of(const struct fl_file *file, enum fl_workload workload)
{
	switch (workload) {
	case FL_WORKLOAD_READ_ALL:
		return file->path_rank;
	case FL_WORKLOAD_READ_DIRECTORY_ORDER:
		return file->listing_rank;
	default:
		return file->ino;
	}
}

/* The named files in the workload's order. */
static int order_files(const struct fl_map *map, enum fl_workload workload,
		       struct fl_ranked **turns, size_t *count)
{
	struct fl_ranked *list = fl_alloc(map->files.count + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return FL_ENOMEM;
	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];

		if (file->name == FL_NO_NAME)
			continue;
		list[n++] = (struct fl_ranked){rank_of(file, workload), (uint32_t)i};
	}
	fl_ranked_sort(list, n);
	*turns = list;
	*count = n;
	return 0;
}

int fl_stream_walk(struct stream *stream, enum fl_workload workload)
{
	struct fl_ranked *turns;
	size_t count;
	int error = order_files(stream->map, workload, &turns, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++) {
		const struct fl_file *file = &stream->map->files.at[turns[i].index];

		error = fl_stream_read_inode(stream, file->ino);
		if (error)
			break;
		error = file->kind == FL_KIND_DIRECTORY ? fl_stream_read_directory(stream, file)
							: fl_stream_read_file(stream, file);
	}
	free(turns);
	return error;
}
