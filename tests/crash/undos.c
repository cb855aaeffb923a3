/* SPDX-License-Identifier: MIT */
/*
 * Runs that keep what they overwrite (--undo), with the power cut in any operation on the image or
 * on the undo file. Whatever of either had not been flushed may be lost: the undo file brings
 * the image back to the byte, or nothing has changed yet.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/crash/sweep.h"
#include "tests/crash/undofd.h"
#include "tests/lib/ramdisk.h"

#define SUPER_AT 1024u
#define SUPER_BYTES 1024u
#define MMP_BYTES 1024u

/* An operation on the undo file. */
struct mark {
	uint64_t image_operations; /* those before it */
	uint64_t size_bytes;	   /* of the file, after it */
};

struct kept {
	struct worker *worker;
	const struct scene *scene;
	char path[100];	   /* of the undo file */
	size_t most_bytes; /* that it may have */
	struct powercut *image, *file;
	FL_ARRAY(struct mark) marks;
	struct powercut_replay image_replay, file_replay;
	uint8_t *bytes, *durable, *file_durable, *file_bytes;
};

/* --- the run --- */

static void seen(void *context, uint64_t size_bytes)
{
	struct kept *kept = context;
	struct mark mark = {powercut_operations(kept->image), size_bytes};

	/* Without memory the counts differ, which is said afterwards. */
	(void)!fl_array_push(&kept->marks, mark);
}

static int run_undoable(struct kept *kept, struct fl_diag *diag)
{
	const struct crash_conditions conditions = scene_conditions(kept->scene);
	struct crash_outcome outcome = {.planned = false};
	struct fl_device *undo = NULL;
	int error;

	undofd_watch(powercut_device(kept->file), seen, kept);
	error = fl_device_undo(powercut_device(kept->image), kept->path, 0, &undo, diag);
	if (!error)
		error = crash_program_run(kept->scene->program, undo, &conditions, &outcome);
	undofd_watch(NULL, NULL, NULL);
	fl_device_close(undo);
	if (error && !diag->text[0])
		*diag = outcome.diag;
	return error;
}

static bool record(struct kept *kept, char why[ORACLE_TEXT])
{
	struct fl_device *ram = NULL, *file_ram = NULL;
	struct fl_diag diag = {{0}};
	int error = ramdisk_new(kept->bytes, kept->scene->size_bytes, &ram);

	(void)unlink(kept->path);
	if (!error)
		error = ramdisk_new(kept->file_bytes, kept->most_bytes, &file_ram);
	if (!error)
		error = powercut_new(ram, 0, &kept->image);
	if (!error)
		error = powercut_new(file_ram, 0, &kept->file);
	if (!error)
		error = run_undoable(kept, &diag);
	fl_device_close(ram);
	fl_device_close(file_ram);
	if (error)
		snprintf(why, ORACLE_TEXT, "with an undo file it fails: %s: %.300s",
			 fl_error_text(error), diag.text);
	else if (kept->marks.count != powercut_operations(kept->file))
		snprintf(why, ORACLE_TEXT, "out of memory");
	return !error && kept->marks.count == powercut_operations(kept->file);
}

/* --- a moment --- */

/* Operations that have ended, and whether another is in flight, and where. */
struct moment {
	uint64_t image_done, file_done;
	bool in_file;
};

/* The moment of an operation, counted over both, from 1. */
static struct moment moment_of(const struct kept *kept, uint64_t number)
{
	struct moment moment = {0};

	while (moment.image_done + moment.file_done + 1 < number) {
		if (moment.file_done < kept->marks.count &&
		    kept->marks.at[moment.file_done].image_operations <= moment.image_done)
			moment.file_done++;
		else
			moment.image_done++;
	}
	moment.in_file = moment.file_done < kept->marks.count &&
			 kept->marks.at[moment.file_done].image_operations <= moment.image_done;
	return moment;
}

/* The size that a cut leaves: at least that of the last flush, at most what it had. */
static uint64_t size_at(const struct kept *kept, const struct moment *moment, uint64_t seed)
{
	uint64_t begun = moment->file_done + (moment->in_file && seed > 1);

	if (!seed || (seed > 2 && seed % 2))
		begun = powercut_flushed(kept->file, moment->file_done);
	return begun ? kept->marks.at[begun - 1].size_bytes : 0;
}

static bool write_file(const struct kept *kept, uint64_t size_bytes)
{
	int fd = open(kept->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool good = fd >= 0 && write(fd, kept->file_bytes, size_bytes) == (ssize_t)size_bytes;

	if (fd >= 0)
		close(fd);
	return good;
}

/*
 * To the byte. But e2undo -f marks the filesystem as one to be checked, and takes part in multiple
 * mount protection to do that.
 */
static bool as_before(const struct kept *kept, bool forced)
{
	const uint8_t *before = kept->scene->before;
	uint8_t *bytes = kept->worker->disk.bytes;
	size_t mmp_at = oracle_mmp_at(before);

	if (forced)
		memcpy(bytes + SUPER_AT, before + SUPER_AT, SUPER_BYTES);
	if (forced && mmp_at)
		memcpy(bytes + mmp_at, before + mmp_at, MMP_BYTES);
	return !memcmp(bytes, before, kept->scene->size_bytes);
}

static bool undone(const struct kept *kept, bool whole, char why[ORACLE_TEXT])
{
	const struct disk *disk = &kept->worker->disk;
	bool other_super = false, forced = false;
	int status = oracle_undo(kept->path, disk->path, false, &other_super);

	/* The superblock was about to change. */
	if (status && !whole && other_super) {
		forced = true;
		tally_add(kept->worker->sweep->tally, TALLY_FORCED, 1);
		status = oracle_undo(kept->path, disk->path, true, &other_super);
	}
	if (status && !whole)
		snprintf(why, ORACLE_TEXT, "e2undo ends with %d", status);
	else if (!as_before(kept, forced))
		snprintf(why, ORACLE_TEXT, "e2undo does not bring back what was there");
	else
		return true;
	return false;
}

static bool judge(struct kept *kept, uint64_t number, char why[ORACLE_TEXT])
{
	const struct moment moment = moment_of(kept, number);
	const uint64_t seed = sweep_seed(0, number);
	const struct disk *disk = &kept->worker->disk;
	uint64_t size_bytes = size_at(kept, &moment, seed);
	bool whole;

	if (moment.in_file) {
		powercut_between(&kept->image_replay, moment.image_done, seed, disk->bytes);
		powercut_disk(&kept->file_replay, moment.file_done + 1, seed, kept->file_bytes);
	} else {
		powercut_disk(&kept->image_replay, moment.image_done + 1, seed, disk->bytes);
		powercut_between(&kept->file_replay, moment.file_done, seed, kept->file_bytes);
	}
	whole = !memcmp(disk->bytes, kept->scene->before, kept->scene->size_bytes);
	/* Not even a name yet. */
	if (!size_bytes && whole)
		return true;
	snprintf(why, ORACLE_TEXT, "cannot write the undo file");
	return write_file(kept, size_bytes) && undone(kept, whole, why);
}

/* --- all of them --- */

static bool prepare(struct kept *kept, char why[ORACLE_TEXT])
{
	const size_t bytes = kept->scene->size_bytes;

	/* Each block once, and a block of keys at least for each commit. */
	kept->most_bytes = 2 * bytes + (2u << 20);
	kept->bytes = malloc(bytes);
	kept->durable = malloc(bytes);
	kept->file_durable = calloc(1, kept->most_bytes);
	kept->file_bytes = calloc(1, kept->most_bytes);
	if (!kept->bytes || !kept->durable || !kept->file_durable || !kept->file_bytes)
		return false;
	memcpy(kept->bytes, kept->scene->before, bytes);
	memcpy(kept->durable, kept->scene->before, bytes);
	if (!record(kept, why))
		return false;
	kept->image_replay = (struct powercut_replay){kept->image, 0, kept->durable, bytes};
	kept->file_replay =
		(struct powercut_replay){kept->file, 0, kept->file_durable, kept->most_bytes};
	return true;
}

static void complain(struct worker *worker, uint64_t number, const char *why)
{
	char tail[40];

	snprintf(tail, sizeof(tail), "undo:%llu", (unsigned long long)number);
	worker_complain(worker, tail, why);
}

void worker_undo(struct worker *worker, uint64_t first, uint64_t step)
{
	struct kept kept = {.worker = worker, .scene = &worker->scene};
	char why[ORACLE_TEXT] = "out of memory";
	uint64_t last;

	snprintf(kept.path, sizeof(kept.path), "%s.undo", worker->disk.path);
	if (!prepare(&kept, why)) {
		complain(worker, 0, why);
	} else {
		last = powercut_operations(kept.image) + powercut_operations(kept.file);
		for (uint64_t n = first; n <= last && !worker_enough(worker); n += step) {
			tally_add(worker->sweep->tally, TALLY_CUTS, 1);
			tally_add(worker->sweep->tally, TALLY_UNDOS, 1);
			if (!judge(&kept, n, why))
				complain(worker, n, why);
		}
	}
	(void)unlink(kept.path);
	powercut_free(kept.image);
	powercut_free(kept.file);
	fl_array_free(&kept.marks);
	free(kept.bytes);
	free(kept.durable);
	free(kept.file_durable);
	free(kept.file_bytes);
}
