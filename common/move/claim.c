/* SPDX-License-Identifier: MIT */
/*
 * Block accounting of the mover: marks runs in the bitmap and writes what changed. Must
 * not write the superblock: that belongs to the fence.
 */
#include "move_internal.h"

#include <stdlib.h>
#include <string.h>

struct move_groups {
	struct fl_fs *owner;
	ext2_filsys fs;
	uint32_t unit_blocks;  /* of the runs */
	bool *dirty;	       /* by group */
	unsigned char *buffer; /* one block */
};

int move_groups_new(struct fl_fs *fs, uint32_t unit_blocks, struct move_groups **groups)
{
	struct move_groups *made = calloc(1, sizeof(*made));

	if (!made)
		return FL_ENOMEM;
	made->owner = fs;
	made->fs = fl_fs_ext2(fs);
	made->unit_blocks = unit_blocks;
	made->dirty = fl_alloc(made->fs->group_desc_count, sizeof(*made->dirty));
	made->buffer = malloc(made->fs->blocksize);
	if (!made->dirty || !made->buffer) {
		move_groups_free(made);
		return FL_ENOMEM;
	}
	*groups = made;
	return 0;
}

void move_groups_free(struct move_groups *groups)
{
	if (!groups)
		return;
	free(groups->dirty);
	free(groups->buffer);
	free(groups);
}

static void mark_run(ext2_filsys fs, struct fl_run run, bool used)
{
	while (run.len) {
		blk_t part = (blk_t)fl_min(run.len, UINT32_C(1) << 30);

		ext2fs_block_alloc_stats_range(fs, run.start, part, used ? 1 : -1);
		run.start += part;
		run.len -= part;
	}
}

void move_groups_mark(struct move_groups *groups, const struct fl_runs *runs, bool used)
{
	ext2_filsys fs = groups->fs;

	for (size_t i = 0; i < runs->count; i++) {
		struct fl_run run = {runs->at[i].start * groups->unit_blocks,
				     runs->at[i].len * groups->unit_blocks};
		fl_pblk last = fl_run_end(run) - 1;
		dgrp_t first_group = ext2fs_group_of_blk2(fs, run.start);

		mark_run(fs, run, used);
		for (dgrp_t g = first_group; g <= ext2fs_group_of_blk2(fs, last); g++)
			groups->dirty[g] = true;
	}
}

/* The bitmap of a group as it is on disk: bits past the end of the filesystem are set. */
static errcode_t write_bitmap(struct move_groups *groups, dgrp_t group)
{
	ext2_filsys fs = groups->fs;
	blk64_t first = ext2fs_group_first_block2(fs, group);
	/* A bit is a cluster. */
	size_t bits = (size_t)(ext2fs_group_last_block2(fs, group) - first + 1) /
		      (size_t)EXT2FS_CLUSTER_RATIO(fs);
	errcode_t error;

	memset(groups->buffer, 0xff, fs->blocksize);
	error = ext2fs_get_block_bitmap_range2(fs->block_map, EXT2FS_B2C(fs, first), bits,
					       groups->buffer);
	if (error)
		return error;
	for (size_t bit = bits; bit < (size_t)fs->blocksize * 8 && bit % 8; bit++)
		ext2fs_set_bit((unsigned int)bit, groups->buffer);
	error = ext2fs_block_bitmap_csum_set(fs, group, (char *)groups->buffer,
					     (int)(EXT2_CLUSTERS_PER_GROUP(fs->super) / 8));
	if (error)
		return error;
	ext2fs_group_desc_csum_set(fs, group);
	return io_channel_write_blk64(fs->io, ext2fs_block_bitmap_loc(fs, group), 1,
				      groups->buffer);
}

/*
 * Where a block of descriptors lies. The library is one too low for all but the first when
 * block 0 is a boot block and yet the first data block: clusters with blocks of 1K.
 */
static blk64_t descriptors_place(ext2_filsys fs, dgrp_t block)
{
	const struct ext2_super_block *super = fs->super;

	if (!ext2fs_has_feature_meta_bg(fs->super) || block < super->s_first_meta_bg)
		return SUPERBLOCK_OFFSET / fs->blocksize + 1 + block;
	return ext2fs_descriptor_block_loc2(fs, super->s_first_data_block, block);
}

static errcode_t write_descriptors(struct move_groups *groups, dgrp_t block)
{
	ext2_filsys fs = groups->fs;

	memcpy(groups->buffer, (char *)fs->group_desc + (size_t)block * fs->blocksize,
	       fs->blocksize);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	for (size_t at = 0; at < fs->blocksize; at += EXT2_DESC_SIZE(fs->super))
		ext2fs_swap_group_desc2(fs, (struct ext2_group_desc *)(groups->buffer + at));
#endif
	return io_channel_write_blk64(fs->io, descriptors_place(fs, block), 1, groups->buffer);
}

int move_groups_write(struct move_groups *groups, struct fl_diag *diag)
{
	ext2_filsys fs = groups->fs;
	dgrp_t per_block = (dgrp_t)EXT2_DESC_PER_BLOCK(fs->super);

	for (dgrp_t g = 0; g < fs->group_desc_count; g++) {
		errcode_t error = groups->dirty[g] ? write_bitmap(groups, g) : 0;

		if (error)
			return move_fail(groups->owner, error, diag,
					 "writing the block bitmap of group %u", g);
	}
	for (dgrp_t g = 0; g < fs->group_desc_count;) {
		dgrp_t first = g;
		bool dirty = false;
		errcode_t error;

		for (; g < fs->group_desc_count && g / per_block == first / per_block; g++)
			dirty |= groups->dirty[g];
		error = dirty ? write_descriptors(groups, first / per_block) : 0;
		/* What could not be written is still to be written. */
		if (error)
			return move_fail(groups->owner, error, diag, "writing group descriptors");
		memset(groups->dirty + first, false, g - first);
	}
	return 0;
}
