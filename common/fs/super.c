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

/* The first bytes of a filesystem, as they are on disk but for the byte order. */
struct start {
	unsigned char before[SUPERBLOCK_OFFSET];
	struct ext2_super_block super;
};

static int read_start(struct fl_device *device, struct start *start, struct fl_diag *diag)
{
	int error = fl_device_read(device, start, sizeof(*start), 0);

	if (error)
		return fl_fail(diag, error, "cannot read the superblock");
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	ext2fs_swap_super(&start->super);
#endif
	return 0;
}

int fl_super_check(struct fl_device *device, enum fl_fs_mode mode, struct fl_diag *diag)
{
	struct start start;
	int error;

	if (device->size_bytes < sizeof(start))
		return fl_fail(diag, FL_ENOTEXT, "%" PRIu64 " bytes are too few for a filesystem",
			       device->size_bytes);
	error = read_start(device, &start, diag);
	if (error)
		return error;
	if (start.super.s_magic != EXT2_SUPER_MAGIC)
		return not_ext(start.before, diag);
	error = check_size(&start.super, device->size_bytes, diag);
	return error ? error : fl_feature_check(&start.super, mode, diag);
}

int fl_fs_verdicts(struct fl_device *device, struct fl_verdicts *list, struct fl_diag *diag)
{
	struct start start;
	int error;

	if (device->size_bytes < sizeof(start))
		return 0;
	error = read_start(device, &start, diag);
	if (error || start.super.s_magic != EXT2_SUPER_MAGIC)
		return error;
	return fl_feature_verdicts(&start.super, list);
}
