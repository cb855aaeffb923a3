/* SPDX-License-Identifier: MIT */
/*
 * From aims to dials: what follows from them directly, and which way lies less sequential I/O.
 * Pure; measures nothing.
 */
#ifndef FRAG_DIALS_H
#define FRAG_DIALS_H

#include <fraglab/aim.h>

#include "frag/parts.h"

/* The way has so many steps: from all files whole and in path order to nothing in any order. */
#define FRAG_WAY_STEPS (3 * (uint32_t)FRAG_DRAW_ONE)

/*
 * Dials for the aims, at a step of the way that the aims leave open: more steps, less sequential
 * I/O, about. step FRAG_WAY_STEPS: as the history has it, as far as the aims let it be.
 *
 * FL_ENOROOM with the aim that cannot be, and the most or least that can, in diag (NULL is legal).
 */
int frag_dials_set(const struct frag_base *base, const struct fl_aims *aims, uint32_t step,
		   struct frag_dials *dials, struct fl_diag *diag) FL_CHECKED;

/* Fails with "--target KEY=WANTED: ...". `nearest`: a value that is possible. */
int frag_dials_refuse(const struct fl_aims *aims, enum fl_aim_key key, uint64_t nearest,
		      struct fl_diag *diag);

#endif
