/* SPDX-License-Identifier: MIT */
/*
 * The inside of an open filesystem, for fs, scan and the mover. Nobody else may touch
 * libext2fs; who changes the image through it keeps to the mover's order of writes.
 */
#ifndef FRAGLAB_FS_INTERNAL_H
#define FRAGLAB_FS_INTERNAL_H

#include <fraglab/fs.h>

#include <common/device/ext2io.h>

struct fl_fs {
	ext2_filsys ext2; /* bitmaps are in memory; its flags never say dirty at close */
	struct fl_ext2io io;
	struct fl_geometry geo;
	enum fl_fs_mode mode;
	bool fenced;
	uint16_t state; /* s_state as it was before the fence */
	/* mmp.c: the block as it was found, and its first sector as it is while we hold it. */
	struct mmp_struct mmp_clean;
	unsigned char mmp_ours[FL_SECTOR_BYTES];
	bool claimed;
};

/* The libext2fs handle; valid until fl_fs_close. */
static inline ext2_filsys fl_fs_ext2(struct fl_fs *fs)
{
	return fs->ext2;
}

/* The fl_error behind a libext2fs failure on this filesystem. */
static inline int fl_fs_error(struct fl_fs *fs, errcode_t code)
{
	return fl_ext2io_error(&fs->io, code);
}

/* --- feature.c --- */

/*
 * FL_EFEATURE, FL_EDIRTY or FL_EDAMAGED, with the sentence, when the mode does not take a
 * filesystem with such a superblock; else 0.
 */
int fl_feature_check(const struct ext2_super_block *super, enum fl_fs_mode mode,
		     struct fl_diag *diag);
/* Appends the verdicts on all it says. FL_ENOMEM. */
int fl_feature_verdicts(const struct ext2_super_block *super, struct fl_verdicts *list);

/* --- checksum.c --- */

/* Puts these 32 bits into the spare bytes of something and gives its checksum. FL_EINVAL. */
typedef int fl_checksum_with(void *context, uint32_t spare, uint32_t *checksum);

/* Leaves in the spare bytes what makes the checksum the wanted one. FL_EINVAL: nothing does. */
int fl_checksum_keep(fl_checksum_with *checksum_with, void *context, uint32_t wanted);

/* --- mmp.c --- */

/* Multiple mount protection, if there is any, says that nobody uses it. FL_EBUSY, FL_EDAMAGED. */
int fl_mmp_check(struct fl_fs *fs, struct fl_diag *diag);

/* --- geometry.c --- */

int fl_geometry_fill(ext2_filsys ext2, struct fl_geometry *geo, struct fl_diag *diag);

/* --- super.c --- */

/*
 * Everything that can be refused from the raw superblock alone, before libext2fs sees the
 * image. FL_ENOTEXT, FL_ESHORT, FL_EDAMAGED, FL_EFEATURE, FL_EDIRTY, FL_EIO.
 */
int fl_super_check(struct fl_device *device, enum fl_fs_mode mode, struct fl_diag *diag);

#endif
