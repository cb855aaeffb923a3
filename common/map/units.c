/* SPDX-License-Identifier: MIT */
/*
 * The map in allocation units (bigalloc's clusters), and the way back to blocks. The one place
 * that knows both; planners and the order of moves see units only.
 */
#include <fraglab/map.h>

#include <inttypes.h>
#include <stdlib.h>

/* --- from blocks to units --- */

static int damaged(struct fl_diag *diag, const struct fl_file *file, fl_lblk lblk, const char *what)
{
	return fl_fail(diag, FL_EDAMAGED,
		       "inode %u: logical block %u: %s; run e2fsck -f IMAGE first", file->ino, lblk,
		       what);
}

/* A file being turned into units; the last unit is held back, since more may be mapped in it. */
struct gatherer {
	struct fl_map *units;
	struct fl_extents list;
	struct fl_extent last;
	bool has_last;
};

static int put(struct gatherer *gatherer, enum fl_mapping mapping)
{
	if (!gatherer->has_last)
		return 0;
	gatherer->has_last = false;
	return fl_extents_append(&gatherer->list, mapping, gatherer->last);
}

static int gather(struct gatherer *gatherer, const struct fl_file *file,
		  const struct fl_extent *extent, uint32_t ratio, struct fl_diag *diag)
{
	struct fl_extent first = {extent->pblk / ratio, extent->lblk / ratio, 1, extent->unwritten};
	struct fl_extent rest = {first.pblk + 1, first.lblk + 1, 0, extent->unwritten};
	uint64_t end = (fl_extent_lend(extent) - 1) / ratio + 1;
	int error;

	if (extent->lblk % ratio != extent->pblk % ratio)
		return damaged(diag, file, extent->lblk, "not at its place in the cluster");
	if (gatherer->has_last && gatherer->last.lblk == first.lblk) {
		if (gatherer->last.pblk != first.pblk)
			return damaged(diag, file, extent->lblk, "its cluster is torn");
		gatherer->last.unwritten &= extent->unwritten;
	} else {
		error = put(gatherer, file->mapping);
		if (error)
			return error;
		gatherer->last = first;
		gatherer->has_last = true;
	}
	rest.len = (uint32_t)(end - rest.lblk);
	if (!rest.len)
		return 0;
	error = put(gatherer, file->mapping);
	if (!error && rest.len > 1) {
		rest.len--;
		error = fl_extents_append(&gatherer->list, file->mapping, rest);
		rest.pblk += rest.len;
		rest.lblk += rest.len;
		rest.len = 1;
	}
	gatherer->last = rest;
	gatherer->has_last = true;
	return error;
}

static bool is_list(const struct fl_file *file)
{
	return file->kind == FL_KIND_BAD_BLOCKS || file->kind == FL_KIND_RESIZE;
}

static int add_file(struct gatherer *gatherer, const struct fl_map *map, const struct fl_file *from,
		    struct fl_diag *diag)
{
	struct fl_map *units = gatherer->units;
	uint32_t ratio = map->geo.cluster_blocks;
	struct fl_file file = *from;
	int error = 0;

	file.first_extent = units->extents.count;
	file.first_tree = units->trees.count;
	file.blocks = 0;
	gatherer->list.count = 0;
	if (is_list(from)) {
		file.extent_count = file.tree_count = 0;
		return fl_array_push(&units->files, file);
	}
	if (from->mapping == FL_MAPPING_INDIRECT)
		return damaged(diag, from, 0, "mapped block by block in spite of bigalloc");
	for (size_t i = 0; i < from->extent_count && !error; i++)
		error = gather(gatherer, from, &map->extents.at[from->first_extent + i], ratio,
			       diag);
	if (!error)
		error = put(gatherer, file.mapping);
	if (!error)
		error = fl_array_append(&units->extents, gatherer->list.at, gatherer->list.count);
	for (size_t i = 0; i < gatherer->list.count; i++)
		file.blocks += gatherer->list.at[i].len;
	for (size_t i = 0; i < from->tree_count && !error; i++)
		error = fl_array_push(&units->trees, map->trees.at[from->first_tree + i] / ratio);
	file.extent_count = units->extents.count - file.first_extent;
	return error ? error : fl_array_push(&units->files, file);
}

static int compare_runs(const void *a, const void *b)
{
	const struct fl_run *left = a, *right = b;

	return fl_compare(left->start, right->start);
}

static int add_cluster_run(struct fl_map *units, fl_pblk start, uint64_t len, uint32_t ratio)
{
	fl_pblk end = (start + len - 1) / ratio + 1;

	start /= ratio;
	return fl_array_push(&units->fixed, ((struct fl_run){start, end - start}));
}

/* Several pieces of what stays may share a cluster. */
static void join_fixed(struct fl_runs *fixed)
{
	size_t kept = 0;

	if (!fixed->count)
		return;
	qsort(fixed->at, fixed->count, sizeof(*fixed->at), compare_runs);
	for (size_t i = 1; i < fixed->count; i++) {
		struct fl_run *last = &fixed->at[kept];

		if (fixed->at[i].start > fl_run_end(*last))
			fixed->at[++kept] = fixed->at[i];
		else
			last->len =
				fl_max(fl_run_end(fixed->at[i]), fl_run_end(*last)) - last->start;
	}
	fixed->count = kept + 1;
}

/*
 * Metadata, and the inodes that are lists of blocks rather than files (bad blocks, the resize
 * inode): their blocks lie anywhere in clusters, also several in one.
 */
static int add_fixed(const struct fl_map *map, struct fl_map *units)
{
	uint32_t ratio = map->geo.cluster_blocks;
	int error = 0;

	for (size_t i = 0; i < map->fixed.count && !error; i++)
		error = add_cluster_run(units, map->fixed.at[i].start, map->fixed.at[i].len, ratio);
	for (size_t f = 0; f < map->files.count && !error; f++) {
		const struct fl_file *file = &map->files.at[f];

		if (!is_list(file))
			continue;
		for (size_t i = 0; i < file->extent_count && !error; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			error = add_cluster_run(units, e->pblk, e->len, ratio);
		}
		for (size_t i = 0; i < file->tree_count && !error; i++)
			error = add_cluster_run(units, map->trees.at[file->first_tree + i], 1,
						ratio);
	}
	if (!error)
		join_fixed(&units->fixed);
	return error;
}

int fl_map_units(const struct fl_map *map, struct fl_map **units, struct fl_diag *diag)
{
	struct fl_geometry geo = map->geo;
	struct gatherer gatherer = {0};
	int error;

	geo.block_bytes *= map->geo.cluster_blocks;
	geo.blocks /= map->geo.cluster_blocks;
	geo.first_data_block /= map->geo.cluster_blocks;
	geo.blocks_per_group /= map->geo.cluster_blocks;
	geo.cluster_blocks = 1;
	error = fl_map_derive(map, &geo, &gatherer.units);
	if (error)
		return error;
	gatherer.units->blocks = map;
	error = add_fixed(map, gatherer.units);
	for (size_t f = 0; f < map->files.count && !error; f++)
		error = add_file(&gatherer, map, &map->files.at[f], diag);
	if (!error)
		error = fl_map_finish(gatherer.units, diag);
	fl_array_free(&gatherer.list);
	if (error)
		fl_map_free(gatherer.units);
	else
		*units = gatherer.units;
	return error;
}

/* --- from units to blocks --- */

/* Lays the blocks of a file into the units that it is to have. */
struct layer {
	const struct fl_extent *part, *part_end; /* in blocks, as they are now */
	uint32_t done;				 /* blocks of *part */
	const struct fl_extent *unit, *unit_end;
	uint32_t ratio;
	enum fl_mapping mapping;
};

static struct layer layer_new(const struct fl_map *units, uint32_t index,
			      const struct fl_extent *extents, size_t count)
{
	const struct fl_file *file = &units->blocks->files.at[index];
	const struct fl_extent *parts = fl_array_from(&units->blocks->extents, file->first_extent);

	return (struct layer){.part = parts,
			      .part_end = parts + file->extent_count,
			      .unit = extents,
			      .unit_end = extents + count,
			      .ratio = units->blocks->geo.cluster_blocks,
			      .mapping = file->mapping};
}

/* The next piece in logical order; false at the end. A block without a unit ends it too. */
static bool layer_next(struct layer *layer, struct fl_extent *piece)
{
	uint64_t lblk, unit, room;

	if (layer->part == layer->part_end)
		return false;
	*piece = *layer->part;
	lblk = (uint64_t)piece->lblk + layer->done;
	unit = lblk / layer->ratio;
	while (layer->unit < layer->unit_end && fl_extent_lend(layer->unit) <= unit)
		layer->unit++;
	if (layer->unit == layer->unit_end || layer->unit->lblk > unit)
		return false;
	room = fl_extent_lend(layer->unit) * layer->ratio - lblk;
	piece->lblk = (fl_lblk)lblk;
	piece->pblk = (layer->unit->pblk + (unit - layer->unit->lblk)) * layer->ratio +
		      lblk % layer->ratio;
	piece->len = (uint32_t)fl_min(piece->len - layer->done, room);
	layer->done += piece->len;
	if (layer->done == layer->part->len) {
		layer->part++;
		layer->done = 0;
	}
	return true;
}

int fl_units_expand(const struct fl_map *units, uint32_t file, const struct fl_extent *extents,
		    size_t count, struct fl_extents *blocks)
{
	struct layer layer = layer_new(units, file, extents, count);
	struct fl_extent piece;

	while (layer_next(&layer, &piece))
		if (fl_extents_append(blocks, layer.mapping, piece))
			return FL_ENOMEM;
	return layer.part == layer.part_end ? 0 : FL_EPLAN;
}

int fl_map_tree_blocks(const struct fl_map *map, uint32_t file, const struct fl_extent *extents,
		       size_t count, uint64_t *blocks)
{
	enum fl_mapping mapping = map->files.at[file].mapping;
	struct fl_extents expanded = {0};
	int error;

	if (!map->blocks) {
		*blocks = fl_tree_blocks(&map->geo, mapping, extents, count);
		return 0;
	}
	if (map->files.at[file].kind == FL_KIND_XATTR) {
		*blocks = 0;
		return 0;
	}
	error = fl_units_expand(map, file, extents, count, &expanded);
	if (!error)
		*blocks = fl_tree_blocks(&map->blocks->geo, mapping, expanded.at, expanded.count);
	fl_array_free(&expanded);
	return error;
}

/* A file whose mapping nobody has touched keeps it as it is stored. */
static int copy_mapping(const struct fl_map *from, const struct fl_file *file, struct fl_map *to)
{
	int error = fl_array_append(&to->extents, fl_array_from(&from->extents, file->first_extent),
				    file->extent_count);

	return error ? error
		     : fl_array_append(&to->trees, fl_array_from(&from->trees, file->first_tree),
				       file->tree_count);
}

static int expand_mapping(const struct fl_map *units, uint32_t index, struct fl_map *to)
{
	const struct fl_file *file = &units->files.at[index];
	struct fl_extents expanded = {0};
	int error =
		fl_units_expand(units, index, fl_array_from(&units->extents, file->first_extent),
				file->extent_count, &expanded);

	if (!error)
		error = fl_array_append(&to->extents, expanded.at, expanded.count);
	for (size_t i = 0; i < file->tree_count && !error; i++)
		error = fl_array_push(&to->trees, units->trees.at[file->first_tree + i] *
							  units->blocks->geo.cluster_blocks);
	fl_array_free(&expanded);
	return error;
}

static int restore_file(const void *context, uint32_t index, struct fl_map *to)
{
	const struct fl_map *units = context;
	struct fl_file file = units->blocks->files.at[index];
	int error;

	file.first_extent = to->extents.count;
	file.first_tree = to->trees.count;
	error = units->files.at[index].rebuilt
			? expand_mapping(units, index, to)
			: copy_mapping(units->blocks, &units->blocks->files.at[index], to);
	file.extent_count = to->extents.count - file.first_extent;
	file.tree_count = to->trees.count - file.first_tree;
	return error ? error : fl_array_push(&to->files, file);
}

int fl_units_to_blocks(const struct fl_map *units, struct fl_map **blocks, struct fl_diag *diag)
{
	return fl_map_rebuild(units->blocks, restore_file, units, blocks, diag);
}

int fl_map_into_blocks(struct fl_map **map, struct fl_diag *diag)
{
	struct fl_map *units = *map;
	int error;

	if (!units->blocks)
		return 0;
	*map = NULL;
	error = fl_units_to_blocks(units, map, diag);
	fl_map_free(units);
	return error;
}
