/* SPDX-License-Identifier: MIT */
/*
 * Keeps a population of temporary files at the level of the week. Must not hold the disk
 * back from the files that stay: whatever they need, frag_temporaries_make_room frees.
 */
#include "frag/temporary.h"

#include <stdlib.h>

#define WEEK_TICKS (FRAG_DAY_TICKS * 7)
/* A history has at most about so many temporaries; beyond, they are larger instead. */
#define MOST_FILES ((uint64_t)4 << 20)
/* One temporary takes at most this share of the disk. */
#define LARGEST_SHARE 16u
#define LARGEST_BLOCKS ((uint64_t)1 << 20)

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

int frag_temporaries_init(struct frag_temporaries *t, struct frag_script *script,
			  const struct frag_schedule_options *options, uint64_t least_used)
{
	uint64_t mean, months = options->months, files;

	t->map = script->play.map;
	t->profile = options->profile;
	t->script = script;
	t->disk_blocks = fl_alloc_free_blocks(script->play.alloc);
	t->scale = 1;
	fl_rng_seed(&t->rng, options->seed ^ 0x74656D70u);
	for (const struct frag_size_weight *size = t->profile->sizes; size->weight; size++)
		t->weights += size->weight;
	t->next = options->gentle || t->disk_blocks == 0 || t->map->files.count == 0 ||
				  t->profile->temporary_permille == 0
			  ? UINT64_MAX
			  : 0;
	if (t->next == UINT64_MAX)
		return 0;
	mean = fl_div_up(mean_bytes(t->profile, t->weights), t->map->geo.block_bytes);
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
	struct frag_temporary_file file;

	if (!fl_rng_chance(&t->rng, t->profile->short_lived_percent, 100))
		victim = (size_t)fl_rng_below(&t->rng, t->files.count);
	file = t->files.at[victim];
	t->files.at[victim] = t->files.at[--t->files.count];
	t->held_blocks -= file.blocks;
	return frag_script_delete(t->script, file.number);
}

int frag_temporaries_make_room(struct frag_temporaries *t, uint64_t blocks)
{
	int err = 0;

	while (!err && t->files.count && frag_play_room(&t->script->play) < blocks)
		err = delete_one(t);
	return err;
}

static int write_one(struct frag_temporaries *t, uint64_t now, uint32_t beside, uint64_t blocks)
{
	struct frag_temporary_file file = {.blocks = (uint32_t)blocks};
	uint64_t must_be_free, level;
	int err;

	if (!t->levels)
		return 0;
	level = level_at(t, now);
	must_be_free = t->disk_blocks - level + blocks;
	if (must_be_free > t->disk_blocks)
		return 0;
	err = frag_temporaries_make_room(t, must_be_free);
	if (err || frag_play_room(&t->script->play) < must_be_free)
		return err;
	err = frag_script_create(t->script, beside, &file.number);
	if (!err)
		err = frag_script_write(t->script, frag_temporary(file.number), blocks, false);
	if (!err)
		err = fl_array_push(&t->files, file);
	t->held_blocks += blocks;
	return err;
}

int frag_temporaries_add(struct frag_temporaries *t, uint64_t now, uint32_t beside, uint64_t blocks)
{
	return write_one(t, now, beside, blocks);
}

int frag_temporaries_run(struct frag_temporaries *t, uint64_t until)
{
	while (t->next <= until) {
		uint64_t now = t->next, blocks = draw_blocks(t);
		uint32_t beside = (uint32_t)fl_rng_below(&t->rng, t->map->files.count);
		int err = frag_script_time(t->script, now);

		if (!err)
			err = write_one(t, now, beside, blocks);
		if (err)
			return err;
		/* blocks < 2^21, a day's ticks < 2^28, so this fits. */
		t->next = now + fl_max(blocks * (FRAG_DAY_TICKS * 1000) /
					       (t->disk_blocks * t->profile->temporary_permille),
				       1);
	}
	return 0;
}
