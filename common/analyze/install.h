/* SPDX-License-Identifier: MIT */
/*
 * The parts of the install workload: what is written when (install.c), where it goes
 * (install_place.c), and the metadata that comes along (install_commit.c). Private to
 * common/analyze.
 */
#ifndef FRAGLAB_ANALYZE_INSTALL_H
#define FRAGLAB_ANALYZE_INSTALL_H

#include <fraglab/alloc.h>

#include "streams.h"

#define INSTALL_WINDOWS 80u /* ten lists of eight */

struct made {
	fl_ino ino;
	uint32_t bytes;
};

struct install {
	struct stream *stream;
	FL_ARRAY(struct made) made; /* files without data yet */
	struct fl_alloc *alloc;
	struct fl_rng rng;
	uint32_t weight;	     /* of all sizes */
	struct fl_blockset *pending; /* metadata since the last commit */
	struct fl_blockset *dirty;   /* metadata that is not at home yet */
	const struct fl_file *journal;
	struct fl_run windows[INSTALL_WINDOWS]; /* what is left of those for small files */
	uint64_t journal_blocks;		/* its length; 0: none */
	uint64_t journal_at;			/* next logical block of it */
	uint32_t group;				/* where new inodes come from */
	uint32_t next_inode;			/* in that group, from 0 */
	uint64_t file_count;
	size_t kind; /* of the last file: index into sizes */
};

/* --- install_commit.c --- */

/* Finds the journal. */
int fl_install_commit_begin(struct install *install) FL_CHECKED;
/* Metadata that changes: a block; what an allocation in the group changes; the inode's block. */
int fl_install_touch(struct install *install, fl_pblk block) FL_CHECKED;
int fl_install_touch_group(struct install *install, uint32_t group, bool inode) FL_CHECKED;
int fl_install_touch_run(struct install *install, struct fl_run run) FL_CHECKED;
int fl_install_touch_inode(struct install *install, fl_ino ino) FL_CHECKED;
/* Issues the plug, then the journal's part of what changed since the last commit. */
int fl_install_commit(struct install *install) FL_CHECKED;
/* What was committed goes home. */
int fl_install_checkpoint(struct install *install) FL_CHECKED;
/* Files that writeback gets through between two waits for journal credits. */
uint32_t fl_install_files_a_plug(const struct install *install);

/* --- install_place.c --- */

/* Chooses the group where new inodes come from. FL_ENOMEM. */
int fl_install_place_begin(struct install *install) FL_CHECKED;
int fl_install_new_inode(struct install *install, fl_ino *ino) FL_CHECKED;
/* One block of metadata near a goal. FL_ENOROOM. */
int fl_install_new_block(struct install *install, fl_pblk goal) FL_CHECKED;
/* The next blocks of a file that stays small. FL_ENOROOM. */
int fl_install_take_small(struct install *install, fl_pblk goal, uint64_t want,
			  struct fl_run *run) FL_CHECKED;

#endif
