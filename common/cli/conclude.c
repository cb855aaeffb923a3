/* SPDX-License-Identifier: MIT */
/*
 * From the end of a run to its exit status, and to the message that says what became of the
 * image. Must not change the image.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/cli/run.h"
#include "common/cli/signals.h"

static enum fl_image_state state_of(const struct run *run)
{
	if (run->part)
		return FL_IMAGE_COPIED;
	if (!run->report.moves.wrote)
		return FL_IMAGE_UNTOUCHED;
	if (run->report.moves.fenced)
		return FL_IMAGE_UNCLEAN;
	return run->moved ? FL_IMAGE_DONE : FL_IMAGE_CLEAN;
}

/* written: the image, or the copy that --output made. */
static int fail(struct run *run, int error, const char *written)
{
	const char *name = run->program->name;
	char *e2fs_name = written ? fl_run_e2fs_name(run, written) : NULL;
	int status;

	status = fl_message_failure(name, written, e2fs_name, run->action, error, &run->diag,
				    state_of(run));
	fl_run_list_partitions(run);
	if (run->report.moves.claimed)
		fl_message(name, written,
			   "multiple mount protection still says that it is in use; before "
			   "anything else run tune2fs -f -E clear_mmp %s",
			   e2fs_name ? e2fs_name : written);
	free(e2fs_name);
	if (run->has_undo && run->report.moves.wrote)
		fl_message(name, written, "e2undo %s %s brings back the image of before",
			   run->options->undo_path, written);
	return status;
}

int fl_run_conclude(struct run *run, int error, bool partly)
{
	const char *name = run->program->name;
	/* With --output the image that was written to is the copy. */
	const char *written = run->options->output_path && run->report.moves.wrote && !run->part
				      ? run->options->output_path
				      : run->image;

	fl_progress_clear(&run->progress);
	if (error && run->may_stop && fl_signals_stop_asked())
		error = fl_fail(&run->diag, FL_ECANCELLED, "cancelled: nothing is written");
	if (error == FL_ESYNTAX) {
		fl_message(name, run->image, "%s; see %s --help", run->diag.text, name);
		return FL_EXIT_USAGE;
	}
	if (error)
		return fail(run, error, written);
	if (run->stopped)
		fl_message(name, written,
			   "cancelled: batches done and in place: %" PRIu64
			   "; the filesystem is clean; run %s again to go on",
			   run->report.moves.batches, name);
	return run->stopped ? FL_EXIT_CANCELLED : partly ? FL_EXIT_PARTLY : FL_EXIT_DONE;
}
