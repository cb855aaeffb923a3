/* SPDX-License-Identifier: MIT */
/*
 * What is in the images of the crash tests.
 */
#ifndef TESTS_CRASH_FILL_H
#define TESTS_CRASH_FILL_H

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>

#include "tests/crash/images.h"

/* The time of all images, seconds since 1970. */
#define CRASH_NOW 1704067200

/* Fills an empty filesystem as the image wants it; bitmaps are read. */
errcode_t crash_fill(ext2_filsys fs, const struct crash_image *image);

#endif
