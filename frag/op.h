/* SPDX-License-Identifier: MIT */
/*
 * Operations: what a history is made of. Plain data; the text that they are saved as is in
 * history_text.h, what they do to a disk in play.h.
 */
#ifndef FRAG_OP_H
#define FRAG_OP_H

#include <fraglab/map.h>

enum frag_op_kind {
	FRAG_OP_TIME,	  /* amount: seconds since day 0; for readers */
	FRAG_OP_CREATE,	  /* a temporary file, in a folder of the map */
	FRAG_OP_APPEND,	  /* amount: blocks, of which places are found later; opens the file */
	FRAG_OP_TRUNCATE, /* amount: the blocks that are left */
	FRAG_OP_FSYNC,	  /* the file gets its places; the journal commits */
	FRAG_OP_CLOSE,
	FRAG_OP_SYNC,	/* all files get their places, in the order they became dirty; commit */
	FRAG_OP_RENAME, /* a temporary file takes the place of one of the map */
	FRAG_OP_DELETE,
};

/* A file of the map (an index into map->files), or a temporary one. */
struct frag_op_file {
	uint32_t number;
	bool temporary;
};

/* The numbers of temporary files are below this. */
#define FRAG_MOST_TEMPORARIES ((uint32_t)1 << 24)

struct frag_op {
	enum frag_op_kind kind;
	struct frag_op_file file; /* all but time and sync */
	/* create: the folder, in map->names, FL_NO_NAME: the root; rename: in map->files */
	uint32_t other;
	uint64_t amount;
};

#endif
