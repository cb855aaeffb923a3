/* SPDX-License-Identifier: MIT */
/*
 * The part of an aged layout that is asked for, in its place.
 */
#include "frag/only.h"

int frag_only(const struct fl_map *map, bool files, bool free, struct fl_target *target)
{
	struct fl_target aged = *target;
	int err;

	if (!files && !free)
		return 0;
	*target = (struct fl_target){0};
	err = files ? frag_only_files(map, &aged, target) : frag_only_free(map, &aged, target);
	fl_target_free(&aged);
	return err;
}
