/* SPDX-License-Identifier: MIT */
/*
 * The shape of a filesystem as plain numbers. Must refuse numbers that the conversions in
 * geometry.h could not work with.
 */
#include <common/fs/fs_internal.h>

int fl_geometry_fill(ext2_filsys ext2, struct fl_geometry *geo, struct fl_diag *diag)
{
	struct ext2_super_block *super = ext2->super;
	struct fl_geometry made = {
		.block_bytes = ext2->blocksize,
		.blocks = ext2fs_blocks_count(super),
		.first_data_block = super->s_first_data_block,
		.blocks_per_group = super->s_blocks_per_group,
		.groups = ext2->group_desc_count,
		.flex_groups = 1,
		.cluster_blocks = (uint32_t)EXT2FS_CLUSTER_RATIO(ext2),
		.inodes_per_group = super->s_inodes_per_group,
		.inode_bytes = (uint32_t)EXT2_INODE_SIZE(super),
		.used_inodes = super->s_inodes_count - super->s_free_inodes_count,
		.huge_file = ext2fs_has_feature_huge_file(super),
	};

	if (ext2fs_has_feature_flex_bg(super)) {
		if (super->s_log_groups_per_flex > 31)
			return fl_fail(diag, FL_EDAMAGED,
				       "superblock: flex_bg size 2^%u; run e2fsck -f IMAGE first",
				       super->s_log_groups_per_flex);
		made.flex_groups = 1u << super->s_log_groups_per_flex;
	}
	if (made.first_data_block >= made.blocks || !made.inodes_per_group ||
	    fl_group_of(&made, made.blocks - 1) + 1 != made.groups)
		return fl_fail(diag, FL_EDAMAGED,
			       "superblock: its counts contradict each other; run e2fsck -f IMAGE "
			       "first");
	/* mke2fs makes no others. */
	if (made.cluster_blocks > 1 &&
	    (made.first_data_block || made.blocks % made.cluster_blocks ||
	     made.blocks_per_group % made.cluster_blocks))
		return fl_fail(diag, FL_EFEATURE,
			       "feature bigalloc: groups or filesystem are not of whole clusters; "
			       "this version leaves such filesystems alone");
	*geo = made;
	return 0;
}

const struct fl_geometry *fl_fs_geometry(const struct fl_fs *fs)
{
	return &fs->geo;
}

struct fl_device *fl_fs_device(const struct fl_fs *fs)
{
	return fs->io.device;
}
