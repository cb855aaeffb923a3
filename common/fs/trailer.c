/* SPDX-License-Identifier: MIT */
/*
 * What vouches for the blocks of the filesystem from behind its end. Only looks.
 */
#include <common/fs/fs_internal.h>

#include <string.h>

#define AVB_FOOTER_BYTES 64
#define MAGIC_MOST_BYTES 8

static int holds(struct fl_device *device, const char *magic, size_t length, uint64_t position,
		 bool *yes)
{
	char found[MAGIC_MOST_BYTES];
	int error = fl_device_read(device, found, length, position);

	if (!error)
		*yes = !memcmp(found, magic, length);
	return error;
}

int fl_fs_trailer(const struct fl_fs *fs, enum fl_trailer *trailer)
{
	struct fl_device *device = fs->io.device;
	uint64_t end = fs->geo.blocks * fs->geo.block_bytes, size = device->size_bytes;
	bool yes = false;
	int error = 0;

	*trailer = FL_TRAILER_NONE;
	if (size - end >= AVB_FOOTER_BYTES)
		error = holds(device, "AVBf", 4, size - AVB_FOOTER_BYTES, &yes);
	if (!error && yes)
		*trailer = FL_TRAILER_AVB;
	if (error || yes || size - end < MAGIC_MOST_BYTES)
		return error;
	error = holds(device, "verity\0\0", 8, end, &yes);
	if (!error && !yes)
		error = holds(device, "\x01\xb0\x01\xb0", 4, end, &yes);
	if (!error && yes)
		*trailer = FL_TRAILER_VERITY;
	return error;
}
