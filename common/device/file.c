/* SPDX-License-Identifier: MIT */
/*
 * A raw image file or a block device as a device: system calls on one descriptor, errors
 * translated. After the open nothing here may look at the path again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include <fraglab/util.h>

#include "common/device/bulk.h"
#include "common/device/device_private.h"

/* A file with less than this missing is taken for fully stored. */
#define SPARSE_MIN_BYTES 65536

struct file {
	struct fl_device device;
	int fd;
	int flush_error;      /* the first one; see file_flush */
	struct fl_bulk *bulk; /* NULL until it is needed */
	dev_t dev;
	ino_t ino;
	bool no_punch, no_zero; /* the host has said that it cannot */
};

static struct file *as_file(struct fl_device *device)
{
	return (struct file *)device; /* device is the first member */
}

int fl_device_host_error(int host_errno)
{
	return host_errno == ENOSPC || host_errno == EDQUOT ? FL_EHOSTFULL : FL_EIO;
}

int fl_device_file_pread(int fd, void *buffer, size_t length, uint64_t position)
{
	uint8_t *at = buffer;

	while (length) {
		ssize_t got = pread(fd, at, length, (off_t)position);

		if (got < 0 && errno == EINTR)
			continue;
		/* 0: somebody cut the file off since it was opened. */
		if (got <= 0)
			return FL_EIO;
		at += got;
		length -= (size_t)got;
		position += (uint64_t)got;
	}
	return 0;
}

static int file_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	return fl_device_file_pread(as_file(device)->fd, buffer, length, position);
}

int fl_device_file_pwrite(int fd, const void *buffer, size_t length, uint64_t position)
{
	const uint8_t *at = buffer;

	while (length) {
		ssize_t put = pwrite(fd, at, length, (off_t)position);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return fl_device_host_error(errno);
		if (!put)
			return FL_EIO;
		at += put;
		length -= (size_t)put;
		position += (uint64_t)put;
	}
	return 0;
}

static int file_write(struct fl_device *device, const void *buffer, size_t length,
		      uint64_t position)
{
	return fl_device_file_pwrite(as_file(device)->fd, buffer, length, position);
}

/* Threads and a second descriptor: only for those who transfer in bulk. */
static int file_many(struct fl_device *device, const struct fl_transfer *items, size_t count,
		     uint64_t base, size_t *failed)
{
	struct file *file = as_file(device);

	if (!file->bulk) {
		int error =
			fl_bulk_new(file->fd, device->size_bytes, device->read_only, &file->bulk);

		if (error)
			return error;
	}
	return fl_bulk_run(file->bulk, items, count, base, failed);
}

/*
 * Linux reports a lost write to one fsync only and then forgets it: a second fsync would
 * succeed without the data. So the first failure stays.
 */
static int file_flush(struct fl_device *device)
{
	struct file *file = as_file(device);

	if (device->read_only || file->flush_error)
		return file->flush_error;
	while (fsync(file->fd)) {
		if (errno == EINTR)
			continue;
		file->flush_error = fl_device_host_error(errno);
		break;
	}
	return file->flush_error;
}

static int file_allocate(struct fl_device *device, int how, bool *cannot, uint64_t length,
			 uint64_t position)
{
	struct file *file = as_file(device);

	if (*cannot)
		return FL_DEVICE_CANNOT;
	while (fallocate(file->fd, how | FALLOC_FL_KEEP_SIZE, (off_t)position, (off_t)length)) {
		if (errno == EINTR)
			continue;
		if (errno != EOPNOTSUPP && errno != ENOSYS)
			return fl_device_host_error(errno);
		*cannot = true;
		return FL_DEVICE_CANNOT;
	}
	return 0;
}

static int file_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	return file_allocate(device, FALLOC_FL_PUNCH_HOLE, &as_file(device)->no_punch, length,
			     position);
}

static int file_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	return file_allocate(device, FALLOC_FL_ZERO_RANGE, &as_file(device)->no_zero, length,
			     position);
}

/*
 * Preallocated space that was never written counts as a hole on most hosts: it has room,
 * but it reads as zeros, which is what callers rely on.
 */
static int file_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			  uint64_t *length)
{
	int fd = as_file(device)->fd;
	uint64_t size_bytes = device->size_bytes;
	off_t data = lseek(fd, (off_t)position, SEEK_DATA), hole;

	if (data < 0 && errno == ENXIO) {
		*start = size_bytes;
		*length = 0;
		return 0;
	}
	if (data < 0 && errno != EINVAL && errno != EOPNOTSUPP)
		return FL_EIO;
	if (data < 0) { /* a host without holes */
		*start = position;
		*length = size_bytes - position;
		return 0;
	}
	hole = lseek(fd, data, SEEK_HOLE);
	if (hole < 0)
		return FL_EIO;
	/* Somebody may have made the file longer; what lies behind size_bytes is not ours. */
	*start = fl_min((uint64_t)data, size_bytes);
	*length = fl_min((uint64_t)hole, size_bytes) - *start;
	return 0;
}

/* Whole pages only are dropped. What the host refuses to drop is then read from its memory. */
static void file_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
			uint64_t position)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = position / page * page;
	uint64_t end = fl_div_up(position + length, page) * page;

	(void)posix_fadvise(as_file(device)->fd, (off_t)start, (off_t)(end - start),
			    advice == FL_ADVICE_FORGET ? POSIX_FADV_DONTNEED : POSIX_FADV_WILLNEED);
}

/* Closing releases the locks. Durability was flush's job, so a failing close says nothing new. */
static void file_close(struct fl_device *device)
{
	struct file *file = as_file(device);

	fl_bulk_free(file->bulk);
	(void)close(file->fd);
	free(file);
}

static const struct fl_device_ops file_ops = {
	.read = file_read,
	.write = file_write,
	.many = file_many,
	.flush = file_flush,
	.punch = file_punch,
	.zero = file_zero,
	.data_next = file_data_next,
	.advise = file_advise,
	.close = file_close,
};

/*
 * No punch and no zero: what a disk does with a discard differs from disk to disk, and zeros
 * would have to be written. Vacated blocks are left alone.
 */
static const struct fl_device_ops block_ops = {
	.read = file_read,
	.write = file_write,
	.many = file_many,
	.flush = file_flush,
	.advise = file_advise,
	.close = file_close,
};

int fl_device_file_fd(const struct fl_device *device)
{
	bool ours = device->ops == &file_ops || device->ops == &block_ops;

	return ours ? ((const struct file *)device)->fd : -1;
}

bool fl_device_file_same(const struct fl_device *device, const struct stat *st)
{
	const struct file *file = (const struct file *)device;

	return fl_device_file_fd(device) >= 0 && file->dev == st->st_dev && file->ino == st->st_ino;
}

static int check_kind(const struct stat *st, enum fl_device_mode mode, struct fl_diag *diag)
{
	if (S_ISDIR(st->st_mode))
		return fl_fail(diag, FL_EINVAL, "open: is a directory; name an image file");
	/* The device itself tells whether it can be written to. */
	if (S_ISBLK(st->st_mode))
		return 0;
	if (!S_ISREG(st->st_mode))
		return fl_fail(diag, FL_EINVAL, "open: is not a regular file; name an image file");
	/* Root could write to it all the same, but somebody meant it to stay as it is. */
	if (mode == FL_DEVICE_WRITE && !(st->st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
		return fl_fail(diag, FL_EIO,
			       "open: is write-protected (mode %04o); make it writable (chmod u+w) "
			       "first",
			       (unsigned)(st->st_mode & 07777));
	return 0;
}

/*
 * Sparse: at least 64 KiB of the file have no blocks, and a hole shows where they are missing.
 * The first alone would also be true of a compressed file, the second alone of a fully
 * preallocated one.
 */
static bool is_sparse(int fd, const struct stat *st)
{
	off_t hole;

	if (st->st_size < SPARSE_MIN_BYTES ||
	    st->st_blocks > (st->st_size - SPARSE_MIN_BYTES) / 512)
		return false;
	hole = lseek(fd, 0, SEEK_HOLE);
	return hole >= 0 && hole < st->st_size;
}

static int open_checked(const char *path, enum fl_device_mode mode, struct stat *st, int *fd_out,
			struct fl_diag *diag)
{
	/* O_NONBLOCK: no waiting at a FIFO that took the place of the file. */
	int flags =
		(mode == FL_DEVICE_WRITE ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	bool block = false;
	int fd, rc;

	/* Only so that other devices and directories are not even opened; fstat decides. */
	if (!stat(path, st)) {
		rc = check_kind(st, mode, diag);
		if (rc)
			return rc;
		block = S_ISBLK(st->st_mode);
	}
	/* For a block device: nothing else has it mounted or otherwise claimed, nor may. */
	fd = open(path, block ? flags | O_EXCL : flags);
	if (fd < 0 && block && errno == EBUSY)
		return fl_device_claimed(st, diag);
	if (fd < 0)
		return fl_fail(diag, FL_EIO, "open: %s", strerror(errno));
	if (fstat(fd, st)) {
		rc = fl_fail(diag, FL_EIO, "open: %s", strerror(errno));
		goto fail;
	}
	rc = check_kind(st, mode, diag);
	if (!rc && block != S_ISBLK(st->st_mode))
		rc = fl_fail(diag, FL_EBUSY, "open: replaced at this moment; try again");
	if (rc)
		goto fail;
	rc = fl_device_lock(fd, st, mode, diag);
	if (rc)
		goto fail;
	/* Size and blocks may have changed until the lock was ours. */
	if (fstat(fd, st)) {
		rc = fl_fail(diag, FL_EIO, "open: %s", strerror(errno));
		goto fail;
	}
	rc = fl_device_check_unused(st, diag);
	if (rc)
		goto fail;
	*fd_out = fd;
	return 0;
fail:
	(void)close(fd);
	return rc;
}

/* A file's size is in its inode, a block device's is not; nor is whether it can be written to. */
static int size_of(int fd, const struct stat *st, enum fl_device_mode mode, uint64_t *size_bytes,
		   struct fl_diag *diag)
{
	int read_only = 0;

	if (!S_ISBLK(st->st_mode)) {
		*size_bytes = (uint64_t)st->st_size;
		return 0;
	}
	if (ioctl(fd, BLKGETSIZE64, size_bytes))
		return fl_fail(diag, FL_EIO, "open: cannot find its size: %s", strerror(errno));
	if (mode == FL_DEVICE_WRITE && !ioctl(fd, BLKROGET, &read_only) && read_only)
		return fl_fail(diag, FL_EIO, "open: the block device is write-protected");
	return 0;
}

int fl_device_file_open(const char *path, enum fl_device_mode mode, struct fl_device **device,
			struct fl_diag *diag)
{
	uint64_t size_bytes = 0;
	struct file *file;
	struct stat st;
	int fd = -1, rc;

	if (mode != FL_DEVICE_READ && mode != FL_DEVICE_WRITE)
		return fl_fail(diag, FL_EINVAL, "open: unknown mode");
	rc = open_checked(path, mode, &st, &fd, diag);
	if (rc)
		return rc;
	rc = size_of(fd, &st, mode, &size_bytes, diag);
	if (rc) {
		(void)close(fd);
		return rc;
	}
	file = calloc(1, sizeof(*file));
	if (!file) {
		(void)close(fd);
		return fl_fail(diag, FL_ENOMEM, "open: memory ran out");
	}
	file->fd = fd;
	file->dev = st.st_dev;
	file->ino = st.st_ino;
	file->device.ops = S_ISBLK(st.st_mode) ? &block_ops : &file_ops;
	file->device.size_bytes = size_bytes;
	file->device.read_only = mode == FL_DEVICE_READ;
	file->device.sparse = !S_ISBLK(st.st_mode) && is_sparse(fd, &st);
	*device = &file->device;
	return 0;
}
