/* SPDX-License-Identifier: MIT */
/*
 * The fence: the primary superblock, whole and nothing else, without and with the "clean"
 * mark. ext2fs_flush would write backups, descriptors and the write time too.
 */
#include <common/fs/fs_internal.h>

#include <errno.h>
#include <string.h>

/* Writes fs->ext2->super as it is, with its checksum brought up to date. */
static int write_super(struct fl_fs *fs, struct fl_diag *diag)
{
	ext2_filsys ext2 = fs->ext2;
	struct ext2_super_block image = *ext2->super;
	int error;

	_Static_assert(sizeof(image) == SUPERBLOCK_SIZE, "an ext2 superblock has 1024 bytes");
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	ext2fs_swap_super(&image);
#endif
	if (ext2fs_superblock_csum_set(ext2, &image))
		return fl_fail(diag, FL_EINVAL, "superblock: cannot compute its checksum");
	error = fl_device_write(fs->io.device, &image, sizeof(image), SUPERBLOCK_OFFSET);
	if (error)
		return fl_fail(diag, error, "cannot write the superblock");
	ext2->super->s_checksum = ext2fs_le32_to_cpu(image.s_checksum);
	/* libext2fs compares with it to find changed bytes. */
	if (ext2->orig_super)
		memcpy(ext2->orig_super, &image, sizeof(image));
	return 0;
}

static int flush(struct fl_fs *fs, struct fl_diag *diag)
{
	int error = fl_device_flush(fs->io.device);

	return error ? fl_fail(diag, error, "cannot flush the image") : 0;
}

int fl_fs_fence(struct fl_fs *fs, struct fl_diag *diag)
{
	struct ext2_super_block *super = fs->ext2->super;
	int error;

	if (fs->mode != FL_FS_CHANGE || fs->fenced)
		return fl_fail(diag, FL_EINVAL, "fence: not open for change, or fenced already");
	fs->state = super->s_state;
	super->s_state = (uint16_t)(super->s_state & ~EXT2_VALID_FS);
	/* Fenced from the first try on: after a failure the superblock may be either. */
	fs->fenced = true;
	error = write_super(fs, diag);
	if (!error)
		error = flush(fs, diag);
	return error;
}

/*
 * Free blocks by the bitmap in memory. ext2fs_count_used_clusters must not be used: it misses the
 * very last block when that is in use and the one before it, alone, is free.
 */
static int count_free(struct fl_fs *fs, uint64_t *free_blocks, struct fl_diag *diag)
{
	const struct fl_geometry *geo = &fs->geo;
	ext2fs_block_bitmap map = fs->ext2->block_map;
	blk64_t pos = geo->first_data_block, last = geo->blocks - 1, used = 0, start, stop;
	errcode_t code = 0;

	while (pos <= last && !code) {
		code = ext2fs_find_first_set_block_bitmap2(map, pos, last, &start);
		if (code)
			break;
		code = ext2fs_find_first_zero_block_bitmap2(map, start, last, &stop);
		if (code == ENOENT) {
			stop = geo->blocks;
			code = 0;
		}
		if (!code) {
			used += stop - start;
			pos = stop;
		}
	}
	if (code && code != ENOENT)
		return fl_fail(diag, fl_fs_error(fs, code), "cannot count the free blocks: %s",
			       error_message(code));
	*free_blocks = geo->blocks - geo->first_data_block - used;
	return 0;
}

int fl_fs_unfence(struct fl_fs *fs, struct fl_diag *diag)
{
	struct ext2_super_block *super = fs->ext2->super;
	uint64_t free_blocks = 0;
	int error;

	if (!fs->fenced)
		return fl_fail(diag, FL_EINVAL, "unfence: there is no fence");
	error = count_free(fs, &free_blocks, diag);
	if (!error)
		error = flush(fs, diag);
	if (error)
		return error;
	ext2fs_free_blocks_count_set(super, free_blocks);
	super->s_state = fs->state;
	error = write_super(fs, diag);
	if (!error)
		error = flush(fs, diag);
	if (error) {
		super->s_state = (uint16_t)(super->s_state & ~EXT2_VALID_FS);
		return error;
	}
	fs->fenced = false;
	return 0;
}
