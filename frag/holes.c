/* SPDX-License-Identifier: MIT */
/*
 * Free space as so many holes of so many blocks, shaped like that of the aged layout. Must not
 * know files.
 */
#include "frag/parts.h"

#include <stdlib.h>

struct holes {
	FL_ARRAY(struct fl_run); /* start: a key */
};

static uint64_t sum_of(const struct holes *holes)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < holes->count; i++)
		sum += holes->at[i].len;
	return sum;
}

/* Neighbours become one. */
static void join(struct holes *holes, size_t count)
{
	const size_t had = holes->count;

	for (size_t n = 0; n < count; n++) {
		size_t first = (size_t)frag_portion(had, n, count);
		size_t end = (size_t)frag_portion(had, n + 1, count);
		struct fl_run run = {.start = holes->at[first].start};

		for (size_t i = first; i < end; i++)
			run.len += holes->at[i].len;
		holes->at[n] = run;
	}
	holes->count = count;
}

/* Long ones become several, of uneven length, anywhere on the disk. */
static int split(struct holes *holes, uint64_t count, uint64_t disk_blocks, struct fl_rng *rng)
{
	const size_t had = holes->count;
	const uint64_t more = count - had, cuts = sum_of(holes) - had;
	uint64_t seen = 0, given = 0;

	for (size_t i = 0; i < had; i++) {
		uint64_t len = holes->at[i].len, pieces, upto;

		seen += len - 1;
		upto = cuts ? fl_min(frag_portion(more, seen, cuts), given + len - 1) : 0;
		if (i + 1 == had)
			upto = fl_min(more, given + len - 1);
		for (pieces = 1 + upto - given; pieces > 1; pieces--) {
			uint64_t even = len / pieces, part = 1 + fl_rng_below(rng, 2 * even - 1);
			struct fl_run run = {.start = fl_rng_below(rng, disk_blocks)};

			run.len = fl_min(part, len - (pieces - 1));
			len -= run.len;
			if (fl_array_push(holes, run))
				return FL_ENOMEM;
		}
		holes->at[i].len = len;
		given = upto;
	}
	return 0;
}

/* More blocks in all, or fewer, a share of each hole's own; none vanishes. */
static void scale(struct holes *holes, uint64_t blocks)
{
	const uint64_t had = sum_of(holes), spare = had - holes->count;
	uint64_t seen = 0, given = 0, most = blocks - holes->count;

	for (size_t i = 0; i < holes->count; i++) {
		uint64_t upto;

		seen += holes->at[i].len - 1;
		upto = spare ? frag_portion(most, seen, spare) : most;
		if (i + 1 == holes->count)
			upto = most;
		holes->at[i].len = 1 + upto - given;
		given = upto;
	}
}

/* What is beyond the cap goes to the others in turn. What finds no room there is left. */
static uint64_t clip(struct holes *holes, uint64_t cap)
{
	uint64_t over = 0;

	for (size_t i = 0; i < holes->count; i++) {
		uint64_t beyond = holes->at[i].len > cap ? holes->at[i].len - cap : 0;

		over += beyond;
		holes->at[i].len -= beyond;
	}
	for (uint64_t before = 0; over && over != before;) {
		uint64_t share = over / holes->count + 1;

		before = over;
		for (size_t i = 0; i < holes->count && over; i++) {
			uint64_t room = cap - holes->at[i].len;
			uint64_t more = fl_min(fl_min(share, room), over);

			holes->at[i].len += more;
			over -= more;
		}
	}
	return over;
}

/* The longest one gets the length of the cap, from all others. */
static void raise_longest(struct holes *holes, uint64_t cap)
{
	size_t longest = 0;

	for (size_t i = 1; i < holes->count; i++)
		if (holes->at[i].len > holes->at[longest].len)
			longest = i;
	while (holes->at[longest].len < cap) {
		uint64_t lacks = cap - holes->at[longest].len, before = lacks;
		uint64_t spare = sum_of(holes) - holes->at[longest].len - (holes->count - 1);

		for (size_t i = 0; i < holes->count && lacks && spare; i++) {
			uint64_t own = holes->at[i].len - 1;
			uint64_t take = fl_min(frag_portion(before, own, spare) + 1, own);

			take = i == longest ? 0 : fl_min(take, lacks);
			holes->at[i].len -= take;
			holes->at[longest].len += take;
			lacks -= take;
		}
		if (lacks == before)
			return;
	}
}

/* As many as the other image has to so much free space, and as long. */
static int list_alike(const struct frag_base *base, const struct frag_dials *dials, uint64_t blocks,
		      struct holes *holes)
{
	const struct fl_numbers *like = &dials->like->free_bytes;
	const uint64_t block_bytes = base->map->geo.block_bytes;
	const uint64_t all = fl_max(dials->like->all_free_bytes / block_bytes, 1);
	uint64_t count = blocks / all * like->count + frag_portion(like->count, blocks % all, all);
	struct fl_rng rng;

	count = fl_min(fl_max(count, 1), blocks);
	frag_dials_seed(dials, UINT64_C(3) << 62, &rng);
	for (uint64_t i = 0; i < count && like->count; i++) {
		uint64_t len = fl_max(fl_numbers_quantile(like, i, count) / block_bytes, 1);
		struct fl_run run = {fl_rng_below(&rng, base->map->geo.blocks), len};

		if (fl_array_push(holes, run))
			return FL_ENOMEM;
	}
	return 0;
}

static int shape(const struct frag_base *base, const struct frag_dials *dials, uint64_t blocks,
		 struct holes *holes)
{
	const uint64_t disk = base->map->geo.blocks;
	const uint64_t cap =
		dials->largest ? fl_min(dials->largest, base->longest_space) : base->longest_space;
	uint64_t count = dials->like ? holes->count : dials->holes;
	struct fl_rng rng;
	int err = 0;

	frag_dials_seed(dials, UINT64_C(1) << 63, &rng);
	count = fl_min(fl_max(fl_max(count, fl_div_up(blocks, cap)), 1), blocks);
	if (!holes->count)
		err = fl_array_push(holes, ((struct fl_run){disk / 2, 1}));
	if (!err && holes->count > count)
		join(holes, (size_t)count);
	if (err)
		return err;
	scale(holes, blocks);
	if (holes->count < count)
		err = split(holes, count, disk, &rng);
	if (err)
		return err;
	/* Room for all is there, as the count was made for the cap. */
	if (clip(holes, cap))
		return FL_EINVAL;
	if (dials->largest)
		raise_longest(holes, cap);
	for (size_t i = 0; i < holes->count; i++)
		if ((int64_t)fl_rng_below(&rng, FRAG_DRAW_ONE) < -(int64_t)dials->order)
			holes->at[i].start = disk;
	return 0;
}

int frag_parts_of_holes(const struct frag_base *base, const struct frag_dials *dials,
			uint64_t blocks, struct frag_parts *parts)
{
	struct holes holes = {0};
	int err = dials->like ? list_alike(base, dials, blocks, &holes)
			      : fl_array_append(&holes, base->holes.at, base->holes.count);

	if (!err && blocks)
		err = shape(base, dials, blocks, &holes);
	for (size_t i = 0; i < holes.count && blocks && !err; i++)
		err = fl_array_push(parts, ((struct frag_part){.key = holes.at[i].start,
							       .len = holes.at[i].len,
							       .kind = FRAG_PART_HOLE}));
	fl_array_free(&holes);
	return err;
}
