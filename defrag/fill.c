/* SPDX-License-Identifier: MIT */
/*
 * Puts units into gaps so that little of a gap stays open. Must not choose the gaps.
 */
#include "defrag/fill.h"

#include <stdlib.h>

/* So many lengths are tried for the longer one of two units that fill a gap, and so many in all. */
#define PAIRS_TRIED 256
#define TRIES ((size_t)1 << 20)
/* A unit of this share of the longest gap is long. */
#define LONG_SHARE 8
#define NONE SIZE_MAX

struct filler {
	struct units *units;
	size_t *next; /* the order wanted: the next unit that is open; index count is the end */
	size_t *previous;
	struct sized {
		uint64_t size;
		size_t unit;
	} * by_size;	       /* open units, shortest first */
	size_t *lower;	       /* union-find over by_size: an index at or below that may be open */
	size_t *place_in_size; /* by unit */
	size_t size_count;
	size_t tries; /* that are left, for pairs */
};

static int compare_sizes(const void *a, const void *b)
{
	const struct sized *left = a, *right = b;

	/* Of equal ones the earlier is found first, from above. */
	return left->size != right->size ? fl_compare(left->size, right->size)
					 : fl_compare(right->unit, left->unit);
}

static int filler_setup(struct filler *filler, bool only_first)
{
	size_t count = filler->units->count, last = count;

	filler->next = fl_alloc(count + 1, sizeof(size_t));
	filler->previous = fl_alloc(count + 1, sizeof(size_t));
	filler->by_size = fl_alloc(count, sizeof(*filler->by_size));
	filler->lower = fl_alloc(count, sizeof(size_t));
	filler->place_in_size = fl_alloc(count, sizeof(size_t));
	if (!filler->next || !filler->previous || !filler->by_size || !filler->lower ||
	    !filler->place_in_size)
		return FL_ENOMEM;
	/* Index count is both ends of the ring. */
	for (size_t i = 0; i < count; i++) {
		const struct unit *unit = &filler->units->at[i];

		if (!unit_is_open(unit) || (only_first && !unit->first))
			continue;
		filler->next[last] = i;
		filler->previous[i] = last;
		last = i;
		filler->by_size[filler->size_count++] = (struct sized){unit_size(unit), i};
	}
	filler->next[last] = count;
	filler->previous[count] = last;
	if (filler->size_count)
		qsort(filler->by_size, filler->size_count, sizeof(*filler->by_size), compare_sizes);
	for (size_t i = 0; i < filler->size_count; i++) {
		filler->lower[i] = i;
		filler->place_in_size[filler->by_size[i].unit] = i;
	}
	return 0;
}

static void filler_teardown(struct filler *filler)
{
	free(filler->next);
	free(filler->previous);
	free(filler->by_size);
	free(filler->lower);
	free(filler->place_in_size);
}

static void place(struct filler *filler, size_t index, struct fl_run *gap)
{
	struct unit *unit = &filler->units->at[index];
	size_t sized = filler->place_in_size[index];

	unit->placed = true;
	unit->to = gap->start;
	gap->start += unit_size(unit);
	gap->len -= unit_size(unit);
	filler->next[filler->previous[index]] = filler->next[index];
	filler->previous[filler->next[index]] = filler->previous[index];
	filler->lower[sized] = sized ? sized - 1 : NONE;
}

/* The highest open index of by_size at or below i; NONE when there is none. */
static size_t find_lower(struct filler *filler, size_t i)
{
	size_t root = i;

	while (root != NONE && filler->lower[root] != root)
		root = filler->lower[root];
	while (i != NONE && i != root) {
		size_t up = filler->lower[i];

		filler->lower[i] = root;
		i = up;
	}
	return root;
}

/* The longest open unit of at most `size` blocks. */
static size_t longest_fitting(struct filler *filler, uint64_t size)
{
	size_t low = 0, high = filler->size_count, found;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (filler->by_size[middle].size <= size)
			low = middle + 1;
		else
			high = middle;
	}
	found = low ? find_lower(filler, low - 1) : NONE;
	return found == NONE ? NONE : filler->by_size[found].unit;
}

/* The next open unit below one, by size; NONE when there is none. */
static size_t lower_than(struct filler *filler, size_t unit)
{
	size_t sized = filler->place_in_size[unit];
	size_t found = sized ? find_lower(filler, sized - 1) : NONE;

	return found == NONE ? NONE : filler->by_size[found].unit;
}

/* In the order wanted, up to a unit that does not fit. */
static void fill_in_order(struct filler *filler, struct fl_run *gap)
{
	size_t end = filler->units->count;

	for (size_t index = filler->next[end], next; index != end; index = next) {
		next = filler->next[index];
		if (unit_size(&filler->units->at[index]) > gap->len)
			return;
		place(filler, index, gap);
	}
}

/* Another open unit of exactly this size; NONE when there is none. */
static size_t another_of(struct filler *filler, uint64_t size, size_t but)
{
	size_t found = longest_fitting(filler, size);

	if (found != NONE && found == but)
		found = lower_than(filler, but);
	return found != NONE && unit_size(&filler->units->at[found]) == size ? found : NONE;
}

/* Finds two open units that have just the gap's length, the longer one at or below `first`. */
static bool find_pair(struct filler *filler, uint64_t gap_len, size_t first, size_t pair[2])
{
	for (size_t tried = 0; first != NONE && tried < PAIRS_TRIED && filler->tries; tried++) {
		uint64_t size = unit_size(&filler->units->at[first]);

		if (size >= gap_len || size * 2 < gap_len)
			return false;
		filler->tries--;
		pair[0] = first;
		pair[1] = another_of(filler, gap_len - size, first);
		if (pair[1] != NONE)
			return true;
		first = longest_fitting(filler, size - 1);
	}
	return false;
}

/*
 * With as few units as it takes, as each is read with a seek there and one back: one that has just
 * the gap's length, else two that have, else the longest.
 */
static void fill_closely(struct filler *filler, struct fl_run *gap)
{
	while (gap->len) {
		size_t longest = longest_fitting(filler, gap->len), pair[2];

		if (longest == NONE)
			return;
		if (find_pair(filler, gap->len, longest, pair)) {
			place(filler, pair[0], gap);
			longest = pair[1];
		}
		place(filler, longest, gap);
	}
}

/* The shortest of the preferred gaps that holds `size` blocks, else the first of the others. */
static struct fl_run *best_gap(struct fl_runs *gaps, size_t preferred, uint64_t size)
{
	struct fl_run *best = NULL;

	for (size_t i = 0; i < preferred; i++)
		if (gaps->at[i].len >= size && (!best || gaps->at[i].len < best->len))
			best = &gaps->at[i];
	for (size_t i = preferred; i < gaps->count && !best; i++)
		if (gaps->at[i].len >= size)
			best = &gaps->at[i];
	return best;
}

static uint64_t longest_of(const struct fl_runs *gaps)
{
	uint64_t longest = 0;

	for (size_t i = 0; i < gaps->count; i++)
		longest = fl_max(longest, gaps->at[i].len);
	return longest;
}

static void place_long(struct filler *filler, struct fl_runs *gaps, size_t preferred)
{
	uint64_t longest = longest_of(gaps);

	for (size_t i = filler->size_count; i-- > 0;) {
		uint64_t size = filler->by_size[i].size;
		struct fl_run *gap;

		if (size < fl_max(longest / LONG_SHARE, 2))
			break;
		gap = best_gap(gaps, preferred, size);
		if (gap)
			place(filler, filler->by_size[i].unit, gap);
	}
}

static void fill_holes(struct filler *filler, struct fl_runs *gaps)
{
	uint64_t longest = longest_of(gaps);

	for (size_t i = 0; i < gaps->count; i++)
		if (gaps->at[i].len < longest / LONG_SHARE)
			fill_closely(filler, &gaps->at[i]);
}

int fill_gaps(struct units *units, const struct fl_runs *gaps, size_t preferred, enum fill_how how,
	      struct fl_runs *left)
{
	struct filler filler = {.units = units, .tries = TRIES};
	struct fl_runs open = {0};
	int error = filler_setup(&filler, how == FILL_FIRST);

	for (size_t i = 0; i < gaps->count && !error; i++)
		error = fl_array_push(&open, gaps->at[i]);
	if (!error && how == FILL_IN_ORDER)
		place_long(&filler, &open, preferred);
	if (how == FILL_HOLES)
		fill_holes(&filler, &open);
	for (size_t i = 0; i < open.count && !error; i++) {
		if (how != FILL_BY_SIZE)
			fill_in_order(&filler, &open.at[i]);
		if (how != FILL_FIRST)
			fill_closely(&filler, &open.at[i]);
		if (open.at[i].len)
			error = fl_array_push(left, open.at[i]);
	}
	fl_array_free(&open);
	filler_teardown(&filler);
	return error;
}

/* In how many pieces a unit can be cut from the longest runs; 0 when they do not hold it. */
static uint64_t pieces_needed(const struct unit *unit, const struct fl_runs *left)
{
	uint64_t held = 0, pieces = 0;

	while (held < unit->blocks) {
		if (pieces == left->count)
			return 0;
		held += left->at[left->count - ++pieces].len;
	}
	return pieces;
}

/* Takes the longest runs, from the end of a list sorted by length. */
static int split_unit(struct units *units, struct unit *unit, struct fl_runs *left)
{
	uint64_t rest = unit->blocks;

	unit->first_piece = units->pieces.count;
	while (rest) {
		struct fl_run *longest, piece;

		if (!left->count)
			return FL_ENOROOM;
		longest = &left->at[left->count - 1];
		piece = (struct fl_run){longest->start, fl_min(longest->len, rest)};
		longest->start += piece.len;
		longest->len -= piece.len;
		if (!longest->len)
			left->count--;
		rest -= piece.len;
		if (fl_array_push(&units->pieces, piece))
			return FL_ENOMEM;
	}
	unit->piece_count = units->pieces.count - unit->first_piece;
	unit->placed = unit->split = true;
	return 0;
}

int fill_split(struct units *units, struct fl_runs *left, bool only_better, size_t *split)
{
	int error = 0;

	*split = 0;
	fl_runs_normalize(left);
	fl_runs_shortest_first(left);
	for (size_t i = 0; i < units->count && !error; i++) {
		struct unit *unit = &units->at[i];
		uint64_t pieces;

		if (!unit_is_open(unit))
			continue;
		pieces = only_better ? pieces_needed(unit, left) : 1;
		if (!pieces || (only_better && pieces >= unit->fragments))
			continue;
		++*split;
		error = split_unit(units, unit, left);
	}
	return error;
}
