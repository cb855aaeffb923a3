/* SPDX-License-Identifier: MIT */
/*
 * The history of a disk: plays a schedule, or what was saved of one, through the allocator, from
 * a disk on which only what cannot move is present, to one that holds every file of the map and
 * nothing else. Deterministic.
 */
#ifndef FRAG_HISTORY_H
#define FRAG_HISTORY_H

#include "frag/play.h"
#include "frag/schedule.h"

struct frag_history_options {
	struct frag_schedule_options schedule;
	/* Files with mapping-tree blocks stay where they are; the others are aged. */
	bool keep_trees;
	const char *replay_path;      /* a saved history in place of the schedule; NULL: none */
	const struct fl_watch *watch; /* hears of days, or of bytes read; NULL: none */
	const char *save_path;	      /* where to write what is played; NULL: nowhere */
};

struct frag_history {
	const struct fl_map *map; /* borrowed */
	struct fl_alloc *alloc;	  /* what is free in the end: room for the mapping trees */
	struct frag_chains chains;
	struct frag_chain *files; /* as map->files; empty: stays where it is */
};

/* True when the schedule places this file; the others stay. */
bool frag_history_moves(const struct frag_history_options *options, const struct fl_file *file);

/*
 * Fills history (zero-initialised); free it with frag_history_free, also after a failure.
 * FL_ENOMEM; FL_ENOROOM when the blocks of the files are more than there is room for, which a
 * map that fl_map_finish passed rules out. Replaying also FL_ESYNTAX, when a line of the file
 * cannot be read or done, FL_EIO. Saving also FL_EIO, FL_EHOSTFULL. What the watch returns.
 */
int frag_history_run(struct frag_history *history, const struct fl_map *map,
		     const struct frag_history_options *options, struct fl_diag *diag) FL_CHECKED;
void frag_history_free(struct frag_history *history);

#endif
