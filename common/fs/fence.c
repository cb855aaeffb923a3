/* SPDX-License-Identifier: MIT */
/*
 * The fence: the primary superblock, and nothing else, without and with the "clean" mark.
 * ext2fs_flush would write backups, descriptors and the write time too.
 *
 * A superblock has two sectors, and a write of both can be torn: what changes lies in the first,
 * the checksum of metadata_csum in the second, and with a wrong checksum nothing opens the
 * filesystem any more. A backup would be of use only where there is one, and does not hold all.
 * So only the first sector is ever written, which a disk does wholly or not at all, and the
 * checksum stays as it is: a value of 32 bits elsewhere in the sector makes up for the change
 * (checksum.c). It goes behind the NUL of s_last_error_func,
 * text that is shown only after an error, which e2fsck and the kernel overwrite when they have to.
 * Unfencing gives these bytes their old value back whenever the free count is what it was;
 * otherwise they stay, and do no harm.
 */
#include <common/fs/fs_internal.h>

#include <errno.h>
#include <string.h>

#define SPARE_BYTES 4u
#define SPARE_OFFSET (sizeof(((struct ext2_super_block *)0)->s_last_error_func) - SPARE_BYTES)

struct sealing {
	ext2_filsys ext2;
	struct ext2_super_block *image;
};

static int checksum_with(void *context, uint32_t spare, uint32_t *checksum)
{
	struct sealing *sealing = context;

	memcpy(sealing->image->s_last_error_func + SPARE_OFFSET, &spare, SPARE_BYTES);
	if (ext2fs_superblock_csum_set(sealing->ext2, sealing->image))
		return FL_EINVAL;
	*checksum = sealing->image->s_checksum;
	return 0;
}

/* Writes the first sector of fs->ext2->super as it is. */
static int write_super(struct fl_fs *fs, struct fl_diag *diag)
{
	ext2_filsys ext2 = fs->ext2;
	struct ext2_super_block image = *ext2->super;
	struct sealing sealing = {ext2, &image};
	int error = 0;

	_Static_assert(sizeof(image) == SUPERBLOCK_SIZE, "an ext2 superblock has 1024 bytes");
	_Static_assert(offsetof(struct ext2_super_block, s_free_blocks_hi) < FL_SECTOR_BYTES &&
			       offsetof(struct ext2_super_block, s_mount_opts) == FL_SECTOR_BYTES,
		       "what changes is in the first sector");
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	ext2fs_swap_super(&image);
#endif
	if (ext2fs_has_feature_metadata_csum(ext2->super))
		error = fl_checksum_keep(checksum_with, &sealing, image.s_checksum);
	if (error)
		return fl_fail(diag, error, "superblock: cannot keep its checksum");
	error = fl_device_write(fs->io.device, &image, FL_SECTOR_BYTES, SUPERBLOCK_OFFSET);
	if (error)
		return fl_fail(diag, error, "cannot write the superblock");
	memcpy(ext2->super->s_last_error_func, image.s_last_error_func,
	       sizeof(image.s_last_error_func));
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
 * The blocks marked in the bitmap, by runs of clusters. Not ext2fs_count_used_clusters: up
 * to 1.47.0 at least that forgets the last block when the one before it is free.
 */
static errcode_t count_used(ext2_filsys ext2, blk64_t first, blk64_t last, uint64_t *used)
{
	blk64_t at = first, next;
	errcode_t code = 0;

	*used = 0;
	while (!code && at <= last) {
		code = ext2fs_find_first_set_block_bitmap2(ext2->block_map, at, last, &next);
		if (code)
			break;
		at = next;
		code = ext2fs_find_first_zero_block_bitmap2(ext2->block_map, at, last, &next);
		if (code == ENOENT)
			next = last + 1;
		*used += next - at;
		at = next;
	}
	return code == ENOENT ? 0 : code;
}

static int count_free(struct fl_fs *fs, uint64_t *free_blocks, struct fl_diag *diag)
{
	const struct fl_geometry *geo = &fs->geo;
	uint64_t used;
	errcode_t code = count_used(fs->ext2, geo->first_data_block, geo->blocks - 1, &used);

	if (code)
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
