/* SPDX-License-Identifier: MIT */
/*
 * What the raw superblock already forbids. libext2fs opens images that are dirty, truncated
 * or of an unknown kind, and takes over multiple mount protection; so this comes first.
 */
#include <common/fs/fs_internal.h>

#include <inttypes.h>
#include <string.h>

/* Formats people mistake for raw images, by the bytes they begin with. */
static const struct magic {
	size_t position, length;
	const char *bytes, *reason;
} magics[] = {
	{0, 4, "QFI\xfb", "it is a qcow2 image; run qemu-img convert -O raw first"},
	{64, 4, "\x7f\x10\xda\xbe", "it is a VDI image; run qemu-img convert -O raw first"},
	{0, 4, "KDMV", "it is a VMDK image; run qemu-img convert -O raw first"},
	{0, 8, "vhdxfile", "it is a VHDX image; run qemu-img convert -O raw first"},
	{0, 8, "conectix", "it is a VHD image; run qemu-img convert -O raw first"},
	{0, 4, "\x3a\xff\x26\xed", "it is an Android sparse image; run simg2img first"},
	{0, 2, "\x1f\x8b", "it is compressed with gzip; decompress it first"},
	{0, 6,
	 "\xfd"
	 "7zXZ",
	 "it is compressed with xz; decompress it first"},
	{0, 4, "\x28\xb5\x2f\xfd", "it is compressed with zstd; decompress it first"},
	{0, 4, "XFSB", "it is an XFS filesystem"},
	{512, 8, "EFI PART", "it is a disk with a partition table; use --partition N"},
	{510, 2, "\x55\xaa",
	 "no ext2, ext3 or ext4 filesystem begins there; if it is a disk with partitions, "
	 "use --partition N"},
};

static int not_ext(const unsigned char *start, struct fl_diag *diag)
{
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (!memcmp(start + magics[i].position, magics[i].bytes, magics[i].length))
			return fl_fail(diag, FL_ENOTEXT, "%s", magics[i].reason);
	return fl_fail(diag, FL_ENOTEXT,
		       "no ext2, ext3 or ext4 filesystem begins there; if it begins later, use "
		       "--offset or --partition");
}

static int check_size(struct ext2_super_block *super, uint64_t have, struct fl_diag *diag)
{
	uint64_t blocks, need;

	if (super->s_log_block_size > 6)
		return fl_fail(diag, FL_EDAMAGED,
			       "superblock: block size 2^%" PRIu64 "; run e2fsck -f IMAGE first",
			       (uint64_t)super->s_log_block_size + 10);
	blocks = super->s_blocks_count;
	if (ext2fs_has_feature_64bit(super))
		blocks |= (uint64_t)super->s_blocks_count_hi << 32;
	if (!blocks ||
	    __builtin_mul_overflow(blocks, UINT64_C(1024) << super->s_log_block_size, &need))
		return fl_fail(diag, FL_EDAMAGED,
			       "superblock: %" PRIu64 " blocks; run e2fsck -f IMAGE first", blocks);
	if (need > have)
		return fl_fail(diag, FL_ESHORT,
			       "the image has %" PRIu64 " bytes, its filesystem %" PRIu64
			       "; get the whole image, or run resize2fs on a repaired copy",
			       have, need);
	return 0;
}

static int check_kind(const struct ext2_super_block *super, struct fl_diag *diag)
{
	if (super->s_rev_level > EXT2_MAX_SUPP_REV)
		return fl_fail(diag, FL_EFEATURE, "revision %u is unknown", super->s_rev_level);
	/* Revision 0 has no feature words: what is there is an accident, and who reads it differs.
	 */
	if (super->s_rev_level == EXT2_GOOD_OLD_REV &&
	    (super->s_feature_compat | super->s_feature_incompat | super->s_feature_ro_compat))
		return fl_fail(diag, FL_EDAMAGED,
			       "revision 0 with feature flags; run e2fsck -f IMAGE first");
	if (super->s_creator_os != EXT2_OS_LINUX && super->s_creator_os != EXT2_OS_FREEBSD)
		return fl_fail(
			diag, FL_EFEATURE,
			"made for another system (creator %u), whose inodes hold other block "
			"numbers; this version leaves such filesystems alone",
			super->s_creator_os);
	if (super->s_flags & EXT2_FLAGS_IS_SNAPSHOT)
		return fl_fail(
			diag, FL_EFEATURE,
			"it is a snapshot image; this version leaves such filesystems alone");
	return fl_feature_check(super, diag);
}

static int check_external_journal(struct ext2_super_block *super, struct fl_diag *diag)
{
	if (ext2fs_has_feature_journal(super) && !super->s_journal_inum)
		return fl_fail(diag, FL_EFEATURE,
			       "its journal is on another device, which is not supported yet; run "
			       "tune2fs -O ^has_journal IMAGE first");
	return 0;
}

static int check_clean(struct ext2_super_block *super, struct fl_diag *diag)
{
	if (ext2fs_has_feature_journal_needs_recovery(super))
		return fl_fail(diag, FL_EDIRTY,
			       "its journal must be replayed; run e2fsck -f IMAGE first");
	if (ext2fs_has_feature_orphan_present(super) || super->s_last_orphan ||
	    (super->s_state & EXT3_ORPHAN_FS))
		return fl_fail(diag, FL_EDIRTY,
			       "files deleted while open wait for removal; run e2fsck -f IMAGE "
			       "first");
	if (super->s_state & EXT2_ERROR_FS)
		return fl_fail(diag, FL_EDIRTY,
			       "it is marked as having errors; run e2fsck -f IMAGE first");
	if (!(super->s_state & EXT2_VALID_FS) || (super->s_state & EXT4_FC_REPLAY))
		return fl_fail(diag, FL_EDIRTY,
			       "it was not unmounted cleanly; run e2fsck -f IMAGE first");
	return 0;
}

int fl_super_check(struct fl_device *device, struct fl_diag *diag)
{
	struct {
		unsigned char before[SUPERBLOCK_OFFSET];
		struct ext2_super_block super;
	} start;
	int error;

	if (device->size_bytes < sizeof(start))
		return fl_fail(diag, FL_ENOTEXT, "%" PRIu64 " bytes are too few for a filesystem",
			       device->size_bytes);
	error = fl_device_read(device, &start, sizeof(start), 0);
	if (error)
		return fl_fail(diag, error, "cannot read the superblock");
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	ext2fs_swap_super(&start.super);
#endif
	if (start.super.s_magic != EXT2_SUPER_MAGIC)
		return not_ext(start.before, diag);
	error = check_size(&start.super, device->size_bytes, diag);
	if (!error)
		error = check_kind(&start.super, diag);
	if (!error)
		error = check_external_journal(&start.super, diag);
	if (!error)
		error = check_clean(&start.super, diag);
	return error;
}
