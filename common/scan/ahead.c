/* SPDX-License-Identifier: MIT */
/*
 * Announces blocks that a scan is about to read one by one, so that a disk can fetch many of them
 * at once and in its own order. Must not change what the scan finds: nothing here is believed, and
 * what is announced in vain is only read in vain.
 */
#include <common/scan/scan_internal.h>

/* Of one directory; what lies behind is read ahead by the host as any file is. */
#define DIRECTORY_BLOCKS_MOST 256u

static void announce(struct scan *scan, fl_pblk start, uint64_t len)
{
	uint64_t bytes = scan->map->geo.block_bytes;

	if (len && fl_scan_blocks_valid(scan, start, len))
		fl_device_advise(scan->device, FL_ADVICE_SOON, len * bytes, start * bytes);
}

void fl_scan_announce_children(struct scan *scan, const struct ext3_extent_header *node,
			       size_t bytes)
{
	const struct ext3_extent_idx *index = EXT_FIRST_INDEX(node);
	size_t most = (bytes - sizeof(*node)) / sizeof(*index);
	size_t count = fl_min(ext2fs_le16_to_cpu(node->eh_entries), most);

	if (ext2fs_le16_to_cpu(node->eh_magic) != EXT3_EXT_MAGIC || !node->eh_depth)
		return;
	for (size_t i = 0; i < count; i++)
		announce(scan,
			 ext2fs_le32_to_cpu(index[i].ei_leaf) |
				 (uint64_t)ext2fs_le16_to_cpu(index[i].ei_leaf_hi) << 32,
			 1);
}

void fl_scan_announce_pointers(struct scan *scan, const uint32_t *pointers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pointers[i])
			announce(scan, ext2fs_le32_to_cpu(pointers[i]), 1);
}

void fl_scan_announce_mapping(struct scan *scan, const struct ext2_inode *inode)
{
	if (inode->i_flags & EXT4_EXTENTS_FL)
		fl_scan_announce_children(scan, (const struct ext3_extent_header *)inode->i_block,
					  sizeof(inode->i_block));
	else
		fl_scan_announce_pointers(scan, &inode->i_block[EXT2_IND_BLOCK],
					  EXT2_N_BLOCKS - EXT2_IND_BLOCK);
}

void fl_scan_announce_directory(struct scan *scan, const struct fl_file *file)
{
	uint64_t left = DIRECTORY_BLOCKS_MOST;

	for (size_t e = 0; e < file->extent_count && left; e++) {
		const struct fl_extent *extent = &scan->map->extents.at[file->first_extent + e];
		uint64_t len = fl_min(extent->len, left);

		announce(scan, extent->pblk, len);
		left -= len;
	}
}

void fl_scan_announce_xattrs(struct scan *scan, const struct xattr_use *uses, size_t count)
{
	for (size_t i = 0; i < count;) {
		uint64_t len = 1;

		for (i++; i < count && uses[i].block <= uses[i - 1].block + 1; i++)
			len += uses[i].block - uses[i - 1].block;
		announce(scan, uses[i - 1].block + 1 - len, len);
	}
}
