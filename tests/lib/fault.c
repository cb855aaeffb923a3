/* SPDX-License-Identifier: MIT */
/*
 * One failing operation. Must do everything else as the device below does.
 */
#include "tests/lib/fault.h"

#include <stdlib.h>

#include "common/device/device_private.h"

const char *const fault_names[FAULT_KINDS] = {
	[FAULT_READ] = "read", [FAULT_WRITE] = "write",		[FAULT_SHORT] = "short",
	[FAULT_FULL] = "full", [FAULT_FULL_HOST] = "full-host", [FAULT_FLUSH] = "flush",
	[FAULT_LOST] = "lost",
};

struct fault_device {
	struct fl_device device;
	struct fl_device_ops ops;
	struct fl_device *below;
	enum fault_kind kind;
	uint64_t n, count;
	bool came, wrote, lost; /* lost: the next flush must tell */
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

static int fault_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	struct fault_device *fault = as_fault(device);

	if (fault->kind == FAULT_READ && strikes(fault))
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

static int fault_write(struct fl_device *device, const void *buffer, size_t length,
		       uint64_t position)
{
	struct fault_device *fault = as_fault(device);
	int error = 0;

	fault->wrote = true;
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
	return fl_device_flush(fault->below);
}

static bool clearing_fails(struct fault_device *fault)
{
	fault->wrote = true;
	return (fault->kind == FAULT_WRITE || fault->kind == FAULT_SHORT) && strikes(fault);
}

static int fault_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct fault_device *fault = as_fault(device);

	return clearing_fails(fault) ? FL_EIO : fl_device_punch(fault->below, length, position);
}

static int fault_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct fault_device *fault = as_fault(device);

	return clearing_fails(fault) ? FL_EIO : fl_device_zero(fault->below, length, position);
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

	if (!made)
		return FL_ENOMEM;
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
	free(fault);
}
