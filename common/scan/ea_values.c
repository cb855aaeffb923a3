/* SPDX-License-Identifier: MIT */
/*
 * Attribute values that are inodes of their own (ea_inode): their users pay for them in i_blocks.
 * Only counts; the blocks belong to the value's inode, which the scan meets by itself.
 */
#include <common/scan/scan_internal.h>

#include <stdlib.h>
#include <string.h>

static int damaged(struct scan *scan, fl_ino ino)
{
	return fl_fail(scan->diag, FL_EDAMAGED,
		       "inode %u: extended attributes: bad list" RUN_E2FSCK, ino);
}

/* What one value costs: whole clusters, whatever its inode's mapping needs. */
static uint64_t value_blocks(const struct fl_geometry *geo, uint64_t bytes)
{
	uint64_t cluster = (uint64_t)geo->block_bytes * geo->cluster_blocks;

	return fl_div_up(bytes, cluster) * geo->cluster_blocks;
}

/* Sums up a list of entries that must end within `bytes`; raw: in the disk's byte order. */
static int sum_entries(struct scan *scan, fl_ino ino, const unsigned char *list, size_t bytes,
		       bool raw, uint64_t *blocks)
{
	size_t at = 0;

	for (;;) {
		const struct ext2_ext_attr_entry *entry;

		if (bytes - at < sizeof(uint32_t))
			return damaged(scan, ino);
		entry = (const struct ext2_ext_attr_entry *)(const void *)(list + at);
		if (EXT2_EXT_IS_LAST_ENTRY(entry))
			return 0;
		if (bytes - at < sizeof(*entry) ||
		    bytes - at < (size_t)EXT2_EXT_ATTR_LEN(entry->e_name_len))
			return damaged(scan, ino);
		if (entry->e_value_inum)
			*blocks += value_blocks(&scan->map->geo,
						raw ? ext2fs_le32_to_cpu(entry->e_value_size)
						    : entry->e_value_size);
		at += (size_t)EXT2_EXT_ATTR_LEN(entry->e_name_len);
	}
}

static int sum_inode(struct scan *scan, const struct subject *subject, uint64_t *blocks)
{
	const struct ext2_inode_large *large =
		(const struct ext2_inode_large *)(const void *)subject->inode;
	size_t inode_bytes = scan->map->geo.inode_bytes, start;
	const unsigned char *body = (const unsigned char *)subject->inode;
	uint32_t magic;

	if (inode_bytes <= EXT2_GOOD_OLD_INODE_SIZE)
		return 0;
	start = EXT2_GOOD_OLD_INODE_SIZE + (size_t)large->i_extra_isize;
	if (start % 4 || start + sizeof(magic) > inode_bytes)
		return 0;
	memcpy(&magic, body + start, sizeof(magic));
	/* The inode has been swapped with all its attributes: magic and entries are the host's. */
	if (magic != EXT2_EXT_ATTR_MAGIC)
		return 0;
	start += sizeof(magic);
	return sum_entries(scan, subject->ino, body + start, inode_bytes - start, false, blocks);
}

static int sum_block(struct scan *scan, const struct subject *subject, fl_pblk block,
		     uint64_t *blocks)
{
	size_t bytes = scan->map->geo.block_bytes;
	struct ext2_ext_attr_header *header = malloc(bytes);
	int error = header ? 0 : FL_ENOMEM;

	if (!error)
		error = fl_scan_read_block(scan, subject->ino, block, header);
	/* xattrs.c checks the header. */
	if (!error && ext2fs_le32_to_cpu(header->h_magic) == EXT2_EXT_ATTR_MAGIC)
		error = sum_entries(scan, subject->ino, (const unsigned char *)(header + 1),
				    bytes - sizeof(*header), true, blocks);
	free(header);
	return error;
}

int fl_scan_ea_values(struct scan *scan, const struct subject *subject, uint64_t *blocks)
{
	fl_pblk block = ext2fs_file_acl_block(scan->ext2, subject->inode);
	uint64_t sum = 0;
	int error;

	*blocks = 0;
	if (!ext2fs_has_feature_ea_inode(scan->ext2->super))
		return 0;
	error = sum_inode(scan, subject, &sum);
	if (!error && block)
		error = sum_block(scan, subject, block, &sum);
	if (!error)
		*blocks = sum;
	return error;
}
