/* SPDX-License-Identifier: MIT */
/*
 * Private to move: the steps of the protocol, one file each. Only move.c calls them, in
 * the order that keeps every file readable.
 */
#ifndef FRAGLAB_MOVE_INTERNAL_H
#define FRAGLAB_MOVE_INTERNAL_H

#include <fraglab/move.h>

#include <common/fs/fs_internal.h>

/* A libext2fs failure as an fl_error, with "action: reason" in diag. */
int move_fail(struct fl_fs *fs, errcode_t code, struct fl_diag *diag, const char *action, ...)
	FL_PRINTF(4, 5);

/* --- claim.c: bitmaps and group descriptors --- */

struct move_groups; /* which groups differ from the disk */

/* unit_blocks: blocks in what runs count (clusters with bigalloc). */
int move_groups_new(struct fl_fs *fs, uint32_t unit_blocks, struct move_groups **groups) FL_CHECKED;
void move_groups_free(struct move_groups *groups);
/* Marks runs used or free, in memory only. */
void move_groups_mark(struct move_groups *groups, const struct fl_runs *runs, bool used);
/* Writes the bitmaps and descriptors of all groups that changed. */
int move_groups_write(struct move_groups *groups, struct fl_diag *diag) FL_CHECKED;

/* --- copy.c: data into claimed blocks --- */

struct move_copier;

/* For the batches of a plan. Allocates its buffer, up to options->buffer_bytes. FL_ENOMEM. */
int move_copier_new(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		    const struct fl_move_options *options, struct move_copier **copier) FL_CHECKED;
void move_copier_free(struct move_copier *copier);
/*
 * Copies all data of a batch. Reads in physical order, gathers as much as the buffer holds,
 * writes in physical order. Zero blocks are not written where the destination is a hole.
 */
int move_copier_copy(struct move_copier *copier, const struct fl_batch *batch,
		     struct fl_diag *diag) FL_CHECKED;

/* --- vacate.c: blocks that files have left --- */

/* Bytes that shall read as zeros; nothing is done where the host has a hole already. */
int move_clear(struct fl_device *device, uint64_t length, uint64_t position) FL_CHECKED;

struct move_vacated;

/* Knows where the plan goes, so that nothing is cleared that will be overwritten. */
int move_vacated_new(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		     struct move_vacated **vacated) FL_CHECKED;
void move_vacated_free(struct move_vacated *vacated);
/*
 * A batch claims these blocks, to write them: they must not be cleared any more. Those of
 * unwritten extents are not written, so they still are; clusters of which only one block will be
 * written are cleared now.
 */
int move_vacated_claim(struct move_vacated *vacated, const struct fl_plan *plan,
		       const struct fl_batch *batch, const struct fl_runs *claimed,
		       struct fl_diag *diag) FL_CHECKED;
/* Files have left these blocks, which are unreachable on disk. */
int move_vacated_release(struct move_vacated *vacated, const struct fl_runs *released) FL_CHECKED;
/* Clears what is vacated and not to be overwritten, once that is much. */
int move_vacated_clear(struct move_vacated *vacated, struct fl_diag *diag) FL_CHECKED;
/* Clears all that is vacated: the host has no room. */
int move_vacated_clear_all(struct move_vacated *vacated, struct fl_diag *diag) FL_CHECKED;
/* At the end: clears all that is vacated, and free neighbours that share a host block with it. */
int move_vacated_finish(struct move_vacated *vacated, const struct fl_blockset *free_blocks,
			struct fl_diag *diag) FL_CHECKED;

/* --- block.c: blocks that are made anew --- */

/* Writes a block that nobody can reach yet. verify: reads it back; FL_EVERIFY when it differs. */
int move_write_block(struct fl_fs *fs, fl_pblk place, const void *block, bool verify) FL_CHECKED;

/* --- tree.c, tree_indirect.c: mapping trees --- */

/* What goes into the inode: 60 bytes as ext2fs_write_inode_full wants them. */
struct move_root {
	uint32_t i_block[15];
};

/*
 * Builds the mapping of a file into the given blocks (preorder, exactly fl_tree_blocks), writes
 * these as move_write_block does, and gives the root. old is the inode as it is.
 */
int move_build_extents(struct fl_fs *fs, fl_ino ino, const struct fl_mapping_view *mapping,
		       const struct ext2_inode *old, bool verify,
		       struct move_root *root) FL_CHECKED;
int move_build_indirect(struct fl_fs *fs, const struct fl_mapping_view *mapping, bool verify,
			struct move_root *root) FL_CHECKED;

/* --- quota.c: what owners are charged for mapping trees --- */

struct move_quota;

/*
 * Finds the quota entry of each owner whose charge the plan changes. Before the first write:
 * FL_EDAMAGED when one is missing, FL_EFEATURE when the quota files are of another version.
 */
int move_quota_new(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		   struct move_quota **quota, struct fl_diag *diag) FL_CHECKED;
void move_quota_free(struct move_quota *quota);
/* A file's mapping tree takes so many bytes more (or less). In memory only. */
int move_quota_charge(struct move_quota *quota, const struct fl_file *file,
		      const struct ext2_inode *inode, int64_t bytes) FL_CHECKED;
/* Writes the charges. With the inodes, between the same two flushes. */
int move_quota_write(struct move_quota *quota, struct fl_diag *diag) FL_CHECKED;

/* --- switch.c: inodes --- */

/* The new roots of a batch, kept between building trees and switching. */
struct move_switches {
	FL_ARRAY(struct move_root);
};

/*
 * Builds the tree of every switch of the batch; nothing that is reachable changes. verify: reads
 * back what it has written; FL_EVERIFY when it differs.
 */
int move_build_trees(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		     const struct fl_batch *batch, const struct fl_layout *layout, bool verify,
		     struct move_switches *roots, struct fl_diag *diag) FL_CHECKED;
/*
 * Writes every inode of the batch, and the owners of xattr blocks, then the quota that changes with
 * them. tree_before[i] is the number of tree blocks that the i-th had.
 */
int move_switch(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		const struct fl_batch *batch, const struct fl_layout *layout,
		const struct move_switches *roots, const size_t *tree_before,
		struct move_quota *quota, struct fl_diag *diag) FL_CHECKED;

#endif
