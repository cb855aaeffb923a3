/* SPDX-License-Identifier: MIT */
/*
 * The mapping trees that the files of a sequence are going to have. Must not place them.
 */
#include "defrag/sequence.h"

/* Whether a unit's data follows that of the one before, when those that go away stay together. */
static bool follows(const struct sequence *seq, const struct unit *unit)
{
	const struct unit *before = unit - 1;
	const struct fl_extent *e = fl_array_from(&seq->packer->map->extents, unit->first_extent);
	fl_pblk end = before->placed ? before->to + unit_size(before) : unit_data_end(before);
	fl_pblk at = unit->placed ? unit->to : unit->at;

	if (fl_extent_lend(e - 1) != e->lblk || e[-1].unwritten != e->unwritten)
		return false;
	if (unit_is_open(unit))
		return unit_is_open(before);
	return !unit_is_open(before) && end == at;
}

void sequence_expect_trees(struct sequence *seq, bool only_open)
{
	const struct fl_map *map = seq->packer->map;
	const struct fl_geometry *geo = map->blocks ? &map->blocks->geo : &map->geo;
	struct units *units = &seq->packer->units;

	for (size_t i = 0, end; i < units->count; i = end) {
		const struct fl_file *file = &map->files.at[units->at[i].file];
		uint64_t extents = file->extent_count;

		end = units_file_end(units, i);
		for (size_t k = i + 1; k < end; k++)
			extents -= follows(seq, &units->at[k]);
		if (file->mapping != FL_MAPPING_EXTENTS ||
		    (only_open && !unit_is_open(&units->at[i])))
			continue;
		units->at[i].tree = (uint32_t)fl_tree_blocks(geo, file->mapping, NULL, extents);
	}
}

uint64_t sequence_trees_elsewhere(const struct sequence *seq)
{
	const struct units *units = &seq->packer->units;
	uint64_t blocks = 0, files = 0;

	for (size_t i = 0, end; i < units->count; i = end) {
		const struct fl_file *file = &seq->packer->map->files.at[units->at[i].file];
		bool moves = false;

		end = units_file_end(units, i);
		for (size_t k = i; k < end; k++)
			moves |= !units->at[k].keep;
		files += moves;
		if (moves && file->mapping != FL_MAPPING_EXTENTS)
			blocks += file->tree_count;
		else if (moves && units->at[i].keep)
			blocks += units->at[i].tree;
	}
	return blocks + fl_min(files, seq->cuts);
}
