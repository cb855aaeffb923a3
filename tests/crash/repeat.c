/* SPDX-License-Identifier: MIT */
/*
 * Repeats what an id names, alone: the same image, run and cut.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/crash/sweep.h"

static bool find(const char *image, const char *program, const char *mode, struct unit *unit)
{
	for (unit->image = 0; unit->image < crash_image_count; unit->image++)
		if (!strcmp(crash_images[unit->image].name, image))
			break;
	for (unit->program = 0; unit->program < crash_program_count; unit->program++)
		if (!strcmp(crash_programs[unit->program].program, program) &&
		    !strcmp(crash_programs[unit->program].mode, mode))
			break;
	return unit->image < crash_image_count && unit->program < crash_program_count;
}

static bool no_such(const char *what)
{
	fprintf(stderr, "sweep: there is no such %s.\n", what);
	return false;
}

/* kind and what follows it in an id. */
static bool repeat(struct worker *worker, const char *kind, const char *number, const char *more)
{
	uint64_t n = strtoull(number, NULL, 10), after = more ? strtoull(more, NULL, 10) : 0, seed;
	char *end;

	for (int fault = 0; fault < FAULT_KINDS; fault++)
		if (!strcmp(fault_names[fault], kind))
			return worker_fault(worker, (enum fault_kind)fault, n) ||
			       no_such("operation");
	if (!strcmp(kind, "cancel")) {
		worker_cancel(worker, (size_t)n, after, UINT32_MAX);
		return true;
	}
	if (!strcmp(kind, "undo")) {
		worker_undo(worker, n, UINT32_MAX);
		return true;
	}
	seed = strtoull(kind, &end, 10);
	if (*end || !n || n > worker->sweep->operations)
		return no_such("fault or cut");
	return worker_cut(worker, seed, n, more != NULL, after);
}

bool worker_repeat(struct sweep *sweep, char *id)
{
	char *part[6] = {NULL}, path[160], *rest = id;
	struct worker worker = {.sweep = sweep};
	struct unit unit = {0};
	bool good;

	for (size_t i = 0; i < 6 && rest; i++)
		part[i] = strsep(&rest, ":");
	if (!part[4] || !find(part[0], part[1], part[2], &unit))
		return no_such("id");
	sweep_image_path(sweep, unit.image, path);
	if (crash_image_make(&crash_images[unit.image], path) || !worker_scene(&worker, &unit))
		return false;
	sweep->scenes = 1;
	sweep->operations = powercut_operations(worker.scene.log);
	if (fl_array_push(&sweep->units, unit))
		return false;
	good = repeat(&worker, part[3], part[4], part[5]);
	tally_add(sweep->tally, TALLY_BAD_UNITS, worker.failures > 0);
	worker_free(&worker);
	return good;
}
