/* SPDX-License-Identifier: MIT */
/*
 * Raw image files: holes, punching, locks, loop devices, copies. Works in a
 * temporary directory, which it removes; skips what the host does not offer.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <fraglab/device.h>
#include <fraglab/util.h>

#define KIB UINT64_C(1024)
#define MIB (1024 * KIB)

static struct fl_diag diag;

/* Every test runs in a fresh directory, as its working directory. */
static int enter(void **state)
{
	char folder[] = "/tmp/fraglab-test-XXXXXX";

	diag.text[0] = '\0';
	if (!mkdtemp(folder) || chdir(folder))
		return -1;
	*state = strdup(folder);
	return *state ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];
	int rc;

	(void)snprintf(command, sizeof(command), "rm -rf %s", (const char *)*state);
	rc = chdir("/") || system(command);
	free(*state);
	return rc;
}

static void make_file(const char *path, uint64_t size)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(close(fd), 0);
}

static void poke(const char *path, uint64_t length, uint64_t position, uint8_t value)
{
	uint8_t *bytes = malloc((size_t)length);
	int fd = open(path, O_RDWR);

	assert_true(bytes && fd >= 0);
	memset(bytes, value, (size_t)length);
	assert_int_equal(pwrite(fd, bytes, (size_t)length, (off_t)position), length);
	assert_int_equal(fsync(fd), 0);
	assert_int_equal(close(fd), 0);
	free(bytes);
}

static struct fl_device *open_image(const char *path, enum fl_device_mode mode)
{
	struct fl_device *device = NULL;
	int rc = fl_device_file_open(path, mode, &device, &diag);

	if (rc)
		fail_msg("%s: %d, %s", path, rc, diag.text);
	assert_non_null(device);
	return device;
}

static void assert_refused(const char *path, enum fl_device_mode mode, int error, const char *text)
{
	struct fl_device *device = NULL;

	assert_int_equal(fl_device_file_open(path, mode, &device, NULL), error);
	assert_int_equal(fl_device_file_open(path, mode, &device, &diag), error);
	assert_null(device);
	if (!strstr(diag.text, text))
		fail_msg("'%s' does not say '%s'", diag.text, text);
}

static void assert_device(struct fl_device *device, uint64_t length, uint64_t position,
			  uint8_t value)
{
	uint8_t *bytes = malloc((size_t)length);
	uint64_t i;

	assert_non_null(bytes);
	assert_int_equal(fl_device_read(device, bytes, (size_t)length, position), 0);
	for (i = 0; i < length; i++)
		if (bytes[i] != value)
			fail_msg("byte %llu is 0x%02x, not 0x%02x",
				 (unsigned long long)(position + i), bytes[i], value);
	free(bytes);
}

static void assert_run(struct fl_device *device, uint64_t position, uint64_t start, uint64_t length)
{
	uint64_t got_start = 1, got_length = 1;

	assert_int_equal(fl_device_data_next(device, position, &got_start, &got_length), 0);
	assert_int_equal(got_start, start);
	assert_int_equal(got_length, length);
}

static uint64_t allocated(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

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

static void test_block_device(void **state)
{
	(void)state;
	if (mknod("node", S_IFBLK | 0600, makedev(7, 0))) {
		print_message("skipped: cannot make a device node: %s\n", strerror(errno));
		skip();
	}
	assert_refused("node", FL_DEVICE_READ, FL_EINVAL, "block devices are not supported yet");
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

	(void)state;
	make_file("image", 8 * MIB);
	poke("image", 4 * MIB, 0, 1);
	device = open_image("image", FL_DEVICE_WRITE);
	if (device->ops->punch(device, 4096, 0) == FL_DEVICE_CANNOT) {
		fl_device_close(device);
		print_message("skipped: this host cannot punch\n");
		skip();
	}
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
	(void)snprintf(text, sizeof(text), "locked by process %ld (test_device_fil", (long)child);
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
	assert_int_equal(close(fd), 0);
}

/* --- loop devices --- */

/* The first line that a shell command prints; false when it fails. */
static bool shell(char line[128], const char *format, ...)
{
	char command[512];
	va_list arguments;
	FILE *pipe;

	va_start(arguments, format);
	(void)vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	line[0] = '\0';
	pipe = popen(command, "r");
	if (!pipe)
		return false;
	if (fgets(line, 128, pipe))
		line[strcspn(line, "\n")] = '\0';
	return pclose(pipe) == 0;
}

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

/* --- copies --- */

/* Files in the working directory, the hidden ones too. */
static int count_files(void)
{
	char line[128];

	assert_true(shell(line, "ls -A | wc -l"));
	return atoi(line);
}

static void test_copy(void **state)
{
	struct fl_device *image, *copy;
	char line[128];

	(void)state;
	make_file("image", 64 * MIB + 1);
	poke("image", 100 * KIB, 3 * MIB + 7, 1); /* not aligned */
	poke("image", 4 * MIB, 9 * MIB, 0);	  /* stored zeros */
	poke("image", 5, 10 * MIB + 4094, 2);
	poke("image", 1, 64 * MIB, 3);
	image = open_image("image", FL_DEVICE_READ);
	assert_int_equal(fl_device_file_copy(image, "copy", false, &diag), 0);
	assert_int_equal(count_files(), 2);
	assert_true(shell(line, "cmp image copy 2>&1"));
	assert_true(allocated("copy") < 256 * KIB);
	copy = open_image("copy", FL_DEVICE_WRITE);
	assert_int_equal(copy->size_bytes, 64 * MIB + 1);
	assert_true(copy->sparse);
	assert_run(copy, 3 * MIB + 128 * KIB, 10 * MIB, 8192);
	fl_device_close(copy);
	fl_device_close(image);
}

static void test_copy_of_wrapper(void **state)
{
	struct fl_device *memory, *window;
	struct stat st;
	char line[128];

	(void)state;
	assert_int_equal(fl_device_memory(UINT64_C(1) << 40, &memory), 0);
	assert_int_equal(fl_device_write(memory, "hello", 5, 5000), 0);
	assert_int_equal(fl_device_window(memory, 2 * MIB, 5000, &window), 0);
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_int_equal(fl_device_file_copy(window, "sub/copy", false, &diag), 0);
	assert_int_equal(stat("sub/copy", &st), 0);
	assert_int_equal(st.st_size, 2 * MIB);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(shell(line, "head -c 5 sub/copy; ls -A | wc -l"));
	assert_string_equal(line, "hello1");
	fl_device_close(window);
	fl_device_close(memory);
}

static void assert_copy_refused(struct fl_device *from, const char *path, bool replace, int error,
				const char *text)
{
	int files = count_files();

	assert_int_equal(fl_device_file_copy(from, path, replace, NULL), error);
	assert_int_equal(fl_device_file_copy(from, path, replace, &diag), error);
	if (!strstr(diag.text, text))
		fail_msg("'%s' does not say '%s'", diag.text, text);
	assert_int_equal(count_files(), files);
}

static void test_copy_target(void **state)
{
	struct fl_device *image;
	char line[128];

	(void)state;
	make_file("image", MIB);
	make_file("there", 7);
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_int_equal(symlink("there", "link"), 0);
	image = open_image("image", FL_DEVICE_READ);
	assert_copy_refused(image, "there", false, FL_EINVAL, "exists");
	assert_copy_refused(image, "link", true, FL_EINVAL, "not a regular file");
	assert_copy_refused(image, "sub", true, FL_EINVAL, "not a regular file");
	assert_copy_refused(image, "image", false, FL_EINVAL, "exists");
	assert_copy_refused(image, "image", true, FL_EINVAL, "image itself");
	assert_copy_refused(image, "", false, FL_EINVAL, "name a file");
	assert_copy_refused(image, "new/", false, FL_EINVAL, "name a file");
	assert_copy_refused(image, "none/copy", false, FL_EIO, "No such file");
	assert_true(shell(line, "wc -c <there"));
	assert_string_equal(line, "7");
	assert_int_equal(fl_device_file_copy(image, "there", true, &diag), 0);
	assert_true(shell(line, "cmp image there"));
	fl_device_close(image);
}

/* An image whose host cannot read it any more, halfway. */
static int refuse_late_reads(void *context, const struct fl_device_event *event)
{
	(void)context;
	return event->position < 4 * MIB ? 0 : FL_EIO;
}

static void test_copy_fails_clean(void **state)
{
	struct fl_device *image, *broken;
	struct rlimit limit, old;

	(void)state;
	make_file("image", 8 * MIB);
	make_file("there", 7);
	poke("image", 8 * MIB, 0, 1);
	image = open_image("image", FL_DEVICE_READ);
	assert_int_equal(fl_device_recorder(image, refuse_late_reads, NULL, &broken), 0);
	assert_copy_refused(broken, "copy", false, FL_EIO, "byte 4194304");
	assert_copy_refused(broken, "there", true, FL_EIO, "byte 4194304");
	/* A limit on the size of files stands for a host that refuses. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = MIB;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_copy_refused(image, "copy", false, FL_EIO, "File too large");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	(void)signal(SIGXFSZ, SIG_DFL);
	fl_device_close(broken);
	fl_device_close(image);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open_errors),
		TEST(test_block_device),
		TEST(test_no_leaks),
		TEST(test_symlink),
		TEST(test_read_write),
		TEST(test_sparse_rule),
		TEST(test_holes),
		TEST(test_punch),
		TEST(test_zero_keeps_space),
		TEST(test_host_without_zero),
		TEST(test_locks),
		TEST(test_holder_is_named),
		TEST(test_qemu),
		TEST(test_loop),
		TEST(test_loop_without_nodes),
		TEST(test_mounted),
		TEST(test_other_namespace),
		TEST(test_copy),
		TEST(test_copy_of_wrapper),
		TEST(test_copy_target),
		TEST(test_copy_fails_clean),
		TEST(test_host_full),
	};

	return cmocka_run_group_tests_name("device_file", tests, NULL, NULL);
}
