/* SPDX-License-Identifier: MIT */
/*
 * Looks at an aged layout: what its files are, which would be fragmented first, where there is
 * room. Must not change it.
 */
#include "frag/base.h"

#include <stdlib.h>

uint64_t frag_portion(uint64_t number, uint64_t part, uint64_t whole)
{
	while (whole > UINT32_MAX) {
		whole >>= 1;
		part >>= 1;
	}
	return number / whole * part + number % whole * part / whole;
}

static uint32_t root_of(uint64_t number)
{
	uint64_t root = 0;

	for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
		if ((root + bit) * (root + bit) <= number)
			root += bit;
	return (uint32_t)root;
}

/* All slots, without the files that stay. */
static int find_space(struct frag_base *base, struct fl_blockset *room)
{
	const struct fl_map *map = base->map;
	size_t next = 0;
	int err = fl_map_slots(map, &base->space);

	for (size_t i = 0; i < base->space.count && !err; i++)
		err = fl_blockset_add(room, base->space.at[i].start, base->space.at[i].len);
	for (uint32_t f = 0; f < map->files.count && !err; f++) {
		const struct fl_file *file = &map->files.at[f];

		if (next < base->aged.files.count && base->aged.files.at[next].file == f) {
			next++;
			continue;
		}
		for (size_t i = 0; i < file->extent_count && !err; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			err = fl_blockset_remove(room, e->pblk, e->len);
		}
		for (size_t i = 0; i < file->tree_count && !err; i++)
			err = fl_blockset_remove(room, map->trees.at[file->first_tree + i], 1);
	}
	return err;
}

static int list_runs(const struct fl_blockset *set, struct fl_runs *runs)
{
	struct fl_run run;

	runs->count = 0;
	for (uint64_t pos = 0; fl_blockset_next_run(set, pos, fl_blockset_size(set), &run);
	     pos = fl_run_end(run))
		if (fl_array_push(runs, run))
			return FL_ENOMEM;
	return 0;
}

static int find_holes(struct frag_base *base)
{
	const struct fl_target *aged = &base->aged;
	struct fl_blockset *room;
	int err = fl_blockset_new(base->map->geo.blocks, &room);

	if (err)
		return err;
	err = find_space(base, room);
	if (!err)
		err = list_runs(room, &base->space);
	base->space_blocks = fl_blockset_count(room);
	for (size_t i = 0; i < aged->extents.count && !err; i++)
		err = fl_blockset_remove(room, aged->extents.at[i].pblk, aged->extents.at[i].len);
	for (size_t i = 0; i < aged->trees.count && !err; i++)
		err = fl_blockset_remove(room, aged->trees.at[i], 1);
	if (!err)
		err = list_runs(room, &base->holes);
	base->free_blocks = fl_blockset_count(room);
	fl_blockset_free(room);
	return err;
}

static void add_to(struct frag_base_sum *sum, uint64_t blocks, uint64_t fragments)
{
	sum->files++;
	sum->blocks += blocks;
	sum->fragmented += fragments > 1;
	sum->extra += fragments - 1;
}

/* As the metrics count it, in blocks, also when the map counts clusters. */
static uint64_t blocks_of(const struct fl_map *map, uint32_t number)
{
	return map->blocks ? map->blocks->files.at[number].blocks : map->files.at[number].blocks;
}

/* Forced ones first, then those that the history has left in pieces, then large ones by draw. */
static uint32_t propensity_of(const struct frag_base_file *file)
{
	uint32_t chance = file->draw * (UINT32_MAX >> 18) / (root_of(file->blocks) + 1);

	if (file->least > 1)
		return 0;
	return file->fragments > 1 ? 1 + (chance >> 8) : 1 + (UINT32_MAX >> 10) + chance;
}

static void look_at_file(struct frag_base *base, size_t f, uint64_t seed)
{
	const struct fl_target_file *item = &base->aged.files.at[f];
	const struct fl_file *source = &base->map->files.at[item->file];
	struct frag_base_file *file = &base->files[f];
	struct fl_rng rng;

	fl_rng_seed(&rng, seed ^ ((uint64_t)source->ino * 0x9E3779B97F4A7C15u) ^ source->kind);
	file->blocks = source->blocks;
	file->bytes = blocks_of(base->map, item->file) *
		      (base->map->blocks ? base->map->blocks->geo.block_bytes
					 : base->map->geo.block_bytes);
	file->fragments = (uint32_t)fl_fragments(
		fl_array_from(&base->aged.extents, item->first_extent), item->extent_count);
	file->least = (uint32_t)fl_fragments_forced(source->blocks, base->by_length.at,
						    base->by_length.count);
	file->draw = (uint32_t)fl_rng_below(&rng, FRAG_DRAW_ONE);
	file->propensity = propensity_of(file);
	file->counted = fl_file_counted(source);
	base->data_blocks += file->blocks;
	if (file->counted)
		add_to(&base->moved, blocks_of(base->map, item->file), file->fragments);
}

static int look_at_files(struct frag_base *base, uint64_t seed)
{
	const struct fl_map *map = base->map;
	size_t next = 0;
	int err = fl_array_append(&base->by_length, base->space.at, base->space.count);

	fl_runs_longest_first(&base->by_length);
	base->longest_space = base->by_length.count ? base->by_length.at[0].len : 0;
	for (uint32_t i = 0; i < map->files.count && !err; i++) {
		if (next < base->aged.files.count && base->aged.files.at[next].file == i)
			look_at_file(base, next++, seed);
		else if (fl_file_counted(&map->files.at[i]))
			add_to(&base->still, blocks_of(map, i),
			       fl_file_fragments(map, &map->files.at[i]));
	}
	return err;
}

/* --- orders; the context of each comparison: struct frag_base --- */

static int compare_likely(const void *a, const void *b, void *context)
{
	const struct frag_base *base = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = fl_compare(base->files[left].propensity, base->files[right].propensity);

	return order ? order : fl_compare(left, right);
}

static int compare_largest(const void *a, const void *b, void *context)
{
	const struct frag_base *base = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = fl_compare(base->files[right].blocks, base->files[left].blocks);

	return order ? order : fl_compare(left, right);
}

static int compare_paths(const void *a, const void *b, void *context)
{
	const struct frag_base *base = context;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	/* FL_NO_NAME is the last. */
	int order = fl_compare(base->map->files.at[base->aged.files.at[left].file].path_rank,
			       base->map->files.at[base->aged.files.at[right].file].path_rank);

	return order ? order : fl_compare(left, right);
}

static int sort_files(struct frag_base *base, bool in_inode_order)
{
	const size_t count = base->aged.files.count;
	uint32_t *order = fl_alloc(fl_max(count, 1), sizeof(*order));
	uint64_t before = 0;

	base->likely = fl_alloc(fl_max(count, 1), sizeof(*base->likely));
	base->largest = fl_alloc(fl_max(count, 1), sizeof(*base->largest));
	if (!order || !base->likely || !base->largest) {
		free(order);
		return FL_ENOMEM;
	}
	for (uint32_t f = 0; f < count; f++) {
		order[f] = f;
		if (!base->files[f].counted || base->files[f].blocks < 2)
			continue;
		base->likely[base->breakable] = base->largest[base->breakable] = f;
		base->breakable++;
		base->forced += base->files[f].least > 1;
	}
	qsort_r(base->likely, base->breakable, sizeof(*base->likely), compare_likely, base);
	qsort_r(base->largest, base->breakable, sizeof(*base->largest), compare_largest, base);
	if (!in_inode_order)
		qsort_r(order, count, sizeof(*order), compare_paths, base);
	for (size_t i = 0; i < count; i++) {
		base->files[order[i]].path_at =
			frag_portion(base->map->geo.blocks, before, base->data_blocks);
		before += base->files[order[i]].blocks;
	}
	free(order);
	return 0;
}

int frag_base_new(struct frag_base *base, const struct fl_map *map, struct fl_target *aged,
		  uint64_t seed, bool in_inode_order)
{
	int err;

	*base = (struct frag_base){.map = map, .aged = *aged};
	*aged = (struct fl_target){0};
	base->files = calloc((size_t)fl_max(base->aged.files.count, 1), sizeof(*base->files));
	err = base->files ? find_holes(base) : FL_ENOMEM;
	if (!err)
		err = look_at_files(base, seed);
	return err ? err : sort_files(base, in_inode_order);
}

void frag_base_free(struct frag_base *base)
{
	fl_target_free(&base->aged);
	fl_array_free(&base->space);
	fl_array_free(&base->by_length);
	fl_array_free(&base->holes);
	free(base->files);
	free(base->likely);
	free(base->largest);
	*base = (struct frag_base){0};
}

uint64_t frag_base_least_extra(const struct frag_base *base, uint64_t fragmented)
{
	uint64_t extra = fragmented > base->forced ? fragmented - base->forced : 0;

	for (size_t i = 0; i < base->forced && i < fragmented; i++)
		extra += base->files[base->largest[i]].least - 1;
	return extra;
}

uint64_t frag_base_most_extra(const struct frag_base *base, uint64_t fragmented)
{
	uint64_t extra = 0;

	for (size_t i = 0; i < fragmented && i < base->breakable; i++)
		extra += base->files[base->largest[i]].blocks - 1;
	return extra;
}
