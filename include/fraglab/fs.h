/* SPDX-License-Identifier: MIT */
/*
 * An open ext2/3/4 filesystem over a device: the open policy (what is refused and
 * why), its geometry, and the fence that marks it unclean while it is changed.
 *
 * libext2fs does the on-disk formats; its I/O goes through the device, without
 * any write-back cache and without partial-block writes.
 */
#ifndef FRAGLAB_FS_H
#define FRAGLAB_FS_H

#include <fraglab/device.h>
#include <fraglab/geometry.h>

struct fl_fs;

enum fl_fs_mode {
	FL_FS_READ,   /* for scanning and analysing */
	FL_FS_CHANGE, /* for the mover; nothing is written before fl_fs_fence */
};

/*
 * Opens the filesystem on device (borrowed; must outlive it). Both modes refuse the same
 * images, so that a dry run tells what a run would do:
 * FL_ENOTEXT, FL_ESHORT (device smaller than the filesystem), FL_EDIRTY (not clean, errors,
 * journal to replay, orphans), FL_EFEATURE (fs/feature.c has the table), FL_EDAMAGED
 * (superblock, descriptors or bitmaps unreadable or with wrong checksums), FL_EIO, FL_ENOMEM.
 * FL_EINVAL: FL_FS_CHANGE on a read-only device.
 * I/O: superblock, descriptors, bitmaps. Free with fl_fs_close.
 */
int fl_fs_open(struct fl_device *device, enum fl_fs_mode mode, struct fl_fs **fs,
	       struct fl_diag *diag) FL_CHECKED;

/* Writes nothing, whatever happened before. NULL is legal. */
void fl_fs_close(struct fl_fs *fs);

const struct fl_geometry *fl_fs_geometry(const struct fl_fs *fs);
struct fl_device *fl_fs_device(const struct fl_fs *fs);

/*
 * Name of the i-th feature the filesystem has, in the order compat, incompat, ro_compat;
 * NULL past the last. The text lives in buffer.
 */
#define FL_FEATURE_NAME 32
const char *fl_fs_feature(const struct fl_fs *fs, size_t i, char buffer[FL_FEATURE_NAME]);

/* What lies behind the filesystem on its device and vouches for its blocks. */
enum fl_trailer {
	FL_TRAILER_NONE,   /* nothing that is known */
	FL_TRAILER_AVB,	   /* an Android Verified Boot footer, at the end of the device */
	FL_TRAILER_VERITY, /* a dm-verity superblock or Android's older verity metadata */
};

/* I/O: two small reads. FL_EIO. */
int fl_fs_trailer(const struct fl_fs *fs, enum fl_trailer *trailer) FL_CHECKED;

/*
 * The fence: superblock without the "clean" mark, then a flush. From here on a crash leaves
 * a filesystem that fsck checks before use. No time stamp changes.
 * Failure: nothing else may be written.
 */
int fl_fs_fence(struct fl_fs *fs, struct fl_diag *diag) FL_CHECKED;
/* Flush, the clean superblock with exact free counts, flush. Failure: the fence still stands. */
int fl_fs_unfence(struct fl_fs *fs, struct fl_diag *diag) FL_CHECKED;

#endif
