/* SPDX-License-Identifier: MIT */
/*
 * For fuzz targets: what must hold, and maps built by hand.
 */
#ifndef FRAGLAB_FUZZ_LAB_H
#define FRAGLAB_FUZZ_LAB_H

#include <fraglab/map.h>

#include <stdlib.h>
#include <string.h>

static inline void check(bool good)
{
	if (!good)
		abort();
}

/* An entry of a directory; parent FL_NO_NAME: the root. */
static inline void lab_name(struct fl_map *map, uint32_t parent, fl_ino ino, const char *text)
{
	struct fl_name name = {ino, parent, (uint32_t)map->texts.count};

	for (size_t i = 0; i <= strlen(text); i++)
		check(!fl_array_push(&map->texts, text[i]));
	check(!fl_array_push(&map->names, name));
}

/* An empty map of 1 KiB blocks. */
static inline struct fl_map *lab_map(uint64_t blocks, uint32_t blocks_per_group)
{
	const struct fl_geometry geo = {
		.block_bytes = 1024,
		.blocks = blocks,
		.first_data_block = 1,
		.blocks_per_group = blocks_per_group,
		.groups = (uint32_t)fl_div_up(blocks - 1, blocks_per_group),
		.flex_groups = 1,
		.cluster_blocks = 1,
		.inodes_per_group = 64,
		.inode_bytes = 256,
	};
	struct fl_map *map;

	check(!fl_map_new(&geo, &map));
	return map;
}

#endif
