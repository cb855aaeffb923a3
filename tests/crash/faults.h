/* SPDX-License-Identifier: MIT */
/*
 * One failing operation in a run of a scene, and what must hold after it.
 */
#ifndef TESTS_CRASH_FAULTS_H
#define TESTS_CRASH_FAULTS_H

#include "tests/crash/scene.h"
#include "tests/lib/fault.h"

/*
 * Runs the scene with the n-th operation of a kind failing. The error must be told truly, and
 * the disk must pass scene_judge. *came false: there are not so many.
 */
bool fault_judge(const struct scene *scene, enum fault_kind kind, uint64_t n, struct disk *disk,
		 struct tally *tally, bool *came, char why[ORACLE_TEXT]);

#endif
