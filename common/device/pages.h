/* SPDX-License-Identifier: MIT */
/*
 * Pages of memory by number: a radix tree, so that finding one and finding the
 * next one are cheap however large the device is. Knows nothing of devices.
 */
#ifndef FRAGLAB_DEVICE_PAGES_H
#define FRAGLAB_DEVICE_PAGES_H

#include <fraglab/types.h>

#define FL_PAGE_BYTES 65536u

/* Zero-initialised and then given to init. */
struct fl_pages {
	void *root;	 /* NULL while empty */
	uint64_t count;	 /* page numbers are below this */
	unsigned levels; /* of nodes, at least 1 */
};

void fl_pages_init(struct fl_pages *pages, uint64_t count);
/* Frees every page and the tree. */
void fl_pages_free(struct fl_pages *pages);

/* A page of zeros that takes no memory; never to be written to or freed. */
uint8_t *fl_pages_zero(void);

/* The page, fl_pages_zero(), or NULL when there is none. number < count. */
uint8_t *fl_pages_get(const struct fl_pages *pages, uint64_t number);

/*
 * The place of a page, whose content the caller may set (malloc'ed, fl_pages_zero() or NULL).
 * NULL when memory ran out. number < count.
 */
uint8_t **fl_pages_slot(struct fl_pages *pages, uint64_t number);

/* The first page (a zero page counts) at or after from; false when there is none. */
bool fl_pages_next(const struct fl_pages *pages, uint64_t from, uint64_t *number);

#endif
