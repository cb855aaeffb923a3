/* SPDX-License-Identifier: MIT */
/*
 * The calls on a device: their checks, and their ways around what a device cannot do.
 * Must not touch the disk.
 */
#include "tests/unit/device_fake.h"

static void test_ranges(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;
	uint64_t size = device->size_bytes, start = 7, length = 7;
	uint8_t byte = 0;
	bool hole = true;

	(void)state;
	fake->ops.punch = fake_punch;
	fake->ops.zero = fake_zero;
	assert_int_equal(fl_device_read(device, &byte, 1, size - 1), 0);
	assert_int_equal(fl_device_read(device, &byte, 1, size), FL_EINVAL);
	assert_int_equal(fl_device_read(device, &byte, 2, size - 1), FL_EINVAL);
	assert_int_equal(fl_device_read(device, &byte, 0, size), 0);
	assert_int_equal(fl_device_read(device, &byte, 0, size + 1), FL_EINVAL);
	/* Sums that would wrap around to something inside. */
	assert_int_equal(fl_device_read(device, &byte, SIZE_MAX, 2), FL_EINVAL);
	assert_int_equal(fl_device_read(device, &byte, 2, UINT64_MAX), FL_EINVAL);
	assert_int_equal(fl_device_write(device, &byte, SIZE_MAX, 2), FL_EINVAL);
	assert_int_equal(fl_device_write(device, &byte, 2, UINT64_MAX), FL_EINVAL);
	assert_int_equal(fl_device_write(device, &byte, 1, size), FL_EINVAL);
	assert_int_equal(fl_device_clear(device, UINT64_MAX, 2), FL_EINVAL);
	assert_int_equal(fl_device_clear(device, 2, size - 1), FL_EINVAL);
	assert_int_equal(fl_device_discard(device, 2, size - 1), FL_EINVAL);
	assert_int_equal(fl_device_discard(device, UINT64_MAX, UINT64_MAX), FL_EINVAL);
	assert_int_equal(fl_device_is_hole(device, 2, size - 1, &hole), FL_EINVAL);
	assert_int_equal(fl_device_data_next(device, size + 1, &start, &length), FL_EINVAL);
	assert_true(hole && start == 7 && length == 7);
	/* Nothing of all this came through, and neither do lengths of 0. */
	assert_int_equal(fl_device_write(device, &byte, 0, 5), 0);
	assert_int_equal(fl_device_clear(device, 0, size), 0);
	assert_int_equal(fl_device_discard(device, 0, 5), 0);
	assert_int_equal(fake->reads, 1);
	assert_int_equal(fake->writes + fake->punches + fake->zeros, 0);
	fl_device_close(device);
	fl_device_close(NULL);
}

static void test_read_only(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;
	uint8_t byte = 0;

	(void)state;
	device->read_only = device->sparse = true;
	fake->ops.punch = fake_punch;
	assert_int_equal(fl_device_write(device, &byte, 1, 0), FL_EINVAL);
	assert_int_equal(fl_device_write(device, &byte, 0, 0), FL_EINVAL);
	assert_int_equal(fl_device_clear(device, 1, 0), FL_EINVAL);
	assert_int_equal(fl_device_discard(device, 1, 0), FL_EINVAL);
	assert_int_equal(fl_device_read(device, &byte, 1, 0), 0);
	assert_int_equal(fake->writes + fake->punches, 0);
	fl_device_close(device);
}

static void test_data_next_fallback(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;
	uint64_t size = device->size_bytes;
	bool hole = true;

	(void)state;
	assert_run(device, 0, 0, size);
	assert_run(device, 5, 5, size - 5);
	assert_run(device, size, size, 0);
	assert_int_equal(fl_device_is_hole(device, 1, 0, &hole), 0);
	assert_false(hole);
	assert_int_equal(fl_device_is_hole(device, 0, size, &hole), 0);
	assert_true(hole);
	fl_device_close(device);
}

static void test_is_hole(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;
	bool hole;

	(void)state;
	fake->ops.data_next = fake_data_next;
	fake->data_start = 100;
	fake->data_length = 50;
	assert_int_equal(fl_device_is_hole(device, 100, 0, &hole), 0);
	assert_true(hole);
	assert_int_equal(fl_device_is_hole(device, 101, 0, &hole), 0);
	assert_false(hole);
	assert_int_equal(fl_device_is_hole(device, 1, 149, &hole), 0);
	assert_false(hole);
	assert_int_equal(fl_device_is_hole(device, device->size_bytes - 150, 150, &hole), 0);
	assert_true(hole);
	fake->fail = FL_EIO;
	assert_int_equal(fl_device_is_hole(device, 1, 0, &hole), FL_EIO);
	fl_device_close(device);
}

/* The cheapest way that there is, and the same content whichever it was. */
static void test_clear(void **state)
{
	static const struct {
		bool sparse, punch, zero;
		int punches, zeros;
		bool writes;
	} cases[] = {
		{true, true, true, 1, 0, false},  {true, false, true, 0, 1, false},
		{true, true, false, 1, 0, false}, {true, false, false, 0, 0, true},
		{false, true, true, 0, 1, false}, {false, false, true, 0, 1, false},
		{false, true, false, 0, 0, true}, {false, false, false, 0, 0, true},
	};
	const uint64_t position = 4000, length = 150 * KIB + 1;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake *fake = new_fake();
		struct fl_device *device = &fake->device;

		device->sparse = cases[i].sparse;
		fake->ops.punch = cases[i].punch ? fake_punch : NULL;
		fake->ops.zero = cases[i].zero ? fake_zero : NULL;
		assert_int_equal(fl_device_clear(device, length, position), 0);
		assert_int_equal(fake->punches, cases[i].punches);
		assert_int_equal(fake->zeros, cases[i].zeros);
		assert_int_equal(fake->written_bytes, cases[i].writes ? length : 0);
		assert_true(fake->largest_write < length);
		assert_bytes(fake->bytes, position, 0xaa);
		assert_bytes(fake->bytes + position, length, 0);
		assert_bytes(fake->bytes + position + length,
			     sizeof(fake->bytes) - position - length, 0xaa);
		fl_device_close(device);
	}
}

/* A host that only turns out to be unable when asked. */
static void test_clear_cannot(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;

	(void)state;
	device->sparse = true;
	fake->ops.punch = fake->ops.zero = cannot;
	assert_int_equal(fl_device_clear(device, 1000, 1), 0);
	assert_int_equal(fake->punches, 2);
	assert_int_equal(fake->written_bytes, 1000);
	assert_bytes(fake->bytes + 1, 1000, 0);
	fake->ops.zero = fake_zero;
	assert_int_equal(fl_device_clear(device, 1000, 5000), 0);
	assert_int_equal(fake->zeros, 1);
	assert_int_equal(fake->written_bytes, 1000);
	assert_bytes(fake->bytes + 5000, 1000, 0);
	fl_device_close(device);
}

/* Zeros are written to data only, so that holes stay holes. */
static void test_clear_keeps_holes(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;

	(void)state;
	memset(fake->bytes, 0, sizeof(fake->bytes));
	memset(fake->bytes + 10000, 0xaa, 5000);
	device->sparse = true;
	fake->ops.data_next = fake_data_next;
	fake->data_start = 10000;
	fake->data_length = 5000;
	assert_int_equal(fl_device_clear(device, 12000, 0), 0);
	assert_int_equal(fake->written_bytes, 2000);
	assert_bytes(fake->bytes, 12000, 0);
	assert_bytes(fake->bytes + 12000, 3000, 0xaa);
	assert_int_equal(fl_device_clear(device, 100 * KIB, 15000), 0);
	assert_int_equal(fake->written_bytes, 2000);
	fl_device_close(device);
}

static void test_discard(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;

	(void)state;
	device->sparse = true;
	assert_int_equal(fl_device_discard(device, 5000, 0), 0);
	fake->ops.punch = fake->ops.zero = cannot;
	assert_int_equal(fl_device_discard(device, 5000, 0), 0);
	assert_bytes(fake->bytes, 5000, 0xaa);
	fake->punches = 0;
	fake->ops.punch = fake_punch;
	assert_int_equal(fl_device_discard(device, 1000, 0), 0);
	assert_int_equal(fake->punches, 1);
	assert_bytes(fake->bytes, 1000, 0);
	/* A fully stored image must not get holes. */
	device->sparse = false;
	fake->ops.zero = NULL;
	assert_int_equal(fl_device_discard(device, 1000, 2000), 0);
	assert_int_equal(fake->punches, 1);
	assert_bytes(fake->bytes + 1000, 4000, 0xaa);
	fake->ops.zero = fake_zero;
	assert_int_equal(fl_device_discard(device, 1000, 2000), 0);
	assert_int_equal(fake->zeros, 1);
	assert_bytes(fake->bytes + 2000, 1000, 0);
	assert_int_equal(fake->writes, 0);
	fl_device_close(device);
}

/* An error is an error, not a reason to try something else. */
static void test_failures(void **state)
{
	struct fake *fake = new_fake();
	struct fl_device *device = &fake->device;

	(void)state;
	device->sparse = true;
	fake->ops.punch = fake_punch;
	fake->ops.zero = fake_zero;
	fake->fail = FL_EHOSTFULL;
	assert_int_equal(fl_device_clear(device, 1000, 0), FL_EHOSTFULL);
	assert_int_equal(fl_device_discard(device, 1000, 0), FL_EHOSTFULL);
	assert_int_equal(fake->zeros + fake->writes, 0);
	assert_int_equal(fl_device_flush(device), FL_EHOSTFULL);
	fake->ops.punch = fake->ops.zero = NULL;
	assert_int_equal(fl_device_clear(device, 200 * KIB, 0), FL_EHOSTFULL);
	assert_int_equal(fake->writes, 1);
	fl_device_close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_read_only),
		cmocka_unit_test(test_data_next_fallback),
		cmocka_unit_test(test_is_hole),
		cmocka_unit_test(test_clear),
		cmocka_unit_test(test_clear_cannot),
		cmocka_unit_test(test_clear_keeps_holes),
		cmocka_unit_test(test_discard),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
