/* SPDX-License-Identifier: MIT */
/*
 * Makes a layout, measures it, turns the dials, and again. Must not know how a layout is made.
 */
#include "frag/tune.h"

#include <stdlib.h>

#include "frag/arrange.h"
#include "frag/dials.h"
#include "frag/only.h"

#define TRIES 25u
#define NARROW (FRAG_WAY_STEPS >> 11) /* steps between which nothing changes any more */
#define NONE UINT64_MAX
/* Of an aim's tolerance, in thousandths: near enough to stop; too far to be put up with. */
#define NEAR 150u
#define FAR 3000u

struct tuner {
	const struct frag_tune_options *options;
	const struct fl_map *map;
	struct frag_base base;
	struct fl_analyze_options analysis;
	struct fl_diag *diag;
	/*
	 * Steps between which the sequential ratio lies that is wanted: of the way; or, where it
	 * leaps, of the order alone, at this point. And the ratios there; NONE: not known.
	 */
	uint32_t low, high;
	uint64_t at_low, at_high;
	struct frag_way point;
	bool order_only;
	/* What layouts have too few of, to be asked for beside what is wanted. */
	int64_t fragmented, extra, holes, largest;
	struct fl_metrics *metrics; /* of the layout at hand */
	struct fl_target best;
	struct fl_metrics *best_metrics;
	uint64_t best_miss; /* NONE: no layout yet */
};

static int layout_of(const struct tuner *t, const struct frag_dials *dials,
		     struct fl_target *target)
{
	const struct frag_base *base = &t->base;
	struct frag_parts parts = {0};
	uint64_t tree_blocks = 0;
	uint32_t *counts = fl_alloc(fl_max(base->aged.files.count, 1), sizeof(*counts));
	int err = counts ? frag_parts_count(base, dials, counts) : FL_ENOMEM;

	if (!err)
		err = frag_parts_of_files(base, dials, counts, &parts, &tree_blocks);
	if (!err && tree_blocks >= base->space_blocks - base->data_blocks)
		err = FL_ENOROOM;
	if (!err)
		err = frag_parts_of_holes(
			base, dials, base->space_blocks - base->data_blocks - tree_blocks, &parts);
	if (!err)
		err = frag_arrange(base, &parts, dials->largest, target);
	if (!err)
		err = frag_only(t->map, t->options->files_only, t->options->free_only, target);
	fl_array_free(&parts);
	free(counts);
	return err;
}

/* The worst of the aims, in thousandths of its tolerance. */
static uint64_t worst_miss(const struct fl_aims *aims, const struct fl_metrics *metrics,
			   const struct fl_aim **which)
{
	uint64_t worst = 0;

	*which = &aims->at[0];
	for (size_t i = 0; i < aims->count; i++) {
		const struct fl_aim *aim = &aims->at[i];
		uint64_t value = fl_aim_value(aim->key, metrics);
		uint64_t away = value > aim->wanted ? value - aim->wanted : aim->wanted - value;
		uint64_t miss =
			fl_min(away, UINT64_MAX / 1000) * 1000 / fl_max(fl_aim_tolerance(aim), 1);

		if (miss > worst) {
			worst = miss;
			*which = aim;
		}
	}
	return worst;
}

/* Measures a layout, and keeps it if it is the best so far. */
static int measure(struct tuner *t, struct fl_target *target, uint64_t *miss)
{
	const struct fl_aim *which;
	struct fl_map *predicted;
	int err = fl_target_predict(t->map, target, &predicted, t->diag);

	if (!err)
		err = fl_map_into_blocks(&predicted, t->diag);
	if (err)
		return err;
	err = fl_analyze(predicted, &t->analysis, t->metrics);
	fl_map_free(predicted);
	if (err)
		return err;
	*miss = worst_miss(t->options->aims, t->metrics, &which);
	if (*miss >= t->best_miss)
		return 0;
	t->best_miss = *miss;
	*t->best_metrics = *t->metrics;
	fl_target_free(&t->best);
	t->best = *target;
	*target = (struct fl_target){0};
	return 0;
}

static uint64_t corrected(uint64_t value, int64_t by)
{
	return by < 0 && value < (uint64_t)-by ? 0 : value + (uint64_t)by;
}

/* Adds what was wanted and is not there; true when that is something. */
static bool correct(int64_t *by, uint64_t wanted, uint64_t found)
{
	*by += (int64_t)(wanted - found);
	return wanted != found;
}

static struct frag_way way_of(const struct tuner *t, uint32_t step)
{
	struct frag_way way = t->point;

	if (!t->order_only)
		return frag_way_at(step);
	way.order = (int32_t)step - (int32_t)FRAG_DRAW_ONE;
	return way;
}

/* Takes a step in place of one of the two between which the wanted ratio lies. False: too near. */
static bool narrow(struct tuner *t, uint64_t wanted, uint32_t step)
{
	const uint64_t found = fl_aim_value(FL_AIM_SEQUENTIAL, t->metrics);

	*(found > wanted ? &t->low : &t->high) = step;
	*(found > wanted ? &t->at_low : &t->at_high) = found;
	if (t->high - t->low > NARROW)
		return true;
	if (t->order_only || t->at_low == NONE || t->at_high == NONE)
		return false;
	/* It leaps here. From the nearer side the order leads across, slowly. */
	t->order_only = true;
	if (t->at_low - wanted < wanted - t->at_high) {
		t->point = frag_way_at(t->low);
		t->high = 2 * FRAG_DRAW_ONE;
		t->low = (uint32_t)(t->point.order + (int32_t)FRAG_DRAW_ONE);
	} else {
		t->point = frag_way_at(t->high);
		t->high = (uint32_t)(t->point.order + (int32_t)FRAG_DRAW_ONE);
		t->low = 0;
	}
	return t->high - t->low > NARROW;
}

/* Turns the dials by what was measured. False: there is nothing to turn. */
static bool turn(struct tuner *t, const struct frag_dials *wanted, uint32_t step)
{
	const struct fl_aims *aims = t->options->aims;
	const struct fl_file_metrics *files = &t->metrics->files;
	const struct fl_aim *sequential = fl_aims_find(aims, FL_AIM_SEQUENTIAL);
	bool turned = false;

	if (fl_aims_find(aims, FL_AIM_FRAGMENTED) || fl_aims_find(aims, FL_AIM_EXTENTS))
		turned |= correct(&t->fragmented, wanted->fragmented + t->base.still.fragmented,
				  files->fragmented);
	if (fl_aims_find(aims, FL_AIM_EXTENTS) || fl_aims_find(aims, FL_AIM_LAYOUT_SCORE))
		turned |= correct(&t->extra, wanted->extra + t->base.still.extra,
				  files->fragments - files->count);
	if (fl_aims_find(aims, FL_AIM_FREE_EXTENTS))
		turned |= correct(&t->holes, wanted->holes, t->metrics->free.extents);
	if (fl_aims_find(aims, FL_AIM_LARGEST_FREE))
		turned |= correct(&t->largest, wanted->largest,
				  t->metrics->free.largest_bytes / t->map->geo.block_bytes);
	if (sequential)
		turned |= narrow(t, sequential->wanted, step);
	return turned;
}

/* One layout; *miss: how far it is from what is wanted. */
static int try_one(struct tuner *t, bool *again)
{
	const bool has_way = fl_aims_find(t->options->aims, FL_AIM_SEQUENTIAL);
	const uint32_t step = t->low + (t->high - t->low) / 2;
	const struct frag_way way = has_way ? way_of(t, step) : (struct frag_way){.as_aged = true};
	struct frag_dials wanted = {.seed = t->options->seed, .like = t->analysis.like}, dials;
	struct fl_target target = {0};
	uint64_t miss;
	int err = frag_dials_set(&t->base, t->options->aims, &way, &wanted, t->diag);

	*again = false;
	if (err)
		return err;
	dials = wanted;
	dials.fragmented = corrected(wanted.fragmented, t->fragmented);
	dials.extra = corrected(wanted.extra, t->extra);
	dials.holes = corrected(wanted.holes, t->holes);
	if (wanted.largest)
		dials.largest = fl_max(corrected(wanted.largest, t->largest), 1);
	err = layout_of(t, &dials, &target);
	if (!err)
		err = measure(t, &target, &miss);
	fl_target_free(&target);
	if (err == FL_ENOROOM && has_way && t->high - t->low > NARROW) {
		/* Too many fragments for the room that mapping trees have. */
		t->high = step;
		*again = true;
		return 0;
	}
	if (!err)
		*again = miss > NEAR && turn(t, &wanted, step);
	return err;
}

static int check_parts(const struct frag_tune_options *options, struct fl_diag *diag)
{
	for (size_t i = 0; i < options->aims->count; i++) {
		enum fl_aim_key key = options->aims->at[i].key;
		bool of_free = key == FL_AIM_LARGEST_FREE || key == FL_AIM_FREE_EXTENTS ||
			       key == FL_AIM_LIKE_FREE;

		if (of_free ? options->files_only : options->free_only)
			return fl_fail(diag, FL_ESYNTAX, "--target %s: not with --%s",
				       fl_aim_name(key), of_free ? "files-only" : "free-only");
	}
	return 0;
}

static int find_best(struct tuner *t)
{
	const struct fl_aim *which;
	bool again = true;
	int err = 0;

	for (unsigned i = 0; i < TRIES && again && !err; i++) {
		err = fl_watch_step(t->options->watch, "attempts", i, TRIES);
		if (!err)
			err = try_one(t, &again);
	}
	if (err == FL_ENOROOM && t->diag && !t->diag->text[0])
		return fl_fail(t->diag, err, "plan: too few free blocks for the mapping trees");
	if (err)
		return err;
	if (t->best_miss == NONE)
		return fl_fail(t->diag, FL_ENOROOM,
			       "plan: too few free blocks for the mapping trees");
	/* Another image may be of a kind that this one can't have: so like as can be. */
	if (t->best_miss <= FAR || t->analysis.like)
		return 0;
	(void)worst_miss(t->options->aims, t->best_metrics, &which);
	return frag_dials_refuse(t->options->aims, which->key,
				 fl_aim_value(which->key, t->best_metrics), "was found", t->diag);
}

int frag_tune(const struct frag_tune_options *options, const struct fl_map *map,
	      struct fl_target *aged, struct fl_target *target, struct fl_diag *diag)
{
	struct fl_diag own = {{0}};
	struct tuner t = {
		.options = options,
		.map = map,
		.analysis = *options->analysis,
		.diag = diag ? diag : &own,
		.high = FRAG_WAY_STEPS,
		.at_low = NONE,
		.at_high = NONE,
		.metrics = calloc(1, sizeof(*t.metrics)),
		.best_metrics = calloc(1, sizeof(*t.best_metrics)),
		.best_miss = NONE,
	};
	int err = t.metrics && t.best_metrics ? check_parts(options, diag) : FL_ENOMEM;

	t.analysis.brief = true;
	t.analysis.disk.model = FL_DISK_NONE;
	t.analysis.workload_count = fl_aims_find(options->aims, FL_AIM_SEQUENTIAL) ? 1 : 0;
	if (!err)
		err = frag_base_new(&t.base, map, aged, options->seed,
				    t.analysis.workloads[0] == FL_WORKLOAD_READ_INODE_ORDER);
	if (!err)
		err = find_best(&t);
	if (!err) {
		*target = t.best;
		t.best = (struct fl_target){0};
	}
	fl_target_free(&t.best);
	frag_base_free(&t.base);
	free(t.metrics);
	free(t.best_metrics);
	return err;
}
