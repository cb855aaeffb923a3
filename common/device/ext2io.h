/* SPDX-License-Identifier: MIT */
/*
 * libext2fs over an fl_device: an io_manager without cache and without partial-block writes.
 * Every write is on the device when the call returns; only a flush makes it durable.
 */
#ifndef FRAGLAB_EXT2IO_H
#define FRAGLAB_EXT2IO_H

#include <fraglab/device.h>

#include <ext2fs/ext2fs.h>

/* What one open filesystem needs; it must stay where it is until the channel is closed. */
struct fl_ext2io {
	struct fl_device *device; /* borrowed */
	int last_error; /* the device's latest failure (enum fl_error); 0: none since last asked */
};

#define FL_EXT2IO_NAME 32

/* The manager to give to ext2fs_open2; stateless. */
io_manager fl_ext2io_manager(void);

/* The "file name" that leads the manager to io. Returns name. */
const char *fl_ext2io_name(struct fl_ext2io *io, char name[FL_EXT2IO_NAME]);

/*
 * The fl_error behind a libext2fs failure: the device's own, if it failed since the last
 * call (libext2fs replaces many of them), else the nearest one. 0 for code 0. A read
 * outside the device means that some metadata points there: FL_EDAMAGED.
 */
int fl_ext2io_error(struct fl_ext2io *io, errcode_t code);

#endif
