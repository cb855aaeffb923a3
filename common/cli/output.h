/* SPDX-License-Identifier: MIT */
/*
 * Where results go: stdout, and files that appear whole or not at all. Knows
 * nothing about what is in them.
 */
#ifndef FRAGLAB_CLI_OUTPUT_H
#define FRAGLAB_CLI_OUTPUT_H

#include <fraglab/cli.h>

/*
 * Makes sure that descriptors 0 to 2 are taken, so that no image can become stdout. A missing
 * one is opened the wrong way round: writing to it fails, as it should.
 */
void fl_output_reserve_standard(void);

/* Writes text to stdout and flushes it. FL_EIO, FL_EHOSTFULL. */
int fl_output_print(const char *text, struct fl_diag *diag) FL_CHECKED;

/*
 * Before the run: every file that the options name to write to must be possible, none of them
 * an image or another one of them. own: the program's, may be NULL. FL_ESYNTAX for the latter,
 * FL_EIO, FL_EINVAL, FL_ENOMEM.
 */
int fl_output_check(const struct fl_options *options, const struct fl_program_output *own,
		    struct fl_diag *diag) FL_CHECKED;

/*
 * The name under which a file grows until fl_output_publish: beside path (where path leads, if
 * it is a symlink). *part is malloc'd. FL_ENOMEM.
 */
int fl_output_part_name(const char *path, char **part) FL_CHECKED;

/* Gives part the permissions that cp(1) would give a copy of the file at path. FL_EIO. */
int fl_output_take_mode(const char *part, const char *path, struct fl_diag *diag) FL_CHECKED;

/*
 * Gives the finished and flushed file its name, durably; *part is then NULL. FL_EIO. On failure
 * part is still there.
 */
int fl_output_publish(char **part, const char *path, struct fl_diag *diag) FL_CHECKED;
/* Removes what got no name: then *part is NULL, which is legal. */
void fl_output_drop(char **part);

/*
 * Writes text to a file: under another name first, then renamed. What is no regular file (a
 * pipe, /dev/stderr) is written to directly. FL_EIO, FL_EHOSTFULL, FL_ENOMEM.
 */
int fl_output_file(const char *path, const char *text, struct fl_diag *diag) FL_CHECKED;

#endif
