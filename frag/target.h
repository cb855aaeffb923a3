/* SPDX-License-Identifier: MIT */
/*
 * From settings and a map to the target layout of an aged disk: what main hands to the
 * planner. Pure; a function of its arguments alone.
 */
#ifndef FRAG_TARGET_H
#define FRAG_TARGET_H

#include <fraglab/aim.h>
#include <fraglab/plan.h>

#include "frag/exact.h"
#include "frag/profile.h"

#define FRAG_DEFAULT_MONTHS 6u
#define FRAG_MOST_MONTHS 1200u
#define FRAG_DEFAULT_SEED 1u

struct frag_settings {
	uint32_t months;		    /* of use, 1 .. FRAG_MOST_MONTHS */
	uint64_t seed;			    /* another seed, another history */
	const struct frag_profile *profile; /* borrowed; NULL: the default */
	bool files_only;		    /* free space stays as it is */
	bool free_only;			    /* files stay whole; not both */
	struct fl_aims aims; /* not empty: ageing is turned until it has these figures */
	const struct fl_analyze_options *analysis; /* borrowed; how aims are measured */
	const struct fl_watch *watch;		   /* borrowed; NULL: none */
	const char
		*replay_path; /* a saved history in place of months, seed and profile; NULL: none */
	const char *save_path;	   /* the history is written there; NULL: nowhere */
	struct frag_wishes wishes; /* not empty: nothing is aged, only these files change */
};

/*
 * Fills the target (zero-initialised; free with fl_target_free, also after a failure) with a
 * place for every movable file (with free_only: those that move), checked by fl_target_finish.
 * Where the mapping trees of so fragmented a layout would not fit, the history is milder: every
 * file is written once, in one go; then also files that have mapping-tree blocks keep their places.
 * FL_ESYNTAX: a setting is not legal; FL_ENOROOM: the disk has no free
 * block, none of these layouts fits, or a wish or an aim cannot be met; FL_ENOMEM. With bigalloc,
 * map is one of fl_map_units.
 */
int frag_target(const struct frag_settings *settings, const struct fl_map *map,
		struct fl_target *target, struct fl_diag *diag) FL_CHECKED;

#endif
