/* SPDX-License-Identifier: MIT */
/*
 * The protocol: the one place that decides the order of writes. Must not write anything
 * itself; each step lives in a file of its own.
 */
#include "move_internal.h"

#include <stdlib.h>

struct mover {
	struct fl_fs *fs;
	const struct fl_map *map;
	const struct fl_plan *plan;
	const struct fl_move_options *options;
	struct fl_move_result *result;
	struct fl_diag *diag;
	struct fl_layout *layout;
	struct move_groups *groups;
	struct move_switches roots;
	FL_ARRAY(size_t) tree_before; /* by switch of the batch: tree blocks before it */
	struct fl_runs claimed, released;
	struct move_copier *copier;
	struct move_vacated *vacated;
	struct move_quota *quota;
	uint64_t done_blocks, total_blocks;
};

static int flush(struct mover *mover)
{
	int error = fl_device_flush(fl_fs_device(mover->fs));

	mover->result->flushes++;
	return error ? fl_fail(mover->diag, error, "flushing the image: %s", fl_error_text(error))
		     : 0;
}

static int remember_trees(struct mover *mover, const struct fl_batch *batch)
{
	mover->tree_before.count = 0;
	for (size_t i = 0; i < batch->switch_count; i++) {
		uint32_t file = mover->plan->switches.at[batch->first_switch + i].file;

		if (fl_array_push(&mover->tree_before,
				  fl_layout_file(mover->layout, file).tree_count))
			return FL_ENOMEM;
	}
	return 0;
}

static int copy(struct mover *mover, const struct fl_batch *batch)
{
	int error = move_copier_copy(mover->copier, batch, mover->diag);

	/* What earlier batches have vacated may be all the room that the host needs. */
	if (error == FL_EHOSTFULL && !move_vacated_clear_all(mover->vacated, mover->diag))
		error = move_copier_copy(mover->copier, batch, mover->diag);
	return error;
}

/* Everything that goes to blocks nobody can reach. */
static int prepare(struct mover *mover, const struct fl_batch *batch)
{
	int error;

	move_groups_mark(mover->groups, &mover->claimed, true);
	error = move_groups_write(mover->groups, mover->diag);
	if (!error)
		error = copy(mover, batch);
	if (!error)
		error = move_build_trees(mover->fs, mover->map, mover->plan, batch, mover->layout,
					 mover->options->verify, &mover->roots, mover->diag);
	return error;
}

static void count(struct mover *mover, const struct fl_batch *batch)
{
	mover->result->batches++;
	for (size_t i = 0; i < batch->switch_count; i++) {
		const struct fl_switch *item = &mover->plan->switches.at[batch->first_switch + i];

		mover->result->extents += item->move_count;
		for (uint32_t m = 0; m < item->move_count; m++)
			mover->result->bytes +=
				(uint64_t)mover->plan->moves.at[item->first_move + m].len *
				mover->map->geo.block_bytes;
	}
	mover->done_blocks += batch->blocks;
	if (mover->options->progress)
		mover->options->progress(mover->options->context, mover->done_blocks,
					 mover->total_blocks);
}

/*
 * Gives up a batch that has switched nothing: its claims are undone, so that the image can be
 * left clean, if that can still be written and flushed. Not after a failed flush: then it is
 * unknown what the disk holds.
 */
static int abandon(struct mover *mover, int error)
{
	struct fl_diag ignored;

	move_groups_mark(mover->groups, &mover->claimed, false);
	if (!move_groups_write(mover->groups, &ignored) && !fl_fs_unfence(mover->fs, &ignored))
		mover->result->fenced = false;
	return error;
}

static int run_batch(struct mover *mover, size_t index)
{
	const struct fl_batch *batch = &mover->plan->batches.at[index];
	int error = remember_trees(mover, batch);

	if (!error)
		error = fl_layout_step(mover->layout, mover->plan, index, &mover->claimed,
				       &mover->released, mover->diag);
	if (!error)
		error = move_vacated_claim(mover->vacated, mover->plan, batch, &mover->claimed,
					   mover->diag);
	if (error)
		return error;
	error = prepare(mover, batch);
	if (error)
		return abandon(mover, error);
	error = flush(mover);
	if (!error)
		error = move_vacated_clear(mover->vacated, mover->diag);
	if (!error)
		error = move_switch(mover->fs, mover->map, mover->plan, batch, mover->layout,
				    &mover->roots, mover->tree_before.at, mover->quota,
				    mover->diag);
	if (!error)
		error = flush(mover);
	if (error)
		return error;
	/* Reaches the disk with the next batch's claims, or before the unfence. */
	move_groups_mark(mover->groups, &mover->released, false);
	count(mover, batch);
	return move_vacated_release(mover->vacated, &mover->released);
}

static int finish(struct mover *mover)
{
	int error = move_groups_write(mover->groups, mover->diag);

	if (!error)
		error = fl_fs_unfence(mover->fs, mover->diag);
	if (error)
		return error;
	mover->result->flushes += 2;
	mover->result->fenced = false;
	error = move_vacated_finish(mover->vacated, fl_layout_free_blocks(mover->layout),
				    mover->diag);
	return error ? error : flush(mover);
}

static int run_batches(struct mover *mover, bool *stopped)
{
	int error = 0;

	for (size_t i = 0; i < mover->plan->batches.count && !error; i++) {
		*stopped = mover->options->cancelled &&
			   mover->options->cancelled(mover->options->context);
		if (*stopped)
			break;
		error = fl_fs_claim_holds(mover->fs, mover->diag);
		if (!error)
			error = run_batch(mover, i);
	}
	return error;
}

static int run_fenced(struct mover *mover)
{
	bool stopped = false;
	int error;

	mover->result->wrote = mover->result->fenced = true;
	error = fl_fs_fence(mover->fs, mover->diag);
	if (error)
		return error;
	mover->result->flushes++;
	error = run_batches(mover, &stopped);
	if (!error)
		error = fl_fs_claim_holds(mover->fs, mover->diag);
	if (!error)
		error = finish(mover);
	return error || !stopped ? error : FL_ECANCELLED;
}

/* With multiple mount protection: whatever happens in between, the claim is given back. */
static int run(struct mover *mover)
{
	struct fl_diag diag = {{0}};
	int error = fl_fs_claim(mover->fs, &mover->options->claimant, &mover->result->wrote,
				mover->diag);

	if (!error) {
		int given_back;

		error = run_fenced(mover);
		given_back = fl_fs_disclaim(mover->fs, &diag);
		if (given_back && (!error || error == FL_ECANCELLED))
			error = fl_fail(mover->diag, given_back, "%s", diag.text);
	}
	mover->result->claimed = fl_fs_claimed(mover->fs);
	return error;
}

int fl_move_run(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		const struct fl_move_options *options, struct fl_move_result *result,
		struct fl_diag *diag)
{
	struct mover mover = {.fs = fs,
			      .map = map,
			      .plan = plan,
			      .options = options,
			      .result = result,
			      .diag = diag};
	int error;

	*result = (struct fl_move_result){0};
	if (!plan->batches.count)
		return 0;
	if (fl_map_unit_blocks(map) != fl_fs_geometry(fs)->cluster_blocks)
		return fl_fail(diag, FL_EINVAL,
			       "move: the map does not count the units of the image");
	for (size_t i = 0; i < plan->batches.count; i++)
		mover.total_blocks += plan->batches.at[i].blocks;
	error = fl_layout_new(map, &mover.layout);
	if (!error)
		error = move_groups_new(fs, fl_map_unit_blocks(map), &mover.groups);
	if (!error)
		error = move_copier_new(fs, map, plan, options, &mover.copier);
	if (!error)
		error = move_vacated_new(fs, map, plan, &mover.vacated);
	if (!error)
		error = move_quota_new(fs, map, plan, &mover.quota, diag);
	if (!error)
		error = run(&mover);
	fl_layout_free(mover.layout);
	move_groups_free(mover.groups);
	move_quota_free(mover.quota);
	fl_array_free(&mover.roots);
	fl_array_free(&mover.tree_before);
	fl_array_free(&mover.claimed);
	fl_array_free(&mover.released);
	move_copier_free(mover.copier);
	move_vacated_free(mover.vacated);
	return error;
}
