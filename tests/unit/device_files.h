/* SPDX-License-Identifier: MIT */
/*
 * For the tests of raw files: a temporary directory for each, files in it, and
 * what they all assert.
 */
#ifndef FRAGLAB_TEST_DEVICE_FILES_H
#define FRAGLAB_TEST_DEVICE_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <fraglab/device.h>
#include <fraglab/util.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static struct fl_diag diag;

/* Every test runs in a fresh directory, as its working directory. */
static inline int enter(void **state)
{
	char folder[] = "/tmp/fraglab-test-XXXXXX";

	diag.text[0] = '\0';
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	*state = strdup(folder);
	return *state ? 0 : -1;
}

static inline int leave(void **state)
{
	char command[512];
	int rc;

	/* A test that failed may have left a mount or a loop device. */
	(void)snprintf(command, sizeof(command),
		       "for f in *; do if [ -d \"$f\" ]; then umount -l \"$f\"; else "
		       "losetup -n -O NAME -j \"$f\" | xargs -r losetup -d; fi; done 2>/dev/null; "
		       "cd / && rm -rf %s",
		       (const char *)*state);
	rc = system(command);
	if (chdir("/"))
		rc = -1;
	free(*state);
	return rc;
}

static inline void make_file(const char *path, uint64_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(close(fd), 0);
}

static inline void poke(const char *path, uint64_t length, uint64_t position, uint8_t value)
{
	uint8_t *bytes = malloc((size_t)length);
	int fd = open(path, O_RDWR);

	assert_true(bytes && fd >= 0);
	memset(bytes, value, (size_t)length);
	assert_int_equal(pwrite(fd, bytes, (size_t)length, (off_t)position), length);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(close(fd), 0);
	free(bytes);
}

static inline struct fl_device *open_image(const char *path, enum fl_device_mode mode)
{
	struct fl_device *device = NULL;
	int rc = fl_device_file_open(path, mode, &device, &diag);

	if (rc)
		fail_msg("%s: %d, %s", path, rc, diag.text);
	assert_non_null(device);
	return device;
}

static inline void assert_refused(const char *path, enum fl_device_mode mode, int error,
				  const char *text)
{
	struct fl_device *device = NULL;

	assert_int_equal(fl_device_file_open(path, mode, &device, NULL), error);
	assert_int_equal(fl_device_file_open(path, mode, &device, &diag), error);
	assert_null(device);
	if (!strstr(diag.text, text))
		fail_msg("'%s' does not say '%s'", diag.text, text);
}

static inline void assert_device(struct fl_device *device, uint64_t length, uint64_t position,
				 uint8_t value)
{
	uint8_t *bytes = malloc((size_t)length);
	uint64_t i;

	assert_non_null(bytes);
	assert_int_equal(fl_device_read(device, bytes, (size_t)length, position), 0);
	for (i = 0; i < length; i++)
		if (bytes[i] != value)
			fail_msg("byte %llu is 0x%02x, not 0x%02x",
				 (unsigned long long)(position + i), bytes[i], value);
	free(bytes);
}

static inline void assert_run(struct fl_device *device, uint64_t position, uint64_t start,
			      uint64_t length)
{
	uint64_t got_start = 1, got_length = 1;

	assert_int_equal(fl_device_data_next(device, position, &got_start, &got_length), 0);
	assert_int_equal(got_start, start);
	assert_int_equal(got_length, length);
}

static inline uint64_t allocated(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

/* The first line that a shell command prints; false when it fails. */
static inline bool shell(char line[128], const char *format, ...)
{
	char command[512];
	va_list arguments;
	FILE *pipe;

	va_start(arguments, format);
	(void)vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	line[0] = '\0';
	pipe = popen(command, "r");
	if (!pipe)
		return false;
	if (fgets(line, 128, pipe))
		line[strcspn(line, "\n")] = '\0';
	return pclose(pipe) == 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

#endif
