/* SPDX-License-Identifier: MIT */
/*
 * Finds the gaps between what is kept. Must not fill them.
 */
#include "defrag/packer.h"

struct gap_maker {
	const struct packer *packer;
	struct fl_blockset *open; /* room that nothing kept occupies */
};

static int take_file_trees(struct gap_maker *maker, const struct fl_file *file)
{
	int error = 0;

	for (size_t i = 0; i < file->tree_count && !error; i++)
		error = fl_blockset_remove(maker->open,
					   maker->packer->map->trees.at[file->first_tree + i], 1);
	return error;
}

static int take_unit_data(struct gap_maker *maker, const struct unit *unit)
{
	int error = 0;

	for (size_t i = 0; i < unit->extent_count && !error; i++) {
		const struct fl_extent *e = &maker->packer->map->extents.at[unit->first_extent + i];

		error = fl_blockset_remove(maker->open, e->pblk, e->len);
	}
	return error;
}

/* Takes what kept units occupy out of the open blocks. */
static int take_kept(struct gap_maker *maker)
{
	const struct units *units = &maker->packer->units;
	int error = 0;

	for (size_t i = 0; i < units->count && !error;) {
		const struct fl_file *file = &maker->packer->map->files.at[units->at[i].file];
		bool all_kept = true;
		const size_t end = units_file_end(units, i);

		for (size_t k = i; k < end && !error; k++) {
			const struct unit *unit = &units->at[k];

			all_kept &= unit->keep;
			if (unit->keep)
				error = take_unit_data(maker, unit);
		}
		/* A file of which a part moves gets a new tree. */
		if (!error && all_kept)
			error = take_file_trees(maker, file);
		i = end;
	}
	return error;
}

static int open_runs(struct gap_maker *maker, const struct fl_runs *runs)
{
	int error = 0;

	for (size_t i = 0; i < runs->count && !error; i++)
		error = fl_blockset_add(maker->open, runs->at[i].start, runs->at[i].len);
	return error;
}

/* The open parts of the runs, in the order of the runs. */
static int cut_gaps(struct gap_maker *maker, const struct fl_runs *runs, struct fl_runs *gaps)
{
	for (size_t i = 0; i < runs->count; i++) {
		fl_pblk pos = runs->at[i].start, end = fl_run_end(runs->at[i]);
		struct fl_run gap;

		for (; fl_blockset_next_run(maker->open, pos, end, &gap); pos = fl_run_end(gap))
			if (fl_array_push(gaps, gap))
				return FL_ENOMEM;
	}
	return 0;
}

int packer_gaps(const struct packer *packer, const struct room *room, struct fl_runs *gaps,
		size_t *preferred)
{
	struct gap_maker maker = {.packer = packer};
	int error = fl_blockset_new(packer->map->geo.blocks, &maker.open);

	if (!error)
		error = open_runs(&maker, &room->packed);
	if (!error)
		error = open_runs(&maker, &room->zones);
	if (!error)
		error = take_kept(&maker);
	if (!error)
		error = cut_gaps(&maker, &room->packed, gaps);
	*preferred = gaps->count;
	if (!error)
		error = cut_gaps(&maker, &room->zones, gaps);
	fl_blockset_free(maker.open);
	return error;
}
