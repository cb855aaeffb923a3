/* SPDX-License-Identifier: MIT */
/*
 * Opens a filesystem, or says why not. Must write nothing, neither at open nor at close.
 */
#include <common/fs/fs_internal.h>

#include <stdlib.h>
#include <string.h>

static int open_reason(struct fl_fs *fs, errcode_t code, struct fl_diag *diag)
{
	int error = fl_fs_error(fs, code);

	switch (error) {
	case FL_ENOMEM:
	case FL_EIO:
		return fl_fail(diag, error, "%s", fl_error_text(error));
	case FL_EFEATURE:
		return fl_fail(diag, error,
			       "libext2fs does not support a feature of it (%s); a newer "
			       "e2fsprogs may",
			       error_message(code));
	default:
		return fl_fail(diag, FL_EDAMAGED, "%s; run e2fsck -f IMAGE first",
			       error_message(code));
	}
}

/* Above this many blocks a bitmap of runs is smaller than one of bits (128 MiB). */
#define BIT_ARRAY_BLOCKS (UINT64_C(1) << 30)

/* libext2fs checks neither by itself. */
static int check_descriptors(struct fl_fs *fs, struct fl_diag *diag)
{
	ext2_filsys ext2 = fs->ext2;
	errcode_t code;

	for (dgrp_t group = 0; group < ext2->group_desc_count; group++)
		if (!ext2fs_group_desc_csum_verify(ext2, group))
			return fl_fail(diag, FL_EDAMAGED,
				       "descriptor of group %u: wrong checksum; run e2fsck -f "
				       "IMAGE first",
				       group);
	code = ext2fs_check_desc(ext2);
	if (code)
		return open_reason(fs, code, diag);
	return 0;
}

static int read_bitmaps(struct fl_fs *fs, struct fl_diag *diag)
{
	errcode_t code = ext2fs_read_bitmaps(fs->ext2);

	if (code)
		return open_reason(fs, code, diag);
	if (fs->ext2->flags & (EXT2_FLAG_BBITMAP_TAIL_PROBLEM | EXT2_FLAG_IBITMAP_TAIL_PROBLEM))
		return fl_fail(diag, FL_EDAMAGED,
			       "bitmaps: the padding at an end is not set; run e2fsck -f IMAGE "
			       "first");
	return 0;
}

static uint32_t be32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/*
 * e2fsck replays a journal that holds data even when needs_recovery is not set: after a move
 * that would put old metadata blocks over new owners.
 */
static int check_journal(struct fl_fs *fs, struct fl_diag *diag)
{
	enum { MAGIC = 0, START = 28, FAILURE = 32, BYTES = 36 };
	ext2_filsys ext2 = fs->ext2;
	unsigned char head[BYTES];
	blk64_t block = 0;
	errcode_t code;
	int error;

	/* Without a number it is on another device, and there is only needs_recovery to go by. */
	if (!ext2fs_has_feature_journal(ext2->super) || !ext2->super->s_journal_inum)
		return 0;
	code = ext2fs_bmap2(ext2, ext2->super->s_journal_inum, NULL, NULL, 0, 0, NULL, &block);
	if (code || !block || block >= ext2fs_blocks_count(ext2->super)) {
		error = fl_fs_error(fs, code);
		return fl_fail(diag, error == FL_EIO || error == FL_ENOMEM ? error : FL_EDAMAGED,
			       "the journal (inode %u) has no first block; run e2fsck -f IMAGE "
			       "first",
			       ext2->super->s_journal_inum);
	}
	error = fl_device_read(fs->io.device, head, sizeof(head), block * ext2->blocksize);
	if (error)
		return fl_fail(diag, error, "cannot read the journal's superblock");
	if (be32(head + MAGIC) != 0xC03B3998)
		return fl_fail(diag, FL_EDAMAGED,
			       "the journal has no superblock; run e2fsck -f IMAGE first");
	if (be32(head + START))
		return fl_fail(diag, FL_EDIRTY,
			       "the journal holds data although it is not marked so; run e2fsck -f "
			       "IMAGE first");
	if (be32(head + FAILURE))
		return fl_fail(diag, FL_EDIRTY,
			       "the journal records an error; run e2fsck -f IMAGE first");
	return 0;
}

int fl_fs_open(struct fl_device *device, enum fl_fs_mode mode, struct fl_fs **fs,
	       struct fl_diag *diag)
{
	char name[FL_EXT2IO_NAME];
	struct fl_fs *made = NULL;
	errcode_t code;
	int flags = EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP;
	int error;

	if (mode == FL_FS_CHANGE && device->read_only)
		return fl_fail(diag, FL_EINVAL, "the image is open for reading only");
	error = fl_super_check(device, mode, diag);
	if (error)
		return error;
	made = calloc(1, sizeof(*made));
	if (!made)
		return fl_fail(diag, FL_ENOMEM, "out of memory");
	initialize_ext2_error_table(); /* so that error_message knows libext2fs's texts */
	made->io.device = device;
	made->mode = mode;
	if (mode == FL_FS_CHANGE)
		flags |= EXT2_FLAG_RW;
	code = ext2fs_open2(fl_ext2io_name(&made->io, name), NULL, flags, 0, 0, fl_ext2io_manager(),
			    &made->ext2);
	if (code) {
		made->ext2 = NULL;
		error = open_reason(made, code, diag);
		goto out;
	}
	made->state = made->ext2->super->s_state;
	if (ext2fs_blocks_count(made->ext2->super) > BIT_ARRAY_BLOCKS)
		made->ext2->default_bitmap_type = EXT2FS_BMAP64_RBTREE;
	error = fl_geometry_fill(made->ext2, &made->geo, diag);
	if (!error)
		error = check_descriptors(made, diag);
	if (!error)
		error = read_bitmaps(made, diag);
	/* Even where nothing is written, what another machine is writing cannot be read. */
	if (!error)
		error = fl_mmp_check(made, diag);
	if (!error)
		error = check_journal(made, diag);
	if (error)
		goto out;
	*fs = made;
	made = NULL;
out:
	fl_fs_close(made);
	return error;
}

void fl_fs_close(struct fl_fs *fs)
{
	if (!fs)
		return;
	if (fs->ext2) {
		/* ext2fs_free never writes; clearing the flags keeps that true by construction. */
		fs->ext2->flags &= ~(EXT2_FLAG_DIRTY | EXT2_FLAG_CHANGED | EXT2_FLAG_BB_DIRTY |
				     EXT2_FLAG_IB_DIRTY);
		ext2fs_free(fs->ext2);
	}
	free(fs);
}
