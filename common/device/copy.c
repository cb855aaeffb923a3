/* SPDX-License-Identifier: MIT */
/*
 * A sparse, durable copy of a device in a new file, which appears whole or not at all.
 * Must never leave its temporary file behind, nor touch what path held before that.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fraglab/util.h>

#include "common/device/device_private.h"

#define BUFFER_BYTES (1u << 20)

static bool all_zero(const uint8_t *bytes, size_t length)
{
	return !bytes[0] && !memcmp(bytes, bytes + 1, length - 1);
}

/* The end of the host block that position lies in, or end if that is nearer. */
static uint64_t block_end(uint64_t position, uint64_t end)
{
	uint64_t left_bytes = FL_DEVICE_BLOCK_BYTES - position % FL_DEVICE_BLOCK_BYTES;

	return fl_min(left_bytes, end - position) + position;
}

/* Writes what is not zero in buffer, whole host blocks at a time: position .. end of the copy. */
static int write_data(int fd, const uint8_t *buffer, uint64_t position, uint64_t end)
{
	uint64_t base = position;

	while (position < end) {
		uint64_t start, stop = block_end(position, end);
		int rc;

		if (all_zero(buffer + (position - base), (size_t)(stop - position))) {
			position = stop;
			continue;
		}
		start = position;
		do {
			position = stop;
			stop = block_end(position, end);
		} while (position < end &&
			 !all_zero(buffer + (position - base), (size_t)(stop - position)));
		rc = fl_device_file_pwrite(fd, buffer + (start - base), (size_t)(position - start),
					   start);
		if (rc)
			return rc;
	}
	return 0;
}

/* One run of data. */
static int copy_run(struct fl_device *from, int fd, const char *path, uint8_t *buffer,
		    uint64_t position, uint64_t end, struct fl_diag *diag)
{
	while (position < end) {
		/* Up to the next multiple of the buffer, so that host blocks stay whole. */
		size_t chunk =
			(size_t)fl_min(end - position, BUFFER_BYTES - position % BUFFER_BYTES);
		int rc = fl_device_read(from, buffer, chunk, position);

		if (rc)
			return fl_fail(diag, rc, "copy: cannot read the image at byte %" PRIu64,
				       position);
		rc = write_data(fd, buffer, position, position + chunk);
		if (rc)
			return fl_fail(diag, rc, "copy: cannot write %s: %s", path,
				       strerror(errno));
		position += chunk;
	}
	return 0;
}

static int copy_data(struct fl_device *from, int fd, const char *path, struct fl_diag *diag)
{
	uint8_t *buffer = malloc(BUFFER_BYTES);
	uint64_t position = 0;
	int rc;

	if (!buffer)
		return fl_fail(diag, FL_ENOMEM, "copy: memory ran out");
	do {
		uint64_t start, length;

		rc = fl_device_data_next(from, position, &start, &length);
		if (rc) {
			rc = fl_fail(diag, rc, "copy: cannot find the data in the image");
			break;
		}
		if (!length)
			break;
		position = start + length;
		rc = copy_run(from, fd, path, buffer, start, position, diag);
	} while (!rc);
	free(buffer);
	return rc;
}

static int check_target(const struct fl_device *from, const char *path, bool replace,
			struct fl_diag *diag)
{
	size_t length = strlen(path);
	struct stat st;

	if (!length || path[length - 1] == '/')
		return fl_fail(diag, FL_EINVAL, "copy: '%s' does not name a file", path);
	if (from->size_bytes > INT64_MAX)
		return fl_fail(diag, FL_EINVAL, "copy: the image is too large for a file");
	if (lstat(path, &st))
		return 0; /* if it is anything but absent, creating the temporary file tells */
	if (!replace)
		return fl_fail(diag, FL_EINVAL, "copy: %s exists; name another file or remove it",
			       path);
	/* A rename would put the copy in the place of a device node or a link. */
	if (!S_ISREG(st.st_mode))
		return fl_fail(diag, FL_EINVAL, "copy: %s is not a regular file; name another",
			       path);
	if (fl_device_file_same(from, &st))
		return fl_fail(diag, FL_EINVAL, "copy: %s is the image itself; name another file",
			       path);
	return 0;
}

/* 0, or -1 with errno (EEXIST: it has come into being since check_target). */
static int move_into_place(const char *temporary, const char *path, bool replace)
{
	struct stat st;

	if (replace)
		return rename(temporary, path);
	if (!renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A host that cannot do both in one step. */
	if (!lstat(path, &st)) {
		errno = EEXIST;
		return -1;
	}
	return rename(temporary, path);
}

/* Everything up to the durable temporary file. */
static int fill(struct fl_device *from, int fd, const char *path, struct fl_diag *diag)
{
	int rc;

	if (ftruncate(fd, (off_t)from->size_bytes))
		return fl_fail(diag, fl_device_host_error(errno), "copy: cannot size %s: %s", path,
			       strerror(errno));
	rc = copy_data(from, fd, path, diag);
	if (rc)
		return rc;
	if (fsync(fd))
		return fl_fail(diag, fl_device_host_error(errno), "copy: cannot write %s: %s", path,
			       strerror(errno));
	return 0;
}

int fl_device_file_copy(struct fl_device *from, const char *path, bool replace,
			struct fl_diag *diag)
{
	const char *slash = strrchr(path, '/');
	int folder_chars = slash ? (int)(slash - path) + 1 : 0;
	char *folder = NULL, *temporary = NULL;
	bool made = false;
	int folder_fd = -1, fd = -1;
	int rc = check_target(from, path, replace, diag);

	if (rc)
		return rc;
	folder = folder_chars ? strndup(path, (size_t)folder_chars) : strdup(".");
	if (!folder || asprintf(&temporary, "%.*s.fraglab-XXXXXX", folder_chars, path) < 0) {
		temporary = NULL;
		rc = fl_fail(diag, FL_ENOMEM, "copy: memory ran out");
		goto out;
	}
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder_fd >= 0)
		fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		rc = fl_fail(diag, fl_device_host_error(errno), "copy: cannot create %s: %s", path,
			     strerror(errno));
		goto out;
	}
	made = true;
	rc = fill(from, fd, path, diag);
	if (rc)
		goto out;
	if (move_into_place(temporary, path, replace)) {
		rc = fl_fail(diag, errno == EEXIST ? FL_EINVAL : fl_device_host_error(errno),
			     "copy: cannot rename to %s: %s", path, strerror(errno));
		goto out;
	}
	made = false;
	/* EINVAL: a host on which directories cannot be flushed, so they need not be. */
	if (fsync(folder_fd) && errno != EINVAL)
		rc = fl_fail(diag, FL_EIO,
			     "copy: %s is complete, but may be gone after a power cut: %s", path,
			     strerror(errno));
out:
	if (made)
		(void)unlink(temporary);
	if (fd >= 0)
		(void)close(fd);
	if (folder_fd >= 0)
		(void)close(folder_fd);
	free(temporary);
	free(folder);
	return rc;
}
