/* SPDX-License-Identifier: MIT */
/*
 * A tiny image to be damaged: its bytes, the places in it that are metadata, and damage that
 * can be undone. Knows nothing about what is then done with the image.
 */
#ifndef FRAGLAB_FUZZ_SEED_H
#define FRAGLAB_FUZZ_SEED_H

#include <fraglab/device.h>
#include <fraglab/util.h>

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>

enum region_kind {
	REGION_RAW, /* bytes without a checksum, or with one that nobody makes good */
	REGION_SUPER,
	REGION_DESCRIPTOR,
	REGION_BLOCK_BITMAP,
	REGION_INODE_BITMAP,
	REGION_INODE,
	REGION_EXTENTS,
	REGION_DIRECTORY,
	REGION_XATTR,
};

struct region {
	enum region_kind kind;
	uint32_t length;
	uint64_t position;
	uint32_t owner; /* inode, or group */
};

struct seed {
	ext2_filsys fs;	   /* of the file, undamaged; for checksums and places */
	uint8_t *pristine; /* size_bytes */
	uint8_t *bytes;	   /* the same, damaged */
	uint64_t size_bytes;
	FL_ARRAY(struct region) regions;
	FL_ARRAY(struct fl_run) touched; /* bytes to bring back */
};

/* All images of a directory, by name. Ends the program when there is none, or one is not readable.
 */
struct seeds {
	FL_ARRAY(struct seed);
};
void seeds_load(const char *directory, struct seeds *seeds);

/*
 * Damages a seed as the input says: records of a region, an offset in it, a way and bytes. Any
 * input is legal. With fix_checksums those of what was damaged are right again.
 */
void seed_damage(struct seed *seed, const uint8_t *input, size_t length, bool fix_checksums);
/* The longest record, and one that is likely to matter; its length. */
#define SEED_RECORD_BYTES 37
size_t seed_invent(const struct seed *seed, struct fl_rng *rng, uint8_t record[SEED_RECORD_BYTES]);
void seed_restore(struct seed *seed);

/* The damaged bytes as a device that cannot be written. */
struct fl_device *seed_device(struct seed *seed);

#endif
