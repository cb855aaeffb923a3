/* SPDX-License-Identifier: MIT */
/*
 * Maps built by hand, with names, for the unit tests of analyzers. A mistake in building fails
 * the test.
 */
#ifndef FRAGLAB_TESTS_MAP_LAB_H
#define FRAGLAB_TESTS_MAP_LAB_H

#include <fraglab/map.h>

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static inline struct fl_map *lab_map(uint32_t block_bytes, uint64_t blocks)
{
	const struct fl_geometry geo = {
		.block_bytes = block_bytes,
		.blocks = blocks,
		.first_data_block = block_bytes == 1024,
		.blocks_per_group = (uint32_t)fl_min(blocks, 8 * (uint64_t)block_bytes),
		.groups = 1,
		.flex_groups = 1,
		.cluster_blocks = 1,
		.inodes_per_group = 256,
		.inode_bytes = 256,
		.used_inodes = 100,
	};
	struct fl_map *map;

	assert_int_equal(fl_map_new(&geo, &map), 0);
	assert_int_equal(fl_array_push(&map->fixed, ((struct fl_run){0, 50})), 0);
	return map;
}

/* An entry of a directory, or (parent FL_NO_NAME) the root. Returns its index. */
static inline uint32_t lab_name(struct fl_map *map, uint32_t parent, fl_ino ino, const char *text)
{
	struct fl_name name = {ino, parent, (uint32_t)map->texts.count};

	for (size_t i = 0; i <= strlen(text); i++)
		assert_int_equal(fl_array_push(&map->texts, text[i]), 0);
	assert_int_equal(fl_array_push(&map->names, name), 0);
	return (uint32_t)map->names.count - 1;
}

static inline struct fl_file *lab_file(struct fl_map *map, fl_ino ino, enum fl_kind kind,
				       uint32_t name)
{
	struct fl_file file = {
		.ino = ino,
		.kind = (uint8_t)kind,
		.name = name,
		.path_rank = name,
		.listing_rank = name,
		.size_bytes = 1,
		.first_extent = map->extents.count,
		.first_tree = map->trees.count,
		.pin = name == FL_NO_NAME ? FL_PIN_HIDDEN : FL_PIN_NONE,
	};

	assert_int_equal(fl_array_push(&map->files, file), 0);
	return &map->files.at[map->files.count - 1];
}

/* Of the file made last. */
static inline void lab_extent(struct fl_map *map, fl_lblk lblk, fl_pblk pblk, uint32_t len)
{
	struct fl_file *file = &map->files.at[map->files.count - 1];

	assert_int_equal(fl_array_push(&map->extents, ((struct fl_extent){pblk, lblk, len, false})),
			 0);
	file->extent_count++;
	file->blocks += len;
}

static inline void lab_unwritten(struct fl_map *map, fl_lblk lblk, fl_pblk pblk, uint32_t len)
{
	lab_extent(map, lblk, pblk, len);
	map->extents.at[map->extents.count - 1].unwritten = true;
}

static inline void lab_tree(struct fl_map *map, fl_pblk block)
{
	assert_int_equal(fl_array_push(&map->trees, block), 0);
	map->files.at[map->files.count - 1].tree_count++;
}

static inline void lab_finish(struct fl_map *map)
{
	struct fl_diag diag = {{0}};

	if (fl_map_finish(map, &diag))
		fail_msg("%s", diag.text);
}

#endif
