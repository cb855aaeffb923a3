/* SPDX-License-Identifier: MIT */
/*
 * Many transfers at once: on a raw file against a copy in memory, aligned as direct I/O wants
 * them and not; through a window; what fails, and which.
 */
#include "tests/unit/device_files.h"

#define SIZE (4 * MIB)

struct lot {
	FL_ARRAY(struct fl_transfer) items;
	uint8_t *buffer;
};

/* Ranges that do not overlap, in random order; multiples of unit. */
static void draw(struct fl_rng *rng, struct lot *lot, size_t unit, bool write)
{
	size_t at = 0;

	lot->items.count = 0;
	while (at < SIZE) {
		size_t most = fl_rng_chance(rng, 1, 8) ? 64 * KIB : 6 * KIB;
		size_t length = fl_min(SIZE - at, (1 + fl_rng_below(rng, most / unit)) * unit);
		struct fl_transfer item = {lot->buffer + at, length, at, write};

		if (fl_rng_chance(rng, 1, 2))
			assert_int_equal(fl_array_push(&lot->items, item), 0);
		at += length;
	}
	for (size_t i = lot->items.count; i > 1; i--) {
		size_t other = (size_t)fl_rng_below(rng, i);
		struct fl_transfer item = lot->items.at[i - 1];

		lot->items.at[i - 1] = lot->items.at[other];
		lot->items.at[other] = item;
	}
	for (size_t i = 0; i < SIZE; i++)
		lot->buffer[i] = (uint8_t)fl_rng_next(rng);
}

static void test_random(void **state)
{
	static const size_t units[] = {4096, 512, 1};
	struct lot lot = {.buffer = fl_alloc_buffer(SIZE, 1)};
	uint8_t *now = calloc(1, SIZE);
	struct fl_device *file, *window;
	struct fl_rng rng;
	size_t failed;

	(void)state;
	assert_true(lot.buffer && now);
	fl_rng_seed(&rng, 1);
	make_file("image", SIZE + 3 * MIB);
	assert_int_equal(fl_device_file_open("image", FL_DEVICE_WRITE, &file, &diag), 0);
	assert_int_equal(fl_device_window(file, SIZE, MIB, &window), 0);
	for (size_t round = 0; round < 24; round++) {
		size_t unit = units[round % 3];

		draw(&rng, &lot, unit, true);
		assert_int_equal(fl_device_transfer(window, lot.items.at, lot.items.count, &failed),
				 0);
		for (size_t i = 0; i < lot.items.count; i++)
			memcpy(now + lot.items.at[i].position, lot.items.at[i].buffer,
			       lot.items.at[i].length);
		/* Half of the rounds read from the disk, half what the cache may have. */
		if (round & 1)
			assert_int_equal(fl_device_flush(window), 0);
		draw(&rng, &lot, unit, false);
		assert_int_equal(fl_device_transfer(window, lot.items.at, lot.items.count, &failed),
				 0);
		for (size_t i = 0; i < lot.items.count; i++)
			assert_memory_equal(lot.items.at[i].buffer, now + lot.items.at[i].position,
					    lot.items.at[i].length);
	}
	assert_int_equal(fl_device_read(file, lot.buffer, SIZE, MIB), 0);
	assert_memory_equal(lot.buffer, now, SIZE);
	/* Nothing went beside the window. */
	assert_int_equal(fl_device_read(file, lot.buffer, MIB, 0), 0);
	assert_int_equal(fl_device_read(file, lot.buffer + MIB, 2 * MIB, MIB + SIZE), 0);
	for (size_t i = 0; i < 3 * MIB; i++)
		assert_int_equal(lot.buffer[i], 0);
	fl_device_close(window);
	fl_device_close(file);
	fl_array_free(&lot.items);
	free(lot.buffer);
	free(now);
}

/* One outside: none is begun. One that the file does not have any more: it is named. */
static void test_failures(void **state)
{
	uint8_t bytes[3] = {1, 1, 1};
	struct fl_transfer items[] = {
		{&bytes[0], 1, 0, true}, {&bytes[1], 1, MIB, false}, {&bytes[2], 1, 2 * MIB, true}};
	struct fl_device *device;
	size_t failed = 9;

	(void)state;
	make_file("image", 2 * MIB);
	assert_int_equal(fl_device_file_open("image", FL_DEVICE_WRITE, &device, &diag), 0);
	assert_int_equal(fl_device_transfer(device, items, 3, &failed), FL_EINVAL);
	assert_int_equal(failed, 2);
	assert_int_equal(fl_device_read(device, bytes, 1, 0), 0);
	assert_int_equal(bytes[0], 0);
	assert_int_equal(fl_device_transfer(device, items, 0, &failed), 0);
	assert_int_equal(truncate("image", MIB), 0);
	assert_int_equal(fl_device_transfer(device, items, 2, &failed), FL_EIO);
	assert_int_equal(failed, 1);
	fl_device_close(device);
	assert_int_equal(truncate("image", 2 * MIB), 0);
	assert_int_equal(fl_device_file_open("image", FL_DEVICE_READ, &device, &diag), 0);
	assert_int_equal(fl_device_transfer(device, items, 1, &failed), FL_EINVAL);
	assert_int_equal(fl_device_transfer(device, items + 1, 1, &failed), 0);
	fl_device_close(device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random, enter, leave),
		cmocka_unit_test_setup_teardown(test_failures, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
