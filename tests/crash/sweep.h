/* SPDX-License-Identifier: MIT */
/*
 * Private to the sweep: what its two halves share. sweep.c hands out the work, worker.c does it.
 */
#ifndef TESTS_CRASH_SWEEP_H
#define TESTS_CRASH_SWEEP_H

#include "tests/crash/faults.h"

enum unit_kind { UNIT_CUTS, UNIT_FAULTS, UNIT_CANCELS, UNIT_UNDO };

/* Some work on one scene. */
struct unit {
	uint32_t image, program;
	enum unit_kind kind;
	enum fault_kind fault; /* UNIT_FAULTS: all of this kind */
	uint64_t first, last;  /* UNIT_CUTS: of cuts; UNIT_CANCELS: of numbers of batches */
};
#define UNIT_MOST_CUTS 100u
#define UNIT_MOST_CANCELS 20u

struct sweep {
	char directory[64];
	uint64_t cut_step, rounds, second, fault_step, cancel_step, undo_step, jobs;
	const char *images, *programs, *faults, *keep;
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

/* The fates of a cut: in the first round the plain ones too. */
uint64_t sweep_seed(uint64_t round, uint64_t cut);

/* Counts and prints a failure; tail is the rest of its id. */
void worker_complain(struct worker *worker, const char *tail, const char *why);
/* The unit has failed often enough: it is one fault, seen again and again. */
bool worker_enough(const struct worker *worker);

/*
 * One cut, its disk kept when the sweep says so. again: the run that resumes is cut as well, in
 * operation cut2, or in some when that is 0. False: the disk cannot be kept.
 */
bool worker_cut(struct worker *worker, uint64_t seed, uint64_t cut, bool again, uint64_t cut2);
/* One failing operation. False: there are not so many. */
bool worker_fault(struct worker *worker, enum fault_kind kind, uint64_t n);

/*
 * A run that is cancelled when so many batches are done, and cuts in it: one, or for 0 one in step
 * of the operations that a run does only because it is cancelled.
 */
void worker_cancel(struct worker *worker, size_t batches, uint64_t cut, uint64_t step);
/* One in cancel_step of the unit. */
void worker_cancels(struct worker *worker);

/* A run with an undo file, cut in the operation `first` of image and file, and one in step on. */
void worker_undo(struct worker *worker, uint64_t first, uint64_t step);

/* The scene of a unit, prepared anew if it is another than before. */
bool worker_scene(struct worker *worker, const struct unit *unit);
/* Does a unit; keeps the scene for the next one. False: it cannot be prepared. */
bool worker_do(struct worker *worker, const struct unit *unit);
void worker_free(struct worker *worker);

/* Repeats what an id names. False: there is no such id, or no way to repeat it. */
bool worker_repeat(struct sweep *sweep, char *id);

#endif
