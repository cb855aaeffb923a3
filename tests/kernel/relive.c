/* SPDX-License-Identifier: MIT */
/*
 * Lives through a history: does with system calls what frag(8), section HISTORIES, says, on a
 * mounted filesystem that has the folders and the empty files of the history.
 *
 *   relive FOLDER <HISTORY >DONE
 *
 * Writes to DONE the lines that were done: those about files that are not regular are left out. No
 * library of ours, so that it reads the format by itself. The last line on stderr says how long
 * it took.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MOST_TEMPORARIES (1u << 24)
#define PIECE ((size_t)1 << 20)

struct file {
	char *path;
	int fd;	      /* -1: not open */
	bool skipped; /* no regular file */
};

static const char *top;
static uint64_t block_bytes, line;
static struct file *temporaries[MOST_TEMPORARIES];
static char piece[PIECE];

static void die(const char *what, const char *name)
{
	(void)fprintf(stderr, "relive: line %llu: %s: %s: %s\n", (unsigned long long)line, what,
		      name, strerror(errno));
	exit(1);
}

/* FOLDER and a path with its escapes undone; malloc'd. */
static char *path_of(const char *text, const char *tail)
{
	char *path = malloc(strlen(top) + strlen(text) + strlen(tail) + 1), *to = path;
	unsigned byte;

	if (!path)
		die("path", text);
	to = stpcpy(to, top);
	for (; *text; text++) {
		if (*text == '\\' && sscanf(text, "\\x%2x", &byte) == 1) {
			*to++ = (char)byte;
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	(void)strcpy(to, tail);
	return path;
}

static struct file *new_file(char *path)
{
	struct file *file = calloc(1, sizeof(*file));
	struct stat status;

	if (!file)
		die("file", path);
	*file = (struct file){.path = path, .fd = -1};
	file->skipped = lstat(path, &status) || !S_ISREG(status.st_mode);
	return file;
}

/* Files of the image, by what the history calls them. */
static struct file *named_file(const char *text)
{
	ENTRY *found, entry = {.key = (char *)text};

	found = hsearch(entry, FIND);
	if (found)
		return found->data;
	entry.key = strdup(text);
	entry.data = new_file(path_of(text, ""));
	if (*text == '<')
		((struct file *)entry.data)->skipped = true;
	if (!entry.key || !hsearch(entry, ENTER))
		die("table", text);
	return entry.data;
}

static uint32_t number_of(const char *text)
{
	unsigned long number = strtoul(text + 1, NULL, 10);

	if (number >= MOST_TEMPORARIES)
		die("number", text);
	return (uint32_t)number;
}

static struct file *file_of(const char *text)
{
	struct file *file = *text == '%' ? temporaries[number_of(text)] : named_file(text);

	if (!file)
		die("no such file", text);
	return file;
}

static void create(const char *text, const char *folder)
{
	char tail[16];
	struct file *file;
	char *path;
	int fd;

	(void)snprintf(tail, sizeof(tail), "/~%x", number_of(text));
	path = path_of(strcmp(folder, "/") ? folder : "", tail);
	fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0644);
	if (fd < 0 || close(fd))
		die("create", path);
	file = new_file(path);
	temporaries[number_of(text)] = file;
}

static void open_file(struct file *file)
{
	if (file->fd < 0)
		file->fd = open(file->path, O_WRONLY | O_APPEND);
	if (file->fd < 0)
		die("open", file->path);
}

static void close_file(struct file *file)
{
	if (file->fd >= 0 && close(file->fd))
		die("close", file->path);
	file->fd = -1;
}

static void append(struct file *file, uint64_t bytes)
{
	bool again = false;

	open_file(file);
	while (bytes) {
		ssize_t done = write(file->fd, piece, bytes < PIECE ? bytes : PIECE);

		/* What was deleted may wait for the commit. */
		if (done < 0 && errno == ENOSPC && !again && !syncfs(file->fd)) {
			again = true;
			continue;
		}
		if (done <= 0)
			die("write", file->path);
		bytes -= (uint64_t)done;
		again = false;
	}
}

static void sync_file(struct file *file)
{
	int fd = file->fd >= 0 ? file->fd : open(file->path, O_RDONLY);

	if (fd < 0 || fsync(fd) || (fd != file->fd && close(fd)))
		die("fsync", file->path);
}

static void forget(const char *text)
{
	struct file *file = temporaries[number_of(text)];

	temporaries[number_of(text)] = NULL;
	free(file->path);
	free(file);
}

static void delete_file(const char *text, struct file *file)
{
	close_file(file);
	if (*text != '%') {
		if (truncate(file->path, 0))
			die("truncate", file->path);
		return;
	}
	if (unlink(file->path))
		die("unlink", file->path);
	forget(text);
}

static void rename_file(const char *text, struct file *file, struct file *other)
{
	close_file(other);
	if (rename(file->path, other->path))
		die("rename", other->path);
	other->fd = file->fd;
	forget(text);
}

/* False: it is about a file that is left out. */
static bool do_line(const char *word, const char *first, const char *second, int top_fd)
{
	struct file *file;

	if (!strcmp(word, "time"))
		return true;
	if (!strcmp(word, "sync")) {
		if (syncfs(top_fd))
			die("syncfs", top);
		return true;
	}
	if (!strcmp(word, "create")) {
		create(first, second);
		return true;
	}
	file = file_of(first);
	if (file->skipped)
		return false;
	if (!strcmp(word, "append"))
		append(file, strtoull(second, NULL, 10) * block_bytes);
	else if (!strcmp(word, "fsync"))
		sync_file(file);
	else if (!strcmp(word, "close"))
		close_file(file);
	else if (!strcmp(word, "truncate") &&
		 truncate(file->path, (off_t)(strtoull(second, NULL, 10) * block_bytes)))
		die("truncate", file->path);
	else if (!strcmp(word, "delete"))
		delete_file(first, file);
	else if (!strcmp(word, "rename"))
		rename_file(first, file, named_file(second));
	return true;
}

static double now(void)
{
	struct timespec time = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	char word[16], first[8192], second[8192], *text = NULL;
	double begin = now();
	size_t room = 0;
	int top_fd;

	if (argc != 2 || !hcreate(1 << 21))
		return 2;
	top = argv[1];
	top_fd = open(top, O_RDONLY | O_DIRECTORY);
	if (top_fd < 0)
		die("open", top);
	memset(piece, 'x', sizeof(piece));
	while (getline(&text, &room, stdin) >= 0) {
		int count = sscanf(text, "%15s %8191s %8191s", word, first, second);

		line++;
		if (count == 2 && !strcmp(word, "block-bytes"))
			block_bytes = strtoull(first, NULL, 10);
		else if (count > 0 && *word != '#' && strcmp(word, "fraglab") != 0 &&
			 !do_line(word, first, second, top_fd))
			continue;
		(void)fputs(text, stdout);
	}
	if (syncfs(top_fd) || fflush(stdout))
		die("sync", top);
	(void)fprintf(stderr, "%.3f seconds\n", now() - begin);
	return 0;
}
