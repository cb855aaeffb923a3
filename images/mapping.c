/* SPDX-License-Identifier: MIT */
/*
 * Allocates and maps the blocks of new files as a fresh kernel would: whole runs near
 * the goal, indirect blocks in stream order. Writes mappings, never file data.
 */
#include <stdlib.h>
#include <string.h>

#include "images/sample.h"

/* The first free run of that length from a block on. */
static bool find_run(ext2_filsys fs, blk64_t from, blk64_t want, blk64_t *start)
{
	const blk64_t last = ext2fs_blocks_count(fs->super) - 1;
	blk64_t end;

	for (*start = from; *start <= last && !ext2fs_find_first_zero_block_bitmap2(
						      fs->block_map, *start, last, start);
	     *start = end) {
		blk64_t most = fl_min(*start + want - 1, last);

		if (ext2fs_find_first_set_block_bitmap2(fs->block_map, *start, most, &end))
			end = most + 1;
		if (end - *start >= want)
			return true;
	}
	return false;
}

/* Not by ext2fs_new_range: where the last block is in use and no run is as long, it never ends. */
errcode_t store_take(ext2_filsys fs, blk64_t goal, blk64_t want, blk64_t *start, blk64_t *len)
{
	const blk64_t cluster = (blk64_t)EXT2FS_CLUSTER_RATIO(fs);
	const blk64_t first = fs->super->s_first_data_block;

	if (goal < first || goal >= ext2fs_blocks_count(fs->super))
		goal = first;
	for (; want; want = want > cluster ? fl_div_up(want / 2, cluster) * cluster : 0)
		if (find_run(fs, goal, want, start) || find_run(fs, first, want, start))
			break;
	if (!want)
		return EXT2_ET_BLOCK_ALLOC_FAIL;
	*len = want;
	ext2fs_block_alloc_stats_range(fs, *start, (blk_t)want, +1);
	return 0;
}

static errcode_t insert_extent(ext2_extent_handle_t handle, uint64_t lblk, blk64_t pblk,
			       uint64_t len, bool unwritten)
{
	uint64_t limit = unwritten ? EXT_UNINIT_MAX_LEN : EXT_INIT_MAX_LEN;

	while (len) {
		struct ext2fs_extent extent = {.e_pblk = pblk, .e_lblk = lblk};
		errcode_t error;

		extent.e_len = (uint32_t)fl_min(len, limit);
		extent.e_flags =
			EXT2_EXTENT_FLAGS_LEAF | (unwritten ? EXT2_EXTENT_FLAGS_UNINIT : 0);
		error = ext2fs_extent_insert(handle, EXT2_EXTENT_INSERT_AFTER, &extent);
		if (error)
			return error;
		error = ext2fs_extent_fix_parents(handle);
		if (error)
			return error;
		pblk += extent.e_len;
		lblk += extent.e_len;
		len -= extent.e_len;
	}
	return 0;
}

/* Where the next blocks of a file go. A cluster is taken as a whole: what is left of it is first.
 */
struct placer {
	ext2_filsys fs;
	struct ext2_inode *inode;
	blk64_t *goal;
	uint64_t end;  /* logical: the clusters up to here are taken */
	blk64_t place; /* of block `end` if it came next */
};

/* A place for up to want blocks from lblk on. */
static errcode_t place(struct placer *placer, uint64_t lblk, uint64_t want, blk64_t *start,
		       uint64_t *len)
{
	uint64_t cluster = (uint64_t)EXT2FS_CLUSTER_RATIO(placer->fs), before = lblk % cluster;
	blk64_t taken;
	errcode_t error;

	if (lblk >= placer->end) {
		error = store_take(placer->fs, *placer->goal,
				   fl_div_up(before + want, cluster) * cluster, start, &taken);
		if (!error)
			error = ext2fs_iblk_add_blocks(placer->fs, placer->inode, taken / cluster);
		if (error)
			return error;
		placer->end = lblk - before + taken;
		placer->place = *placer->goal = *start + taken;
	}
	*start = placer->place - (placer->end - lblk);
	*len = fl_min(want, placer->end - lblk);
	return 0;
}

errcode_t map_extents(ext2_filsys fs, ext2_ino_t ino, struct ext2_inode *inode,
		      const struct piece *pieces, size_t count, blk64_t *goal, piece_writer write,
		      void *context)
{
	struct placer placer = {.fs = fs, .inode = inode, .goal = goal};
	ext2_extent_handle_t handle;
	errcode_t error = ext2fs_extent_open2(fs, ino, inode, &handle);

	if (error)
		return error;
	for (size_t i = 0; !error && i < count; i++) {
		uint64_t lblk = pieces[i].lblk, left = pieces[i].len;

		while (!error && left) {
			blk64_t start;
			uint64_t len;

			error = place(&placer, lblk, left, &start, &len);
			if (!error)
				error = insert_extent(handle, lblk, start, len,
						      pieces[i].unwritten);
			if (!error && !pieces[i].unwritten)
				error = write(context, lblk, start, len);
			if (error)
				break;
			lblk += len;
			left -= len;
		}
	}
	ext2fs_extent_free(handle);
	return error;
}

/* --- indirect mapping: the blocks above the current logical block, one a level --- */

struct tree {
	ext2_filsys fs;
	struct ext2_inode *inode;
	uint32_t *nodes[3]; /* contents of the open node at each depth; [0] is nearest the data */
	blk64_t places[3];  /* where it lies; 0: none open */
	uint64_t firsts[3]; /* the first logical block it maps */
	blk64_t next, left; /* blocks taken but not used yet */
	blk64_t *goal;
	uint64_t used;
};

static errcode_t one_block(struct tree *tree, uint64_t want, blk64_t *block)
{
	if (!tree->left) {
		errcode_t error = store_take(tree->fs, *tree->goal, want, &tree->next, &tree->left);

		if (error)
			return error;
	}
	*block = tree->next++;
	tree->left--;
	tree->used++;
	*tree->goal = *block + 1;
	return 0;
}

static errcode_t close_node(struct tree *tree, int depth)
{
	errcode_t error = 0;

	if (tree->places[depth])
		error = ext2fs_write_ind_block(tree->fs, (blk_t)tree->places[depth],
					       tree->nodes[depth]);
	tree->places[depth] = 0;
	return error;
}

static uint64_t per_node(ext2_filsys fs)
{
	return EXT2_ADDR_PER_BLOCK(fs->super);
}

/* Where the entry for lblk stands: opens nodes as needed, top down. */
static errcode_t find_entry(struct tree *tree, uint64_t lblk, uint64_t want, uint32_t **entry)
{
	uint64_t n = per_node(tree->fs), span = 1, base = EXT2_NDIR_BLOCKS;
	int depth = 0;

	if (lblk < EXT2_NDIR_BLOCKS) {
		*entry = &tree->inode->i_block[lblk];
		return 0;
	}
	for (;; depth++) {
		span *= n;
		if (lblk < base + span)
			break;
		base += span;
	}
	*entry = &tree->inode->i_block[EXT2_IND_BLOCK + depth];
	for (; depth >= 0; depth--, span /= n) {
		uint64_t first = base + (lblk - base) / span * span;

		if (tree->places[depth] && tree->firsts[depth] != first) {
			errcode_t error = close_node(tree, depth);

			if (error)
				return error;
		}
		if (!tree->places[depth]) {
			errcode_t error = one_block(tree, want, &tree->places[depth]);

			if (error)
				return error;
			tree->firsts[depth] = first;
			memset(tree->nodes[depth], 0, tree->fs->blocksize);
			**entry = (uint32_t)tree->places[depth];
		}
		*entry = &tree->nodes[depth][(lblk - first) / (span / n)];
	}
	return 0;
}

static uint64_t overhead(uint64_t n, uint64_t blocks)
{
	uint64_t nodes = 0, span = 1;

	blocks -= fl_min(blocks, EXT2_NDIR_BLOCKS);
	for (int depth = 1; blocks && depth <= 3; depth++) {
		uint64_t here, level = 1;

		span *= n;
		here = fl_min(blocks, span);
		blocks -= here;
		for (int d = 1; d <= depth; d++) {
			level *= n;
			nodes += fl_div_up(here, level);
		}
	}
	return nodes;
}

uint64_t map_indirect_overhead(const struct store *store, uint64_t blocks)
{
	return overhead(per_node(store->fs), blocks);
}

/* Maps one piece and hands its physical runs to write. */
static errcode_t map_piece(struct tree *tree, const struct piece *piece, piece_writer write,
			   void *context)
{
	blk64_t run = 0, block;
	uint64_t run_lblk = piece->lblk, run_len = 0;
	errcode_t error = 0;

	for (uint64_t i = 0; !error && i < piece->len; i++) {
		uint64_t lblk = piece->lblk + i, want = piece->len - i;
		uint32_t *entry;

		/* Room for the indirect blocks in between as well, so that one run holds it all. */
		want += i ? 0
			  : overhead(per_node(tree->fs), lblk + want) -
					overhead(per_node(tree->fs), lblk);
		error = find_entry(tree, lblk, want, &entry);
		if (!error)
			error = one_block(tree, want, &block);
		if (error)
			return error;
		*entry = (uint32_t)block;
		if (run_len && block == run + run_len) {
			run_len++;
			continue;
		}
		if (run_len)
			error = write(context, run_lblk, run, run_len);
		run = block;
		run_lblk = lblk;
		run_len = 1;
	}
	if (!error && run_len)
		error = write(context, run_lblk, run, run_len);
	return error;
}

errcode_t map_indirect(ext2_filsys fs, struct ext2_inode *inode, const struct piece *pieces,
		       size_t count, blk64_t *goal, piece_writer write, void *context)
{
	struct tree tree = {.fs = fs, .inode = inode, .goal = goal};
	errcode_t error = 0, closed;

	for (int depth = 0; depth < 3; depth++) {
		tree.nodes[depth] = malloc(fs->blocksize);
		if (!tree.nodes[depth])
			error = EXT2_ET_NO_MEMORY;
	}
	for (size_t i = 0; !error && i < count; i++)
		error = map_piece(&tree, &pieces[i], write, context);
	for (int depth = 0; depth < 3; depth++) {
		closed = error ? 0 : close_node(&tree, depth);
		error = error ? error : closed;
		free(tree.nodes[depth]);
	}
	/* What was taken too much: a piece that begins inside an open node needs fewer. */
	if (!error && tree.left)
		ext2fs_block_alloc_stats_range(fs, tree.next, (blk_t)tree.left, -1);
	return error ? error : ext2fs_iblk_add_blocks(fs, inode, tree.used);
}
