/* SPDX-License-Identifier: MIT */
/*
 * Where ext4 would put the next blocks: a model of mballoc over free bitmaps. Pure; must not
 * know files, only goals and lengths.
 *
 * Modelled: the goal block first; the shortest free run that fits, group by group from the
 * goal's; two rounds, groups whose average free run fits before groups where any run may fit;
 * when nothing fits, the longest of the first SCAN_RUNS runs met; one window shared by small
 * files (the locality group); the stream goal that large files fall back to; goals from an
 * inode's (flex) group. No run crosses a group border.
 *
 * Not modelled: buddies (the round for aligned powers of two), blocks reserved for a file that
 * is still open, one locality group for each processor, the window being closed to others,
 * its being smaller with bigalloc, and the exact counts after which the kernel's search gives up.
 */
#include <fraglab/alloc.h>

#include <stdlib.h>

#include "common/sim/group.h"

#define SCAN_RUNS 200u	   /* as the kernel's mb_max_to_scan */
#define AVERAGE_GROUPS 64u /* groups tried in the round that asks for the average */
#define WINDOW_BLOCKS 512u /* as the kernel's mb_group_prealloc */
#define FLEX_SPREAD 4u	   /* flex groups this large put files and directories apart */

struct fl_alloc {
	struct fl_geometry geo;
	uint64_t free_blocks;
	struct fl_simgroup *groups;
	/*
	 * A tournament over the groups' longest: node i has the larger of its children 2i and
	 * 2i+1, leaf `leaves + g` is group g's. Finds the next group worth a scan in O(log groups).
	 */
	uint32_t *tops;
	uint32_t leaves;
	struct fl_run window; /* what is left of the small files' window; len 0: none */
	fl_pblk stream;	      /* where the last large allocation ended */
};

static void note_longest(struct fl_alloc *alloc, uint32_t group)
{
	size_t node = (size_t)alloc->leaves + group;

	alloc->tops[node] = alloc->groups[group].longest;
	while (node > 1) {
		size_t parent = node / 2;
		uint32_t top =
			(uint32_t)fl_max(alloc->tops[parent * 2], alloc->tops[parent * 2 + 1]);

		if (alloc->tops[parent] == top)
			break;
		alloc->tops[parent] = top;
		node = parent;
	}
}

/* The first group in from .. limit-1 whose longest run may have `want` blocks. */
static bool next_group(const struct fl_alloc *alloc, uint32_t from, uint32_t limit, uint32_t want,
		       uint32_t *group)
{
	size_t node = (size_t)alloc->leaves + from;

	if (from >= limit)
		return false;
	while (alloc->tops[node] < want) {
		/* Up while it is a right child, then to the right neighbour. */
		while (node & 1)
			node /= 2;
		if (node == 0)
			return false;
		node++;
	}
	while (node < alloc->leaves)
		node = alloc->tops[node * 2] >= want ? node * 2 : node * 2 + 1;
	if (node - alloc->leaves >= limit)
		return false;
	*group = (uint32_t)(node - alloc->leaves);
	return true;
}

/* Walks the groups that may have `want` blocks in a row: first, first + 1, .. and round. */
struct walk {
	uint32_t first, next;
	bool wrapped;
};

static bool walk_next(const struct fl_alloc *alloc, struct walk *walk, uint32_t want,
		      uint32_t *group)
{
	if (!walk->wrapped) {
		if (next_group(alloc, walk->next, alloc->geo.groups, want, group)) {
			walk->next = *group + 1;
			return true;
		}
		walk->wrapped = true;
		walk->next = 0;
	}
	if (!next_group(alloc, walk->next, walk->first, want, group))
		return false;
	walk->next = *group + 1;
	return true;
}

static struct fl_run run_in(const struct fl_alloc *alloc, uint32_t group, uint32_t start,
			    uint32_t len)
{
	return (struct fl_run){.start = fl_group_first(&alloc->geo, group) + start, .len = len};
}

/* The shortest run of at least `want` blocks in a group, among the first SCAN_RUNS that fit. */
static bool fit_in_group(struct fl_alloc *alloc, uint32_t number, uint32_t want, struct fl_run *run)
{
	struct fl_simgroup *group = &alloc->groups[number];
	uint32_t best_start = 0, best_len = 0, longest = 0, fits = 0;
	uint32_t start, len;

	if (group->longest < want)
		return false;
	for (uint32_t pos = 0; fl_simgroup_next(group, pos, &start, &len); pos = start + len) {
		longest = (uint32_t)fl_max(longest, len);
		if (len < want)
			continue;
		if (best_len == 0 || len < best_len) {
			best_start = start;
			best_len = len;
		}
		if (best_len == want || ++fits == SCAN_RUNS)
			break;
	}
	if (best_len) {
		*run = run_in(alloc, number, best_start, best_len);
		return true;
	}
	/* Every failed scan makes the bound exact, so that it is not repeated until a give. */
	group->longest = longest;
	note_longest(alloc, number);
	return false;
}

static bool find_fit(struct fl_alloc *alloc, uint32_t first, uint32_t want, struct fl_run *run)
{
	struct walk walk = {.first = first, .next = first};
	uint32_t number, tried = 0;

	if (fit_in_group(alloc, first, want, run))
		return true;
	while (tried++ < AVERAGE_GROUPS && walk_next(alloc, &walk, want, &number)) {
		const struct fl_simgroup *group = &alloc->groups[number];

		if (group->runs && group->free / group->runs >= want &&
		    fit_in_group(alloc, number, want, run))
			return true;
	}
	walk = (struct walk){.first = first, .next = first};
	while (walk_next(alloc, &walk, want, &number))
		if (fit_in_group(alloc, number, want, run))
			return true;
	return false;
}

/* Nothing fits: the longest of the first SCAN_RUNS runs from the group on. */
static bool find_longest(const struct fl_alloc *alloc, uint32_t first, struct fl_run *run)
{
	struct walk walk = {.first = first, .next = first};
	struct fl_run best = {0};
	uint32_t number, start, len, seen = 0;

	while (seen < SCAN_RUNS && walk_next(alloc, &walk, 1, &number)) {
		const struct fl_simgroup *group = &alloc->groups[number];

		for (uint32_t pos = 0;
		     seen < SCAN_RUNS && fl_simgroup_next(group, pos, &start, &len);
		     pos = start + len, seen++)
			if (len > best.len)
				best = run_in(alloc, number, start, len);
	}
	if (best.len == 0)
		return false;
	*run = best;
	return true;
}

static bool find_near(struct fl_alloc *alloc, fl_pblk goal, uint32_t want, struct fl_run *run)
{
	const struct fl_geometry *geo = &alloc->geo;
	uint32_t first =
		goal < geo->first_data_block || goal >= geo->blocks ? 0 : fl_group_of(geo, goal);

	return find_fit(alloc, first, want, run) || find_longest(alloc, first, run);
}

/* Free blocks in a row from a block on, within its group. */
static uint32_t free_at(const struct fl_alloc *alloc, fl_pblk block)
{
	uint32_t group;

	if (block < alloc->geo.first_data_block || block >= alloc->geo.blocks)
		return 0;
	group = fl_group_of(&alloc->geo, block);
	return fl_simgroup_free_at(&alloc->groups[group],
				   (uint32_t)(block - fl_group_first(&alloc->geo, group)));
}

/* Small files lie side by side in the order of their writing, whatever their directories. */
static bool find_small(struct fl_alloc *alloc, fl_pblk goal, uint32_t want, struct fl_run *run)
{
	struct fl_run found;

	if (alloc->window.len < want || free_at(alloc, alloc->window.start) < want) {
		if (!find_near(alloc, goal, (uint32_t)fl_max(want, WINDOW_BLOCKS), &found))
			return false;
		found.len = fl_min(found.len, fl_max(want, WINDOW_BLOCKS));
		alloc->window = found;
	}
	*run = (struct fl_run){.start = alloc->window.start,
			       .len = fl_min(want, alloc->window.len)};
	alloc->window.start += run->len;
	alloc->window.len -= run->len;
	return true;
}

/* Gives or takes a run, group by group, which must all be in the wanted state. */
static int change(struct fl_alloc *alloc, struct fl_run run, bool give)
{
	const struct fl_geometry *geo = &alloc->geo;

	if (run.len == 0 || run.start < geo->first_data_block || run.len > geo->blocks ||
	    run.start > geo->blocks - run.len)
		return FL_EINVAL;
	while (run.len > 0) {
		uint32_t number = fl_group_of(geo, run.start);
		struct fl_simgroup *group = &alloc->groups[number];
		uint32_t start = (uint32_t)(run.start - fl_group_first(geo, number));
		uint32_t len = (uint32_t)fl_min(run.len, group->size - start);
		int err = give ? fl_simgroup_give(group, start, len)
			       : fl_simgroup_take(group, start, len);

		if (err)
			return err;
		note_longest(alloc, number);
		alloc->free_blocks = give ? alloc->free_blocks + len : alloc->free_blocks - len;
		run.start += len;
		run.len -= len;
	}
	return 0;
}

int fl_alloc_new(const struct fl_geometry *geo, const struct fl_run *slots, size_t count,
		 struct fl_alloc **out)
{
	struct fl_alloc *alloc = calloc(1, sizeof(*alloc));
	int err = FL_ENOMEM;

	if (!alloc)
		return FL_ENOMEM;
	alloc->geo = *geo;
	alloc->stream = geo->first_data_block;
	for (alloc->leaves = 1; alloc->leaves < geo->groups;)
		alloc->leaves *= 2;
	alloc->groups = calloc(geo->groups, sizeof(*alloc->groups));
	alloc->tops = calloc((size_t)alloc->leaves * 2, sizeof(*alloc->tops));
	if (!alloc->groups || !alloc->tops)
		goto out;
	for (uint32_t i = 0; i < geo->groups; i++)
		alloc->groups[i].size = (uint32_t)(fl_group_end(geo, i) - fl_group_first(geo, i));
	for (size_t i = 0; i < count; i++) {
		err = change(alloc, slots[i], true);
		if (err)
			goto out;
	}
	*out = alloc;
	alloc = NULL;
	err = 0;
out:
	fl_alloc_free(alloc);
	return err;
}

void fl_alloc_free(struct fl_alloc *alloc)
{
	if (!alloc)
		return;
	for (uint32_t i = 0; alloc->groups && i < alloc->geo.groups; i++)
		fl_simgroup_free(&alloc->groups[i]);
	free(alloc->groups);
	free(alloc->tops);
	free(alloc);
}

uint64_t fl_alloc_free_blocks(const struct fl_alloc *alloc)
{
	return alloc->free_blocks;
}

int fl_alloc_take_as(struct fl_alloc *alloc, enum fl_alloc_hint hint, fl_pblk goal, uint64_t want,
		     struct fl_run *run)
{
	uint32_t most = (uint32_t)fl_min(want, alloc->geo.blocks_per_group);
	struct fl_run found;
	bool ok;
	int err;

	if (want == 0)
		return FL_EINVAL;
	if (hint == FL_ALLOC_SMALL)
		ok = find_small(alloc, goal, most, &found);
	else if (free_at(alloc, goal) >= most) {
		found = (struct fl_run){.start = goal, .len = most};
		ok = true;
	} else
		ok = find_near(alloc, hint == FL_ALLOC_STREAM ? alloc->stream : goal, most, &found);
	if (!ok)
		return FL_ENOROOM;
	found.len = fl_min(found.len, most);
	err = change(alloc, found, false);
	if (err)
		return err;
	if (hint == FL_ALLOC_STREAM)
		alloc->stream = fl_run_end(found);
	*run = found;
	return 0;
}

int fl_alloc_take(struct fl_alloc *alloc, fl_pblk goal, uint64_t want, struct fl_run *run)
{
	return fl_alloc_take_as(alloc, FL_ALLOC_NEAR, goal, want, run);
}

int fl_alloc_claim(struct fl_alloc *alloc, struct fl_run run)
{
	return change(alloc, run, false);
}

int fl_alloc_give(struct fl_alloc *alloc, struct fl_run run)
{
	return change(alloc, run, true);
}

fl_pblk fl_alloc_goal_of_inode(const struct fl_alloc *alloc, fl_ino ino, bool directory)
{
	const struct fl_geometry *geo = &alloc->geo;
	uint32_t group = fl_group_of_inode(geo, ino);

	if (geo->flex_groups >= FLEX_SPREAD) {
		group -= group % geo->flex_groups;
		if (!directory)
			group++;
	}
	return fl_group_first(geo, group < geo->groups ? group : geo->groups - 1);
}
