/* SPDX-License-Identifier: MIT */
/*
 * Writing as ext4 does: windows for small files, blocks kept for the file that is still open,
 * blocks that are free only after the journal's commit. The names in comments are those of
 * fs/ext4/mballoc.c in Linux 6.18.
 */
#include "common/sim/sim.h"

#define WINDOW_BLOCKS 512u /* s_mb_group_prealloc */
#define WINDOWS_KEPT 6u	   /* when a list is full: ext4_mb_discard_lg_preallocations */
#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)

static uint32_t group_of_goal(const struct fl_alloc *alloc, fl_pblk goal)
{
	const struct fl_geometry *geo = &alloc->geo;

	return goal < geo->first_data_block || goal >= geo->blocks ? 0 : fl_group_of(geo, goal);
}

/* --- what is kept --- */

/* Kept for one file; *ahead names it. */
static int keep_ahead(struct fl_alloc *alloc, uint32_t *ahead, struct fl_run run)
{
	if (alloc->spare_ahead) {
		*ahead = alloc->spare_ahead;
		alloc->spare_ahead = (uint32_t)alloc->ahead.at[*ahead].start;
	} else {
		if (fl_array_push(&alloc->ahead, run))
			return FL_ENOMEM;
		*ahead = (uint32_t)(alloc->ahead.count - 1);
	}
	alloc->ahead.at[*ahead] = run;
	return 0;
}

static void forget_ahead(struct fl_alloc *alloc, uint32_t *ahead)
{
	alloc->ahead.at[*ahead] = (struct fl_run){.start = alloc->spare_ahead};
	alloc->spare_ahead = *ahead;
	*ahead = 0;
}

int fl_alloc_close(struct fl_alloc *alloc, uint32_t *ahead)
{
	struct fl_run run;

	if (!*ahead)
		return 0;
	run = alloc->ahead.at[*ahead];
	forget_ahead(alloc, ahead);
	return run.len ? sim_change(alloc, run, true) : 0;
}

static void drop_window(struct sim_windows *list, size_t at)
{
	list->count--;
	for (; at < list->count; at++)
		list->at[at] = list->at[at + 1];
}

/* ext4_mb_add_n_trim: what is left of a window waits among those of its order. */
static int keep_window(struct fl_alloc *alloc, struct fl_run rest)
{
	unsigned order = 63 - (unsigned)__builtin_clzll(rest.len | 1);
	struct sim_windows *list = &alloc->windows[fl_min(order, SIM_WINDOW_ORDERS - 1)];
	size_t at = list->count;
	int err = 0;

	if (rest.len == 0)
		return 0;
	for (; at > 0 && list->at[at - 1].len > rest.len; at--)
		list->at[at] = list->at[at - 1];
	list->at[at] = rest;
	list->count++;
	if (list->count < SIM_WINDOWS)
		return 0;
	while (!err && list->count > WINDOWS_KEPT) {
		struct fl_run first = list->at[0];

		drop_window(list, 0);
		err = sim_change(alloc, first, true);
	}
	return err;
}

/* The window nearest to the goal that has room; ext4_mb_use_preallocated. */
static bool find_window(const struct fl_alloc *alloc, fl_pblk goal, uint32_t want, size_t *order,
			size_t *at)
{
	uint64_t least = UINT64_MAX;

	for (size_t k = 31 - (size_t)__builtin_clz(want); k < SIM_WINDOW_ORDERS; k++) {
		const struct sim_windows *list = &alloc->windows[k];

		for (size_t i = 0; i < list->count; i++) {
			fl_pblk start = list->at[i].start;
			uint64_t distance = start > goal ? start - goal : goal - start;

			if (list->at[i].len >= want && distance < least) {
				least = distance;
				*order = k;
				*at = i;
			}
		}
	}
	return least != UINT64_MAX;
}

int sim_release_all(struct fl_alloc *alloc, bool *released)
{
	int err = 0;

	*released = alloc->freed.count > 0;
	for (size_t k = 0; k < SIM_WINDOW_ORDERS; k++)
		while (alloc->windows[k].count && !err) {
			*released = true;
			err = sim_change(alloc, alloc->windows[k].at[0], true);
			drop_window(&alloc->windows[k], 0);
		}
	for (size_t i = 1; i < alloc->ahead.count && !err; i++) {
		struct fl_run *run = &alloc->ahead.at[i];

		if (!run->len)
			continue;
		*released = true;
		err = sim_change(alloc, *run, true);
		run->len = 0; /* the file still has its number */
	}
	return err ? err : fl_alloc_commit(alloc);
}

int fl_alloc_delete(struct fl_alloc *alloc, struct fl_run run)
{
	if (fl_array_push(&alloc->freed, run))
		return FL_ENOMEM;
	alloc->free_blocks += run.len;
	return 0;
}

int fl_alloc_commit(struct fl_alloc *alloc)
{
	int err = 0;

	for (size_t i = 0; i < alloc->freed.count && !err; i++)
		err = sim_change(alloc, alloc->freed.at[i], true);
	alloc->freed.count = 0;
	return err;
}

/* --- what is written --- */

/* Searches, and when all is taken again once nothing is kept any more. Takes what it finds. */
static int search(struct fl_alloc *alloc, const struct sim_request *request, struct fl_run *run)
{
	bool again = false;
	int err;

	if (!sim_search(alloc, request, run)) {
		err = sim_release_all(alloc, &again);
		if (err)
			return err;
		if (!again || !sim_search(alloc, request, run))
			return FL_ENOROOM;
	}
	return sim_change(alloc, *run, false);
}

static int write_small(struct fl_alloc *alloc, fl_pblk goal, uint32_t want, struct fl_run *run)
{
	struct sim_request request = {.group = group_of_goal(alloc, goal),
				      .want = want,
				      .aim = WINDOW_BLOCKS,
				      .data = true};
	struct fl_run window;
	size_t order, at;

	request.aim = (uint32_t)fl_min(request.aim, alloc->geo.blocks_per_group);
	if (find_window(alloc, goal, want, &order, &at)) {
		window = alloc->windows[order].at[at];
		drop_window(&alloc->windows[order], at);
	} else {
		int err = search(alloc, &request, &window);

		if (err)
			return err;
	}
	*run = (struct fl_run){window.start, fl_min(want, window.len)};
	return keep_window(alloc, (struct fl_run){fl_run_end(*run), window.len - run->len});
}

/*
 * How many blocks are looked for, for a file that goes on at a block and grows:
 * ext4_mb_normalize_request. Powers of two up to 1 MiB, then aligned pieces of 2, 4 and 8 MiB.
 */
static uint64_t window_of(const struct fl_alloc *alloc, uint64_t at, uint64_t want)
{
	uint64_t block = alloc->geo.block_bytes, bytes = (at + want) * block;
	uint64_t most = 2 * block; /* blocks: the longest chunk */
	uint64_t start = 0, end = KIB(16);

	if (bytes <= MIB(1)) {
		while (end < bytes)
			end *= 2;
	} else {
		uint64_t piece = bytes <= MIB(4) || most <= 2048   ? MIB(2)
				 : bytes <= MIB(8) || most <= 4096 ? MIB(4)
								   : MIB(8);

		start = at * block / piece * piece;
		end = start + piece;
	}
	start /= block;
	end = fl_div_up(end, block);
	return end > at ? end - at : want;
}

static int write_large(struct fl_alloc *alloc, uint32_t *ahead, const struct fl_alloc_file *file,
		       uint32_t want, struct fl_run *run)
{
	uint32_t *goal_group = &alloc->goals[file->ino % alloc->goal_count];
	uint64_t window = window_of(alloc, file->blocks, want);
	struct sim_request request = {.group = *goal_group, .data = true};
	struct fl_run found;
	int err;

	request.aim = (uint32_t)fl_min(window, alloc->geo.blocks_per_group);
	request.want = (uint32_t)fl_min(want, request.aim);
	if (file->blocks && sim_free_at(alloc, file->goal) >= request.aim) {
		found = (struct fl_run){file->goal, request.aim};
		err = sim_change(alloc, found, false);
	} else {
		err = search(alloc, &request, &found);
	}
	if (err)
		return err;
	*goal_group = fl_group_of(&alloc->geo, found.start);
	*run = (struct fl_run){found.start, fl_min(want, found.len)};
	if (found.len == run->len)
		return 0;
	return keep_ahead(alloc, ahead, (struct fl_run){fl_run_end(*run), found.len - run->len});
}

static int take_ahead(struct fl_alloc *alloc, uint32_t *ahead, uint64_t want, struct fl_run *run)
{
	struct fl_run *kept = &alloc->ahead.at[*ahead];

	*run = (struct fl_run){kept->start, fl_min(want, kept->len)};
	kept->start += run->len;
	kept->len -= run->len;
	if (kept->len == 0)
		forget_ahead(alloc, ahead);
	return 0;
}

int fl_alloc_write(struct fl_alloc *alloc, uint32_t *ahead, const struct fl_alloc_file *file,
		   uint64_t want, struct fl_run *run)
{
	uint64_t most = fl_min(want, alloc->geo.blocks_per_group);
	struct sim_request request = {
		.group = group_of_goal(alloc, file->goal), .want = (uint32_t)most, .data = true};
	struct fl_run found;
	int err;

	if (want == 0)
		return FL_EINVAL;
	request.aim = request.want;
	if (*ahead && !alloc->ahead.at[*ahead].len)
		forget_ahead(alloc, ahead);
	if (*ahead)
		err = take_ahead(alloc, ahead, want, &found);
	else if (file->small)
		err = write_small(alloc, file->goal, (uint32_t)most, &found);
	else if (file->open)
		err = write_large(alloc, ahead, file, (uint32_t)most, &found);
	else
		err = search(alloc, &request, &found);
	if (err)
		return err;
	alloc->free_blocks -= found.len;
	*run = found;
	return 0;
}

int fl_alloc_take_as(struct fl_alloc *alloc, enum fl_alloc_hint hint, fl_pblk goal, uint64_t want,
		     struct fl_run *run)
{
	uint32_t most = (uint32_t)fl_min(want, alloc->geo.blocks_per_group);
	struct sim_request request = {
		.group = hint == FL_ALLOC_STREAM ? alloc->goals[0] : group_of_goal(alloc, goal),
		.want = most,
		.aim = most,
		.data = hint == FL_ALLOC_STREAM,
	};
	struct fl_run found;
	int err;

	if (want == 0)
		return FL_EINVAL;
	if (sim_free_at(alloc, goal) >= most) {
		found = (struct fl_run){.start = goal, .len = most};
		err = sim_change(alloc, found, false);
	} else {
		err = search(alloc, &request, &found);
	}
	if (err)
		return err;
	if (hint == FL_ALLOC_STREAM)
		alloc->goals[0] = fl_group_of(&alloc->geo, found.start);
	alloc->free_blocks -= found.len;
	*run = found;
	return 0;
}

int fl_alloc_take(struct fl_alloc *alloc, fl_pblk goal, uint64_t want, struct fl_run *run)
{
	return fl_alloc_take_as(alloc, FL_ALLOC_NEAR, goal, want, run);
}
