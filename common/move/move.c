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
	struct fl_runs vacated; /* released by the batch before, not yet punched */
	uint64_t done_blocks, total_blocks;
};

static int flush(struct mover *mover)
{
	int error = fl_device_flush(fl_fs_device(mover->fs));

	mover->result->flushes++;
	return error ? fl_fail(mover->diag, error, "flushing the image: %s", fl_error_text(error))
		     : 0;
}

/* Clears what the batch before vacated, except what this batch has taken. Both are sorted. */
static int clear_vacated(struct mover *mover, const struct fl_runs *taken)
{
	uint64_t bytes = mover->map->geo.block_bytes;
	size_t t = 0;

	for (size_t i = 0; i < mover->vacated.count; i++) {
		fl_pblk at = mover->vacated.at[i].start, end = fl_run_end(mover->vacated.at[i]);

		while (at < end) {
			fl_pblk stop = end;
			int error;

			while (t < taken->count && fl_run_end(taken->at[t]) <= at)
				t++;
			if (t < taken->count && taken->at[t].start <= at) {
				at = fl_run_end(taken->at[t]);
				continue;
			}
			if (t < taken->count)
				stop = fl_min(stop, taken->at[t].start);
			error = fl_device_discard(fl_fs_device(mover->fs), (stop - at) * bytes,
						  at * bytes);
			if (error)
				return fl_fail(mover->diag, error, "clearing vacated blocks: %s",
					       fl_error_text(error));
			at = stop;
		}
	}
	mover->vacated.count = 0;
	return 0;
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

/* Everything that goes to blocks nobody can reach. */
static int prepare(struct mover *mover, const struct fl_batch *batch)
{
	int error;

	move_groups_mark(mover->groups, &mover->claimed, true);
	error = move_groups_write(mover->groups, mover->diag);
	if (!error)
		error = move_copy(mover->fs, mover->plan, batch, mover->options, mover->diag);
	if (!error)
		error = move_build_trees(mover->fs, mover->map, mover->plan, batch, mover->layout,
					 &mover->roots, mover->diag);
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
 * left clean. Not after a failed flush: then it is unknown what the disk holds.
 */
static int abandon(struct mover *mover, int error)
{
	struct fl_diag ignored;

	if (error != FL_EHOSTFULL && error != FL_EVERIFY && error != FL_ENOMEM)
		return error;
	move_groups_mark(mover->groups, &mover->claimed, false);
	if (!move_groups_write(mover->groups, &ignored) && !fl_fs_unfence(mover->fs, &ignored))
		mover->result->fenced = false;
	return error;
}

static int run_batch(struct mover *mover, size_t index)
{
	const struct fl_batch *batch = &mover->plan->batches.at[index];
	struct fl_runs swap;
	int error = remember_trees(mover, batch);

	if (!error)
		error = fl_layout_step(mover->layout, mover->plan, index, &mover->claimed,
				       &mover->released, mover->diag);
	if (error)
		return error;
	error = prepare(mover, batch);
	if (error)
		return abandon(mover, error);
	error = flush(mover);
	if (!error)
		error = clear_vacated(mover, &mover->claimed);
	if (!error)
		error = move_switch(mover->fs, mover->map, mover->plan, batch, &mover->roots,
				    mover->tree_before.at, mover->diag);
	if (!error)
		error = flush(mover);
	if (error)
		return error;
	/* Reaches the disk with the next batch's claims, or before the unfence. */
	move_groups_mark(mover->groups, &mover->released, false);
	swap = mover->vacated;
	mover->vacated = mover->released;
	mover->released = swap;
	count(mover, batch);
	return 0;
}

static int finish(struct mover *mover)
{
	struct fl_runs none = {0};
	int error = move_groups_write(mover->groups, mover->diag);

	if (!error)
		error = fl_fs_unfence(mover->fs, mover->diag);
	if (error)
		return error;
	mover->result->flushes += 2;
	mover->result->fenced = false;
	error = clear_vacated(mover, &none);
	return error ? error : flush(mover);
}

static int run(struct mover *mover)
{
	bool stopped = false;
	int error;

	mover->result->wrote = mover->result->fenced = true;
	error = fl_fs_fence(mover->fs, mover->diag);
	if (error)
		return error;
	mover->result->flushes++;
	for (size_t i = 0; i < mover->plan->batches.count && !error; i++) {
		stopped = mover->options->cancelled &&
			  mover->options->cancelled(mover->options->context);
		if (stopped)
			break;
		error = run_batch(mover, i);
	}
	if (!error)
		error = finish(mover);
	return error || !stopped ? error : FL_ECANCELLED;
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
	for (size_t i = 0; i < plan->batches.count; i++)
		mover.total_blocks += plan->batches.at[i].blocks;
	error = fl_layout_new(map, &mover.layout);
	if (!error)
		error = move_groups_new(fs, &mover.groups);
	if (!error)
		error = run(&mover);
	fl_layout_free(mover.layout);
	move_groups_free(mover.groups);
	fl_array_free(&mover.roots);
	fl_array_free(&mover.tree_before);
	fl_array_free(&mover.claimed);
	fl_array_free(&mover.released);
	fl_array_free(&mover.vacated);
	return error;
}
