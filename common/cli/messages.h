/* SPDX-License-Identifier: MIT */
/*
 * One-line messages on stderr, and the only translation of library errors to text
 * and to an exit status. Decides nothing about the run.
 */
#ifndef FRAGLAB_CLI_MESSAGES_H
#define FRAGLAB_CLI_MESSAGES_H

#include <fraglab/cli.h>

/* What a failure leaves behind; chooses the exit status and the advice. */
enum fl_image_state {
	FL_IMAGE_UNTOUCHED, /* not one byte written */
	FL_IMAGE_COPIED,    /* only a copy was written to; the caller takes it away */
	FL_IMAGE_UNCLEAN,   /* content intact, still marked for e2fsck */
	FL_IMAGE_CLEAN,	    /* not all is moved, and it is marked clean again */
	FL_IMAGE_DONE,	    /* all is moved, and it is marked clean again */
};

/* A diag text or a verdict's sentence, with the image's path where it says IMAGE. */
void fl_message_name_image(const char *reason, const char *image, char *text, size_t bytes);

/*
 * "PROGRAM: IMAGE: TEXT.\n" on stderr, one line whatever the names contain; image NULL leaves
 * it out. Keeps errno. A stderr that cannot be written to is not an error.
 */
void fl_message(const char *program, const char *image, const char *format, ...) FL_PRINTF(3, 4);

/* The exit status (an enum fl_exit) for an error of the library. */
int fl_message_status(int error, enum fl_image_state state);

/*
 * Reports a failure: the diag's text, or "ACTION: the error's phrase" when it has none, then
 * what state the image is in and what to run next. e2fs_name is what the e2fsprogs must be
 * given to find the filesystem; NULL: the image. Returns the exit status.
 */
int fl_message_failure(const char *program, const char *image, const char *e2fs_name,
		       const char *action, int error, const struct fl_diag *diag,
		       enum fl_image_state state);

#endif
