/* SPDX-License-Identifier: MIT */
/*
 * Failing operations. Must not look inside the mover: what it says is compared with what
 * the device saw.
 */
#include "tests/crash/faults.h"

#include <stdio.h>
#include <string.h>

#include "common/cli/messages.h"
#include "tests/lib/ramdisk.h"

static bool fail(char why[ORACLE_TEXT], const char *text, int error)
{
	snprintf(why, ORACLE_TEXT, "%s (%s)", text, fl_error_text(error));
	return false;
}

/* The exit status that the command line gives for this. */
static int status_of(int error, const struct fl_move_result *moved)
{
	if (!moved->wrote)
		return fl_message_status(error, FL_IMAGE_UNTOUCHED);
	return fl_message_status(error, moved->fenced ? FL_IMAGE_UNCLEAN : FL_IMAGE_CLEAN);
}

static bool truthful(int error, const struct crash_outcome *outcome, bool wrote, bool clean,
		     char why[ORACLE_TEXT])
{
	int status = status_of(error, &outcome->moved);

	if (outcome->planned && outcome->moved.wrote != wrote)
		return fail(why, "result.wrote is not what the device saw", error);
	if (!outcome->moved.fenced && !clean)
		return fail(why, "the fence stands, and the result says it does not", error);
	if (!error && (!outcome->predicted || outcome->moved.fenced))
		return fail(why, "no error, but not done", error);
	if (error && !outcome->diag.text[0])
		return fail(why, "an error without words", error);
	if (status != (!error ? FL_EXIT_DONE : wrote ? FL_EXIT_FAILED_WRITING : FL_EXIT_FAILED))
		return fail(why, "the wrong exit status", error);
	return true;
}

/* What was written is not what is there: found, nothing switched to it, the image left clean. */
static bool found(int error, const struct crash_outcome *outcome, char why[ORACLE_TEXT])
{
	if (error != FL_EVERIFY)
		return fail(why, "other bytes than were written, and not found", error);
	if (outcome->moved.fenced)
		return fail(why, "other bytes than were written, and the fence stands", error);
	return true;
}

bool fault_judge(const struct scene *scene, enum fault_kind kind, uint64_t n, struct disk *disk,
		 struct tally *tally, bool *came, char why[ORACLE_TEXT])
{
	struct crash_conditions conditions = scene_conditions(scene);
	struct crash_outcome outcome = {.planned = false};
	struct fault_device *fault = NULL;
	struct fl_device *ram = NULL;
	bool wrote = false, good;
	int error;

	conditions.verify = kind == FAULT_READ_BACK || kind == FAULT_GARBLED;
	memcpy(disk->bytes, scene->before, scene->size_bytes);
	error = ramdisk_new(disk->bytes, scene->size_bytes, &ram);
	if (!error)
		error = fault_new(ram, kind, n, &fault);
	if (!error) {
		fault_garble(fault, scene->movable, scene->block_bytes);
		error = crash_program_run(scene->program, fault_device(fault), &conditions,
					  &outcome);
	}
	*came = fault && fault_came(fault);
	wrote = fault && fault_wrote(fault);
	fault_free(fault);
	fl_device_close(ram);
	good = !*came || truthful(error, &outcome, wrote, oracle_clean(disk->bytes), why);
	if (good && *came && kind == FAULT_READ_BACK && !error)
		good = fail(why, "what cannot be read back is taken for good", error);
	if (good && *came && kind == FAULT_GARBLED)
		good = found(error, &outcome, why);
	if (*came)
		tally_add(tally, TALLY_FAULTS, 1);
	return good && (!*came || scene_judge(scene, disk, tally, JUDGE_ALL, why));
}
