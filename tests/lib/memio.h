/* SPDX-License-Identifier: MIT */
/*
 * libext2fs over an image in memory: for the independent reader. It must not use
 * libfraglab.
 */
#ifndef TESTS_LIB_MEMIO_H
#define TESTS_LIB_MEMIO_H

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <stdint.h>

/* Opens an image for reading (bytes are borrowed until ext2fs_free); writes fail. */
errcode_t memio_open(const uint8_t *bytes, size_t size_bytes, ext2_filsys *fs);

#endif
