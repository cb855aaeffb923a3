/* SPDX-License-Identifier: MIT */
/*
 * Writes that wait in memory, over a device that does not have them yet.
 * Never writes by itself.
 */
#ifndef FRAGLAB_DEVICE_PENDING_H
#define FRAGLAB_DEVICE_PENDING_H

#include <fraglab/device.h>

#include "common/device/pages.h"

#define FL_PENDING_GRANULE 4096u

struct fl_pending {
	struct fl_device *below;  /* borrowed */
	struct fl_pages granules; /* struct granule, by number */
	uint64_t bytes;		  /* of memory, about; 0: nothing waits */
	uint8_t *buffer;
};

/* Nothing waits. FL_ENOMEM; free in any case. */
int fl_pending_init(struct fl_pending *pending, struct fl_device *below) FL_CHECKED;
/* Forgets what waits. */
void fl_pending_free(struct fl_pending *pending);

/* Ranges are inside the device below in all of these. */

/* What the device will hold. */
int fl_pending_read(const struct fl_pending *pending, void *buffer, size_t length,
		    uint64_t position) FL_CHECKED;
/* Reads from below only where a sector is written in part. After a failure a part may wait. */
int fl_pending_write(struct fl_pending *pending, const void *buffer, size_t length,
		     uint64_t position) FL_CHECKED;
/* As writing zeros, for little memory, and by fl_device_clear when it is sent. */
int fl_pending_clear(struct fl_pending *pending, uint64_t length, uint64_t position) FL_CHECKED;
/* The first range at or after position in which something waits; false: nothing. */
bool fl_pending_next(const struct fl_pending *pending, uint64_t position, uint64_t *start,
		     uint64_t *length);
/* Writes all of it to below. After a failure all of it still waits. */
int fl_pending_send(struct fl_pending *pending) FL_CHECKED;

#endif
