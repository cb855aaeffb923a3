/* SPDX-License-Identifier: MIT */
/*
 * A stretch is laid into the gap that holds it best; where none holds it, along the longest ones.
 * Must not choose what moves.
 */
#include "defrag/away.h"
#include "defrag/lengths.h"

#include <stdlib.h>

/* Units that are neighbours in the order. */
struct stretch {
	size_t first, end;
	uint64_t blocks;
};

struct stretches {
	FL_ARRAY(struct stretch);
};

struct laying {
	struct units *units;
	struct lengths lengths;
	size_t gap; /* the one being filled; LENGTHS_NONE: none */
	uint64_t cuts;
};

static int collect_stretches(const struct units *units, struct stretches *stretches)
{
	for (size_t i = 0; i < units->count; i++) {
		struct stretch stretch = {i, i, 0};

		for (; i < units->count && unit_is_open(&units->at[i]); i++)
			stretch.blocks += unit_size(&units->at[i]);
		stretch.end = i;
		if (stretch.blocks && fl_array_push(stretches, stretch))
			return FL_ENOMEM;
	}
	return 0;
}

static int compare_longest_first(const void *a, const void *b)
{
	const struct stretch *left = a, *right = b;

	return left->blocks != right->blocks ? fl_compare(right->blocks, left->blocks)
					     : fl_compare(left->first, right->first);
}

static struct fl_run take(struct laying *laying, uint64_t most)
{
	struct fl_run *gap = &laying->lengths.runs->at[laying->gap];
	struct fl_run taken = {gap->start, fl_min(gap->len, most)};

	gap->start += taken.len;
	gap->len -= taken.len;
	return taken;
}

static void leave_gap(struct laying *laying)
{
	if (laying->gap != LENGTHS_NONE)
		lengths_put(&laying->lengths, laying->gap);
	laying->gap = LENGTHS_NONE;
}

/* The gap that holds so much best, or a long one. */
static int next_gap(struct laying *laying, uint64_t blocks)
{
	leave_gap(laying);
	laying->gap = lengths_take(&laying->lengths, blocks);
	if (laying->gap == LENGTHS_NONE)
		laying->gap = lengths_take_longest(&laying->lengths);
	return laying->gap == LENGTHS_NONE ? FL_ENOROOM : 0;
}

/* A unit that no gap holds, in pieces. */
static int lay_pieces(struct laying *laying, struct unit *unit)
{
	struct fl_runs *pieces = &laying->units->pieces;
	uint64_t rest = unit->blocks;
	int error = 0;

	unit->placed = unit->split = true;
	unit->tree = 0;
	unit->first_piece = pieces->count;
	while (!error) {
		struct fl_run piece = take(laying, rest);

		error = fl_array_push(pieces, piece);
		rest -= piece.len;
		if (error || !rest)
			break;
		laying->cuts++;
		error = next_gap(laying, rest);
	}
	unit->piece_count = pieces->count - unit->first_piece;
	return error;
}

static int lay_stretch(struct laying *laying, const struct stretch *stretch)
{
	uint64_t rest = stretch->blocks;
	int error = next_gap(laying, rest);

	for (size_t i = stretch->first; i < stretch->end && !error; i++) {
		struct unit *unit = &laying->units->at[i];
		const uint64_t size = unit_size(unit);

		if (laying->lengths.runs->at[laying->gap].len < size && i > stretch->first) {
			laying->cuts++;
			error = next_gap(laying, rest);
			if (error)
				break;
		}
		if (laying->lengths.runs->at[laying->gap].len < size) {
			error = lay_pieces(laying, unit);
		} else {
			unit->placed = true;
			unit->to = take(laying, size).start;
		}
		rest -= size;
	}
	leave_gap(laying);
	return error;
}

int away_lay(struct units *units, struct fl_runs *gaps, uint64_t *cuts)
{
	struct laying laying = {.units = units, .gap = LENGTHS_NONE};
	struct stretches stretches = {0};
	size_t left = 0;
	int error = lengths_new(gaps, &laying.lengths);

	if (!error)
		error = collect_stretches(units, &stretches);
	if (stretches.count)
		qsort(stretches.at, stretches.count, sizeof(*stretches.at), compare_longest_first);
	for (size_t i = 0; i < stretches.count && !error; i++)
		error = lay_stretch(&laying, &stretches.at[i]);
	*cuts = laying.cuts;
	for (size_t i = 0; i < gaps->count; i++)
		if (gaps->at[i].len)
			gaps->at[left++] = gaps->at[i];
	gaps->count = left;
	fl_array_free(&stretches);
	lengths_free(&laying.lengths);
	return error;
}
