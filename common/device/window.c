/* SPDX-License-Identifier: MIT */
/*
 * A stretch of another device, such as a partition, as a device of its own.
 * Must never reach a byte outside that stretch.
 */
#include <stdlib.h>

#include <fraglab/util.h>

#include "common/device/device_private.h"

struct window {
	struct fl_device device;
	struct fl_device_ops ops; /* our own: punch and zero only when below has them */
	struct fl_device *below;  /* borrowed */
	uint64_t base;		  /* byte of below that is our byte 0 */
};

static struct window *as_window(struct fl_device *device)
{
	return (struct window *)device; /* device is the first member */
}

static int window_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	struct window *window = as_window(device);

	return fl_device_read(window->below, buffer, length, window->base + position);
}

static int window_write(struct fl_device *device, const void *buffer, size_t length,
			uint64_t position)
{
	struct window *window = as_window(device);

	return fl_device_write(window->below, buffer, length, window->base + position);
}

static int window_many(struct fl_device *device, const struct fl_transfer *items, size_t count,
		       uint64_t base, size_t *failed)
{
	struct window *window = as_window(device);

	return fl_device_many(window->below, items, count, window->base + base, failed);
}

static int window_flush(struct fl_device *device)
{
	return fl_device_flush(as_window(device)->below);
}

static int window_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct window *window = as_window(device);

	return fl_device_punch(window->below, length, window->base + position);
}

static int window_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct window *window = as_window(device);

	return fl_device_zero(window->below, length, window->base + position);
}

static int window_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			    uint64_t *length)
{
	struct window *window = as_window(device);
	uint64_t end = window->base + device->size_bytes; /* checked when it was made */
	uint64_t run_start, run_length;
	int rc = fl_device_data_next(window->below, window->base + position, &run_start,
				     &run_length);

	if (rc)
		return rc;
	if (run_start >= end)
		run_length = 0;
	*start = run_length ? run_start - window->base : device->size_bytes;
	*length = run_length ? fl_min(run_length, end - run_start) : 0;
	return 0;
}

static void window_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
			  uint64_t position)
{
	struct window *window = as_window(device);

	fl_device_advise(window->below, advice, length, window->base + position);
}

static void window_close(struct fl_device *device)
{
	free(device);
}

int fl_device_window(struct fl_device *below, uint64_t length, uint64_t position,
		     struct fl_device **device)
{
	struct window *window;

	if (position > below->size_bytes || length > below->size_bytes - position)
		return FL_EINVAL;
	window = calloc(1, sizeof(*window));
	if (!window)
		return FL_ENOMEM;
	window->below = below;
	window->base = position;
	window->ops = (struct fl_device_ops){
		.read = window_read,
		.write = window_write,
		.many = window_many,
		.flush = window_flush,
		.punch = below->ops->punch ? window_punch : NULL,
		.zero = below->ops->zero ? window_zero : NULL,
		.data_next = window_data_next,
		.advise = window_advise,
		.close = window_close,
	};
	window->device.ops = &window->ops;
	window->device.size_bytes = length;
	window->device.read_only = below->read_only;
	window->device.sparse = below->sparse;
	window->device.base_bytes = below->base_bytes + position;
	*device = &window->device;
	return 0;
}
