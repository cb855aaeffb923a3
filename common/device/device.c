/* SPDX-License-Identifier: MIT */
/*
 * The calls everybody makes on a device: they check, choose a way and fall back.
 * Must not know what kind of device it is.
 */
#include <fraglab/util.h>

#include "common/device/device_private.h"

#define ZEROS_BYTES 65536u

/* In this order, so that no sum can overflow. */
static bool inside(const struct fl_device *device, uint64_t length, uint64_t position)
{
	return position <= device->size_bytes && length <= device->size_bytes - position;
}

static bool may_write(const struct fl_device *device, uint64_t length, uint64_t position)
{
	return !device->read_only && inside(device, length, position);
}

int fl_device_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	if (!inside(device, length, position))
		return FL_EINVAL;
	if (!length)
		return 0;
	return device->ops->read(device, buffer, length, position);
}

int fl_device_write(struct fl_device *device, const void *buffer, size_t length, uint64_t position)
{
	if (!may_write(device, length, position))
		return FL_EINVAL;
	if (!length)
		return 0;
	return device->ops->write(device, buffer, length, position);
}

int fl_device_many(struct fl_device *device, const struct fl_transfer *items, size_t count,
		   uint64_t base, size_t *failed)
{
	for (size_t i = 0; i < count; i++) {
		const struct fl_transfer *item = &items[i];
		uint64_t position = base + item->position;
		int rc = 0;

		*failed = i;
		if (device->ops->many)
			rc = (item->write ? may_write : inside)(device, item->length, position)
				     ? 0
				     : FL_EINVAL;
		else if (item->write)
			rc = fl_device_write(device, item->buffer, item->length, position);
		else
			rc = fl_device_read(device, item->buffer, item->length, position);
		if (rc)
			return rc;
	}
	return device->ops->many && count ? device->ops->many(device, items, count, base, failed)
					  : 0;
}

int fl_device_transfer(struct fl_device *device, const struct fl_transfer *items, size_t count,
		       size_t *failed)
{
	return fl_device_many(device, items, count, 0, failed);
}

int fl_device_flush(struct fl_device *device)
{
	return device->ops->flush(device);
}

int fl_device_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	if (!may_write(device, length, position))
		return FL_EINVAL;
	if (!device->ops->punch)
		return FL_DEVICE_CANNOT;
	return length ? device->ops->punch(device, length, position) : 0;
}

int fl_device_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	if (!may_write(device, length, position))
		return FL_EINVAL;
	if (!device->ops->zero)
		return FL_DEVICE_CANNOT;
	return length ? device->ops->zero(device, length, position) : 0;
}

/* Zeros without transfer, or FL_DEVICE_CANNOT. A host that stores the image whole keeps it so. */
static int zero_cheaply(struct fl_device *device, uint64_t length, uint64_t position)
{
	int rc = FL_DEVICE_CANNOT;

	if (device->sparse)
		rc = fl_device_punch(device, length, position);
	if (rc == FL_DEVICE_CANNOT)
		rc = fl_device_zero(device, length, position);
	return rc;
}

static int write_zeros(struct fl_device *device, uint64_t length, uint64_t position)
{
	static const uint8_t zeros[ZEROS_BYTES];
	int rc = 0;

	while (length && !rc) {
		size_t chunk = (size_t)fl_min(length, sizeof(zeros));

		rc = fl_device_write(device, zeros, chunk, position);
		position += chunk;
		length -= chunk;
	}
	return rc;
}

/* As write_zeros, but leaves holes alone: they read as zeros and should stay holes. */
static int write_zeros_sparse(struct fl_device *device, uint64_t length, uint64_t position)
{
	uint64_t end = position + length;

	while (position < end) {
		uint64_t start, run, stop;
		int rc = fl_device_data_next(device, position, &start, &run);

		if (rc)
			return rc;
		if (!run || start >= end)
			break;
		stop = fl_min(end, start + run);
		rc = write_zeros(device, stop - start, start);
		if (rc)
			return rc;
		position = stop;
	}
	return 0;
}

int fl_device_clear(struct fl_device *device, uint64_t length, uint64_t position)
{
	int rc;

	if (!may_write(device, length, position))
		return FL_EINVAL;
	rc = zero_cheaply(device, length, position);
	if (rc != FL_DEVICE_CANNOT)
		return rc;
	if (device->sparse)
		return write_zeros_sparse(device, length, position);
	return write_zeros(device, length, position);
}

int fl_device_discard(struct fl_device *device, uint64_t length, uint64_t position)
{
	int rc;

	if (!may_write(device, length, position))
		return FL_EINVAL;
	rc = zero_cheaply(device, length, position);
	return rc == FL_DEVICE_CANNOT ? 0 : rc;
}

int fl_device_is_hole(struct fl_device *device, uint64_t length, uint64_t position, bool *hole)
{
	uint64_t start, run;
	int rc;

	if (!inside(device, length, position))
		return FL_EINVAL;
	rc = fl_device_data_next(device, position, &start, &run);
	if (!rc)
		*hole = !run || start >= position + length;
	return rc;
}

int fl_device_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			uint64_t *length)
{
	uint64_t run_start = position, run_length = device->size_bytes - position;

	if (!inside(device, 0, position))
		return FL_EINVAL;
	if (run_length && device->ops->data_next) {
		int rc = device->ops->data_next(device, position, &run_start, &run_length);

		if (rc)
			return rc;
	}
	*start = run_length ? run_start : device->size_bytes;
	*length = run_length;
	return 0;
}

void fl_device_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
		      uint64_t position)
{
	if (device->ops->advise && length && inside(device, length, position))
		device->ops->advise(device, advice, length, position);
}

void fl_device_close(struct fl_device *device)
{
	if (device)
		device->ops->close(device);
}
