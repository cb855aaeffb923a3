/* SPDX-License-Identifier: MIT */
/*
 * Finds the files, then blocks for each, then cuts. Must not touch a file that was not named.
 */
#include "frag/exact.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

struct exact {
	const struct fl_map *map;
	struct fl_blockset *room; /* what nobody has in the target so far */
	struct fl_target *target;
	struct fl_diag *diag;
	char path[PATH_BYTES];
	/* of the file at hand */
	const struct fl_file *file;
	uint64_t fragments;    /* wanted */
	const char *name;      /* in path, for messages */
	struct fl_runs places; /* blocks for its data, the last ones of the disk first */
	struct fl_runs runs;   /* the same, cut up, in logical order */
};

static int refuse(const struct exact *exact, const char *reason, uint64_t number)
{
	return fl_fail(exact->diag, FL_ENOROOM,
		       "plan: %.200s: cannot have %" PRIu64 " fragments: %s%" PRIu64, exact->name,
		       exact->fragments, reason, number);
}

/* Gives or takes the blocks that the file has now. */
static int set_free(struct exact *exact)
{
	const struct fl_map *map = exact->map;
	const struct fl_file *file = exact->file;
	int err = 0;

	for (size_t i = 0; i < file->extent_count && !err; i++) {
		const struct fl_extent *extent = &map->extents.at[file->first_extent + i];

		err = fl_blockset_add(exact->room, extent->pblk, extent->len);
	}
	for (size_t i = 0; i < file->tree_count && !err; i++)
		err = fl_blockset_add(exact->room, map->trees.at[file->first_tree + i], 1);
	return err;
}

static int own_places(struct exact *exact)
{
	const struct fl_file *file = exact->file;

	exact->places.count = 0;
	for (size_t i = 0; i < file->extent_count; i++) {
		const struct fl_extent *extent = &exact->map->extents.at[file->first_extent + i];

		if (fl_array_push(&exact->places, ((struct fl_run){extent->pblk, extent->len})))
			return FL_ENOMEM;
	}
	fl_runs_normalize(&exact->places);
	return 0;
}

/* The fewest runs of the room that hold the file: the longest, and for the rest a run that fits. */
static int fewest_places(struct exact *exact)
{
	struct fl_runs *places = &exact->places;
	uint64_t rest = exact->file->blocks;
	struct fl_run run;
	size_t used = 0, last;

	places->count = 0;
	for (uint64_t pos = 0;
	     fl_blockset_next_run(exact->room, pos, fl_blockset_size(exact->room), &run);
	     pos = fl_run_end(run))
		if (fl_array_push(places, run))
			return FL_ENOMEM;
	fl_runs_longest_first(places);
	/* The file's own blocks are among them, so they suffice. */
	for (; rest > places->at[used].len; used++)
		rest -= places->at[used].len;
	for (last = used; last + 1 < places->count && places->at[last + 1].len >= rest;)
		last++;
	places->at[used] = (struct fl_run){places->at[last].start, rest};
	places->count = used + 1;
	return 0;
}

static int compare_last_first(const void *a, const void *b)
{
	const struct fl_run *left = a, *right = b;

	return fl_compare(right->start, left->start);
}

/*
 * Cuts the places into the wanted number of pieces of about one length, each place into one at
 * least. A piece lies before the one that comes before it in the file: so no two are one fragment.
 */
static int cut_up(struct exact *exact)
{
	const struct fl_runs *places = &exact->places;
	const uint64_t more = exact->fragments - places->count;
	const uint64_t blocks = exact->file->blocks - places->count;
	uint64_t seen = 0, given = 0;

	exact->runs.count = 0;
	for (size_t i = 0; i < places->count; i++) {
		const struct fl_run place = places->at[i];
		uint64_t pieces, upto;

		seen += place.len - 1;
		upto = blocks ? seen * more / blocks : 0;
		pieces = 1 + upto - given;
		given = upto;
		for (uint64_t n = pieces; n-- > 0;) {
			uint64_t from = place.len * n / pieces;
			struct fl_run run = {.start = place.start + from,
					     .len = place.len * (n + 1) / pieces - from};

			if (fl_array_push(&exact->runs, run))
				return FL_ENOMEM;
		}
	}
	return 0;
}

/* Where the tree is now, then after the file's first blocks, then anywhere. */
static int place_tree(struct exact *exact, uint64_t blocks)
{
	const struct fl_map *map = exact->map;
	const uint64_t end = fl_blockset_size(exact->room);
	fl_pblk near = exact->runs.at[0].start;
	int err = 0;

	for (size_t i = 0; i < blocks && !err; i++) {
		fl_pblk block = i < exact->file->tree_count
					? map->trees.at[exact->file->first_tree + i]
					: 0;

		if (!fl_blockset_has(exact->room, block) &&
		    !fl_blockset_find(exact->room, near, end, true, &block) &&
		    !fl_blockset_find(exact->room, 0, near, true, &block))
			return refuse(exact,
				      "free blocks are missing for its mapping tree: ", blocks - i);
		err = fl_blockset_remove(exact->room, block, 1);
		if (!err)
			err = fl_target_add_tree(exact->target, block, 1);
	}
	return err;
}

static int place_file(struct exact *exact, uint32_t number)
{
	const struct fl_file *file = exact->file;
	uint64_t tree_blocks;
	int err;

	if (file->blocks < exact->fragments)
		return refuse(exact,
			      fl_map_unit_blocks(exact->map) > 1 ? "its clusters are "
								 : "its blocks are ",
			      file->blocks);
	err = set_free(exact);
	if (!err)
		err = own_places(exact);
	if (!err && exact->places.count > exact->fragments)
		err = fewest_places(exact);
	if (err)
		return err;
	if (exact->places.count > exact->fragments)
		return refuse(exact, "with the free space as it is, the fewest are ",
			      exact->places.count);
	qsort(exact->places.at, exact->places.count, sizeof(*exact->places.at), compare_last_first);
	err = cut_up(exact);
	for (size_t i = 0; i < exact->places.count && !err; i++)
		err = fl_blockset_remove(exact->room, exact->places.at[i].start,
					 exact->places.at[i].len);
	if (!err)
		err = fl_target_add(exact->target, exact->map, number, exact->runs.at,
				    exact->runs.count, &tree_blocks);
	return err ? err : place_tree(exact, tree_blocks);
}

/* Notes the wish for each file that it names. */
static int find_files(struct exact *exact, const struct frag_wish *wish, uint64_t *wanted)
{
	const struct fl_map *map = exact->map;
	size_t found = 0;

	exact->fragments = wish->fragments;
	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];
		const char *path;

		if (file->name == FL_NO_NAME)
			continue;
		path = fl_map_path(map, file->name, false, exact->path, sizeof(exact->path));
		if (strcmp(wish->path, path) &&
		    (file->kind != FL_KIND_REGULAR || fnmatch(wish->path, path, FNM_PATHNAME)))
			continue;
		if (!fl_file_movable(file))
			return fl_fail(exact->diag, FL_ENOROOM,
				       "plan: %.200s: must stay where it is", path);
		wanted[i] = wish->fragments;
		found++;
	}
	return found ? 0
		     : fl_fail(exact->diag, FL_ENOROOM,
			       "plan: %.200s: there is no such file with blocks of its own",
			       wish->path);
}

static int place_files(struct exact *exact, const uint64_t *wanted)
{
	const struct fl_map *map = exact->map;
	int err = fl_blockset_new(map->geo.blocks, &exact->room);

	for (size_t i = 0; i < map->free.count && !err; i++)
		err = fl_blockset_add(exact->room, map->free.at[i].start, map->free.at[i].len);
	for (uint32_t i = 0; i < map->files.count && !err; i++) {
		exact->file = &map->files.at[i];
		exact->fragments = wanted[i];
		if (!wanted[i] || fl_file_fragments(map, exact->file) == wanted[i])
			continue;
		exact->name =
			fl_map_path(map, exact->file->name, true, exact->path, sizeof(exact->path));
		err = place_file(exact, i);
	}
	return err;
}

int frag_exact(const struct fl_map *map, const struct frag_wishes *wishes, struct fl_target *target,
	       struct fl_diag *diag)
{
	struct exact exact = {.map = map, .target = target, .diag = diag};
	uint64_t *wanted = calloc((size_t)fl_max(map->files.count, 1), sizeof(*wanted));
	int err = wanted ? 0 : FL_ENOMEM;

	for (size_t i = 0; i < wishes->count && !err; i++)
		err = find_files(&exact, &wishes->at[i], wanted);
	if (!err)
		err = place_files(&exact, wanted);
	fl_blockset_free(exact.room);
	fl_array_free(&exact.places);
	fl_array_free(&exact.runs);
	free(wanted);
	return err;
}
