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
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/*
 * The path that sysfs gives for the loop device's file names our file. Not proof by itself: the
 * path is one of the namespace in which losetup ran.
 */
static bool backing_path_is(const char *loop, const struct stat *st)
{
	char path[PATH_BYTES];
	struct stat backing;
	FILE *file;
	bool same = false;

	(void)snprintf(path, sizeof(path), "/sys/block/%.32s/loop/backing_file", loop);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fgets(path, sizeof(path), file)) {
		path[strcspn(path, "\n")] = '\0';
		same = !stat(path, &backing) && same_file(&backing, st);
	}
	(void)fclose(file);
	return same;
}

static bool loop_holds(const char *loop, const struct stat *st)
{
	struct loop_info64 info;
	char path[64];
	int fd, host_errno;

	(void)snprintf(path, sizeof(path), "/dev/%.32s", loop);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return backing_path_is(loop, st);
	host_errno = ioctl(fd, LOOP_GET_STATUS64, &info) ? errno : 0;
	(void)close(fd);
	if (host_errno) /* ENXIO: detached meanwhile */
		return host_errno != ENXIO && backing_path_is(loop, st);
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

static bool find_loop(const struct stat *st, char loop[32])
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
		if (access(path, F_OK) || !loop_holds(entry->d_name, st))
			continue;
		(void)snprintf(loop, 32, "%.31s", entry->d_name);
		found = true;
	}
	(void)closedir(blocks);
	return found;
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

int fl_device_check_unused(const struct stat *st, struct fl_diag *diag)
{
	char loop[32], where[256];

	if (find_loop(st, loop)) {
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
	return 0;
}
