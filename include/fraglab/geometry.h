/* SPDX-License-Identifier: MIT */
/*
 * The shape of a filesystem as plain numbers, so that planners, simulators and
 * analyzers need no image. Filled by fs, read by everybody.
 */
#ifndef FRAGLAB_GEOMETRY_H
#define FRAGLAB_GEOMETRY_H

#include <fraglab/types.h>

struct fl_geometry {
	uint32_t block_bytes;	  /* 1024 .. 65536 */
	uint64_t blocks;	  /* s_blocks_count: block numbers are below this */
	fl_pblk first_data_block; /* 1 with 1 KiB blocks, else 0 */
	uint32_t blocks_per_group;
	uint32_t groups;
	uint32_t flex_groups;	 /* block groups a flex group; 1 without flex_bg */
	uint32_t cluster_blocks; /* blocks an allocation unit; 1 without bigalloc */
	uint32_t inodes_per_group;
	uint32_t inode_bytes;
	uint32_t used_inodes; /* by the superblock; nothing here makes or deletes any */
	bool huge_file;	      /* RO_COMPAT_HUGE_FILE: i_blocks has 48 bits */
};

/* The group of a block; block >= first_data_block. */
static inline uint32_t fl_group_of(const struct fl_geometry *geo, fl_pblk block)
{
	return (uint32_t)((block - geo->first_data_block) / geo->blocks_per_group);
}

static inline fl_pblk fl_group_first(const struct fl_geometry *geo, uint32_t group)
{
	return geo->first_data_block + (uint64_t)group * geo->blocks_per_group;
}

/* One past the last block of a group (the last group may be partial). */
static inline fl_pblk fl_group_end(const struct fl_geometry *geo, uint32_t group)
{
	fl_pblk end = fl_group_first(geo, group) + geo->blocks_per_group;

	return end < geo->blocks ? end : geo->blocks;
}

static inline uint32_t fl_group_of_inode(const struct fl_geometry *geo, fl_ino ino)
{
	return (ino - 1) / geo->inodes_per_group;
}

static inline fl_lbn fl_lbn_of(const struct fl_geometry *geo, fl_pblk block)
{
	return block * (geo->block_bytes / FL_SECTOR_BYTES);
}

#endif
