/* SPDX-License-Identifier: MIT */
/*
 * copyfloor: the limit for moving data inside one file. Reads BYTES from the front of FILE
 * and writes them behind, in requests of SIZE, so many at a time as there are THREADS, with one
 * flush at the end; prints the wall seconds. Measures only; FILE is overwritten from BYTES on.
 */
#include <errno.h>
#include <fcntl.h>
#include <fraglab/util.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MOST 256

static int fail(const char *what)
{
	fprintf(stderr, "copyfloor: %s: %s.\n", what, errno ? strerror(errno) : "cut short");
	return FL_EIO;
}

struct copier {
	int fd;
	uint64_t bytes, size;
	atomic_uint_fast64_t next; /* byte */
	atomic_int error;
};

/* One request after another, in a buffer of its thread, until none is left. */
static void *copy_requests(void *context)
{
	struct copier *copier = context;
	char *buffer = aligned_alloc(4096, (size_t)copier->size);
	uint64_t position;

	if (!buffer)
		copier->error = FL_ENOMEM;
	while (!copier->error &&
	       (position = atomic_fetch_add(&copier->next, copier->size)) < copier->bytes) {
		size_t part = (size_t)fl_min(copier->size, copier->bytes - position);

		if (pread(copier->fd, buffer, part, (off_t)position) != (ssize_t)part)
			copier->error = fail("reading");
		else if (pwrite(copier->fd, buffer, part, (off_t)(copier->bytes + position)) !=
			 (ssize_t)part)
			copier->error = fail("writing");
	}
	free(buffer);
	return NULL;
}

static int copy(struct copier *copier, size_t thread_count)
{
	pthread_t threads[THREADS_MOST];
	size_t begun = 0;

	while (begun < thread_count &&
	       !pthread_create(&threads[begun], NULL, copy_requests, copier))
		begun++;
	if (begun < thread_count)
		copier->error = FL_ENOMEM;
	for (size_t i = 0; i < begun; i++)
		(void)pthread_join(threads[i], NULL);
	return copier->error ? copier->error : fsync(copier->fd) ? fail("flushing") : 0;
}

int main(int argc, char **argv)
{
	struct copier copier = {.fd = -1};
	struct timespec from = {0}, to = {0};
	uint64_t threads;
	int status;

	if (argc != 6 || fl_size_parse(argv[2], &copier.bytes) ||
	    fl_size_parse(argv[3], &copier.size) || fl_size_parse(argv[5], &threads) ||
	    copier.size % 4096 || copier.bytes % 4096 || !copier.size || !threads ||
	    threads > THREADS_MOST || (strcmp(argv[4], "buffered") && strcmp(argv[4], "direct"))) {
		fputs("Usage: copyfloor FILE BYTES SIZE buffered|direct THREADS\n", stderr);
		return 16;
	}
	copier.fd = open(argv[1], O_RDWR | (strcmp(argv[4], "direct") ? 0 : O_DIRECT));
	if (copier.fd < 0)
		return fail("opening");
	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	status = copy(&copier, (size_t)threads) ? 4 : 0;
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	if (!status)
		printf("%.3f\n", (double)(to.tv_sec - from.tv_sec) +
					 (double)(to.tv_nsec - from.tv_nsec) / 1e9);
	(void)close(copier.fd);
	return status;
}
