/* SPDX-License-Identifier: MIT */
/*
 * The writes of installing a package and a sync: new files through the allocator model on the
 * map's free blocks. Changes no map; what is written is forgotten with the stream.
 *
 * In the order of ext4 with ordered data. Files are made: inodes and directory entries, which
 * commit on their own, because delayed allocation places the data when it is written back later:
 * files in the order of their making, in one plug over many of them, so that small files side by
 * side share requests. That changes inodes and bitmaps, which commit again. A commit: descriptor
 * and metadata blocks in a row in the journal, then the commit block. FL_STREAM_COMMIT_BYTES of
 * data go so at a time; after the last, the metadata blocks go home, in disk order. Sizes are
 * those of the desktop study of 2011 (Harter et al.) up to 512 KiB: 31 KiB on average. Not
 * modelled: the reads that bring bitmaps and tables in, overwritten files, several writers.
 */
#include <stdlib.h>
#include "streams.h"

#include <fraglab/alloc.h>

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define FILES_A_DIRECTORY 8u
/*
 * Files that writeback gets through before it yields and its plug is issued; measured, on idle
 * machines: 7 to 11 files a request where their places are contiguous.
 */
#define FILES_A_PLUG 10u
#define WINDOW_BLOCKS 512u     /* mb_group_prealloc */
#define WINDOWS 80u	       /* ten lists of eight */
#define EXTENTS_IN_INODE 4u    /* ext4: more need a block of the mapping tree */
#define WRITEBACK_BLOCKS 2048u /* MAX_WRITEPAGES_EXTENT_LEN: allocated at a time */
#define DESCRIPTOR_BYTES 64u   /* a group descriptor with 64bit */
#define TAG_BYTES 16u	       /* a journal descriptor's entry for one block */

static const struct {
	uint32_t upto_bytes, weight;
} sizes[] = {
	{64, 170},    {128, 220},    {256, 400},    {512, 680},	   {1024, 1180},
	{2048, 1230}, {4096, 1150},  {8192, 1020},  {16384, 900},  {32768, 700},
	{65536, 680}, {131072, 440}, {262144, 300}, {524288, 230},
};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

struct made {
	fl_ino ino;
	uint32_t bytes;
};

struct install {
	struct stream *stream;
	FL_ARRAY(struct made) made; /* files without data yet */
	struct fl_alloc *alloc;
	struct fl_rng rng;
	uint32_t weight;	     /* of all sizes */
	struct fl_blockset *pending; /* metadata since the last commit */
	struct fl_blockset *dirty;   /* metadata that is not at home yet */
	const struct fl_file *journal;
	struct fl_run windows[WINDOWS]; /* what is left of those for small files */
	uint64_t journal_at;		/* next logical block of it */
	uint32_t group;			/* where new inodes come from */
	uint32_t next_inode;		/* in that group, from 0 */
	uint64_t file_count;
	size_t kind; /* of the last file: index into sizes */
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

/* The block of the inode table. */
static int touch_inode(struct install *install, fl_ino ino)
{
	const struct fl_map *map = install->stream->map;
	uint32_t group = fl_group_of_inode(&map->geo, ino);
	uint32_t per_block = map->geo.block_bytes / map->geo.inode_bytes;

	if (group >= map->groups.count)
		return 0;
	return touch(install, map->groups.at[group].inode_table +
				      (ino - 1) % map->geo.inodes_per_group / per_block);
}

/* A new inode: the next that was never used, from the chosen group on. */
static int new_inode(struct install *install, fl_ino *ino)
{
	const struct fl_map *map = install->stream->map;
	const struct fl_geometry *geo = &map->geo;
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
	if (!error)
		error = touch_inode(install, *ino);
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

/* The window that the next small file goes to: the nearest to its goal that is long enough. */
static struct fl_run *find_window(struct install *install, fl_pblk goal, uint64_t want)
{
	struct fl_run *best = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < WINDOWS; i++) {
		struct fl_run *window = &install->windows[i];
		uint64_t distance =
			window->start > goal ? window->start - goal : goal - window->start;

		if (window->len >= want && distance < least) {
			least = distance;
			best = window;
		}
	}
	return best;
}

/*
 * Small files share windows that others keep out of (the preallocations of a locality group; what
 * is left of one waits for smaller files). FL_ALLOC_SMALL has one, but others may be put into it.
 */
static int take_small(struct install *install, fl_pblk goal, uint64_t want, struct fl_run *run)
{
	struct fl_run *window = find_window(install, goal, want);

	if (!window) {
		struct fl_run *shortest = &install->windows[0];
		int error;

		for (size_t i = 1; i < WINDOWS; i++)
			if (install->windows[i].len < shortest->len)
				shortest = &install->windows[i];
		error = fl_alloc_take(install->alloc, goal, WINDOW_BLOCKS, shortest);
		if (error)
			return error;
		window = shortest;
	}
	*run = (struct fl_run){window->start, fl_min(want, window->len)};
	window->start += run->len;
	window->len -= run->len;
	return 0;
}

static int write_file(struct install *install, fl_ino ino, uint64_t size)
{
	uint64_t left = fl_div_up(size, install->stream->map->geo.block_bytes), extents = 0;
	bool small = left <= FL_ALLOC_SMALL_BLOCKS;
	fl_pblk first = fl_alloc_goal_of_inode(install->alloc, ino, false), goal = first;

	while (left) {
		struct fl_run run;
		int error = small ? take_small(install, goal, left, &run)
				  : fl_alloc_take_as(install->alloc, FL_ALLOC_STREAM, goal,
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
	const struct fl_extent *extents =
		fl_array_from(&install->stream->map->extents, journal->first_extent);
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

/* Inodes and directories for files of so many bytes together. */
static int make_files(struct install *install, uint64_t total)
{
	uint64_t sum = 0;
	fl_ino ino;
	int error = touch(install, install->stream->map->geo.first_data_block);

	for (; sum < total && !error; install->file_count++) {
		uint64_t size = fl_min(new_size(install), total - sum);

		if (install->file_count % FILES_A_DIRECTORY == 0) {
			error = new_inode(install, &ino);
			if (!error)
				error = new_block(
					install, fl_alloc_goal_of_inode(install->alloc, ino, true));
		}
		if (!error)
			error = new_inode(install, &ino);
		if (!error)
			error = fl_array_push(&install->made, ((struct made){ino, (uint32_t)size}));
		sum += size;
	}
	return error;
}

static int write_files(struct install *install)
{
	int error = 0;

	for (size_t i = 0; i < install->made.count && !error; i++) {
		error = touch_inode(install, install->made.at[i].ino);
		if (!error)
			error = write_file(install, install->made.at[i].ino,
					   install->made.at[i].bytes);
		if (!error && i % FILES_A_PLUG == FILES_A_PLUG - 1)
			error = fl_stream_unplug(install->stream);
	}
	install->made.count = 0;
	return error;
}

static int write_package(struct install *install, uint64_t total)
{
	int error = 0;

	while (total && !error) {
		uint64_t batch = fl_min(total, FL_STREAM_COMMIT_BYTES);

		error = make_files(install, batch);
		if (!error)
			error = commit(install);
		if (!error)
			error = write_files(install);
		if (!error)
			error = commit(install);
		total -= batch;
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
	fl_array_free(&install.made);
	fl_blockset_free(install.pending);
	fl_blockset_free(install.dirty);
	fl_alloc_free(install.alloc);
	return error;
}
