/* SPDX-License-Identifier: MIT */
/*
 * The state of one run, shared by the files that carry it out. Private to cli.
 */
#ifndef FRAGLAB_CLI_RUN_H
#define FRAGLAB_CLI_RUN_H

#include "common/cli/messages.h"
#include "common/cli/progress.h"

struct run {
	const struct fl_program *program;
	const struct fl_options *options;
	struct fl_progress progress;
	struct fl_report report;
	struct fl_diag diag; /* of the failure that ends the run */
	const char *image;   /* the image at hand, as the user named it; NULL: none */
	const char *action;  /* what is being done, for failures without a diag text */

	struct fl_device *file;	  /* the image, or its copy */
	struct fl_device *device; /* file, seen through the wish to stop */
	struct fl_fs *fs;
	struct fl_map *map;
	struct fl_target target;
	struct fl_plan *plan;
	struct fl_interleave *interleave; /* NULL: not asked for */
	char *part;			  /* --output: the copy, until it gets its name */

	bool copying;  /* --output: the image is being copied */
	bool may_stop; /* nothing is written yet: a wish to stop ends the run at once */
	bool moved;    /* the whole plan has run */
	bool stopped;  /* the mover ended early because someone asked it to */
};

/* --- image.c: from a path to a map and its metrics --- */

/* Opens device and filesystem. */
int fl_run_open(struct run *run, const char *path, enum fl_device_mode mode) FL_CHECKED;
/* Releases in reverse order whatever is open; the map too. */
void fl_run_close(struct run *run);
/* Filesystem to map. */
int fl_run_scan(struct run *run, enum fl_fs_mode mode) FL_CHECKED;
int fl_run_measure(struct run *run, const struct fl_map *map,
		   struct fl_metrics *metrics) FL_CHECKED;
/* Path, filesystem and metrics of the open image, as the report's next image. */
int fl_run_describe(struct run *run) FL_CHECKED;

/* --- left.c --- */

/*
 * Fills report.left from the map as it is (or, predicted, will be) after the run.
 * Returns FL_ENOMEM; *beyond: some file is left although it was asked for.
 */
int fl_run_find_left(struct run *run, const struct fl_map *map, bool *beyond) FL_CHECKED;

/* --- present.c --- */

/* Renders the report and delivers it. FL_EIO, FL_EHOSTFULL, FL_ENOMEM. */
int fl_run_present(struct run *run) FL_CHECKED;

#endif
