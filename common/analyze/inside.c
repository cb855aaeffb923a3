/* SPDX-License-Identifier: MIT */
/*
 * Direct reads inside the largest files, as the SQLIO pair does on a database: 8 KiB at random
 * places, 512 KiB one after the other. No page cache, so no read-ahead and no metadata; a read
 * is split where the file is, and holes and unwritten parts cost nothing.
 */
#include <stdlib.h>
#include "streams.h"

#define RANDOM_BYTES 8192u
#define SEQUENTIAL_BYTES (512u * 1024u)

struct pick {
	const struct fl_file *files[FL_STREAM_LARGEST_FILES]; /* largest first */
	size_t count;
};

static void pick_largest(const struct fl_map *map, struct pick *pick)
{
	pick->count = 0;
	for (size_t i = 0; i < map->inode_count; i++) {
		const struct fl_file *file = &map->files.at[i];
		size_t at = pick->count;

		if (file->kind != FL_KIND_REGULAR || file->name == FL_NO_NAME || !file->size_bytes)
			continue;
		if (at == FL_STREAM_LARGEST_FILES) {
			if (file->blocks <= pick->files[at - 1]->blocks)
				continue;
			at--;
		} else {
			pick->count++;
		}
		for (; at && pick->files[at - 1]->blocks < file->blocks; at--)
			pick->files[at] = pick->files[at - 1];
		pick->files[at] = file;
	}
}

/* Reads logical blocks from .. end-1; *hint: an extent at or before the first one wanted. */
static int read_range(struct stream *stream, const struct fl_file *file, uint64_t from,
		      uint64_t end, size_t hint)
{
	const struct fl_extent *extents = fl_array_from(&stream->map->extents, file->first_extent);
	int error = 0;

	for (size_t i = hint; i < file->extent_count && extents[i].lblk < end && !error; i++) {
		uint64_t first = fl_max(from, extents[i].lblk);
		uint64_t last = fl_min(end, fl_extent_lend(&extents[i]));

		if (first < last && !extents[i].unwritten)
			error = fl_stream_add(
				stream,
				(struct fl_run){extents[i].pblk + (first - extents[i].lblk),
						last - first},
				false);
	}
	return error ? error : fl_stream_unplug(stream);
}

/* The first extent that ends after a logical block. */
static size_t find_extent(const struct stream *stream, const struct fl_file *file, uint64_t lblk)
{
	const struct fl_extent *extents = fl_array_from(&stream->map->extents, file->first_extent);
	size_t low = 0, high = file->extent_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fl_extent_lend(&extents[middle]) <= lblk)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int read_unit(struct stream *stream, const struct fl_file *file, uint64_t position,
		     uint64_t bytes)
{
	uint64_t block_bytes = stream->map->geo.block_bytes;
	uint64_t from = position / block_bytes;
	uint64_t end = fl_div_up(fl_min(position + bytes, file->size_bytes), block_bytes);

	return read_range(stream, file, from, end, find_extent(stream, file, from));
}

int fl_stream_random(struct stream *stream)
{
	struct pick pick;
	struct fl_rng rng;
	uint64_t units = 0;
	int error = 0;

	pick_largest(stream->map, &pick);
	for (size_t i = 0; i < pick.count; i++)
		units += fl_div_up(pick.files[i]->size_bytes, RANDOM_BYTES);
	fl_rng_seed(&rng, stream->options->seed);
	for (uint32_t n = 0; units && n < FL_STREAM_RANDOM_READS && !error; n++) {
		uint64_t unit = fl_rng_below(&rng, units);
		size_t i = 0;

		for (; unit >= fl_div_up(pick.files[i]->size_bytes, RANDOM_BYTES); i++)
			unit -= fl_div_up(pick.files[i]->size_bytes, RANDOM_BYTES);
		error = read_unit(stream, pick.files[i], unit * RANDOM_BYTES, RANDOM_BYTES);
	}
	return error;
}

/* Ranges without blocks are stepped over, however large. */
int fl_stream_sequential(struct stream *stream)
{
	struct pick pick;
	int error = 0;

	pick_largest(stream->map, &pick);
	for (size_t i = 0; i < pick.count; i++) {
		const struct fl_file *file = pick.files[i];
		const struct fl_extent *extents =
			fl_array_from(&stream->map->extents, file->first_extent);
		uint64_t block_bytes = stream->map->geo.block_bytes, position = 0;

		while (position < file->size_bytes && !error) {
			size_t at = find_extent(stream, file, position / block_bytes);

			if (at == file->extent_count)
				break;
			position = fl_max(position, extents[at].lblk * block_bytes);
			position -= position % SEQUENTIAL_BYTES;
			error = read_unit(stream, file, position, SEQUENTIAL_BYTES);
			position += SEQUENTIAL_BYTES;
		}
	}
	return error;
}
