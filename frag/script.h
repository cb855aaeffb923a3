/* SPDX-License-Identifier: MIT */
/*
 * A history while it is made up: each operation is played, and written down when that is asked
 * for. Must not know what the operations are about.
 */
#ifndef FRAG_SCRIPT_H
#define FRAG_SCRIPT_H

#include <stdio.h>

#include "frag/play.h"
#include "frag/schedule.h"

struct frag_script {
	struct frag_play play;
	FILE *stream;	      /* NULL: not written down */
	struct fl_diag *diag; /* borrowed; NULL: none */
	uint64_t dirty_most;  /* blocks, then they are written back */
	uint64_t synced;      /* ticks: the last time that all was written back */
	/* Of each file of the map, in map->names; FL_NO_NAME: the root, for what has no name.
	 * Millions of temporaries ask, each for another file. */
	uint32_t *folders;
	FL_ARRAY(uint32_t) spare; /* numbers of temporary files that are gone */
	uint32_t numbers;	  /* given so far */
};

static inline struct frag_op_file frag_map_file(uint32_t number)
{
	return (struct frag_op_file){number, false};
}
static inline struct frag_op_file frag_temporary(uint32_t number)
{
	return (struct frag_op_file){number, true};
}

/* Before anything is created. FL_ENOMEM. */
int frag_script_start(struct frag_script *script, const struct fl_map *map) FL_CHECKED;

/* FL_ENOMEM, FL_EIO, FL_EHOSTFULL; FL_EPLAN and FL_ENOROOM as frag_play_do. The others too. */
int frag_script_do(struct frag_script *script, const struct frag_op *op) FL_CHECKED;

/* The time has come: writes back what has been dirty for half a minute. */
int frag_script_time(struct frag_script *script, uint64_t ticks) FL_CHECKED;

/* Opens, appends, closes; with sync also fsync before the last. */
int frag_script_write(struct frag_script *script, struct frag_op_file file, uint64_t blocks,
		      bool sync) FL_CHECKED;

/* A new temporary file in the folder of a file of the map. */
int frag_script_create(struct frag_script *script, uint32_t beside, uint32_t *number) FL_CHECKED;
int frag_script_delete(struct frag_script *script, uint32_t number) FL_CHECKED;
/* It takes the place of a file of the map. */
int frag_script_rename(struct frag_script *script, uint32_t number, uint32_t file) FL_CHECKED;

/* Frees what is not the play's. */
void frag_script_free(struct frag_script *script);

#endif
