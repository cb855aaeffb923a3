/* SPDX-License-Identifier: MIT */
/*
 * For the tests of devices: one that is an array and has just the abilities that a
 * test wants, and what they all assert.
 */
#ifndef FRAGLAB_TEST_DEVICE_FAKE_H
#define FRAGLAB_TEST_DEVICE_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fraglab/device.h>
#include <fraglab/util.h>

#define KIB UINT64_C(1024)
#define PAGE (64 * KIB)

struct fake {
	struct fl_device device;
	struct fl_device_ops ops;
	uint8_t bytes[256 * 1024];
	enum fl_device_advice advice;		/* the last */
	uint64_t advised_start, advised_length; /* what it was about */
	uint64_t data_start, data_length;	/* what data_next says */
	int reads, writes, flushes, punches, zeros;
	int fail; /* what writes, punches, zeros and data_next return */
	uint64_t written_bytes, largest_write;
};

static inline struct fake *as_fake(struct fl_device *device)
{
	return (struct fake *)device;
}

static inline int fake_read(struct fl_device *device, void *buffer, size_t length,
			    uint64_t position)
{
	as_fake(device)->reads++;
	memcpy(buffer, as_fake(device)->bytes + position, length);
	return 0;
}

static inline int fake_write(struct fl_device *device, const void *buffer, size_t length,
			     uint64_t position)
{
	struct fake *fake = as_fake(device);

	fake->writes++;
	if (fake->fail)
		return fake->fail;
	fake->written_bytes += length;
	fake->largest_write = fl_max(fake->largest_write, length);
	memcpy(fake->bytes + position, buffer, length);
	return 0;
}

static inline int fake_flush(struct fl_device *device)
{
	as_fake(device)->flushes++;
	return as_fake(device)->fail;
}

static inline int fake_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct fake *fake = as_fake(device);

	fake->punches++;
	if (!fake->fail)
		memset(fake->bytes + position, 0, (size_t)length);
	return fake->fail;
}

static inline int fake_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct fake *fake = as_fake(device);

	fake->zeros++;
	if (!fake->fail)
		memset(fake->bytes + position, 0, (size_t)length);
	return fake->fail;
}

static inline int fake_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
				 uint64_t *length)
{
	struct fake *fake = as_fake(device);
	uint64_t end = fake->data_start + fake->data_length;

	if (fake->fail)
		return fake->fail;
	*start = fl_max(position, fake->data_start);
	*length = *start < end ? end - *start : 0;
	return 0;
}

static inline void fake_advise(struct fl_device *device, enum fl_device_advice advice,
			       uint64_t length, uint64_t position)
{
	as_fake(device)->advice = advice;
	as_fake(device)->advised_start = position;
	as_fake(device)->advised_length = length;
}

static inline int cannot(struct fl_device *device, uint64_t length, uint64_t position)
{
	(void)length;
	(void)position;
	as_fake(device)->punches++;
	return FL_DEVICE_CANNOT;
}

static inline void fake_close(struct fl_device *device)
{
	free(device);
}

/* All bytes 0xaa; reads, writes and flushes only. */
static inline struct fake *new_fake(void)
{
	struct fake *fake = calloc(1, sizeof(*fake));

	assert_non_null(fake);
	memset(fake->bytes, 0xaa, sizeof(fake->bytes));
	fake->ops = (struct fl_device_ops){
		.read = fake_read,
		.write = fake_write,
		.flush = fake_flush,
		.close = fake_close,
	};
	fake->device.ops = &fake->ops;
	fake->device.size_bytes = sizeof(fake->bytes);
	return fake;
}

static inline void assert_bytes(const uint8_t *bytes, size_t length, uint8_t value)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (bytes[i] != value)
			fail_msg("byte %zu is 0x%02x, not 0x%02x", i, bytes[i], value);
}

static inline void assert_device(struct fl_device *device, uint64_t length, uint64_t position,
				 uint8_t value)
{
	uint8_t *bytes = malloc((size_t)length);

	assert_non_null(bytes);
	assert_int_equal(fl_device_read(device, bytes, (size_t)length, position), 0);
	assert_bytes(bytes, (size_t)length, value);
	free(bytes);
}

static inline void fill(struct fl_device *device, uint64_t length, uint64_t position, uint8_t value)
{
	uint8_t *bytes = malloc((size_t)length);

	assert_non_null(bytes);
	memset(bytes, value, (size_t)length);
	assert_int_equal(fl_device_write(device, bytes, (size_t)length, position), 0);
	free(bytes);
}

static inline void assert_run(struct fl_device *device, uint64_t position, uint64_t start,
			      uint64_t length)
{
	uint64_t got_start = 1, got_length = 1;

	assert_int_equal(fl_device_data_next(device, position, &got_start, &got_length), 0);
	assert_int_equal(got_start, start);
	assert_int_equal(got_length, length);
}

#endif
