/* SPDX-License-Identifier: MIT */
/*
 * Keeps a population of temporary files at the level of the week. Must not hold the disk
 * back from the files that stay: whatever they need, frag_temporaries_make_room frees.
 */
#include "frag/temporary.h"

#include <stdlib.h>

#define WEEK_TICKS (FRAG_DAY_TICKS * 7)
/* A history has at most about so many temporaries; beyond, they are larger instead. */
#define MOST_FILES ((uint64_t)8 << 20)
/* One temporary takes at most this share of the disk. */
#define LARGEST_SHARE 16u
#define LARGEST_BLOCKS ((uint64_t)1 << 20)
#define TAKE_BYTES ((uint64_t)8 << 20) /* as the kernel writes back at most in one go */

static uint64_t mean_bytes(const struct frag_profile *profile, uint64_t weights)
{
	uint64_t sum = 0;

	for (const struct frag_size_weight *size = profile->sizes; size->weight; size++)
		sum += size->bytes * size->weight;
	return fl_max(sum / weights, 1);
}

/* The levels, from the last week back, so that every length of history ends alike. */
static int make_levels(struct frag_temporaries *t, uint32_t months, uint64_t least_used)
{
	uint64_t low = t->disk_blocks / 100 * t->profile->low_percent;
	uint64_t peak = t->disk_blocks / 100 * t->profile->peak_percent;

	peak = fl_max(peak, least_used + (t->disk_blocks - least_used) / 2);
	low = fl_min(low, peak);
	t->level_count = (size_t)(months * FRAG_MONTH_TICKS / WEEK_TICKS) + 2;
	t->levels = fl_alloc(t->level_count, sizeof(*t->levels));
	if (!t->levels)
		return FL_ENOMEM;
	/* The end of the history may fall anywhere in the last two weeks. */
	for (size_t i = t->level_count; i-- > 0;)
		t->levels[i] = i + 3 >= t->level_count ? peak : fl_rng_between(&t->rng, low, peak);
	return 0;
}

int frag_temporaries_init(struct frag_temporaries *t, const struct fl_map *map,
			  const struct frag_schedule_options *options, struct fl_alloc *alloc,
			  struct frag_chains *chains, uint64_t least_used)
{
	uint64_t mean, months = options->months, files;

	t->map = map;
	t->profile = options->profile;
	t->alloc = alloc;
	t->chains = chains;
	t->disk_blocks = fl_alloc_free_blocks(alloc);
	t->scale = 1;
	fl_rng_seed(&t->rng, options->seed ^ 0x74656D70u);
	for (const struct frag_size_weight *size = t->profile->sizes; size->weight; size++)
		t->weights += size->weight;
	t->next = options->gentle || t->disk_blocks == 0 || t->profile->temporary_permille == 0
			  ? UINT64_MAX
			  : 0;
	if (t->next == UINT64_MAX)
		return 0;
	mean = fl_div_up(mean_bytes(t->profile, t->weights), map->geo.block_bytes);
	files = t->disk_blocks / 1000 * t->profile->temporary_permille / mean * months * 30;
	t->scale = fl_div_up(files + 1, MOST_FILES);
	return make_levels(t, options->months, least_used);
}

void frag_temporaries_free(struct frag_temporaries *t)
{
	free(t->levels);
	t->levels = NULL;
	fl_array_free(&t->files);
}

/* Used blocks wanted at a time: a straight line from week to week. */
static uint64_t level_at(const struct frag_temporaries *t, uint64_t when)
{
	size_t week = (size_t)fl_min(when / WEEK_TICKS, t->level_count - 2);
	uint64_t part = fl_min(when - week * WEEK_TICKS, WEEK_TICKS) >> 20;
	uint64_t whole = WEEK_TICKS >> 20;
	uint64_t from = t->levels[week], to = t->levels[week + 1];

	return to >= from ? from + (to - from) / whole * part : from - (from - to) / whole * part;
}

static uint64_t draw_blocks(struct frag_temporaries *t)
{
	const struct frag_size_weight *size = t->profile->sizes;
	uint64_t at = fl_rng_below(&t->rng, t->weights), above = 0, blocks;

	for (; at >= size->weight; size++) {
		at -= size->weight;
		above = size->bytes;
	}
	blocks = fl_div_up(fl_rng_between(&t->rng, above + 1, size->bytes) * t->scale,
			   t->map->geo.block_bytes);
	return fl_min(blocks, fl_min(fl_max(t->disk_blocks / LARGEST_SHARE, 1), LARGEST_BLOCKS));
}

static int delete_one(struct frag_temporaries *t)
{
	size_t victim = t->files.count - 1;
	uint64_t before = fl_alloc_free_blocks(t->alloc);
	int err;

	if (!fl_rng_chance(&t->rng, t->profile->short_lived_percent, 100))
		victim = (size_t)fl_rng_below(&t->rng, t->files.count);
	err = frag_chain_release(t->chains, &t->files.at[victim], t->alloc);
	if (err)
		return err;
	t->files.at[victim] = t->files.at[--t->files.count];
	t->held_blocks -= fl_alloc_free_blocks(t->alloc) - before;
	return 0;
}

int frag_temporaries_make_room(struct frag_temporaries *t, uint64_t blocks)
{
	int err = 0;

	while (!err && t->files.count && fl_alloc_free_blocks(t->alloc) < blocks)
		err = delete_one(t);
	return err;
}

static int write_one(struct frag_temporaries *t, uint64_t now, enum fl_alloc_hint hint,
		     fl_pblk goal, uint64_t blocks)
{
	uint64_t at_once = fl_max(TAKE_BYTES / t->map->geo.block_bytes, 1);
	uint64_t must_be_free, level;
	struct frag_chain chain = {0};
	int err;

	if (!t->levels)
		return 0;
	level = level_at(t, now);
	must_be_free = t->disk_blocks - level + blocks;
	if (must_be_free > t->disk_blocks)
		return 0;
	err = frag_temporaries_make_room(t, must_be_free);
	if (err || fl_alloc_free_blocks(t->alloc) < must_be_free)
		return err;
	if (fl_array_reserve(&t->files, t->files.count + 1))
		return FL_ENOMEM;
	for (uint64_t rest = blocks; rest && !err;) {
		struct fl_run run;

		err = fl_alloc_take_as(t->alloc, hint, goal, fl_min(rest, at_once), &run);
		if (!err)
			err = frag_chain_append(t->chains, &chain, run);
		if (!err) {
			rest -= run.len;
			goal = fl_run_end(run);
		}
	}
	if (err)
		return err;
	t->files.at[t->files.count++] = chain;
	t->held_blocks += blocks;
	return 0;
}

int frag_temporaries_add(struct frag_temporaries *t, uint64_t now, fl_pblk goal, uint64_t blocks)
{
	/* Half of them in the way of what was just written, the others where their size leads. */
	return write_one(t, now,
			 fl_rng_chance(&t->rng, 1, 2) ? FL_ALLOC_NEAR
						      : fl_alloc_hint_of(t->map, blocks),
			 goal, blocks);
}

int frag_temporaries_run(struct frag_temporaries *t, uint64_t until)
{
	while (t->next <= until) {
		uint64_t now = t->next, blocks = draw_blocks(t);
		size_t like = t->map->files.count
				      ? (size_t)fl_rng_below(&t->rng, t->map->files.count)
				      : 0;
		fl_ino ino = t->map->files.count ? t->map->files.at[like].ino : 1;
		fl_pblk goal = fl_alloc_goal_of_inode(t->alloc, ino, false);
		int err = write_one(t, now, fl_alloc_hint_of(t->map, blocks), goal, blocks);

		if (err)
			return err;
		/* blocks < 2^21, a day's ticks < 2^28, so this fits. */
		t->next = now + fl_max(blocks * (FRAG_DAY_TICKS * 1000) /
					       (t->disk_blocks * t->profile->temporary_permille),
				       1);
	}
	return 0;
}
