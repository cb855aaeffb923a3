/* SPDX-License-Identifier: MIT */
/*
 * Values of options that both programs have. Private to cli. Each takes the text of a value and
 * fills in what it stands for; FL_ESYNTAX with a text without the option's name, FL_ENOMEM.
 */
#ifndef FRAGLAB_CLI_OPTION_VALUES_H
#define FRAGLAB_CLI_OPTION_VALUES_H

#include <fraglab/cli.h>

int fl_option_workloads(const char *list, struct fl_options *options,
			struct fl_diag *diag) FL_CHECKED;
int fl_option_multiple(const char *value, unsigned kib, uint64_t *bytes,
		       struct fl_diag *diag) FL_CHECKED;
int fl_option_queue(const char *value, struct fl_disk_options *disk,
		    struct fl_diag *diag) FL_CHECKED;
int fl_option_write_cache(const char *value, struct fl_disk_options *disk,
			  struct fl_diag *diag) FL_CHECKED;
int fl_option_progress(const char *value, enum fl_progress_when *when,
		       struct fl_diag *diag) FL_CHECKED;
int fl_option_path(const char *value, const char **path, struct fl_diag *diag) FL_CHECKED;
int fl_option_offset(const char *value, struct fl_options *options,
		     struct fl_diag *diag) FL_CHECKED;
int fl_option_partition(const char *value, struct fl_options *options,
			struct fl_diag *diag) FL_CHECKED;

#endif
