/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: the state of planning, and the steps that the policies share.
 */
#ifndef DEFRAG_PACKER_H
#define DEFRAG_PACKER_H

#include "defrag/room.h"
#include "defrag/units.h"

#include <fraglab/blockset.h>

struct packer {
	const struct fl_map *map;
	const struct defrag_settings *settings;
	struct units units;
	struct fl_runs left; /* runs that stay free */
	bool rests;	     /* planning from where the target leads to would move nothing more */
};

/*
 * gaps.c: what kept units leave of the room, packed part first, in its order; *preferred is the
 * number of gaps in the packed part.
 */
int packer_gaps(const struct packer *packer, const struct room *room, struct fl_runs *gaps,
		size_t *preferred) FL_CHECKED;

/* build.c: the target that the units' places make; trees of cut files come from packer->left. */
int packer_target(struct packer *packer, struct fl_target *target) FL_CHECKED;

/* files.c: files mode; whole files, or what units there are. */
int packer_files_only(struct packer *packer, struct fl_target *target) FL_CHECKED;
/* files.c: moves so many blocks from the shortest gaps to what stays free. */
int packer_set_aside(struct packer *packer, struct fl_runs *gaps, uint64_t blocks) FL_CHECKED;
/*
 * budget.c: what saves the most seeks within settings->max_bytes; nothing when none is worth it.
 * Where there is no way within it that ends, the way has to be cut.
 */
int packer_budget(const struct defrag_settings *settings, const struct fl_map *map,
		  struct fl_target *target, struct fl_diag *diag) FL_CHECKED;

#endif
