/* SPDX-License-Identifier: MIT */
/*
 * What is said and done before the first write, so that it can be taken back: --undo, and a
 * word about what lies behind the filesystem. Writes nothing to the image.
 */
#include "common/cli/run.h"

int fl_run_keep_undo(struct run *run)
{
	int error;

	fl_fs_close(run->fs);
	run->fs = NULL;
	run->action = "creating the undo file";
	error = fl_device_undo(fl_run_disk(run), run->options->undo_path, run->place.offset_bytes,
			       &run->undo, &run->diag);
	if (error)
		return error;
	run->has_undo = true;
	run->action = "opening the filesystem";
	return fl_fs_open(run->undo, FL_FS_CHANGE, &run->fs, &run->diag);
}

int fl_run_warn_trailer(struct run *run)
{
	enum fl_trailer trailer;
	int error = fl_fs_trailer(run->fs, &trailer);

	if (error || trailer == FL_TRAILER_NONE || run->options->quiet)
		return error;
	fl_message(run->program->name, run->image,
		   "warning: %s lies behind the filesystem; it stays, but will not match blocks "
		   "that have moved: make it anew before the image is used",
		   trailer == FL_TRAILER_AVB ? "an Android Verified Boot footer"
					     : "dm-verity metadata");
	return 0;
}
