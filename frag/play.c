/* SPDX-License-Identifier: MIT */
/*
 * What each operation does to the disk. Must not decide where blocks go: that is the allocator.
 */
#include "frag/play.h"

#include <inttypes.h>
#include <stdlib.h>

/* The kernel finds places for at most so many blocks in one go (MAX_WRITEPAGES_EXTENT_LEN). */
#define AT_ONCE_BLOCKS 2048u
#define QUEUE_LEAST 4096u
#define ROOT_INO 2u

static int claim_file(struct frag_play *play, const struct fl_file *file)
{
	const struct fl_map *map = play->map;
	int err = 0;

	for (size_t i = 0; i < file->extent_count && !err; i++) {
		const struct fl_extent *e = &map->extents.at[file->first_extent + i];

		err = fl_alloc_claim(play->alloc, (struct fl_run){e->pblk, e->len});
	}
	for (size_t i = 0; i < file->tree_count && !err; i++)
		err = fl_alloc_claim(play->alloc,
				     (struct fl_run){map->trees.at[file->first_tree + i], 1});
	return err;
}

int frag_play_start(struct frag_play *play, const struct fl_map *map, frag_play_moves moves,
		    const void *context)
{
	struct fl_runs slots = {0};
	uint64_t needed = 0;
	int err = fl_map_slots(map, &slots);

	play->map = map;
	play->queue_limit = QUEUE_LEAST;
	if (!err)
		err = fl_alloc_new(&map->geo, slots.at, slots.count, &play->alloc);
	fl_array_free(&slots);
	play->files = calloc((size_t)fl_max(map->files.count, 1), sizeof(*play->files));
	if (!err && !play->files)
		err = FL_ENOMEM;
	for (uint32_t f = 0; f < map->files.count && !err; f++) {
		const struct fl_file *file = &map->files.at[f];
		struct frag_play_file *played = &play->files[f];

		if (!fl_file_movable(file))
			continue;
		*played = (struct frag_play_file){
			.ino = file->ino,
			.exists = moves(context, f),
			.directory = file->kind == FL_KIND_DIRECTORY,
		};
		if (played->exists)
			needed += file->blocks;
		else
			err = claim_file(play, file);
	}
	if (!err && needed > fl_alloc_free_blocks(play->alloc))
		err = FL_ENOROOM;
	return err;
}

void frag_play_free(struct frag_play *play)
{
	fl_alloc_free(play->alloc);
	play->alloc = NULL;
	frag_chains_free(&play->chains);
	free(play->files);
	play->files = NULL;
	fl_array_free(&play->temporaries);
	fl_array_free(&play->queue);
}

static struct frag_play_file *file_of(struct frag_play *play, struct frag_op_file file)
{
	if (!file.temporary)
		return &play->files[file.number];
	return file.number < play->temporaries.count ? &play->temporaries.at[file.number] : NULL;
}

/* --- writing back --- */

/* Drops what is no longer true, when there is much of it. */
static void tidy_queue(struct frag_play *play)
{
	size_t kept = 0;

	if (play->queue.count < play->queue_limit)
		return;
	for (size_t i = 0; i < play->queue.count; i++) {
		const struct frag_play_turn *turn = &play->queue.at[i];
		const struct frag_play_file *file = file_of(play, turn->file);

		if (file->dirty && file->turn == turn->turn)
			play->queue.at[kept++] = *turn;
	}
	play->queue.count = kept;
	play->queue_limit = (size_t)fl_max(kept * 2, QUEUE_LEAST);
}

static int find_places(struct frag_play *play, struct frag_play_file *file, uint64_t want,
		       struct fl_run *run)
{
	struct fl_alloc_file state = {
		.ino = file->ino,
		.goal = file->blocks
				? frag_chain_end(&play->chains, &file->chain)
				: fl_alloc_goal_of_inode(play->alloc, file->ino, file->directory),
		.blocks = file->blocks,
		.small = fl_alloc_is_small(play->map, file->blocks + file->dirty),
		.open = file->open,
	};

	if (file->directory)
		return fl_alloc_take(play->alloc, state.goal, want, run);
	return fl_alloc_write(play->alloc, &file->ahead, &state, want, run);
}

static int write_back(struct frag_play *play, struct frag_play_file *file)
{
	while (file->dirty) {
		struct fl_run run;
		int err = find_places(play, file, fl_min(file->dirty, AT_ONCE_BLOCKS), &run);

		if (!err)
			err = frag_chain_append(&play->chains, &file->chain, run);
		if (err)
			return err;
		file->blocks += (uint32_t)run.len;
		file->dirty -= (uint32_t)run.len;
		play->dirty_blocks -= run.len;
	}
	return 0;
}

static int sync_all(struct frag_play *play)
{
	int err = 0;

	for (size_t i = 0; i < play->queue.count && !err; i++) {
		const struct frag_play_turn *turn = &play->queue.at[i];
		struct frag_play_file *file = file_of(play, turn->file);

		if (file->dirty && file->turn == turn->turn)
			err = write_back(play, file);
	}
	play->queue.count = 0;
	return err ? err : fl_alloc_commit(play->alloc);
}

/* --- the operations --- */

static int create(struct frag_play *play, const struct frag_op *op, struct fl_diag *diag)
{
	struct frag_play_file file = {
		.ino = op->other == FL_NO_NAME ? ROOT_INO : play->map->names.at[op->other].ino,
		.exists = true,
	};

	while (play->temporaries.count <= op->file.number)
		if (fl_array_push(&play->temporaries, (struct frag_play_file){0}))
			return FL_ENOMEM;
	if (play->temporaries.at[op->file.number].exists)
		return fl_fail(diag, FL_EPLAN, "the file is there already");
	play->temporaries.at[op->file.number] = file;
	return 0;
}

static int append(struct frag_play *play, const struct frag_op *op, struct frag_play_file *file,
		  struct fl_diag *diag)
{
	file->open = true;
	if (op->amount > frag_play_room(play) ||
	    op->amount > UINT32_MAX - file->blocks - file->dirty)
		return fl_fail(diag, FL_ENOROOM, "%" PRIu64 " blocks, and %" PRIu64 " are free",
			       op->amount, frag_play_room(play));
	if (!file->dirty && op->amount) {
		struct frag_play_turn turn = {op->file, ++play->turns};

		tidy_queue(play);
		if (fl_array_push(&play->queue, turn))
			return FL_ENOMEM;
		file->turn = turn.turn;
	}
	file->dirty += (uint32_t)op->amount;
	play->dirty_blocks += op->amount;
	/* A folder's blocks are not delayed. */
	return file->directory ? write_back(play, file) : 0;
}

static int truncate_file(struct frag_play *play, struct frag_play_file *file, uint64_t left)
{
	uint32_t dirty = left > file->blocks ? (uint32_t)(left - file->blocks) : 0;
	int err = fl_alloc_close(play->alloc, &file->ahead);

	play->dirty_blocks -= file->dirty - dirty;
	file->dirty = dirty;
	if (!err && left < file->blocks) {
		err = frag_chain_cut(&play->chains, &file->chain, left, play->alloc);
		file->blocks = (uint32_t)left;
	}
	return err;
}

static int close_file(struct frag_play *play, struct frag_play_file *file)
{
	int err = file->rewritten ? write_back(play, file) : 0;

	file->open = file->rewritten = false;
	return err || file->dirty ? err : fl_alloc_close(play->alloc, &file->ahead);
}

/* What is dirty is written first, as for programs that rename without fsync (auto_da_alloc). */
static int rename_file(struct frag_play *play, struct frag_play_file *file,
		       struct frag_play_file *other)
{
	struct frag_play_file taken;
	int err = write_back(play, file);

	if (!err)
		err = truncate_file(play, other, 0);
	if (err)
		return err;
	taken = *file;
	taken.ino = other->ino;
	*other = taken;
	*file = (struct frag_play_file){0};
	return 0;
}

static int delete_file(struct frag_play *play, struct frag_play_file *file, bool temporary)
{
	int err = truncate_file(play, file, 0);

	file->open = file->rewritten = false;
	if (temporary)
		file->exists = false;
	return err;
}

static int do_to_file(struct frag_play *play, const struct frag_op *op, struct fl_diag *diag)
{
	struct frag_play_file *file = file_of(play, op->file);
	uint64_t blocks;
	int err;

	if (!file || !file->exists)
		return fl_fail(diag, FL_EPLAN, "there is no such file at this time");
	blocks = (uint64_t)file->blocks + file->dirty;
	switch (op->kind) {
	case FRAG_OP_APPEND:
		return append(play, op, file, diag);
	case FRAG_OP_TRUNCATE:
		if (op->amount > blocks)
			return fl_fail(diag, FL_EPLAN, "the file has %" PRIu64 " blocks", blocks);
		file->rewritten |= op->amount == 0 && blocks > 0;
		return truncate_file(play, file, op->amount);
	case FRAG_OP_FSYNC:
		err = write_back(play, file);
		return err ? err : fl_alloc_commit(play->alloc);
	case FRAG_OP_CLOSE:
		return close_file(play, file);
	case FRAG_OP_RENAME:
		return rename_file(play, file, &play->files[op->other]);
	default:
		return delete_file(play, file, op->file.temporary);
	}
}

int frag_play_do(struct frag_play *play, const struct frag_op *op, struct fl_diag *diag)
{
	switch (op->kind) {
	case FRAG_OP_TIME:
		return 0;
	case FRAG_OP_SYNC:
		return sync_all(play);
	case FRAG_OP_CREATE:
		return create(play, op, diag);
	default:
		return do_to_file(play, op, diag);
	}
}

int frag_play_end(struct frag_play *play, struct fl_diag *diag)
{
	const struct fl_map *map = play->map;
	int err = sync_all(play);

	for (size_t i = 0; i < play->temporaries.count && !err; i++)
		err = delete_file(play, &play->temporaries.at[i], true);
	for (size_t i = 0; i < map->files.count && !err; i++) {
		struct frag_play_file *file = &play->files[i];
		char path[512];

		if (!file->exists)
			continue;
		err = fl_alloc_close(play->alloc, &file->ahead);
		if (!err && file->blocks != map->files.at[i].blocks)
			err = fl_fail(
				diag, FL_EPLAN,
				"in the end %s has %u blocks, in the image %" PRIu64,
				fl_map_path(map, map->files.at[i].name, true, path, sizeof(path)),
				file->blocks, map->files.at[i].blocks);
	}
	return err ? err : fl_alloc_commit(play->alloc);
}
