/* SPDX-License-Identifier: MIT */
/*
 * Many transfers of a raw file or block device at once. Private to this folder.
 */
#ifndef FRAGLAB_BULK_H
#define FRAGLAB_BULK_H

#include <fraglab/device.h>

struct fl_bulk;

/* fd is borrowed and must outlive it. FL_ENOMEM. */
int fl_bulk_new(int fd, uint64_t size_bytes, bool read_only, struct fl_bulk **bulk) FL_CHECKED;
/* NULL is legal. */
void fl_bulk_free(struct fl_bulk *bulk);

/* As fl_device_transfer, positions counted from base. */
int fl_bulk_run(struct fl_bulk *bulk, const struct fl_transfer *items, size_t count, uint64_t base,
		size_t *failed) FL_CHECKED;

#endif
