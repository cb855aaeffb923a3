/* SPDX-License-Identifier: MIT */
/*
 * The partitions of a disk image: where they are and what they hold, so that a window can be
 * laid on one. Only reads.
 */
#ifndef FRAGLAB_PARTITION_H
#define FRAGLAB_PARTITION_H

#include <fraglab/device.h>
#include <fraglab/util.h>

struct fl_partition {
	unsigned number;      /* from 1, as in the names of device nodes; logical ones from 5 */
	unsigned parent;      /* number of the partition whose table has this one; 0: none */
	uint64_t start_bytes; /* from the start of the image */
	uint64_t size_bytes;
	char type[40];	/* "Linux", "EFI System", a GUID, a hexadecimal number */
	char holds[16]; /* the filesystem or other format in it, as blkid names it; "": unknown */
	bool ext;	/* it holds ext2, ext3 or ext4 */
	bool extended;	/* a container of logical partitions */
};

/* Zero-initialise. */
struct fl_partitions {
	char table[16]; /* "gpt", "dos" (MBR), or another that libblkid knows; "": none */
	FL_ARRAY(struct fl_partition) all; /* in the table's order */
};

/*
 * The partitions of a raw file or block device (fl_device_file_open; FL_EINVAL for other
 * devices). Tables for sectors of 512 and of 4096 bytes are found. No table is no error: the
 * result is empty then. FL_ESHORT: there is a GPT that does not fit the image, so that it
 * cannot be relied on. FL_EIO, FL_ENOMEM. Partitions may be nonsense: see
 * fl_partitions_find. I/O: the table, and some 100 KiB of each partition.
 */
int fl_partitions_read(struct fl_device *file, struct fl_partitions *partitions,
		       struct fl_diag *diag) FL_CHECKED;

/* Frees what it holds, and makes it empty. */
void fl_partitions_free(struct fl_partitions *partitions);

/*
 * The partition of that number (borrowed), checked: FL_EINVAL when there is none or it is a
 * container of others, FL_ESHORT when it does not end within size_bytes, FL_EDAMAGED when it
 * is empty or overlaps another.
 */
int fl_partitions_find(const struct fl_partitions *partitions, unsigned number, uint64_t size_bytes,
		       const struct fl_partition **found, struct fl_diag *diag) FL_CHECKED;

/*
 * Where a filesystem that begins at this byte must end: at the end of the partition that holds
 * the byte, at the next partition's start, or at size_bytes. One that begins with the image
 * may have all of it.
 */
uint64_t fl_partitions_limit(const struct fl_partitions *partitions, uint64_t position,
			     uint64_t size_bytes);

#endif
