/* SPDX-License-Identifier: MIT */
/*
 * What e4defrag, e2fsck, e2freefrag and filefrag would say, by the rules of those tools.
 * Computes; whether such a score is worth anything is for the reader.
 */
#include "parts.h"

#include <fraglab/legacy.h>
#include <stdio.h>
#include <string.h>

#define DIRECT_BLOCKS 12u

static const struct fl_extent *extents_of(const struct fl_map *map, const struct fl_file *file)
{
	return file->extent_count ? map->extents.at + file->first_extent : NULL;
}

/* --- e4defrag --- */

/*
 * Extents as FIEMAP has them: what the disk's format had to cut, the kernel's cache of extents
 * joins again, but never written with unwritten blocks.
 */
static uint64_t fiemap_extents(const struct fl_extent *extents, size_t count)
{
	uint64_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (!i || extents[i].unwritten != extents[i - 1].unwritten ||
		    extents[i].lblk != fl_extent_lend(&extents[i - 1]) ||
		    extents[i].pblk != fl_extent_pend(&extents[i - 1]))
			found++;
	return found;
}

/* Runs: the same, but whatever their state is. Their excess orders e4defrag's list. */
static uint64_t physical_runs(const struct fl_extent *extents, size_t count)
{
	uint64_t found = 0;

	for (size_t i = 0; i < count; i++)
		if (!i || extents[i].lblk != fl_extent_lend(&extents[i - 1]) ||
		    extents[i].pblk != fl_extent_pend(&extents[i - 1]))
			found++;
	return found;
}

static uint64_t best_extents(const struct fl_geometry *geo, uint64_t blocks)
{
	return (blocks - 1) / ((uint64_t)geo->blocks_per_group * geo->flex_groups) + 1;
}

/* In single precision, as there: the last digit shown depends on it. */
static float excess(uint64_t runs, uint64_t best, uint64_t blocks)
{
	return (float)((int64_t)runs - (int64_t)best) * 100 / (float)blocks;
}

static double score_of(float ratio)
{
	return (double)(ratio > 10 ? 80 + 20 * ratio / 100 : 8 * ratio);
}

void fl_legacy_e4defrag(const struct fl_map *map, const struct fl_file *file,
			struct fl_legacy_file *view)
{
	*view = (struct fl_legacy_file){.ino = file->ino, .blocks = file->blocks};
	if (!file->blocks)
		return;
	view->extents = fiemap_extents(extents_of(map, file), file->extent_count);
	view->best = best_extents(&map->geo, file->blocks);
	view->score = score_of(excess(view->extents, view->best, view->blocks));
}

/* The file's path begins with this entry of the root. */
static bool begins_with(const struct fl_map *map, uint32_t name, const char *folder)
{
	uint32_t parent = name < map->names.count ? map->names.at[name].parent : FL_NO_NAME;

	if (parent == FL_NO_NAME)
		return false;
	while (map->names.at[parent].parent != FL_NO_NAME) {
		name = parent;
		parent = map->names.at[parent].parent;
	}
	return !strcmp(map->texts.at + map->names.at[name].text, folder);
}

static bool is_named_file(const struct fl_file *file)
{
	return file->kind == FL_KIND_REGULAR && file->name != FL_NO_NAME;
}

/* The worst first; of equals the one that was seen last, as there. */
static void note_worst(struct fl_legacy_metrics *metrics, float ratios[FL_LEGACY_WORST],
		       const struct fl_legacy_file *view, float ratio)
{
	struct fl_legacy_file *worst = metrics->e4defrag.worst;
	size_t at = 0, count = metrics->e4defrag.worst_count;

	while (at < count && ratio < ratios[at])
		at++;
	if (at == FL_LEGACY_WORST)
		return;
	if (count < FL_LEGACY_WORST)
		metrics->e4defrag.worst_count = ++count;
	memmove(&worst[at + 1], &worst[at], (count - at - 1) * sizeof(*worst));
	memmove(&ratios[at + 1], &ratios[at], (count - at - 1) * sizeof(*ratios));
	worst[at] = *view;
	ratios[at] = ratio;
}

static void sum_e4defrag(const struct fl_map *map, struct fl_legacy_metrics *metrics)
{
	float ratios[FL_LEGACY_WORST];

	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];
		uint64_t links = file->links ? file->links : 1;
		struct fl_legacy_file view;

		if (!is_named_file(file) || !file->size_bytes || !file->blocks ||
		    begins_with(map, file->name, "lost+found"))
			continue;
		fl_legacy_e4defrag(map, file, &view);
		metrics->e4defrag.files += links;
		metrics->e4defrag.extents += links * view.extents;
		metrics->e4defrag.best += links * view.best;
		metrics->e4defrag.blocks += links * view.blocks;
		note_worst(metrics, ratios, &view,
			   excess(physical_runs(extents_of(map, file), file->extent_count),
				  view.best, view.blocks));
	}
	if (metrics->e4defrag.blocks)
		metrics->e4defrag.score =
			score_of(excess(metrics->e4defrag.extents, metrics->e4defrag.best,
					metrics->e4defrag.blocks));
	for (size_t i = 0; i < metrics->e4defrag.worst_count; i++) {
		struct fl_legacy_file *view = &metrics->e4defrag.worst[i];
		char buffer[FL_LEGACY_PATH];
		uint32_t name;
		size_t file;

		if (!fl_map_find(map, view->ino, &file))
			continue;
		name = map->files.at[file].name;
		if (name < map->names.count)
			snprintf(view->path, sizeof(view->path), "%s",
				 fl_map_path(map, name, true, buffer, sizeof(buffer)));
	}
}

/* --- e2fsck --- */

/* A walk over an inode's blocks in the order in which e2fsck meets them. */
struct walk {
	const struct fl_map *map;
	const struct fl_file *file;
	size_t extent; /* the first that may reach into what comes next */
	size_t tree;   /* the next indirect block */
	uint64_t per;  /* pointers of an indirect block */
	fl_pblk next;  /* the block that would go on; 0: none yet */
	bool scattered;
};

static void visit(struct walk *walk, fl_pblk start, uint64_t len)
{
	walk->scattered |= walk->next && walk->next != start;
	walk->next = start + len;
}

/* The data blocks mapped in first .. end - 1. */
static void visit_data(struct walk *walk, uint64_t first, uint64_t end)
{
	const struct fl_extent *extents = extents_of(walk->map, walk->file);

	for (; walk->extent < walk->file->extent_count; walk->extent++) {
		const struct fl_extent *extent = &extents[walk->extent];
		uint64_t low = fl_max(extent->lblk, first);
		uint64_t high = fl_min(fl_extent_lend(extent), end);

		if (low < high)
			visit(walk, extent->pblk + (low - extent->lblk), high - low);
		if (fl_extent_lend(extent) > end)
			return; /* goes on behind the next indirect block */
	}
}

static bool any_mapped(struct walk *walk, uint64_t first, uint64_t end)
{
	const struct fl_extent *extents = extents_of(walk->map, walk->file);

	while (walk->extent < walk->file->extent_count &&
	       fl_extent_lend(&extents[walk->extent]) <= first)
		walk->extent++;
	return walk->extent < walk->file->extent_count && extents[walk->extent].lblk < end;
}

/* What an indirect block of this height (0: none, the inode's own pointers) maps. */
static void visit_subtree(struct walk *walk, unsigned int height, uint64_t first, uint64_t span)
{
	if (walk->scattered || !any_mapped(walk, first, first + span))
		return;
	if (height && walk->tree < walk->file->tree_count)
		visit(walk, walk->map->trees.at[walk->file->first_tree + walk->tree++], 1);
	if (height < 2) {
		visit_data(walk, first, first + span);
		return;
	}
	span /= walk->per;
	for (uint64_t i = 0; i < walk->per; i++)
		visit_subtree(walk, height - 1, first + i * span, span);
}

static void visit_indirect(struct walk *walk)
{
	uint64_t first = DIRECT_BLOCKS, span = 1;

	visit_subtree(walk, 0, 0, DIRECT_BLOCKS);
	for (unsigned int height = 1; height <= 3; height++) {
		span *= walk->per;
		visit_subtree(walk, height, first, span);
		first += span;
	}
}

static bool has_xattr_block(const struct fl_map *map, fl_ino ino)
{
	for (size_t i = 0; i < map->owners.count; i++)
		if (map->owners.at[i] == ino)
			return true;
	return false;
}

bool fl_legacy_scattered(const struct fl_map *map, const struct fl_file *file)
{
	uint64_t blocks = file->blocks / map->geo.cluster_blocks + file->tree_count;
	struct walk walk = {.map = map, .file = file, .per = map->geo.block_bytes / 4};

	if (file->kind == FL_KIND_RESIZE || file->kind == FL_KIND_BAD_BLOCKS ||
	    file->kind == FL_KIND_XATTR || blocks >= map->geo.blocks_per_group)
		return false;
	if (file->mapping == FL_MAPPING_INDIRECT)
		visit_indirect(&walk);
	else /* nodes of an extent tree are not looked at */
		visit_data(&walk, 0, UINT64_MAX);
	if (!walk.scattered)
		return false;
	/* Its block of attributes counts too, which only matters at the very limit. */
	return blocks + 1 < map->geo.blocks_per_group || !has_xattr_block(map, file->ino);
}

static void sum_e2fsck(const struct fl_map *map, struct fl_legacy_metrics *metrics)
{
	uint64_t tenths;

	for (size_t i = 0; i < map->inode_count; i++) {
		const struct fl_file *file = &map->files.at[i];

		if (!fl_legacy_scattered(map, file))
			continue;
		if (file->kind == FL_KIND_DIRECTORY)
			metrics->e2fsck.directories++;
		else
			metrics->e2fsck.files++;
	}
	if (!map->geo.used_inodes)
		return;
	tenths = (10000 * (metrics->e2fsck.files + metrics->e2fsck.directories) /
			  map->geo.used_inodes +
		  5) /
		 10;
	metrics->e2fsck.percent = (double)tenths / 10.0;
}

/* --- the rest --- */

uint64_t fl_legacy_filefrag(const struct fl_map *map, const struct fl_file *file)
{
	const struct fl_extent *extents = extents_of(map, file);
	uint64_t found = 0;

	for (size_t i = 0; i < file->extent_count; i++) {
		const struct fl_extent *last = i ? &extents[i - 1] : NULL;
		uint64_t gap = last ? extents[i].lblk - fl_extent_lend(last) : 0;

		if (!last || (extents[i].pblk != fl_extent_pend(last) &&
			      extents[i].pblk != fl_extent_pend(last) + gap))
			found++;
	}
	return found;
}

static void sum_e2freefrag(const struct fl_map *map, struct fl_legacy_metrics *metrics)
{
	uint64_t block_bytes = map->geo.block_bytes, least = UINT64_MAX, most = 0;

	if (!map->free.count)
		return;
	for (size_t i = 0; i < map->free.count; i++) {
		least = fl_min(least, map->free.at[i].len);
		most = fl_max(most, map->free.at[i].len);
	}
	metrics->e2freefrag.min_kib = least * block_bytes / 1024;
	metrics->e2freefrag.max_kib = most * block_bytes / 1024;
	metrics->e2freefrag.mean_kib = map->free_blocks / map->free.count * block_bytes / 1024;
}

void fl_legacy(const struct fl_map *map, struct fl_legacy_metrics *metrics)
{
	memset(metrics, 0, sizeof(*metrics));
	sum_e4defrag(map, metrics);
	sum_e2fsck(map, metrics);
	sum_e2freefrag(map, metrics);
	for (size_t i = 0; i < map->inode_count; i++) {
		const struct fl_file *file = &map->files.at[i];

		if (!is_named_file(file))
			continue;
		metrics->filefrag.files++;
		metrics->filefrag.extents += fl_legacy_filefrag(map, file);
	}
}
