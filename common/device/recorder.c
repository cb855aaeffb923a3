/* SPDX-License-Identifier: MIT */
/*
 * A wrapper that tells an observer about every operation before it happens.
 * Must not change anything on the way.
 */
#include <stdlib.h>

#include "common/device/device_private.h"

struct recorder {
	struct fl_device device;
	struct fl_device_ops ops; /* our own: punch and zero only when below has them */
	struct fl_device *below;  /* borrowed */
	int (*observe)(void *context, const struct fl_device_event *event);
	void *context;
};

static struct recorder *as_recorder(struct fl_device *device)
{
	return (struct recorder *)device; /* device is the first member */
}

static int tell(struct recorder *recorder, enum fl_device_op op, uint64_t length, uint64_t position)
{
	struct fl_device_event event = {.op = op, .position = position, .length = length};

	return recorder->observe(recorder->context, &event);
}

static int recorder_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	struct recorder *recorder = as_recorder(device);
	int rc = tell(recorder, FL_OP_READ, length, position);

	return rc ? rc : fl_device_read(recorder->below, buffer, length, position);
}

static int recorder_write(struct fl_device *device, const void *buffer, size_t length,
			  uint64_t position)
{
	struct recorder *recorder = as_recorder(device);
	int rc = tell(recorder, FL_OP_WRITE, length, position);

	return rc ? rc : fl_device_write(recorder->below, buffer, length, position);
}

static int recorder_many(struct fl_device *device, const struct fl_transfer *items, size_t count,
			 uint64_t base, size_t *failed)
{
	struct recorder *recorder = as_recorder(device);

	for (size_t i = 0; i < count; i++) {
		int rc = tell(recorder, items[i].write ? FL_OP_WRITE : FL_OP_READ, items[i].length,
			      base + items[i].position);

		*failed = i;
		if (rc)
			return rc;
	}
	return fl_device_many(recorder->below, items, count, base, failed);
}

static int recorder_flush(struct fl_device *device)
{
	struct recorder *recorder = as_recorder(device);
	int rc = tell(recorder, FL_OP_FLUSH, 0, 0);

	return rc ? rc : fl_device_flush(recorder->below);
}

static int recorder_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct recorder *recorder = as_recorder(device);
	int rc = tell(recorder, FL_OP_PUNCH, length, position);

	return rc ? rc : fl_device_punch(recorder->below, length, position);
}

static int recorder_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct recorder *recorder = as_recorder(device);
	int rc = tell(recorder, FL_OP_ZERO, length, position);

	return rc ? rc : fl_device_zero(recorder->below, length, position);
}

static int recorder_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			      uint64_t *length)
{
	return fl_device_data_next(as_recorder(device)->below, position, start, length);
}

static void recorder_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
			    uint64_t position)
{
	fl_device_advise(as_recorder(device)->below, advice, length, position);
}

static void recorder_close(struct fl_device *device)
{
	free(device);
}

int fl_device_recorder(struct fl_device *below,
		       int (*observe)(void *context, const struct fl_device_event *event),
		       void *context, struct fl_device **device)
{
	struct recorder *recorder;

	if (!observe)
		return FL_EINVAL;
	recorder = calloc(1, sizeof(*recorder));
	if (!recorder)
		return FL_ENOMEM;
	recorder->below = below;
	recorder->observe = observe;
	recorder->context = context;
	recorder->ops = (struct fl_device_ops){
		.read = recorder_read,
		.write = recorder_write,
		.many = recorder_many,
		.flush = recorder_flush,
		.punch = below->ops->punch ? recorder_punch : NULL,
		.zero = below->ops->zero ? recorder_zero : NULL,
		.data_next = recorder_data_next,
		.advise = recorder_advise,
		.close = recorder_close,
	};
	recorder->device.ops = &recorder->ops;
	recorder->device.size_bytes = below->size_bytes;
	recorder->device.read_only = below->read_only;
	recorder->device.sparse = below->sparse;
	recorder->device.base_bytes = below->base_bytes;
	*device = &recorder->device;
	return 0;
}
