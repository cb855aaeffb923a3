/* SPDX-License-Identifier: MIT */
/*
 * Small filesystem images for unit tests: made with mke2fs and debugfs in a directory that is
 * removed again. Static functions, so that a test stays one object file.
 */
#ifndef FRAGLAB_TEST_IMAGE_H
#define FRAGLAB_TEST_IMAGE_H

#include <fraglab/scan.h>

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct bench {
	char dir[64];  /* temporary directory */
	char path[96]; /* the image, dir/image */
	struct fl_diag diag;
	struct fl_device *device;
	struct fl_fs *fs;
	struct fl_map *map;
};

/* Runs a shell command, its output hidden, with $D the directory and $I the image. */
static inline int bench_try(struct bench *b, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline int bench_try(struct bench *b, const char *format, ...)
{
	char command[8192], line[9000];
	va_list args;

	va_start(args, format);
	assert_true((size_t)vsnprintf(command, sizeof(command), format, args) < sizeof(command));
	va_end(args);
	snprintf(line, sizeof(line), "{ D=%s; I=%s; set -e; %s\n} >%s/log 2>&1 </dev/null", b->dir,
		 b->path, command, b->dir);
	return WEXITSTATUS(system(line));
}

static inline void bench_complain(struct bench *b, int status)
{
	char show[128];

	if (!status)
		return;
	snprintf(show, sizeof(show), "cat %s/log >&2", b->dir);
	(void)!system(show);
	fail_msg("a command ended with status %d", status);
}

/* As bench_try, but the command must succeed. */
#define bench_run(b, ...) bench_complain((b), bench_try((b), __VA_ARGS__))

static inline int bench_setup(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	/* mke2fs and debugfs live in sbin. */
	setenv("PATH", "/usr/sbin:/sbin:/usr/bin:/bin", 1);
	setenv("E2FSPROGS_FAKE_TIME", "1700000000", 1);
	setenv("LC_ALL", "C", 1);
	strcpy(b->dir, "/tmp/fraglab-test-XXXXXX");
	assert_non_null(mkdtemp(b->dir));
	snprintf(b->path, sizeof(b->path), "%s/image", b->dir);
	*state = b;
	return 0;
}

/* Closes what is open, so that the next open sees the image anew. */
static inline void bench_close(struct bench *b)
{
	fl_map_free(b->map);
	fl_fs_close(b->fs);
	fl_device_close(b->device);
	b->map = NULL;
	b->fs = NULL;
	b->device = NULL;
}

static inline int bench_teardown(void **state)
{
	struct bench *b = *state;
	char command[128];

	bench_close(b);
	snprintf(command, sizeof(command), "rm -rf %s", b->dir);
	assert_int_equal(system(command), 0);
	free(b);
	return 0;
}

/* A new empty image; a source directory $D/src is copied in when it is there. */
static inline void bench_make(struct bench *b, const char *size, const char *arguments)
{
	bench_run(b,
		  "rm -f $I; truncate -s %s $I; test -d $D/src && set -- -d $D/src || set --; "
		  "mke2fs -q -F %s \"$@\" $I",
		  size, arguments);
}

/* debugfs commands, one a line. Its own failures go unnoticed, as its status says nothing. */
static inline void bench_debugfs(struct bench *b, const char *commands)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/commands", b->dir);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(commands, file) >= 0);
	assert_int_equal(fclose(file), 0);
	bench_run(b, "cd $D; debugfs -w -f $D/commands $I");
}

/* FNV-1a over the whole image. */
static inline uint64_t bench_digest(struct bench *b)
{
	static unsigned char buffer[1 << 20];
	uint64_t digest = UINT64_C(0xcbf29ce484222325);
	int fd = open(b->path, O_RDONLY);
	ssize_t got;

	assert_true(fd >= 0);
	for (off_t at = 0; (at = lseek(fd, at, SEEK_DATA)) >= 0; at += got) {
		got = pread(fd, buffer, sizeof(buffer), at);
		if (got <= 0)
			break;
		/* Zeros are skipped, so that holes and zeros are the same; the place counts. */
		for (ssize_t i = 0; i < got; i++)
			if (buffer[i])
				digest = (digest ^ buffer[i] ^ (uint64_t)(at + i) << 8) *
					 UINT64_C(0x100000001b3);
	}
	close(fd);
	return digest;
}

static inline void bench_poke(struct bench *b, const void *bytes, size_t length, uint64_t position)
{
	int fd = open(b->path, O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, length, (off_t)position), length);
	close(fd);
}

static inline void bench_peek(struct bench *b, void *bytes, size_t length, uint64_t position)
{
	int fd = open(b->path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, bytes, length, (off_t)position), length);
	close(fd);
}

static inline int bench_open(struct bench *b, enum fl_fs_mode mode)
{
	int error;

	bench_close(b);
	b->diag.text[0] = '\0';
	error = fl_device_file_open(b->path, mode == FL_FS_READ ? FL_DEVICE_READ : FL_DEVICE_WRITE,
				    &b->device, &b->diag);
	if (error)
		fail_msg("device: %s", b->diag.text);
	return fl_fs_open(b->device, mode, &b->fs, &b->diag);
}

/* Opens and scans. */
static inline int bench_scan(struct bench *b)
{
	int error = bench_open(b, FL_FS_READ);

	return error ? error : fl_scan(b->fs, NULL, NULL, &b->map, &b->diag);
}

static inline void bench_scan_ok(struct bench *b)
{
	int error = bench_scan(b);

	if (error)
		fail_msg("%s: %s", fl_error_text(error), b->diag.text);
}

/* The file with this path in the map. */
static inline const struct fl_file *bench_file(struct bench *b, const char *path)
{
	char buffer[4096];

	for (size_t i = 0; i < b->map->files.count; i++) {
		const struct fl_file *file = &b->map->files.at[i];

		if (file->name != FL_NO_NAME &&
		    !strcmp(fl_map_path(b->map, file->name, false, buffer, sizeof(buffer)), path))
			return file;
	}
	fail_msg("no file %s in the map", path);
	return NULL;
}

/* e2fsck -fn has nothing to say. */
static inline void bench_fsck(struct bench *b)
{
	bench_run(b, "e2fsck -fn $I");
}

#endif
