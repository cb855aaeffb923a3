/* SPDX-License-Identifier: MIT */
/*
 * The radix tree of pages: nodes of 512 pointers, only where something is.
 * Must not allocate on look-ups.
 */
#include <stdlib.h>

#include "common/device/pages.h"

#define NODE_BITS 9u
#define NODE_SLOTS (1u << NODE_BITS)

struct node {
	void *slot[NODE_SLOTS]; /* nodes, or on the lowest level pages */
};

/* Only its address matters. */
static const uint8_t zero_page;

uint8_t *fl_pages_zero(void)
{
	return (uint8_t *)(uintptr_t)&zero_page;
}

void fl_pages_init(struct fl_pages *pages, uint64_t count)
{
	pages->root = NULL;
	pages->count = count;
	pages->levels = 1;
	while (count && (count - 1) >> (NODE_BITS * pages->levels))
		pages->levels++;
}

static void free_node(struct node *node, unsigned level)
{
	size_t i;

	if (!node)
		return;
	for (i = 0; i < NODE_SLOTS; i++) {
		if (level)
			free_node(node->slot[i], level - 1);
		else if (node->slot[i] != &zero_page)
			free(node->slot[i]);
	}
	free(node);
}

void fl_pages_free(struct fl_pages *pages)
{
	free_node(pages->root, pages->levels - 1);
	pages->root = NULL;
}

static size_t slot_index(uint64_t number, unsigned level)
{
	return (size_t)(number >> (NODE_BITS * level)) & (NODE_SLOTS - 1);
}

uint8_t *fl_pages_get(const struct fl_pages *pages, uint64_t number)
{
	void *at = pages->root;
	unsigned level = pages->levels;

	while (at && level--)
		at = ((struct node *)at)->slot[slot_index(number, level)];
	return at;
}

uint8_t **fl_pages_slot(struct fl_pages *pages, uint64_t number)
{
	void **slot = &pages->root;
	unsigned level = pages->levels;

	while (level--) {
		if (!*slot)
			*slot = calloc(1, sizeof(struct node));
		if (!*slot)
			return NULL;
		slot = &((struct node *)*slot)->slot[slot_index(number, level)];
	}
	return (uint8_t **)slot;
}

bool fl_pages_next(const struct fl_pages *pages, uint64_t from, uint64_t *number)
{
	while (from < pages->count) {
		const void *at = pages->root;
		unsigned level = pages->levels;

		while (at && level--)
			at = ((const struct node *)at)->slot[slot_index(from, level)];
		if (at) {
			*number = from;
			return true;
		}
		if (!pages->root)
			return false;
		/* Nothing in the whole subtree that was empty: go on behind it. */
		from = ((from >> (NODE_BITS * level)) + 1) << (NODE_BITS * level);
	}
	return false;
}
