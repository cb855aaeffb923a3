/* SPDX-License-Identifier: MIT */
/*
 * The writes of installing a package and a sync: new files through the allocator model on the
 * map's free blocks. Changes no map; what is written is forgotten with the stream.
 *
 * In the order of ext4 with ordered data: delayed allocation places a file when it is written
 * back, files in the order of their making, and one plug goes over all of them, so that small
 * files side by side share requests; every FL_STREAM_COMMIT_BYTES, and at the sync, a commit:
 * descriptor and metadata blocks in a row in the journal, then the commit block; after the last
 * commit the metadata blocks go home, in disk order. Sizes are those of the desktop study of 2011
 * (Harter et al.) up to 1 MiB. Not modelled: the reads that bring bitmaps and tables in,
 * overwritten files, writeback by time, several writers.
 */
#include <stdlib.h>
#include "streams.h"

#include <fraglab/alloc.h>

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define FILES_A_DIRECTORY 24u
#define EXTENTS_IN_INODE 4u    /* ext4: more need a block of the mapping tree */
#define WRITEBACK_BLOCKS 2048u /* MAX_WRITEPAGES_EXTENT_LEN: allocated at a time */
#define DESCRIPTOR_BYTES 64u   /* a group descriptor with 64bit */
#define TAG_BYTES 16u	       /* a journal descriptor's entry for one block */

static const struct {
	uint32_t upto_bytes, weight;
} sizes[] = {
	{64, 170},    {128, 220},    {256, 400},    {512, 680},	   {1024, 1180},
	{2048, 1230}, {4096, 1150},  {8192, 1020},  {16384, 900},  {32768, 700},
	{65536, 680}, {131072, 440}, {262144, 300}, {524288, 230}, {1048576, 175},
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct install {
	struct stream *stream;
	struct fl_alloc *alloc;
	struct fl_rng rng;
	uint32_t weight;	     /* of all sizes */
	struct fl_blockset *pending; /* metadata since the last commit */
	struct fl_blockset *dirty;   /* metadata that is not at home yet */
	const struct fl_file *journal;
	uint64_t journal_at; /* next logical block of it */
	uint32_t group;	     /* where new inodes come from */
	uint32_t next_inode; /* in that group, from 0 */
};

static int touch(struct install *install, fl_pblk block)
{
	if (install->stream->options->data_only || block >= install->stream->map->geo.blocks)
		return 0;
	return fl_blockset_add(install->pending, block, 1);
}

/* The bitmap and the descriptor that an allocation in this group changes. */
static int touch_group(struct install *install, uint32_t group, bool inode)
{
	const struct fl_map *map = install->stream->map;
	uint64_t descriptor = (uint64_t)group * DESCRIPTOR_BYTES / map->geo.block_bytes;
	int error;

	if (group >= map->groups.count)
		return 0;
	error = touch(install, inode ? map->groups.at[group].inode_bitmap
				     : map->groups.at[group].block_bitmap);
	return error ? error : touch(install, map->geo.first_data_block + 1 + descriptor);
}

static int touch_run(struct install *install, struct fl_run run)
{
	uint32_t first = fl_group_of(&install->stream->map->geo, run.start);
	uint32_t last = fl_group_of(&install->stream->map->geo, fl_run_end(run) - 1);
	int error = 0;

	for (uint32_t group = first; group <= last && !error; group++)
		error = touch_group(install, group, false);
	return error;
}

/* The group with most free blocks, as ext4 spreads directories of the first level. */
static void choose_group(struct install *install)
{
	const struct fl_map *map = install->stream->map;
	uint64_t best = 0, sum = 0;
	uint32_t at = map->geo.first_data_block < map->geo.blocks ? 0 : UINT32_MAX;

	for (size_t i = 0; i < map->free.count; i++) {
		uint32_t group = fl_group_of(&map->geo, map->free.at[i].start);

		if (group != at)
			sum = 0;
		at = group;
		sum += map->free.at[i].len;
		if (sum > best) {
			best = sum;
			install->group = group;
		}
	}
}

/* A new inode: the next that was never used, from the chosen group on. */
static int new_inode(struct install *install, fl_ino *ino)
{
	const struct fl_map *map = install->stream->map;
	const struct fl_geometry *geo = &map->geo;
	uint32_t per_block = geo->block_bytes / geo->inode_bytes;
	int error;

	for (uint32_t tries = 0; tries < geo->groups; tries++) {
		uint32_t used = install->group < map->groups.count
					? map->groups.at[install->group].inodes_used
					: 0;

		if (install->next_inode < used && used < geo->inodes_per_group)
			install->next_inode = used;
		if (install->next_inode < geo->inodes_per_group)
			break;
		install->group = (install->group + 1) % geo->groups;
		install->next_inode = 0;
	}
	*ino = install->group * geo->inodes_per_group +
	       install->next_inode % geo->inodes_per_group + 1;
	error = touch_group(install, install->group, true);
	if (!error && install->group < map->groups.count)
		error = touch(install,
			      map->groups.at[install->group].inode_table +
				      install->next_inode % geo->inodes_per_group / per_block);
	install->next_inode++;
	return error;
}

/* One block of metadata near a goal. */
static int new_block(struct install *install, fl_pblk goal)
{
	struct fl_run run;
	int error = fl_alloc_take(install->alloc, goal, 1, &run);

	if (!error)
		error = touch_run(install, run);
	return error ? error : touch(install, run.start);
}

static uint64_t new_size(struct install *install)
{
	uint64_t at = fl_rng_below(&install->rng, install->weight);
	size_t i = 0;

	for (; at >= sizes[i].weight; i++)
		at -= sizes[i].weight;
	return fl_rng_between(&install->rng, sizes[i].upto_bytes / 2 + 1, sizes[i].upto_bytes);
}

static int write_file(struct install *install, fl_ino ino, uint64_t size)
{
	uint64_t left = fl_div_up(size, install->stream->map->geo.block_bytes), extents = 0;
	enum fl_alloc_hint hint = left <= FL_ALLOC_SMALL_BLOCKS ? FL_ALLOC_SMALL : FL_ALLOC_STREAM;
	fl_pblk first = fl_alloc_goal_of_inode(install->alloc, ino, false), goal = first;

	while (left) {
		struct fl_run run;
		int error = fl_alloc_take_as(install->alloc, hint, goal,
					     fl_min(left, WRITEBACK_BLOCKS), &run);

		if (!error)
			error = touch_run(install, run);
		if (!error)
			error = fl_stream_add(install->stream, run, true);
		if (error)
			return error;
		extents += run.start != goal || run.start == first;
		goal = fl_run_end(run);
		left -= run.len;
	}
	return extents > EXTENTS_IN_INODE ? new_block(install, first) : 0;
}

/* The next `count` blocks of the journal, round and round; its superblock stays out of it. */
static int write_journal(struct install *install, uint64_t count)
{
	const struct fl_file *journal = install->journal;
	const struct fl_extent *extents = install->stream->map->extents.at + journal->first_extent;
	uint64_t blocks =
		journal->extent_count ? fl_extent_lend(&extents[journal->extent_count - 1]) : 0;

	while (count && blocks > 1) {
		size_t i = 0;
		uint64_t len;
		int error;

		if (install->journal_at < 1 || install->journal_at >= blocks)
			install->journal_at = 1;
		while (fl_extent_lend(&extents[i]) <= install->journal_at)
			i++;
		len = fl_min(count, fl_extent_lend(&extents[i]) - install->journal_at);
		error = fl_stream_add(
			install->stream,
			(struct fl_run){extents[i].pblk + (install->journal_at - extents[i].lblk),
					len},
			true);
		if (error)
			return error;
		install->journal_at += len;
		count -= len;
	}
	return 0;
}

static int commit(struct install *install)
{
	uint64_t blocks = fl_blockset_count(install->pending), size;
	uint64_t tags = install->stream->map->geo.block_bytes / TAG_BYTES;
	struct fl_run run;
	int error = fl_stream_unplug(install->stream);

	if (!error && blocks && install->journal) {
		error = write_journal(install, blocks + fl_div_up(blocks, tags));
		if (!error)
			error = fl_stream_unplug(install->stream);
		if (!error)
			error = write_journal(install, 1);
		if (!error)
			error = fl_stream_unplug(install->stream);
	}
	size = fl_blockset_size(install->pending);
	for (uint64_t at = 0; !error && fl_blockset_next_run(install->pending, at, size, &run);
	     at = fl_run_end(run))
		error = fl_blockset_add(install->dirty, run.start, run.len);
	return error ? error : fl_blockset_remove(install->pending, 0, size);
}

static int checkpoint(struct install *install)
{
	uint64_t size = fl_blockset_size(install->dirty);
	struct fl_run run;
	int error = 0;

	for (uint64_t at = 0; !error && fl_blockset_next_run(install->dirty, at, size, &run);
	     at = fl_run_end(run))
		error = fl_stream_add(install->stream, run, true);
	return error ? error : fl_stream_unplug(install->stream);
}

static int write_package(struct install *install, uint64_t total)
{
	uint64_t written = 0, committed = 0;
	fl_ino ino;
	int error = touch(install, install->stream->map->geo.first_data_block);

	for (uint64_t n = 0; written < total && !error; n++) {
		uint64_t size = fl_min(new_size(install), total - written);

		if (n % FILES_A_DIRECTORY == 0) {
			error = new_inode(install, &ino);
			if (!error)
				error = new_block(
					install, fl_alloc_goal_of_inode(install->alloc, ino, true));
		}
		if (!error)
			error = new_inode(install, &ino);
		if (!error)
			error = write_file(install, ino, size);
		written += size;
		if (!error && written - committed >= FL_STREAM_COMMIT_BYTES && written < total) {
			error = commit(install);
			committed = written;
		}
	}
	/* The disk is full: what is there is synced. */
	return error == FL_ENOROOM ? 0 : error;
}

static int prepare(struct install *install)
{
	const struct fl_map *map = install->stream->map;
	int error = fl_alloc_new(&map->geo, map->free.at, map->free.count, &install->alloc);

	if (!error)
		error = fl_blockset_new(map->geo.blocks, &install->pending);
	if (!error)
		error = fl_blockset_new(map->geo.blocks, &install->dirty);
	for (size_t i = 0; i < map->files.count; i++)
		if (map->files.at[i].kind == FL_KIND_JOURNAL)
			install->journal = &map->files.at[i];
	for (size_t i = 0; i < SIZES; i++)
		install->weight += sizes[i].weight;
	fl_rng_seed(&install->rng, install->stream->options->seed);
	choose_group(install);
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
		error = commit(&install);
	if (!error)
		error = checkpoint(&install);
	fl_blockset_free(install.pending);
	fl_blockset_free(install.dirty);
	fl_alloc_free(install.alloc);
	return error;
}
