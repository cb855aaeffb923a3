/* SPDX-License-Identifier: MIT */
/*
 * Runs that are cancelled, as by a signal: after each number of batches, and with the power cut
 * in what such a run does otherwise than one that goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cli/messages.h"
#include "tests/crash/sweep.h"

/* One run, cancelled. */
struct cancelled {
	const struct scene *scene;
	size_t batches;
	uint8_t *after, *durable;
	struct powercut *log;
	struct crash_outcome outcome;
};

static bool ended_well(const struct cancelled *run, char why[ORACLE_TEXT])
{
	const struct fl_move_result *moved = &run->outcome.moved;

	if (moved->batches != run->batches)
		snprintf(why, ORACLE_TEXT, "stopped after %llu batches",
			 (unsigned long long)moved->batches);
	else if (moved->fenced || !oracle_clean(run->after))
		snprintf(why, ORACLE_TEXT, "cancelled, and the fence stands");
	else if (fl_message_status(FL_ECANCELLED, FL_IMAGE_CLEAN) != FL_EXIT_CANCELLED)
		snprintf(why, ORACLE_TEXT, "the wrong exit status");
	else if (!run->batches && memcmp(run->after, run->scene->before, run->scene->size_bytes))
		snprintf(why, ORACLE_TEXT, "cancelled before the first batch, and it has changed");
	else
		return true;
	return false;
}

static bool record(struct cancelled *run, char why[ORACLE_TEXT])
{
	struct crash_conditions conditions = scene_conditions(run->scene);

	conditions.cancels = true;
	conditions.batches = run->batches;
	memcpy(run->after, run->scene->before, run->scene->size_bytes);
	memcpy(run->durable, run->scene->before, run->scene->size_bytes);
	return scene_record(run->scene, &conditions, run->after, &run->log, &run->outcome, why) &&
	       ended_well(run, why);
}

static void complain(struct worker *worker, size_t batches, uint64_t cut, const char *why)
{
	char tail[60];

	if (cut)
		snprintf(tail, sizeof(tail), "cancel:%zu:%llu", batches, (unsigned long long)cut);
	else
		snprintf(tail, sizeof(tail), "cancel:%zu", batches);
	worker_complain(worker, tail, why);
}

/* One cut in step from `first` on; the operations before are those of a run that goes on. */
static void cut_it(struct worker *worker, const struct cancelled *run, uint64_t first,
		   uint64_t step)
{
	const struct scene *scene = run->scene;
	struct powercut_replay replay = {run->log, 0, run->durable, scene->size_bytes};
	uint64_t last = powercut_operations(run->log);
	char why[ORACLE_TEXT];

	for (uint64_t cut = first; cut <= last && !worker_enough(worker); cut += step) {
		powercut_disk(&replay, cut, sweep_seed(0, cut), worker->disk.bytes);
		tally_add(worker->sweep->tally, TALLY_CUTS, 1);
		if (!scene_guarded(&worker->disk, why) ||
		    !scene_judge(scene, &worker->disk, worker->sweep->tally, JUDGE_ALL, why))
			complain(worker, run->batches, cut, why);
	}
}

void worker_cancel(struct worker *worker, size_t batches, uint64_t cut, uint64_t step)
{
	const struct scene *scene = &worker->scene;
	struct cancelled run = {.scene = scene,
				.batches = batches,
				.after = malloc(scene->size_bytes),
				.durable = malloc(scene->size_bytes)};
	char why[ORACLE_TEXT] = "out of memory";
	bool good = run.after && run.durable && record(&run, why);

	tally_add(worker->sweep->tally, TALLY_CANCELS, 1);
	if (good) {
		memcpy(worker->disk.bytes, run.after, scene->size_bytes);
		good = scene_judge(scene, &worker->disk, worker->sweep->tally, JUDGE_ALL, why);
	}
	if (!good)
		complain(worker, batches, 0, why);
	else if (cut)
		cut_it(worker, &run, cut, UINT32_MAX);
	else
		cut_it(worker, &run, powercut_common(scene->log, run.log) + 1 + batches % step,
		       step);
	powercut_free(run.log);
	free(run.after);
	free(run.durable);
}

void worker_cancels(struct worker *worker)
{
	const struct unit *unit = worker->unit;
	const uint64_t step = worker->sweep->cancel_step;

	for (uint64_t k = unit->first; k <= unit->last && !worker_enough(worker); k++)
		if ((k + unit->image + unit->program) % step == 0)
			worker_cancel(worker, (size_t)k, 0, step);
}
