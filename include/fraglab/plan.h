/* SPDX-License-Identifier: MIT */
/*
 * From a target layout to an ordered list of batches, and what is known about it
 * before a byte is written: validity, cost, the map afterwards. Pure.
 */
#ifndef FRAGLAB_PLAN_H
#define FRAGLAB_PLAN_H

#include <fraglab/blockset.h>
#include <fraglab/map.h>

/*
 * A target layout: for some files, where all their blocks shall be. Files that are not in it
 * stay. Planners build it with the calls below; they need not care which of its blocks are
 * occupied now, only that no two files (nor a file and something pinned) share a block.
 */
struct fl_target_file {
	uint32_t file; /* index into map->files */
	size_t first_extent,
		extent_count;	       /* into extents; covers the file's logical blocks exactly */
	size_t first_tree, tree_count; /* into trees; exactly fl_tree_blocks of the extents */
};

struct fl_target {
	FL_ARRAY(struct fl_target_file) files; /* by file */
	struct fl_extents extents;
	FL_ARRAY(fl_pblk) trees;
	bool sparing; /* the order copies no block twice to get on faster */
};

/* A zero-initialised target is empty. */
void fl_target_free(struct fl_target *target);

/*
 * Adds one file: its blocks, in logical order, are laid into the runs, in the order given
 * (their lengths sum to file->blocks). Gives the number of mapping-tree blocks that must
 * follow with fl_target_add_tree. FL_EINVAL: lengths do not match. Files may come in any order.
 */
int fl_target_add(struct fl_target *target, const struct fl_map *map, uint32_t file,
		  const struct fl_run *runs, size_t run_count, uint64_t *tree_blocks) FL_CHECKED;
/* Places the next mapping-tree blocks, preorder, of the file added last. */
int fl_target_add_tree(struct fl_target *target, fl_pblk start, uint64_t len) FL_CHECKED;
/*
 * Sorts by file and checks the target against the map: FL_EPLAN with the block in diag when two
 * claim it, something pinned is under it, a tree is incomplete, or a file is not movable.
 */
int fl_target_finish(struct fl_target *target, const struct fl_map *map,
		     struct fl_diag *diag) FL_CHECKED;
/*
 * The map when all of a target is reached. The target's files are in order. FL_EDAMAGED: two of
 * its files have the same block; FL_ENOMEM.
 */
int fl_target_predict(const struct fl_map *map, const struct fl_target *target,
		      struct fl_map **predicted, struct fl_diag *diag) FL_CHECKED;

/* Copy len blocks of a file, starting at lblk, from one place to another. */
struct fl_move {
	fl_pblk from, to;
	fl_lblk lblk;
	uint32_t len;
	bool unwritten; /* reads as zeros: nothing to copy */
};

/*
 * One inode changes its mapping: its moves of this batch (by lblk; may be none when only the
 * tree moves), and the places of its whole new mapping tree, preorder. The old tree and the
 * sources are free once the batch is done.
 */
struct fl_switch {
	uint32_t file;
	uint32_t move_count;
	size_t first_move;
	size_t first_tree;
	size_t tree_count;
};

/* Switches that become durable together. A batch has each file at most once. */
struct fl_batch {
	size_t first_switch;
	size_t switch_count;
	uint64_t blocks; /* data and tree blocks written */
};

struct fl_plan {
	FL_ARRAY(struct fl_batch) batches;
	FL_ARRAY(struct fl_switch) switches;
	FL_ARRAY(struct fl_move) moves;
	FL_ARRAY(fl_pblk) trees;
	uint64_t moved_blocks;	/* data blocks over all moves */
	uint64_t needed_blocks; /* data blocks whose place in the target differs from the map's */
	uint64_t left_blocks;	/* data blocks the plan could not bring to their target: no room */
};

/* NULL is legal. */
void fl_plan_free(struct fl_plan *plan);

/*
 * For a plan that does not reach its target: when its files end in more fragments than they have
 * now, drops batches from the end until there were never fewer. FL_EPLAN, FL_ENOMEM.
 */
int fl_plan_cut_losses(const struct fl_map *map, struct fl_plan *plan,
		       struct fl_diag *diag) FL_CHECKED;

/* What a part of a plan must bring to be worth running. */
enum fl_gain {
	FL_GAIN_ANY,	   /* each move brings the image nearer to its target */
	FL_GAIN_FRAGMENTS, /* fewer fragments of files; or as many, and fewer free extents */
	FL_GAIN_FREE	   /* fewer free extents, and no more fragments */
};

/*
 * Drops batches from the end until at most max_blocks data blocks move and the rest gains as much
 * as any part of the plan within that; all batches when none gains anything. What they would have
 * brought home counts as left; the plan stays valid. *next_blocks: what the shortest part moves
 * that gains something, within max_blocks or not; 0: there is none. FL_EPLAN, FL_ENOMEM.
 */
int fl_plan_cut_to_gain(const struct fl_map *map, struct fl_plan *plan, uint64_t max_blocks,
			enum fl_gain gain, uint64_t *next_blocks, struct fl_diag *diag) FL_CHECKED;

#define FL_PLAN_BATCH_BYTES (UINT64_C(256) << 20)

struct fl_order_options {
	/* Data blocks a batch, about; 0: FL_PLAN_BATCH_BYTES, more for files of a million extents.
	 */
	uint64_t batch_blocks;
};

/*
 * Orders the way from map to target: every batch writes only to blocks that are free once
 * the batches before it are done. Breaks cycles through free blocks that no file is to have.
 * FL_ENOROOM: there is something to move and not one free block. O(n log n) in runs.
 * Deterministic. Free the plan with fl_plan_free.
 */
int fl_plan_order(const struct fl_map *map, const struct fl_target *target,
		  const struct fl_order_options *options, struct fl_plan **plan,
		  struct fl_diag *diag) FL_CHECKED;

/*
 * A layout: the state of a map part-way through a plan. Both the validator and the mover
 * walk a plan with it, so what is checked is what is run. Borrows the map.
 */
struct fl_layout;

int fl_layout_new(const struct fl_map *map, struct fl_layout **layout) FL_CHECKED;
void fl_layout_free(struct fl_layout *layout);

/* The file's extents and tree now; borrowed until the next step. */
struct fl_mapping_view {
	const struct fl_extent *extents;
	size_t extent_count;
	const fl_pblk *trees;
	size_t tree_count;
};
struct fl_mapping_view fl_layout_file(const struct fl_layout *layout, uint32_t file);

/* The blocks that are free now; borrowed, changed by the next step. */
const struct fl_blockset *fl_layout_free_blocks(const struct fl_layout *layout);

/*
 * Applies batch number `batch` of the plan, checking each rule: sources are where the layout
 * has them, destinations are free before the batch and not claimed twice, trees have the
 * right size. FL_EPLAN with the first violation in diag; the layout is then unusable.
 * claimed and released (both may be NULL) get the runs, sorted, maximal.
 */
int fl_layout_step(struct fl_layout *layout, const struct fl_plan *plan, size_t batch,
		   struct fl_runs *claimed, struct fl_runs *released,
		   struct fl_diag *diag) FL_CHECKED;

/* Runs a whole plan through a layout. FL_EPLAN as above. */
int fl_plan_validate(const struct fl_map *map, const struct fl_plan *plan,
		     struct fl_diag *diag) FL_CHECKED;

/* Validates, and gives the map that a scan will find when all of the plan has run. */
int fl_plan_predict(const struct fl_map *map, const struct fl_plan *plan, struct fl_map **predicted,
		    struct fl_diag *diag) FL_CHECKED;

/*
 * Text, one item a line: "batch", "switch INO [TREE..]" or "xattr INO" (the xattr block whose first
 * owner it is), "move LBLK LEN FROM TO [unwritten]", TREE as START or START+LEN. Parsing what was
 * printed gives an equal plan.
 */
int fl_plan_print(const struct fl_map *map, const struct fl_plan *plan, char **text) FL_CHECKED;
int fl_plan_parse(const struct fl_map *map, const char *text, struct fl_plan **plan,
		  struct fl_diag *diag) FL_CHECKED;

#endif
