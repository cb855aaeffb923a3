/* SPDX-License-Identifier: MIT */
/*
 * The undo wrapper, judged by the real e2undo: what was overwritten comes back byte for byte,
 * whenever the run is cut off. Random content will do, as e2undo looks at no structures.
 */
#include "tests/unit/device_files.h"

#include <signal.h>
#include <sys/resource.h>

#define SUPER_AT 1024
#define SUPER_BYTES 1024

static void require_e2undo(void)
{
	char line[128];

	if (!shell(line, "PATH=$PATH:/usr/sbin:/sbin command -v e2undo")) {
		print_message("skipped: no e2undo here\n");
		skip();
	}
}

static bool e2undo(const char *options, const char *file, const char *image)
{
	char line[128];

	return shell(line, "PATH=$PATH:/usr/sbin:/sbin e2undo %s %s %s >e2undo.log 2>&1", options,
		     file, image);
}

static uint64_t seed_of(void)
{
	const char *text = getenv("SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	print_message("seed %llu\n", (unsigned long long)seed);
	return seed;
}

static void fill_random(struct fl_rng *rng, uint8_t *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		bytes[i] = (uint8_t)fl_rng_next(rng);
}

/* A file of random bytes with holes; its content in *bytes. */
static void make_image(struct fl_rng *rng, const char *path, size_t size, uint8_t **bytes)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0644);

	*bytes = calloc(1, size);
	assert_true(fd >= 0 && *bytes);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	for (size_t at = 0; at < size; at += 64 * KIB) {
		size_t part = (size_t)fl_min(64 * KIB, size - at);

		if (at && fl_rng_chance(rng, 1, 3))
			continue;
		fill_random(rng, *bytes + at, part);
		assert_int_equal(pwrite(fd, *bytes + at, part, (off_t)at), part);
	}
	assert_int_equal(close(fd), 0);
}

static void assert_file(const char *path, const uint8_t *bytes, size_t size)
{
	uint8_t *found = malloc(size);
	int fd = open(path, O_RDONLY);
	struct stat st;

	assert_true(fd >= 0 && found);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, size);
	assert_int_equal(pread(fd, found, size, 0), size);
	for (size_t i = 0; i < size; i++)
		if (found[i] != bytes[i])
			fail_msg("%s: byte %zu is 0x%02x, not 0x%02x", path, i, found[i], bytes[i]);
	assert_int_equal(close(fd), 0);
	free(found);
}

/* Discarded bytes are zeros afterwards, or what they were: a host like tmpfs cannot clear. */
static void discard(struct fl_device *device, size_t length, size_t at, uint8_t *now)
{
	uint8_t *found = malloc(length);

	assert_non_null(found);
	assert_int_equal(fl_device_discard(device, length, at), 0);
	assert_int_equal(fl_device_read(device, found, length, at), 0);
	if (memcmp(found, now + at, length))
		memset(now + at, 0, length);
	assert_memory_equal(found, now + at, length);
	free(found);
}

/* One random operation on the device and on what it should hold. */
static void operate(struct fl_rng *rng, struct fl_device *device, uint8_t *now)
{
	size_t size = (size_t)device->size_bytes, unit = fl_rng_chance(rng, 1, 4) ? 1 : 512;
	size_t at = (size_t)fl_rng_below(rng, size / unit) * unit;
	size_t most = (size_t)fl_min(size - at, fl_rng_chance(rng, 1, 4) ? 300 * KIB : 6 * KIB);
	size_t length = (size_t)fl_rng_between(rng, 1, most);
	uint8_t *found;

	if (unit > 1 && length > unit)
		length -= length % unit;
	switch (fl_rng_below(rng, 8)) {
	case 0:
		assert_int_equal(fl_device_flush(device), 0);
		break;
	case 1:
		assert_int_equal(fl_device_clear(device, length, at), 0);
		memset(now + at, 0, length);
		break;
	case 2:
		discard(device, length, at, now);
		break;
	case 3:
		found = malloc(length);
		assert_non_null(found);
		assert_int_equal(fl_device_read(device, found, length, at), 0);
		assert_memory_equal(found, now + at, length);
		free(found);
		break;
	default:
		fill_random(rng, now + at, length);
		assert_int_equal(fl_device_write(device, now + at, length, at), 0);
	}
}

static void assert_holds(struct fl_device *device, const uint8_t *now)
{
	uint8_t *found = malloc((size_t)device->size_bytes);

	assert_non_null(found);
	assert_int_equal(fl_device_read(device, found, (size_t)device->size_bytes, 0), 0);
	assert_memory_equal(found, now, (size_t)device->size_bytes);
	free(found);
}

/* Sizes that are no multiple of a granule, or of a sector; with an offset or without. */
static void test_there_and_back(void **state)
{
	static const struct {
		size_t size, position;
		int operations;
	} rounds[] = {
		{3 * MIB, 0, 100},	   {MIB + 512, 0, 60}, {MIB + 77, 0, 60},
		{2 * MIB, MIB + 512, 100}, {2048, 0, 20},      {5 * MIB, 0, 150},
	};
	struct fl_rng rng;

	(void)state;
	require_e2undo();
	fl_rng_seed(&rng, seed_of());
	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		size_t whole = rounds[i].size + rounds[i].position + (rounds[i].position ? MIB : 0);
		struct fl_device *file, *window, *device = NULL;
		uint8_t *before, *now;

		make_image(&rng, "image", whole, &before);
		now = malloc(whole);
		assert_non_null(now);
		memcpy(now, before, whole);
		file = open_image("image", FL_DEVICE_WRITE);
		assert_int_equal(
			fl_device_window(file, rounds[i].size, rounds[i].position, &window), 0);
		assert_int_equal(fl_device_undo(window, "undo", rounds[i].position, &device, &diag),
				 0);
		for (int k = 0; k < rounds[i].operations; k++)
			operate(&rng, device, now + rounds[i].position);
		assert_int_equal(fl_device_flush(device), 0);
		assert_holds(device, now + rounds[i].position);
		fl_device_close(device);
		fl_device_close(window);
		fl_device_close(file);
		assert_file("image", now, whole);
		if (!e2undo("", "undo", "image"))
			fail_msg("round %zu: e2undo refuses, see e2undo.log", i);
		assert_file("image", before, whole);
		free(before);
		free(now);
		assert_int_equal(unlink("image") | unlink("undo"), 0);
	}
}

/* Far more keys than a key block has, in one commit and over several. */
static void test_many_keys(void **state)
{
	struct fl_device *file, *device;
	uint8_t *before, byte = 0x5a;
	const size_t size = 12 * MIB;
	struct fl_rng rng;

	(void)state;
	require_e2undo();
	fl_rng_seed(&rng, 7);
	make_image(&rng, "image", size, &before);
	file = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_undo(file, "undo", 0, &device, &diag), 0);
	/* Every second granule: 255 keys, another 255, one, one, and hundreds. */
	for (size_t i = 0; i < 1500; i++) {
		assert_int_equal(fl_device_write(device, &byte, 1, i * 8 * KIB + 5000), 0);
		if (i == 254 || i == 509 || i == 510 || i == 511)
			assert_int_equal(fl_device_flush(device), 0);
	}
	assert_int_equal(fl_device_flush(device), 0);
	fl_device_close(device);
	fl_device_close(file);
	assert_true(e2undo("", "undo", "image"));
	assert_file("image", before, size);
	free(before);
}

/* --- cut off --- */

struct cuts {
	const uint8_t *before;
	size_t size;
	uint64_t events, refused;
};

/*
 * The moment before an operation reaches the image is one at which all may end. Only where the
 * superblock is about to change may e2undo ask for force.
 */
static int cut(void *context, const struct fl_device_event *event)
{
	struct cuts *cuts = context;
	char line[128];

	if (event->op == FL_OP_READ)
		return 0;
	cuts->events++;
	assert_true(shell(line, "cp --sparse=always image cut"));
	if (!e2undo("", "undo", "cut")) {
		cuts->refused++;
		assert_true(shell(line, "grep -q 'superblock doesn' e2undo.log"));
		assert_true(e2undo("-f", "undo", "cut"));
	}
	assert_file("cut", cuts->before, cuts->size);
	return 0;
}

static void test_cut_anywhere(void **state)
{
	const size_t size = MIB;
	struct cuts cuts = {.size = size};
	struct fl_device *file, *recorder, *device;
	uint8_t *before, *now, super[SUPER_BYTES];
	struct fl_rng rng;

	(void)state;
	require_e2undo();
	fl_rng_seed(&rng, seed_of());
	make_image(&rng, "image", size, &before);
	cuts.before = before;
	now = malloc(size);
	assert_non_null(now);
	memcpy(now, before, size);
	file = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_recorder(file, cut, &cuts, &recorder), 0);
	assert_int_equal(fl_device_undo(recorder, "undo", 0, &device, &diag), 0);
	/* As the mover does: a fence, work that leaves the superblock alone, the fence's end. */
	memcpy(super, before + SUPER_AT, sizeof(super));
	super[58] ^= 1;
	assert_int_equal(fl_device_write(device, super, sizeof(super), SUPER_AT), 0);
	assert_int_equal(fl_device_flush(device), 0);
	for (int i = 0; i < 60; i++) {
		size_t at = (size_t)fl_rng_between(&rng, 8, size / 512 - 40) * 512;
		size_t length = (size_t)fl_rng_between(&rng, 1, 40) * 512;

		fill_random(&rng, now, length);
		if (i % 7 == 3)
			assert_int_equal(fl_device_discard(device, length, at), 0);
		else
			assert_int_equal(fl_device_write(device, now, length, at), 0);
		if (i % 9 == 8)
			assert_int_equal(fl_device_flush(device), 0);
	}
	assert_int_equal(fl_device_flush(device), 0);
	/* Fenced, not one moment needed force but the one before the fence was written. */
	assert_in_range(cuts.events, 40, 1000);
	assert_int_equal(cuts.refused, 1);
	assert_int_equal(fl_device_write(device, before + SUPER_AT, SUPER_BYTES, SUPER_AT), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_int_equal(cuts.refused, 2);
	fl_device_close(device);
	fl_device_close(recorder);
	fl_device_close(file);
	assert_true(e2undo("", "undo", "image"));
	assert_file("image", before, size);
	free(before);
	free(now);
}

/* --- order, refusals and failures --- */

static void test_nothing_before_a_flush(void **state)
{
	struct fl_device *file, *device;
	uint64_t start, length;
	uint8_t byte = 0x11;

	(void)state;
	make_file("image", 4 * MIB);
	file = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_undo(file, "undo", 0, &device, &diag), 0);
	assert_int_equal(fl_device_write(device, &byte, 1, 2 * MIB), 0);
	assert_device(file, 1, 2 * MIB, 0);
	assert_device(device, 1, 2 * MIB, 0x11);
	assert_int_equal(fl_device_data_next(device, 0, &start, &length), 0);
	assert_int_equal(start, 2 * MIB);
	assert_int_equal(length, 4 * KIB);
	assert_int_equal(fl_device_data_next(device, 3 * MIB, &start, &length), 0);
	assert_int_equal(length, 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_device(file, 1, 2 * MIB, 0x11);
	/* What is closed without a flush is dropped. */
	assert_int_equal(fl_device_write(device, &byte, 1, 3 * MIB), 0);
	fl_device_close(device);
	assert_device(file, 1, 3 * MIB, 0);
	fl_device_close(file);
}

/* Old content that was a hole costs no room in the file. */
static void test_holes_stay_holes(void **state)
{
	struct fl_device *file, *device;
	uint8_t *bytes = malloc(8 * MIB);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0x77, 8 * MIB);
	make_file("image", 16 * MIB);
	file = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_undo(file, "undo", 0, &device, &diag), 0);
	assert_int_equal(fl_device_write(device, bytes, 8 * MIB, MIB), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_in_range(allocated("undo"), 1, 64 * KIB);
	/* Saved once: a second write adds nothing. */
	assert_int_equal(fl_device_write(device, bytes, 8 * MIB, MIB), 0);
	assert_int_equal(fl_device_discard(device, 8 * MIB, MIB), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_in_range(allocated("undo"), 1, 64 * KIB);
	assert_true(allocated("image") < MIB);
	fl_device_close(device);
	fl_device_close(file);
	free(bytes);
}

/* More than may wait goes down by itself, and still in order. */
static void test_many_wait(void **state)
{
	struct fl_device *file, *device;
	uint8_t *bytes = malloc(96 * MIB);

	(void)state;
	assert_non_null(bytes);
	memset(bytes, 0x33, 96 * MIB);
	make_file("image", 128 * MIB);
	file = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_undo(file, "undo", 0, &device, &diag), 0);
	assert_int_equal(fl_device_write(device, bytes, 96 * MIB, MIB), 0);
	assert_device(file, 1, MIB, 0x33);
	assert_device(file, 1, 97 * MIB - 1, 0);
	assert_device(device, 1, 97 * MIB - 1, 0x33);
	fl_device_close(device);
	fl_device_close(file);
	free(bytes);
}

static void test_refusals(void **state)
{
	struct fl_device *file, *device = NULL;

	(void)state;
	make_file("image", MIB);
	make_file("small", 2047);
	make_file("taken", 0);
	file = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_undo(file, "taken", 0, &device, &diag), FL_EINVAL);
	assert_non_null(strstr(diag.text, "taken: File exists"));
	assert_int_equal(fl_device_undo(file, "none/undo", 0, &device, &diag), FL_EIO);
	fl_device_close(file);
	file = open_image("image", FL_DEVICE_READ);
	assert_int_equal(fl_device_undo(file, "undo", 0, &device, &diag), FL_EINVAL);
	fl_device_close(file);
	file = open_image("small", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_undo(file, "undo", 0, &device, &diag), FL_EINVAL);
	fl_device_close(file);
	assert_null(device);
	assert_int_equal(access("undo", F_OK), -1);
}

/* The file cannot grow: what it could not save is not overwritten; what it could, is undone. */
static void test_file_full(void **state)
{
	struct rlimit limit, tight;
	struct fl_device *file, *device;
	uint8_t *before, bytes[4096];
	const size_t size = MIB;
	struct fl_rng rng;
	int rc = 0;

	(void)state;
	require_e2undo();
	fl_rng_seed(&rng, 3);
	make_image(&rng, "image", size, &before);
	memset(bytes, 0xee, sizeof(bytes));
	file = open_image("image", FL_DEVICE_WRITE);
	assert_int_equal(fl_device_undo(file, "undo", 0, &device, &diag), 0);
	assert_int_equal(fl_device_write(device, bytes, sizeof(bytes), 8 * KIB), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	tight = (struct rlimit){.rlim_cur = 64 * KIB, .rlim_max = limit.rlim_max};
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (size_t at = 16 * KIB; !rc && at < 64 * KIB; at += 4 * KIB)
		rc = fl_device_write(device, bytes, sizeof(bytes), at);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(rc, FL_EIO);
	/* There is room again: what had failed can be done again. */
	assert_int_equal(fl_device_write(device, bytes, sizeof(bytes), 60 * KIB), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_device(file, sizeof(bytes), 60 * KIB, 0xee);
	fl_device_close(device);
	fl_device_close(file);
	assert_true(e2undo("", "undo", "image"));
	assert_file("image", before, size);
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_there_and_back),   TEST(test_many_keys),
		TEST(test_cut_anywhere),     TEST(test_nothing_before_a_flush),
		TEST(test_holes_stay_holes), TEST(test_many_wait),
		TEST(test_refusals),	     TEST(test_file_full),
	};

	return cmocka_run_group_tests_name("device_undo", tests, NULL, NULL);
}
