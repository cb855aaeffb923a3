/* SPDX-License-Identifier: MIT */
/*
 * A device on bytes of the caller, sparse in pages of 4 KiB as a file on a host is. Counts
 * nothing and fails never; wrappers do.
 */
#ifndef TESTS_LIB_RAMDISK_H
#define TESTS_LIB_RAMDISK_H

#include <fraglab/device.h>

/* bytes are borrowed, changed in place, and must outlive the device. Zero pages begin as holes. */
int ramdisk_new(uint8_t *bytes, size_t size_bytes, struct fl_device **device) FL_CHECKED;

#endif
