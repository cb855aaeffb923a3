/* SPDX-License-Identifier: MIT */
/*
 * Locks that keep two programs off one image, and who holds them.
 * Must not wait: a lock that is not free is a refusal.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/device/device_private.h"

/*
 * qemu marks its use of an image with read locks on single bytes: 100 + n says "I use
 * permission n", 200 + n says "I do not share permission n" (0 consistent read, 1 write,
 * 2 write unchanged, 3 resize). A lock for writing over the whole file meets them all. A
 * lock for reading would meet none, so a reader speaks qemu's language: it looks for
 * users of 1 and 3, and locks everything but the bytes that would tell others that it
 * writes itself or cannot bear other readers.
 */
enum {
	QEMU_PERM = 100,
	QEMU_UNSHARED = 200,
	QEMU_WRITE = 1,
	QEMU_RESIZE = 3,
};

struct range {
	off_t start, length; /* bytes; length 0: to the end, however far */
};

static const struct range whole_file = {0, 0};
static const struct range reader_ranges[] = {
	{0, QEMU_PERM + 1},
	{QEMU_UNSHARED + QEMU_WRITE, 1},
	{QEMU_UNSHARED + QEMU_RESIZE, 0},
};

static struct flock ofd_lock(short type, struct range range)
{
	return (struct flock){
		.l_type = type,
		.l_whence = SEEK_SET,
		.l_start = range.start,
		.l_len = range.length,
	};
}

/*
 * The process whose flock stands in our way, as far as the kernel tells; else 0. The kernel
 * does not name owners of OFD locks.
 */
static long find_flock_holder(const struct stat *st, enum fl_device_mode mode)
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[256];
	long holder = 0;

	if (!locks)
		return 0;
	while (!holder && fgets(line, sizeof(line), locks)) {
		unsigned dev_major, dev_minor;
		char type[16];
		uint64_t ino;
		long pid;

		/* Lines of waiters have "->" behind the number and do not match. */
		if (sscanf(line, "%*d: FLOCK %*s %15s %ld %x:%x:%" SCNu64, type, &pid, &dev_major,
			   &dev_minor, &ino) != 5)
			continue;
		if (mode == FL_DEVICE_READ && strcmp(type, "WRITE"))
			continue;
		if (pid > 0 && ino == st->st_ino && dev_major == major(st->st_dev) &&
		    dev_minor == minor(st->st_dev))
			holder = pid;
	}
	(void)fclose(locks);
	return holder;
}

static void process_name(long pid, char name[32])
{
	char path[64];
	FILE *comm;

	name[0] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	comm = fopen(path, "re");
	if (!comm)
		return;
	if (fgets(name, 32, comm))
		name[strcspn(name, "\n")] = '\0';
	(void)fclose(comm);
}

static int busy(long pid, struct fl_diag *diag)
{
	char name[32];

	if (pid <= 0)
		return fl_fail(diag, FL_EBUSY,
			       "in use: locked by another process, such as a virtual machine; "
			       "stop that first (fuser and lsof show who has it open)");
	process_name(pid, name);
	if (!name[0])
		return fl_fail(diag, FL_EBUSY,
			       "in use: locked by process %ld; wait for it or stop it first", pid);
	return fl_fail(diag, FL_EBUSY,
		       "in use: locked by process %ld (%s); wait for it or stop it first", pid,
		       name);
}

/* A host without locks is no place to write, but reading is worth the small risk. */
static int cannot_lock(int host_errno, enum fl_device_mode mode, struct fl_diag *diag)
{
	bool unsupported = host_errno == ENOLCK || host_errno == EOPNOTSUPP ||
			   host_errno == ENOSYS || host_errno == EINVAL;

	if (unsupported && mode == FL_DEVICE_READ)
		return 0;
	return fl_fail(diag, FL_EIO, "lock: %s; copy the image to a local disk",
		       strerror(host_errno));
}

static int set_range(int fd, enum fl_device_mode mode, struct range range, struct fl_diag *diag)
{
	short type = mode == FL_DEVICE_WRITE ? F_WRLCK : F_RDLCK;
	struct flock lock = ofd_lock(type, range);

	while (fcntl(fd, F_OFD_SETLK, &lock)) {
		int host_errno = errno;

		if (host_errno == EINTR)
			continue;
		if (host_errno != EAGAIN && host_errno != EACCES)
			return cannot_lock(host_errno, mode, diag);
		lock = ofd_lock(type, range);
		/* The kernel names the owner of a classic lock, and -1 for an OFD lock. */
		if (fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type == F_UNLCK)
			lock.l_pid = 0;
		return busy((long)lock.l_pid, diag);
	}
	return 0;
}

/* Looks only: what lies inside qemu's permission bytes was put there by something like qemu. */
static int check_no_qemu_writer(int fd, int permission, struct fl_diag *diag)
{
	struct flock lock = ofd_lock(F_WRLCK, (struct range){QEMU_PERM + permission, 1});

	if (fcntl(fd, F_OFD_GETLK, &lock) || lock.l_type == F_UNLCK)
		return 0;
	if (lock.l_start < QEMU_PERM || lock.l_len == 0 ||
	    lock.l_start + lock.l_len > QEMU_UNSHARED)
		return 0;
	return busy((long)lock.l_pid, diag);
}

int fl_device_lock(int fd, const struct stat *st, enum fl_device_mode mode, struct fl_diag *diag)
{
	int how = mode == FL_DEVICE_WRITE ? LOCK_EX : LOCK_SH;
	size_t i;
	int rc;

	while (flock(fd, how | LOCK_NB)) {
		if (errno == EINTR)
			continue;
		if (errno == EWOULDBLOCK)
			return busy(find_flock_holder(st, mode), diag);
		rc = cannot_lock(errno, mode, diag);
		if (rc)
			return rc;
		break;
	}
	if (mode == FL_DEVICE_WRITE)
		return set_range(fd, mode, whole_file, diag);
	for (i = 0; i < sizeof(reader_ranges) / sizeof(reader_ranges[0]); i++) {
		rc = set_range(fd, mode, reader_ranges[i], diag);
		if (rc)
			return rc;
	}
	rc = check_no_qemu_writer(fd, QEMU_WRITE, diag);
	return rc ? rc : check_no_qemu_writer(fd, QEMU_RESIZE, diag);
}
