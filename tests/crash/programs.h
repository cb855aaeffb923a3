/* SPDX-License-Identifier: MIT */
/*
 * frag and defrag as the programs run them, but on any device and with small batches:
 * open, scan, plan, move, and a second scan. Must not know about cuts or faults.
 */
#ifndef TESTS_CRASH_PROGRAMS_H
#define TESTS_CRASH_PROGRAMS_H

#include <fraglab/move.h>

#include "defrag/pack.h"
#include "frag/target.h"

struct crash_program {
	const char *program, *mode; /* frag: the profile */
	bool defrag;
	struct frag_settings frag;
	struct defrag_settings pack;
};

extern const struct crash_program crash_programs[];
extern const size_t crash_program_count;

/* What a run is told besides. */
struct crash_conditions {
	uint32_t batch_blocks;
	bool verify;
	bool cancels;	/* stopped as by a signal ... */
	size_t batches; /* ... when so many are done */
};

struct crash_outcome {
	struct fl_move_result moved;
	struct fl_diag diag;
	size_t batches;	      /* planned */
	uint64_t left_blocks; /* for which the plan found no room */
	uint64_t before;      /* fragments of all files, as found */
	uint64_t fragments;   /* of all files, predicted; and found when the run ended well */
	bool planned;	      /* it came to the mover */
	bool predicted;	      /* the second scan found what the plan promised */
};

/* An fl_error. outcome is filled as far as it went. */
int crash_program_run(const struct crash_program *program, struct fl_device *device,
		      const struct crash_conditions *conditions,
		      struct crash_outcome *outcome) FL_CHECKED;

#endif
