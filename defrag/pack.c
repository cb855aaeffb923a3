/* SPDX-License-Identifier: MIT */
/*
 * The policies full and free: attempts from the one that moves least to the one that keeps nothing,
 * until one is good enough. Must not order moves: common/plan does.
 */
#include "defrag/pack.h"

#include "defrag/fill.h"
#include "defrag/keep.h"
#include "defrag/packer.h"
#include "defrag/settle.h"

/* Good enough: this share of the largest free extent possible ... */
#define LARGEST_PERCENT 95
/* ... in at most so many times the free extents that fixed metadata forces. */
#define FREE_EXTENTS_FACTOR 2
/* An attempt may leave so many more, where mapping trees were: nothing moves for these. */
#define FREE_EXTENTS_SLACK 2
/* Each round of full mode plans for all files, and most need no second one. */
#define FULL_ROUNDS 4
/* Of all blocks, thousandths: what may move into the gaps that badly laid files leave. */
#define PATCH_MOST 255

/* What an attempt leads to. */
struct outcome {
	size_t split; /* units for which no run was long enough */
	uint64_t free_extents, free_blocks, largest_free;
};

static void forget_places(struct units *units)
{
	for (size_t i = 0; i < units->count; i++)
		units->at[i].placed = units->at[i].split = false;
	units->pieces.count = 0;
}

static void weigh(const struct fl_runs *free, struct outcome *outcome)
{
	outcome->free_extents = free->count;
	outcome->free_blocks = outcome->largest_free = 0;
	for (size_t i = 0; i < free->count; i++) {
		outcome->free_blocks += free->at[i].len;
		outcome->largest_free = fl_max(outcome->largest_free, free->at[i].len);
	}
}

static int fill(struct packer *packer, struct fl_runs *gaps, size_t preferred, enum fill_how how)
{
	struct fl_runs rest = {0};
	int error = 0;

	if (packer->settings->order == DEFRAG_LIST) {
		error = fill_gaps(&packer->units, gaps, preferred, FILL_FIRST, &rest);
		gaps = &rest;
		/* Which of the rest are the preferred ones is not known, and not needed. */
		preferred = rest.count;
	}
	if (!error)
		error = fill_gaps(&packer->units, gaps, preferred, how, &packer->left);
	fl_array_free(&rest);
	return error;
}

/* Places everything that is not kept into the room. */
static int attempt(struct packer *packer, const struct room *room, enum fill_how how,
		   struct outcome *outcome)
{
	struct fl_runs gaps = {0};
	size_t preferred;
	int error;

	error = fl_watch_step(packer->settings->watch, "rounds", 0, 0);
	if (error)
		return error;
	forget_places(&packer->units);
	packer->left.count = 0;
	error = packer_gaps(packer, room, &gaps, &preferred);
	if (!error)
		error = fill(packer, &gaps, preferred, how);
	if (!error)
		error = fill_split(&packer->units, &packer->left, false, &outcome->split);
	weigh(&packer->left, outcome);
	fl_array_free(&gaps);
	return error;
}

static bool good_enough(const struct packer *packer, const struct outcome *outcome, uint64_t slack)
{
	const struct fl_runs *slots = &packer->units.by_length;
	uint64_t possible, forced;

	if (!slots->count)
		return true;
	possible = fl_min(outcome->free_blocks, slots->at[0].len);
	forced = fl_fragments_forced(outcome->free_blocks, slots->at, slots->count);
	return !outcome->split && outcome->largest_free >= possible * LARGEST_PERCENT / 100 &&
	       outcome->free_extents <= forced * FREE_EXTENTS_FACTOR + slack;
}

static uint64_t used_blocks(const struct packer *packer)
{
	uint64_t used = 0;

	for (size_t i = 0; i < packer->units.count; i++)
		used += unit_size(&packer->units.at[i]);
	for (size_t f = 0; f < packer->map->files.count; f++)
		if (packer->settings->mode == DEFRAG_FREE &&
		    fl_file_movable(&packer->map->files.at[f]))
			used += packer->map->files.at[f].tree_count;
	return fl_min(used, packer->units.slot_blocks);
}

/* Fragments of units and free extents, as they are. */
static uint64_t pieces_now(const struct packer *packer)
{
	uint64_t pieces = packer->map->free.count;

	for (size_t i = 0; i < packer->units.count; i++)
		pieces += packer->units.at[i].fragments;
	return pieces;
}

/* The same after an attempt. */
static uint64_t pieces_after(const struct packer *packer, const struct outcome *outcome)
{
	uint64_t pieces = outcome->free_extents;

	for (size_t i = 0; i < packer->units.count; i++) {
		const struct unit *unit = &packer->units.at[i];

		pieces += unit->placed ? unit->split ? unit->piece_count : 1 : unit->fragments;
	}
	return pieces;
}

/*
 * Whether keeping nothing leads to fewer pieces. Free mode moves nearly all data then, and wants a
 * quarter fewer free extents for it, or the largest longer by a third.
 */
static bool worth_all(const struct packer *packer, const struct outcome *outcome)
{
	struct outcome now = {0};

	weigh(&packer->map->free, &now);
	if (pieces_after(packer, outcome) >= pieces_now(packer))
		return false;
	return packer->settings->mode != DEFRAG_FREE ||
	       outcome->free_extents * 4 <= now.free_extents * 3 ||
	       outcome->largest_free * 3 >= now.largest_free * 4;
}

/* Whether what there is would be good enough for an attempt: then nothing should move. */
static bool at_rest(const struct packer *packer)
{
	struct outcome now = {0};

	for (size_t i = 0; i < packer->units.count; i++)
		now.split += !packer->units.at[i].whole && !packer->units.at[i].pinned;
	weigh(&packer->map->free, &now);
	return good_enough(packer, &now, FREE_EXTENTS_SLACK);
}

/*
 * A disk that is laid well but for some files: they leave gaps, and what lies last is moved into
 * those, more and more of it until they are full.
 */
static int patch(struct packer *packer, const struct room *room, struct outcome *outcome,
		 bool *good)
{
	int error = 0;

	for (uint64_t share = 0; share <= PATCH_MOST && !error && !*good; share = 4 * share + 3) {
		error = keep_dense(packer->map, &packer->units, room, 0);
		if (error || keep_blocks(&packer->units) < used_blocks(packer) / 2)
			return error;
		error = keep_release_last(&packer->units, room, used_blocks(packer) / 1000 * share);
		if (!error)
			error = attempt(packer, room, FILL_HOLES, outcome);
		*good = !error && good_enough(packer, outcome, 0);
	}
	return error == FL_ENOROOM ? 0 : error;
}

static int consolidate(struct packer *packer, struct fl_target *target)
{
	static const unsigned densities[] = {50, 75, 90};
	struct room all = {0}, room = {0};
	struct outcome outcome = {0};
	bool good = false;
	int error;

	if (at_rest(packer))
		return packer_target(packer, target);
	error = keep_find_well(packer->map, &packer->units);
	if (!error)
		error = room_all(&packer->units, &all);
	if (!error)
		error = room_consolidated(packer->map, &packer->units, used_blocks(packer), &room);
	if (error)
		goto out;
	keep_whole(&packer->units);
	error = attempt(packer, &all, FILL_IN_ORDER, &outcome);
	good = !error && good_enough(packer, &outcome, 0);
	if (!good && (!error || error == FL_ENOROOM))
		error = patch(packer, &room, &outcome, &good);
	for (size_t i = 0; i < sizeof(densities) / sizeof(*densities) && !good; i++) {
		if (error && error != FL_ENOROOM)
			goto out;
		error = keep_dense(packer->map, &packer->units, &room, densities[i]);
		if (!error && !keep_blocks(&packer->units))
			break; /* what comes last */
		if (!error)
			error = attempt(packer, &room, FILL_IN_ORDER, &outcome);
		good = !error && good_enough(packer, &outcome, 0);
	}
	if (!good) {
		if (error && error != FL_ENOROOM)
			goto out;
		keep_nothing(&packer->units);
		error = attempt(packer, &room, FILL_IN_ORDER, &outcome);
		if (error == FL_ENOROOM || (!error && !worth_all(packer, &outcome))) {
			forget_places(&packer->units);
			error = 0;
		}
	}
	packer->rests = good_enough(packer, &outcome, FREE_EXTENTS_SLACK);
	if (!error)
		error = packer_target(packer, target);
out:
	room_free(&all);
	room_free(&room);
	return error;
}

/* Joints of the order at which one has to go back on the disk: as it is, or as placed. */
static uint64_t breaks(const struct units *units, bool placed)
{
	uint64_t count = 0;
	fl_pblk end = 0;

	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->at[i];
		fl_pblk at = placed && unit->placed ? unit->to : unit->at;

		count += at < end;
		end = at + unit->blocks;
	}
	return count;
}

/* Whether what there is, is as well ordered, in as few pieces, and as far in front. */
static bool is_ordered(const struct packer *packer, const struct outcome *outcome)
{
	const struct units *units = &packer->units;
	const struct unit *first = units->count ? units->at : NULL;

	return pieces_now(packer) <= pieces_after(packer, outcome) &&
	       breaks(units, false) <= breaks(units, true) &&
	       (!first || !first->placed || first->at <= first->to + first->tree);
}

/* Everything where the order wants it, kept or not. */
static int reorder(struct packer *packer, struct fl_target *target)
{
	enum fill_how how = packer->settings->order == DEFRAG_PATH ? FILL_STRICTLY : FILL_IN_ORDER;
	struct outcome outcome = {0};
	struct room room = {0};
	int error = room_consolidated(packer->map, &packer->units, used_blocks(packer), &room);

	keep_nothing(&packer->units);
	if (!error)
		error = attempt(packer, &room, how, &outcome);
	if (!error && outcome.split && how == FILL_STRICTLY)
		error = attempt(packer, &room, FILL_IN_ORDER, &outcome);
	if (!error && !is_ordered(packer, &outcome))
		error = packer_target(packer, target);
	room_free(&room);
	return error;
}

static int choose(struct packer *packer, struct fl_target *target)
{
	const struct defrag_settings *settings = packer->settings;

	if (settings->mode == DEFRAG_FILES)
		return packer_files_only(packer, target);
	return settings->mode == DEFRAG_FULL && settings->order != DEFRAG_KEEP
		       ? reorder(packer, target)
		       : consolidate(packer, target);
}

static int plan_mode(const struct defrag_settings *settings, const struct fl_map *map,
		     struct fl_target *target, bool *rests, struct fl_diag *diag)
{
	struct packer packer = {.map = map, .settings = settings};
	int error = units_collect(map, settings, &packer.units);

	if (!error)
		error = choose(&packer, target);
	*rests = packer.rests;
	units_free(&packer.units);
	fl_array_free(&packer.left);
	return error ? fl_fail(diag, error, "planning: %s", fl_error_text(error)) : 0;
}

static int plan_once(const struct defrag_settings *settings, const struct fl_map *map,
		     struct fl_target *target, struct fl_diag *diag)
{
	bool rests;

	return plan_mode(settings, map, target, &rests, diag);
}

/*
 * Files in pieces to places of their own, using what they vacate. Where the disk is so full that
 * this ends half-way, run after run, full mode is less to move.
 */
static int plan_files(const struct defrag_settings *settings, const struct fl_map *map,
		      struct fl_target *target, struct fl_diag *diag)
{
	struct defrag_settings full_settings = *settings;
	struct fl_target full = {0};
	struct fl_map *next = NULL;
	bool reached;
	int error = settle(plan_once, settings, map, SETTLE_ROUNDS, target, &reached, diag);

	if (error || reached)
		return error;
	full_settings.mode = DEFRAG_FULL;
	error = plan_once(&full_settings, map, &full, diag);
	if (!error)
		error = settle_follow(map, &full, &next, diag);
	if (!error && next) {
		struct fl_target files = *target;

		*target = full;
		full = files;
	}
	fl_map_free(next);
	fl_target_free(&full);
	return error;
}

int defrag_target(const struct defrag_settings *settings, const struct fl_map *map,
		  struct fl_target *target, struct fl_diag *diag)
{
	bool reached, rests;
	int error;

	if (settings->max_bytes && settings->mode != DEFRAG_FREE &&
	    settings->order == DEFRAG_KEEP) {
		error = packer_budget(settings, map, target, diag);
		if (error || target->files.count || settings->mode == DEFRAG_FILES)
			return error;
	}
	if (settings->mode == DEFRAG_FILES)
		return plan_files(settings, map, target, diag);
	error = plan_mode(settings, map, target, &rests, diag);
	if (error || rests || !target->files.count)
		return error;
	return settle(plan_once, settings, map, FULL_ROUNDS, target, &reached, diag);
}
