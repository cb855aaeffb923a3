/* SPDX-License-Identifier: MIT */
/*
 * A run from the command line to the report, one function a phase. Knows the order of
 * things; what a phase does is done by the layers below.
 */
#include "common/cli/run.h"

#include <fraglab/trace.h>
#include <fraglab/version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include "common/cli/options.h"
#include "common/cli/output.h"
#include "common/cli/signals.h"

/* --- the phases before anything is written --- */

/* Opens the image, scans it and takes the "before" figures. */
static int look(struct run *run, enum fl_device_mode device_mode, enum fl_fs_mode fs_mode)
{
	int error;

	error = fl_run_open(run, run->image, device_mode);
	if (!error)
		error = fl_run_locate(run);
	if (!error && run->options->verbose)
		error = fl_run_tell_verdicts(run);
	if (!error)
		error = fl_run_scan(run, fs_mode);
	if (error)
		return error;
	if (run->options->verbose)
		fl_message(run->program->name, run->image,
			   "scanned: %zu files in %zu extents, %" PRIu64 " blocks free",
			   run->map->files.count, run->map->extents.count, run->map->free_blocks);
	return fl_run_describe(run);
}

/* --- the phases that write --- */

/*
 * From here on the work goes to a copy: same bytes (the image stays locked until it is made),
 * so map and plan hold for it too.
 */
static int move_to_copy(struct run *run)
{
	struct fl_map *map = run->map, *units = run->units;
	int error;

	run->action = "copying";
	error = fl_output_part_name(run->options->output_path, &run->part);
	if (error)
		return error;
	fl_progress_phase(&run->progress, "copying", NULL, 1);
	run->copying = true;
	error = fl_device_file_copy(run->device, run->part, false, &run->diag);
	run->copying = false;
	fl_progress_clear(&run->progress);
	if (error)
		return error;
	error = fl_output_take_mode(run->part, run->image, &run->diag);
	if (error)
		return error;
	run->map = run->units = NULL;
	fl_run_close(run);
	run->map = map;
	run->units = units;
	error = fl_run_open(run, run->part, FL_DEVICE_WRITE);
	if (error)
		return error;
	run->action = "opening the copy";
	error = fl_run_open_place(run);
	if (error)
		return error;
	return fl_fs_open(fl_run_disk(run), FL_FS_CHANGE, &run->fs, &run->diag);
}

static double seconds_between(const struct timespec *from, const struct timespec *to)
{
	return (double)(to->tv_sec - from->tv_sec) + (double)(to->tv_nsec - from->tv_nsec) / 1e9;
}

/* Whether the time that the run may take is over. */
static bool time_is_up(const struct run *run)
{
	const struct fl_budget *budget = run->program->budget;
	struct timespec now = {0};

	if (!budget || !budget->seconds || clock_gettime(CLOCK_MONOTONIC, &now))
		return false;
	return seconds_between(&run->move_began, &now) >= (double)budget->seconds;
}

static bool stop_asked(void *context)
{
	struct run *run = context;

	run->out_of_time |= time_is_up(run);
	return run->out_of_time || fl_signals_stop_asked();
}

static void moving_progress(void *context, uint64_t done, uint64_t total)
{
	struct run *run = context;

	fl_progress_update(&run->progress, done, total);
}

/* Other machines may have to answer; see fl_fs_claim. */
static bool wait_for_others(void *context, uint32_t seconds)
{
	struct run *run = context;
	uint32_t done = 0;

	fl_progress_phase(&run->progress, "waiting for other machines", "seconds", 0);
	while (done < seconds && !stop_asked(run)) {
		fl_progress_update(&run->progress, done, seconds);
		done += sleep(1) == 0;
	}
	fl_progress_phase(&run->progress, "moving", NULL, run->units->geo.block_bytes);
	/* Only now: waiting is not moving. */
	(void)clock_gettime(CLOCK_MONOTONIC, &run->move_began);
	return done == seconds;
}

static int move(struct run *run)
{
	struct fl_move_options options = {
		.verify = run->options->verify,
		.buffer_bytes = run->options->memory_bytes,
		.cancelled = stop_asked,
		.progress = moving_progress,
		.context = run,
		.claimant = {.wait = wait_for_others, .context = run},
	};
	struct timespec to = {0};
	int error;

	run->action = "moving";
	if (getrandom(&options.claimant.sequence, sizeof(options.claimant.sequence), 0) < 0)
		return FL_EIO;
	options.claimant.sequence = 1 + options.claimant.sequence % FL_FS_MOST_SEQUENCE;
	/* From here on it is the mover that knows where it may stop. */
	run->may_stop = false;
	fl_progress_phase(&run->progress, "moving", NULL, run->units->geo.block_bytes);
	(void)clock_gettime(CLOCK_MONOTONIC, &run->move_began);
	error = fl_move_run(run->fs, run->units, run->plan, &options, &run->report.moves,
			    &run->diag);
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	fl_progress_clear(&run->progress);
	run->report.seconds = seconds_between(&run->move_began, &to);
	run->moved = !error;
	if (error == FL_ECANCELLED) {
		run->stopped = !run->out_of_time;
		error = 0;
	}
	return error;
}

/*
 * What a second scan finds. The first map goes before it is made, and the filesystem is opened
 * anew; the file stays open, so that the lock holds until the report is true.
 */
static int look_again(struct run *run, bool *beyond)
{
	int error;

	fl_plan_free(run->plan);
	run->plan = NULL;
	fl_target_free(&run->target);
	fl_run_drop_map(run);
	fl_fs_close(run->fs);
	run->fs = NULL;
	error = fl_run_scan(run, FL_FS_READ);
	if (error)
		return error;
	error = fl_run_measure(run, run->map, &run->report.after);
	if (error)
		return error;
	run->report.has_after = true;
	return fl_run_find_left(run, run->map, beyond);
}

static int publish_copy(struct run *run)
{
	run->action = "naming the copy";
	fl_run_close(run);
	return fl_output_publish(&run->part, run->options->output_path, &run->diag);
}

/* The name under which the program's own file grows. */
static int begin_own_output(struct run *run)
{
	struct fl_program_output *own = run->program->output;

	return own && own->path ? fl_output_part_name(own->path, &own->part) : 0;
}

static int publish_own_output(struct run *run)
{
	struct fl_program_output *own = run->program->output;

	if (!own || !own->part)
		return 0;
	run->action = "naming the file";
	return fl_output_publish(&own->part, own->path, &run->diag);
}

/* --- the two kinds of run --- */

/* What the array under all images sees, a workload at a time. */
static int interleave(struct run *run)
{
	size_t count = run->interleave ? run->analysis.workload_count : 0, i;
	int error = 0;

	if (!count)
		return 0;
	run->action = "interleaving";
	run->report.interleaved = fl_alloc(count, sizeof(*run->report.interleaved));
	if (!run->report.interleaved)
		return FL_ENOMEM;
	for (i = 0; i < count && !error; i++)
		error = fl_interleave_measure(run->interleave, i, &run->report.interleaved[i]);
	if (!error)
		run->report.interleaved_count = count;
	return error;
}

/* --analyze: a column for each image; changes nothing. */
static int analyze_images(struct run *run)
{
	size_t i;
	int error = 0;

	run->report.analyze = true;
	if (run->options->interleave)
		error = fl_interleave_new(&run->analysis, &run->interleave);
	if (error)
		return error;
	for (i = 0; i < run->options->image_count; i++) {
		run->image = run->options->images[i];
		error = look(run, FL_DEVICE_READ, FL_FS_ANALYZE);
		if (!error && run->interleave)
			error = fl_interleave_add(run->interleave, run->map);
		if (error)
			return error;
		fl_run_close(run);
	}
	run->image = NULL;
	error = interleave(run);
	return error ? error : fl_run_present(run);
}

static int change_image(struct run *run, bool *partly)
{
	const bool dry_run = run->options->dry_run, copies = run->options->output_path && !dry_run;
	const bool writes_here = !dry_run && !copies;
	const struct fl_metrics *last = dry_run ? &run->report.predicted : &run->report.after;
	bool no_room, beyond = false;
	int error;

	run->image = run->options->images[0];
	run->report.dry_run = dry_run;
	error = look(run, writes_here ? FL_DEVICE_WRITE : FL_DEVICE_READ,
		     writes_here ? FL_FS_CHANGE : FL_FS_READ);
	if (!error)
		error = begin_own_output(run);
	if (!error)
		error = fl_run_plan(run);
	if (!error)
		error = fl_run_predict(run, &beyond);
	if (!error && dry_run)
		error = fl_run_draw_curve(run);
	if (error)
		return error;
	if (fl_signals_stop_asked())
		return FL_ECANCELLED;
	no_room = run->plan->left_blocks > 0;
	error = fl_run_warn_trailer(run);
	if (!error && copies)
		error = move_to_copy(run);
	else if (!error && run->options->undo_path && !dry_run)
		error = fl_run_keep_undo(run);
	if (!error && !dry_run)
		error = move(run);
	if (!error && !dry_run)
		error = look_again(run, &beyond);
	if (!error && copies)
		error = publish_copy(run);
	if (!error)
		error = publish_own_output(run);
	if (!error)
		error = fl_run_present(run);
	if (!error)
		*partly = no_room || beyond || run->out_of_time ||
			  !fl_aims_met(&run->report.aims, last);
	return error;
}

static int run_all(const struct fl_program *program, const struct fl_options *options)
{
	struct run run = {.program = program,
			  .options = options,
			  .analysis = options->analysis,
			  .may_stop = true};
	bool partly = false;
	int status;
	int error;

	fl_progress_init(&run.progress, program->name, options->progress, options->quiet);
	run.report.tool = program->name;
	run.report.version = FL_VERSION;
	run.action = "starting";
	run.report.images = fl_alloc(options->image_count, sizeof(*run.report.images));
	if (!run.report.images) {
		error = FL_ENOMEM;
	} else {
		memset(run.report.images, 0, options->image_count * sizeof(*run.report.images));
		error = fl_output_check(options, program->output, &run.diag);
	}
	if (!error)
		error = fl_run_load_trace(&run);
	if (!error)
		error = fl_run_load_capture(&run);
	if (!error)
		error = fl_run_load_like(&run);
	if (!error)
		error = options->analyze ? analyze_images(&run) : change_image(&run, &partly);
	status = fl_run_conclude(&run, error, partly);
	/* Of no use to anybody, and it would stand in the way of the next try. */
	if (run.has_undo && error && !run.report.moves.wrote)
		(void)unlink(options->undo_path);

	fl_plan_free(run.plan);
	fl_target_free(&run.target);
	fl_interleave_free(run.interleave);
	fl_run_free_like(&run);
	fl_run_close(&run);
	fl_report_free(&run.report);
	fl_trace_free(run.trace);
	free(run.fio_log);
	/* What failed leaves nothing. */
	fl_output_drop(&run.part);
	if (program->output)
		fl_output_drop(&program->output->part);
	fl_partitions_free(&run.partitions);
	return status;
}

/* Prints one of the answers that need no image. */
static int print(const struct fl_program *program, const char *text)
{
	struct fl_diag diag = {{0}};
	int error = fl_output_print(text, &diag);

	if (!error)
		return FL_EXIT_DONE;
	return fl_message_failure(program->name, NULL, NULL, "printing", error, &diag,
				  FL_IMAGE_UNTOUCHED);
}

static int answer(const struct fl_program *program)
{
	char *text = NULL;
	int error = program->answer(program->settings, &text);
	int status;

	if (error)
		status = fl_message_failure(program->name, NULL, NULL, "answering", error, NULL,
					    FL_IMAGE_UNTOUCHED);
	else
		status = print(program, text);
	free(text);
	return status;
}

int fl_cli_main(const struct fl_program *program, int argc, char **argv)
{
	struct fl_options options;
	struct fl_diag diag = {{0}};
	enum fl_request request;
	char version[64];
	int error;

	fl_output_reserve_standard();
	fl_signals_catch();
	error = fl_options_parse(program, argc, argv, &options, &request, &diag);
	if (error == FL_ESYNTAX) {
		fl_message(program->name, NULL, "%s; see %s --help", diag.text, program->name);
		return FL_EXIT_USAGE;
	}
	if (error)
		return fl_message_failure(program->name, NULL, NULL, "reading the command line",
					  error, &diag, FL_IMAGE_UNTOUCHED);
	switch (request) {
	case FL_REQUEST_HELP:
		return print(program, program->usage);
	case FL_REQUEST_VERSION:
		(void)snprintf(version, sizeof(version), "%s (fraglab) %s\n", program->name,
			       FL_VERSION);
		return print(program, version);
	case FL_REQUEST_ANSWER:
		return answer(program);
	case FL_REQUEST_RUN:
		break;
	}
	return run_all(program, &options);
}
