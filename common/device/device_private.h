/* SPDX-License-Identifier: MIT */
/*
 * What the implementations in this folder share and nobody else should see.
 * Declarations only.
 */
#ifndef FRAGLAB_DEVICE_PRIVATE_H
#define FRAGLAB_DEVICE_PRIVATE_H

#include <sys/stat.h>

#include <fraglab/device.h>

/* Copies skip all-zero blocks of this size; the page size of nearly every host. */
#define FL_DEVICE_BLOCK_BYTES 4096u

/*
 * One op each, checked for range and read_only; FL_DEVICE_CANNOT when the device has no such
 * op or its host refuses. For wrappers, which must pass that answer on.
 */
int fl_device_punch(struct fl_device *device, uint64_t length, uint64_t position) FL_CHECKED;
int fl_device_zero(struct fl_device *device, uint64_t length, uint64_t position) FL_CHECKED;

/* fl_device_transfer with positions counted from base. */
int fl_device_many(struct fl_device *device, const struct fl_transfer *items, size_t count,
		   uint64_t base, size_t *failed) FL_CHECKED;

/* True when device is a raw file (not a wrapper of one) and that file is the one in st. */
bool fl_device_file_same(const struct fl_device *device, const struct stat *st);

/* The descriptor of a raw file or block device (not a wrapper of one), borrowed; else -1. */
int fl_device_file_fd(const struct fl_device *device);

/* pread until all is read: 0 or FL_EIO, also when the file ends before. */
int fl_device_file_pread(int fd, void *buffer, size_t length, uint64_t position) FL_CHECKED;
/* pwrite until all is written: 0, FL_EHOSTFULL or FL_EIO; errno tells more. */
int fl_device_file_pwrite(int fd, const void *buffer, size_t length, uint64_t position) FL_CHECKED;

/* FL_EHOSTFULL for an errno that means no room (or quota), else FL_EIO. */
int fl_device_host_error(int host_errno);

/*
 * Takes both kinds of lock on an open file, shared for reading and exclusive for writing;
 * they last until the open file is closed. FL_EBUSY when somebody else holds one, FL_EIO
 * when the host cannot lock. path is not used: the open file is what counts.
 */
int fl_device_lock(int fd, const struct stat *st, enum fl_device_mode mode,
		   struct fl_diag *diag) FL_CHECKED;

/*
 * FL_EBUSY when the file or block device in st is attached to a loop device or is itself the
 * source of a mount (for a file: fuse2fs), or when st is a loop device whose bytes another one
 * has too, or whose file is locked. Needs /sys and /proc; where they are missing nothing is found.
 */
int fl_device_check_unused(const struct stat *st, struct fl_diag *diag) FL_CHECKED;

/* FL_EBUSY with what is known about who has claimed the block device in st. */
int fl_device_claimed(const struct stat *st, struct fl_diag *diag) FL_CHECKED;

/* An overlay over below, or over zeros when below is NULL. */
int fl_device_overlay_new(struct fl_device *below, uint64_t size_bytes,
			  struct fl_device **device) FL_CHECKED;

#endif
