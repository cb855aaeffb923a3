/* SPDX-License-Identifier: MIT */
/*
 * Synthetic maps for the tests of the history, as a filesystem filled once in path order has
 * them, and the figures of a target. Header only; must not need an image.
 */
#ifndef HISTORY_LAB_H
#define HISTORY_LAB_H

#include <fraglab/blockset.h>
#include <fraglab/plan.h>

#include <stdlib.h>

struct lab_disk {
	uint64_t blocks;
	uint32_t block_bytes;
	uint32_t per_group;
	uint32_t percent_full; /* 100: not one block is left but the spare ones */
	uint64_t spare_blocks; /* never filled */
	bool indirect;
	bool scattered; /* every file in single blocks, so that it has a mapping tree */
	uint64_t seed;
	uint64_t most_blocks; /* of a file; 0: no limit */
};

struct lab_builder {
	struct fl_map *map;
	struct fl_rng rng;
	fl_pblk at; /* next block to give */
	size_t fixed_next;
};

/* Sizes in KiB with their weights: median 4 KiB, a tail of tens of MiB. */
static inline uint64_t lab_draw_bytes(struct fl_rng *rng)
{
	static const struct {
		uint32_t kib, weight;
	} sizes[] = {
		{1, 200},  {4, 330},   {8, 130},   {16, 100},  {32, 80},   {64, 60},
		{256, 55}, {1024, 25}, {4096, 13}, {16384, 5}, {40960, 2},
	};
	uint64_t at = fl_rng_below(rng, 1000);
	size_t i = 0;
	uint64_t above;

	for (; at >= sizes[i].weight; i++)
		at -= sizes[i].weight;
	above = i ? (uint64_t)sizes[i - 1].kib * 1024 : 0;
	return fl_rng_between(rng, above + 1, (uint64_t)sizes[i].kib * 1024);
}

static inline int lab_fixed(struct fl_map *map)
{
	const struct fl_geometry *geo = &map->geo;
	uint64_t tables = fl_min(geo->blocks / 64 + 2, geo->blocks_per_group / 2);

	for (uint32_t g = 0; g < geo->groups; g++) {
		struct fl_run run = {.start = fl_group_first(geo, g)};

		if (g == 0) {
			run.len = fl_min(geo->first_data_block + tables, geo->blocks);
			run.start = 0;
		} else if (g % 2) {
			run.len = fl_min(3, geo->blocks - run.start);
		}
		if (run.len && fl_array_push(&map->fixed, run))
			return FL_ENOMEM;
	}
	return 0;
}

/* The next run of at most `want` blocks, past fixed metadata. len 0: the disk is full. */
static inline struct fl_run lab_next(struct lab_builder *b, uint64_t want)
{
	const struct fl_map *map = b->map;
	uint64_t end;

	while (b->fixed_next < map->fixed.count && b->at >= map->fixed.at[b->fixed_next].start) {
		b->at = fl_max(b->at, fl_run_end(map->fixed.at[b->fixed_next]));
		b->fixed_next++;
	}
	end = b->fixed_next < map->fixed.count ? map->fixed.at[b->fixed_next].start
					       : map->geo.blocks;
	return (struct fl_run){b->at, fl_min(want, end - b->at)};
}

static inline int lab_file(struct lab_builder *b, const struct lab_disk *disk, uint64_t blocks)
{
	struct fl_map *map = b->map;
	uint32_t number = (uint32_t)map->files.count;
	struct fl_file file = {
		.ino = number + 12,
		.kind = number % 20 == 0    ? FL_KIND_DIRECTORY
			: number % 97 == 96 ? FL_KIND_SYMLINK
					    : FL_KIND_REGULAR,
		.mapping = disk->indirect ? FL_MAPPING_INDIRECT : FL_MAPPING_EXTENTS,
		.pin = number % 501 == 500 ? FL_PIN_IMMUTABLE : FL_PIN_NONE,
		.name = FL_NO_NAME,
		.path_rank = number,
		.listing_rank = number,
		.first_extent = map->extents.count,
		.first_tree = map->trees.count,
	};
	struct fl_extents list = {0};

	if (file.kind != FL_KIND_REGULAR)
		blocks = file.kind == FL_KIND_DIRECTORY ? fl_min(blocks, 1 + number % 7) : 1;
	while (file.blocks < blocks) {
		struct fl_run run = lab_next(b, disk->scattered ? 1 : blocks - file.blocks);
		/* A hole before each block keeps the extents of a scattered file apart. */
		struct fl_extent extent = {
			.pblk = run.start,
			.lblk = (fl_lblk)(file.blocks * (disk->scattered ? 2 : 1)),
			.len = (uint32_t)run.len,
		};

		if (run.len == 0)
			break;
		if (fl_extents_append(&list, file.mapping, extent))
			return FL_ENOMEM;
		b->at += run.len;
		file.blocks += run.len;
	}
	file.extent_count = list.count;
	for (size_t i = 0; i < list.count; i++)
		if (fl_array_push(&map->extents, list.at[i]))
			return FL_ENOMEM;
	file.tree_count = fl_tree_blocks(&map->geo, file.mapping, list.at, list.count);
	fl_array_free(&list);
	for (size_t i = 0; i < file.tree_count; i++) {
		struct fl_run run = lab_next(b, 1);

		/* A full disk may leave the last file without its tree: leave it out then. */
		if (run.len == 0) {
			map->extents.count = file.first_extent;
			map->trees.count = file.first_tree;
			return 0;
		}
		if (fl_array_push(&map->trees, run.start))
			return FL_ENOMEM;
		b->at++;
	}
	return file.blocks ? fl_array_push(&map->files, file) : 0;
}

static inline int lab_map(const struct lab_disk *disk, struct fl_map **map)
{
	struct fl_geometry geo = {
		.block_bytes = disk->block_bytes,
		.blocks = disk->blocks,
		.first_data_block = disk->block_bytes == 1024,
		.blocks_per_group = disk->per_group,
		.flex_groups = 16,
		.cluster_blocks = 1,
		.inodes_per_group = 2048,
		.inode_bytes = 256,
		.huge_file = true,
	};
	struct lab_builder b = {0};
	uint64_t limit =
		fl_min(disk->blocks * disk->percent_full / 100, disk->blocks - disk->spare_blocks);
	int err;

	geo.groups = (uint32_t)fl_div_up(geo.blocks - geo.first_data_block, disk->per_group);
	/* Few inodes a group would put them past the disk. */
	geo.inodes_per_group = (uint32_t)fl_max(fl_div_up(geo.blocks, geo.groups), 16);
	fl_rng_seed(&b.rng, disk->seed);
	err = fl_map_new(&geo, &b.map);
	if (!err)
		err = lab_fixed(b.map);
	while (!err && lab_next(&b, 1).len && b.at < limit) {
		uint64_t blocks = fl_div_up(lab_draw_bytes(&b.rng), disk->block_bytes);

		if (disk->most_blocks)
			blocks = fl_min(blocks, disk->most_blocks);
		if (limit < disk->blocks)
			blocks = fl_min(blocks, limit - b.at);
		err = lab_file(&b, disk, blocks);
	}
	if (!err)
		err = fl_map_finish(b.map, NULL);
	if (err)
		fl_map_free(b.map);
	else
		*map = b.map;
	return err;
}

/* What a target, or with target NULL the map itself, looks like. */
struct lab_figures {
	uint64_t files, fragments, fragmented, most_fragments, one_or_two, over_hundred;
	uint64_t free_extents, largest_free;
	uint64_t ios, sequential, seeks;
};

struct lab_view {
	const struct fl_extent *extents;
	size_t count;
	const fl_pblk *trees;
	size_t tree_count;
};

static inline struct lab_view lab_view(const struct fl_map *map, const struct fl_target *target,
				       size_t *cursor, size_t file)
{
	const struct fl_file *f = &map->files.at[file];

	if (target && *cursor < target->files.count && target->files.at[*cursor].file == file) {
		const struct fl_target_file *t = &target->files.at[(*cursor)++];

		return (struct lab_view){target->extents.at + t->first_extent, t->extent_count,
					 target->trees.at + t->first_tree, t->tree_count};
	}
	return (struct lab_view){map->extents.at + f->first_extent, f->extent_count,
				 map->trees.at + f->first_tree, f->tree_count};
}

/* Files are in path order already. Requests of at most 512 KiB, cut at fragments. */
static inline void lab_read(struct lab_figures *figures, const struct lab_view *view, uint64_t most,
			    fl_pblk *last_end)
{
	for (size_t i = 0; i < view->count;) {
		fl_pblk start = view->extents[i].pblk, end = fl_extent_pend(&view->extents[i]);

		for (i++; i < view->count && view->extents[i].pblk == end; i++)
			end = fl_extent_pend(&view->extents[i]);
		for (fl_pblk at = start; at < end; at += most) {
			figures->ios++;
			figures->sequential += at == *last_end;
			figures->seeks += at != *last_end;
			*last_end = fl_min(at + most, end);
		}
	}
}

static inline int lab_measure(const struct fl_map *map, const struct fl_target *target,
			      struct lab_figures *figures)
{
	struct fl_blockset *used;
	struct fl_run run;
	size_t cursor = 0;
	fl_pblk last_end = UINT64_MAX, pos = 0, start;
	int err = fl_blockset_new(map->geo.blocks, &used);

	*figures = (struct lab_figures){0};
	for (size_t i = 0; i < map->fixed.count && !err; i++)
		err = fl_blockset_add(used, map->fixed.at[i].start, map->fixed.at[i].len);
	for (size_t f = 0; f < map->files.count && !err; f++) {
		struct lab_view view = lab_view(map, target, &cursor, f);
		uint64_t fragments = fl_fragments(view.extents, view.count);

		for (size_t i = 0; i < view.count && !err; i++)
			err = fl_blockset_add(used, view.extents[i].pblk, view.extents[i].len);
		for (size_t i = 0; i < view.tree_count && !err; i++)
			err = fl_blockset_add(used, view.trees[i], 1);
		figures->files++;
		figures->fragments += fragments;
		figures->fragmented += fragments > 1;
		figures->one_or_two += fragments <= 2;
		figures->over_hundred += fragments > 100;
		figures->most_fragments = fl_max(figures->most_fragments, fragments);
		lab_read(figures, &view, 524288 / map->geo.block_bytes, &last_end);
	}
	while (!err && fl_blockset_find(used, pos, map->geo.blocks, false, &start)) {
		run.start = start;
		if (!fl_blockset_find(used, start, map->geo.blocks, true, &pos))
			pos = map->geo.blocks;
		figures->free_extents++;
		figures->largest_free = fl_max(figures->largest_free, pos - run.start);
	}
	fl_blockset_free(used);
	return err;
}

#endif
