/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of what the allocator's search asks of block groups, each answer against one found
 * block by block: the index of groups, the longest run of a group.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <fraglab/util.h>

#include "common/sim/group.h"
#include "common/sim/index.h"

#define ORDERS 4u
#define MOST_SIZE 5000u

struct disk {
	struct fl_simgroup group;
	bool is_free[MOST_SIZE + 1]; /* the last stays false */
};

/* --- the index --- */

static uint32_t next_slowly(const uint8_t *order, const uint32_t *value, uint32_t groups,
			    unsigned wanted, uint32_t from, uint32_t least)
{
	for (uint32_t i = from; i < groups; i++)
		if (order[i] == wanted && value[i] >= least)
			return i;
	return SIM_NO_GROUP;
}

static void index_with(uint32_t groups, uint64_t seed)
{
	struct sim_index index;
	uint8_t *order = malloc(groups);
	uint32_t *value = calloc(groups, sizeof(*value));
	struct fl_rng rng;

	fl_rng_seed(&rng, seed);
	assert_int_equal(sim_index_init(&index, groups, ORDERS), 0);
	memset(order, SIM_NO_ORDER, groups);
	for (unsigned round = 0; round < 20000; round++) {
		uint32_t at = (uint32_t)fl_rng_below(&rng, groups);
		uint32_t from = (uint32_t)fl_rng_below(&rng, groups + 2);
		uint32_t least = (uint32_t)fl_rng_between(&rng, 1, 110);
		unsigned wanted = (unsigned)fl_rng_below(&rng, ORDERS);

		order[at] = (uint8_t)fl_rng_below(&rng, ORDERS + 1);
		if (order[at] == ORDERS)
			order[at] = SIM_NO_ORDER;
		value[at] = (uint32_t)fl_rng_between(&rng, 1, 100);
		sim_index_put(&index, at, order[at], value[at]);
		assert_int_equal(sim_index_next(&index, wanted, from, least),
				 next_slowly(order, value, groups, wanted, from, least));
	}
	sim_index_free(&index);
	free(order);
	free(value);
}

static void index_finds_the_next(void **state)
{
	const uint32_t sizes[] = {1, 63, 64, 65, 4096, 4097, 10000};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		index_with(sizes[i], i);
}

/* Many that just miss are passed by once, not in each search. */
static void index_remembers_misses(void **state)
{
	const uint32_t groups = 1u << 20;
	struct sim_index index;

	(void)state;
	assert_int_equal(sim_index_init(&index, groups, 1), 0);
	for (uint32_t i = 0; i < groups; i++)
		sim_index_put(&index, i, 0, 100);
	/* A million times a million would not end. */
	for (uint32_t i = 0; i < groups; i++)
		assert_int_equal(sim_index_next(&index, 0, i, 101), SIM_NO_GROUP);
	sim_index_put(&index, 777777, 0, 101);
	assert_int_equal(sim_index_next(&index, 0, 0, 101), 777777);
	assert_int_equal(sim_index_next(&index, 0, 777778, 101), SIM_NO_GROUP);
	assert_int_equal(sim_index_next(&index, 0, 777777, 101), 777777);
	sim_index_free(&index);
}

/* --- the longest run --- */

static uint32_t longest_slowly(const struct disk *disk, uint32_t limit, uint32_t most,
			       uint32_t than, uint32_t *start, uint32_t *len)
{
	uint32_t count = 0;

	*start = *len = 0;
	for (uint32_t at = 0; at < limit && count < most; at++) {
		uint32_t end = at;

		while (disk->is_free[end])
			end++;
		count += end > at;
		if (end - at > than && end - at > *len) {
			*start = at;
			*len = end - at;
		}
		at = end;
	}
	return count;
}

static void ask(struct disk *disk, uint32_t limit, uint32_t most, uint32_t than)
{
	uint32_t start, len, want_start, want_len;
	uint32_t want = longest_slowly(disk, limit, most, than, &want_start, &want_len);

	assert_int_equal(fl_simgroup_longest(&disk->group, limit, most, than, &start, &len), want);
	assert_int_equal(len, want_len);
	if (len)
		assert_int_equal(start, want_start);
}

static void change(struct disk *disk, struct fl_rng *rng, uint32_t longest)
{
	struct fl_simgroup *group = &disk->group;
	uint32_t at = (uint32_t)fl_rng_below(rng, group->size), end = at;
	uint32_t most = (uint32_t)fl_rng_between(rng, 1, longest);
	bool free_now = disk->is_free[at];

	while (end < group->size && end - at < most && disk->is_free[end] == free_now)
		disk->is_free[end++] = !free_now;
	if (free_now)
		assert_int_equal(fl_simgroup_take(group, at, end - at), 0);
	else
		assert_int_equal(fl_simgroup_give(group, at, end - at), 0);
}

/* What a search does: it takes from what it has found. */
static void use(struct disk *disk, struct fl_rng *rng)
{
	uint32_t start, len;

	fl_simgroup_longest(&disk->group, disk->group.size, FL_SIMGROUP_HEAD, 0, &start, &len);
	if (!len)
		return;
	len = (uint32_t)fl_rng_between(rng, 1, len);
	memset(disk->is_free + start, false, len);
	assert_int_equal(fl_simgroup_take(&disk->group, start, len), 0);
}

static void longest_with(uint32_t size, uint32_t change_most, uint64_t seed)
{
	struct disk disk = {.group = {.size = size, .top = 11}};
	struct fl_rng rng;

	fl_rng_seed(&rng, seed);
	for (unsigned round = 0; round < 6000; round++) {
		uint32_t limit = (uint32_t)fl_rng_below(&rng, size);

		/* Now fuller, now emptier. */
		if (fl_rng_chance(&rng, round / 1000 % 2 ? 1 : 7, 8))
			change(&disk, &rng, change_most);
		else
			use(&disk, &rng);
		ask(&disk, size, FL_SIMGROUP_HEAD, 0);
		ask(&disk, size, (uint32_t)fl_rng_between(&rng, 1, FL_SIMGROUP_HEAD),
		    (uint32_t)fl_rng_below(&rng, 5));
		while (limit > 0 && disk.is_free[limit - 1])
			limit--;
		ask(&disk, limit, (uint32_t)fl_rng_between(&rng, 1, FL_SIMGROUP_HEAD),
		    (uint32_t)fl_rng_below(&rng, 5));
	}
	fl_simgroup_free(&disk.group);
}

static void longest_run_of_a_group(void **state)
{
	(void)state;
	longest_with(1000, 6, 1); /* not a whole number of words; fewer runs than a head */
	longest_with(4096, 2, 2); /* more */
	longest_with(MOST_SIZE, 3, 3);
	longest_with(MOST_SIZE, 300, 4);
	longest_with(1, 1, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(index_finds_the_next),
		cmocka_unit_test(index_remembers_misses),
		cmocka_unit_test(longest_run_of_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
