/* SPDX-License-Identifier: MIT */
/*
 * Partition tables by libblkid, on the descriptor of an image that is open already.
 * Must not write, and must not open anything itself.
 */
#include <fraglab/partition.h>

#include <blkid/blkid.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device/device_private.h"

struct type_name {
	const char *type; /* as read_type writes it without a name */
	const char *name;
};

/* The types that disks with ext2/3/4 on them usually have. */
static const struct type_name type_names[] = {
	{"0x05", "extended"},
	{"0x07", "NTFS or exFAT"},
	{"0x0b", "FAT32"},
	{"0x0c", "FAT32"},
	{"0x0f", "extended"},
	{"0x82", "Linux swap"},
	{"0x83", "Linux"},
	{"0x85", "Linux extended"},
	{"0x8e", "Linux LVM"},
	{"0xef", "EFI System"},
	{"0xfd", "Linux RAID"},
	{"c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "EFI System"},
	{"21686148-6449-6e6f-744e-656564454649", "BIOS boot"},
	{"0fc63daf-8483-4772-8e79-3d69d8477de4", "Linux filesystem"},
	{"0657fd6d-a4ab-43c4-84e5-0933c84b4f4f", "Linux swap"},
	{"e6d6d379-f507-44c2-a23c-238f2a3df928", "Linux LVM"},
	{"a19d880f-05fc-4d3b-a006-743f0f84911e", "Linux RAID"},
	{"933ac7e1-2eb4-4f13-b844-0e14e2aef915", "Linux home"},
	{"bc13c2ff-59e6-4262-a352-b275fd6f7172", "Linux extended boot"},
	{"44479540-f297-41b2-9af7-d131d5f0458a", "Linux root (x86)"},
	{"4f68bce3-e8cd-4db1-96e7-fbcaf984b709", "Linux root (x86-64)"},
	{"69dad710-2ce4-4e3c-b16c-21a1d49abed3", "Linux root (ARM)"},
	{"b921b045-1df0-41c3-af44-4c6f280d3fae", "Linux root (ARM64)"},
	{"ebd0a0a2-b9e5-4433-87c0-68b6b72699c7", "Microsoft basic data"},
};

static void read_type(blkid_partition from, struct fl_partition *partition)
{
	const char *text = blkid_partition_get_type_string(from);
	size_t i;

	if (text && *text)
		(void)snprintf(partition->type, sizeof(partition->type), "%s", text);
	else
		(void)snprintf(partition->type, sizeof(partition->type), "0x%02x",
			       (unsigned)blkid_partition_get_type(from) & 0xffu);
	for (i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++)
		if (!strcasecmp(partition->type, type_names[i].type)) {
			(void)snprintf(partition->type, sizeof(partition->type), "%s",
				       type_names[i].name);
			break;
		}
}

/* What is in the partition; none of it matters more than the text that is shown. */
static void read_content(int fd, struct fl_partition *partition)
{
	blkid_probe probe = blkid_new_probe();
	const char *type = NULL;

	if (!probe)
		return;
	if (!blkid_probe_set_device(probe, fd, (blkid_loff_t)partition->start_bytes,
				    (blkid_loff_t)partition->size_bytes) &&
	    !blkid_probe_enable_superblocks(probe, 1) &&
	    !blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_TYPE) &&
	    !blkid_do_safeprobe(probe) && !blkid_probe_lookup_value(probe, "TYPE", &type, NULL)) {
		(void)snprintf(partition->holds, sizeof(partition->holds), "%s", type);
		partition->ext =
			!strcmp(type, "ext2") || !strcmp(type, "ext3") || !strcmp(type, "ext4");
	}
	blkid_free_probe(probe);
}

/* Sectors of 512 bytes, whatever the disk has, to bytes; what is too large stays too large. */
static uint64_t to_bytes(blkid_loff_t sectors)
{
	uint64_t bytes;

	if (sectors < 0 ||
	    __builtin_mul_overflow((uint64_t)sectors, (uint64_t)FL_SECTOR_BYTES, &bytes))
		return UINT64_MAX;
	return bytes;
}

/* The whole partition is in the image. */
static bool fits(const struct fl_partition *partition, uint64_t size_bytes)
{
	return partition->start_bytes <= size_bytes &&
	       partition->size_bytes <= size_bytes - partition->start_bytes;
}

static int read_table(blkid_probe probe, int fd, uint64_t size_bytes,
		      struct fl_partitions *partitions)
{
	blkid_partlist list = blkid_probe_get_partitions(probe);
	int count = list ? blkid_partlist_numof_partitions(list) : 0, i;
	blkid_parttable table = count > 0 ? blkid_partlist_get_table(list) : NULL;
	const char *name = table ? blkid_parttable_get_type(table) : NULL;

	if (!name)
		return 0;
	(void)snprintf(partitions->table, sizeof(partitions->table), "%s", name);
	for (i = 0; i < count; i++) {
		blkid_partition from = blkid_partlist_get_partition(list, i);
		blkid_parttable own = from ? blkid_partition_get_table(from) : NULL;
		blkid_partition parent = own ? blkid_parttable_get_parent(own) : NULL;
		struct fl_partition partition = {0};

		if (!from)
			continue;
		partition.number = (unsigned)blkid_partition_get_partno(from);
		partition.parent = parent ? (unsigned)blkid_partition_get_partno(parent) : 0;
		partition.start_bytes = to_bytes(blkid_partition_get_start(from));
		partition.size_bytes = to_bytes(blkid_partition_get_size(from));
		partition.extended = blkid_partition_is_extended(from) != 0;
		read_type(from, &partition);
		if (!partition.extended && partition.size_bytes && fits(&partition, size_bytes))
			read_content(fd, &partition);
		if (fl_array_push(&partitions->all, partition))
			return FL_ENOMEM;
	}
	return 0;
}

/* A GPT begins in the second sector; libblkid leaves one alone that ends behind the image. */
static int check_gpt(struct fl_device *file, struct fl_diag *diag)
{
	static const uint64_t places[] = {512, 4096};
	char magic[8];
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		int rc;

		if (file->size_bytes < places[i] + sizeof(magic))
			break;
		rc = fl_device_read(file, magic, sizeof(magic), places[i]);
		if (rc)
			return fl_fail(diag, rc, "partitions: cannot read the table");
		if (!memcmp(magic, "EFI PART", sizeof(magic)))
			return fl_fail(diag, FL_ESHORT,
				       "partitions: the GPT is damaged, or the image (%" PRIu64
				       " bytes) is not all of the disk; get the whole image",
				       file->size_bytes);
	}
	return 0;
}

int fl_partitions_read(struct fl_device *file, struct fl_partitions *partitions,
		       struct fl_diag *diag)
{
	static const unsigned sector_sizes[] = {512, 4096};
	struct fl_partitions found = {0};
	blkid_probe probe = NULL;
	int fd = fl_device_file_fd(file), rc = 0;
	size_t i;

	if (fd < 0)
		return fl_fail(diag, FL_EINVAL, "partitions: not an image file");
	probe = blkid_new_probe();
	if (!probe)
		return fl_fail(diag, FL_ENOMEM, "partitions: memory ran out");
	for (i = 0; i < 2 && !rc && !found.all.count; i++) {
		/* An image too small to be probed has no table. */
		if (blkid_probe_set_device(probe, fd, 0, 0) ||
		    blkid_probe_set_sectorsize(probe, sector_sizes[i]))
			break;
		rc = read_table(probe, fd, file->size_bytes, &found);
	}
	if (rc)
		rc = fl_fail(diag, rc, "partitions: memory ran out");
	else if (!found.all.count)
		rc = check_gpt(file, diag);
	blkid_free_probe(probe);
	if (rc) {
		fl_partitions_free(&found);
		return rc;
	}
	*partitions = found;
	return 0;
}

void fl_partitions_free(struct fl_partitions *partitions)
{
	fl_array_free(&partitions->all);
	memset(partitions, 0, sizeof(*partitions));
}

static uint64_t end_of(const struct fl_partition *partition)
{
	uint64_t end;

	return __builtin_add_overflow(partition->start_bytes, partition->size_bytes, &end)
		       ? UINT64_MAX
		       : end;
}

/* Both claim the same bytes, and none is there to hold the other. */
static bool collide(const struct fl_partition *a, const struct fl_partition *b)
{
	if (a == b || a->extended || b->extended || a->parent == b->number ||
	    b->parent == a->number)
		return false;
	return a->start_bytes < end_of(b) && b->start_bytes < end_of(a);
}

static int check(const struct fl_partitions *partitions, const struct fl_partition *partition,
		 uint64_t size_bytes, struct fl_diag *diag)
{
	unsigned number = partition->number;
	size_t i;

	if (partition->extended)
		return fl_fail(diag, FL_EINVAL,
			       "partition %u is an extended one, the container of logical "
			       "partitions",
			       number);
	if (!partition->size_bytes)
		return fl_fail(diag, FL_EDAMAGED, "partition %u is empty", number);
	if (!fits(partition, size_bytes))
		return fl_fail(diag, FL_ESHORT,
			       "partition %u ends at byte %" PRIu64
			       ", behind the end of the image at %" PRIu64 "; get the whole image",
			       number, end_of(partition), size_bytes);
	for (i = 0; i < partitions->all.count; i++)
		if (collide(partition, &partitions->all.at[i]))
			return fl_fail(diag, FL_EDAMAGED,
				       "partitions %u and %u overlap; repair the table (sfdisk, "
				       "gdisk) first",
				       number, partitions->all.at[i].number);
	return 0;
}

int fl_partitions_find(const struct fl_partitions *partitions, unsigned number, uint64_t size_bytes,
		       const struct fl_partition **found, struct fl_diag *diag)
{
	size_t i;
	int rc;

	if (!partitions->all.count)
		return fl_fail(diag, FL_EINVAL, "partition %u: there is no partition table",
			       number);
	for (i = 0; i < partitions->all.count; i++) {
		const struct fl_partition *partition = &partitions->all.at[i];

		if (partition->number != number)
			continue;
		rc = check(partitions, partition, size_bytes, diag);
		if (!rc)
			*found = partition;
		return rc;
	}
	return fl_fail(diag, FL_EINVAL, "partition %u: there is none of that number", number);
}

uint64_t fl_partitions_limit(const struct fl_partitions *partitions, uint64_t position,
			     uint64_t size_bytes)
{
	uint64_t limit = size_bytes;
	size_t i;

	/* What has the table's own place leaves no room for a table. */
	for (i = 0; position && i < partitions->all.count; i++) {
		const struct fl_partition *partition = &partitions->all.at[i];

		if (partition->start_bytes > position)
			limit = fl_min(limit, partition->start_bytes);
		else if (end_of(partition) > position)
			limit = fl_min(limit, end_of(partition));
	}
	return limit;
}
