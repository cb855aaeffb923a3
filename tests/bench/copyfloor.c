/* SPDX-License-Identifier: MIT */
/*
 * copyfloor: the limit for moving data inside one file. Reads BYTES from the front of FILE
 * and writes them behind, in requests of SIZE, so many at a time as there are THREADS, with one
 * flush at the end; prints the wall seconds. Measures only; FILE is overwritten from BYTES on.
 */
#include <errno.h>
#include <fcntl.h>
#include <fraglab/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/device/pool.h"

static int fail(const char *what)
{
	fprintf(stderr, "copyfloor: %s: %s.\n", what, strerror(errno));
	return FL_EIO;
}

struct copier {
	int fd;
	uint64_t bytes, size;
};

/* One request, in a buffer of its thread. */
static int copy_request(void *context, size_t index)
{
	static _Thread_local char *buffer;
	const struct copier *copier = context;
	uint64_t position = index * copier->size;
	size_t part = (size_t)fl_min(copier->size, copier->bytes - position);

	if (!buffer)
		buffer = aligned_alloc(4096, (size_t)copier->size);
	if (!buffer)
		return FL_ENOMEM;
	if (pread(copier->fd, buffer, part, (off_t)position) != (ssize_t)part)
		return fail("reading");
	if (pwrite(copier->fd, buffer, part, (off_t)(copier->bytes + position)) != (ssize_t)part)
		return fail("writing");
	return 0;
}

static int copy(struct copier *copier, struct fl_pool *pool)
{
	size_t failed;
	int error = fl_pool_run(pool, (size_t)fl_div_up(copier->bytes, copier->size), copy_request,
				copier, &failed);

	return error ? error : fsync(copier->fd) ? fail("flushing") : 0;
}

int main(int argc, char **argv)
{
	struct copier copier = {.fd = -1};
	struct timespec from = {0}, to = {0};
	struct fl_pool *pool = NULL;
	uint64_t threads;
	int status = 4;

	if (argc != 6 || fl_size_parse(argv[2], &copier.bytes) ||
	    fl_size_parse(argv[3], &copier.size) || fl_size_parse(argv[5], &threads) ||
	    copier.size % 4096 || copier.bytes % 4096 || !copier.size || !threads ||
	    threads > 256 || (strcmp(argv[4], "buffered") && strcmp(argv[4], "direct"))) {
		fputs("Usage: copyfloor FILE BYTES SIZE buffered|direct THREADS\n", stderr);
		return 16;
	}
	copier.fd = open(argv[1], O_RDWR | (strcmp(argv[4], "direct") ? 0 : O_DIRECT));
	if (copier.fd < 0)
		return fail("opening");
	if (!fl_pool_new((size_t)threads - 1, &pool)) {
		(void)clock_gettime(CLOCK_MONOTONIC, &from);
		status = copy(&copier, pool) ? 4 : 0;
		(void)clock_gettime(CLOCK_MONOTONIC, &to);
	}
	if (!status)
		printf("%.3f\n", (double)(to.tv_sec - from.tv_sec) +
					 (double)(to.tv_nsec - from.tv_nsec) / 1e9);
	fl_pool_free(pool);
	(void)close(copier.fd);
	return status;
}
