/* SPDX-License-Identifier: MIT */
/*
 * Finds the metadata of an image: what is worth damaging. Only reads.
 */
#include "tests/fuzz/seed_regions.h"

static bool add(struct seed *seed, enum region_kind kind, uint64_t position, uint32_t length,
		uint32_t owner)
{
	struct region region = {kind, length, position, owner};

	/* Nothing on the disk twice in a row: bitmaps of uninitialised groups have no place. */
	if (!length || position + length > seed->size_bytes)
		return true;
	return !fl_array_push(&seed->regions, region);
}

static bool add_groups(struct seed *seed)
{
	ext2_filsys fs = seed->fs;
	const uint32_t size = EXT2_DESC_SIZE(fs->super), block = fs->blocksize;
	const uint32_t per_block = (uint32_t)EXT2_DESC_PER_BLOCK(fs->super);

	for (dgrp_t group = 0; group < fs->group_desc_count; group++) {
		blk64_t at = ext2fs_descriptor_block_loc2(fs, fs->super->s_first_data_block,
							  group / per_block);

		if (!add(seed, REGION_DESCRIPTOR, at * block + group % per_block * size, size,
			 group) ||
		    !add(seed, REGION_BLOCK_BITMAP, ext2fs_block_bitmap_loc(fs, group) * block,
			 block, group) ||
		    !add(seed, REGION_INODE_BITMAP, ext2fs_inode_bitmap_loc(fs, group) * block,
			 block, group))
			return false;
	}
	return true;
}

struct walk {
	struct seed *seed;
	ext2_ino_t ino;
	bool directory, extents, special, bad;
};

static int take_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t lblk, blk64_t parent, int offset,
		      void *context)
{
	struct walk *walk = context;
	enum region_kind kind = REGION_RAW;

	(void)parent;
	(void)offset;
	if (lblk < 0)
		kind = walk->extents ? REGION_EXTENTS : REGION_RAW;
	else if (walk->directory)
		kind = REGION_DIRECTORY;
	else if (!walk->special || lblk > 3)
		return 0;
	walk->bad |= !add(walk->seed, kind, *block * fs->blocksize, fs->blocksize, walk->ino);
	return walk->bad ? BLOCK_ABORT : 0;
}

static bool add_inode(struct seed *seed, ext2_ino_t ino)
{
	ext2_filsys fs = seed->fs;
	const uint32_t size = EXT2_INODE_SIZE(fs->super), per_group = fs->super->s_inodes_per_group;
	const uint64_t table = ext2fs_inode_table_loc(fs, (ino - 1) / per_group) * fs->blocksize;
	struct walk walk = {.seed = seed, .ino = ino};
	struct ext2_inode inode;
	blk64_t xattr;

	if (!add(seed, REGION_INODE, table + (ino - 1) % per_group * size, size, ino) ||
	    ext2fs_read_inode(fs, ino, &inode))
		return false;
	xattr = ext2fs_file_acl_block(fs, &inode);
	if (xattr && !add(seed, REGION_XATTR, xattr * fs->blocksize, fs->blocksize, ino))
		return false;
	if (!ext2fs_inode_has_valid_blocks2(fs, &inode))
		return true;
	walk.directory = LINUX_S_ISDIR(inode.i_mode);
	walk.extents = inode.i_flags & EXT4_EXTENTS_FL;
	/* Journal, quota, orphan file, values of attributes: their beginning means something. */
	walk.special = (ino < EXT2_GOOD_OLD_FIRST_INO && ino != EXT2_RESIZE_INO) ||
		       ino == fs->super->s_orphan_file_inum || inode.i_flags & EXT4_EA_INODE_FL;
	return !ext2fs_block_iterate3(fs, ino, BLOCK_FLAG_READ_ONLY, NULL, take_block, &walk) &&
	       !walk.bad;
}

bool seed_find_regions(struct seed *seed)
{
	ext2_filsys fs = seed->fs;

	if (ext2fs_read_bitmaps(fs) || !add(seed, REGION_RAW, 0, 1024, 0) ||
	    !add(seed, REGION_SUPER, 1024, 1024, 0) || !add_groups(seed))
		return false;
	for (ext2_ino_t ino = 1; ino <= fs->super->s_inodes_count; ino++)
		if (ext2fs_test_inode_bitmap2(fs->inode_map, ino) && !add_inode(seed, ino))
			return false;
	return true;
}
