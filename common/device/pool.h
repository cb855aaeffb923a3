/* SPDX-License-Identifier: MIT */
/*
 * A few threads that share out work on one device. Private to this folder.
 */
#ifndef FRAGLAB_POOL_H
#define FRAGLAB_POOL_H

#include <stddef.h>

#include <fraglab/error.h>

struct fl_pool;

/*
 * At most `threads` threads, of which some may be missing: the caller of fl_pool_run works too,
 * so that none at all is enough. FL_ENOMEM.
 */
int fl_pool_new(size_t threads, struct fl_pool **pool) FL_CHECKED;
/* NULL is legal. */
void fl_pool_free(struct fl_pool *pool);

/*
 * Calls work(context, index) for the indexes 0 .. count-1, begun in this order, several at a
 * time, and returns when all have ended. After a failure no more are begun; gives the error with
 * the lowest index, which is put into *failed.
 */
int fl_pool_run(struct fl_pool *pool, size_t count, int (*work)(void *context, size_t index),
		void *context, size_t *failed) FL_CHECKED;

#endif
