/* SPDX-License-Identifier: MIT */
/*
 * Chooses the slots to empty. Must not look at single files: only at how full slots are.
 */
#include "defrag/room.h"

#include <stdlib.h>

/* Slots this close to the longest are as good as it. */
#define NEARLY_LONGEST_PERCENT 97

struct slot {
	struct fl_run run;
	uint64_t used; /* blocks in use now */
	bool empty;    /* chosen to be free */
	uint64_t fill; /* blocks to be filled, from its start */
};

struct slots {
	FL_ARRAY(struct slot);
};

int room_all(const struct units *units, struct room *room)
{
	for (size_t i = 0; i < units->slots.count; i++)
		if (fl_array_push(&room->packed, units->slots.at[i]))
			return FL_ENOMEM;
	return 0;
}

void room_free(struct room *room)
{
	fl_array_free(&room->packed);
	fl_array_free(&room->zones);
}

/* Free runs never cross a slot's edge, so one walk over both counts what is used. */
static int measure(const struct fl_map *map, const struct units *units, struct slots *slots)
{
	size_t f = 0;

	for (size_t i = 0; i < units->slots.count; i++) {
		struct slot slot = {.run = units->slots.at[i]};

		slot.used = slot.fill = slot.run.len;
		for (; f < map->free.count && map->free.at[f].start < fl_run_end(slot.run); f++)
			slot.used -= map->free.at[f].len;
		if (fl_array_push(slots, slot))
			return FL_ENOMEM;
	}
	return 0;
}

/* Emptier slots first; of equal ones the later, because files are laid from the front. */
static int compare_fullness(const void *a, const void *b)
{
	const struct slot *left = *(const struct slot *const *)a;
	const struct slot *right = *(const struct slot *const *)b;
	unsigned __int128 x = (unsigned __int128)left->used * right->run.len;
	unsigned __int128 y = (unsigned __int128)right->used * left->run.len;

	return x != y ? fl_compare(x, y) : fl_compare(right->run.start, left->run.start);
}

static struct slot *emptiest_of_longest(const struct units *units, struct slot **by_fullness,
					size_t count)
{
	uint64_t longest = units->by_length.at[0].len;

	for (size_t i = 0; i < count; i++)
		if (by_fullness[i]->run.len >= longest * NEARLY_LONGEST_PERCENT / 100)
			return by_fullness[i];
	return by_fullness[0];
}

static void empty_slots(const struct units *units, struct slot **by_fullness, size_t count,
			uint64_t free_blocks)
{
	struct slot *largest = emptiest_of_longest(units, by_fullness, count);
	struct slot *partial = largest;

	if (free_blocks >= largest->run.len) {
		largest->empty = true;
		free_blocks -= largest->run.len;
		partial = NULL;
		for (size_t i = 0; i < count; i++) {
			struct slot *slot = by_fullness[i];

			if (slot->empty)
				continue;
			if (slot->run.len <= free_blocks) {
				slot->empty = true;
				free_blocks -= slot->run.len;
			} else if (!partial) {
				partial = slot;
			}
		}
	}
	if (partial)
		partial->fill = partial->run.len - free_blocks;
}

static int push_part(struct fl_runs *runs, fl_pblk start, uint64_t len)
{
	return len ? fl_array_push(runs, ((struct fl_run){start, len})) : 0;
}

static int divide(const struct slots *slots, struct slot **by_fullness, struct room *room)
{
	int error = 0;

	for (size_t i = 0; i < slots->count && !error; i++) {
		const struct slot *slot = &slots->at[i];

		if (slot->empty)
			continue;
		error = push_part(&room->packed, slot->run.start, slot->fill);
		if (!error)
			error = push_part(&room->zones, slot->run.start + slot->fill,
					  slot->run.len - slot->fill);
	}
	/* Overflow goes to the fullest of the slots to be emptied first. */
	for (size_t i = slots->count; i-- > 0 && !error;)
		if (by_fullness[i]->empty)
			error = fl_array_push(&room->zones, by_fullness[i]->run);
	return error;
}

int room_consolidated(const struct fl_map *map, const struct units *units, uint64_t used,
		      struct room *room)
{
	struct slots slots = {0};
	struct slot **by_fullness = NULL;
	int error = measure(map, units, &slots);

	if (error || !slots.count)
		goto out;
	error = FL_ENOMEM;
	by_fullness = fl_alloc(slots.count, sizeof(*by_fullness));
	if (!by_fullness)
		goto out;
	for (size_t i = 0; i < slots.count; i++)
		by_fullness[i] = &slots.at[i];
	qsort(by_fullness, slots.count, sizeof(*by_fullness), compare_fullness);
	empty_slots(units, by_fullness, slots.count, units->slot_blocks - used);
	error = divide(&slots, by_fullness, room);
out:
	free(by_fullness);
	fl_array_free(&slots);
	return error;
}
