/* SPDX-License-Identifier: MIT */
/*
 * The map by place: what sits where, and the slots that movable files share with free
 * space. Must not decide anything.
 */
#include <fraglab/map.h>

#include <stdlib.h>

static int compare_places(const void *a, const void *b)
{
	const struct fl_place *left = a, *right = b;

	return fl_compare(left->run.start, right->run.start);
}

int fl_map_places(const struct fl_map *map, struct fl_places *places)
{
	for (size_t f = 0; f < map->files.count; f++) {
		const struct fl_file *file = &map->files.at[f];
		struct fl_place place = {.file = (uint32_t)f};

		for (size_t i = 0; i < file->extent_count; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			place.use = FL_USE_DATA;
			place.run = (struct fl_run){e->pblk, e->len};
			place.lblk = e->lblk;
			if (fl_array_push(places, place))
				return FL_ENOMEM;
		}
		for (size_t i = 0; i < file->tree_count; i++) {
			place.use = FL_USE_TREE;
			place.run = (struct fl_run){map->trees.at[file->first_tree + i], 1};
			place.lblk = (fl_lblk)i;
			if (fl_array_push(places, place))
				return FL_ENOMEM;
		}
	}
	if (places->count)
		qsort(places->at, places->count, sizeof(*places->at), compare_places);
	return 0;
}

static int push_pinned(const struct fl_map *map, struct fl_runs *stay)
{
	for (size_t f = 0; f < map->files.count; f++) {
		const struct fl_file *file = &map->files.at[f];

		if (fl_file_movable(file))
			continue;
		for (size_t i = 0; i < file->extent_count; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			if (fl_array_push(stay, ((struct fl_run){e->pblk, e->len})))
				return FL_ENOMEM;
		}
		for (size_t i = 0; i < file->tree_count; i++) {
			fl_pblk block = map->trees.at[file->first_tree + i];

			if (fl_array_push(stay, ((struct fl_run){block, 1})))
				return FL_ENOMEM;
		}
	}
	return 0;
}

/* What must stay keeps its clusters from others. */
static void round_outwards(struct fl_runs *runs, uint64_t ratio)
{
	for (size_t i = 0; i < runs->count; i++) {
		struct fl_run *run = &runs->at[i];
		uint64_t end = fl_div_up(fl_run_end(*run), ratio) * ratio;

		run->start -= run->start % ratio;
		run->len = end - run->start;
	}
}

int fl_map_slots(const struct fl_map *map, struct fl_runs *slots)
{
	struct fl_runs stay = {0};
	fl_pblk pos = 0;
	int error = FL_ENOMEM;

	for (size_t i = 0; i < map->fixed.count; i++)
		if (fl_array_push(&stay, map->fixed.at[i]))
			goto out;
	if (push_pinned(map, &stay))
		goto out;
	round_outwards(&stay, map->geo.cluster_blocks);
	fl_runs_normalize(&stay);
	if (fl_array_push(&stay, ((struct fl_run){map->geo.blocks, 1})))
		goto out;
	for (size_t i = 0; i < stay.count; i++) {
		if (stay.at[i].start > pos &&
		    fl_array_push(slots, ((struct fl_run){pos, stay.at[i].start - pos})))
			goto out;
		pos = fl_max(pos, fl_run_end(stay.at[i]));
	}
	error = 0;
out:
	fl_array_free(&stay);
	return error;
}
