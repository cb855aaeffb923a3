/* SPDX-License-Identifier: MIT */
/*
 * The metadata that a cold cache reads on the way to a file: inode tables, directories, and when
 * a mapping-tree block is due. Each block is read once.
 */
#include "streams.h"

static int read_once(struct stream *stream, fl_pblk block, uint64_t len)
{
	while (len) {
		struct fl_run run = {.start = block, .len = 0};
		int error;

		while (run.len < len && !fl_blockset_has(stream->cached, block + run.len))
			run.len++;
		if (run.len) {
			error = fl_blockset_add(stream->cached, run.start, run.len);
			if (!error)
				error = fl_stream_issue(stream, run, false);
			if (error)
				return error;
		}
		while (run.len < len && fl_blockset_has(stream->cached, block + run.len))
			run.len++;
		block += run.len;
		len -= run.len;
	}
	return 0;
}

/*
 * __ext4_get_inode_loc: the aligned 32 blocks around the inode's and one more, within the part of
 * the table that is in use, as read-ahead; its own block after them, alone.
 */
int fl_stream_read_inode(struct stream *stream, fl_ino ino)
{
	const struct fl_geometry *geo = &stream->map->geo;
	uint32_t group = fl_group_of_inode(geo, ino);
	uint32_t per_block = geo->block_bytes / geo->inode_bytes;
	const struct fl_group_places *places;
	fl_pblk block, first, last, limit;
	int error;

	if (stream->options->data_only || group >= stream->map->groups.count)
		return 0;
	places = &stream->map->groups.at[group];
	block = places->inode_table + (ino - 1) % geo->inodes_per_group / per_block;
	if (fl_blockset_has(stream->cached, block))
		return 0;
	first = fl_max(block - block % FL_STREAM_INODE_READAHEAD, places->inode_table);
	limit = places->inode_table + places->inodes_used / per_block;
	last = fl_min(fl_min(first + FL_STREAM_INODE_READAHEAD, limit), geo->blocks - 1);
	error = block > first ? read_once(stream, first, fl_min(block, last + 1) - first) : 0;
	if (!error && last > block)
		error = read_once(stream, block + 1, last - block);
	return error ? error : read_once(stream, block, 1);
}

/* Physical block of a logical one; false: a hole. */
static bool map_block(const struct fl_map *map, const struct fl_file *file, uint64_t lblk,
		      fl_pblk *pblk)
{
	const struct fl_extent *extents = fl_array_from(&map->extents, file->first_extent);
	size_t low = 0, high = file->extent_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fl_extent_lend(&extents[middle]) <= lblk)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == file->extent_count || extents[low].lblk > lblk)
		return false;
	*pblk = extents[low].pblk + (lblk - extents[low].lblk);
	return true;
}

/* The bits of value in reverse. */
static uint64_t reversed(uint64_t value, unsigned int bits)
{
	uint64_t result = 0;

	while (bits--) {
		result = result << 1 | (value & 1);
		value >>= 1;
	}
	return result;
}

/*
 * A block at a time: the root, then the leaves by hash. A hash tree grows by splitting leaves in
 * two, which leaves them in about the order of their bit-reversed numbers. A directory has no
 * holes; of a damaged one that has, the blocks that would be there without them are read, so that a
 * block at a logical number of billions costs nothing.
 */
int fl_stream_read_directory(struct stream *stream, const struct fl_file *file)
{
	const struct fl_map *map = stream->map;
	const uint64_t blocks = file->blocks;
	unsigned int bits = 0;
	int error = 0;

	if (stream->options->data_only)
		return 0;
	for (size_t i = 0; i < file->tree_count && !error; i++)
		error = fl_stream_issue(
			stream, (struct fl_run){map->trees.at[file->first_tree + i], 1}, false);
	while (((uint64_t)1 << bits) < blocks)
		bits++;
	for (uint64_t i = 0; i < (uint64_t)1 << bits && !error; i++) {
		uint64_t lblk = reversed(i, bits);
		fl_pblk pblk;

		if (lblk < blocks && map_block(map, file, lblk, &pblk))
			error = fl_stream_issue(stream, (struct fl_run){pblk, 1}, false);
	}
	return error;
}

/*
 * Trees are known as blocks in preorder, not as nodes. An extent tree's are taken to share its
 * extents evenly. Indirect blocks follow from the format: the first maps from block 12 on, the
 * double one and its first child come after it, and so on in steps of what one block maps.
 */
uint64_t fl_stream_tree_due(const struct stream *stream, const struct fl_file *file, size_t k)
{
	uint64_t addresses = stream->map->geo.block_bytes / 4;

	if (file->mapping == FL_MAPPING_EXTENTS)
		return (uint64_t)k * file->extent_count / file->tree_count;
	return k == 0 ? 12 : 12 + addresses * (k == 1 ? 1 : k - 1);
}
