/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic of on-disk mappings: how extents are stored and how many tree blocks they
 * need. Must agree with the builder in move and the readers in scan.
 */
#include <fraglab/map.h>

/* ext4_extent.ee_len: 1..32768 written; 32769..65535 is unwritten of 1..32767 blocks. */
#define MAX_WRITTEN 32768u
#define MAX_UNWRITTEN 32767u
/* Extents or indexes in the inode's 60 bytes: a header of 12 and four entries of 12. */
#define ENTRIES_IN_INODE 4u
#define DIRECT_BLOCKS 12u

static bool follows(const struct fl_extent *last, const struct fl_extent *next)
{
	return last->unwritten == next->unwritten && fl_extent_lend(last) == next->lblk &&
	       fl_extent_pend(last) == next->pblk;
}

int fl_extents_append(struct fl_extents *list, enum fl_mapping mapping, struct fl_extent extent)
{
	uint32_t limit = mapping == FL_MAPPING_INDIRECT ? UINT32_MAX
			 : extent.unwritten		? MAX_UNWRITTEN
							: MAX_WRITTEN;

	if (list->count && follows(&list->at[list->count - 1], &extent)) {
		struct fl_extent *last = &list->at[list->count - 1];
		uint32_t part = (uint32_t)fl_min(extent.len, limit - last->len);

		last->len += part;
		extent.len -= part;
		extent.lblk += part;
		extent.pblk += part;
	}
	while (extent.len) {
		struct fl_extent piece = extent;

		piece.len = (uint32_t)fl_min(extent.len, limit);
		if (fl_array_push(list, piece))
			return FL_ENOMEM;
		extent.len -= piece.len;
		extent.lblk += piece.len;
		extent.pblk += piece.len;
	}
	return 0;
}

static uint64_t extent_tree_blocks(uint32_t block_bytes, uint64_t extents)
{
	/* A node: a header of 12 bytes, entries of 12, a checksum in what remains. */
	uint64_t node_entries = (block_bytes - 12) / 12;
	uint64_t level = extents, total = 0;

	while (level > ENTRIES_IN_INODE) {
		level = fl_div_up(level, node_entries);
		total += level;
	}
	return total;
}

/* Indirect blocks of one level seen so far: the last block number counted, plus one. */
struct level {
	uint64_t next; /* numbers below are counted */
	uint64_t count;
};

/* Counts the blocks that hold entries first..last, when each holds per of them. */
static void count_level(struct level *level, uint64_t first, uint64_t last, uint64_t per)
{
	uint64_t low = fl_max(first / per, level->next), high = last / per;

	if (high < low)
		return;
	level->count += high - low + 1;
	level->next = high + 1;
}

static uint64_t indirect_blocks(uint32_t block_bytes, const struct fl_extent *extents, size_t count)
{
	uint64_t per = block_bytes / 4;
	/* Ranges of logical blocks, first direct excluded: single, double, triple. */
	uint64_t begin[4] = {DIRECT_BLOCKS, DIRECT_BLOCKS + per, DIRECT_BLOCKS + per + per * per,
			     UINT64_MAX};
	struct level ind[3] = {0}, dind[2] = {0}, tind = {0};
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t first = extents[i].lblk, last = fl_extent_lend(&extents[i]) - 1;

		for (int r = 0; r < 3; r++) {
			uint64_t low = fl_max(first, begin[r]),
				 high = fl_min(last, begin[r + 1] - 1);

			if (low > high)
				continue;
			low -= begin[r];
			high -= begin[r];
			count_level(&ind[r], low, high, per);
			if (r > 0)
				count_level(&dind[r - 1], low, high, per * per);
			if (r > 1)
				count_level(&tind, low, high, per * per * per);
		}
	}
	for (int r = 0; r < 3; r++)
		total += ind[r].count;
	return total + dind[0].count + dind[1].count + tind.count;
}

uint64_t fl_tree_blocks(const struct fl_geometry *geo, enum fl_mapping mapping,
			const struct fl_extent *extents, size_t count)
{
	return mapping == FL_MAPPING_EXTENTS ? extent_tree_blocks(geo->block_bytes, count)
					     : indirect_blocks(geo->block_bytes, extents, count);
}

uint64_t fl_fragments(const struct fl_extent *extents, size_t count)
{
	uint64_t fragments = 0;

	for (size_t i = 0; i < count; i++)
		if (!i || extents[i].pblk != fl_extent_pend(&extents[i - 1]))
			fragments++;
	return fragments;
}

uint64_t fl_file_fragments(const struct fl_map *map, const struct fl_file *file)
{
	const struct fl_extent *extents = fl_array_from(&map->extents, file->first_extent);
	uint64_t fragments = 0, ratio = map->geo.cluster_blocks;

	if (ratio == 1)
		return fl_fragments(extents, file->extent_count);
	for (size_t i = 0; i < file->extent_count; i++) {
		fl_pblk cluster = extents[i].pblk / ratio, last;

		last = i ? (fl_extent_pend(&extents[i - 1]) - 1) / ratio : cluster;
		fragments += !i || (cluster != last && cluster != last + 1);
	}
	return fragments;
}

uint64_t fl_file_room(const struct fl_map *map, const struct fl_file *file)
{
	const struct fl_extent *extents = fl_array_from(&map->extents, file->first_extent);
	uint64_t clusters = 0, ratio = map->geo.cluster_blocks, next = 0;

	if (ratio == 1)
		return file->blocks;
	for (size_t i = 0; i < file->extent_count; i++) {
		uint64_t first = fl_max(extents[i].lblk / ratio, next);

		next = (fl_extent_lend(&extents[i]) - 1) / ratio + 1;
		clusters += next - first;
	}
	return clusters * ratio;
}

uint64_t fl_fragments_forced(uint64_t blocks, const struct fl_run *slots_by_length, size_t count)
{
	uint64_t held = 0;
	size_t k = 0;

	while (k < count && held < blocks)
		held += slots_by_length[k++].len;
	return k;
}
