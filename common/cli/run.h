/* SPDX-License-Identifier: MIT */
/*
 * The state of one run, shared by the files that carry it out. Private to cli.
 */
#ifndef FRAGLAB_CLI_RUN_H
#define FRAGLAB_CLI_RUN_H

#include <fraglab/partition.h>
#include <time.h>

#include "common/cli/messages.h"
#include "common/cli/progress.h"

/* Where in the image the filesystem is. */
struct fl_run_place {
	bool chosen;	    /* by --partition or --offset; else it has the whole image */
	unsigned partition; /* 0: none */
	uint64_t offset_bytes, size_bytes;
};

struct run {
	const struct fl_program *program;
	const struct fl_options *options;
	struct fl_progress progress;
	struct fl_report report;
	struct fl_diag diag; /* of the failure that ends the run */
	const char *image;   /* the image at hand, as the user named it; NULL: none */
	const char *action;  /* what is being done, for failures without a diag text */

	struct fl_device *file;		 /* the image, or its copy */
	struct fl_device *device;	 /* file, seen through the wish to stop */
	struct fl_device *window;	 /* the part of device that was chosen; NULL: all of it */
	struct fl_device *undo;		 /* --undo: over those, when something is to be written */
	struct fl_run_place place;	 /* that part; it holds for the copy too */
	struct fl_partitions partitions; /* to be listed after the failure that they caused */
	struct fl_fs *fs;
	struct fl_map *map;
	struct fl_map *units; /* what planners and mover use: map itself, or its clusters */
	struct fl_target target;
	struct fl_plan *plan;
	struct fl_trace *trace;		    /* of --workload trace=FILE */
	char *fio_log;			    /* --fio-log: of the last state that was measured */
	struct fl_analyze_options analysis; /* as the options have it, with the trace */
	struct fl_shape *like;		    /* NULL: the program asks for none */
	struct fl_interleave *interleave;   /* NULL: not asked for */
	char *part;			    /* --output: the copy, until it gets its name */
	bool has_undo;			    /* --undo: the file is made */

	bool copying;  /* --output: the image is being copied */
	bool may_stop; /* nothing is written yet: a wish to stop ends the run at once */
	bool moved;    /* the whole plan has run */
	bool stopped;  /* the mover ended early because someone asked it to */
	struct timespec move_began; /* CLOCK_MONOTONIC */
	bool out_of_time;	    /* the budget of seconds ended the moving */
};

/* --- recorded.c --- */

/* Reads the trace that the options name, if they do. FL_ESYNTAX, FL_EIO, FL_ENOMEM. */
int fl_run_load_trace(struct run *run) FL_CHECKED;
/* Reads the capture that the options name, if they do, into the report. As above. */
int fl_run_load_capture(struct run *run) FL_CHECKED;

/* --- like.c --- */

/* The shape of the image that the program names, if it does, for analysis. As fl_run_scan. */
int fl_run_load_like(struct run *run) FL_CHECKED;
void fl_run_free_like(struct run *run);

/* --- image.c: from a path to a map and its metrics --- */

/* Opens the image: file and device. */
int fl_run_open(struct run *run, const char *path, enum fl_device_mode mode) FL_CHECKED;
/* --verbose: what is made of each feature, also of an image that is about to be refused. */
int fl_run_tell_verdicts(struct run *run) FL_CHECKED;
/* Releases in reverse order whatever is open; the map too. */
void fl_run_close(struct run *run);
/* The device that has the filesystem and nothing else. */
struct fl_device *fl_run_disk(const struct run *run);
/* Frees map and units. */
void fl_run_drop_map(struct run *run);
/* Filesystem to map. */
int fl_run_scan(struct run *run, enum fl_fs_mode mode) FL_CHECKED;
int fl_run_measure(struct run *run, const struct fl_map *map,
		   struct fl_metrics *metrics) FL_CHECKED;
/* Path, filesystem and metrics of the open image, as the report's next image. */
int fl_run_describe(struct run *run) FL_CHECKED;

/* --- plan.c: from a map to a plan, before anything is written --- */

/* Target and plan, within the program's budget. */
int fl_run_plan(struct run *run) FL_CHECKED;
/* Validates the plan and takes the figures it promises; a dry run ends with their verdict. */
int fl_run_predict(struct run *run, bool *beyond) FL_CHECKED;
/* The figures that budgets of a part of the plan would buy; nothing without budgets. */
int fl_run_draw_curve(struct run *run) FL_CHECKED;

/* --- where.c: the part of the image that has the filesystem --- */

/*
 * Finds it out from the options, or that it is the whole image, and opens it. FL_EINVAL when a
 * choice must be made (the partitions are listed on stderr) or cannot be, FL_ESHORT,
 * FL_EDAMAGED, FL_EIO, FL_ENOMEM.
 */
int fl_run_locate(struct run *run) FL_CHECKED;
/* After the message of a failure that a look at the partitions may help with: lists them. */
void fl_run_list_partitions(const struct run *run);
/*
 * What the e2fsprogs must be given to find the filesystem in path (the image or its copy);
 * malloc'd. NULL: path itself will do, or memory ran out and it must.
 */
char *fl_run_e2fs_name(const struct run *run, const char *path);
/* Opens the same part of the copy. */
int fl_run_open_place(struct run *run) FL_CHECKED;

/* --- undo.c --- */

/* Opens the filesystem anew, with what is overwritten kept in the file that --undo names. */
int fl_run_keep_undo(struct run *run) FL_CHECKED;
/* Says on stderr what will no longer be true of what lies behind the filesystem. */
int fl_run_warn_trailer(struct run *run) FL_CHECKED;

/* --- left.c --- */

/*
 * Fills report.left from the map as it is (or, predicted, will be) after the run.
 * Returns FL_ENOMEM; *beyond: some file is left although it was asked for.
 */
int fl_run_find_left(struct run *run, const struct fl_map *map, bool *beyond) FL_CHECKED;

/* --- present.c --- */

/* Renders the report and delivers it. FL_EIO, FL_EHOSTFULL, FL_ENOMEM. */
int fl_run_present(struct run *run) FL_CHECKED;

/* --- conclude.c --- */

/* Says how the run ended; error is what ended it, partly that something is left. The status. */
int fl_run_conclude(struct run *run, int error, bool partly);

#endif
