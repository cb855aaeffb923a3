/* SPDX-License-Identifier: MIT */
/*
 * From the path of an image to its map and metrics, with progress shown and the wish
 * to stop heeded. Writes nothing to the image.
 */
#include "common/cli/run.h"

#include <fraglab/scan.h>
#include <fraglab/trace.h>
#include <stdlib.h>
#include <string.h>
#include "common/cli/signals.h"

/*
 * Sees every operation first: ends a run that only reads yet as soon as someone asks for it,
 * and shows how far a copy has come.
 */
static int watch(void *context, const struct fl_device_event *event)
{
	struct run *run = context;

	if (run->copying && event->op == FL_OP_READ)
		fl_progress_update(&run->progress, event->position, run->file->size_bytes);
	return run->may_stop && fl_signals_stop_asked() ? FL_ECANCELLED : 0;
}

int fl_run_open(struct run *run, const char *path, enum fl_device_mode mode)
{
	int error;

	run->action = "opening";
	error = fl_device_file_open(path, mode, &run->file, &run->diag);
	if (error)
		return error;
	return fl_device_recorder(run->file, watch, run, &run->device);
}

void fl_run_drop_map(struct run *run)
{
	if (run->units != run->map)
		fl_map_free(run->units);
	fl_map_free(run->map);
	run->map = run->units = NULL;
}

void fl_run_close(struct run *run)
{
	fl_run_drop_map(run);
	fl_fs_close(run->fs);
	run->fs = NULL;
	fl_device_close(run->undo);
	run->undo = NULL;
	fl_device_close(run->window);
	run->window = NULL;
	fl_device_close(run->device);
	run->device = NULL;
	fl_device_close(run->file);
	run->file = NULL;
}

struct fl_device *fl_run_disk(const struct run *run)
{
	if (run->undo)
		return run->undo;
	return run->window ? run->window : run->device;
}

/* Requests are whole blocks; only now is the size of a block known. */
static int check_max_io(struct run *run)
{
	uint64_t max_io = run->analysis.stream.max_io_bytes;
	uint32_t block = fl_fs_geometry(run->fs)->block_bytes;

	if (max_io % block)
		return fl_fail(&run->diag, FL_ESYNTAX,
			       "option --max-io: not a multiple of the block size, %u bytes",
			       block);
	return 0;
}

int fl_run_tell_verdicts(struct run *run)
{
	static const char *const treatments[] = {
		[FL_TREATMENT_MOVE] = "moved",
		[FL_TREATMENT_ANALYSE] = "only analysed",
		[FL_TREATMENT_REFUSE] = "refused",
	};
	char *e2fs_name = fl_run_e2fs_name(run, run->image);
	struct fl_verdicts verdicts = {0};
	int error = fl_fs_verdicts(fl_run_disk(run), &verdicts, &run->diag);

	for (size_t i = 0; i < verdicts.count && !error; i++) {
		const struct fl_verdict *verdict = &verdicts.at[i];
		char text[512];

		fl_message_name_image(verdict->sentence, e2fs_name ? e2fs_name : run->image, text,
				      sizeof(text));
		fl_message(run->program->name, run->image, "%s: %s: %s", verdict->name,
			   treatments[verdict->treatment], text);
	}
	fl_array_free(&verdicts);
	free(e2fs_name);
	return error;
}

int fl_run_scan(struct run *run, enum fl_fs_mode mode)
{
	int error;

	run->action = "opening the filesystem";
	error = fl_fs_open(fl_run_disk(run), mode, &run->fs, &run->diag);
	if (error)
		return error;
	error = check_max_io(run);
	if (error)
		return error;
	run->action = "scanning";
	fl_progress_phase(&run->progress, "scanning", "inodes", 0);
	error = fl_scan(run->fs, fl_progress_update, &run->progress, &run->map, &run->diag);
	fl_progress_clear(&run->progress);
	if (error)
		return error;
	if (run->options->move_immutable)
		fl_map_unpin(run->map, FL_PIN_IMMUTABLE);
	if (run->map->geo.cluster_blocks > 1)
		return fl_map_units(run->map, &run->units, &run->diag);
	run->units = run->map;
	return 0;
}

/* The file names of a trace mean something on this image. */
static int check_trace(struct run *run, const struct fl_map *map)
{
	struct fl_diag reason = {{0}};
	int error = fl_trace_check(run->trace, map, &reason);

	if (error != FL_ESYNTAX)
		return error;
	return fl_fail(&run->diag, error, "option --workload: trace %s: %s",
		       run->options->trace_path, reason.text);
}

int fl_run_measure(struct run *run, const struct fl_map *map, struct fl_metrics *metrics)
{
	int error = 0;

	run->action = "analysing";
	if (run->trace)
		error = check_trace(run, map);
	if (!error)
		error = fl_analyze(map, &run->analysis, metrics);
	if (error || !run->options->fio_log_path)
		return error;
	free(run->fio_log);
	run->fio_log = NULL;
	return fl_report_fio_log(map, run->analysis.workloads[0], &run->analysis.stream,
				 &run->fio_log);
}

static int describe_features(struct run *run, struct fl_report_filesystem *filesystem)
{
	char buffer[FL_FEATURE_NAME];
	size_t count = 0, i;

	while (fl_fs_feature(run->fs, count, buffer))
		count++;
	if (!count)
		return 0;
	filesystem->features = fl_alloc(count, sizeof(*filesystem->features));
	if (!filesystem->features)
		return FL_ENOMEM;
	for (i = 0; i < count; i++) {
		const char *name = fl_fs_feature(run->fs, i, buffer);

		filesystem->features[i] = name ? strdup(name) : NULL;
		if (!filesystem->features[i])
			return FL_ENOMEM;
		filesystem->feature_count = i + 1;
	}
	return 0;
}

int fl_run_describe(struct run *run)
{
	const struct fl_geometry *geo = fl_fs_geometry(run->fs);
	struct fl_report_image *image = &run->report.images[run->report.image_count];
	int error;

	/* Counted first, so that fl_report_free finds what a failure below leaves in it. */
	run->report.image_count++;
	image->path = strdup(run->image);
	if (!image->path)
		return FL_ENOMEM;
	image->partition = run->place.partition;
	image->placed = run->place.chosen;
	image->offset_bytes = run->place.offset_bytes;
	image->size_bytes = run->place.size_bytes;
	image->filesystem.block_bytes = geo->block_bytes;
	image->filesystem.blocks = geo->blocks;
	image->filesystem.free_blocks = run->map->free_blocks;
	image->filesystem.used_blocks = geo->blocks - run->map->free_blocks;
	error = describe_features(run, &image->filesystem);
	if (error)
		return error;
	return fl_run_measure(run, run->map, &image->metrics);
}
