/* SPDX-License-Identifier: MIT */
/*
 * Reads an inode's extent tree, node by node, and believes nothing in it. Must not use
 * libext2fs's extent handle, which derives lengths of index entries from i_size.
 */
#include <common/scan/scan_internal.h>

#include <inttypes.h>

/* A node on the way from the root to a leaf. */
struct level {
	const struct ext3_extent_header *node;
	fl_pblk block; /* where the node is; 0: in the inode */
	uint32_t next; /* the entry to look at next */
	uint64_t end;  /* logical blocks of this subtree are below it */
};

struct walk {
	struct scan *scan;
	struct subject *subject;
	uint64_t expected; /* the lowest logical block the next entry may map */
	struct level levels[MAX_DEPTH + 1];
};

static int damaged(struct walk *walk, const struct level *level, const char *what)
{
	fl_ino ino = walk->subject->ino;

	if (!level->block)
		return fl_fail(walk->scan->diag, FL_EDAMAGED,
			       "inode %u: extent tree: %s" RUN_E2FSCK, ino, what);
	return fl_fail(walk->scan->diag, FL_EDAMAGED,
		       "inode %u: extent tree: node in block %" PRIu64 ": %s" RUN_E2FSCK, ino,
		       level->block, what);
}

static uint32_t node_entries(const struct ext3_extent_header *node)
{
	return ext2fs_le16_to_cpu(node->eh_entries);
}

static int check_header(struct walk *walk, const struct level *level, unsigned depth, size_t bytes)
{
	struct ext3_extent_header *node = (struct ext3_extent_header *)(uintptr_t)level->node;

	if (ext2fs_extent_header_verify(node, (int)bytes))
		return damaged(walk, level, "bad header");
	if (ext2fs_le16_to_cpu(node->eh_depth) != depth)
		return damaged(walk, level, "wrong depth");
	/* Only an inode without blocks has no entry at all. */
	if (!node_entries(node) && (level->block || depth))
		return damaged(walk, level, "no entries");
	if (level->block &&
	    !ext2fs_extent_block_csum_verify(walk->scan->ext2, walk->subject->ino, node)) {
		/* To know the seed libext2fs reads the inode, which may fail. */
		int error = fl_fs_error(walk->scan->fs, EXT2_ET_EXTENT_CSUM_INVALID);

		if (error == FL_EDAMAGED)
			return damaged(walk, level, "wrong checksum");
		return fl_fail(walk->scan->diag, error, "inode %u: %s", walk->subject->ino,
			       fl_error_text(error));
	}
	return 0;
}

static int add_extent(struct walk *walk, const struct level *level, const struct ext3_extent *raw)
{
	struct scan *scan = walk->scan;
	struct fl_file *file = walk->subject->file;
	uint32_t len = ext2fs_le16_to_cpu(raw->ee_len);
	struct fl_extent extent = {
		.pblk = ext2fs_le32_to_cpu(raw->ee_start) |
			(uint64_t)ext2fs_le16_to_cpu(raw->ee_start_hi) << 32,
		.lblk = ext2fs_le32_to_cpu(raw->ee_block),
		.unwritten = len > EXT_INIT_MAX_LEN,
	};

	/* 32768 itself is a written extent of the greatest length. */
	extent.len = extent.unwritten ? len - (uint32_t)EXT_INIT_MAX_LEN : len;
	if (!extent.len)
		return damaged(walk, level, "an extent of length 0");
	if (extent.lblk < walk->expected)
		return damaged(walk, level, "extents out of order or overlapping");
	if (fl_extent_lend(&extent) > level->end)
		return damaged(walk, level, "an extent leaves the range of its node");
	if (!fl_scan_blocks_valid(scan, extent.pblk, extent.len))
		return damaged(walk, level, "an extent lies outside the filesystem");
	if (fl_array_push(&scan->map->extents, extent))
		return FL_ENOMEM;
	walk->expected = fl_extent_lend(&extent);
	file->extent_count++;
	file->blocks += extent.len;
	return 0;
}

static int read_leaf(struct walk *walk, const struct level *level)
{
	const struct ext3_extent *raw = EXT_FIRST_EXTENT(level->node);
	uint32_t count = node_entries(level->node);
	int error = 0;

	for (uint32_t i = 0; i < count && !error; i++)
		error = add_extent(walk, level, &raw[i]);
	return error;
}

/* Enters the child that level's next entry names; child becomes the level below. */
static int descend(struct walk *walk, struct level *level, struct level *child, unsigned depth)
{
	struct scan *scan = walk->scan;
	size_t bytes = scan->map->geo.block_bytes;
	unsigned char *buffer = scan->nodes + (size_t)depth * bytes;
	const struct ext3_extent_idx *index = EXT_FIRST_INDEX(level->node) + level->next;
	uint32_t start = ext2fs_le32_to_cpu(index->ei_block);
	const struct ext3_extent *first;
	int error;

	level->next++;
	*child = (struct level){
		.node = (const struct ext3_extent_header *)buffer,
		.block = ext2fs_le32_to_cpu(index->ei_leaf) |
			 (uint64_t)ext2fs_le16_to_cpu(index->ei_leaf_hi) << 32,
		.end = level->end,
	};
	if (level->next < node_entries(level->node))
		child->end = ext2fs_le32_to_cpu(index[1].ei_block);
	if (start < walk->expected || child->end <= start || child->end > level->end)
		return damaged(walk, level, "index entries out of order or overlapping");
	if (!fl_scan_blocks_valid(scan, child->block, 1))
		return damaged(walk, level, "an index entry points outside the filesystem");
	error = fl_scan_read_block(scan, walk->subject->ino, child->block, buffer);
	if (!error)
		error = check_header(walk, child, depth, bytes);
	if (error)
		return error;
	/* The first field of leaf and index entries is the same. e2fsck wants them equal, too. */
	first = EXT_FIRST_EXTENT(child->node);
	if (ext2fs_le32_to_cpu(first->ee_block) != start)
		return damaged(walk, child, "does not begin where its index entry says");
	fl_scan_announce_children(scan, child->node, bytes);
	if (fl_array_push(&scan->map->trees, child->block))
		return FL_ENOMEM;
	walk->subject->file->tree_count++;
	return 0;
}

int fl_scan_extent_mapped(struct scan *scan, struct subject *subject)
{
	struct walk walk = {.scan = scan, .subject = subject};
	struct level *level = &walk.levels[0];
	unsigned depth;
	int error;

	level->node = (const struct ext3_extent_header *)subject->inode->i_block;
	level->end = (uint64_t)FL_LBLK_MAX + 1;
	depth = ext2fs_le16_to_cpu(level->node->eh_depth);
	if (depth > MAX_DEPTH)
		return damaged(&walk, level, "deeper than a tree can be");
	error = check_header(&walk, level, depth, sizeof(subject->inode->i_block));
	/* depth counts down to 0 at the leaves, while level goes up: no loop can be endless. */
	while (!error) {
		if (depth && level->next < node_entries(level->node)) {
			depth--;
			error = descend(&walk, level, level + 1, depth);
			level++;
			continue;
		}
		if (!depth)
			error = read_leaf(&walk, level);
		if (level == walk.levels)
			break;
		level--;
		depth++;
	}
	return error;
}
