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

int move_build_trees(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		     const struct fl_batch *batch, const struct fl_layout *layout,
		     struct move_switches *roots, struct fl_diag *diag)
{
	ext2_filsys ext2 = fl_fs_ext2(fs);
	struct ext2_inode *inode = new_inode(ext2);
	int error = inode ? 0 : FL_ENOMEM;

	roots->count = 0;
	for (size_t i = 0; i < batch->switch_count && !error; i++) {
		const struct fl_switch *item = &plan->switches.at[batch->first_switch + i];
		const struct fl_file *file = &map->files.at[item->file];
		struct fl_mapping_view mapping = fl_layout_file(layout, item->file);
		struct move_root root;

		error = read_inode(fs, file->ino, inode, diag);
		if (error)
			break;
		error = file->mapping == FL_MAPPING_EXTENTS
				? move_build_extents(fs, file->ino, &mapping, inode, &root)
				: move_build_indirect(fs, &mapping, &root);
		if (error) {
			error = fl_fail(diag, error, "building the block map of inode %u: %s",
					file->ino, fl_error_text(error));
			break;
		}
		error = fl_array_push(roots, root);
	}
	free(inode);
	return error;
}

/* i_blocks counts mapping-tree blocks too. */
static errcode_t adjust_i_blocks(ext2_filsys fs, struct ext2_inode *inode, size_t before,
				 size_t after)
{
	if (after > before)
		return ext2fs_iblk_add_blocks(fs, inode, after - before);
	if (before > after)
		return ext2fs_iblk_sub_blocks(fs, inode, before - after);
	return 0;
}

int move_switch(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		const struct fl_batch *batch, const struct move_switches *roots,
		const size_t *tree_before, struct fl_diag *diag)
{
	ext2_filsys ext2 = fl_fs_ext2(fs);
	struct ext2_inode *inode = new_inode(ext2);
	int error = inode ? 0 : FL_ENOMEM;

	for (size_t i = 0; i < batch->switch_count && !error; i++) {
		const struct fl_switch *item = &plan->switches.at[batch->first_switch + i];
		fl_ino ino = map->files.at[item->file].ino;
		errcode_t failed;

		error = read_inode(fs, ino, inode, diag);
		if (error)
			break;
		memcpy(inode->i_block, roots->at[i].i_block, sizeof(inode->i_block));
		failed = adjust_i_blocks(ext2, inode, tree_before[i], item->tree_count);
		if (!failed)
			failed = ext2fs_write_inode_full(ext2, ino, inode,
							 (int)EXT2_INODE_SIZE(ext2->super));
		if (failed)
			error = move_fail(fs, failed, diag, "writing inode %u", ino);
	}
	free(inode);
	return error;
}
