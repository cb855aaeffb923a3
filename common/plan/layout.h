/* SPDX-License-Identifier: MIT */
/*
 * Private to plan: a layout as a map. Must not be needed outside this folder.
 */
#ifndef FRAGLAB_PLAN_LAYOUT_H
#define FRAGLAB_PLAN_LAYOUT_H

#include <fraglab/plan.h>

/* Appends a file with this mapping to a map. FL_ENOMEM. */
int layout_add_file(struct fl_map *to, struct fl_file file,
		    const struct fl_mapping_view *view) FL_CHECKED;

/* The map a scan would find at this point. */
int fl_layout_to_map(const struct fl_layout *layout, struct fl_map **map,
		     struct fl_diag *diag) FL_CHECKED;

/* Counts them anew each time. */
uint64_t fl_layout_free_extents(const struct fl_layout *layout);

#endif
