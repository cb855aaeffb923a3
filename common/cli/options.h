/* SPDX-License-Identifier: MIT */
/*
 * The command line of both programs: from argv to struct fl_options and the program's own
 * settings. Opens nothing and prints nothing.
 */
#ifndef FRAGLAB_CLI_OPTIONS_H
#define FRAGLAB_CLI_OPTIONS_H

#include <fraglab/cli.h>

/* What the command line asks for. */
enum fl_request {
	FL_REQUEST_RUN,
	FL_REQUEST_HELP,
	FL_REQUEST_VERSION,
	FL_REQUEST_ANSWER, /* a question to the program: see fl_program.answer */
};

/*
 * Parses argv (permuted by getopt; options->images borrows from it). -h, -V and questions end
 * the parsing at once. FL_ESYNTAX with the whole text in diag, FL_ENOMEM.
 */
int fl_options_parse(const struct fl_program *program, int argc, char **argv,
		     struct fl_options *options, enum fl_request *request,
		     struct fl_diag *diag) FL_CHECKED;

#endif
