/* SPDX-License-Identifier: MIT */
/*
 * Metadata at fixed places: superblocks, descriptors and those reserved for growth, bitmaps,
 * inode tables. Must find it where the descriptors say: with flex_bg it lies in other groups.
 */
#include <common/scan/scan_internal.h>

#include <inttypes.h>

static int add(struct scan *scan, dgrp_t group, const char *what, fl_pblk start, uint64_t len)
{
	struct fl_run run = {start, len};

	if (!fl_scan_blocks_valid(scan, start, len))
		return fl_fail(scan->diag, FL_EDAMAGED,
			       "group %u: its %s is at block %" PRIu64
			       ", outside the filesystem" RUN_E2FSCK,
			       group, what, start);
	return fl_array_push(&scan->map->fixed, run);
}

static int add_descriptors(struct scan *scan, fl_pblk start, uint64_t len)
{
	struct fl_run run = {start, len};

	if (!len)
		return 0;
	if (fl_array_push(&scan->map->fixed, run) || fl_array_push(&scan->descriptors, run))
		return FL_ENOMEM;
	return 0;
}

static int add_super_and_descriptors(struct scan *scan, dgrp_t group)
{
	ext2_filsys ext2 = scan->ext2;
	uint64_t blocks = scan->map->geo.blocks, old_len;
	blk64_t super, old_desc, new_desc;
	errcode_t code;
	int error = 0;

	code = ext2fs_super_and_bgd_loc2(ext2, group, &super, &old_desc, &new_desc, NULL);
	if (code)
		return fl_fail(scan->diag, fl_fs_error(scan->fs, code),
			       "group %u: where its superblock is: %s", group, error_message(code));
	/* With 4 KiB blocks the primary superblock is in block 0, which also means "none". */
	if (super || group == 0)
		error = add_descriptors(scan, super, 1);
	if (!error && old_desc && old_desc < blocks) {
		if (ext2fs_has_feature_meta_bg(ext2->super))
			old_len = ext2->super->s_first_meta_bg;
		else
			old_len = ext2->desc_blocks + ext2->super->s_reserved_gdt_blocks;
		/* A short last group does not hold all of them. */
		error = add_descriptors(scan, old_desc, fl_min(old_len, blocks - old_desc));
	}
	if (!error && new_desc && new_desc < blocks)
		error = add_descriptors(scan, new_desc, 1);
	return error;
}

static int remember_places(struct scan *scan, dgrp_t group)
{
	ext2_filsys ext2 = scan->ext2;
	uint32_t unused =
		ext2fs_has_group_desc_csum(ext2) ? ext2fs_bg_itable_unused(ext2, group) : 0;
	struct fl_group_places places = {
		.block_bitmap = ext2fs_block_bitmap_loc(ext2, group),
		.inode_bitmap = ext2fs_inode_bitmap_loc(ext2, group),
		.inode_table = ext2fs_inode_table_loc(ext2, group),
		.inodes_used = scan->map->geo.inodes_per_group,
	};

	places.inodes_used -= (uint32_t)fl_min(unused, places.inodes_used);
	return fl_array_push(&scan->map->groups, places);
}

int fl_scan_metadata(struct scan *scan)
{
	ext2_filsys ext2 = scan->ext2;
	int error = 0;

	/* The boot block; no bitmap has a bit for it. */
	if (scan->map->geo.first_data_block) {
		struct fl_run boot = {0, scan->map->geo.first_data_block};

		error = fl_array_push(&scan->map->fixed, boot);
	}
	if (!error && ext2fs_has_feature_mmp(ext2->super))
		error = add(scan, 0, "multiple mount protection", ext2->super->s_mmp_block, 1);
	for (dgrp_t group = 0; group < ext2->group_desc_count && !error; group++) {
		error = add_super_and_descriptors(scan, group);
		if (!error)
			error = add(scan, group, "block bitmap",
				    ext2fs_block_bitmap_loc(ext2, group), 1);
		if (!error)
			error = add(scan, group, "inode bitmap",
				    ext2fs_inode_bitmap_loc(ext2, group), 1);
		if (!error)
			error = add(scan, group, "inode table", ext2fs_inode_table_loc(ext2, group),
				    ext2->inode_blocks_per_group);
		if (!error)
			error = remember_places(scan, group);
	}
	return error;
}

bool fl_scan_is_descriptor(const struct scan *scan, fl_pblk block)
{
	size_t low = 0, high = scan->descriptors.count;

	/* The last run that starts at or before block. Groups come in order, so they are sorted. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (scan->descriptors.at[middle].start <= block)
			low = middle + 1;
		else
			high = middle;
	}
	return low && block < fl_run_end(scan->descriptors.at[low - 1]);
}
