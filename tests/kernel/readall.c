/* SPDX-License-Identifier: MIT */
/*
 * Reads every file below a directory, whole, with read(2): in path order, or in that in which the
 * kernel lists directories, as tar does. What the block tracer sees of the first is compared with
 * the analyzer's read-all. Prints nothing.
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
static int (*order)(const struct dirent **, const struct dirent **); /* NULL: as it comes */

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
	count = scandirat(fd, ".", &entries, NULL, order);
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

	buffer_bytes = argc == 4 ? strtoul(argv[2], &end, 10) : 0;
	order = argc == 4 && !strcmp(argv[3], "path") ? by_bytes : NULL;
	if (!end || *end || !buffer_bytes || (!order && strcmp(argv[3], "listed"))) {
		(void)fprintf(stderr, "Usage: readall DIRECTORY BYTES_A_READ path|listed\n");
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
