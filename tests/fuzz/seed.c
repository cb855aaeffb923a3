/* SPDX-License-Identifier: MIT */
/*
 * Loads seeds, damages them and makes checksums right again. Must not depend on anything but
 * the seed and the input.
 */
#include "tests/fuzz/seed.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/seed_regions.h"

static void give_up(const char *what)
{
	(void)fprintf(stderr, "fuzz: cannot use the seed %s\n", what);
	exit(2);
}

static void load(const char *path, struct seed *seed)
{
	struct stat about;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &about))
		give_up(path);
	seed->size_bytes = (uint64_t)about.st_size;
	seed->pristine = malloc(seed->size_bytes);
	seed->bytes = malloc(seed->size_bytes);
	if (!seed->pristine || !seed->bytes ||
	    read(fd, seed->pristine, seed->size_bytes) != about.st_size)
		give_up(path);
	(void)close(fd);
	memcpy(seed->bytes, seed->pristine, seed->size_bytes);
	if (ext2fs_open(path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &seed->fs) ||
	    !seed_find_regions(seed))
		give_up(path);
}

static int is_image(const struct dirent *entry)
{
	const char *end = strrchr(entry->d_name, '.');

	return end && !strcmp(end, ".img");
}

void seeds_load(const char *directory, struct seeds *seeds)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_image, alphasort);

	if (count <= 0)
		give_up(directory);
	for (int i = 0; i < count; i++) {
		struct seed seed = {0};
		char path[512];

		(void)snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		load(path, &seed);
		if (fl_array_push(seeds, seed))
			give_up(path);
		free(entries[i]);
	}
	free(entries);
}

/* --- damage --- */

static void touch(struct seed *seed, uint64_t position, uint64_t length)
{
	struct fl_run run = {position, length};

	if (fl_array_push(&seed->touched, run))
		abort();
}

/* Bitmaps have theirs in the descriptor. */
static void fix_bitmap(struct seed *seed, const struct region *region)
{
	ext2_filsys fs = seed->fs;
	char *bits = (char *)(seed->bytes + region->position);

	if (region->kind == REGION_BLOCK_BITMAP)
		(void)ext2fs_block_bitmap_csum_set(fs, region->owner, bits,
						   (int)EXT2_CLUSTERS_PER_GROUP(fs->super) / 8);
	else
		(void)ext2fs_inode_bitmap_csum_set(fs, region->owner, bits,
						   (int)EXT2_INODES_PER_GROUP(fs->super) / 8);
}

/*
 * libext2fs works on its own descriptor: the damaged one is lent to it. A bitmap is the
 * damage that a descriptor has to know about.
 */
static void fix_group(struct seed *seed, const struct region *region)
{
	ext2_filsys fs = seed->fs;
	const uint32_t size = EXT2_DESC_SIZE(fs->super);
	struct ext2_group_desc *own = ext2fs_group_desc(fs, fs->group_desc, region->owner);
	const struct region *descriptor = NULL;
	uint8_t kept[1024];

	for (size_t i = 0; i < seed->regions.count && !descriptor; i++)
		if (seed->regions.at[i].kind == REGION_DESCRIPTOR &&
		    seed->regions.at[i].owner == region->owner)
			descriptor = &seed->regions.at[i];
	if (!descriptor || size > sizeof(kept))
		return;
	memcpy(kept, own, size);
	memcpy(own, seed->bytes + descriptor->position, size);
	if (region->kind != REGION_DESCRIPTOR)
		fix_bitmap(seed, region);
	ext2fs_group_desc_csum_set(fs, region->owner);
	touch(seed, descriptor->position, size);
	memcpy(seed->bytes + descriptor->position, own, size);
	memcpy(own, kept, size);
}

static void fix_checksum(struct seed *seed, const struct region *region)
{
	ext2_filsys fs = seed->fs;
	void *bytes = seed->bytes + region->position;

	switch (region->kind) {
	case REGION_RAW:
		break;
	case REGION_SUPER:
		(void)ext2fs_superblock_csum_set(fs, bytes);
		break;
	case REGION_DESCRIPTOR:
	case REGION_BLOCK_BITMAP:
	case REGION_INODE_BITMAP:
		fix_group(seed, region);
		break;
	case REGION_INODE:
		if (region->length > EXT2_GOOD_OLD_INODE_SIZE)
			(void)ext2fs_inode_csum_set(fs, region->owner, bytes);
		break;
	case REGION_EXTENTS: {
		const struct ext3_extent_header *header = bytes;

		/* The checksum is behind the entries that there may be, also if that is nonsense.
		 */
		if (sizeof(*header) + header->eh_max * sizeof(struct ext3_extent) + 4 <=
		    region->length)
			(void)ext2fs_extent_block_csum_set(fs, region->owner, bytes);
		break;
	}
	case REGION_DIRECTORY:
		(void)ext2fs_dir_block_csum_set(fs, region->owner, bytes);
		break;
	case REGION_XATTR:
		(void)ext2fs_ext_attr_block_csum_set(fs, region->owner,
						     region->position / fs->blocksize, bytes);
		break;
	}
}

/* A record: region (2 bytes), offset (2), way and length (1), then what the way wants. */
enum { RECORD_BYTES = 5, LENGTH_BITS = 5, WAY_WRITE = 0, WAY_XOR, WAY_ADD, WAY_COPY };

static const struct region *pick(const struct seed *seed, const uint8_t *input, uint32_t *offset)
{
	const struct region *region =
		&seed->regions.at[(input[0] | (unsigned)input[1] << 8) % seed->regions.count];

	*offset = (input[2] | (unsigned)input[3] << 8) % region->length;
	return region;
}

static void change(uint8_t *bytes, const uint8_t *input, uint32_t length, unsigned way)
{
	unsigned carry = 0;

	for (uint32_t i = 0; i < length; i++) {
		if (way == WAY_WRITE) {
			bytes[i] = input[i];
		} else if (way == WAY_XOR) {
			bytes[i] ^= input[i];
		} else {
			carry += (unsigned)bytes[i] + input[i];
			bytes[i] = (uint8_t)carry;
			carry >>= 8;
		}
	}
}

/* Bytes from elsewhere, eight times as many: a whole entry or inode that is there twice. */
static void copy(struct seed *seed, uint8_t *bytes, const uint8_t *input, uint32_t length)
{
	uint32_t offset;
	const struct region *from = pick(seed, input, &offset);

	length = (uint32_t)fl_min(length, from->length - offset);
	memmove(bytes, seed->pristine + from->position + offset, length);
}

void seed_damage(struct seed *seed, const uint8_t *input, size_t length, bool fix_checksums)
{
	while (length >= RECORD_BYTES) {
		uint32_t offset, span = (input[4] & ((1u << LENGTH_BITS) - 1)) + 1;
		const struct region *region = pick(seed, input, &offset);
		unsigned way = (input[4] >> LENGTH_BITS) & 3;
		size_t used = RECORD_BYTES + (way == WAY_COPY ? 4 : span);
		uint8_t *bytes = seed->bytes + region->position + offset;

		if (length < used)
			break;
		touch(seed, region->position, region->length);
		if (way == WAY_COPY)
			copy(seed, bytes, input + RECORD_BYTES,
			     (uint32_t)fl_min(span * 8, region->length - offset));
		else
			change(bytes, input + RECORD_BYTES,
			       (uint32_t)fl_min(span, region->length - offset), way);
		if (fix_checksums)
			fix_checksum(seed, region);
		input += used;
		length -= used;
	}
}

/* A region of a kind, so that the few superblocks are as likely as the many inodes. */
static size_t choose_region(const struct seed *seed, struct fl_rng *rng)
{
	enum region_kind kind = (enum region_kind)fl_rng_below(rng, REGION_XATTR + 1);
	size_t first = fl_rng_below(rng, seed->regions.count);

	for (size_t i = 0; i < seed->regions.count; i++) {
		size_t at = (first + i) % seed->regions.count;

		if (seed->regions.at[at].kind == kind)
			return at;
	}
	return first;
}

size_t seed_invent(const struct seed *seed, struct fl_rng *rng, uint8_t record[SEED_RECORD_BYTES])
{
	static const uint8_t widths[] = {1, 2, 4, 4, 12};
	size_t region = choose_region(seed, rng);
	/* What begins a block or an inode says how the rest is read. */
	uint64_t within = fl_rng_chance(rng, 1, 2) ? fl_min(160, seed->regions.at[region].length)
						   : seed->regions.at[region].length;
	uint64_t offset = fl_rng_below(rng, within), value = fl_rng_next(rng);
	uint32_t width = widths[fl_rng_below(rng, sizeof(widths))];
	unsigned way = (unsigned)fl_rng_below(rng, 4);

	if (width > 1)
		offset &= ~UINT64_C(1);
	if (width > 2)
		offset &= ~UINT64_C(3);
	/* Near 0, near all ones, one bit, a block number of so small an image, or anything. */
	switch (fl_rng_below(rng, 5)) {
	case 0:
		value = (value & 7) - 3;
		break;
	case 1:
		value = UINT64_C(1) << (value & 31);
		break;
	case 2:
		value &= 4095;
		break;
	case 3:
		value = UINT64_C(0x7FFFFFFF) + (value & 3);
		break;
	default:
		break;
	}
	record[0] = (uint8_t)region;
	record[1] = (uint8_t)(region >> 8);
	record[2] = (uint8_t)offset;
	record[3] = (uint8_t)(offset >> 8);
	record[4] = (uint8_t)((width - 1) | way << LENGTH_BITS);
	for (uint32_t i = 0; i < 12; i++)
		record[RECORD_BYTES + i] = i < 8 ? (uint8_t)(value >> i * 8) : 0;
	if (way != WAY_COPY)
		return RECORD_BYTES + width;
	region = fl_rng_chance(rng, 1, 2) ? region : choose_region(seed, rng);
	offset = fl_rng_below(rng, seed->regions.at[region].length) & ~UINT64_C(3);
	record[5] = (uint8_t)region;
	record[6] = (uint8_t)(region >> 8);
	record[7] = (uint8_t)offset;
	record[8] = (uint8_t)(offset >> 8);
	return RECORD_BYTES + 4;
}

void seed_restore(struct seed *seed)
{
	for (size_t i = 0; i < seed->touched.count; i++) {
		struct fl_run run = seed->touched.at[i];

		memcpy(seed->bytes + run.start, seed->pristine + run.start, run.len);
	}
	seed->touched.count = 0;
}

/* --- the device --- */

struct seed_view {
	struct fl_device device;
	const struct seed *seed;
};

static int view_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	memcpy(buffer, ((struct seed_view *)device)->seed->bytes + position, length);
	return 0;
}

static void view_close(struct fl_device *device)
{
	free(device);
}

struct fl_device *seed_device(struct seed *seed)
{
	static const struct fl_device_ops ops = {.read = view_read, .close = view_close};
	struct seed_view *view = calloc(1, sizeof(*view));

	if (!view)
		abort();
	view->device =
		(struct fl_device){.ops = &ops, .size_bytes = seed->size_bytes, .read_only = true};
	view->seed = seed;
	return &view->device;
}
