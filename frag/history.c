/* SPDX-License-Identifier: MIT */
/*
 * Writes the files of a map, event by event, between temporary files. Must not decide when or
 * in which pieces (schedule.c), nor where a block goes (the allocator).
 */
#include "frag/history.h"

#include <stdlib.h>

#include "frag/temporary.h"

#define TAKE_BYTES ((uint64_t)8 << 20) /* as the kernel writes back at most in one go */

struct writer {
	struct frag_history *history;
	const struct frag_profile *profile;
	struct frag_temporaries temporaries;
	struct fl_rng rng;
	uint64_t at_once; /* blocks asked of the allocator at a time */
	/*
	 * Blocks that the files still have to get. What is free and what the temporaries hold is
	 * never less: an early version that would break this is not written.
	 */
	uint64_t owed;
	uint64_t *left;		  /* as map->files: blocks not yet written */
	struct frag_chain *early; /* as map->files: the version to be replaced */
};

bool frag_history_moves(const struct frag_history_options *options, const struct fl_file *file)
{
	return fl_file_movable(file) && file->blocks && !(options->keep_trees && file->tree_count);
}

/* The allocator of day 0: the slots, without the files that are to stay. */
static int open_disk(struct frag_history *history, const struct frag_history_options *options)
{
	const struct fl_map *map = history->map;
	struct fl_runs slots = {0};
	int err = fl_map_slots(map, &slots);

	if (!err)
		err = fl_alloc_new(&map->geo, slots.at, slots.count, &history->alloc);
	fl_array_free(&slots);
	for (size_t f = 0; f < map->files.count && !err; f++) {
		const struct fl_file *file = &map->files.at[f];

		if (!fl_file_movable(file) || frag_history_moves(options, file))
			continue;
		for (size_t i = 0; i < file->extent_count && !err; i++) {
			const struct fl_extent *e = &map->extents.at[file->first_extent + i];

			err = fl_alloc_claim(history->alloc, (struct fl_run){e->pblk, e->len});
		}
		for (size_t i = 0; i < file->tree_count && !err; i++)
			err = fl_alloc_claim(
				history->alloc,
				(struct fl_run){map->trees.at[file->first_tree + i], 1});
	}
	return err;
}

/* Writes blocks at the end of a chain. `final`: how large the file is after it. */
static int write_blocks(struct writer *w, uint32_t number, struct frag_chain *chain,
			uint64_t blocks, uint64_t final)
{
	const struct fl_file *file = &w->history->map->files.at[number];
	bool directory = file->kind == FL_KIND_DIRECTORY;
	enum fl_alloc_hint hint =
		directory ? FL_ALLOC_NEAR : fl_alloc_hint_of(w->history->map, final);
	int err = frag_temporaries_make_room(&w->temporaries, blocks);

	while (!err && blocks) {
		fl_pblk goal = chain->last ? frag_chain_end(&w->history->chains, chain)
					   : fl_alloc_goal_of_inode(w->history->alloc, file->ino,
								    directory);
		struct fl_run run;

		err = fl_alloc_take_as(w->history->alloc, hint, goal, fl_min(blocks, w->at_once),
				       &run);
		if (!err)
			err = frag_chain_append(&w->history->chains, chain, run);
		if (!err)
			blocks -= run.len;
	}
	return err;
}

static int write_early(struct writer *w, uint32_t number)
{
	const struct fl_file *file = &w->history->map->files.at[number];
	uint64_t room = fl_alloc_free_blocks(w->history->alloc) + w->temporaries.held_blocks;

	/* Its turns may have been moved before its birth to make up a session. */
	if (w->left[number] < file->blocks || room - w->owed < file->blocks)
		return 0;
	return write_blocks(w, number, &w->early[number], file->blocks, file->blocks);
}

static int play_event(struct writer *w, const struct frag_event *event)
{
	const struct fl_file *file = &w->history->map->files.at[event->file];
	struct frag_chain *chain = &w->history->files[event->file];
	uint64_t *left = &w->left[event->file];
	uint64_t blocks = fl_min(event->blocks, *left);
	int err;

	err = frag_temporaries_run(&w->temporaries, event->when);
	if (err)
		return err;
	if (event->blocks == FRAG_EARLY_VERSION)
		return write_early(w, event->file);
	if (event->blocks == FRAG_ALL_THE_REST)
		blocks = *left;
	err = write_blocks(w, event->file, chain, blocks, file->blocks - *left + blocks);
	if (err)
		return err;
	*left -= blocks;
	w->owed -= blocks;
	if (*left == 0)
		return frag_chain_release(&w->history->chains, &w->early[event->file],
					  w->history->alloc);
	if (fl_rng_chance(&w->rng, w->profile->turn_temporary_percent, 100))
		return frag_temporaries_add(&w->temporaries, event->when,
					    frag_chain_end(&w->history->chains, chain), blocks);
	return 0;
}

/* Allocates what is needed a file, and counts what is owed. */
static int prepare(struct writer *w, const struct frag_history_options *options)
{
	struct frag_history *history = w->history;
	const struct fl_map *map = history->map;
	size_t count = (size_t)fl_max(map->files.count, 1);

	history->files = calloc(count, sizeof(*history->files));
	w->early = calloc(count, sizeof(*w->early));
	w->left = calloc(count, sizeof(*w->left));
	if (!history->files || !w->early || !w->left)
		return FL_ENOMEM;
	for (size_t i = 0; i < map->files.count; i++) {
		if (!frag_history_moves(options, &map->files.at[i]))
			continue;
		w->left[i] = map->files.at[i].blocks;
		w->owed += w->left[i];
	}
	return w->owed > fl_alloc_free_blocks(history->alloc) ? FL_ENOROOM : 0;
}

int frag_history_run(struct frag_history *history, const struct fl_map *map,
		     const struct frag_history_options *options)
{
	const struct frag_schedule_options *schedule = &options->schedule;
	struct frag_events events = {0};
	struct writer w = {
		.history = history,
		.profile = schedule->profile,
		.at_once = fl_max(TAKE_BYTES / map->geo.block_bytes, 1),
	};
	int err;

	history->map = map;
	fl_rng_seed(&w.rng, schedule->seed ^ 0x7475726Eu);
	err = open_disk(history, options);
	if (!err)
		err = prepare(&w, options);
	if (!err)
		err = frag_temporaries_init(&w.temporaries, map, schedule, history->alloc,
					    &history->chains, w.owed);
	if (!err)
		err = frag_schedule(map, schedule, &events);
	for (size_t i = 0; i < events.count && !err; i++)
		if (frag_history_moves(options, &map->files.at[events.at[i].file]))
			err = play_event(&w, &events.at[i]);
	if (!err)
		err = frag_temporaries_run(&w.temporaries, schedule->months * FRAG_MONTH_TICKS);
	if (!err)
		err = frag_temporaries_make_room(&w.temporaries, UINT64_MAX);
	fl_array_free(&events);
	frag_temporaries_free(&w.temporaries);
	free(w.left);
	free(w.early);
	return err;
}

void frag_history_free(struct frag_history *history)
{
	fl_alloc_free(history->alloc);
	history->alloc = NULL;
	frag_chains_free(&history->chains);
	free(history->files);
	history->files = NULL;
}
