/* SPDX-License-Identifier: MIT */
/*
 * The disk on which a history is played: files, what of them has places, what is still to be
 * written back. Pure; must not know where operations come from.
 */
#ifndef FRAG_PLAY_H
#define FRAG_PLAY_H

#include "frag/chain.h"
#include "frag/op.h"

struct frag_play_file {
	struct frag_chain chain;
	uint32_t blocks, dirty; /* with places, and without */
	uint32_t ahead;		/* fl_alloc_write's */
	fl_ino ino;		/* for goals; of a temporary file, that of its folder */
	uint32_t turn;		/* of the queue's entry that counts, when dirty */
	bool exists, open, directory;
	bool rewritten; /* truncated to nothing: written back when it is closed */
};

struct frag_play_turn {
	struct frag_op_file file;
	uint32_t turn;
};

/* Zero-initialise; frag_play_free frees. */
struct frag_play {
	const struct fl_map *map; /* borrowed */
	struct fl_alloc *alloc;
	struct frag_chains chains;
	struct frag_play_file *files; /* as map->files */
	FL_ARRAY(struct frag_play_file) temporaries;
	FL_ARRAY(struct frag_play_turn) queue; /* dirty files, the first first */
	uint32_t turns;
	size_t queue_limit;
	uint64_t dirty_blocks;
};

/* True when the history places this file; the others stay. */
typedef bool (*frag_play_moves)(const void *context, uint32_t file);

/*
 * The disk of day 0: what does not move is there, what moves is empty. FL_ENOMEM; FL_ENOROOM: the
 * blocks of the files that move are more than there is room for, which a map that fl_map_finish
 * passed rules out.
 */
int frag_play_start(struct frag_play *play, const struct fl_map *map, frag_play_moves moves,
		    const void *context) FL_CHECKED;
void frag_play_free(struct frag_play *play);

/*
 * Does one operation. FL_EPLAN with the reason in diag: it cannot be done in this state; FL_ENOROOM
 * with the reason; FL_ENOMEM.
 */
int frag_play_do(struct frag_play *play, const struct frag_op *op, struct fl_diag *diag) FL_CHECKED;

/* After the last operation: what is dirty is written, temporary files are deleted. As above. */
int frag_play_end(struct frag_play *play, struct fl_diag *diag) FL_CHECKED;

/* Blocks that nobody has or is about to get. */
static inline uint64_t frag_play_room(const struct frag_play *play)
{
	return fl_alloc_free_blocks(play->alloc) - play->dirty_blocks;
}

#endif
