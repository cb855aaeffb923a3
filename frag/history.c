/* SPDX-License-Identifier: MIT */
/*
 * Makes up the operations, event by event, between temporary files. Must not decide when or in
 * which pieces (schedule.c), nor what operations do (play.c).
 */
#include "frag/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frag/history_text.h"
#include "frag/replay.h"
#include "frag/temporary.h"

#define DIRTY_MOST_BYTES ((uint64_t)64 << 20)
#define DIRTY_MOST_SHARE 32u /* of the disk */
#define MARGIN_SHARE 50u     /* of the disk, left for mapping trees and what else a disk needs */
#define NO_DRAFT UINT32_MAX
#define DRAFT_WANTED (UINT32_MAX - 1)

struct writer {
	struct frag_script *script;
	const struct frag_history_options *options;
	const struct fl_map *map;
	const struct frag_profile *profile;
	struct frag_temporaries temporaries;
	struct fl_rng rng;
	/*
	 * Blocks that the files still have to get. What is free and what the temporaries hold is
	 * never less: an early version that would break this is not written.
	 */
	uint64_t owed;
	uint64_t margin; /* blocks that are left free, as long as there are temporaries to delete */
	uint64_t *left;	 /* as map->files: blocks not yet written */
	/* As map->files: the temporary file that will take its place, when an early version is
	 * there; NO_DRAFT, or DRAFT_WANTED before its first turn. */
	uint32_t *drafts;
};

bool frag_history_moves(const struct frag_history_options *options, const struct fl_file *file)
{
	return fl_file_movable(file) && file->blocks && !(options->keep_trees && file->tree_count);
}

static bool moves(const void *context, uint32_t file)
{
	const struct writer *w = context;

	return frag_history_moves(w->options, &w->map->files.at[file]);
}

static int write_early(struct writer *w, uint32_t number)
{
	const struct fl_file *file = &w->map->files.at[number];
	uint64_t room = frag_play_room(&w->script->play) + w->temporaries.held_blocks;
	int err;

	/* Its turns may have been moved before its birth to make up a session. */
	if (w->left[number] < file->blocks || room - w->owed < file->blocks + w->margin ||
	    file->kind != FL_KIND_REGULAR || file->name == FL_NO_NAME)
		return 0;
	w->drafts[number] = DRAFT_WANTED;
	err = frag_temporaries_make_room(&w->temporaries, file->blocks + w->margin);
	return err ? err : frag_script_write(w->script, frag_map_file(number), file->blocks, false);
}

/* Where the next blocks of a file go: to itself, as *file has it, or to what will take its place.
 */
static int choose_file(struct writer *w, uint32_t number, struct frag_op_file *file)
{
	int err = 0;

	if (w->drafts[number] == NO_DRAFT)
		return 0;
	if (w->drafts[number] == DRAFT_WANTED)
		err = frag_script_create(w->script, number, &w->drafts[number]);
	*file = frag_temporary(w->drafts[number]);
	return err;
}

static int play_event(struct writer *w, const struct frag_event *event)
{
	uint64_t *left = &w->left[event->file];
	uint64_t blocks = event->blocks == FRAG_ALL_THE_REST ? *left : fl_min(event->blocks, *left);
	bool whole = blocks == w->map->files.at[event->file].blocks;
	struct frag_op_file file = frag_map_file(event->file);
	int err = frag_temporaries_run(&w->temporaries, event->when);

	if (!err)
		err = frag_script_time(w->script, event->when);
	if (err)
		return err;
	if (event->blocks == FRAG_EARLY_VERSION)
		return write_early(w, event->file);
	err = frag_temporaries_make_room(&w->temporaries, blocks + w->margin);
	if (!err)
		err = choose_file(w, event->file, &file);
	/* A part is what a program wants to be safe; what is written whole can wait. */
	if (!err)
		err = frag_script_write(w->script, file, blocks, !whole);
	if (err)
		return err;
	*left -= blocks;
	w->owed -= blocks;
	if (*left == 0 && file.temporary)
		err = frag_script_rename(w->script, file.number, event->file);
	if (err || *left == 0)
		return err;
	if (fl_rng_chance(&w->rng, w->profile->turn_temporary_percent, 100))
		return frag_temporaries_add(&w->temporaries, event->when, event->file, blocks);
	return 0;
}

/* Allocates what is needed a file, and counts what is owed. */
static int prepare(struct writer *w)
{
	const struct fl_map *map = w->map;
	size_t count = (size_t)fl_max(map->files.count, 1);

	w->left = calloc(count, sizeof(*w->left));
	w->drafts = fl_alloc(count, sizeof(*w->drafts));
	if (!w->left || !w->drafts)
		return FL_ENOMEM;
	memset(w->drafts, 0xff, count * sizeof(*w->drafts));
	w->margin = fl_alloc_free_blocks(w->script->play.alloc) / MARGIN_SHARE;
	for (uint32_t i = 0; i < map->files.count; i++) {
		if (!moves(w, i))
			continue;
		w->left[i] = map->files.at[i].blocks;
		w->owed += w->left[i];
	}
	return 0;
}

static int play_events(struct writer *w, const struct frag_events *events)
{
	const uint64_t days = w->options->schedule.months * FRAG_MONTH_TICKS / FRAG_DAY_TICKS;
	uint64_t last = 0;
	int err = 0;

	for (size_t i = 0; i < events->count && !err; i++) {
		const struct frag_event *event = &events->at[i];
		uint64_t day = event->when / FRAG_DAY_TICKS;

		if (day != last)
			err = fl_watch_step(w->options->watch, "days", day, days);
		last = day;
		if (!err && moves(w, event->file))
			err = play_event(w, event);
	}
	return err;
}

static int play_schedule(struct frag_script *script, const struct fl_map *map,
			 const struct frag_history_options *options)
{
	const struct frag_schedule_options *schedule = &options->schedule;
	struct frag_events events = {0};
	struct writer w = {
		.script = script, .options = options, .map = map, .profile = schedule->profile};
	int err;

	fl_rng_seed(&w.rng, schedule->seed ^ 0x7475726Eu);
	err = frag_play_start(&script->play, map, moves, &w);
	if (!err)
		err = frag_script_start(script, map);
	if (!err)
		err = prepare(&w);
	if (!err)
		err = frag_temporaries_init(&w.temporaries, script, schedule, w.owed);
	if (!err)
		err = frag_schedule(map, schedule, &events);
	if (!err)
		err = play_events(&w, &events);
	if (!err)
		err = frag_temporaries_run(&w.temporaries, schedule->months * FRAG_MONTH_TICKS);
	if (!err)
		err = frag_temporaries_make_room(&w.temporaries, UINT64_MAX);
	if (!err)
		err = frag_play_end(&script->play, script->diag);
	fl_array_free(&events);
	frag_temporaries_free(&w.temporaries);
	free(w.left);
	free(w.drafts);
	return err;
}

/* The play's results become the history's. */
static int keep_results(struct frag_history *history, struct frag_play *play)
{
	size_t count = play->map->files.count;

	history->files = fl_alloc(fl_max(count, 1), sizeof(*history->files));
	if (!history->files)
		return FL_ENOMEM;
	for (size_t i = 0; i < count; i++)
		history->files[i] = play->files[i].chain;
	history->map = play->map;
	history->alloc = play->alloc;
	play->alloc = NULL;
	history->chains = play->chains;
	play->chains = (struct frag_chains){0};
	return 0;
}

static int open_stream(struct frag_script *script, const struct fl_map *map, const char *path)
{
	if (!path)
		return 0;
	script->stream = fopen(path, "we");
	if (!script->stream)
		return fl_fail(script->diag, FL_EIO, "writing the history: %s", strerror(errno));
	return frag_history_print_head(script->stream, map);
}

/* The file gets its name once it is on the disk. */
static int close_stream(struct frag_script *script, int err)
{
	int saved = errno;

	if (!script->stream)
		return err;
	if (!err && (fflush(script->stream) || fsync(fileno(script->stream)))) {
		saved = errno;
		err = fl_error_of_output(saved);
	}
	if (fclose(script->stream) && !err) {
		saved = errno;
		err = fl_error_of_output(saved);
	}
	if (err == FL_EIO || err == FL_EHOSTFULL)
		return fl_fail(script->diag, err, "writing the history: %s", strerror(saved));
	return err;
}

int frag_history_run(struct frag_history *history, const struct fl_map *map,
		     const struct frag_history_options *options, struct fl_diag *diag)
{
	uint64_t disk_blocks = map->geo.blocks / DIRTY_MOST_SHARE;
	struct frag_script script = {
		.diag = diag,
		.dirty_most = fl_min(DIRTY_MOST_BYTES / map->geo.block_bytes, disk_blocks),
	};
	int err = open_stream(&script, map, options->save_path);

	if (!err)
		err = options->replay_path
			      ? frag_replay(&script, map, options->replay_path, options->watch)
			      : play_schedule(&script, map, options);
	err = close_stream(&script, err);
	if (!err)
		err = keep_results(history, &script.play);
	frag_play_free(&script.play);
	frag_script_free(&script);
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
