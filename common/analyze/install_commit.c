/* SPDX-License-Identifier: MIT */
/*
 * The metadata of an install: which blocks change, their commit to the journal, and their way
 * home. Decides nothing about files.
 */
#include "install.h"

#define DESCRIPTOR_BYTES 64u /* a group descriptor with 64bit */
#define TAG_BYTES 16u	     /* a journal descriptor's entry for one block */

/*
 * The credits that ext4 reserves for a file while its data are on their way (the conversion of one
 * extent, ext4_meta_trans_blocks): both ways through a tree of the greatest depth, 5 (since
 * Linux 6.16), a bitmap and a descriptor for each block of that and for the extent, 6 for the
 * inode and attributes, 1 more.
 */
#define INDEX_CREDITS 10u
#define INODE_CREDITS 7u

int fl_install_touch(struct install *install, fl_pblk block)
{
	if (install->stream->options->data_only || block >= install->stream->map->geo.blocks)
		return 0;
	return fl_blockset_add(install->pending, block, 1);
}

/* The bitmap and the descriptor that an allocation in this group changes. */
int fl_install_touch_group(struct install *install, uint32_t group, bool inode)
{
	const struct fl_map *map = install->stream->map;
	uint64_t descriptor = (uint64_t)group * DESCRIPTOR_BYTES / map->geo.block_bytes;
	int error;

	if (group >= map->groups.count)
		return 0;
	error = fl_install_touch(install, inode ? map->groups.at[group].inode_bitmap
						: map->groups.at[group].block_bitmap);
	return error ? error
		     : fl_install_touch(install, map->geo.first_data_block + 1 + descriptor);
}

int fl_install_touch_run(struct install *install, struct fl_run run)
{
	uint32_t first = fl_group_of(&install->stream->map->geo, run.start);
	uint32_t last = fl_group_of(&install->stream->map->geo, fl_run_end(run) - 1);
	int error = 0;

	for (uint32_t group = first; group <= last && !error; group++)
		error = fl_install_touch_group(install, group, false);
	return error;
}

/* The block of the inode table. */
int fl_install_touch_inode(struct install *install, fl_ino ino)
{
	const struct fl_map *map = install->stream->map;
	uint32_t group = fl_group_of_inode(&map->geo, ino);
	uint32_t per_block = map->geo.block_bytes / map->geo.inode_bytes;

	if (group >= map->groups.count)
		return 0;
	return fl_install_touch(install, map->groups.at[group].inode_table +
						 (ino - 1) % map->geo.inodes_per_group / per_block);
}

/* The next `count` blocks of the journal, round and round; its superblock stays out of it. */
static int write_journal(struct install *install, uint64_t count)
{
	const struct fl_file *journal = install->journal;
	const struct fl_extent *extents =
		fl_array_from(&install->stream->map->extents, journal->first_extent);
	uint64_t blocks = install->journal_blocks;

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

int fl_install_commit(struct install *install)
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

int fl_install_checkpoint(struct install *install)
{
	uint64_t size = fl_blockset_size(install->dirty);
	struct fl_run run;
	int error = 0;

	for (uint64_t at = 0; !error && fl_blockset_next_run(install->dirty, at, size, &run);
	     at = fl_run_end(run))
		error = fl_stream_add(install->stream, run, true);
	return error ? error : fl_stream_unplug(install->stream);
}

/*
 * Writeback plugs over files; the plug is issued when it must wait. It waits for credits: a
 * transaction may take a quarter of the journal (jbd2_journal_get_max_txn_bufs), and half of
 * that may be reserved for data on their way (add_transaction_credits). So many files may be under
 * way; half of them are being written while the plug gathers the others.
 */
uint32_t fl_install_files_a_plug(const struct install *install)
{
	const struct fl_geometry *geo = &install->stream->map->geo;
	uint64_t groups = fl_min(INDEX_CREDITS + 1, geo->groups);
	uint64_t descriptors = fl_min(
		groups, fl_div_up((uint64_t)geo->groups * DESCRIPTOR_BYTES, geo->block_bytes));
	uint64_t credits = INDEX_CREDITS + groups + descriptors + INODE_CREDITS;
	uint64_t files = install->journal_blocks / 4 / 2 / credits / 2;

	return install->journal_blocks ? (uint32_t)fl_max(fl_min(files, UINT32_MAX), 1)
				       : UINT32_MAX;
}

int fl_install_commit_begin(struct install *install)
{
	const struct fl_map *map = install->stream->map;
	int error = fl_blockset_new(map->geo.blocks, &install->pending);

	if (!error)
		error = fl_blockset_new(map->geo.blocks, &install->dirty);
	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];

		if (file->kind != FL_KIND_JOURNAL || !file->extent_count)
			continue;
		install->journal = file;
		install->journal_blocks = fl_extent_lend(
			fl_array_from(&map->extents, file->first_extent + file->extent_count - 1));
	}
	return error;
}
