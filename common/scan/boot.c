/* SPDX-License-Identifier: MIT */
/*
 * Finds files that the boot sector names by their place, as extlinux's does. Errs on the side of
 * pinning: any number in it that is the first sector of a file counts.
 */
#include <common/scan/scan_internal.h>

#include <stdlib.h>
#include <string.h>

/* The space before the superblock. */
#define BOOT_BYTES 1024u

static int compare_blocks(const void *a, const void *b)
{
	const fl_pblk *left = a, *right = b;

	return fl_compare(*left, *right);
}

int fl_scan_boot(struct scan *scan)
{
	uint32_t block_sectors = scan->map->geo.block_bytes / FL_SECTOR_BYTES;
	unsigned char sector[BOOT_BYTES];
	int error = fl_device_read(scan->device, sector, sizeof(sector), 0);

	if (error)
		return fl_fail(scan->diag, error, "cannot read the boot sector");
	for (size_t at = 0; at + sizeof(uint32_t) <= sizeof(sector); at++) {
		uint32_t number;

		memcpy(&number, sector + at, sizeof(number));
		number = ext2fs_le32_to_cpu(number);
		if (!number || number % block_sectors)
			continue;
		if (fl_array_push(&scan->map->boot, number / block_sectors))
			return FL_ENOMEM;
	}
	if (scan->map->boot.count)
		qsort(scan->map->boot.at, scan->map->boot.count, sizeof(*scan->map->boot.at),
		      compare_blocks);
	return 0;
}
