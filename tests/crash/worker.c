/* SPDX-License-Identifier: MIT */
/*
 * One worker: makes every cut of a range, or every fault of a kind, and has it judged.
 * Must not know how the work is shared out.
 */
#include "tests/crash/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the resuming run, every so-many-th operation is cut. */
#define SECOND_STEP 29u
/* And so many are made by a device that stops, not from the log. */
#define LIVE_STEP 41u
/* A worker gives up a unit after so many failures: they are one fault, seen again and again. */
#define UNIT_FAILURES 5u

void sweep_image_path(const struct sweep *sweep, uint32_t image, char path[160])
{
	snprintf(path, 160, "%s/%s.img", sweep->directory, crash_images[image].name);
}

bool sweep_prepare(const struct sweep *sweep, struct scene *scene, uint32_t image, uint32_t program)
{
	char path[160];

	sweep_image_path(sweep, image, path);
	return scene_prepare(scene, &crash_images[image], &crash_programs[program], path);
}

uint64_t sweep_seed(uint64_t round, uint64_t cut)
{
	if (!round && cut % 8 < 3)
		return cut % 8;
	return 3 + round * 97 + cut % 97;
}

void worker_complain(struct worker *worker, const char *tail, const char *why)
{
	const struct scene *scene = &worker->scene;

	worker->failures++;
	tally_add(worker->sweep->tally, TALLY_FAILURES, 1);
	printf("FAIL %s:%s:%s:%s: %s\n", scene->image->name, scene->program->program,
	       scene->program->mode, tail, why);
	fflush(stdout);
}

bool worker_enough(const struct worker *worker)
{
	return worker->failures >= UNIT_FAILURES ||
	       (worker->sweep->first && tally_get(worker->sweep->tally, TALLY_FAILURES));
}

/* --- power cuts --- */

/* The run that resumes is cut as well: in operation cut2, or in every so-many-th when that is 0. */
static void cut_again(struct worker *worker, uint64_t seed, uint64_t cut, uint64_t cut2)
{
	const struct scene *scene = &worker->scene;
	const struct crash_conditions conditions = scene_conditions(scene);
	uint8_t *durable = malloc(scene->size_bytes), *after = malloc(scene->size_bytes);
	char why[ORACLE_TEXT] = "out of memory", tail[80];
	struct crash_outcome outcome;
	struct powercut *log = NULL;
	struct powercut_replay replay = {NULL, 0, durable, scene->size_bytes};
	uint64_t last;

	snprintf(tail, sizeof(tail), "%llu:%llu", (unsigned long long)seed,
		 (unsigned long long)cut);
	if (durable && after) {
		memcpy(durable, worker->disk.bytes, scene->size_bytes);
		memcpy(after, worker->disk.bytes, scene->size_bytes);
	}
	if (!durable || !after || !scene_record(scene, &conditions, after, &log, &outcome, why)) {
		worker_complain(worker, tail, why);
		goto out;
	}
	last = powercut_operations(log);
	replay.log = log;
	for (uint64_t at = cut2 ? cut2 : 1 + cut % SECOND_STEP;
	     at <= last && !worker_enough(worker); at += SECOND_STEP) {
		powercut_disk(&replay, at, seed, worker->other.bytes);
		tally_add(worker->sweep->tally, TALLY_CUTS, 1);
		tally_add(worker->sweep->tally, TALLY_SECOND, 1);
		if (!scene_guarded(&worker->other, why) ||
		    !scene_judge(scene, &worker->other, worker->sweep->tally, JUDGE_ALL, why)) {
			snprintf(tail, sizeof(tail), "%llu:%llu:%llu", (unsigned long long)seed,
				 (unsigned long long)cut, (unsigned long long)at);
			worker_complain(worker, tail, why);
		}
		if (cut2)
			break;
	}
out:
	powercut_free(log);
	free(durable);
	free(after);
}

/* One cut; the disk is in worker->disk. */
static void judge_cut(struct worker *worker, uint64_t seed, uint64_t cut, bool again, uint64_t cut2)
{
	const struct scene *scene = &worker->scene;
	struct tally *tally = worker->sweep->tally;
	char why[ORACLE_TEXT], tail[80];

	if (!cut2)
		tally_add(tally, TALLY_CUTS, 1);
	if (!scene_guarded(&worker->disk, why) ||
	    !scene_judge(scene, &worker->disk, tally, again ? JUDGE_REPAIR : JUDGE_ALL, why)) {
		snprintf(tail, sizeof(tail), "%llu:%llu", (unsigned long long)seed,
			 (unsigned long long)cut);
		worker_complain(worker, tail, why);
		return;
	}
	if (again)
		cut_again(worker, seed, cut, cut2);
}

/*
 * The log is one thing, a run whose power really goes another. It must fail as it should, and
 * leave what the log says, which is on worker->disk (seed 1).
 */
static void check_live(struct worker *worker, uint64_t cut)
{
	char why[ORACLE_TEXT] = "", tail[80];

	if (!scene_live(&worker->scene, cut, worker->disk.bytes, worker->other.bytes, why)) {
		snprintf(tail, sizeof(tail), "1:%llu", (unsigned long long)cut);
		worker_complain(worker, tail, why);
	}
}

static bool keep(const struct sweep *sweep, const struct disk *disk)
{
	FILE *file = sweep->keep ? fopen(sweep->keep, "wb") : NULL;
	bool good = file && fwrite(disk->bytes, disk->size_bytes, 1, file) == 1;

	if (file && fclose(file))
		good = false;
	return good || !sweep->keep;
}

bool worker_cut(struct worker *worker, uint64_t seed, uint64_t cut, bool again, uint64_t cut2)
{
	const struct scene *scene = &worker->scene;
	struct powercut_replay replay = {scene->log, 0, worker->other.bytes, scene->size_bytes};

	memcpy(worker->other.bytes, scene->before, scene->size_bytes);
	powercut_disk(&replay, cut, seed, worker->disk.bytes);
	if (!keep(worker->sweep, &worker->disk))
		return false;
	if (seed == 1)
		check_live(worker, cut);
	judge_cut(worker, seed, cut, again, cut2);
	return true;
}

static void sweep_cuts(struct worker *worker)
{
	const struct sweep *sweep = worker->sweep;
	const struct unit *unit = worker->unit;
	struct scene *scene = &worker->scene;
	uint8_t *durable = malloc(scene->size_bytes);

	if (!durable) {
		worker_complain(worker, "0:0", "out of memory");
		return;
	}
	for (uint64_t round = 0; round < sweep->rounds && !worker_enough(worker); round++) {
		struct powercut_replay replay = {scene->log, 0, durable, scene->size_bytes};

		memcpy(durable, scene->before, scene->size_bytes);
		for (uint64_t cut = unit->first; cut <= unit->last && !worker_enough(worker);
		     cut++) {
			uint64_t seed = sweep_seed(round, cut);

			/* Each scene has its share. */
			if ((cut + unit->image + unit->program) % sweep->cut_step)
				continue;
			if (cut % LIVE_STEP == 0) {
				powercut_disk(&replay, cut, 1, worker->disk.bytes);
				check_live(worker, cut);
			}
			powercut_disk(&replay, cut, seed, worker->disk.bytes);
			judge_cut(worker, seed, cut,
				  sweep->second && (cut + round) % sweep->second == 0, 0);
		}
	}
	free(durable);
}

/* --- faults --- */

bool worker_fault(struct worker *worker, enum fault_kind kind, uint64_t n)
{
	char why[ORACLE_TEXT], tail[80];
	bool came;

	if (fault_judge(&worker->scene, kind, n, &worker->disk, worker->sweep->tally, &came, why))
		return came;
	snprintf(tail, sizeof(tail), "%s:%llu", fault_names[kind], (unsigned long long)n);
	worker_complain(worker, tail, why);
	return came;
}

static void sweep_faults(struct worker *worker)
{
	const struct unit *unit = worker->unit;
	/* Flushes are few; and each scene has its share of the others. */
	uint64_t step = unit->fault == FAULT_FLUSH ? 1 : worker->sweep->fault_step;
	uint64_t n = 1 + (unit->image + unit->program * 7u) % step;

	while (!worker_enough(worker) && worker_fault(worker, unit->fault, n))
		n += step;
}

/* --- units --- */

void worker_free(struct worker *worker)
{
	if (worker->scene.image) {
		disk_free(&worker->disk);
		disk_free(&worker->other);
	}
	scene_free(&worker->scene);
}

static bool new_disk(const struct worker *worker, struct disk *disk, const char *name)
{
	const struct scene *scene = &worker->scene;
	char path[160], journal[200];

	sweep_image_path(worker->sweep, worker->unit->image, path);
	crash_image_journal(path, journal);
	return disk_new(disk, worker->sweep->directory, name, scene->size_bytes,
			scene->image->journal_beside ? journal : NULL);
}

bool worker_scene(struct worker *worker, const struct unit *unit)
{
	struct scene *scene = &worker->scene;

	worker->unit = unit;
	worker->failures = 0;
	if (scene->image == &crash_images[unit->image] &&
	    scene->program == &crash_programs[unit->program])
		return true;
	worker_free(worker);
	if (!sweep_prepare(worker->sweep, scene, unit->image, unit->program))
		return false;
	if (!new_disk(worker, &worker->disk, "a") || !new_disk(worker, &worker->other, "b")) {
		worker_complain(worker, "0:0", "no room for a disk");
		return false;
	}
	return true;
}

bool worker_do(struct worker *worker, const struct unit *unit)
{
	if (!worker_scene(worker, unit))
		return false;
	switch (unit->kind) {
	case UNIT_CUTS:
		sweep_cuts(worker);
		break;
	case UNIT_FAULTS:
		sweep_faults(worker);
		break;
	case UNIT_CANCELS:
		worker_cancels(worker);
		break;
	case UNIT_UNDO:
		worker_undo(worker,
			    1 + (unit->image * 3u + unit->program) % worker->sweep->undo_step,
			    worker->sweep->undo_step);
		break;
	}
	tally_add(worker->sweep->tally, TALLY_BAD_UNITS, worker->failures > 0);
	return true;
}
