/* SPDX-License-Identifier: MIT */
/*
 * What this process does to its undo file, seen as operations on a device. So a power cut of
 * that file too can be made from a log.
 */
#ifndef TESTS_CRASH_UNDOFD_H
#define TESTS_CRASH_UNDOFD_H

#include <fraglab/device.h>

/* After each operation: size_bytes is what the file has then. */
typedef void undofd_seen(void *context, uint64_t size_bytes);

/*
 * From now on every pwrite and fsync of this process, on whatever file (folders excepted), is done
 * to the device as well. NULL: no more.
 */
void undofd_watch(struct fl_device *device, undofd_seen *seen, void *context);

#endif
