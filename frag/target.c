/* SPDX-License-Identifier: MIT */
/*
 * Runs a history and writes down where every file ended, with its mapping tree. Must not
 * decide where data goes.
 */
#include "frag/target.h"

#include "frag/history.h"
#include "frag/only.h"
#include "frag/tune.h"

/*
 * The mapping-tree blocks of the file added last: each near the data that it maps, in the
 * hole the allocator likes best, as a tree that grew with its file would lie.
 */
static int add_tree(struct fl_target *target, struct fl_alloc *alloc, const struct fl_runs *runs,
		    uint64_t blocks)
{
	for (uint64_t i = 0; i < blocks; i++) {
		size_t near = (size_t)(i * runs->count / blocks);
		struct fl_run run;
		int err = fl_alloc_take(alloc, fl_run_end(runs->at[near]), 1, &run);

		if (!err)
			err = fl_target_add_tree(target, run.start, run.len);
		if (err)
			return err;
	}
	return 0;
}

static int add_file(struct fl_target *target, const struct frag_history *history, uint32_t number,
		    struct fl_runs *runs)
{
	uint64_t tree_blocks;
	int err;

	runs->count = 0;
	for (uint32_t i = history->files[number].first; i; i = history->chains.links.at[i].next) {
		const struct frag_link *link = &history->chains.links.at[i];
		struct fl_run run = {.start = link->start, .len = link->len};

		if (fl_array_push(runs, run))
			return FL_ENOMEM;
	}
	if (runs->count == 0)
		return 0;
	err = fl_target_add(target, history->map, number, runs->at, runs->count, &tree_blocks);
	return err ? err : add_tree(target, history->alloc, runs, tree_blocks);
}

static int try_history(const struct fl_map *map, const struct frag_history_options *options,
		       struct fl_target *target, struct fl_diag *diag)
{
	struct frag_history history = {0};
	struct fl_runs runs = {0};
	int err = frag_history_run(&history, map, options, diag);

	for (size_t i = 0; i < map->files.count && !err; i++)
		err = add_file(target, &history, (uint32_t)i, &runs);
	fl_array_free(&runs);
	frag_history_free(&history);
	return err;
}

static int check_settings(const struct frag_settings *settings, const struct fl_map *map,
			  struct fl_diag *diag)
{
	if (settings->months < 1 || settings->months > FRAG_MOST_MONTHS)
		return fl_fail(diag, FL_ESYNTAX, "months: %u is not between 1 and %u",
			       settings->months, FRAG_MOST_MONTHS);
	if (settings->files_only && settings->free_only)
		return fl_fail(diag, FL_ESYNTAX, "--files-only and --free-only exclude each other");
	for (size_t i = 0; i < settings->wishes.count; i++)
		if (!settings->wishes.at[i].fragments)
			return fl_fail(diag, FL_ESYNTAX, "--file %.200s: --extents must follow",
				       settings->wishes.at[i].path);
	if (map->free_blocks == 0)
		return fl_fail(diag, FL_ENOROOM, "plan: the filesystem has no free block");
	return 0;
}

/*
 * An aged layout, or with the part only that is asked for. What is tried in turn until the
 * mapping trees fit: a history as it is, a gentle one, and one that leaves files with trees alone.
 */
static int age(const struct frag_settings *settings, const struct fl_map *map, bool whole,
	       struct fl_target *target, struct fl_diag *diag)
{
	static const struct {
		bool gentle, keep_trees;
	} tries[] = {{false, false}, {true, false}, {true, true}};
	struct frag_history_options options = {
		.schedule = {.profile = settings->profile,
			     .months = settings->months,
			     .seed = settings->seed},
		.replay_path = settings->replay_path,
		.save_path = settings->save_path,
		.watch = settings->watch,
	};
	const size_t try_count = settings->replay_path ? 1 : sizeof(tries) / sizeof(*tries);
	int err = FL_ENOROOM;

	/* What was saved is one history, which is not made milder. */
	for (size_t i = 0; i < try_count && err == FL_ENOROOM; i++) {
		fl_target_free(target);
		options.schedule.gentle = tries[i].gentle;
		options.keep_trees = tries[i].keep_trees;
		err = try_history(map, &options, target, diag);
		if (!err && !whole)
			err = frag_only(map, settings->files_only, settings->free_only, target);
	}
	if (err == FL_ENOROOM)
		return fl_fail(diag, err, "plan: too few free blocks for the mapping trees");
	return err;
}

static int tune(const struct frag_settings *settings, const struct fl_map *map,
		struct fl_target *target, struct fl_diag *diag)
{
	const struct frag_tune_options options = {.aims = &settings->aims,
						  .analysis = settings->analysis,
						  .seed = settings->seed,
						  .watch = settings->watch,
						  .files_only = settings->files_only,
						  .free_only = settings->free_only};
	struct fl_target aged = {0};
	int err = age(settings, map, true, &aged, diag);

	if (!err)
		err = frag_tune(&options, map, &aged, target, diag);
	fl_target_free(&aged);
	return err;
}

int frag_target(const struct frag_settings *settings, const struct fl_map *map,
		struct fl_target *target, struct fl_diag *diag)
{
	struct frag_settings complete = *settings;
	struct frag_profile standard;
	int err = check_settings(settings, map, diag);

	if (!err && !settings->profile) {
		complete.profile = &standard;
		err = frag_profile_load(NULL, &standard, diag);
	}
	if (err)
		return err;
	if (settings->wishes.count)
		err = frag_exact(map, &settings->wishes, target, diag);
	else if (settings->aims.count)
		err = tune(&complete, map, target, diag);
	else
		err = age(&complete, map, false, target, diag);
	return err ? err : fl_target_finish(target, map, diag);
}
