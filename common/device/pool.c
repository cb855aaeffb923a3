/* SPDX-License-Identifier: MIT */
/*
 * A few threads that share out work on one device, so that its queue is never empty. Must not
 * know what the work is.
 */
#include "common/device/pool.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include <fraglab/util.h>

#define STACK_BYTES ((size_t)64 << 10)

struct fl_pool {
	pthread_mutex_t lock;
	pthread_cond_t begun, ended; /* there is work; all of it has ended */
	bool stop;
	size_t next, count, busy; /* of the work at hand; busy: threads in it */
	int (*work)(void *context, size_t index);
	void *context;
	size_t failed;
	int error;
	size_t thread_count;
	pthread_t threads[];
};

/* Takes part in the work at hand until nothing of it is left to begin. With the lock held. */
static void take_part(struct fl_pool *pool)
{
	pool->busy++;
	while (pool->next < pool->count && !pool->error) {
		size_t index = pool->next++;
		int error;

		(void)pthread_mutex_unlock(&pool->lock);
		error = pool->work(pool->context, index);
		(void)pthread_mutex_lock(&pool->lock);
		if (error && (!pool->error || index < pool->failed)) {
			pool->error = error;
			pool->failed = index;
		}
	}
	if (!--pool->busy)
		(void)pthread_cond_signal(&pool->ended);
}

static void *serve(void *context)
{
	struct fl_pool *pool = context;

	(void)pthread_mutex_lock(&pool->lock);
	while (!pool->stop) {
		if (pool->next < pool->count && !pool->error)
			take_part(pool);
		else
			(void)pthread_cond_wait(&pool->begun, &pool->lock);
	}
	(void)pthread_mutex_unlock(&pool->lock);
	return NULL;
}

int fl_pool_new(size_t threads, struct fl_pool **pool)
{
	struct fl_pool *made = calloc(1, sizeof(*made) + threads * sizeof(made->threads[0]));
	pthread_attr_t attributes;
	sigset_t all, before;

	if (!made)
		return FL_ENOMEM;
	if (pthread_attr_init(&attributes)) {
		free(made);
		return FL_ENOMEM;
	}
	(void)pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN + STACK_BYTES);
	(void)pthread_mutex_init(&made->lock, NULL);
	(void)pthread_cond_init(&made->begun, NULL);
	(void)pthread_cond_init(&made->ended, NULL);
	/* Signals are for the thread that reports and cancels. */
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	while (made->thread_count < threads &&
	       !pthread_create(&made->threads[made->thread_count], &attributes, serve, made))
		made->thread_count++;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	*pool = made;
	return 0;
}

void fl_pool_free(struct fl_pool *pool)
{
	if (!pool)
		return;
	(void)pthread_mutex_lock(&pool->lock);
	pool->stop = true;
	(void)pthread_cond_broadcast(&pool->begun);
	(void)pthread_mutex_unlock(&pool->lock);
	for (size_t i = 0; i < pool->thread_count; i++)
		(void)pthread_join(pool->threads[i], NULL);
	(void)pthread_cond_destroy(&pool->begun);
	(void)pthread_cond_destroy(&pool->ended);
	(void)pthread_mutex_destroy(&pool->lock);
	free(pool);
}

int fl_pool_run(struct fl_pool *pool, size_t count, int (*work)(void *context, size_t index),
		void *context, size_t *failed)
{
	int error;

	(void)pthread_mutex_lock(&pool->lock);
	pool->work = work;
	pool->context = context;
	pool->next = 0;
	pool->count = count;
	pool->error = 0;
	if (count > pool->thread_count)
		(void)pthread_cond_broadcast(&pool->begun);
	else
		for (size_t i = 1; i < count; i++)
			(void)pthread_cond_signal(&pool->begun);
	take_part(pool);
	while (pool->busy)
		(void)pthread_cond_wait(&pool->ended, &pool->lock);
	pool->count = 0;
	error = pool->error;
	*failed = pool->failed;
	(void)pthread_mutex_unlock(&pool->lock);
	return error;
}
