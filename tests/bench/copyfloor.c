/* SPDX-License-Identifier: MIT */
/*
 * copyfloor: the limit for moving data inside one file. Reads BYTES from the front of FILE
 * and writes them behind, in requests of SIZE, one after the other, with one flush at the end;
 * prints the wall seconds. Measures only; FILE is overwritten from BYTES on.
 */
#include <errno.h>
#include <fcntl.h>
#include <fraglab/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int fail(const char *what)
{
	fprintf(stderr, "copyfloor: %s: %s.\n", what, strerror(errno));
	return 4;
}

static int copy(int fd, char *buffer, uint64_t bytes, uint64_t size)
{
	for (uint64_t pos = 0; pos < bytes; pos += size) {
		size_t part = (size_t)fl_min(size, bytes - pos);

		if (pread(fd, buffer, part, (off_t)pos) != (ssize_t)part)
			return fail("reading");
		if (pwrite(fd, buffer, part, (off_t)(bytes + pos)) != (ssize_t)part)
			return fail("writing");
	}
	return fsync(fd) ? fail("flushing") : 0;
}

int main(int argc, char **argv)
{
	struct timespec from = {0}, to = {0};
	uint64_t bytes, size;
	char *buffer;
	int fd, status;

	if (argc != 5 || fl_size_parse(argv[2], &bytes) || fl_size_parse(argv[3], &size) ||
	    size % 4096 || bytes % 4096 || !size ||
	    (strcmp(argv[4], "buffered") && strcmp(argv[4], "direct"))) {
		fputs("Usage: copyfloor FILE BYTES SIZE buffered|direct\n", stderr);
		return 16;
	}
	fd = open(argv[1], O_RDWR | (strcmp(argv[4], "direct") ? 0 : O_DIRECT));
	buffer = aligned_alloc(4096, (size_t)size);
	if (fd < 0 || !buffer) {
		status = fail("starting");
	} else {
		memset(buffer, 0, (size_t)size);
		(void)clock_gettime(CLOCK_MONOTONIC, &from);
		status = copy(fd, buffer, bytes, size);
		(void)clock_gettime(CLOCK_MONOTONIC, &to);
	}
	if (!status)
		printf("%.3f\n", (double)(to.tv_sec - from.tv_sec) +
					 (double)(to.tv_nsec - from.tv_nsec) / 1e9);
	free(buffer);
	if (fd >= 0)
		close(fd);
	return status;
}
