/* SPDX-License-Identifier: MIT */
/*
 * Gives vacated blocks back to the host, so that a sparse image stays sparse. Must not touch
 * a block that is reachable on disk.
 */
#include "move_internal.h"

#include <fraglab/blockset.h>
#include <fraglab/util.h>
#include <stdlib.h>

/*
 * Clearing costs the host far more a call than a byte, and most vacated blocks are soon written
 * again. So it waits until this share of the filesystem, and so much at least, could be had.
 */
#define CLEAR_SHARE 2
#define CLEAR_BYTES (UINT64_C(4) << 30)

/* What hosts allocate at once. A part of it cannot be given back, only the whole. */
#define HOST_BLOCK_BYTES 4096u

struct move_vacated {
	struct fl_device *device;
	const struct fl_map *map; /* borrowed */
	uint64_t block_bytes, blocks;
	struct fl_blockset *set;    /* vacated, not cleared */
	struct fl_blockset *future; /* destinations of the batches to come */
};

static int add_future(struct move_vacated *vacated, const struct fl_plan *plan)
{
	int error = 0;

	/* Unwritten extents write nothing: what was there before would stay for ever. */
	for (size_t i = 0; i < plan->moves.count && !error; i++)
		if (!plan->moves.at[i].unwritten)
			error = fl_blockset_add(vacated->future, plan->moves.at[i].to,
						plan->moves.at[i].len);
	for (size_t i = 0; i < plan->trees.count && !error; i++)
		error = fl_blockset_add(vacated->future, plan->trees.at[i], 1);
	return error;
}

int move_vacated_new(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		     struct move_vacated **vacated)
{
	const struct fl_geometry *geo = &map->geo;
	struct move_vacated *made = calloc(1, sizeof(*made));
	int error;

	if (!made)
		return FL_ENOMEM;
	made->device = fl_fs_device(fs);
	made->map = map;
	made->block_bytes = geo->block_bytes;
	made->blocks = geo->blocks;
	error = fl_blockset_new(geo->blocks, &made->set);
	if (!error)
		error = fl_blockset_new(geo->blocks, &made->future);
	if (!error)
		error = add_future(made, plan);
	if (error)
		move_vacated_free(made);
	else
		*vacated = made;
	return error;
}

void move_vacated_free(struct move_vacated *vacated)
{
	if (!vacated)
		return;
	fl_blockset_free(vacated->set);
	fl_blockset_free(vacated->future);
	free(vacated);
}

/* The vacated blocks that a batch claims for unwritten extents; the caller frees kept. */
static int find_unwritten(const struct move_vacated *vacated, const struct fl_plan *plan,
			  const struct fl_batch *batch, struct fl_runs *kept)
{
	for (size_t s = 0; s < batch->switch_count; s++) {
		const struct fl_switch *change = &plan->switches.at[batch->first_switch + s];

		for (size_t m = 0; m < change->move_count; m++) {
			const struct fl_move *move = &plan->moves.at[change->first_move + m];
			fl_pblk pos = move->to, end = move->to + move->len;
			struct fl_run run;

			for (;
			     move->unwritten && fl_blockset_next_run(vacated->set, pos, end, &run);
			     pos = fl_run_end(run))
				if (fl_array_push(kept, run))
					return FL_ENOMEM;
		}
	}
	return 0;
}

int move_clear(struct fl_device *device, uint64_t length, uint64_t position)
{
	bool hole = false;
	int error = fl_device_is_hole(device, length, position, &hole);

	return error || hole ? error : fl_device_clear(device, length, position);
}

/* A cluster of which only one block will be written: the others must not keep what was there. */
static int clear_cluster(struct move_vacated *vacated, fl_pblk cluster)
{
	return move_clear(vacated->device, vacated->block_bytes, cluster * vacated->block_bytes);
}

/* The clusters that a batch claims for mapping trees and attribute blocks. */
static int clear_clusters(struct move_vacated *vacated, const struct fl_plan *plan,
			  const struct fl_batch *batch)
{
	int error = 0;

	for (size_t s = 0; s < batch->switch_count && !error; s++) {
		const struct fl_switch *change = &plan->switches.at[batch->first_switch + s];
		const struct fl_file *file = &vacated->map->files.at[change->file];

		for (size_t t = 0; t < change->tree_count && !error; t++)
			error = clear_cluster(vacated, plan->trees.at[change->first_tree + t]);
		for (size_t m = 0; m < change->move_count && !error; m++)
			if (file->kind == FL_KIND_XATTR)
				error = clear_cluster(vacated,
						      plan->moves.at[change->first_move + m].to);
	}
	return error;
}

int move_vacated_claim(struct move_vacated *vacated, const struct fl_plan *plan,
		       const struct fl_batch *batch, const struct fl_runs *claimed,
		       struct fl_diag *diag)
{
	struct fl_runs kept = {0};
	int error = find_unwritten(vacated, plan, batch, &kept);

	if (!error && fl_map_unit_blocks(vacated->map) > 1)
		error = clear_clusters(vacated, plan, batch);
	if (error)
		(void)fl_fail(diag, error, "clearing clusters: %s", fl_error_text(error));

	for (size_t i = 0; i < claimed->count && !error; i++) {
		struct fl_run run = claimed->at[i];

		error = fl_blockset_remove(vacated->set, run.start, run.len);
		if (!error)
			error = fl_blockset_remove(vacated->future, run.start, run.len);
	}
	for (size_t i = 0; i < kept.count && !error; i++)
		error = fl_blockset_add(vacated->set, kept.at[i].start, kept.at[i].len);
	fl_array_free(&kept);
	return error;
}

int move_vacated_release(struct move_vacated *vacated, const struct fl_runs *released)
{
	int error = 0;

	for (size_t i = 0; i < released->count && !error; i++)
		error = fl_blockset_add(vacated->set, released->at[i].start, released->at[i].len);
	return error;
}

static int clear_run(struct move_vacated *vacated, struct fl_run run, struct fl_diag *diag)
{
	int error = fl_device_discard(vacated->device, run.len * vacated->block_bytes,
				      run.start * vacated->block_bytes);

	return error ? fl_fail(diag, error, "clearing vacated blocks: %s", fl_error_text(error))
		     : 0;
}

/* The next part of a vacated run, from `from` on, that no later batch writes. */
static bool next_unwanted(const struct move_vacated *vacated, fl_pblk from, struct fl_run *run)
{
	fl_pblk stop;

	while (fl_blockset_next_run(vacated->set, from, vacated->blocks, run)) {
		if (!fl_blockset_find(vacated->future, run->start, fl_run_end(*run), true, &stop))
			return true;
		if (stop > run->start) {
			run->len = stop - run->start;
			return true;
		}
		if (!fl_blockset_find(vacated->future, stop, fl_run_end(*run), false, &from))
			from = fl_run_end(*run);
	}
	return false;
}

int move_vacated_clear(struct move_vacated *vacated, struct fl_diag *diag)
{
	struct fl_run run;
	fl_pblk pos = 0;
	int error = 0;

	if (vacated->block_bytes < HOST_BLOCK_BYTES ||
	    vacated->device->base_bytes % HOST_BLOCK_BYTES ||
	    fl_blockset_count(vacated->set) * vacated->block_bytes <
		    fl_max(CLEAR_BYTES, vacated->blocks / CLEAR_SHARE * vacated->block_bytes))
		return 0;
	for (; !error && next_unwanted(vacated, pos, &run); pos = fl_run_end(run)) {
		error = clear_run(vacated, run, diag);
		if (!error)
			error = fl_blockset_remove(vacated->set, run.start, run.len);
	}
	return error;
}

int move_vacated_clear_all(struct move_vacated *vacated, struct fl_diag *diag)
{
	struct fl_run run;
	fl_pblk pos = 0;
	int error = 0;

	/* They stay in the set: the end clears them again, with their neighbours. */
	for (; !error && fl_blockset_next_run(vacated->set, pos, vacated->blocks, &run);
	     pos = fl_run_end(run))
		error = clear_run(vacated, run, diag);
	return error;
}

/*
 * Grows a run to whole host blocks where what it grows by is free. Partitions of old disks
 * begin at odd sectors: there a host block has parts of more blocks in it.
 */
static void widen(const struct move_vacated *vacated, const struct fl_blockset *free_blocks,
		  struct fl_run *run)
{
	const uint64_t bytes = vacated->block_bytes;
	const uint64_t shift = vacated->device->base_bytes % HOST_BLOCK_BYTES;
	uint64_t first = (run->start * bytes + shift) / HOST_BLOCK_BYTES * HOST_BLOCK_BYTES;
	uint64_t last =
		fl_div_up(fl_run_end(*run) * bytes + shift, HOST_BLOCK_BYTES) * HOST_BLOCK_BYTES;
	fl_pblk start = first < shift ? 0 : (first - shift) / bytes;
	fl_pblk end = fl_min(fl_div_up(last - shift, bytes), vacated->blocks), block;

	if (!fl_blockset_find(free_blocks, start, run->start, false, &block)) {
		run->len += run->start - start;
		run->start = start;
	}
	if (!fl_blockset_find(free_blocks, fl_run_end(*run), end, false, &block))
		run->len = end - run->start;
}

/* Whether what lies between two runs may be cleared with them. */
static int may_join(const struct move_vacated *vacated, const struct fl_blockset *free_blocks,
		    struct fl_run gap, uint64_t *credit, bool *may)
{
	fl_pblk block;

	*may = gap.len <= *credit &&
	       !fl_blockset_find(free_blocks, gap.start, fl_run_end(gap), false, &block);
	if (!*may)
		return fl_device_is_hole(vacated->device, gap.len * vacated->block_bytes,
					 gap.start * vacated->block_bytes, may);
	*credit -= gap.len;
	return 0;
}

/*
 * Grows a run over the vacated ones behind it, as a call costs the host far more than a byte: over
 * holes, and over free blocks, of those no more than are vacated.
 */
static int join(const struct move_vacated *vacated, const struct fl_blockset *free_blocks,
		struct fl_run *run, struct fl_diag *diag)
{
	uint64_t credit = run->len;
	struct fl_run next;

	while (fl_blockset_next_run(vacated->set, fl_run_end(*run), vacated->blocks, &next)) {
		struct fl_run gap = {fl_run_end(*run), next.start - fl_run_end(*run)};
		bool may;
		int error = may_join(vacated, free_blocks, gap, &credit, &may);

		if (error)
			return fl_fail(diag, error, "looking for holes: %s", fl_error_text(error));
		if (!may)
			break;
		credit += next.len;
		run->len = fl_run_end(next) - run->start;
	}
	return 0;
}

int move_vacated_finish(struct move_vacated *vacated, const struct fl_blockset *free_blocks,
			struct fl_diag *diag)
{
	struct fl_run run;
	fl_pblk pos = 0;
	int error = 0;

	for (; !error && fl_blockset_next_run(vacated->set, pos, vacated->blocks, &run);
	     pos = fl_run_end(run)) {
		error = join(vacated, free_blocks, &run, diag);
		if (error)
			break;
		widen(vacated, free_blocks, &run);
		error = clear_run(vacated, run, diag);
	}
	return error;
}
