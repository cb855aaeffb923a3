/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: partition tables. The input is the beginning of a disk image, and, where it
 * is long enough, its end.
 */
#include <fraglab/partition.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

/* Room for a GPT at both ends; libblkid wants more than 1 MiB to look for some formats. */
#define DISK_BYTES (2u << 20)
#define HEAD_BYTES (24u << 10)

static char path[] = "/tmp/fraglab-fuzz-XXXXXX";
static int fd;

static void remove_image(void)
{
	(void)unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fd = mkstemp(path);
	if (fd < 0 || atexit(remove_image))
		abort();
	return 0;
}

static void write_image(const uint8_t *input, size_t length)
{
	size_t head = length < HEAD_BYTES ? length : HEAD_BYTES;
	size_t tail = length - head;

	if (tail > HEAD_BYTES)
		tail = HEAD_BYTES;
	if (ftruncate(fd, 0) || ftruncate(fd, DISK_BYTES) ||
	    pwrite(fd, input, head, 0) != (ssize_t)head ||
	    pwrite(fd, input + head, tail, (off_t)(DISK_BYTES - tail)) != (ssize_t)tail)
		abort();
}

static void use(const struct fl_partitions *partitions)
{
	for (unsigned number = 0; number < 300; number++) {
		const struct fl_partition *found = NULL;
		struct fl_diag diag;

		if (fl_partitions_find(partitions, number, DISK_BYTES, &found, &diag))
			continue;
		if (!found->size_bytes || found->start_bytes > DISK_BYTES ||
		    found->size_bytes > DISK_BYTES - found->start_bytes)
			abort();
	}
	for (uint64_t at = 0; at < DISK_BYTES; at += DISK_BYTES / 8) {
		uint64_t limit = fl_partitions_limit(partitions, at, DISK_BYTES);

		if (limit < at || limit > DISK_BYTES)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	struct fl_partitions partitions = {0};
	struct fl_device *device;
	struct fl_diag diag;

	write_image(input, length);
	if (fl_device_file_open(path, FL_DEVICE_READ, &device, &diag))
		abort();
	if (!fl_partitions_read(device, &partitions, &diag))
		use(&partitions);
	fl_partitions_free(&partitions);
	fl_device_close(device);
	return 0;
}
