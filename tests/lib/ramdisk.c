/* SPDX-License-Identifier: MIT */
/*
 * A sparse device in memory of the caller. Must not allocate while it runs.
 */
#include "tests/lib/ramdisk.h"

#include <stdlib.h>
#include <string.h>

#include <fraglab/util.h>

#define PAGE_BYTES 4096u

struct ramdisk {
	struct fl_device device;
	uint8_t *bytes;
	bool *data; /* by page: not a hole */
};

static struct ramdisk *as_ramdisk(struct fl_device *device)
{
	return (struct ramdisk *)device; /* device is the first member */
}

static int ram_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	memcpy(buffer, as_ramdisk(device)->bytes + position, length);
	return 0;
}

static int ram_write(struct fl_device *device, const void *buffer, size_t length, uint64_t position)
{
	struct ramdisk *ram = as_ramdisk(device);

	memcpy(ram->bytes + position, buffer, length);
	for (uint64_t page = position / PAGE_BYTES; page * PAGE_BYTES < position + length; page++)
		ram->data[page] = true;
	return 0;
}

static int ram_flush(struct fl_device *device)
{
	(void)device;
	return 0;
}

static int ram_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	memset(as_ramdisk(device)->bytes + position, 0, length);
	return 0;
}

/* Pages that are punched wholly become holes. */
static int ram_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct ramdisk *ram = as_ramdisk(device);

	memset(ram->bytes + position, 0, length);
	for (uint64_t page = fl_div_up(position, PAGE_BYTES);
	     (page + 1) * PAGE_BYTES <= position + length; page++)
		ram->data[page] = false;
	return 0;
}

static int ram_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			 uint64_t *length)
{
	const struct ramdisk *ram = as_ramdisk(device);
	uint64_t pages = fl_div_up(device->size_bytes, PAGE_BYTES), page = position / PAGE_BYTES;

	while (page < pages && !ram->data[page])
		page++;
	*start = fl_min(device->size_bytes, fl_max(position, page * PAGE_BYTES));
	while (page < pages && ram->data[page])
		page++;
	*length = fl_max(*start, fl_min(device->size_bytes, page * PAGE_BYTES)) - *start;
	return 0;
}

static void ram_close(struct fl_device *device)
{
	free(as_ramdisk(device)->data);
	free(device);
}

static const struct fl_device_ops ops = {
	.read = ram_read,
	.write = ram_write,
	.flush = ram_flush,
	.punch = ram_punch,
	.zero = ram_zero,
	.data_next = ram_data_next,
	.close = ram_close,
};

int ramdisk_new(uint8_t *bytes, size_t size_bytes, struct fl_device **device)
{
	static const uint8_t zeros[PAGE_BYTES];
	size_t pages = (size_t)fl_div_up(size_bytes, PAGE_BYTES);
	struct ramdisk *ram = calloc(1, sizeof(*ram));

	if (ram)
		ram->data = calloc(pages, sizeof(*ram->data));
	if (!ram || !ram->data) {
		free(ram);
		return FL_ENOMEM;
	}
	ram->bytes = bytes;
	for (size_t page = 0; page < pages; page++)
		ram->data[page] =
			memcmp(bytes + page * PAGE_BYTES, zeros,
			       (size_t)fl_min(PAGE_BYTES, size_bytes - page * PAGE_BYTES));
	ram->device.ops = &ops;
	ram->device.size_bytes = size_bytes;
	ram->device.sparse = true;
	*device = &ram->device;
	return 0;
}
