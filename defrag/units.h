/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: what is moved or kept as a whole. In full and files mode a unit is a
 * file with its mapping tree, in free mode and within a budget a fragment.
 */
#ifndef DEFRAG_UNITS_H
#define DEFRAG_UNITS_H

#include "defrag/pack.h"

struct unit {
	uint32_t file;	 /* index into map->files */
	uint32_t tree;	 /* mapping-tree blocks placed just before the data; a fragment: 0 but for
			    the file's first */
	uint64_t blocks; /* data blocks */
	size_t first_extent, extent_count; /* where the data is now: map->extents */
	fl_pblk at;			   /* where the data begins now */
	uint64_t fragments;		   /* of the data now */
	bool whole;			   /* the data is one run now */
	bool pinned;			   /* stays whatever happens: below the threshold */
	bool well;   /* beside a neighbour in path order or in the order wanted, or long */
	bool keep;   /* this attempt leaves it where it is */
	bool leaves; /* moves in any case: where it is now is room */
	bool first;  /* to be laid in order at the front */
	bool placed; /* to is set */
	bool split;  /* no run was long enough: pieces hold its places instead */
	fl_pblk to;  /* where tree and data shall begin */
	size_t first_piece, piece_count; /* into units->pieces */
};

struct units {
	FL_ARRAY(struct unit);	  /* in the order wanted, fragments of a file in logical order */
	struct fl_runs pieces;	  /* places of split units */
	struct fl_runs slots;	  /* fl_map_slots */
	struct fl_runs by_length; /* slots, longest first */
	uint64_t slot_blocks;	  /* their sum */
};

/* Files as units, or fragments in free mode. */
int units_collect(const struct fl_map *map, const struct defrag_settings *settings,
		  struct units *units) FL_CHECKED;
/* Fragments as units, whatever the mode. */
int units_collect_fragments(const struct fl_map *map, const struct defrag_settings *settings,
			    struct units *units) FL_CHECKED;
void units_free(struct units *units);

/* One behind the last unit of the file whose unit is `first`. */
static inline size_t units_file_end(const struct units *units, size_t first)
{
	size_t end = first + 1;

	while (end < units->count && units->at[end].file == units->at[first].file)
		end++;
	return end;
}

/* Whether it moves, but to no place yet. */
static inline bool unit_is_open(const struct unit *unit)
{
	return !unit->keep && !unit->placed;
}

/* One behind where the data of a whole unit is now. */
static inline fl_pblk unit_data_end(const struct unit *unit)
{
	return unit->at + unit->blocks;
}

/* Blocks a unit takes when it is one run. */
static inline uint64_t unit_size(const struct unit *unit)
{
	return unit->tree + unit->blocks;
}

#endif
