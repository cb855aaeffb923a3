/* SPDX-License-Identifier: MIT */
/*
 * Private to the sweep: what its two halves share. sweep.c hands out the work, worker.c does it.
 */
#ifndef TESTS_CRASH_SWEEP_H
#define TESTS_CRASH_SWEEP_H

#include "tests/crash/faults.h"

/* A range of cuts, or all faults of a kind, of one scene. */
struct unit {
	uint32_t image, program;
	int fault;	      /* enum fault_kind; -1: cuts */
	uint64_t first, last; /* cuts */
};
#define UNIT_CUTS 100u

struct sweep {
	char directory[64];
	uint64_t rounds, second, fault_step, jobs;
	const char *images, *programs, *keep;
	bool first;
	struct tally *tally;
	FL_ARRAY(struct unit) units;
	size_t scenes;
	uint64_t operations;
};

struct worker {
	struct sweep *sweep;
	struct scene scene;
	struct disk disk, other; /* the cut, and the cut of the run that resumes */
	const struct unit *unit;
	uint64_t failures;
};

void sweep_image_path(const struct sweep *sweep, uint32_t image, char path[160]);
/* False: said on stdout. */
bool sweep_prepare(const struct sweep *sweep, struct scene *scene, uint32_t image,
		   uint32_t program);

/* Does a unit; keeps the scene for the next one. False: it cannot be prepared. */
bool worker_do(struct worker *worker, const struct unit *unit);
void worker_free(struct worker *worker);

/* Repeats what an id names. False: there is no such id, or no way to repeat it. */
bool worker_repeat(struct sweep *sweep, char *id);

#endif
