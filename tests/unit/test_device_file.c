/* SPDX-License-Identifier: MIT */
/*
 * Raw image files: what may be opened, reading, writing, holes, punching, a full host.
 * Skips what the host does not offer.
 */
#include "tests/unit/device_files.h"

#include <sys/mman.h>
#include <sys/mount.h>

/* --- opening --- */

static void test_open_errors(void **state)
{
	(void)state;
	make_file("image", MIB);
	assert_refused("none", FL_DEVICE_READ, FL_EIO, "open: No such file");
	assert_refused(".", FL_DEVICE_READ, FL_EINVAL, "directory");
	assert_refused(".", FL_DEVICE_WRITE, FL_EINVAL, "directory");
	assert_refused("/dev/null", FL_DEVICE_READ, FL_EINVAL, "not a regular file");
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_refused("fifo", FL_DEVICE_READ, FL_EINVAL, "not a regular file");
	assert_int_equal(symlink("nowhere", "dangling"), 0);
	assert_refused("dangling", FL_DEVICE_WRITE, FL_EIO, "No such file");
	assert_refused("image", (enum fl_device_mode)7, FL_EINVAL, "mode");
	assert_int_equal(chmod("image", 0444), 0);
	assert_refused("image", FL_DEVICE_WRITE, FL_EIO, "mode 0444");
	fl_device_close(open_image("image", FL_DEVICE_READ));
	assert_int_equal(chmod("image", 0644), 0);
	/* Refused opens have left no lock behind. */
	fl_device_close(open_image("image", FL_DEVICE_WRITE));
}

static int count_descriptors(void)
{
	int fd, count = 0;

	for (fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void test_no_leaks(void **state)
{
	int before = count_descriptors(), fd;
	struct fl_device *device;

	(void)state;
	make_file("image", MIB);
	device = open_image("image", FL_DEVICE_WRITE);
	/* Exactly one, and it does not go to programs that we start. */
	assert_int_equal(count_descriptors(), before + 1);
	for (fd = 3; fd < 256; fd++) {
		struct stat a, b;

		if (!fstat(fd, &a) && !stat("image", &b) && a.st_ino == b.st_ino)
			assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	assert_refused("image", FL_DEVICE_READ, FL_EBUSY, "in use");
	fl_device_close(device);
	assert_refused("/dev/null", FL_DEVICE_READ, FL_EINVAL, "");
	device = open_image("image", FL_DEVICE_READ);
	assert_int_equal(fl_device_file_copy(device, "none/copy", false, NULL), FL_EIO);
	assert_int_equal(fl_device_file_copy(device, "copy", false, NULL), 0);
	fl_device_close(device);
	assert_int_equal(count_descriptors(), before);
}

static void test_symlink(void **state)
{
	struct fl_device *device;

	(void)state;
	make_file("one", MIB);
	make_file("two", 2 * MIB);
	assert_int_equal(symlink("one", "link"), 0);
	device = open_image("link", FL_DEVICE_WRITE);
	/* The file that it pointed to, whatever happens to the link. */
	assert_int_equal(unlink("link"), 0);
	assert_int_equal(symlink("two", "link"), 0);
	assert_int_equal(fl_device_write(device, "x", 1, 0), 0);
	assert_int_equal(device->size_bytes, MIB);
	assert_refused("one", FL_DEVICE_READ, FL_EBUSY, "locked");
	fl_device_close(device);
	device = open_image("one", FL_DEVICE_READ);
	assert_device(device, 1, 0, 'x');
	fl_device_close(device);
	device = open_image("two", FL_DEVICE_READ);
	assert_device(device, 1, 0, 0);
	fl_device_close(device);
}

/* --- reading and writing --- */

static void test_read_write(void **state)
{
	struct fl_device *device;
	uint8_t byte = 5;

	(void)state;
	make_file("image", MIB + 3);
	device = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(device->size_bytes, MIB + 3);
	assert_false(device->read_only);
	assert_int_equal(fl_device_write(device, "abc", 3, MIB), 0);
	assert_int_equal(fl_device_write(device, "abcd", 4, MIB), FL_EINVAL);
	assert_int_equal(fl_device_read(device, &byte, 1, MIB + 2), 0);
	assert_int_equal(byte, 'c');
	assert_int_equal(fl_device_flush(device), 0);
	/* Somebody cuts it off: not a short read, an error. */
	assert_int_equal(truncate("image", MIB), 0);
	assert_int_equal(fl_device_read(device, &byte, 1, MIB + 2), FL_EIO);
	fl_device_close(device);

	device = open_image("image", FL_DEVICE_READ);
	assert_true(device->read_only);
	assert_int_equal(fl_device_write(device, "x", 1, 0), FL_EINVAL);
	assert_int_equal(fl_device_clear(device, 1, 0), FL_EINVAL);
	assert_int_equal(fl_device_flush(device), 0);
	fl_device_close(device);
}

static void test_sparse_rule(void **state)
{
	struct fl_device *device;

	(void)state;
	make_file("holes", MIB);
	make_file("full", MIB);
	poke("full", MIB, 0, 1);
	make_file("little", MIB);
	poke("little", MIB - 32 * KIB, 0, 1);
	make_file("empty", 0);
	make_file("small", 4096);
	device = open_image("holes", FL_DEVICE_READ);
	assert_true(device->sparse);
	fl_device_close(device);
	device = open_image("full", FL_DEVICE_READ);
	assert_false(device->sparse);
	fl_device_close(device);
	device = open_image("little", FL_DEVICE_READ);
	assert_false(device->sparse);
	fl_device_close(device);
	device = open_image("small", FL_DEVICE_READ);
	assert_false(device->sparse);
	fl_device_close(device);
	device = open_image("empty", FL_DEVICE_WRITE);
	assert_int_equal(device->size_bytes, 0);
	assert_run(device, 0, 0, 0);
	fl_device_close(device);
}

static void test_holes(void **state)
{
	struct fl_device *device;
	bool hole;

	(void)state;
	make_file("image", 8 * MIB);
	poke("image", MIB, 2 * MIB, 1);
	if (allocated("image") > 2 * MIB) {
		print_message("skipped: this host stores holes\n");
		skip();
	}
	device = open_image("image", FL_DEVICE_WRITE);
	assert_run(device, 0, 2 * MIB, MIB);
	assert_run(device, 2 * MIB + 5, 2 * MIB + 5, MIB - 5);
	assert_run(device, 3 * MIB, 8 * MIB, 0);
	assert_run(device, 8 * MIB, 8 * MIB, 0);
	assert_int_equal(fl_device_is_hole(device, 2 * MIB, 0, &hole), 0);
	assert_true(hole);
	assert_int_equal(fl_device_is_hole(device, 2 * MIB + 1, 0, &hole), 0);
	assert_false(hole);
	assert_int_equal(fl_device_is_hole(device, 5 * MIB, 3 * MIB, &hole), 0);
	assert_true(hole);
	/* The file grows behind our back: what we know of it does not. */
	assert_int_equal(truncate("image", 10 * MIB), 0);
	poke("image", MIB, 9 * MIB, 1);
	assert_run(device, 3 * MIB, 8 * MIB, 0);
	poke("image", 2 * MIB, 7 * MIB, 1);
	assert_run(device, 3 * MIB, 7 * MIB, MIB);
	fl_device_close(device);
}

static void test_punch(void **state)
{
	struct fl_device *device;
	int fd, rc;

	(void)state;
	make_file("image", 8 * MIB);
	poke("image", 4 * MIB, 0, 1);
	/* Asked without the device, so that its own faults are not taken for the host's. */
	fd = open("image", O_RDWR);
	rc = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
	(void)close(fd);
	if (rc) {
		print_message("skipped: this host cannot punch\n");
		skip();
	}
	poke("image", 4096, 0, 1);
	device = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(device->ops->punch(device, 4096, 0), 0);
	assert_true(device->sparse);
	assert_int_equal(fl_device_discard(device, MIB, MIB), 0);
	assert_int_equal(fl_device_clear(device, MIB + 1, 2 * MIB), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_device(device, 4096, 0, 0);
	assert_device(device, MIB - 4096, 4096, 1);
	assert_device(device, 2 * MIB + 1, MIB, 0);
	assert_device(device, MIB - 1, 3 * MIB + 1, 1);
	assert_run(device, 0, 4096, MIB - 4096);
	assert_true(allocated("image") < 2 * MIB + 64 * KIB);
	/* Up to the end, which must not move. */
	assert_int_equal(fl_device_clear(device, 8 * MIB, 0), 0);
	assert_run(device, 0, 8 * MIB, 0);
	fl_device_close(device);
	device = open_image("image", FL_DEVICE_READ);
	assert_int_equal(device->size_bytes, 8 * MIB);
	fl_device_close(device);
}

static void test_zero_keeps_space(void **state)
{
	struct fl_device *device;

	(void)state;
	make_file("image", 4 * MIB);
	poke("image", 4 * MIB, 0, 1);
	device = open_image("image", FL_DEVICE_WRITE);
	assert_false(device->sparse);
	assert_int_equal(fl_device_clear(device, MIB, MIB), 0);
	assert_int_equal(fl_device_discard(device, MIB + 7, 2 * MIB), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_device(device, MIB, 0, 1);
	assert_device(device, MIB, MIB, 0);
	assert_device(device, MIB - 7, 3 * MIB + 7, 1);
	assert_true(allocated("image") >= 4 * MIB);
	fl_device_close(device);
}

/* A file on tmpfs, where Linux can punch but has no ZERO_RANGE. */
static void test_host_without_zero(void **state)
{
	int fd = memfd_create("fraglab", MFD_CLOEXEC), rc;
	struct fl_device *device;
	char path[64];

	(void)state;
	if (fd < 0) {
		print_message("skipped: no memfd: %s\n", strerror(errno));
		skip();
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(ftruncate(fd, MIB), 0);
	poke(path, MIB, 0, 1);
	device = open_image(path, FL_DEVICE_WRITE);
	assert_false(device->sparse);
	rc = device->ops->zero(device, 4096, 0);
	if (rc == 0) {
		fl_device_close(device);
		(void)close(fd);
		print_message("skipped: this kernel can zero a range of tmpfs\n");
		skip();
	}
	assert_int_equal(rc, FL_DEVICE_CANNOT);
	assert_device(device, MIB, 0, 1);
	assert_int_equal(fl_device_discard(device, 4096, 0), 0);
	assert_device(device, MIB, 0, 1);
	assert_int_equal(fl_device_clear(device, 100 * KIB, 1), 0);
	assert_device(device, 1, 0, 1);
	assert_device(device, 100 * KIB, 1, 0);
	assert_device(device, 100, 100 * KIB + 1, 1);
	fl_device_close(device);
	assert_int_equal(close(fd), 0);
}

/* A tmpfs with less room than is needed. */
static void test_host_full(void **state)
{
	struct fl_device *image, *memory;
	uint8_t *bytes = malloc(4 * MIB);
	char line[128];
	int rc;

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 1, 4 * MIB);
	assert_int_equal(mkdir("small", 0700), 0);
	if (mount("tmpfs", "small", "tmpfs", 0, "size=1m")) {
		free(bytes);
		print_message("skipped: cannot mount a tmpfs: %s\n", strerror(errno));
		skip();
	}
	make_file("small/image", 8 * MIB);
	image = open_image("small/image", FL_DEVICE_WRITE);
	assert_true(image->sparse);
	rc = fl_device_write(image, bytes, 4 * MIB, 0);
	assert_int_equal(rc, FL_EHOSTFULL);
	/* Room comes back by punching. */
	assert_int_equal(fl_device_clear(image, 8 * MIB, 0), 0);
	assert_int_equal(fl_device_write(image, bytes, 64 * KIB, 0), 0);
	assert_int_equal(fl_device_flush(image), 0);
	fl_device_close(image);

	assert_int_equal(fl_device_memory(8 * MIB, &memory), 0);
	assert_int_equal(fl_device_write(memory, bytes, 4 * MIB, MIB), 0);
	assert_int_equal(fl_device_file_copy(memory, "small/copy", false, &diag), FL_EHOSTFULL);
	assert_non_null(strstr(diag.text, "No space left"));
	assert_true(shell(line, "ls -A small | wc -l"));
	assert_string_equal(line, "1");
	fl_device_close(memory);
	assert_int_equal(umount("small"), 0);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open_errors), TEST(test_no_leaks),	     TEST(test_symlink),
		TEST(test_read_write),	TEST(test_sparse_rule),	     TEST(test_holes),
		TEST(test_punch),	TEST(test_zero_keeps_space), TEST(test_host_without_zero),
		TEST(test_host_full),
	};

	return cmocka_run_group_tests_name("device_file", tests, NULL, NULL);
}
