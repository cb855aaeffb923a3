/* SPDX-License-Identifier: MIT */
/*
 * Bulk builder of indirect-mapped files' block maps, preorder, into blocks nobody can reach
 * yet. Must not touch a map that is in use.
 */
#include "move_internal.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	struct fl_fs *fs;
	const struct fl_mapping_view *mapping;
	size_t extent; /* the first extent that may hold what comes next */
	size_t next_place;
	uint64_t per; /* entries of a block */
	bool verify;
};

/* Whether a block is mapped in first..first+len-1; moves the cursor past what lies before. */
static bool any_mapped(struct builder *builder, uint64_t first, uint64_t len)
{
	const struct fl_mapping_view *mapping = builder->mapping;

	while (builder->extent < mapping->extent_count &&
	       fl_extent_lend(&mapping->extents[builder->extent]) <= first)
		builder->extent++;
	return builder->extent < mapping->extent_count &&
	       mapping->extents[builder->extent].lblk < first + len;
}

/* The entry for a subtree of 0 (a data block) to 3 levels that begins at lblk; 0 for a hole. */
static int build(struct builder *builder, unsigned level, uint64_t lblk, uint64_t span,
		 uint32_t *entry)
{
	uint32_t *entries;
	fl_pblk place;
	int error = 0;

	*entry = 0;
	if (!any_mapped(builder, lblk, span))
		return 0;
	if (!level) {
		const struct fl_extent *extent = &builder->mapping->extents[builder->extent];

		*entry = (uint32_t)(extent->pblk + (lblk - extent->lblk));
		return 0;
	}
	if (builder->next_place == builder->mapping->tree_count)
		return FL_EPLAN;
	place = builder->mapping->trees[builder->next_place++];
	entries = calloc(1, fl_fs_geometry(builder->fs)->block_bytes);
	if (!entries)
		return FL_ENOMEM;
	span /= builder->per;
	for (uint64_t i = 0; i < builder->per && !error; i++) {
		uint32_t child;

		error = build(builder, level - 1, lblk + i * span, span, &child);
		entries[i] = ext2fs_cpu_to_le32(child);
	}
	if (!error)
		error = move_write_block(builder->fs, place, entries, builder->verify);
	free(entries);
	*entry = (uint32_t)place;
	return error;
}

int move_build_indirect(struct fl_fs *fs, const struct fl_mapping_view *mapping, bool verify,
			struct move_root *root)
{
	struct builder builder = {.fs = fs,
				  .mapping = mapping,
				  .per = fl_fs_geometry(fs)->block_bytes / 4,
				  .verify = verify};
	uint64_t lblk = 0, span = 1;
	int error = 0;

	for (unsigned i = 0; i < 15 && !error; i++) {
		unsigned level = i < EXT2_NDIR_BLOCKS ? 0 : i - EXT2_NDIR_BLOCKS + 1;

		if (level)
			span *= builder.per;
		error = build(&builder, level, lblk, span, &root->i_block[i]);
		lblk += span;
	}
	if (!error && builder.next_place != mapping->tree_count)
		error = FL_EPLAN;
	return error;
}
