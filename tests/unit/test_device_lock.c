/* SPDX-License-Identifier: MIT */
/*
 * Who else has the image: locks, virtual machines, loop devices, mounts.
 * Skips what the host does not offer.
 */
#include "tests/unit/device_files.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* --- locks --- */

/* Runs work in a child while the caller's own opens stay; returns its exit status. */
static int in_child(int (*work)(void))
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child)
		_exit(work());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int try_open(enum fl_device_mode mode)
{
	struct fl_device *device;

	return -fl_device_file_open("image", mode, &device, NULL);
}

static int try_read(void)
{
	return try_open(FL_DEVICE_READ);
}

static int try_write(void)
{
	return try_open(FL_DEVICE_WRITE);
}

static void test_locks(void **state)
{
	struct fl_device *device, *second;

	(void)state;
	make_file("image", MIB);
	device = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(in_child(try_read), -FL_EBUSY);
	assert_int_equal(in_child(try_write), -FL_EBUSY);
	fl_device_close(device);
	assert_int_equal(in_child(try_write), 0);
	device = open_image("image", FL_DEVICE_READ);
	second = open_image("image", FL_DEVICE_READ);
	assert_int_equal(in_child(try_read), 0);
	assert_int_equal(in_child(try_write), -FL_EBUSY);
	fl_device_close(device);
	assert_int_equal(in_child(try_write), -FL_EBUSY);
	fl_device_close(second);
	assert_int_equal(in_child(try_write), 0);
}

/* A child that has the image for writing until released: its pid is named. */
static void test_holder_is_named(void **state)
{
	int ready[2], release[2];
	char text[64], byte;
	pid_t child;

	(void)state;
	make_file("image", MIB);
	assert_int_equal(pipe(ready) | pipe(release), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		struct fl_device *device;
		int rc;

		(void)close(release[1]);
		rc = fl_device_file_open("image", FL_DEVICE_WRITE, &device, NULL);
		if (rc || write(ready[1], "", 1) != 1)
			_exit(1);
		_exit(read(release[0], &byte, 1) != 0);
	}
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)snprintf(text, sizeof(text), "locked by process %ld (test_device_loc", (long)child);
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, text);
	assert_refused("image", FL_DEVICE_WRITE, FL_EBUSY, text);
	(void)close(release[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	(void)close(release[0]);
	(void)close(ready[0]);
	fl_device_close(open_image("image", FL_DEVICE_WRITE));
}

static void lock_bytes(int fd, short type, off_t start, off_t length)
{
	struct flock lock = {.l_type = type, .l_start = start, .l_len = length};

	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
}

static bool can_lock(int fd, off_t start)
{
	struct flock lock = {.l_type = F_WRLCK, .l_start = start, .l_len = 1};

	assert_int_equal(fcntl(fd, F_OFD_GETLK, &lock), 0);
	return lock.l_type == F_UNLCK;
}

/* Bytes 100 .. 103 and 200 .. 203 as qemu's file driver locks them. */
static void test_qemu(void **state)
{
	struct fl_device *device;
	int fd;

	(void)state;
	make_file("image", MIB);
	/* A virtual machine that writes: consistent read, write, write unchanged. */
	fd = open("image", O_RDWR);
	lock_bytes(fd, F_RDLCK, 100, 1);
	lock_bytes(fd, F_RDLCK, 101, 1);
	lock_bytes(fd, F_RDLCK, 201, 1);
	lock_bytes(fd, F_RDLCK, 203, 1);
	assert_refused("image", FL_DEVICE_WRITE, FL_EBUSY, "virtual machine");
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, "virtual machine");
	/* One that only reads, and lets nobody write. */
	lock_bytes(fd, F_UNLCK, 101, 1);
	assert_refused("image", FL_DEVICE_WRITE, FL_EBUSY, "virtual machine");
	device = open_image("image", FL_DEVICE_READ);
	lock_bytes(fd, F_UNLCK, 0, 0);
	/* What it finds while we read: no writer, nobody who minds readers, somebody who minds
	 * writers. */
	assert_true(can_lock(fd, 101));
	assert_true(can_lock(fd, 103));
	assert_true(can_lock(fd, 200));
	assert_false(can_lock(fd, 201));
	assert_false(can_lock(fd, 203));
	fl_device_close(device);
	/* And while we write: everything taken. */
	device = open_image("image", FL_DEVICE_WRITE);
	assert_false(can_lock(fd, 100));
	assert_false(can_lock(fd, 101));
	assert_false(can_lock(fd, 200));
	fl_device_close(device);
	/* Some other reader of the whole file is no writer. */
	lock_bytes(fd, F_RDLCK, 0, 0);
	fl_device_close(open_image("image", FL_DEVICE_READ));
	assert_refused("image", FL_DEVICE_WRITE, FL_EBUSY, "locked");
	/* But whoever writes to a part of it is one, be it behind the end. */
	lock_bytes(fd, F_UNLCK, 0, 0);
	lock_bytes(fd, F_WRLCK, 0, 1);
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, "locked");
	lock_bytes(fd, F_UNLCK, 0, 0);
	lock_bytes(fd, F_WRLCK, INT64_MAX - 1, 1);
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, "locked");
	assert_int_equal(close(fd), 0);
}

/* --- loop devices --- */

static void require_loop(void)
{
	char line[128];

	make_file("probe", MIB);
	if (geteuid() || !shell(line, "losetup -f --show probe 2>&1") || line[0] != '/') {
		print_message("skipped: no loop devices here: %s\n", line);
		skip();
	}
	assert_true(shell(line, "losetup -j probe -n -O NAME | xargs losetup -d"));
	assert_int_equal(unlink("probe"), 0);
}

/* A detach may be finished by the kernel only a moment later. */
static void assert_free_soon(const char *path)
{
	struct fl_device *device;
	int tries, rc = FL_EBUSY;

	for (tries = 0; tries < 100 && rc == FL_EBUSY; tries++) {
		if (tries)
			(void)usleep(50000);
		rc = fl_device_file_open(path, FL_DEVICE_WRITE, &device, &diag);
	}
	assert_int_equal(rc, 0);
	fl_device_close(device);
}

/* As in a container that sees /sys but has no loop nodes. */
static int try_write_without_nodes(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/dev", "tmpfs", 0, NULL))
		return 77;
	return try_write();
}

static void test_loop_without_nodes(void **state)
{
	char loop[128], line[128];
	int rc;

	(void)state;
	require_loop();
	make_file("image", MIB);
	assert_true(shell(loop, "losetup -f --show image"));
	rc = in_child(try_write_without_nodes);
	assert_true(shell(line, "losetup -d %s", loop));
	if (rc == 77) {
		print_message("skipped: no mount namespaces here\n");
		skip();
	}
	assert_int_equal(rc, -FL_EBUSY);
	assert_free_soon("image");
	assert_int_equal(in_child(try_write_without_nodes), 0);
}

static void test_loop(void **state)
{
	char loop[128], text[256], line[128];

	(void)state;
	require_loop();
	make_file("image", 4 * MIB);
	make_file("other", 4 * MIB);
	assert_int_equal(symlink("image", "link"), 0);
	assert_true(shell(loop, "losetup -f --show -o 1M image"));
	(void)snprintf(text, sizeof(text), "attached to %s, not mounted here", loop);
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, text);
	assert_refused("image", FL_DEVICE_WRITE, FL_EBUSY, text);
	assert_refused("link", FL_DEVICE_WRITE, FL_EBUSY, text);
	fl_device_close(open_image("other", FL_DEVICE_WRITE));
	/* The name does not matter. */
	assert_int_equal(rename("image", "renamed"), 0);
	assert_refused("renamed", FL_DEVICE_WRITE, FL_EBUSY, text);
	/* Nor does a new file of the old name suffer for it. */
	make_file("image", MIB);
	fl_device_close(open_image("image", FL_DEVICE_WRITE));
	assert_true(shell(line, "losetup -d %s", loop));
	assert_free_soon("renamed");
}

static void test_mounted(void **state)
{
	char text[256], line[128];

	require_loop();
	make_file("image", 4 * MIB);
	assert_int_equal(mkdir("a b", 0700), 0);
	if (!shell(line, "mke2fs -q -t ext4 image 2>&1 && mount -o loop image 'a b' 2>&1")) {
		print_message("skipped: cannot mount here: %s\n", line);
		skip();
	}
	(void)snprintf(text, sizeof(text), ", mounted on %s/a b; unmount it", (const char *)*state);
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, text);
	assert_refused("image", FL_DEVICE_WRITE, FL_EBUSY, text);
	assert_true(shell(line, "umount 'a b'"));
	assert_free_soon("image");
}

/* Mounted by a child in a mount namespace of its own, where /proc/mounts does not show it. */
static void test_other_namespace(void **state)
{
	int ready[2], release[2], status;
	char line[128], byte;
	pid_t child;

	(void)state;
	require_loop();
	make_file("image", 4 * MIB);
	assert_int_equal(mkdir("mnt", 0700), 0);
	assert_true(shell(line, "mke2fs -q -t ext4 image 2>&1"));
	assert_int_equal(pipe(ready) | pipe(release), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		(void)close(release[1]);
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    !shell(line, "mount -o loop image mnt 2>&1") || write(ready[1], "", 1) != 1)
			_exit(77);
		_exit(read(release[0], &byte, 1) != 0);
	}
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		assert_refused("image", FL_DEVICE_WRITE, FL_EBUSY, "not mounted here; unmount");
	(void)close(release[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)close(release[0]);
	(void)close(ready[0]);
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: no mount namespaces here\n");
		skip();
	}
	assert_free_soon("image");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_locks),
		TEST(test_holder_is_named),
		TEST(test_qemu),
		TEST(test_loop_without_nodes),
		TEST(test_loop),
		TEST(test_mounted),
		TEST(test_other_namespace),
	};

	return cmocka_run_group_tests_name("device_lock", tests, NULL, NULL);
}
