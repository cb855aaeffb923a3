/* SPDX-License-Identifier: MIT */
/*
 * Prepares scenes and judges disks. Must not be lenient: what is allowed is in tally.c.
 */
#include "tests/crash/scene.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/lib/ramdisk.h"

/* Runs after a cut that may be needed to reach the goal; and with a budget, which a cut wastes. */
#define MOST_RUNS 3
#define MOST_BUDGETS 12

/* --- preparing --- */

static bool load(const char *path, uint8_t *bytes, size_t size_bytes)
{
	FILE *file = fopen(path, "rb");
	bool whole = file && fread(bytes, 1, size_bytes, file) == size_bytes;

	if (file)
		fclose(file);
	return whole;
}

struct crash_conditions scene_conditions(const struct scene *scene)
{
	return (struct crash_conditions){.batch_blocks = scene->image->batch_blocks};
}

bool scene_record(const struct scene *scene, const struct crash_conditions *conditions,
		  uint8_t *bytes, struct powercut **log, struct crash_outcome *outcome,
		  char why[ORACLE_TEXT])
{
	struct fl_device *ram = NULL;
	int error = ramdisk_new(bytes, scene->size_bytes, &ram);

	*log = NULL;
	*outcome = (struct crash_outcome){.planned = false};
	if (!error)
		error = powercut_new(ram, 0, log);
	if (!error)
		error = crash_program_run(scene->program, powercut_device(*log), conditions,
					  outcome);
	fl_device_close(ram);
	if (conditions->cancels && error == FL_ECANCELLED)
		return true;
	if (error)
		snprintf(why, ORACLE_TEXT, "the program fails: %s: %.300s", fl_error_text(error),
			 outcome->diag.text);
	else if (conditions->cancels)
		snprintf(why, ORACLE_TEXT, "the program does not stop when it is asked to");
	else if (!outcome->predicted)
		snprintf(why, ORACLE_TEXT, "the second scan differs from the plan");
	return !error && outcome->predicted && !conditions->cancels;
}

bool scene_verified(const struct scene *scene, char why[ORACLE_TEXT])
{
	struct crash_conditions conditions = scene_conditions(scene);
	uint64_t operations = powercut_operations(scene->log);
	uint8_t *bytes = malloc(scene->size_bytes);
	struct crash_outcome outcome;
	struct powercut *log = NULL;
	bool good;

	if (!bytes) {
		snprintf(why, ORACLE_TEXT, "out of memory");
		return false;
	}
	memcpy(bytes, scene->before, scene->size_bytes);
	conditions.verify = true;
	good = scene_record(scene, &conditions, bytes, &log, &outcome, why);
	if (good && (powercut_operations(log) != operations ||
		     powercut_common(scene->log, log) != operations)) {
		snprintf(why, ORACLE_TEXT, "a run that verifies writes something else");
		good = false;
	}
	powercut_free(log);
	free(bytes);
	return good;
}

bool scene_live(const struct scene *scene, uint64_t cut, const uint8_t *expected, uint8_t *scratch,
		char why[ORACLE_TEXT])
{
	const struct crash_conditions conditions = scene_conditions(scene);
	struct crash_outcome outcome = {.planned = false};
	struct fl_device *ram = NULL;
	struct powercut *log = NULL;
	bool same;
	int error;

	memcpy(scratch, scene->before, scene->size_bytes);
	error = ramdisk_new(scratch, scene->size_bytes, &ram);
	if (!error)
		error = powercut_new(ram, cut, &log);
	if (!error)
		error = crash_program_run(scene->program, powercut_device(log), &conditions,
					  &outcome);
	same = log && powercut_operations(log) == cut &&
	       !memcmp(scratch, expected, scene->size_bytes);
	powercut_free(log);
	fl_device_close(ram);
	if (!same)
		snprintf(why, ORACLE_TEXT, "stopped for real, the disk is not what the log says");
	else if (error != FL_EIO || !outcome.moved.wrote || !outcome.diag.text[0])
		snprintf(why, ORACLE_TEXT, "stopped for real, it does not say so: %s (%.300s)",
			 fl_error_text(error), outcome.diag.text);
	else if (!outcome.moved.fenced && !oracle_clean(scratch))
		snprintf(why, ORACLE_TEXT, "stopped for real, it does not tell of the fence");
	return !why[0];
}

/* What frag makes of the image is what defrag begins with. */
static bool age(struct scene *scene, char why[ORACLE_TEXT])
{
	const struct crash_conditions conditions = scene_conditions(scene);
	struct scene aging = *scene;
	struct powercut *log = NULL;
	struct crash_outcome outcome;
	bool good;

	aging.program = &crash_programs[0];
	good = scene_record(&aging, &conditions, scene->before, &log, &outcome, why);
	powercut_free(log);
	return good;
}

bool scene_prepare(struct scene *scene, const struct crash_image *image,
		   const struct crash_program *program, const char *path)
{
	char why[ORACLE_TEXT] = "cannot be read";
	struct crash_conditions conditions;
	uint8_t *after;
	bool good;

	*scene = (struct scene){.image = image, .program = program};
	conditions = scene_conditions(scene);
	scene->size_bytes = (size_t)image->kib * 1024;
	scene->before = malloc(scene->size_bytes);
	after = malloc(scene->size_bytes);
	good = scene->before && after && load(path, scene->before, scene->size_bytes);
	if (good && program->defrag)
		good = age(scene, why);
	if (good) {
		scene->movable =
			oracle_movable(scene->before, scene->size_bytes, &scene->block_bytes, why);
		scene->oracle = oracle_new(scene->before, scene->size_bytes, why);
		memcpy(after, scene->before, scene->size_bytes);
		good = scene->movable && scene->oracle &&
		       scene_record(scene, &conditions, after, &scene->log, &scene->outcome, why);
	}
	if (good)
		good = oracle_content(scene->oracle, after, why) &&
		       oracle_blocks(after, scene->size_bytes, why);
	if (!good)
		printf("FAIL %s:%s:%s, not even cut: %s\n", image->name, program->program,
		       program->mode, why);
	free(after);
	return good;
}

void scene_free(struct scene *scene)
{
	free(scene->before);
	free(scene->movable);
	oracle_free(scene->oracle);
	powercut_free(scene->log);
	*scene = (struct scene){0};
}

static bool copy_journal(struct disk *disk, const char *journal)
{
	char command[400];

	snprintf(disk->journal, sizeof(disk->journal), "%s.journal", disk->path);
	snprintf(command, sizeof(command), "cp '%s' '%s'", journal, disk->journal);
	return !system(command);
}

bool disk_new(struct disk *disk, const char *directory, const char *name, size_t size_bytes,
	      const char *journal)
{
	int fd;

	snprintf(disk->path, sizeof(disk->path), "%s/%s-%ld", directory, name, (long)getpid());
	fd = open(disk->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	disk->size_bytes = size_bytes;
	disk->bytes = MAP_FAILED;
	if (fd >= 0 && !ftruncate(fd, (off_t)size_bytes))
		disk->bytes = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	disk->journal[0] = '\0';
	return disk->bytes != MAP_FAILED && (!journal || copy_journal(disk, journal));
}

void disk_free(struct disk *disk)
{
	munmap(disk->bytes, disk->size_bytes);
	unlink(disk->path);
	if (disk->journal[0])
		unlink(disk->journal);
}

/* --- judging --- */

struct hearing {
	struct tally *tally;
	char bad[ORACLE_TEXT]; /* the first complaint that is not allowed */
	size_t complaints;
};

static void hear(void *context, const char *kind)
{
	struct hearing *hearing = context;

	hearing->complaints++;
	if (!tally_complaint(hearing->tally, kind) && !hearing->bad[0])
		snprintf(hearing->bad, sizeof(hearing->bad), "%s", kind);
}

static bool repair(struct disk *disk, struct tally *tally, char why[ORACLE_TEXT])
{
	bool clean = oracle_clean(disk->bytes), modified;
	struct hearing hearing = {.tally = tally};
	int status;

	if (oracle_mmp(disk->bytes) == ORACLE_MMP_CHECKING && !oracle_clear_mmp(disk->path)) {
		snprintf(why, ORACLE_TEXT, "tune2fs -f -E clear_mmp fails");
		return false;
	}
	status = oracle_fsck(disk->path, disk->journal[0] ? disk->journal : NULL, true, hear,
			     &hearing, &modified);

	tally_add(tally, TALLY_FSCKS, 1);
	tally_add(tally, TALLY_DIRTY, modified);
	if (status < 0 || status > 1) {
		snprintf(why, ORACLE_TEXT, "e2fsck -fy ends with %d (%.300s)", status, hearing.bad);
		return false;
	}
	if (hearing.bad[0]) {
		snprintf(why, ORACLE_TEXT, "e2fsck says: %.300s", hearing.bad);
		return false;
	}
	if (clean && (status || modified || hearing.complaints)) {
		snprintf(why, ORACLE_TEXT, "marked clean, but e2fsck has something to fix");
		return false;
	}
	if (clean)
		return true;
	hearing.complaints = 0;
	status = oracle_fsck(disk->path, disk->journal[0] ? disk->journal : NULL, true, hear,
			     &hearing, &modified);
	tally_add(tally, TALLY_FSCKS, 1);
	if (status || modified || hearing.complaints) {
		snprintf(why, ORACLE_TEXT, "the second e2fsck -fy ends with %d", status);
		return false;
	}
	return true;
}

static bool intact(const struct scene *scene, const struct disk *disk, const char *when,
		   char why[ORACLE_TEXT])
{
	char text[ORACLE_TEXT];

	if (oracle_content(scene->oracle, disk->bytes, text) &&
	    oracle_blocks(disk->bytes, disk->size_bytes, text))
		return true;
	snprintf(why, ORACLE_TEXT, "%s: %.350s", when, text);
	return false;
}

/*
 * One run more. On a disk with next to no free block a plan may leave some blocks, and says so
 * (exit status 1); the run after it goes on. So it is with a budget.
 */
static bool run_on(const struct scene *scene, uint8_t *bytes, struct crash_outcome *outcome,
		   char why[ORACLE_TEXT])
{
	const struct crash_conditions conditions = scene_conditions(scene);
	struct fl_device *ram;
	int error = ramdisk_new(bytes, scene->size_bytes, &ram);

	*outcome = (struct crash_outcome){.planned = false};
	if (!error) {
		error = crash_program_run(scene->program, ram, &conditions, outcome);
		fl_device_close(ram);
	}
	if (error)
		snprintf(why, ORACLE_TEXT, "run again, it fails: %s: %.300s", fl_error_text(error),
			 outcome->diag.text);
	else if (!outcome->predicted || !oracle_clean(bytes))
		snprintf(why, ORACLE_TEXT, "run again, it ends elsewhere");
	else
		return true;
	return false;
}

/* From where a cut has left it, a budget may be too small to go on. */
static bool at_goal(const struct scene *scene, const struct crash_outcome *outcome)
{
	if (scene->program->pack.max_bytes)
		return outcome->fragments <= scene->outcome.fragments || outcome->batches == 0;
	return !outcome->left_blocks || scene->outcome.left_blocks;
}

/* What the run that was never cut has reached is reached. */
static bool resume(const struct scene *scene, struct disk *disk, struct tally *tally,
		   char why[ORACLE_TEXT])
{
	const int most = scene->program->pack.max_bytes ? MOST_BUDGETS : MOST_RUNS;
	struct crash_outcome outcome = {.planned = false};

	for (int i = 0; i < most; i++) {
		tally_add(tally, TALLY_RESUMED, 1);
		if (!run_on(scene, disk->bytes, &outcome, why))
			return false;
		if (scene->program->pack.max_bytes && outcome.fragments > outcome.before) {
			snprintf(why, ORACLE_TEXT, "run again, it makes %llu fragments of %llu",
				 (unsigned long long)outcome.fragments,
				 (unsigned long long)outcome.before);
			return false;
		}
		if (at_goal(scene, &outcome))
			return true;
	}
	snprintf(why, ORACLE_TEXT, "run again and again, it leaves %llu blocks, %llu fragments",
		 (unsigned long long)outcome.left_blocks, (unsigned long long)outcome.fragments);
	return false;
}

bool scene_guarded(const struct disk *disk, char why[ORACLE_TEXT])
{
	if (oracle_clean(disk->bytes) || oracle_mmp(disk->bytes) == ORACLE_MMP_NONE ||
	    oracle_mmp(disk->bytes) == ORACLE_MMP_CHECKING)
		return true;
	snprintf(why, ORACLE_TEXT, "unclean, and multiple mount protection lets others in");
	return false;
}

bool scene_judge(const struct scene *scene, struct disk *disk, struct tally *tally,
		 enum judge_depth depth, char why[ORACLE_TEXT])
{
	if (!intact(scene, disk, "before e2fsck", why) || !repair(disk, tally, why) ||
	    !intact(scene, disk, "after e2fsck", why))
		return false;
	if (depth == JUDGE_REPAIR)
		return true;
	return resume(scene, disk, tally, why) && intact(scene, disk, "after the next run", why);
}
