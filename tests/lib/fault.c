/* SPDX-License-Identifier: MIT */
/*
 * One failing operation. Must do everything else as the device below does.
 */
#include "tests/lib/fault.h"

#include <stdlib.h>
#include <string.h>

#include <fraglab/util.h>

#include "common/device/device_private.h"

const char *const fault_names[FAULT_KINDS] = {
	[FAULT_READ] = "read", [FAULT_WRITE] = "write",		[FAULT_SHORT] = "short",
	[FAULT_FULL] = "full", [FAULT_FULL_HOST] = "full-host", [FAULT_FLUSH] = "flush",
	[FAULT_LOST] = "lost", [FAULT_READ_BACK] = "read-back", [FAULT_GARBLED] = "garbled",
};

struct fault_device {
	struct fl_device device;
	struct fl_device_ops ops;
	struct fl_device *below;
	enum fault_kind kind;
	uint64_t n, count;
	bool came, wrote, lost; /* lost: the next flush must tell */
	bool *fresh;		/* by sector: written since the last flush */
	const bool *counted;	/* by block; see fault_garble */
	uint32_t block_bytes;
};

static struct fault_device *as_fault(struct fl_device *device)
{
	return (struct fault_device *)device; /* device is the first member */
}

/* Counts an operation of the kind; true for the n-th. */
static bool strikes(struct fault_device *fault)
{
	if (++fault->count != fault->n)
		return false;
	fault->came = true;
	return true;
}

static bool all_true(const bool *flags, uint64_t unit_bytes, size_t length, uint64_t position)
{
	for (uint64_t i = position / unit_bytes; i * unit_bytes < position + length; i++)
		if (!flags[i])
			return false;
	return true;
}

static int fault_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	struct fault_device *fault = as_fault(device);

	if (fault->kind == FAULT_READ && strikes(fault))
		return FL_EIO;
	if (fault->kind == FAULT_READ_BACK &&
	    all_true(fault->fresh, FL_SECTOR_BYTES, length, position) && strikes(fault))
		return FL_EIO;
	return fl_device_read(fault->below, buffer, length, position);
}

/* What a write does on a host that is full: only holes need room. */
static int write_when_full(struct fault_device *fault, size_t length, uint64_t position)
{
	bool hole = false;
	int error = fl_device_is_hole(fault->below, length, position, &hole);

	if (error || !hole)
		return error;
	if (!fault->came && !strikes(fault))
		return 0;
	return FL_EHOSTFULL;
}

static void touch(struct fault_device *fault, uint64_t length, uint64_t position)
{
	uint64_t first = position / FL_SECTOR_BYTES;

	fault->wrote = true;
	memset(fault->fresh + first, true, fl_div_up(position + length, FL_SECTOR_BYTES) - first);
}

static int write_garbled(struct fault_device *fault, const void *buffer, size_t length,
			 uint64_t position)
{
	uint8_t *garbled = malloc(length);
	int error = garbled ? 0 : FL_ENOMEM;

	if (!error) {
		memcpy(garbled, buffer, length);
		garbled[fault->n * 37 % length] ^= 0x10;
		error = fl_device_write(fault->below, garbled, length, position);
	}
	free(garbled);
	return error;
}

static int fault_write(struct fl_device *device, const void *buffer, size_t length,
		       uint64_t position)
{
	struct fault_device *fault = as_fault(device);
	int error = 0;

	touch(fault, length, position);
	switch (fault->kind) {
	case FAULT_WRITE:
		error = strikes(fault) ? FL_EIO : 0;
		break;
	case FAULT_SHORT:
		if (strikes(fault)) {
			error = fl_device_write(fault->below, buffer,
						length / 2 / FL_SECTOR_BYTES * FL_SECTOR_BYTES,
						position);
			error = error ? error : FL_EIO;
		}
		break;
	case FAULT_FULL:
		error = strikes(fault) ? FL_EHOSTFULL : 0;
		break;
	case FAULT_FULL_HOST:
		error = write_when_full(fault, length, position);
		break;
	case FAULT_LOST:
		if (strikes(fault)) {
			fault->lost = true;
			return 0;
		}
		break;
	case FAULT_GARBLED:
		if ((!fault->counted ||
		     all_true(fault->counted, fault->block_bytes, length, position)) &&
		    strikes(fault))
			return write_garbled(fault, buffer, length, position);
		break;
	default:
		break;
	}
	return error ? error : fl_device_write(fault->below, buffer, length, position);
}

static int fault_flush(struct fl_device *device)
{
	struct fault_device *fault = as_fault(device);

	if (fault->lost || (fault->kind == FAULT_FLUSH && strikes(fault))) {
		fault->lost = false;
		return FL_EIO;
	}
	memset(fault->fresh, false, fl_div_up(device->size_bytes, FL_SECTOR_BYTES));
	return fl_device_flush(fault->below);
}

static bool clearing_fails(struct fault_device *fault, uint64_t length, uint64_t position)
{
	touch(fault, length, position);
	return (fault->kind == FAULT_WRITE || fault->kind == FAULT_SHORT) && strikes(fault);
}

static int fault_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct fault_device *fault = as_fault(device);

	return clearing_fails(fault, length, position)
		       ? FL_EIO
		       : fl_device_punch(fault->below, length, position);
}

static int fault_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct fault_device *fault = as_fault(device);

	return clearing_fails(fault, length, position)
		       ? FL_EIO
		       : fl_device_zero(fault->below, length, position);
}

static int fault_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			   uint64_t *length)
{
	return fl_device_data_next(as_fault(device)->below, position, start, length);
}

static void fault_close(struct fl_device *device)
{
	(void)device; /* see fault_free */
}

int fault_new(struct fl_device *below, enum fault_kind kind, uint64_t n,
	      struct fault_device **fault)
{
	struct fault_device *made = calloc(1, sizeof(*made));

	if (made)
		made->fresh = calloc(fl_div_up(below->size_bytes, FL_SECTOR_BYTES), sizeof(bool));
	if (!made || !made->fresh) {
		free(made);
		return FL_ENOMEM;
	}
	made->below = below;
	made->kind = kind;
	made->n = n;
	made->ops = (struct fl_device_ops){
		.read = fault_read,
		.write = fault_write,
		.flush = fault_flush,
		.punch = below->ops->punch ? fault_punch : NULL,
		.zero = below->ops->zero ? fault_zero : NULL,
		.data_next = fault_data_next,
		.close = fault_close,
	};
	made->device.ops = &made->ops;
	made->device.size_bytes = below->size_bytes;
	made->device.sparse = below->sparse;
	*fault = made;
	return 0;
}

struct fl_device *fault_device(struct fault_device *fault)
{
	return &fault->device;
}

void fault_garble(struct fault_device *fault, const bool *counted, uint32_t block_bytes)
{
	fault->counted = counted;
	fault->block_bytes = block_bytes;
}

bool fault_came(const struct fault_device *fault)
{
	return fault->came;
}

bool fault_wrote(const struct fault_device *fault)
{
	return fault->wrote;
}

void fault_free(struct fault_device *fault)
{
	if (fault)
		free(fault->fresh);
	free(fault);
}
