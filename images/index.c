/* SPDX-License-Identifier: MIT */
/*
 * A hash table from (directory, name) to a number. Keys that collide count as equal,
 * which only makes a name a little longer.
 */
#include <stdlib.h>

#include "images/tree.h"

uint64_t index_key(uint32_t dir, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325u ^ dir;

	hash *= 0x100000001b3u;
	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
	return hash ? hash : 1;
}

static size_t index_slot(const struct name_index *index, uint64_t key)
{
	size_t slot = (size_t)(key ^ (key >> 29)) & (index->room - 1);

	while (index->keys[slot] && index->keys[slot] != key)
		slot = (slot + 1) & (index->room - 1);
	return slot;
}

static int index_grow(struct name_index *index)
{
	struct name_index old = *index;
	size_t room = old.room ? 2 * old.room : 4096;

	index->keys = calloc(room, sizeof(*index->keys));
	index->values = calloc(room, sizeof(*index->values));
	index->room = room;
	if (!index->keys || !index->values) {
		free(index->keys);
		free(index->values);
		*index = old;
		return FL_ENOMEM;
	}
	for (size_t i = 0; i < old.room; i++) {
		if (old.keys[i]) {
			size_t slot = index_slot(index, old.keys[i]);

			index->keys[slot] = old.keys[i];
			index->values[slot] = old.values[i];
		}
	}
	free(old.keys);
	free(old.values);
	return 0;
}

bool index_find(const struct name_index *index, uint64_t key, uint32_t *value)
{
	size_t slot;

	if (!index->room)
		return false;
	slot = index_slot(index, key);
	if (index->keys[slot])
		*value = index->values[slot];
	return index->keys[slot] != 0;
}

int index_add(struct name_index *index, uint64_t key, uint32_t value)
{
	size_t slot;

	if (2 * (index->count + 1) > index->room && index_grow(index))
		return FL_ENOMEM;
	slot = index_slot(index, key);
	index->keys[slot] = key;
	index->values[slot] = value;
	index->count++;
	return 0;
}

void index_free(struct name_index *index)
{
	free(index->keys);
	free(index->values);
}
