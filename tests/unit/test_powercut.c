/* SPDX-License-Identifier: MIT */
/*
 * The devices of the crash tests: what survives a power cut, and that faults come when they
 * shall. They are trusted by everything in tests/crash.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/fault.h"
#include "tests/lib/powercut.h"
#include "tests/lib/ramdisk.h"

#define BYTES 16384u

static uint8_t block[4096];

static struct fl_device *new_ram(uint8_t bytes[BYTES])
{
	struct fl_device *ram;

	memset(bytes, 0, BYTES);
	assert_int_equal(ramdisk_new(bytes, BYTES, &ram), 0);
	return ram;
}

static int put(struct fl_device *device, uint8_t value, size_t length, uint64_t position)
{
	memset(block, value, length);
	return fl_device_write(device, block, length, position);
}

static void disk_of(const struct powercut *log, uint64_t cut, uint64_t seed, uint8_t disk[BYTES])
{
	static uint8_t durable[BYTES];
	struct powercut_replay replay = {log, 0, durable, BYTES};

	memset(durable, 0, BYTES);
	powercut_disk(&replay, cut, seed, disk);
}

/* write A, flush, write B, write C: operations 1 to 4. */
static void test_fates(void **state)
{
	static uint8_t bytes[BYTES], disk[BYTES];
	struct fl_device *ram = new_ram(bytes);
	struct powercut *log;

	(void)state;
	assert_int_equal(powercut_new(ram, 0, &log), 0);
	assert_int_equal(put(powercut_device(log), 'a', 512, 0), 0);
	assert_int_equal(fl_device_flush(powercut_device(log)), 0);
	assert_int_equal(put(powercut_device(log), 'b', 1024, 4096), 0);
	assert_int_equal(put(powercut_device(log), 'c', 512, 8192), 0);
	assert_int_equal(powercut_operations(log), 4);
	assert_int_equal(bytes[8192], 'c');
	/* Not flushed in operation 2, which is the flush; durable from operation 3 on. */
	disk_of(log, 2, 0, disk);
	assert_int_equal(disk[0], 0);
	disk_of(log, 3, 0, disk);
	assert_int_equal(disk[0], 'a');
	assert_int_equal(disk[4096], 0);
	/* All but the one in flight, and that one too. */
	disk_of(log, 4, 1, disk);
	assert_int_equal(disk[5119], 'b');
	assert_int_equal(disk[8192], 0);
	disk_of(log, 4, 2, disk);
	assert_memory_equal(disk, bytes, BYTES);
	powercut_free(log);
	fl_device_close(ram);
}

/* The same log, with nothing in flight; and beside one that differs in a byte. */
static void test_between(void **state)
{
	static uint8_t bytes[BYTES], durable[BYTES], disk[BYTES];
	struct powercut *log[2];
	struct powercut_replay replay = {NULL, 0, durable, BYTES};

	(void)state;
	memset(durable, 0, BYTES);
	for (uint8_t i = 0; i < 2; i++) {
		struct fl_device *ram = new_ram(bytes);

		assert_int_equal(powercut_new(ram, 0, &log[i]), 0);
		assert_int_equal(put(powercut_device(log[i]), 'a', 512, 0), 0);
		assert_int_equal(fl_device_flush(powercut_device(log[i])), 0);
		assert_int_equal(put(powercut_device(log[i]), (uint8_t)('b' + i), 512, 512), 0);
		fl_device_close(ram);
	}
	replay.log = log[0];
	powercut_between(&replay, 1, 0, disk);
	assert_int_equal(disk[0], 0);
	powercut_between(&replay, 1, 1, disk);
	assert_int_equal(disk[0], 'a');
	/* The flush has ended. */
	powercut_between(&replay, 2, 0, disk);
	assert_int_equal(disk[0], 'a');
	powercut_between(&replay, 3, 1, disk);
	assert_int_equal(disk[512], 'b');
	assert_int_equal(powercut_common(log[0], log[0]), 3);
	assert_int_equal(powercut_common(log[0], log[1]), 2);
	powercut_free(log[0]);
	powercut_free(log[1]);
}

/* Over many seeds every subset of two sectors occurs; no sector is ever torn. */
static void test_torn(void **state)
{
	static uint8_t bytes[BYTES], disk[BYTES];
	struct fl_device *ram = new_ram(bytes);
	unsigned seen = 0;
	struct powercut *log;

	(void)state;
	assert_int_equal(powercut_new(ram, 0, &log), 0);
	assert_int_equal(put(powercut_device(log), 'a', 1024, 512), 0);
	for (uint64_t seed = 3; seed < 100; seed++) {
		disk_of(log, 1, seed, disk);
		for (size_t i = 0; i < 1024; i++)
			assert_int_equal(disk[512 + i], disk[512 + i / 512 * 512]);
		seen |= 1u << ((disk[512] == 'a') + 2 * (disk[1024] == 'a'));
		assert_int_equal(disk[0] | disk[1536], 0);
	}
	assert_int_equal(seen, 15);
	powercut_free(log);
	fl_device_close(ram);
}

/* A punch that is lost leaves the old bytes; one that was flushed does not. */
static void test_punch(void **state)
{
	static uint8_t bytes[BYTES], disk[BYTES];
	struct fl_device *ram = new_ram(bytes);
	struct powercut *log;
	bool hole;

	(void)state;
	assert_int_equal(powercut_new(ram, 0, &log), 0);
	assert_int_equal(put(powercut_device(log), 'a', 4096, 4096), 0);
	assert_int_equal(fl_device_flush(powercut_device(log)), 0);
	assert_int_equal(fl_device_discard(powercut_device(log), 4096, 4096), 0);
	assert_int_equal(fl_device_is_hole(powercut_device(log), 4096, 4096, &hole), 0);
	assert_true(hole);
	assert_int_equal(fl_device_flush(powercut_device(log)), 0);
	assert_int_equal(put(powercut_device(log), 'b', 512, 0), 0);
	disk_of(log, 3, 0, disk);
	assert_int_equal(disk[4096], 'a');
	disk_of(log, 3, 2, disk);
	assert_int_equal(disk[4096], 0);
	disk_of(log, 5, 0, disk);
	assert_int_equal(disk[4096], 0);
	powercut_free(log);
	fl_device_close(ram);
}

static void test_stop(void **state)
{
	static uint8_t bytes[BYTES];
	struct fl_device *ram = new_ram(bytes);
	struct powercut *log;

	(void)state;
	assert_int_equal(powercut_new(ram, 2, &log), 0);
	assert_int_equal(put(powercut_device(log), 'a', 512, 0), 0);
	assert_int_equal(put(powercut_device(log), 'b', 512, 512), FL_EIO);
	assert_int_equal(fl_device_read(powercut_device(log), block, 512, 0), FL_EIO);
	assert_int_equal(fl_device_flush(powercut_device(log)), FL_EIO);
	assert_int_equal(powercut_operations(log), 2);
	assert_int_equal(bytes[0], 'a');
	assert_int_equal(bytes[512], 0);
	powercut_free(log);
	fl_device_close(ram);
}

/* Two writes of four sectors, a flush, a read: what a fault of each kind makes of them. */
static void test_faults(void **state)
{
	static const struct {
		enum fault_kind kind;
		int write[2], flush, read;
		size_t second_bytes; /* of the second write that arrive */
	} cases[] = {
		{FAULT_READ, {0, 0}, 0, 0, 2048}, /* there is no second read */
		{FAULT_WRITE, {0, FL_EIO}, 0, 0, 0},
		{FAULT_SHORT, {0, FL_EIO}, 0, 0, 1024},
		{FAULT_FULL, {0, FL_EHOSTFULL}, 0, 0, 0},
		{FAULT_FULL_HOST, {0, FL_EHOSTFULL}, 0, 0, 0},
		{FAULT_FLUSH, {0, 0}, 0, 0, 2048}, /* nor a second flush */
		{FAULT_LOST, {0, 0}, FL_EIO, 0, 0},
	};
	static uint8_t bytes[BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fl_device *ram = new_ram(bytes), *device;
		struct fault_device *fault;
		size_t arrived = 0;

		assert_int_equal(fault_new(ram, cases[i].kind, 2, &fault), 0);
		device = fault_device(fault);
		assert_false(fault_wrote(fault));
		for (uint64_t w = 0; w < 2; w++)
			assert_int_equal(put(device, 'a', 2048, w * 8192), cases[i].write[w]);
		assert_true(fault_wrote(fault));
		assert_int_equal(fl_device_flush(device), cases[i].flush);
		assert_int_equal(fl_device_read(device, block, 512, 0), cases[i].read);
		assert_int_equal(fault_came(fault),
				 cases[i].kind != FAULT_READ && cases[i].kind != FAULT_FLUSH);
		while (arrived < 2048 && bytes[8192 + arrived] == 'a')
			arrived++;
		assert_int_equal(arrived, cases[i].second_bytes);
		/* Once. */
		assert_int_equal(fl_device_flush(device),
				 cases[i].kind == FAULT_FLUSH ? FL_EIO : 0);
		assert_int_equal(fl_device_read(device, block, 512, 0),
				 cases[i].kind == FAULT_READ ? FL_EIO : 0);
		fault_free(fault);
		fl_device_close(ram);
	}
}

/* Only what is read back before a flush counts, and only writes to the blocks that are named. */
static void test_read_back(void **state)
{
	static const bool counted[BYTES / 4096] = {false, true, true, false};
	static uint8_t bytes[BYTES];
	struct fl_device *ram = new_ram(bytes), *device;
	struct fault_device *fault;
	unsigned wrong = 0;

	(void)state;
	assert_int_equal(fault_new(ram, FAULT_READ_BACK, 2, &fault), 0);
	device = fault_device(fault);
	assert_int_equal(put(device, 'a', 1024, 512), 0);
	assert_int_equal(fl_device_read(device, block, 1024, 512), 0);
	assert_int_equal(fl_device_read(device, block, 1536, 512), 0);
	assert_int_equal(fl_device_read(device, block, 512, 0), 0);
	assert_int_equal(fl_device_flush(device), 0);
	assert_int_equal(fl_device_read(device, block, 1024, 512), 0);
	assert_false(fault_came(fault));
	assert_int_equal(put(device, 'a', 512, 512), 0);
	assert_int_equal(fl_device_read(device, block, 512, 512), FL_EIO);
	assert_true(fault_came(fault));
	fault_free(fault);

	assert_int_equal(fault_new(ram, FAULT_GARBLED, 2, &fault), 0);
	fault_garble(fault, counted, 4096);
	device = fault_device(fault);
	assert_int_equal(put(device, 'b', 4096, 0), 0);
	assert_int_equal(put(device, 'b', 4096, 4096), 0);
	assert_int_equal(put(device, 'b', 1024, 11776), 0); /* a part of it is in no such block */
	assert_false(fault_came(fault));
	assert_int_equal(put(device, 'b', 2048, 8192), 0);
	assert_true(fault_came(fault));
	for (size_t i = 0; i < 8192 + 2048; i++)
		wrong += bytes[i] != 'b';
	assert_int_equal(wrong, 1);
	fault_free(fault);
	fl_device_close(ram);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fates),	  cmocka_unit_test(test_torn),
		cmocka_unit_test(test_punch),	  cmocka_unit_test(test_stop),
		cmocka_unit_test(test_faults),	  cmocka_unit_test(test_between),
		cmocka_unit_test(test_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
