/* SPDX-License-Identifier: MIT */
/*
 * Layouts to order: dials are turned until what is measured is what is wanted. Pure.
 */
#ifndef FRAG_TUNE_H
#define FRAG_TUNE_H

#include <fraglab/aim.h>
#include <fraglab/plan.h>

struct frag_tune_options {
	const struct fl_aims *aims;		   /* one or more */
	const struct fl_analyze_options *analysis; /* how the outcome will be measured */
	uint64_t seed;
	const struct fl_watch *watch; /* hears of attempts; NULL: none */
	/* analysis->like, if there is one, is what the layout shall be like. */
	bool files_only, free_only; /* as in struct frag_settings */
};

/*
 * Fills the target (zero-initialised) with a layout that begins with an aged one, which is taken
 * over (it is in the order of map->files), and is changed so far as the aims demand. What is
 * measured is what a scan would find when all of it is reached. At most 24 layouts are tried.
 *
 * The best of them may miss an aim by up to three times its tolerance. FL_ENOROOM: none comes so
 * close, or it cannot be; which aim, and the nearest that can, in diag. FL_ESYNTAX:
 * an aim of what is to stay. FL_ENOMEM. What the watch returns.
 */
int frag_tune(const struct frag_tune_options *options, const struct fl_map *map,
	      struct fl_target *aged, struct fl_target *target, struct fl_diag *diag) FL_CHECKED;

#endif
