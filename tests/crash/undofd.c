/* SPDX-License-Identifier: MIT */
/*
 * Stands before the C library's functions. Must do what they do.
 */
#include "tests/crash/undofd.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	struct fl_device *device;
	undofd_seen *seen;
	void *context;
} watch;

ssize_t pwrite64(int fd, const void *buffer, size_t length, off64_t position);

void undofd_watch(struct fl_device *device, undofd_seen *seen, void *context)
{
	watch.device = device;
	watch.seen = seen;
	watch.context = context;
}

/* What the device says, after the file has done it. */
static int tell(int fd, int error)
{
	struct stat st;

	if (error || fstat(fd, &st)) {
		errno = EIO;
		return -1;
	}
	watch.seen(watch.context, (uint64_t)st.st_size);
	return 0;
}

ssize_t pwrite64(int fd, const void *buffer, size_t length, off64_t position)
{
	ssize_t put = syscall(SYS_pwrite64, fd, buffer, length, position);

	if (!watch.device || put <= 0)
		return put;
	return tell(fd, fl_device_write(watch.device, buffer, (size_t)put, (uint64_t)position))
		       ? -1
		       : put;
}

int fsync(int fd)
{
	struct stat st;

	if (!watch.device || fstat(fd, &st) || S_ISDIR(st.st_mode))
		return (int)syscall(SYS_fsync, fd);
	return tell(fd, fl_device_flush(watch.device));
}
