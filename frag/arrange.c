/* SPDX-License-Identifier: MIT */
/*
 * Fills the space run by run with the next part that may stand there. Must not decide how many
 * parts there are, nor their order beyond that.
 */
#include "frag/arrange.h"

#include "frag/arranger.h"

#define LOOK 2048u /* parts that are looked at for one that fits */

/* --- what may come next --- */

static bool unplaced(const struct frag_arranger *a, uint32_t index)
{
	return index != FRAG_NO_ITEM && !a->items.at[index].placed;
}

/* Its rest can go elsewhere without a fragment more. */
static bool can_be_cut(const struct frag_arranger *a, const struct frag_item *item)
{
	return item->kind == FRAG_PART_TREE || unplaced(a, item->after) ||
	       unplaced(a, item->before);
}

static bool after_hole(const struct frag_arranger *a)
{
	return a->last != FRAG_NO_ITEM && a->items.at[a->last].kind == FRAG_PART_HOLE;
}

/* A part other than a hole that may begin here and fits. *link: what refers to it. */
static bool find_part(struct frag_arranger *a, uint32_t **link)
{
	uint32_t *at = &a->parts.first;

	for (unsigned i = 0; *at != FRAG_NO_ITEM && i < LOOK; i++, at = &a->items.at[*at].next) {
		const struct frag_item *item = &a->items.at[*at];

		if (item->kind == FRAG_PART_PIECE && item->before != FRAG_NO_ITEM &&
		    item->before == a->last)
			continue;
		if (item->len <= a->run_left || can_be_cut(a, item)) {
			*link = at;
			return true;
		}
	}
	return false;
}

/* A hole that may begin here: the first that fits, else the first of all. */
static bool find_hole(struct frag_arranger *a, uint32_t **link)
{
	uint32_t *at = &a->holes.first;

	if (*at == FRAG_NO_ITEM || after_hole(a))
		return false;
	*link = at;
	for (unsigned i = 0; *at != FRAG_NO_ITEM && i < LOOK; i++, at = &a->items.at[*at].next)
		if (a->items.at[*at].len < a->run_left + !a->before_hole) {
			*link = at;
			return true;
		}
	return !a->before_hole;
}

/* Whether it is a hole's turn. */
static bool hole_is_next(const struct frag_arranger *a)
{
	/* Where there are hardly parts to come between them, each has to. */
	const bool urgent = a->holes.count + a->holes.count / 16 + 2 >= a->parts.count;
	const struct frag_item *hole, *part;

	if (a->holes.first == FRAG_NO_ITEM || after_hole(a))
		return false;
	if (a->parts.first == FRAG_NO_ITEM)
		return true;
	hole = &a->items.at[a->holes.first];
	part = &a->items.at[a->parts.first];
	if (hole->len >= a->run_left + !a->before_hole)
		return urgent && !a->before_hole;
	return urgent || hole->key <= part->key;
}

/* --- giving places --- */

/* What of a hole does not fit goes to the holes that follow; a new one if they can't take it. */
static int pass_on_hole(struct frag_arranger *a, uint32_t index, uint64_t rest)
{
	uint32_t next = a->items.at[index].next;
	struct frag_item item = a->items.at[index];

	for (unsigned i = 0; rest && next != FRAG_NO_ITEM && i < LOOK; i++) {
		struct frag_item *hole = &a->items.at[next];
		uint64_t longest = fl_min(a->cap, a->base->longest_space);
		uint64_t more = fl_min(rest, longest > hole->len ? longest - hole->len : 0);

		hole->len += more;
		rest -= more;
		next = hole->next;
	}
	if (!rest)
		return 0;
	item.len = rest;
	if (fl_array_push(&a->items, item))
		return FL_ENOMEM;
	a->items.at[index].next = (uint32_t)(a->items.count - 1);
	a->holes.count++;
	return 0;
}

/* The rest of a part: to a neighbour in the file, or a part of its own, just behind. */
static int pass_on(struct frag_arranger *a, uint32_t index, uint64_t rest)
{
	struct frag_item item = a->items.at[index];
	uint32_t made;

	if (item.kind == FRAG_PART_HOLE)
		return pass_on_hole(a, index, rest);
	if (item.kind == FRAG_PART_PIECE && can_be_cut(a, &item)) {
		a->items.at[unplaced(a, item.after) ? item.after : item.before].len += rest;
		return 0;
	}
	made = (uint32_t)a->items.count;
	item.len = rest;
	item.before = index;
	if (fl_array_push(&a->items, item))
		return FL_ENOMEM;
	a->items.at[index].next = a->items.at[index].after = made;
	if (item.after != FRAG_NO_ITEM)
		a->items.at[item.after].before = made;
	a->parts.count++;
	return 0;
}

/* The part at *link begins at pos; of one that is too long so much as fits. */
static int give_place(struct frag_arranger *a, uint32_t *link, fl_pblk pos)
{
	const uint32_t index = *link;
	const uint64_t len = a->items.at[index].len;
	/* The items may move; this one is the queue's own. */
	const bool first = link == &a->parts.first || link == &a->holes.first;
	const size_t offset = first ? 0 : (size_t)((char *)link - (char *)a->items.at);
	int err = 0;

	if (len > a->run_left) {
		err = pass_on(a, index, len - a->run_left);
		a->items.at[index].len = a->run_left;
	}
	if (err)
		return err;
	if (!first)
		link = (uint32_t *)(void *)((char *)a->items.at + offset);
	*link = a->items.at[index].next;
	(a->items.at[index].kind == FRAG_PART_HOLE ? &a->holes : &a->parts)->count--;
	a->items.at[index].start = pos;
	a->items.at[index].placed = true;
	a->last = index;
	return 0;
}

/* The hole that ends here takes what is left of the run, from others. */
static bool grow_hole(struct frag_arranger *a)
{
	struct frag_item *last = &a->items.at[a->last];
	uint64_t spare = 0, rest = a->run_left;

	if (!after_hole(a) || a->before_hole || last->len + rest > a->cap)
		return false;
	for (uint32_t i = a->holes.first; i != FRAG_NO_ITEM && spare < rest;
	     i = a->items.at[i].next)
		spare += a->items.at[i].len - 1;
	if (spare < rest)
		return false;
	for (uint32_t i = a->holes.first; rest; i = a->items.at[i].next) {
		uint64_t less = fl_min(rest, a->items.at[i].len - 1);

		a->items.at[i].len -= less;
		rest -= less;
	}
	last->len += a->run_left;
	a->run_left = 0;
	return true;
}

static int fill(struct frag_arranger *a, struct fl_run run, bool before_hole)
{
	uint32_t *link;
	int err = 0;

	a->last = FRAG_NO_ITEM;
	a->before_hole = before_hole;
	for (a->run_left = run.len; a->run_left && !err; a->run_left -= a->items.at[a->last].len) {
		link = &a->holes.first;
		if (!hole_is_next(a) && !find_part(a, &link) && !find_hole(a, &link)) {
			if (grow_hole(a))
				return 0;
			/* Something has to stand there. */
			link = a->parts.first != FRAG_NO_ITEM ? &a->parts.first : &a->holes.first;
			if (*link == FRAG_NO_ITEM)
				return FL_EINVAL;
		}
		err = give_place(a, link, fl_run_end(run) - a->run_left);
	}
	return err;
}

/*
 * Takes the longest hole out of its queue, and gives it the end of a run of space: the one with
 * the longest hole of the history, if it is long enough, else the longest.
 */
static size_t keep_largest(struct frag_arranger *a, uint64_t *len)
{
	const struct fl_runs *space = &a->base->space, *aged = &a->base->holes;
	uint32_t *longest = &a->holes.first, *at = longest;
	struct frag_item *hole;
	size_t home = 0, best = 0;

	for (; *at != FRAG_NO_ITEM; at = &a->items.at[*at].next)
		if (a->items.at[*at].len > a->items.at[*longest].len)
			longest = at;
	hole = &a->items.at[*longest];
	*longest = hole->next;
	a->holes.count--;
	for (size_t i = 1; i < aged->count; i++)
		if (aged->at[i].len > aged->at[best].len)
			best = i;
	for (size_t i = 0; i < space->count; i++) {
		const struct fl_run run = space->at[i];

		if (aged->count && run.len >= hole->len && run.start <= aged->at[best].start &&
		    aged->at[best].start < fl_run_end(run)) {
			home = i;
			break;
		}
		if (run.len > space->at[home].len)
			home = i;
	}
	hole->start = fl_run_end(space->at[home]) - hole->len;
	hole->placed = true;
	*len = hole->len;
	return home;
}

static int fill_space(struct frag_arranger *a, uint64_t largest)
{
	const struct fl_runs *space = &a->base->space;
	size_t home = SIZE_MAX;
	uint64_t kept = 0;
	int err = 0;

	if (largest && a->holes.first != FRAG_NO_ITEM)
		home = keep_largest(a, &kept);
	for (size_t i = 0; i < space->count && !err; i++) {
		struct fl_run run = space->at[i];

		if (i == home)
			run.len -= kept;
		err = fill(a, run, i == home);
	}
	if (!err && (a->parts.first != FRAG_NO_ITEM || a->holes.first != FRAG_NO_ITEM))
		err = FL_EINVAL;
	return err;
}

int frag_arrange(const struct frag_base *base, struct frag_parts *parts, uint64_t largest,
		 struct fl_target *target)
{
	struct frag_arranger a = {.base = base,
				  .parts = {.first = FRAG_NO_ITEM},
				  .holes = {.first = FRAG_NO_ITEM},
				  .cap = largest ? largest : UINT64_MAX};
	uint64_t blocks = 0;
	int err = 0;

	for (size_t i = 0; i < parts->count; i++)
		blocks += parts->at[i].len;
	if (blocks != base->space_blocks || parts->count >= FRAG_NO_ITEM / 2)
		return FL_EINVAL;
	err = frag_arranger_open(&a, parts);
	if (!err)
		err = fill_space(&a, largest);
	if (!err)
		err = frag_arranger_target(&a, target);
	frag_arranger_close(&a);
	return err;
}
