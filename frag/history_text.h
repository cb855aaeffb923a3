/* SPDX-License-Identifier: MIT */
/*
 * The text of a history: one operation a line. The format is that of frag(8), section HISTORIES.
 * Must not know what operations do.
 */
#ifndef FRAG_HISTORY_TEXT_H
#define FRAG_HISTORY_TEXT_H

#include <stdio.h>

#include "frag/op.h"

/* The first lines. FL_EIO, FL_EHOSTFULL: the stream has failed, errno says why. */
int frag_history_print_head(FILE *stream, const struct fl_map *map) FL_CHECKED;
/* One operation. As above. */
int frag_history_print(FILE *stream, const struct fl_map *map, const struct frag_op *op) FL_CHECKED;

/* Finds the files of a map by what a history calls them. */
struct frag_names;
/* map is borrowed. FL_ENOMEM. Free with frag_names_free (NULL is legal). */
int frag_names_new(const struct fl_map *map, struct frag_names **names) FL_CHECKED;
void frag_names_free(struct frag_names *names);

/* A reader of lines; zero-initialise but for the first two. */
struct frag_history_reader {
	const struct fl_map *map;	/* borrowed */
	const struct frag_names *names; /* borrowed */
	uint64_t line;			/* of the last line given, from 1 */
	bool has_version, has_blocks;
};

/*
 * The next line, without its newline; the text is changed. *op is set and *none is false, or *none
 * is true: a comment, an empty line, or one of the head. FL_ESYNTAX with the number of the line and
 * the reason in diag.
 */
int frag_history_line(struct frag_history_reader *reader, char *text, struct frag_op *op,
		      bool *none, struct fl_diag *diag) FL_CHECKED;

#endif
