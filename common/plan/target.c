/* SPDX-License-Identifier: MIT */
/*
 * A target layout: built file by file by planners, checked against the map. Must not care
 * how one gets there.
 */
#include <fraglab/blockset.h>
#include <fraglab/plan.h>

#include <inttypes.h>
#include <stdlib.h>

void fl_target_free(struct fl_target *target)
{
	fl_array_free(&target->files);
	fl_array_free(&target->extents);
	fl_array_free(&target->trees);
	target->sparing = false;
}

/* Lays the file's blocks into the runs; both are walked once. */
static int lay(struct fl_extents *out, const struct fl_map *map, const struct fl_file *file,
	       const struct fl_run *runs, size_t run_count)
{
	struct fl_extents list = {0};
	uint64_t used = 0; /* blocks of runs[r] already given away */
	size_t r = 0;
	int error = FL_ENOMEM;

	for (size_t i = 0; i < file->extent_count; i++) {
		struct fl_extent rest = map->extents.at[file->first_extent + i];

		while (rest.len) {
			struct fl_extent piece = rest;

			if (r < run_count && used == runs[r].len) {
				used = 0;
				r++;
				continue;
			}
			if (r == run_count) {
				error = FL_EINVAL;
				goto out;
			}
			piece.pblk = runs[r].start + used;
			piece.len = (uint32_t)fl_min(rest.len, runs[r].len - used);
			if (fl_extents_append(&list, file->mapping, piece))
				goto out;
			used += piece.len;
			rest.lblk += piece.len;
			rest.len -= piece.len;
		}
	}
	if (r < run_count && (used != runs[r].len || r + 1 != run_count)) {
		error = FL_EINVAL;
		goto out;
	}
	if (fl_array_reserve(out, out->count + list.count))
		goto out;
	for (size_t i = 0; i < list.count; i++)
		out->at[out->count++] = list.at[i];
	error = 0;
out:
	fl_array_free(&list);
	return error;
}

int fl_target_add(struct fl_target *target, const struct fl_map *map, uint32_t file,
		  const struct fl_run *runs, size_t run_count, uint64_t *tree_blocks)
{
	struct fl_target_file item = {
		.file = file,
		.first_extent = target->extents.count,
		.first_tree = target->trees.count,
	};
	const struct fl_file *source;
	int error;

	if (file >= map->files.count)
		return FL_EINVAL;
	source = &map->files.at[file];
	if (fl_array_reserve(&target->files, target->files.count + 1))
		return FL_ENOMEM;
	error = lay(&target->extents, map, source, runs, run_count);
	if (error)
		return error;
	item.extent_count = target->extents.count - item.first_extent;
	target->files.at[target->files.count++] = item;
	return fl_map_tree_blocks(map, file, fl_array_from(&target->extents, item.first_extent),
				  item.extent_count, tree_blocks);
}

int fl_target_add_tree(struct fl_target *target, fl_pblk start, uint64_t len)
{
	if (!target->files.count)
		return FL_EINVAL;
	for (uint64_t i = 0; i < len; i++)
		if (fl_array_push(&target->trees, start + i))
			return FL_ENOMEM;
	target->files.at[target->files.count - 1].tree_count += len;
	return 0;
}

static int compare_files(const void *a, const void *b)
{
	const struct fl_target_file *left = a, *right = b;

	return fl_compare(left->file, right->file);
}

static int take(struct fl_blockset *room, fl_pblk start, uint64_t len, fl_ino ino,
		struct fl_diag *diag)
{
	fl_pblk block = start;

	if (len && start < fl_blockset_size(room) && len <= fl_blockset_size(room) - start &&
	    !fl_blockset_find(room, start, start + len, false, &block))
		return fl_blockset_remove(room, start, len);
	return fl_fail(diag, FL_EPLAN, "target of inode %u: block %" PRIu64 " is not to be had",
		       ino, block);
}

static int check_file(const struct fl_target *target, const struct fl_map *map,
		      const struct fl_target_file *item, struct fl_blockset *room,
		      struct fl_diag *diag)
{
	const struct fl_file *file = &map->files.at[item->file];
	const struct fl_extent *extents = fl_array_from(&target->extents, item->first_extent);
	uint64_t tree_blocks;
	int error;

	if (!fl_file_movable(file))
		return fl_fail(diag, FL_EPLAN, "target of inode %u: it is pinned", file->ino);
	error = fl_map_tree_blocks(map, item->file, extents, item->extent_count, &tree_blocks);
	if (error)
		return error;
	if (item->tree_count != tree_blocks)
		return fl_fail(diag, FL_EPLAN,
			       "target of inode %u: %zu mapping-tree blocks are wrong", file->ino,
			       item->tree_count);
	for (size_t i = 0; i < item->extent_count && !error; i++)
		error = take(room, extents[i].pblk, extents[i].len, file->ino, diag);
	for (size_t i = 0; i < item->tree_count && !error; i++)
		error = take(room, target->trees.at[item->first_tree + i], 1, file->ino, diag);
	return error;
}

/* Room for the target: the slots, without the files that stay. */
static int make_room(const struct fl_target *target, const struct fl_map *map,
		     struct fl_blockset **room)
{
	struct fl_blockset *made = NULL;
	struct fl_runs slots = {0};
	size_t next = 0;
	int error = fl_blockset_new(map->geo.blocks, &made);

	if (!error)
		error = fl_map_slots(map, &slots);
	for (size_t i = 0; i < slots.count && !error; i++)
		error = fl_blockset_add(made, slots.at[i].start, slots.at[i].len);
	for (size_t f = 0; f < map->files.count && !error; f++) {
		const struct fl_file *file = &map->files.at[f];

		if (next < target->files.count && target->files.at[next].file == f) {
			next++;
			continue;
		}
		for (size_t i = 0; i < file->extent_count && !error; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			error = fl_blockset_remove(made, e->pblk, e->len);
		}
		for (size_t i = 0; i < file->tree_count && !error; i++)
			error = fl_blockset_remove(made, map->trees.at[file->first_tree + i], 1);
	}
	fl_array_free(&slots);
	if (error)
		fl_blockset_free(made);
	else
		*room = made;
	return error;
}

int fl_target_finish(struct fl_target *target, const struct fl_map *map, struct fl_diag *diag)
{
	struct fl_blockset *room;
	int error;

	if (target->files.count)
		qsort(target->files.at, target->files.count, sizeof(*target->files.at),
		      compare_files);
	for (size_t i = 1; i < target->files.count; i++)
		if (target->files.at[i].file == target->files.at[i - 1].file)
			return fl_fail(diag, FL_EPLAN, "target: a file is in it twice");
	error = make_room(target, map, &room);
	if (error)
		return error;
	for (size_t i = 0; i < target->files.count && !error; i++)
		error = check_file(target, map, &target->files.at[i], room, diag);
	fl_blockset_free(room);
	return error;
}
