/* SPDX-License-Identifier: MIT */
/*
 * What is free, and the allocator's calls. Must not decide where anything goes: that is scan.c;
 * what is kept for whom is in reserve.c.
 */
#include <fraglab/alloc.h>

#include <stdlib.h>
#include <string.h>

#include "common/sim/sim.h"

#define FLEX_SPREAD 4u /* flex groups this large put files and directories apart */

static void note_group(struct fl_alloc *alloc, uint32_t number)
{
	const struct fl_simgroup *group = &alloc->groups[number];
	uint8_t any = SIM_NO_ORDER, buddy = SIM_NO_ORDER, order = SIM_NO_ORDER;
	uint32_t average = 0;

	if (group->free) {
		any = 0;
		buddy = (uint8_t)alloc->top;
		while (!group->chunks[buddy])
			buddy--;
		average = group->free / group->runs;
		order = (uint8_t)sim_average_order(alloc, average);
	}
	sim_index_put(&alloc->by_buddy, number, buddy, 1);
	sim_index_put(&alloc->by_average, number, order, average);
	sim_index_put(&alloc->by_free, number, any, group->free);
}

/* Gives or takes a run, group by group, which must all be in the wanted state. */
int sim_change(struct fl_alloc *alloc, struct fl_run run, bool give)
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
		note_group(alloc, number);
		run.start += len;
		run.len -= len;
	}
	return 0;
}

uint32_t sim_free_at(const struct fl_alloc *alloc, fl_pblk block)
{
	uint32_t group;

	if (block < alloc->geo.first_data_block || block >= alloc->geo.blocks)
		return 0;
	group = fl_group_of(&alloc->geo, block);
	return fl_simgroup_free_at(&alloc->groups[group],
				   (uint32_t)(block - fl_group_first(&alloc->geo, group)));
}

/* Everything that is sized by the disk. */
static int make_groups(struct fl_alloc *alloc)
{
	const struct fl_geometry *geo = &alloc->geo;
	int err;

	/* MB_NUM_ORDERS: a buddy has at most twice as many blocks as a block has bytes. */
	alloc->top =
		(unsigned)fl_min((unsigned)__builtin_ctz(geo->block_bytes) + 1, FL_SIM_ORDERS - 1);
	alloc->goal_count = (uint32_t)fl_max(fl_min(SIM_GOALS, geo->groups / 4), 1);
	alloc->groups = calloc(geo->groups, sizeof(*alloc->groups));
	if (!alloc->groups)
		return FL_ENOMEM;
	for (uint32_t i = 0; i < geo->groups; i++) {
		alloc->groups[i].size = (uint32_t)(fl_group_end(geo, i) - fl_group_first(geo, i));
		alloc->groups[i].top = (uint8_t)alloc->top;
	}
	err = sim_index_init(&alloc->by_buddy, geo->groups, FL_SIM_ORDERS);
	if (!err)
		err = sim_index_init(&alloc->by_average, geo->groups, FL_SIM_ORDERS);
	if (!err)
		err = sim_index_init(&alloc->by_free, geo->groups, 1);
	return err ? err : fl_array_push(&alloc->ahead, (struct fl_run){0});
}

int fl_alloc_new(const struct fl_geometry *geo, const struct fl_run *slots, size_t count,
		 struct fl_alloc **out)
{
	struct fl_alloc *alloc = calloc(1, sizeof(*alloc));
	int err;

	if (!alloc)
		return FL_ENOMEM;
	alloc->geo = *geo;
	err = make_groups(alloc);
	for (size_t i = 0; i < count && !err; i++) {
		err = sim_change(alloc, slots[i], true);
		alloc->free_blocks += slots[i].len;
	}
	if (err) {
		fl_alloc_free(alloc);
		return err;
	}
	*out = alloc;
	return 0;
}

void fl_alloc_free(struct fl_alloc *alloc)
{
	if (!alloc)
		return;
	for (uint32_t i = 0; alloc->groups && i < alloc->geo.groups; i++)
		fl_simgroup_free(&alloc->groups[i]);
	free(alloc->groups);
	sim_index_free(&alloc->by_buddy);
	sim_index_free(&alloc->by_average);
	sim_index_free(&alloc->by_free);
	fl_array_free(&alloc->ahead);
	fl_array_free(&alloc->freed);
	free(alloc);
}

uint64_t fl_alloc_free_blocks(const struct fl_alloc *alloc)
{
	return alloc->free_blocks;
}

int fl_alloc_claim(struct fl_alloc *alloc, struct fl_run run)
{
	int err = sim_change(alloc, run, false);

	if (!err)
		alloc->free_blocks -= run.len;
	return err;
}

int fl_alloc_give(struct fl_alloc *alloc, struct fl_run run)
{
	int err = sim_change(alloc, run, true);

	if (!err)
		alloc->free_blocks += run.len;
	return err;
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
	/* A goal off the disk is the first block. */
	return fl_group_first(geo, group < geo->groups ? group : 0);
}
