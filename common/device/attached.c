/* SPDX-License-Identifier: MIT */
/*
 * Finds out whether an image file is attached to a loop device or mounted, in
 * whatever mount namespace. Reads /sys, /proc and loop devices; changes nothing.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/loop.h>

#include "common/device/device_private.h"

#define PATH_BYTES 4096

/* The form in which the kernel hands device numbers to user space (its new_encode_dev). */
static uint64_t kernel_dev(dev_t dev)
{
	uint64_t dev_major = major(dev), dev_minor = minor(dev);

	return (dev_minor & 0xff) | dev_major << 8 | (dev_minor & ~UINT64_C(0xff)) << 12;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	/* Any number of nodes may stand for one block device. */
	if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
		return a->st_rdev == b->st_rdev;
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * The path that sysfs gives for the loop device's file. Not proof by itself: it is one of the
 * namespace in which losetup ran.
 */
static bool backing_path(const char *loop, char path[PATH_BYTES])
{
	FILE *file;
	bool found;

	(void)snprintf(path, PATH_BYTES, "/sys/block/%.32s/loop/backing_file", loop);
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fgets(path, PATH_BYTES, file) != NULL;
	path[strcspn(path, "\n")] = '\0';
	(void)fclose(file);
	return found;
}

static bool backing_path_is(const char *loop, const struct stat *st)
{
	char path[PATH_BYTES];
	struct stat backing;

	return backing_path(loop, path) && !stat(path, &backing) && same_file(&backing, st);
}

/* 0, or an errno; ENXIO: nothing is attached. */
static int loop_status(const char *loop, struct loop_info64 *info)
{
	char path[64];
	int fd, host_errno;

	(void)snprintf(path, sizeof(path), "/dev/%.32s", loop);
	memset(info, 0, sizeof(*info)); /* valgrind does not know that the kernel fills it */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENXIO ? ENOENT : errno;
	host_errno = ioctl(fd, LOOP_GET_STATUS64, info) ? errno : 0;
	(void)close(fd);
	return host_errno;
}

static bool loop_holds(const char *loop, const struct stat *st)
{
	struct loop_info64 info;
	int host_errno = loop_status(loop, &info);

	if (host_errno) /* ENXIO: detached meanwhile */
		return host_errno != ENXIO && backing_path_is(loop, st);
	if (S_ISBLK(st->st_mode))
		return info.lo_rdevice && info.lo_rdevice == kernel_dev(st->st_rdev);
	if (info.lo_inode != st->st_ino)
		return false;
	/* btrfs shows each subvolume as a device of its own, which the loop driver may not. */
	return info.lo_device == kernel_dev(st->st_dev) || backing_path_is(loop, st);
}

/* "loop" and a number */
static bool is_loop_name(const char *name)
{
	return !strncmp(name, "loop", 4) && isdigit((unsigned char)name[4]) && strlen(name) < 32;
}

/* The first loop device in use for which matches says yes. */
static bool find_loop(bool (*matches)(const char *loop, const void *what), const void *what,
		      char loop[32])
{
	DIR *blocks = opendir("/sys/block");
	struct dirent *entry;
	bool found = false;

	if (!blocks)
		return false;
	while (!found && (entry = readdir(blocks))) {
		char path[64];

		if (!is_loop_name(entry->d_name))
			continue;
		/* This directory is there while something is attached. */
		(void)snprintf(path, sizeof(path), "/sys/block/%.32s/loop", entry->d_name);
		if (access(path, F_OK) || !matches(entry->d_name, what))
			continue;
		(void)snprintf(loop, 32, "%.31s", entry->d_name);
		found = true;
	}
	(void)closedir(blocks);
	return found;
}

static bool holds_file(const char *loop, const void *st)
{
	return loop_holds(loop, st);
}

/* Where the bytes of a loop device end in its file; 0 says: at the end of the file. */
static uint64_t loop_end(const struct loop_info64 *info)
{
	uint64_t end;

	if (!info->lo_sizelimit ||
	    __builtin_add_overflow(info->lo_offset, info->lo_sizelimit, &end))
		return UINT64_MAX;
	return end;
}

/* The loop device shows bytes that the one whose status is given shows too. */
static bool shares_bytes(const char *loop, const void *status)
{
	const struct loop_info64 *own = status;
	struct loop_info64 other;

	if (loop_status(loop, &other) || other.lo_number == own->lo_number)
		return false;
	return other.lo_device == own->lo_device && other.lo_inode == own->lo_inode &&
	       other.lo_offset < loop_end(own) && own->lo_offset < loop_end(&other);
}

/* The name of the loop device that the block device in st is, or is a partition of. */
static bool is_loop(const struct stat *st, char loop[32])
{
	char path[64], target[PATH_BYTES];
	const char *name;
	ssize_t length;

	(void)snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(st->st_rdev),
		       minor(st->st_rdev));
	length = readlink(path, target, sizeof(target) - 1);
	if (length <= 0)
		return false;
	target[length] = '\0';
	/* ".../block/loop0", or ".../block/loop0/loop0p1" */
	name = strstr(target, "/block/loop");
	if (!name)
		return false;
	name += strlen("/block/");
	(void)snprintf(loop, 32, "%.*s", (int)strcspn(name, "/"), name);
	return is_loop_name(loop);
}

/* source is /dev/LOOP, or a partition of it: /dev/LOOPpN. */
static bool is_on_loop(const char *source, const char *loop)
{
	size_t length = strlen(loop);

	if (strncmp(source, "/dev/", 5) || strncmp(source + 5, loop, length))
		return false;
	source += 5 + length;
	return !*source || (*source == 'p' && isdigit((unsigned char)source[1]));
}

/*
 * Where the loop device (or, with loop NULL, the file itself, as fuse2fs does it) is mounted in
 * our own mount namespace.
 */
static bool find_mount(const struct stat *st, const char *loop, char where[256])
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char buffer[3 * PATH_BYTES];
	struct mntent entry;
	bool found = false;

	if (!mounts)
		return false;
	while (!found && getmntent_r(mounts, &entry, buffer, sizeof(buffer))) {
		struct stat source;

		if (loop)
			found = is_on_loop(entry.mnt_fsname, loop);
		else
			found = entry.mnt_fsname[0] == '/' && !stat(entry.mnt_fsname, &source) &&
				same_file(&source, st);
		/* Bind mounts of a file show other sources, so a match is a filesystem's own. */
		if (found)
			(void)snprintf(where, 256, "%.255s", entry.mnt_dir);
	}
	(void)endmntent(mounts);
	return found;
}

/* Whoever has the file of a loop device locked was there before it was attached. */
static int check_backing(const char *loop, const struct loop_info64 *status, struct fl_diag *diag)
{
	char path[PATH_BYTES];
	struct stat backing;
	int fd, rc = 0;

	if (!backing_path(loop, path))
		return 0;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) /* another namespace's path, or read-only and so of no danger */
		return 0;
	/* The lock is given back at once: what is attached is refused to all that ask for it. */
	if (!fstat(fd, &backing) && S_ISREG(backing.st_mode) &&
	    backing.st_ino == status->lo_inode &&
	    fl_device_lock(fd, &backing, FL_DEVICE_WRITE, diag) == FL_EBUSY)
		rc = FL_EBUSY;
	(void)close(fd);
	return rc;
}

/* A loop device whose bytes nobody else has is as good as a disk. */
static int check_loop_alone(const struct stat *st, struct fl_diag *diag)
{
	struct loop_info64 status;
	char own[32], other[32];

	if (!is_loop(st, own) || loop_status(own, &status))
		return 0;
	if (!find_loop(shares_bytes, &status, other))
		return check_backing(own, &status, diag);
	return fl_fail(diag, FL_EBUSY,
		       "in use: its file is attached to /dev/%s too; detach that (losetup -d "
		       "/dev/%s) first",
		       other, other);
}

int fl_device_claimed(const struct stat *st, struct fl_diag *diag)
{
	char where[256];

	if (find_mount(st, NULL, where))
		return fl_fail(diag, FL_EBUSY, "in use: mounted on %s; unmount it first", where);
	return fl_fail(diag, FL_EBUSY,
		       "in use: it, or a partition of it, is mounted, used as swap or held by "
		       "another program; release it first (lsblk shows by what)");
}

int fl_device_check_unused(const struct stat *st, struct fl_diag *diag)
{
	char loop[32], where[256];

	if (find_loop(holds_file, st, loop)) {
		if (find_mount(st, loop, where))
			return fl_fail(diag, FL_EBUSY,
				       "in use: attached to /dev/%s, mounted on %s; unmount it and "
				       "detach it (losetup -d /dev/%s) first",
				       loop, where, loop);
		return fl_fail(diag, FL_EBUSY,
			       "in use: attached to /dev/%s, not mounted here; unmount it wherever "
			       "it is mounted and detach it (losetup -d /dev/%s) first",
			       loop, loop);
	}
	if (find_mount(st, NULL, where))
		return fl_fail(diag, FL_EBUSY, "in use: mounted on %s; unmount it first", where);
	return S_ISBLK(st->st_mode) ? check_loop_alone(st, diag) : 0;
}
