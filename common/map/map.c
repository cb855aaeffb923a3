/* SPDX-License-Identifier: MIT */
/*
 * A map's life: made, finished (checked, free space derived), freed; lookups in it.
 * Must not know where the runs came from.
 */
#include <fraglab/blockset.h>
#include <fraglab/map.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fl_map_new(const struct fl_geometry *geo, struct fl_map **map)
{
	struct fl_map *made = calloc(1, sizeof(*made));

	if (!made)
		return FL_ENOMEM;
	made->geo = *geo;
	*map = made;
	return 0;
}

int fl_map_derive(const struct fl_map *from, const struct fl_geometry *geo, struct fl_map **map)
{
	struct fl_map *made;
	int error = fl_map_new(geo ? geo : &from->geo, &made);

	if (error)
		return error;
	error = fl_array_append(&made->names, from->names.at, from->names.count);
	if (!error)
		error = fl_array_append(&made->texts, from->texts.at, from->texts.count);
	if (!error)
		error = fl_array_append(&made->owners, from->owners.at, from->owners.count);
	if (!error && !geo) {
		made->blocks = from->blocks;
		error = fl_array_append(&made->fixed, from->fixed.at, from->fixed.count);
		if (!error)
			error = fl_array_append(&made->groups, from->groups.at, from->groups.count);
	}
	if (error)
		fl_map_free(made);
	else
		*map = made;
	return error;
}

void fl_map_free(struct fl_map *map)
{
	if (!map)
		return;
	fl_array_free(&map->files);
	fl_array_free(&map->extents);
	fl_array_free(&map->trees);
	fl_array_free(&map->fixed);
	fl_array_free(&map->groups);
	fl_array_free(&map->owners);
	fl_array_free(&map->free);
	fl_array_free(&map->names);
	fl_array_free(&map->texts);
	fl_array_free(&map->boot);
	free(map);
}

/* How a file is called in messages, by its ino. */
static const char *name_format(const struct fl_file *file)
{
	return file->kind == FL_KIND_XATTR ? "the xattr block of inode %u" : "inode %u";
}

/* What owns a block, for messages. */
static void describe_owner(const struct fl_map *map, fl_pblk block, size_t files, char *text,
			   size_t size)
{
	for (size_t i = 0; i < map->fixed.count; i++)
		if (block - map->fixed.at[i].start < map->fixed.at[i].len) {
			snprintf(text, size, "filesystem metadata");
			return;
		}
	for (size_t f = 0; f < files; f++) {
		const struct fl_file *file = &map->files.at[f];
		bool mine = false;

		for (size_t i = 0; i < file->extent_count && !mine; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			mine = block >= e->pblk && block - e->pblk < e->len;
		}
		for (size_t i = 0; i < file->tree_count && !mine; i++)
			mine = map->trees.at[file->first_tree + i] == block;
		if (mine) {
			snprintf(text, size, name_format(file), file->ino);
			return;
		}
	}
	snprintf(text, size, "the same owner");
}

struct claims {
	const struct fl_map *map;
	struct fl_blockset *owned;
	struct fl_diag *diag;
	size_t files;  /* files claimed so far */
	char what[40]; /* the claimant, for messages */
};

static int claim(struct claims *claims, fl_pblk start, uint64_t len)
{
	const struct fl_geometry *geo = &claims->map->geo;
	fl_pblk block;
	char owner[64];

	if (!len || start >= geo->blocks || len > geo->blocks - start)
		return fl_fail(claims->diag, FL_EDAMAGED,
			       "%s uses blocks %" PRIu64 "+%" PRIu64
			       " outside the filesystem; run e2fsck -f on it first",
			       claims->what, start, len);
	if (fl_blockset_find(claims->owned, start, start + len, true, &block)) {
		describe_owner(claims->map, block, claims->files, owner, sizeof(owner));
		return fl_fail(claims->diag, FL_EDAMAGED,
			       "block %" PRIu64
			       " is used by %s and by %s; run e2fsck -f on it first",
			       block, claims->what, owner);
	}
	return fl_blockset_add(claims->owned, start, len);
}

static int claim_runs(struct claims *claims, const char *what, const struct fl_run *runs,
		      size_t count)
{
	int error = 0;

	snprintf(claims->what, sizeof(claims->what), "%s", what);
	for (size_t i = 0; i < count && !error; i++)
		error = claim(claims, runs[i].start, runs[i].len);
	return error;
}

static int claim_file(struct claims *claims, const struct fl_file *file)
{
	const struct fl_map *map = claims->map;
	const struct fl_extent *extents = fl_array_from(&map->extents, file->first_extent);
	uint64_t blocks = 0;
	int error;

	snprintf(claims->what, sizeof(claims->what), name_format(file), file->ino);
	for (size_t i = 0; i < file->extent_count; i++) {
		error = claim(claims, extents[i].pblk, extents[i].len);
		if (error)
			return error;
		if (fl_extent_lend(&extents[i]) > (uint64_t)FL_LBLK_MAX + 1 ||
		    (i && extents[i].lblk < fl_extent_lend(&extents[i - 1])))
			return fl_fail(claims->diag, FL_EDAMAGED,
				       "inode %u maps its logical block %u twice or out of range; "
				       "run e2fsck -f on it first",
				       file->ino, extents[i].lblk);
		blocks += extents[i].len;
	}
	if (blocks != file->blocks)
		return fl_fail(claims->diag, FL_EDAMAGED,
			       "inode %u: its extents hold %" PRIu64 " blocks, not %" PRIu64,
			       file->ino, blocks, file->blocks);
	for (size_t i = 0; i < file->tree_count; i++) {
		error = claim(claims, map->trees.at[file->first_tree + i], 1);
		if (error)
			return error;
	}
	return 0;
}

/* Free is what nobody owns, in whole clusters. */
static int derive_free(struct fl_map *map, const struct fl_blockset *owned)
{
	uint64_t pos = 0, start, ratio = map->geo.cluster_blocks;

	map->free.count = 0;
	map->free_blocks = 0;
	while (fl_blockset_find(owned, pos, map->geo.blocks, false, &start)) {
		struct fl_run run = {.start = start};

		if (!fl_blockset_find(owned, start, map->geo.blocks, true, &pos))
			pos = map->geo.blocks;
		run.start = fl_div_up(start, ratio) * ratio;
		if (pos / ratio * ratio <= run.start)
			continue;
		run.len = pos / ratio * ratio - run.start;
		map->free_blocks += run.len;
		if (fl_array_push(&map->free, run))
			return FL_ENOMEM;
	}
	return 0;
}

/* Inodes by ino, then xattr blocks by ino. */
static bool in_order(const struct fl_file *a, const struct fl_file *b)
{
	bool a_xattr = a->kind == FL_KIND_XATTR, b_xattr = b->kind == FL_KIND_XATTR;

	return a_xattr == b_xattr ? a->ino < b->ino : b_xattr;
}

int fl_map_finish(struct fl_map *map, struct fl_diag *diag)
{
	struct claims claims = {.map = map, .diag = diag};
	int error = fl_blockset_new(map->geo.blocks, &claims.owned);

	if (error)
		return error;
	fl_runs_normalize(&map->fixed);
	error = claim_runs(&claims, "filesystem metadata", map->fixed.at, map->fixed.count);
	for (; claims.files < map->files.count && !error; claims.files++) {
		const struct fl_file *file = &map->files.at[claims.files];

		if (claims.files && !in_order(&file[-1], file))
			error = fl_fail(diag, FL_EINVAL, "files are not sorted by inode");
		else
			error = claim_file(&claims, file);
	}
	for (map->inode_count = map->files.count; map->inode_count; map->inode_count--)
		if (map->files.at[map->inode_count - 1].kind != FL_KIND_XATTR)
			break;
	if (!error)
		error = derive_free(map, claims.owned);
	fl_blockset_free(claims.owned);
	return error;
}

bool fl_map_find(const struct fl_map *map, fl_ino ino, size_t *file)
{
	/* Before fl_map_finish the xattr blocks are not in yet. */
	size_t low = 0, high = map->inode_count ? map->inode_count : map->files.count, end = high;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->files.at[middle].ino < ino)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == end || map->files.at[low].ino != ino)
		return false;
	*file = low;
	return true;
}

static int compare_blocks(const void *a, const void *b)
{
	const fl_pblk *left = a, *right = b;

	return fl_compare(*left, *right);
}

bool fl_map_boot_names(const struct fl_map *map, const struct fl_file *file)
{
	if (file->kind != FL_KIND_REGULAR || !file->extent_count || !map->boot.count)
		return false;
	return bsearch(&map->extents.at[file->first_extent].pblk, map->boot.at, map->boot.count,
		       sizeof(*map->boot.at), compare_blocks) != NULL;
}

/* The boot blocks of the map it comes from, and the pins of who begins there. */
static int take_boot(struct fl_map *map, const struct fl_map *from)
{
	for (size_t i = 0; i < from->boot.count; i++)
		if (fl_array_push(&map->boot, from->boot.at[i]))
			return FL_ENOMEM;
	for (size_t i = 0; i < map->files.count; i++) {
		struct fl_file *file = &map->files.at[i];

		if (file->pin == FL_PIN_NONE && fl_map_boot_names(map, file))
			file->pin = FL_PIN_BOOT;
	}
	return 0;
}

int fl_map_rebuild(const struct fl_map *from, fl_map_add add, const void *context,
		   struct fl_map **map, struct fl_diag *diag)
{
	struct fl_map *to;
	int error = fl_map_derive(from, NULL, &to);

	if (error)
		return error;
	for (uint32_t f = 0; f < from->files.count && !error; f++)
		error = add(context, f, to);
	if (!error)
		error = take_boot(to, from);
	if (!error)
		error = fl_map_finish(to, diag);
	if (error)
		fl_map_free(to);
	else
		*map = to;
	return error;
}

void fl_map_unpin(struct fl_map *map, enum fl_pin pin)
{
	for (size_t i = 0; i < map->files.count; i++)
		if (map->files.at[i].pin == pin)
			map->files.at[i].pin = FL_PIN_NONE;
}
