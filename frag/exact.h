/* SPDX-License-Identifier: MIT */
/*
 * Files in exactly so many fragments, and nothing else changed. Pure; must not age anything.
 */
#ifndef FRAG_EXACT_H
#define FRAG_EXACT_H

#include <fraglab/plan.h>

struct frag_wish {
	const char *path;   /* in the filesystem, or a pattern of paths as fnmatch(3) has them;
			       borrowed */
	uint64_t fragments; /* from 1; 0: not known yet */
};

struct frag_wishes {
	FL_ARRAY(struct frag_wish);
};

/*
 * Fills the target (zero-initialised) with the files that the wishes name; of several wishes for
 * one file the last counts. A pattern stands for regular files only. A file is cut up on the blocks
 * that it has when that can do, else on these and free ones; its pieces lie one before the other,
 * so that no two are one fragment. A file that is right already is not in the target.
 *
 * FL_ENOROOM with the path and the reason in diag: nothing has that name, the file must stay, has
 * fewer blocks than fragments are asked for, or free space is too broken; FL_ENOMEM.
 */
int frag_exact(const struct fl_map *map, const struct frag_wishes *wishes, struct fl_target *target,
	       struct fl_diag *diag) FL_CHECKED;

#endif
