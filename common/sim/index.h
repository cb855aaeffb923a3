/* SPDX-License-Identifier: MIT */
/*
 * Block groups by order and value, for a search that asks for the next one that may do: neither
 * a disk of many thousand groups nor many groups that just miss cost it a step for each.
 */
#ifndef FRAGLAB_SIM_INDEX_H
#define FRAGLAB_SIM_INDEX_H

#include <fraglab/error.h>

#define SIM_NO_GROUP UINT32_MAX
#define SIM_NO_ORDER UINT8_MAX
#define SIM_INDEX_LEVELS 6 /* 64^6 groups are more than 32 bits count */

struct sim_index {
	uint32_t groups;
	unsigned levels;
	uint8_t *order;	   /* of each group; SIM_NO_ORDER: in none */
	uint32_t *value;   /* of each group */
	uint64_t *members; /* for each order, a bit for each group */
	/*
	 * For each order, the greatest value in each word of members (level 0), in 64 of those
	 * (level 1), and so on to one number. May be too great: a search that finds nothing
	 * there mends it.
	 */
	uint32_t *most[SIM_INDEX_LEVELS];
	size_t nodes[SIM_INDEX_LEVELS]; /* of an order */
};

/* All groups (> 0) in no order. FL_ENOMEM: sim_index_free takes what there is. */
int sim_index_init(struct sim_index *index, uint32_t groups, unsigned orders) FL_CHECKED;
void sim_index_free(struct sim_index *index);

/* SIM_NO_ORDER takes the group out. */
void sim_index_put(struct sim_index *index, uint32_t group, uint8_t order, uint32_t value);

/* The first group from `from` on of this order with a value of at least `least`, which is > 0. */
uint32_t sim_index_next(struct sim_index *index, unsigned order, uint32_t from, uint32_t least);

#endif
