/* SPDX-License-Identifier: MIT */
/*
 * Turns a profile's shares into births, rewrites, turns and appends of every file. Must not
 * look at where anything lies.
 */
#include "frag/schedule.h"

#include <stdlib.h>

/* Between two turns of one writer (2.5 s); the writers of a round follow tick by tick. */
#define TURN_TICKS 4096u
#define MOST_APPENDS 4096u	   /* of one file, so that the schedule stays small */
#define MOST_REMEMBERED_MONTHS 64u /* a file is rewritten within, or never */

/* A file that is written by turns, before the sessions are made up. */
struct sharer {
	uint64_t when;
	uint32_t file;
	uint32_t chunk_blocks;
};

struct scheduler {
	const struct fl_map *map;
	const struct frag_schedule_options *options;
	const struct frag_profile *profile;
	uint64_t end; /* ticks */
	struct frag_events *events;
	FL_ARRAY(struct sharer) sharers;
};

/* A file's own draws: always all of them, so that one decision does not shift another. */
struct draws {
	uint64_t installed, growing, shared; /* 0 .. 99 */
	uint64_t birth;	    /* 0 .. FRAG_MONTH_TICKS - 1, a share of the whole time */
	uint32_t doublings; /* of the appends */
	uint64_t chunk;	    /* 0 .. 2^16 - 1 */
	struct fl_rng rewrites, appends;
};

static void draw(uint64_t seed, fl_ino ino, struct draws *draws)
{
	struct fl_rng rng;

	fl_rng_seed(&rng, seed ^ ((uint64_t)ino * 0x9E3779B97F4A7C15u));
	draws->installed = fl_rng_below(&rng, 100);
	draws->growing = fl_rng_below(&rng, 100);
	draws->shared = fl_rng_below(&rng, 100);
	draws->birth = fl_rng_below(&rng, FRAG_MONTH_TICKS);
	draws->doublings = (uint32_t)__builtin_ctzll(fl_rng_next(&rng) | (uint64_t)1 << 40);
	draws->chunk = fl_rng_below(&rng, 1 << 16);
	fl_rng_fork(&rng, 1, &draws->rewrites);
	fl_rng_fork(&rng, 2, &draws->appends);
}

static size_t class_of(const struct fl_map *map, const struct fl_file *file)
{
	size_t class = 0;

	while (class + 1 < FRAG_CLASSES &&
	       file->blocks > frag_class_bytes[class] / map->geo.block_bytes)
		class ++;
	return class;
}

static int add(struct scheduler *s, uint64_t when, uint32_t file, uint32_t blocks)
{
	struct frag_event event = {.when = when, .file = file, .blocks = blocks};

	return fl_array_push(s->events, event);
}

/* Day 0 goes in path order; what has no path comes last. */
static uint64_t install_time(const struct fl_map *map, const struct fl_file *file)
{
	return fl_min(file->path_rank, map->files.count);
}

/* The last time the file is saved anew, months counted back from the end; false: never. */
static bool last_rewrite(const struct scheduler *s, struct fl_rng *rng, uint64_t birth,
			 uint64_t *when)
{
	for (uint32_t back = 0; back < MOST_REMEMBERED_MONTHS && back < s->options->months;
	     back++) {
		bool hit = fl_rng_below(rng, 100) < s->profile->rewritten_percent;
		uint64_t at =
			s->end - back * FRAG_MONTH_TICKS - 1 - fl_rng_below(rng, FRAG_MONTH_TICKS);

		if (at <= birth)
			return false;
		if (hit) {
			*when = at;
			return true;
		}
	}
	return false;
}

/* A first part at birth, then appends at any time until the end. */
static int grow(struct scheduler *s, uint32_t number, uint64_t birth, struct draws *draws)
{
	const struct fl_file *file = &s->map->files.at[number];
	const struct frag_profile *profile = s->profile;
	bool directory = file->kind == FL_KIND_DIRECTORY;
	uint64_t first =
		directory ? 1 : fl_max(file->blocks * profile->growing_first_percent / 100, 1);
	uint64_t rest = file->blocks - first;
	uint64_t per_month =
		fl_min((uint64_t)profile->appends[class_of(s->map, file)] << draws->doublings,
		       profile->appends_most);
	uint64_t count = directory ? rest : (s->end - birth) / FRAG_DAY_TICKS * per_month / 30;
	int err = add(s, birth, number, (uint32_t)first);

	count = fl_min(fl_min(fl_max(count, 1), rest), MOST_APPENDS);
	for (uint64_t i = 0; i < count && !err; i++) {
		uint64_t blocks = rest / count + (i < rest % count);
		uint64_t when = birth + 1 + fl_rng_below(&draws->appends, s->end - birth);

		err = add(s, when, number, (uint32_t)blocks);
	}
	return err;
}

static int share(struct scheduler *s, uint32_t number, uint64_t when, const struct draws *draws)
{
	const struct frag_profile *profile = s->profile;
	/* Between the two, small ones more often: the square of an even draw. */
	uint64_t bytes =
		profile->chunk_least + (((profile->chunk_most - profile->chunk_least) >> 16) *
					((draws->chunk * draws->chunk) >> 16));
	struct sharer sharer = {
		.when = when,
		.file = number,
		.chunk_blocks = (uint32_t)fl_max(bytes / s->map->geo.block_bytes, 1),
	};

	return fl_array_push(&s->sharers, sharer);
}

static int schedule_file(struct scheduler *s, uint32_t number)
{
	const struct fl_file *file = &s->map->files.at[number];
	const struct frag_profile *profile = s->profile;
	size_t class = class_of(s->map, file);
	struct draws draws;
	bool installed;
	uint64_t birth, when;
	int err;

	draw(s->options->seed, file->ino, &draws);
	installed = draws.installed < profile->installed_percent;
	birth = installed ? install_time(s->map, file) : draws.birth * s->options->months;
	if (s->options->gentle)
		return add(s, birth, number, FRAG_ALL_THE_REST);
	if (file->blocks > 1 &&
	    (file->kind == FL_KIND_DIRECTORY || draws.growing < profile->growing_percent[class]))
		return grow(s, number, birth, &draws);
	when = birth;
	if (file->kind != FL_KIND_DIRECTORY && last_rewrite(s, &draws.rewrites, birth, &when)) {
		err = add(s, birth, number, FRAG_EARLY_VERSION);
		if (err)
			return err;
		installed = false;
	}
	if (!installed && file->blocks > 1 && draws.shared < profile->shared_percent[class])
		return share(s, number, when, &draws);
	return add(s, when, number, FRAG_ALL_THE_REST);
}

static int compare_sharers(const void *a, const void *b)
{
	const struct sharer *left = a, *right = b;
	int order = fl_compare(left->when, right->when);

	return order ? order : fl_compare(left->file, right->file);
}

/* Puts the files that are written by turns together, some at a time in order of birth. */
static int make_sessions(struct scheduler *s)
{
	uint32_t member = 0;
	uint64_t start = 0;
	int err = 0;

	if (s->sharers.count)
		qsort(s->sharers.at, s->sharers.count, sizeof(*s->sharers.at), compare_sharers);
	for (size_t i = 0; i < s->sharers.count && !err; i++, member++) {
		const struct sharer *sharer = &s->sharers.at[i];
		uint64_t rest = s->map->files.at[sharer->file].blocks;
		uint64_t when;

		if (member == s->profile->writers)
			member = 0;
		if (member == 0)
			start = sharer->when;
		when = start + member;
		for (; rest > sharer->chunk_blocks && !err; rest -= sharer->chunk_blocks) {
			err = add(s, when, sharer->file, sharer->chunk_blocks);
			when += TURN_TICKS;
		}
		if (!err)
			err = add(s, when, sharer->file, FRAG_ALL_THE_REST);
	}
	return err;
}

static int compare_events(const void *a, const void *b)
{
	const struct frag_event *left = a, *right = b;
	int order = fl_compare(left->when, right->when);

	if (!order)
		order = fl_compare(left->file, right->file);
	return order ? order : fl_compare(left->blocks, right->blocks);
}

int frag_schedule(const struct fl_map *map, const struct frag_schedule_options *options,
		  struct frag_events *events)
{
	struct scheduler s = {
		.map = map,
		.options = options,
		.profile = options->profile,
		.end = options->months * FRAG_MONTH_TICKS,
		.events = events,
	};
	int err = 0;

	for (size_t i = 0; i < map->files.count && !err; i++)
		if (fl_file_movable(&map->files.at[i]) && map->files.at[i].blocks)
			err = schedule_file(&s, (uint32_t)i);
	if (!err)
		err = make_sessions(&s);
	fl_array_free(&s.sharers);
	if (err) {
		fl_array_free(events);
		return err;
	}
	if (events->count)
		qsort(events->at, events->count, sizeof(*events->at), compare_events);
	return 0;
}
