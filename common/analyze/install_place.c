/* SPDX-License-Identifier: MIT */
/*
 * Where an install's inodes and blocks go: the group of new inodes, the windows of small files.
 * Changes nothing on the disk; the metadata that changes with it is noted by install_commit.c.
 */
#include "install.h"

#define WINDOW_BLOCKS 512u /* mb_group_prealloc */

/* The group with most free blocks, as ext4 spreads directories of the first level. */
static void choose_group(struct install *install)
{
	const struct fl_map *map = install->stream->map;
	uint64_t best = 0, sum = 0;
	uint32_t at = map->geo.first_data_block < map->geo.blocks ? 0 : UINT32_MAX;

	for (size_t i = 0; i < map->free.count; i++) {
		uint32_t group = fl_group_of(&map->geo, map->free.at[i].start);

		if (group != at)
			sum = 0;
		at = group;
		sum += map->free.at[i].len;
		if (sum > best) {
			best = sum;
			install->group = group;
		}
	}
}

/* A new inode: the next that was never used, from the chosen group on. */
int fl_install_new_inode(struct install *install, fl_ino *ino)
{
	const struct fl_map *map = install->stream->map;
	const struct fl_geometry *geo = &map->geo;
	int error;

	for (uint32_t tries = 0; tries < geo->groups; tries++) {
		uint32_t used = install->group < map->groups.count
					? map->groups.at[install->group].inodes_used
					: 0;

		if (install->next_inode < used && used < geo->inodes_per_group)
			install->next_inode = used;
		if (install->next_inode < geo->inodes_per_group)
			break;
		install->group = (install->group + 1) % geo->groups;
		install->next_inode = 0;
	}
	*ino = install->group * geo->inodes_per_group +
	       install->next_inode % geo->inodes_per_group + 1;
	error = fl_install_touch_group(install, install->group, true);
	if (!error)
		error = fl_install_touch_inode(install, *ino);
	install->next_inode++;
	return error;
}

/* One block of metadata near a goal. */
int fl_install_new_block(struct install *install, fl_pblk goal)
{
	struct fl_run run;
	int error = fl_alloc_take(install->alloc, goal, 1, &run);

	if (!error)
		error = fl_install_touch_run(install, run);
	return error ? error : fl_install_touch(install, run.start);
}

/* The window that the next small file goes to: the nearest to its goal that is long enough. */
static struct fl_run *find_window(struct install *install, fl_pblk goal, uint64_t want)
{
	struct fl_run *best = NULL;
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < INSTALL_WINDOWS; i++) {
		struct fl_run *window = &install->windows[i];
		uint64_t distance =
			window->start > goal ? window->start - goal : goal - window->start;

		if (window->len >= want && distance < least) {
			least = distance;
			best = window;
		}
	}
	return best;
}

/*
 * Small files share windows that others keep out of (the preallocations of a locality group; what
 * is left of one waits for smaller files). FL_ALLOC_SMALL has one, but others may be put into it.
 */
int fl_install_take_small(struct install *install, fl_pblk goal, uint64_t want, struct fl_run *run)
{
	struct fl_run *window = find_window(install, goal, want);

	if (!window) {
		struct fl_run *shortest = &install->windows[0];
		int error;

		for (size_t i = 1; i < INSTALL_WINDOWS; i++)
			if (install->windows[i].len < shortest->len)
				shortest = &install->windows[i];
		error = fl_alloc_take(install->alloc, goal, WINDOW_BLOCKS, shortest);
		if (error)
			return error;
		window = shortest;
	}
	*run = (struct fl_run){window->start, fl_min(want, window->len)};
	window->start += run->len;
	window->len -= run->len;
	return 0;
}

int fl_install_place_begin(struct install *install)
{
	const struct fl_map *map = install->stream->map;

	choose_group(install);
	return fl_alloc_new(&map->geo, map->free.at, map->free.count, &install->alloc);
}
