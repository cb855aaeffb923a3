/* SPDX-License-Identifier: MIT */
/*
 * The arithmetic between figures of the metrics and what a layout is made from. Must not try a
 * layout.
 */
#include "frag/dials.h"

#include <stdlib.h>

#define PERMILLE 1000u
#define DEFAULT_EXTRA_PERMILLE 3000u /* of a file in pieces, where the history has no such */

struct setter {
	const struct frag_base *base;
	const struct fl_aims *aims;
	const struct fl_aim *fragmented, *extents, *score, *largest, *holes;
	struct frag_base_sum all; /* files that count, as aged */
	struct frag_dials *dials;
	struct fl_diag *diag;
	uint64_t extra_permille; /* of a file in pieces, as aged */
	uint32_t mix;		 /* 0 .. FRAG_DRAW_ONE: of what the aims leave open */
	bool has_mix;
};

int frag_dials_refuse(const struct fl_aims *aims, enum fl_aim_key key, uint64_t nearest,
		      const char *said, struct fl_diag *diag)
{
	uint64_t wanted = fl_aims_find(aims, key)->wanted;
	char want[FL_AIM_TEXT], near[FL_AIM_TEXT];

	return fl_fail(diag, FL_ENOROOM,
		       "plan: --target %s: %s%s: not possible; the nearest that %s is %s",
		       fl_aim_name(key), fl_aim_format(key, wanted, want),
		       aims->count > 1 ? " with the other targets" : "", said,
		       fl_aim_format(key, nearest, near));
}

static int refuse(const struct setter *s, enum fl_aim_key key, uint64_t nearest)
{
	return frag_dials_refuse(s->aims, key, nearest, "can be", s->diag);
}

/* From low to high, the more evenly in doublings the further apart they are. */
static uint64_t between(uint64_t low, uint64_t high, uint32_t mix)
{
	const uint64_t one = FRAG_DRAW_ONE;
	uint64_t span = high > low ? high - low : 0, doublings, whole, value;

	if (!span || mix >= one)
		return mix >= one ? fl_max(high, low) : low;
	doublings = 64 - (uint64_t)__builtin_clzll(span);
	whole = doublings * mix / one;
	value = (UINT64_C(1) << whole) - 1 +
		frag_portion(UINT64_C(1) << whole, doublings * mix % one, one);
	return low + fl_min(value, span);
}

/* millionths of a number, rounded. */
static uint64_t millionths(uint64_t number, uint64_t share)
{
	return number / FL_AIM_ONE * share +
	       (number % FL_AIM_ONE * share + FL_AIM_ONE / 2) / FL_AIM_ONE;
}

static uint64_t less(uint64_t number, uint64_t other)
{
	return number > other ? number - other : 0;
}

/* Fragments beyond one of so many files in pieces, with those that stay; what moves of them. */
static uint64_t extra_by_mean(const struct setter *s, uint64_t fragmented)
{
	return less(
		millionths(fragmented + s->base->still.fragmented, s->extents->wanted - FL_AIM_ONE),
		s->base->still.extra);
}

static uint64_t most_by_mean(const struct setter *s)
{
	uint64_t low = s->base->forced, high = s->base->breakable;

	while (low < high) {
		uint64_t middle = high - (high - low) / 2;

		if (extra_by_mean(s, middle) <= frag_base_most_extra(s->base, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The fewest files that can have so many fragments beyond one. */
static uint64_t fewest_files(const struct setter *s, uint64_t extra)
{
	uint64_t low = s->base->forced, high = s->base->breakable;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (frag_base_most_extra(s->base, middle) >= extra)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static uint64_t likely_files(const struct setter *s, uint64_t extra)
{
	return fl_max(extra / s->extra_permille * PERMILLE +
			      extra % s->extra_permille * PERMILLE / s->extra_permille,
		      extra > 0);
}

/* Below it those that can't be whole have too many for the mean. */
static uint64_t least_by_mean(const struct setter *s)
{
	uint64_t low = fl_max(s->base->forced, 1), high = s->base->breakable;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (frag_base_least_extra(s->base, middle) <= extra_by_mean(s, middle))
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Files in pieces, where the aims have the mean of their fragments. */
static uint64_t files_by_mean(const struct setter *s)
{
	const struct frag_base *base = s->base;
	uint64_t least = least_by_mean(s), most = fl_max(most_by_mean(s), least);

	if (s->has_mix)
		return between(least, most, s->mix);
	return fl_max(fl_min(fl_max(base->moved.fragmented, base->breakable / 10), most), least);
}

/* Files in pieces, where the aims have the number of all fragments. */
static uint64_t files_by_extra(const struct setter *s, uint64_t extra)
{
	const struct frag_base *base = s->base;

	if (s->extents)
		return less(frag_portion(extra + base->still.extra, FL_AIM_ONE,
					 s->extents->wanted - FL_AIM_ONE),
			    base->still.fragmented);
	if (s->has_mix)
		return between(fewest_files(s, extra), fl_min(extra, base->breakable), s->mix);
	return likely_files(s, extra);
}

/* Fragments beyond one, where the aims have how many files are in pieces. */
static uint64_t extra_by_files(const struct setter *s, uint64_t fragmented)
{
	if (s->extents)
		return extra_by_mean(s, fragmented);
	if (s->has_mix)
		return between(fragmented, frag_base_most_extra(s->base, fragmented), s->mix);
	return fragmented * s->extra_permille / PERMILLE;
}

/* Files in pieces and fragments, before they are held against what can be. */
static void set_fragments(struct setter *s)
{
	const struct frag_base *base = s->base;
	struct frag_dials *dials = s->dials;

	dials->fragmented = base->moved.fragmented;
	dials->extra = base->moved.extra;
	if (s->fragmented)
		dials->fragmented = less(millionths(s->all.files, s->fragmented->wanted),
					 base->still.fragmented);
	if (s->score)
		dials->extra = less(
			millionths(s->all.blocks - s->all.files, FL_AIM_ONE - s->score->wanted),
			base->still.extra);
	if (s->fragmented && (s->extents || !s->score)) {
		dials->extra = extra_by_files(s, dials->fragmented);
	} else if (s->score && !s->fragmented) {
		dials->fragmented = files_by_extra(s, dials->extra);
	} else if (s->extents) {
		dials->fragmented = files_by_mean(s);
		dials->extra = extra_by_mean(s, dials->fragmented);
	} else if (s->has_mix && !s->score) {
		dials->extra = between(0, frag_base_most_extra(base, base->breakable), s->mix);
		dials->fragmented = likely_files(s, dials->extra);
	}
}

/* As near as can be to what is set; extra follows the files. */
static void keep_possible(const struct frag_base *base, struct frag_dials *dials)
{
	dials->fragmented = fl_max(fl_min(dials->fragmented, base->breakable), base->forced);
	dials->extra = fl_max(dials->extra, frag_base_least_extra(base, dials->fragmented));
	dials->extra = fl_min(dials->extra, frag_base_most_extra(base, dials->fragmented));
}

/* The file figures that the dials come to. */
static uint64_t value_of(const struct setter *s, enum fl_aim_key key)
{
	struct fl_metrics metrics = {0};

	metrics.files.count = s->all.files;
	metrics.files.blocks = s->all.blocks;
	metrics.files.fragmented = s->dials->fragmented + s->base->still.fragmented;
	metrics.files.fragments = s->all.files + s->dials->extra + s->base->still.extra;
	return fl_aim_value(key, &metrics);
}

static int check_fragments(const struct setter *s)
{
	static const enum fl_aim_key keys[] = {FL_AIM_FRAGMENTED, FL_AIM_EXTENTS,
					       FL_AIM_LAYOUT_SCORE};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const struct fl_aim *aim = fl_aims_find(s->aims, keys[i]);

		if (aim && !fl_aim_met(aim, value_of(s, keys[i])))
			return refuse(s, keys[i], value_of(s, keys[i]));
	}
	return 0;
}

/* Parts that can come between holes, borders of the space counted in. */
static uint64_t partings(const struct setter *s, uint64_t extra)
{
	return s->base->aged.files.count + extra + s->base->space.count;
}

/* More fragments, as far as the aims let them be. */
static void add_fragments(struct setter *s, uint64_t extra)
{
	struct frag_dials *dials = s->dials;

	if (s->score || (s->fragmented && s->extents))
		return;
	if (s->extents) {
		dials->fragmented =
			fl_min(frag_portion(extra, FL_AIM_ONE, s->extents->wanted - FL_AIM_ONE) + 1,
			       most_by_mean(s));
		extra = extra_by_mean(s, dials->fragmented);
	} else if (!s->fragmented) {
		dials->fragmented = fl_max(dials->fragmented, likely_files(s, extra));
	}
	dials->extra = extra;
	keep_possible(s->base, dials);
}

/* As many parts as so many holes need to be apart. */
static int make_partings(struct setter *s, enum fl_aim_key key, uint64_t holes)
{
	/* Some more than one for each, as not every place will do. */
	const uint64_t need = holes + holes / 8 + 4;
	uint64_t have = partings(s, s->dials->extra);

	if (have < need)
		add_fragments(s, s->dials->extra + need - have);
	have = partings(s, s->dials->extra);
	if (have >= holes)
		return 0;
	return refuse(s, key,
		      key == FL_AIM_FREE_EXTENTS ? have
						 : fl_div_up(s->base->free_blocks, have) *
							   s->base->map->geo.block_bytes);
}

static int set_holes(struct setter *s)
{
	const struct frag_base *base = s->base;
	const uint64_t block_bytes = base->map->geo.block_bytes, free = base->free_blocks;
	const uint64_t longest = fl_min(base->longest_space, free);
	struct frag_dials *dials = s->dials;
	uint64_t fewest;

	fewest = fl_fragments_forced(free, base->by_length.at, base->by_length.count);
	dials->holes = base->holes.count;
	/* Holes are in the way of order. */
	if (dials->order < 0 && !s->largest)
		dials->holes = fewest + frag_portion(less(dials->holes, fewest),
						     FRAG_DRAW_ONE - (uint64_t)-dials->order,
						     FRAG_DRAW_ONE);
	if (s->holes)
		dials->holes = fl_min(s->holes->wanted, free);
	if (s->holes && !fl_aim_met(s->holes, dials->holes))
		return refuse(s, FL_AIM_FREE_EXTENTS, free);
	if (s->largest) {
		dials->largest = fl_min(fl_max(s->largest->wanted / block_bytes, 1), longest);
		if (!fl_aim_met(s->largest, dials->largest * block_bytes))
			return refuse(s, FL_AIM_LARGEST_FREE, dials->largest * block_bytes);
	}
	if (dials->largest)
		fewest = fl_max(fewest, fl_div_up(free, dials->largest));
	if (s->holes && s->holes->wanted < fewest && !fl_aim_met(s->holes, fewest))
		return refuse(s, FL_AIM_FREE_EXTENTS, fewest);
	if (s->largest && s->holes && dials->largest + dials->holes - 1 > free) {
		dials->largest = free - dials->holes + 1;
		if (!fl_aim_met(s->largest, dials->largest * block_bytes))
			return refuse(s, FL_AIM_LARGEST_FREE, dials->largest * block_bytes);
	}
	if (!s->holes)
		dials->holes = fl_max(dials->holes, fewest);
	if (s->largest && !s->holes)
		dials->holes = fl_min(dials->holes, free - dials->largest + 1);
	if (!s->holes && !s->largest)
		return 0;
	return make_partings(s, s->holes ? FL_AIM_FREE_EXTENTS : FL_AIM_LARGEST_FREE,
			     s->holes ? dials->holes : fewest);
}

struct frag_way frag_way_at(uint32_t step)
{
	const uint32_t one = FRAG_DRAW_ONE;

	if (step < one)
		return (struct frag_way){.order = (int32_t)step - (int32_t)one};
	if (step < 2 * one)
		return (struct frag_way){.mix = step - one};
	return (struct frag_way){.mix = one, .order = (int32_t)(step - 2 * one)};
}

int frag_dials_set(const struct frag_base *base, const struct fl_aims *aims,
		   const struct frag_way *way, struct frag_dials *dials, struct fl_diag *diag)
{
	struct setter s = {
		.base = base,
		.aims = aims,
		.mix = way->mix,
		.has_mix = !way->as_aged,
		.fragmented = fl_aims_find(aims, FL_AIM_FRAGMENTED),
		.extents = fl_aims_find(aims, FL_AIM_EXTENTS),
		.score = fl_aims_find(aims, FL_AIM_LAYOUT_SCORE),
		.largest = fl_aims_find(aims, FL_AIM_LARGEST_FREE),
		.holes = fl_aims_find(aims, FL_AIM_FREE_EXTENTS),
		.all = base->moved,
		.dials = dials,
		.diag = diag,
		.extra_permille = DEFAULT_EXTRA_PERMILLE,
	};
	int err;

	dials->order = way->order;
	s.all.files += base->still.files;
	s.all.blocks += base->still.blocks;
	if (base->moved.fragmented)
		s.extra_permille = base->moved.extra * PERMILLE / base->moved.fragmented;
	set_fragments(&s);
	if (s.fragmented || s.extents || s.score || s.has_mix)
		keep_possible(base, dials);
	err = check_fragments(&s);
	return err ? err : set_holes(&s);
}
