/* SPDX-License-Identifier: MIT */
/*
 * Bulk builder of extent trees: full nodes, preorder, into blocks nobody can reach yet.
 * Must not touch a tree that is in use. (libext2fs's own editing corrupts deep trees.)
 */
#include "move_internal.h"

#include <ext2fs/ext3_extents.h>
#include <stdlib.h>
#include <string.h>

#define ROOT_ENTRIES 4u
#define MAX_UNWRITTEN_BASE 32768u /* ee_len above it means unwritten, of ee_len minus it */

struct builder {
	struct fl_fs *fs;
	ext2_filsys ext2;
	fl_ino ino;
	const struct fl_mapping_view *mapping;
	uint32_t generation; /* eh_generation of the old root, carried over */
	size_t node_entries;
	size_t next_place;
	bool verify;
};

static void put_header(struct ext3_extent_header *header, size_t entries, size_t max,
		       unsigned depth, uint32_t generation)
{
	header->eh_magic = ext2fs_cpu_to_le16(EXT3_EXT_MAGIC);
	header->eh_entries = ext2fs_cpu_to_le16((uint16_t)entries);
	header->eh_max = ext2fs_cpu_to_le16((uint16_t)max);
	header->eh_depth = ext2fs_cpu_to_le16((uint16_t)depth);
	header->eh_generation = generation;
}

static void put_extent(struct ext3_extent *out, const struct fl_extent *extent)
{
	uint32_t len = extent->len + (extent->unwritten ? MAX_UNWRITTEN_BASE : 0);

	out->ee_block = ext2fs_cpu_to_le32(extent->lblk);
	out->ee_len = ext2fs_cpu_to_le16((uint16_t)len);
	out->ee_start_hi = ext2fs_cpu_to_le16((uint16_t)(extent->pblk >> 32));
	out->ee_start = ext2fs_cpu_to_le32((uint32_t)extent->pblk);
}

static void put_index(struct ext3_extent_idx *out, fl_lblk lblk, fl_pblk leaf)
{
	memset(out, 0, sizeof(*out));
	out->ei_block = ext2fs_cpu_to_le32(lblk);
	out->ei_leaf = ext2fs_cpu_to_le32((uint32_t)leaf);
	out->ei_leaf_hi = ext2fs_cpu_to_le16((uint16_t)(leaf >> 32));
}

/* Extents that one full node of this depth holds. */
static size_t span_of(const struct builder *builder, unsigned depth)
{
	size_t span = builder->node_entries;

	while (depth--)
		span *= builder->node_entries;
	return span;
}

static int build_node(struct builder *builder, unsigned depth, size_t first, fl_pblk *place);

/* Fills the entries after a header with what lies from extent `first` to `end`. */
static int fill(struct builder *builder, struct ext3_extent_header *header, unsigned depth,
		size_t first, size_t end, size_t max)
{
	const struct fl_extent *extents = builder->mapping->extents;
	size_t step = depth ? span_of(builder, depth - 1) : 1, entry = 0;
	int error = 0;

	for (; first < end && !error; first += step, entry++) {
		if (depth) {
			fl_pblk child = 0;

			error = build_node(builder, depth - 1, first, &child);
			put_index((struct ext3_extent_idx *)(header + 1) + entry,
				  extents[first].lblk, child);
		} else {
			put_extent((struct ext3_extent *)(header + 1) + entry, &extents[first]);
		}
	}
	put_header(header, entry, max, depth, builder->generation);
	return error;
}

static int build_node(struct builder *builder, unsigned depth, size_t first, fl_pblk *place)
{
	size_t end = first + span_of(builder, depth);
	struct ext3_extent_header *header;
	int error = FL_EPLAN;

	if (end > builder->mapping->extent_count)
		end = builder->mapping->extent_count;
	if (builder->next_place == builder->mapping->tree_count)
		return FL_EPLAN;
	header = calloc(1, builder->ext2->blocksize);
	if (!header)
		return FL_ENOMEM;
	*place = builder->mapping->trees[builder->next_place++];
	error = fill(builder, header, depth, first, end, builder->node_entries);
	if (!error && ext2fs_extent_block_csum_set(builder->ext2, builder->ino, header))
		error = FL_EIO;
	if (!error)
		error = move_write_block(builder->fs, *place, header, builder->verify);
	free(header);
	return error;
}

int move_build_extents(struct fl_fs *fs, fl_ino ino, const struct fl_mapping_view *mapping,
		       const struct ext2_inode *old, bool verify, struct move_root *root)
{
	const struct ext3_extent_header *old_root = (const void *)old->i_block;
	struct builder builder = {
		.fs = fs,
		.ext2 = fl_fs_ext2(fs),
		.ino = ino,
		.mapping = mapping,
		.generation = old_root->eh_generation,
		.node_entries =
			(fl_fs_geometry(fs)->block_bytes - sizeof(struct ext3_extent_header)) /
			sizeof(struct ext3_extent),
		.verify = verify,
	};
	size_t children = mapping->extent_count;
	unsigned depth = 0;
	int error;

	for (; children > ROOT_ENTRIES; depth++)
		children = (children + builder.node_entries - 1) / builder.node_entries;
	memset(root, 0, sizeof(*root));
	error = fill(&builder, (struct ext3_extent_header *)root->i_block, depth, 0,
		     mapping->extent_count, ROOT_ENTRIES);
	if (!error && builder.next_place != mapping->tree_count)
		error = FL_EPLAN;
	return error;
}
