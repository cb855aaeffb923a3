/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the tree builder share: kinds of files (rows.c) and the index of
 * names (index.c). Only for tree.c and those two.
 */
#ifndef IMAGES_TREE_H
#define IMAGES_TREE_H

#include "images/sample.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum owner { OWNER_ROOT, OWNER_USER, OWNER_WEB, OWNER_DB, OWNER_MAIL };

struct row {
	const char *dir, *name;
	uint16_t weight;	       /* share of the files */
	uint8_t low_shift, high_shift; /* sizes of 2^low .. 2^(high+1) bytes */
	uint8_t content, owner;
	uint16_t mode;
};

/* A kind of file, drawn by weight: everyday ones, or big ones (low_shift is then 0). */
const struct row *row_pick(struct fl_rng *rng, bool big);
/* The kind of the filler: a backup archive. */
const struct row *row_filler(void);
/* A size in bytes within the row's limits. */
uint64_t row_draw_size(const struct row *row, struct fl_rng *rng);

/* (directory, name) -> index of a directory, so that names are unique. Open addressing. */
struct name_index {
	uint64_t *keys; /* 0: empty */
	uint32_t *values;
	size_t room, count; /* room: a power of two */
};

uint64_t index_key(uint32_t dir, const char *name);
/* False: not there, *value untouched. */
bool index_find(const struct name_index *index, uint64_t key, uint32_t *value);
/* FL_ENOMEM: unchanged. */
int index_add(struct name_index *index, uint64_t key, uint32_t value) FL_CHECKED;
void index_free(struct name_index *index);

#endif
