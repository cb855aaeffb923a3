/* SPDX-License-Identifier: MIT */
/*
 * The writes of installing a package and a sync: new files through the allocator model on the
 * map's free blocks. Changes no map; what is written is forgotten with the stream.
 *
 * In the order of ext4 with ordered data. Files are made: inodes and directory entries, which
 * commit on their own, because delayed allocation places the data when it is written back later:
 * files in the order of their making, in one plug over as many as fl_install_files_a_plug says, so
 * that small files side by side share requests. That changes inodes and bitmaps, which commit
 * again. A commit: descriptor and metadata blocks in a row in the journal, then the commit block.
 * So much data go so at a time as fl_stream_commit_bytes says; after the last, the metadata blocks
 * go home, in disk order. Sizes are those of the desktop study of 2011 (Harter et al.) up to
 * 512 KiB: 31 KiB on average.
 *
 * Not modelled: the reads that bring bitmaps and tables in, overwritten files, several writers; and
 * what the allocator model leaves out, above all that a disk of 16 groups or more is searched by
 * lists of groups (mb_optimize_scan) and that requests are rounded up to powers of two. The
 * kernel's writes had 0.9, 1.2 and 2.0 times the predicted seeks on aged images of 0.5, 4 and 2
 * GiB, and 0.8 to 1.2 times on fresh and defragmented ones.
 */
#include "install.h"

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define FILES_A_DIRECTORY 8u
#define EXTENTS_IN_INODE 4u    /* ext4: more need a block of the mapping tree */
#define WRITEBACK_BLOCKS 2048u /* MAX_WRITEPAGES_EXTENT_LEN: allocated at a time */

static const struct {
	uint32_t upto_bytes, weight;
} sizes[] = {
	{64, 170},    {128, 220},    {256, 400},    {512, 680},	   {1024, 1180},
	{2048, 1230}, {4096, 1150},  {8192, 1020},  {16384, 900},  {32768, 700},
	{65536, 680}, {131072, 440}, {262144, 300}, {524288, 230},
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Neighbours are often of a kind, and so of a size: one file in three is drawn anew. */
static uint64_t new_size(struct install *install)
{
	if (!install->file_count || fl_rng_chance(&install->rng, 1, 3)) {
		uint64_t at = fl_rng_below(&install->rng, install->weight);

		for (install->kind = 0; at >= sizes[install->kind].weight; install->kind++)
			at -= sizes[install->kind].weight;
	}
	return fl_rng_between(&install->rng, sizes[install->kind].upto_bytes / 2 + 1,
			      sizes[install->kind].upto_bytes);
}

static int write_file(struct install *install, fl_ino ino, uint64_t size)
{
	uint64_t left = fl_div_up(size, install->stream->map->geo.block_bytes), extents = 0;
	bool small = left <= FL_ALLOC_SMALL_BLOCKS;
	fl_pblk first = fl_alloc_goal_of_inode(install->alloc, ino, false), goal = first;

	while (left) {
		struct fl_run run;
		int error = small ? fl_install_take_small(install, goal, left, &run)
				  : fl_alloc_take_as(install->alloc, FL_ALLOC_STREAM, goal,
						     fl_min(left, WRITEBACK_BLOCKS), &run);

		if (!error)
			error = fl_install_touch_run(install, run);
		if (!error)
			error = fl_stream_add(install->stream, run, true);
		if (error)
			return error;
		extents += run.start != goal || run.start == first;
		goal = fl_run_end(run);
		left -= run.len;
	}
	return extents > EXTENTS_IN_INODE ? fl_install_new_block(install, first) : 0;
}

/* Inodes and directories for files of so many bytes together. */
static int make_files(struct install *install, uint64_t total)
{
	uint64_t sum = 0;
	fl_ino ino;
	int error = fl_install_touch(install, install->stream->map->geo.first_data_block);

	for (; sum < total && !error; install->file_count++) {
		uint64_t size = fl_min(new_size(install), total - sum);

		if (install->file_count % FILES_A_DIRECTORY == 0) {
			error = fl_install_new_inode(install, &ino);
			if (!error)
				error = fl_install_new_block(
					install, fl_alloc_goal_of_inode(install->alloc, ino, true));
		}
		if (!error)
			error = fl_install_new_inode(install, &ino);
		if (!error)
			error = fl_array_push(&install->made, ((struct made){ino, (uint32_t)size}));
		sum += size;
	}
	return error;
}

static int write_files(struct install *install)
{
	uint32_t files_a_plug = fl_install_files_a_plug(install);
	int error = 0;

	for (size_t i = 0; i < install->made.count && !error; i++) {
		error = fl_install_touch_inode(install, install->made.at[i].ino);
		if (!error)
			error = write_file(install, install->made.at[i].ino,
					   install->made.at[i].bytes);
		if (!error && i % files_a_plug == files_a_plug - 1)
			error = fl_stream_unplug(install->stream);
	}
	install->made.count = 0;
	return error;
}

static int write_package(struct install *install, uint64_t total)
{
	uint64_t most = fl_stream_commit_bytes(install->stream->options);
	int error = 0;

	while (total && !error) {
		uint64_t batch = fl_min(total, most);

		error = make_files(install, batch);
		if (!error)
			error = fl_install_commit(install);
		if (!error)
			error = write_files(install);
		if (!error)
			error = fl_install_commit(install);
		total -= batch;
	}
	/* The disk is full: what is there is synced. */
	return error == FL_ENOROOM ? 0 : error;
}

uint64_t fl_stream_commit_bytes(const struct fl_stream_options *options)
{
	uint64_t rate = fl_min(options->install_rate, UINT64_MAX / FL_STREAM_COMMIT_SECONDS);

	return rate ? rate * FL_STREAM_COMMIT_SECONDS : FL_STREAM_COMMIT_BYTES;
}

static int prepare(struct install *install)
{
	int error = fl_install_place_begin(install);

	if (!error)
		error = fl_install_commit_begin(install);
	for (size_t i = 0; i < SIZES; i++)
		install->weight += sizes[i].weight;
	fl_rng_seed(&install->rng, install->stream->options->seed);
	return error;
}

int fl_stream_install(struct stream *stream)
{
	struct install install = {.stream = stream};
	uint64_t half = stream->map->free_blocks / 2 * stream->map->geo.block_bytes;
	uint64_t total =
		stream->options->install_bytes ? stream->options->install_bytes : DEFAULT_BYTES;
	int error = prepare(&install);

	if (!error)
		error = write_package(&install, fl_min(total, half));
	if (!error)
		error = fl_install_commit(&install);
	if (!error)
		error = fl_install_checkpoint(&install);
	fl_array_free(&install.made);
	fl_blockset_free(install.pending);
	fl_blockset_free(install.dirty);
	fl_alloc_free(install.alloc);
	return error;
}
