/* SPDX-License-Identifier: MIT */
/*
 * The switch: each inode's one-sector change from the old mapping to the new. Must not run
 * before the new mapping and its data are durable.
 */
#include "move_internal.h"

#include <stdlib.h>
#include <string.h>

static int read_inode(struct fl_fs *fs, fl_ino ino, struct ext2_inode *inode, struct fl_diag *diag)
{
	ext2_filsys ext2 = fl_fs_ext2(fs);
	errcode_t error =
		ext2fs_read_inode_full(ext2, ino, inode, (int)EXT2_INODE_SIZE(ext2->super));

	return error ? move_fail(fs, error, diag, "reading inode %u", ino) : 0;
}

static struct ext2_inode *new_inode(ext2_filsys fs)
{
	size_t size = (size_t)EXT2_INODE_SIZE(fs->super);

	return calloc(1, size < sizeof(struct ext2_inode_large) ? sizeof(struct ext2_inode_large)
								: size);
}

/* An xattr block read back; its checksum is the library's business, and that of its place. */
static int verify_xattr(struct fl_fs *fs, fl_pblk place, struct ext2_ext_attr_header *written,
			fl_ino owner, struct fl_diag *diag)
{
	const uint32_t bytes = fl_fs_geometry(fs)->block_bytes;
	struct ext2_ext_attr_header *found = calloc(1, bytes);
	errcode_t code;
	int error;

	if (!found)
		return FL_ENOMEM;
	code = ext2fs_read_ext_attr3(fl_fs_ext2(fs), place, found, owner);
	error = fl_fs_error(fs, code);
	found->h_checksum = written->h_checksum = 0;
	if (error != FL_EIO && error != FL_ENOMEM && (code || memcmp(found, written, bytes)))
		error = FL_EVERIFY;
	free(found);
	return error ? fl_fail(diag, error, "reading back the xattr block of inode %u: %s", owner,
			       fl_error_text(error))
		     : 0;
}

/* Writes an xattr block at its new place, where its checksum must be another. */
static int write_xattr(struct fl_fs *fs, const struct fl_plan *plan, const struct fl_switch *item,
		       uint32_t unit_blocks, fl_ino owner, bool verify, struct fl_diag *diag)
{
	const struct fl_move *move = &plan->moves.at[item->first_move];
	ext2_filsys ext2 = fl_fs_ext2(fs);
	void *buffer = malloc(ext2->blocksize);
	errcode_t code;
	int error = 0;

	if (!buffer)
		return FL_ENOMEM;
	code = ext2fs_read_ext_attr3(ext2, move->from * unit_blocks, buffer, owner);
	if (!code)
		code = ext2fs_write_ext_attr3(ext2, move->to * unit_blocks, buffer, owner);
	if (code)
		error = move_fail(fs, code, diag, "moving the xattr block of inode %u", owner);
	else if (verify)
		error = verify_xattr(fs, move->to * unit_blocks, buffer, owner, diag);
	free(buffer);
	return error;
}

static int build_root(struct fl_fs *fs, const struct fl_file *file,
		      const struct fl_mapping_view *mapping, struct ext2_inode *inode, bool verify,
		      struct move_root *root, struct fl_diag *diag)
{
	int error = read_inode(fs, file->ino, inode, diag);

	if (error)
		return error;
	error = file->mapping == FL_MAPPING_EXTENTS
			? move_build_extents(fs, file->ino, mapping, inode, verify, root)
			: move_build_indirect(fs, mapping, verify, root);
	return error ? fl_fail(diag, error, "building the block map of inode %u: %s", file->ino,
			       fl_error_text(error))
		     : 0;
}

/* The mapping of a file in blocks, where plans count clusters. */
struct in_blocks {
	struct fl_extents extents;
	FL_ARRAY(fl_pblk) trees;
};

static int expand(const struct fl_map *map, uint32_t file, struct in_blocks *scratch,
		  struct fl_mapping_view *mapping)
{
	int error;

	scratch->extents.count = 0;
	scratch->trees.count = 0;
	error = fl_units_expand(map, file, mapping->extents, mapping->extent_count,
				&scratch->extents);
	for (size_t i = 0; i < mapping->tree_count && !error; i++)
		error = fl_array_push(&scratch->trees, mapping->trees[i] * fl_map_unit_blocks(map));
	if (error)
		return error;
	*mapping = (struct fl_mapping_view){scratch->extents.at, scratch->extents.count,
					    scratch->trees.at, scratch->trees.count};
	return 0;
}

int move_build_trees(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		     const struct fl_batch *batch, const struct fl_layout *layout, bool verify,
		     struct move_switches *roots, struct fl_diag *diag)
{
	ext2_filsys ext2 = fl_fs_ext2(fs);
	struct ext2_inode *inode = new_inode(ext2);
	struct in_blocks scratch = {0};
	int error = inode ? 0 : FL_ENOMEM;

	roots->count = 0;
	for (size_t i = 0; i < batch->switch_count && !error; i++) {
		const struct fl_switch *item = &plan->switches.at[batch->first_switch + i];
		const struct fl_file *file = &map->files.at[item->file];
		struct fl_mapping_view mapping = fl_layout_file(layout, item->file);
		struct move_root root = {{0}};

		if (map->blocks && file->kind != FL_KIND_XATTR)
			error = expand(map, item->file, &scratch, &mapping);
		if (error)
			break;
		error = file->kind == FL_KIND_XATTR
				? write_xattr(fs, plan, item, fl_map_unit_blocks(map), file->ino,
					      verify, diag)
				: build_root(fs, file, &mapping, inode, verify, &root, diag);
		if (!error)
			error = fl_array_push(roots, root);
	}
	free(inode);
	fl_array_free(&scratch.extents);
	fl_array_free(&scratch.trees);
	return error;
}

/* i_blocks counts mapping-tree blocks too; the library counts in clusters, as plans do. */
static errcode_t adjust_i_blocks(ext2_filsys fs, struct ext2_inode *inode, size_t before,
				 size_t after)
{
	if (after > before)
		return ext2fs_iblk_add_blocks(fs, inode, after - before);
	if (before > after)
		return ext2fs_iblk_sub_blocks(fs, inode, before - after);
	return 0;
}

static int write_inode(struct fl_fs *fs, fl_ino ino, struct ext2_inode *inode, struct fl_diag *diag)
{
	ext2_filsys ext2 = fl_fs_ext2(fs);
	errcode_t error =
		ext2fs_write_inode_full(ext2, ino, inode, (int)EXT2_INODE_SIZE(ext2->super));

	return error ? move_fail(fs, error, diag, "writing inode %u", ino) : 0;
}

static int switch_mapping(struct fl_fs *fs, const struct fl_file *file,
			  const struct move_root *root, size_t tree_before, size_t tree_after,
			  struct ext2_inode *inode, struct fl_diag *diag)
{
	int error = read_inode(fs, file->ino, inode, diag);
	errcode_t failed;

	if (error)
		return error;
	memcpy(inode->i_block, root->i_block, sizeof(inode->i_block));
	failed = adjust_i_blocks(fl_fs_ext2(fs), inode, tree_before, tree_after);
	return failed ? move_fail(fs, failed, diag, "counting the blocks of inode %u", file->ino)
		      : write_inode(fs, file->ino, inode, diag);
}

/* Each owner is switched for itself: whichever block it names holds the same attributes. */
static int switch_xattr(struct fl_fs *fs, const struct fl_map *map, const struct fl_file *file,
			fl_pblk block, struct ext2_inode *inode, struct fl_diag *diag)
{
	int error = 0;

	for (size_t i = 0; i < file->owner_count && !error; i++) {
		fl_ino owner = map->owners.at[file->first_owner + i];

		error = read_inode(fs, owner, inode, diag);
		if (error)
			break;
		ext2fs_file_acl_block_set(fl_fs_ext2(fs), inode, block);
		error = write_inode(fs, owner, inode, diag);
	}
	return error;
}

int move_switch(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		const struct fl_batch *batch, const struct fl_layout *layout,
		const struct move_switches *roots, const size_t *tree_before,
		struct move_quota *quota, struct fl_diag *diag)
{
	struct ext2_inode *inode = new_inode(fl_fs_ext2(fs));
	int error = inode ? 0 : FL_ENOMEM;

	for (size_t i = 0; i < batch->switch_count && !error; i++) {
		const struct fl_switch *item = &plan->switches.at[batch->first_switch + i];
		const struct fl_file *file = &map->files.at[item->file];
		int64_t grown = (int64_t)item->tree_count - (int64_t)tree_before[i];

		if (file->kind == FL_KIND_XATTR) {
			error = switch_xattr(fs, map, file,
					     fl_layout_file(layout, item->file).extents->pblk *
						     fl_map_unit_blocks(map),
					     inode, diag);
			continue;
		}
		error = switch_mapping(fs, file, &roots->at[i], tree_before[i], item->tree_count,
				       inode, diag);
		if (!error)
			error = move_quota_charge(quota, file, inode,
						  grown * (int64_t)map->geo.block_bytes);
	}
	free(inode);
	return error ? error : move_quota_write(quota, diag);
}
