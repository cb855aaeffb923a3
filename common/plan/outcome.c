/* SPDX-License-Identifier: MIT */
/*
 * The map that a target leads to when all of it is reached, without a plan. Must not care
 * whether there is a way.
 */
#include <fraglab/plan.h>

static int add_file(const struct fl_map *from, const struct fl_target *target,
		    const struct fl_target_file *item, uint32_t index, struct fl_map *to)
{
	struct fl_file file = from->files.at[index];
	const struct fl_extent *extents = fl_array_from(&from->extents, file.first_extent);
	const fl_pblk *trees = fl_array_from(&from->trees, file.first_tree);

	if (item) {
		file.rebuilt = true;
		file.extent_count = item->extent_count;
		file.tree_count = item->tree_count;
		extents = fl_array_from(&target->extents, item->first_extent);
		trees = fl_array_from(&target->trees, item->first_tree);
	}
	file.first_extent = to->extents.count;
	file.first_tree = to->trees.count;
	if (fl_array_append(&to->extents, extents, file.extent_count) ||
	    fl_array_append(&to->trees, trees, file.tree_count))
		return FL_ENOMEM;
	return fl_array_push(&to->files, file);
}

static int follow(const struct fl_map *from, const struct fl_target *target, struct fl_map **map,
		  struct fl_diag *diag)
{
	struct fl_map *to;
	size_t next = 0;
	int error = fl_map_derive(from, NULL, &to);

	if (error)
		return error;
	for (uint32_t f = 0; f < from->files.count && !error; f++) {
		const struct fl_target_file *item = NULL;

		if (next < target->files.count && target->files.at[next].file == f)
			item = &target->files.at[next++];
		error = add_file(from, target, item, f, to);
	}
	if (!error)
		error = fl_map_take_boot(to, from);
	if (!error)
		error = fl_map_finish(to, diag);
	if (error)
		fl_map_free(to);
	else
		*map = to;
	return error;
}

int fl_target_predict(const struct fl_map *map, const struct fl_target *target,
		      struct fl_map **predicted, struct fl_diag *diag)
{
	struct fl_map *units;
	int error = follow(map, target, &units, diag);

	if (error || !map->blocks) {
		if (!error)
			*predicted = units;
		return error;
	}
	error = fl_units_to_blocks(units, predicted, diag);
	fl_map_free(units);
	return error;
}
