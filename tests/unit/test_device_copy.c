/* SPDX-License-Identifier: MIT */
/*
 * Copies of devices in new files: sparse, whole, or not there at all.
 */
#include "tests/unit/device_files.h"

#include <signal.h>
#include <sys/resource.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_copy),
		TEST(test_copy_of_wrapper),
		TEST(test_copy_target),
		TEST(test_copy_fails_clean),
	};

	return cmocka_run_group_tests_name("device_copy", tests, NULL, NULL);
}
