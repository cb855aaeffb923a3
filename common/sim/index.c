/* SPDX-License-Identifier: MIT */
/*
 * Trees of 64 children over the groups of an order, each node with the greatest value below it.
 * Must not know what orders and values mean.
 */
#include "common/sim/index.h"

#include <stdlib.h>
#include <string.h>

#include <fraglab/util.h>

#define WORD_BITS 64u
#define NODE_SHIFT 6u /* a node has 64 children: a word of members, or nodes of the level below */

int sim_index_init(struct sim_index *index, uint32_t groups, unsigned orders)
{
	size_t nodes = groups;

	*index = (struct sim_index){.groups = groups};
	do {
		nodes = (size_t)fl_div_up(nodes, WORD_BITS);
		index->nodes[index->levels] = nodes;
		index->most[index->levels] = calloc(nodes, orders * sizeof(*index->most[0]));
		if (!index->most[index->levels++])
			return FL_ENOMEM;
	} while (nodes > 1);
	index->members = calloc(index->nodes[0], orders * sizeof(*index->members));
	index->value = calloc(groups, sizeof(*index->value));
	index->order = malloc(groups);
	if (!index->members || !index->value || !index->order)
		return FL_ENOMEM;
	memset(index->order, SIM_NO_ORDER, groups);
	return 0;
}

void sim_index_free(struct sim_index *index)
{
	for (unsigned level = 0; level < index->levels; level++)
		free(index->most[level]);
	free(index->members);
	free(index->value);
	free(index->order);
	*index = (struct sim_index){0};
}

static uint64_t *word_of(const struct sim_index *index, unsigned order, size_t word)
{
	return &index->members[order * index->nodes[0] + word];
}

static uint32_t *most_of(const struct sim_index *index, unsigned order, unsigned level, size_t node)
{
	return &index->most[level][order * index->nodes[level] + node];
}

void sim_index_put(struct sim_index *index, uint32_t group, uint8_t order, uint32_t value)
{
	uint64_t bit = (uint64_t)1 << (group % WORD_BITS);
	size_t node = group / WORD_BITS;

	if (index->order[group] != order) {
		if (index->order[group] != SIM_NO_ORDER)
			*word_of(index, index->order[group], node) &= ~bit;
		if (order != SIM_NO_ORDER)
			*word_of(index, order, node) |= bit;
		index->order[group] = order;
	}
	index->value[group] = value;
	if (order == SIM_NO_ORDER)
		return;
	/* What is above is never less than what is below. */
	for (unsigned level = 0; level < index->levels; level++, node >>= NODE_SHIFT) {
		uint32_t *most = most_of(index, order, level, node);

		if (*most >= value)
			return;
		*most = value;
	}
}

/* Of one word: a group, or none, and then the greatest value seen. */
static uint32_t find_in_word(const struct sim_index *index, unsigned order, size_t node,
			     uint32_t from, uint32_t least, uint32_t *seen)
{
	uint32_t first = (uint32_t)node * WORD_BITS;
	uint64_t word = *word_of(index, order, node);

	if (from > first)
		word &= UINT64_MAX << (from - first);
	for (; word; word &= word - 1) {
		uint32_t group = first + (uint32_t)__builtin_ctzll(word);

		if (index->value[group] >= least)
			return group;
		*seen = (uint32_t)fl_max(*seen, index->value[group]);
	}
	return SIM_NO_GROUP;
}

static uint32_t find_in(struct sim_index *index, unsigned order, unsigned level, size_t node,
			uint32_t from, uint32_t least)
{
	unsigned shift = NODE_SHIFT * level; /* of the groups below a child */
	uint64_t first = (uint64_t)node << (shift + NODE_SHIFT);
	uint32_t *most = most_of(index, order, level, node);
	uint32_t found = SIM_NO_GROUP, seen = 0;

	if (*most < least)
		return SIM_NO_GROUP;
	if (level == 0) {
		found = find_in_word(index, order, node, from, least, &seen);
	} else {
		size_t child = node << NODE_SHIFT;
		size_t end = (size_t)fl_min(child + WORD_BITS, index->nodes[level - 1]);

		if (from > first)
			child += (size_t)((from - first) >> shift);
		for (; child < end && found == SIM_NO_GROUP; child++) {
			found = find_in(index, order, level - 1, child, from, least);
			seen = (uint32_t)fl_max(seen, *most_of(index, order, level - 1, child));
		}
	}
	if (found == SIM_NO_GROUP && from <= first)
		*most = seen;
	return found;
}

uint32_t sim_index_next(struct sim_index *index, unsigned order, uint32_t from, uint32_t least)
{
	if (from >= index->groups)
		return SIM_NO_GROUP;
	return find_in(index, order, index->levels - 1, 0, from, least);
}
