/* SPDX-License-Identifier: MIT */
/*
 * A device in memory, for tests: an overlay over nothing, so that holes stay
 * holes (in pages of 64 KiB) and a huge one costs nothing. Must not touch the host.
 */
#include "common/device/device_private.h"

int fl_device_memory(uint64_t size_bytes, struct fl_device **device)
{
	return fl_device_overlay_new(NULL, size_bytes, device);
}
