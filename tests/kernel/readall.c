/* SPDX-License-Identifier: MIT */
/*
 * Reads every file below a directory in path order, whole, with read(2), as cat or tar would.
 * What the block tracer sees of it is compared with the analyzer's read-all. Prints nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *buffer;
static size_t buffer_bytes;

static int by_bytes(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

static int read_file(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW);
	ssize_t got;

	if (fd < 0)
		return -1;
	do
		got = read(fd, buffer, buffer_bytes);
	while (got > 0);
	(void)close(fd);
	return got < 0 ? -1 : 0;
}

static int read_tree(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	struct dirent **entries = NULL;
	int count, result = -1;
	char link[PATH_MAX];

	if (fd < 0)
		return -1;
	count = scandirat(fd, ".", &entries, NULL, by_bytes);
	if (count < 0)
		goto out;
	for (int i = 0; i < count; i++) {
		const char *entry = entries[i]->d_name;
		struct stat status;

		if (!strcmp(entry, ".") || !strcmp(entry, ".."))
			continue;
		if (fstatat(fd, entry, &status, AT_SYMLINK_NOFOLLOW))
			goto out;
		if (S_ISDIR(status.st_mode) && read_tree(fd, entry))
			goto out;
		if (S_ISREG(status.st_mode) && read_file(fd, entry))
			goto out;
		if (S_ISLNK(status.st_mode) && readlinkat(fd, entry, link, sizeof(link)) < 0)
			goto out;
	}
	result = 0;
out:
	for (int i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	(void)close(fd);
	return result;
}

int main(int argc, char **argv)
{
	char *end = NULL;

	buffer_bytes = argc == 3 ? strtoul(argv[2], &end, 10) : 0;
	if (!end || *end || !buffer_bytes) {
		(void)fprintf(stderr, "Usage: readall DIRECTORY BYTES_A_READ\n");
		return 2;
	}
	buffer = malloc(buffer_bytes);
	if (!buffer || read_tree(AT_FDCWD, argv[1])) {
		(void)fprintf(stderr, "readall: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	free(buffer);
	return 0;
}
