/* SPDX-License-Identifier: MIT */
/*
 * Block devices, with loop devices standing for disks: opened exclusively, and nothing that
 * the image or its other users would notice. Skips what the host does not offer.
 */
#include "tests/unit/device_files.h"

#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* Attaches a file with losetup's options and gives the node's name. */
static void attach(const char *options, const char *path, char loop[128])
{
	if (geteuid() || !shell(loop, "losetup -f --show %s %s 2>&1", options, path) ||
	    loop[0] != '/') {
		print_message("skipped: no loop devices here: %s\n", loop);
		skip();
	}
}

static void detach(const char *loop)
{
	char line[128];

	assert_true(shell(line, "losetup -d %s", loop));
}

static void test_read_write(void **state)
{
	struct fl_device *device;
	char loop[128];
	bool hole;

	(void)state;
	make_file("image", 4 * MIB + 512);
	poke("image", 4 * KIB, MIB, 0x21);
	attach("", "image", loop);
	assert_int_equal(symlink(loop, "link"), 0);
	device = open_image("link", FL_DEVICE_WRITE);
	assert_int_equal(device->size_bytes, 4 * MIB + 512);
	assert_false(device->sparse);
	assert_false(device->read_only);
	assert_device(device, 4 * KIB, MIB, 0x21);
	assert_int_equal(fl_device_write(device, "x", 1, 4 * MIB + 511), 0);
	assert_int_equal(fl_device_write(device, "x", 1, 4 * MIB + 512), FL_EINVAL);
	/* A disk has no holes, and vacated blocks stay what they are. */
	assert_int_equal(fl_device_is_hole(device, MIB, 2 * MIB, &hole), 0);
	assert_false(hole);
	assert_int_equal(fl_device_discard(device, 4 * KIB, MIB), 0);
	assert_device(device, 4 * KIB, MIB, 0x21);
	assert_int_equal(fl_device_clear(device, 2 * KIB, MIB), 0);
	assert_device(device, 2 * KIB, MIB, 0);
	assert_device(device, 2 * KIB, MIB + 2 * KIB, 0x21);
	assert_int_equal(fl_device_flush(device), 0);
	fl_device_close(device);
	detach(loop);
}

static void test_exclusive(void **state)
{
	struct fl_device *device;
	char loop[128];

	(void)state;
	make_file("image", 4 * MIB);
	attach("", "image", loop);
	device = open_image(loop, FL_DEVICE_WRITE);
	assert_refused(loop, FL_DEVICE_WRITE, FL_EBUSY, "held by another program");
	assert_refused(loop, FL_DEVICE_READ, FL_EBUSY, "held by another program");
	fl_device_close(device);
	device = open_image(loop, FL_DEVICE_READ);
	assert_true(device->read_only);
	assert_refused(loop, FL_DEVICE_WRITE, FL_EBUSY, "held by another program");
	fl_device_close(device);
	/* The file itself stays refused all the time. */
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, "attached to /dev/loop");
	fl_device_close(open_image(loop, FL_DEVICE_WRITE));
	detach(loop);
}

static void test_write_protected(void **state)
{
	char loop[128];

	(void)state;
	make_file("image", MIB);
	attach("-r", "image", loop);
	assert_refused(loop, FL_DEVICE_WRITE, FL_EIO, "write-protected");
	fl_device_close(open_image(loop, FL_DEVICE_READ));
	detach(loop);
}

static void test_mounted(void **state)
{
	char loop[128], line[128], text[256];

	make_file("image", 4 * MIB);
	assert_int_equal(mkdir("mnt", 0700), 0);
	attach("", "image", loop);
	if (!shell(line, "mke2fs -q -t ext4 %s 2>&1 && mount -r %s mnt 2>&1", loop, loop)) {
		detach(loop);
		print_message("skipped: cannot mount here: %s\n", line);
		skip();
	}
	(void)snprintf(text, sizeof(text), "mounted on %s/mnt; unmount it", (const char *)*state);
	assert_refused(loop, FL_DEVICE_READ, FL_EBUSY, text);
	assert_refused(loop, FL_DEVICE_WRITE, FL_EBUSY, text);
	assert_true(shell(line, "umount mnt"));
	fl_device_close(open_image(loop, FL_DEVICE_WRITE));
	detach(loop);
}

/* Mounted where our /proc/mounts does not show it. */
static void test_other_namespace(void **state)
{
	int ready[2], release[2], status;
	char loop[128], line[128], byte;
	pid_t child;

	(void)state;
	make_file("image", 4 * MIB);
	assert_int_equal(mkdir("mnt", 0700), 0);
	attach("", "image", loop);
	assert_true(shell(line, "mke2fs -q -t ext4 %s 2>&1", loop));
	assert_int_equal(pipe(ready) | pipe(release), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		(void)close(release[1]);
		if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		    mount(loop, "mnt", "ext4", MS_RDONLY, NULL) || write(ready[1], "", 1) != 1)
			_exit(77);
		_exit(read(release[0], &byte, 1) != 0);
	}
	(void)close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		assert_refused(loop, FL_DEVICE_WRITE, FL_EBUSY, "it, or a partition of it");
	(void)close(release[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	(void)close(release[0]);
	(void)close(ready[0]);
	detach(loop);
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: no mount namespaces here\n");
		skip();
	}
}

/* Two loop devices over one file are two ways to the same bytes. */
static void test_same_bytes_twice(void **state)
{
	char loop[128], other[128];

	(void)state;
	make_file("image", 8 * MIB);
	attach("-o 1M --sizelimit 2M", "image", loop);
	attach("-o 2M --sizelimit 1M", "image", other);
	assert_refused(loop, FL_DEVICE_WRITE, FL_EBUSY, other);
	assert_refused(other, FL_DEVICE_READ, FL_EBUSY, loop);
	detach(other);
	attach("-o 3M", "image", other);
	fl_device_close(open_image(loop, FL_DEVICE_WRITE));
	fl_device_close(open_image(other, FL_DEVICE_WRITE));
	detach(other);
	/* A loop device over a loop device. */
	attach("", loop, other);
	assert_refused(loop, FL_DEVICE_WRITE, FL_EBUSY, "attached to");
	fl_device_close(open_image(other, FL_DEVICE_WRITE));
	detach(other);
	detach(loop);
}

/* A run on the file, or a virtual machine, that began before the file was attached. */
static void test_file_locked(void **state)
{
	char loop[128];
	int fd;

	(void)state;
	make_file("image", 2 * MIB);
	fd = open("image", O_RDONLY);
	assert_true(fd >= 0);
	attach("", "image", loop);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_refused(loop, FL_DEVICE_WRITE, FL_EBUSY, "locked by process");
	assert_int_equal(close(fd), 0);
	fl_device_close(open_image(loop, FL_DEVICE_WRITE));
	detach(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_read_write),	TEST(test_exclusive),	    TEST(test_write_protected),
		TEST(test_mounted),	TEST(test_other_namespace), TEST(test_same_bytes_twice),
		TEST(test_file_locked),
	};

	return cmocka_run_group_tests_name("device_block", tests, NULL, NULL);
}
