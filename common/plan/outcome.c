/* SPDX-License-Identifier: MIT */
/*
 * The map that a target leads to when all of it is reached, without a plan. Must not care
 * whether there is a way.
 */
#include "layout.h"

struct outcome {
	const struct fl_map *map;
	const struct fl_target *target;
	size_t *next; /* in target->files, which are in the same order */
};

static int add_file(const void *context, uint32_t index, struct fl_map *to)
{
	const struct outcome *outcome = context;
	const struct fl_map *map = outcome->map;
	const struct fl_target *target = outcome->target;
	struct fl_file file = map->files.at[index];
	struct fl_mapping_view view = {
		.extents = fl_array_from(&map->extents, file.first_extent),
		.extent_count = file.extent_count,
		.trees = fl_array_from(&map->trees, file.first_tree),
		.tree_count = file.tree_count,
	};

	if (*outcome->next < target->files.count &&
	    target->files.at[*outcome->next].file == index) {
		const struct fl_target_file *item = &target->files.at[(*outcome->next)++];

		file.rebuilt = true;
		view.extents = fl_array_from(&target->extents, item->first_extent);
		view.extent_count = item->extent_count;
		view.trees = fl_array_from(&target->trees, item->first_tree);
		view.tree_count = item->tree_count;
	}
	return layout_add_file(to, file, &view);
}

int fl_target_predict(const struct fl_map *map, const struct fl_target *target,
		      struct fl_map **predicted, struct fl_diag *diag)
{
	size_t next = 0;
	const struct outcome outcome = {map, target, &next};

	return fl_map_rebuild(map, add_file, &outcome, predicted, diag);
}
