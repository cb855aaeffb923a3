/* SPDX-License-Identifier: MIT */
/*
 * Compares the finished map with the block bitmap and with every counter on disk. Must find
 * any difference: a mover would overwrite what the bitmap wrongly calls free.
 */
#include <common/scan/scan_internal.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check {
	struct scan *scan;
	const struct fl_map *map;      /* in the units that the bitmaps have a bit for */
	unsigned char *stored, *found; /* bitmaps of one group; a set bit is a block in use */
	size_t next_run; /* of map->free: the first that does not end before the group */
};

static void clear_bits(unsigned char *bits, uint64_t from, uint64_t to)
{
	for (; from < to && from & 7; from++)
		bits[from / 8] = (unsigned char)(bits[from / 8] & ~(1u << (from & 7)));
	if (from < to) {
		memset(bits + from / 8, 0, (to - from) / 8);
		from += (to - from) / 8 * 8;
	}
	for (; from < to; from++)
		bits[from / 8] = (unsigned char)(bits[from / 8] & ~(1u << (from & 7)));
}

/* Fills check->found for blocks first .. end-1 and returns how many of them are free. */
static uint64_t build_found(struct check *check, fl_pblk first, fl_pblk end)
{
	const struct fl_map *map = check->map;
	uint64_t free_blocks = 0;

	memset(check->found, 0xff, fl_div_up(end - first, 8));
	while (check->next_run < map->free.count) {
		struct fl_run run = map->free.at[check->next_run];
		fl_pblk from = fl_max(run.start, first), to = fl_min(fl_run_end(run), end);

		if (from < to) {
			clear_bits(check->found, from - first, to - first);
			free_blocks += to - from;
		}
		if (fl_run_end(run) > end)
			break;
		check->next_run++;
	}
	return free_blocks;
}

static void describe_owner(const struct fl_map *map, fl_pblk block, char *text, size_t bytes)
{
	snprintf(text, bytes, "metadata");
	for (size_t f = 0; f < map->files.count; f++) {
		const struct fl_file *file = &map->files.at[f];
		bool mine = false;

		for (size_t i = 0; i < file->extent_count && !mine; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			mine = block >= e->pblk && block < fl_extent_pend(e);
		}
		for (size_t i = 0; i < file->tree_count && !mine; i++)
			mine = map->trees.at[file->first_tree + i] == block;
		if (mine) {
			snprintf(text, bytes, "inode %u", file->ino);
			return;
		}
	}
}

static int report_difference(struct check *check, uint32_t group, fl_pblk first, uint64_t count)
{
	struct fl_diag *diag = check->scan->diag;
	char owner[32];

	for (uint64_t i = 0; i < count; i++) {
		unsigned mask = 1u << (i & 7);
		bool used = check->found[i / 8] & mask;

		if (used == !!(check->stored[i / 8] & mask))
			continue;
		if (!used)
			return fl_fail(diag, FL_EDAMAGED,
				       "block %" PRIu64 " (group %u) is marked used but nothing "
				       "owns it; run e2fsck -fy IMAGE first",
				       first + i, group);
		describe_owner(check->map, first + i, owner, sizeof(owner));
		return fl_fail(diag, FL_EDAMAGED,
			       "block %" PRIu64 " (group %u) is marked free but used by %s; run "
			       "e2fsck -fy IMAGE first",
			       first + i, group, owner);
	}
	return 0;
}

static int check_group(struct check *check, uint32_t group)
{
	struct scan *scan = check->scan;
	const struct fl_geometry *geo = &check->map->geo;
	fl_pblk first = fl_group_first(geo, group), end = fl_group_end(geo, group);
	uint64_t count = end - first, free_blocks;
	uint32_t stored_free = ext2fs_bg_free_blocks_count(scan->ext2, group);
	errcode_t code;

	memset(check->stored, 0xff, fl_div_up(count, 8));
	code = ext2fs_get_block_bitmap_range2(scan->ext2->block_map, first, count, check->stored);
	if (code)
		return fl_fail(scan->diag, fl_fs_error(scan->fs, code),
			       "block bitmap of group %u: %s", group, error_message(code));
	free_blocks = build_found(check, first, end);
	/* Bits after the last block of a short group may be anything in both. */
	for (uint64_t i = count; i & 7; i++) {
		check->stored[i / 8] |= (unsigned char)(1u << (i & 7));
		check->found[i / 8] |= (unsigned char)(1u << (i & 7));
	}
	if (memcmp(check->stored, check->found, fl_div_up(count, 8)))
		return report_difference(check, group, first, count);
	if (stored_free != free_blocks)
		return fl_fail(scan->diag, FL_EDAMAGED,
			       "group %u counts %u free blocks, but has %" PRIu64
			       "; run e2fsck -fy IMAGE first",
			       group, stored_free, free_blocks);
	return 0;
}

static int check_all(struct scan *scan, const struct fl_map *map)
{
	const struct fl_geometry *geo = &map->geo;
	uint64_t stored_free = ext2fs_free_blocks_count(scan->ext2->super);
	uint64_t found_free = map->free_blocks * fl_map_unit_blocks(map);
	size_t bytes = fl_div_up(geo->blocks_per_group, 8) + 1;
	struct check check = {
		.scan = scan, .map = map, .stored = malloc(bytes), .found = malloc(bytes)};
	int error = check.stored && check.found ? 0 : FL_ENOMEM;

	for (uint32_t group = 0; group < geo->groups && !error; group++)
		error = check_group(&check, group);
	if (!error && stored_free != found_free)
		error = fl_fail(scan->diag, FL_EDAMAGED,
				"the superblock counts %" PRIu64
				" free blocks, but there are %" PRIu64
				"; run e2fsck -fy IMAGE first",
				stored_free, found_free);
	free(check.stored);
	free(check.found);
	return error;
}

int fl_scan_crosscheck(struct scan *scan)
{
	struct fl_map *units = NULL;
	int error;

	if (scan->map->geo.cluster_blocks == 1)
		return check_all(scan, scan->map);
	error = fl_map_units(scan->map, &units, scan->diag);
	if (!error)
		error = check_all(scan, units);
	fl_map_free(units);
	return error;
}
