/* SPDX-License-Identifier: MIT */
/*
 * The file that e2undo(8) reads: what a device held before it was overwritten. Knows nothing
 * about when that happens.
 */
#ifndef FRAGLAB_DEVICE_UNDOFILE_H
#define FRAGLAB_DEVICE_UNDOFILE_H

#include <fraglab/device.h>

/* The file's own blocks, and the unit in which it counts those of the device. */
#define FL_UNDO_BLOCK_BYTES 4096u
#define FL_UNDO_SUPER_BYTES 1024u

struct fl_undo_file;

/*
 * Creates the file, durably and without records. position is where the filesystem begins in
 * what e2undo will be given; super is its superblock. FL_EINVAL when path exists, FL_EIO,
 * FL_EHOSTFULL, FL_ENOMEM; then no file is left.
 */
int fl_undo_file_create(const char *path, uint64_t position,
			const uint8_t super[FL_UNDO_SUPER_BYTES], struct fl_undo_file **file,
			struct fl_diag *diag) FL_CHECKED;

/*
 * Adds what is at position (a multiple of the block) of the device. length is one too, except
 * at the device's end. Not part of the record before a commit; after a failure the call may
 * be repeated: what the file then has twice is the same.
 */
int fl_undo_file_add(struct fl_undo_file *file, const uint8_t *data, size_t length,
		     uint64_t position) FL_CHECKED;

/*
 * Makes all that was added, and the superblock that e2undo is to find on the device, durable in
 * one step: after a crash the record is the one of before or the one of after. Does nothing
 * when neither is new. FL_EIO or FL_EHOSTFULL: it may be either, and stays a failure.
 */
int fl_undo_file_commit(struct fl_undo_file *file,
			const uint8_t super[FL_UNDO_SUPER_BYTES]) FL_CHECKED;

/* Forgets what was not committed. NULL is legal. */
void fl_undo_file_close(struct fl_undo_file *file);

#endif
