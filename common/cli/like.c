/* SPDX-License-Identifier: MIT */
/*
 * The shape of another image, for a program that lays out one like it. Only reads.
 */
#include <stdlib.h>

#include "common/cli/run.h"

int fl_run_load_like(struct run *run)
{
	const char *path = run->program->like ? *run->program->like : NULL;
	struct fl_options options = *run->options;
	/* Another run, on that image, which has no partition chosen and no request limit to keep.
	 */
	struct run other = {.program = run->program,
			    .options = &options,
			    .progress = run->progress,
			    .image = path,
			    .may_stop = true};
	int error;

	if (!path || options.analyze)
		return 0;
	options.partition = 0;
	options.has_offset = false;
	options.undo_path = NULL;
	run->image = path;
	run->like = calloc(1, sizeof(*run->like));
	if (!run->like)
		return FL_ENOMEM;
	error = fl_run_open(&other, path, FL_DEVICE_READ);
	if (!error)
		error = fl_run_locate(&other);
	if (!error)
		error = fl_run_scan(&other, FL_FS_ANALYZE);
	if (!error)
		error = fl_shape_of(other.map, run->like);
	fl_run_close(&other);
	/* There is no choosing one here. */
	if (error && other.partitions.all.count)
		error = fl_fail(&other.diag, FL_EINVAL,
				"option --like: it has partitions; an image of the filesystem "
				"alone is needed");
	fl_partitions_free(&other.partitions);
	run->diag = other.diag;
	run->action = other.action;
	if (error)
		return error;
	run->analysis.like = run->like;
	run->image = NULL;
	return 0;
}

void fl_run_free_like(struct run *run)
{
	if (run->like)
		fl_shape_free(run->like);
	free(run->like);
	run->like = NULL;
}
