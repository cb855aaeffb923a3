/* SPDX-License-Identifier: MIT */
/*
 * From aims to dials: what follows from them directly, and which way lies less sequential I/O.
 * Pure; measures nothing.
 */
#ifndef FRAG_DIALS_H
#define FRAG_DIALS_H

#include <fraglab/aim.h>

#include "frag/parts.h"

/*
 * A point on the way from much to little sequential I/O, for what the aims leave open: first the
 * order goes from that of paths to the history's, then fragments become more, then order is lost.
 */
struct frag_way {
	bool as_aged;  /* what is open is as the history has it; the others are 0 then */
	uint32_t mix;  /* 0: as few fragments as can be, to FRAG_DRAW_ONE: as many */
	int32_t order; /* as in struct frag_dials */
};

#define FRAG_WAY_STEPS (3 * (uint32_t)FRAG_DRAW_ONE)

struct frag_way frag_way_at(uint32_t step);

/*
 * Dials for the aims at a point of the way. FL_ENOROOM with the aim that cannot be, and the nearest
 * that can, in diag (NULL is legal).
 */
int frag_dials_set(const struct frag_base *base, const struct fl_aims *aims,
		   const struct frag_way *way, struct frag_dials *dials,
		   struct fl_diag *diag) FL_CHECKED;

/* FL_ENOROOM with "--target KEY: WANTED: not possible; the nearest that SAID is NEAREST". */
int frag_dials_refuse(const struct fl_aims *aims, enum fl_aim_key key, uint64_t nearest,
		      const char *said, struct fl_diag *diag);

#endif
