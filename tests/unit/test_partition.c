/* SPDX-License-Identifier: MIT */
/*
 * Partition tables, made by hand (MBR, and what no tool would write) and by sfdisk (GPT).
 */
#include "tests/unit/device_files.h"

#include <fraglab/partition.h>

static struct fl_partitions partitions;
static struct fl_device *file;

static int setup(void **state)
{
	memset(&partitions, 0, sizeof(partitions));
	file = NULL;
	return enter(state);
}

static int teardown(void **state)
{
	fl_partitions_free(&partitions);
	fl_device_close(file);
	return leave(state);
}

#define PARTITION_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* An entry of an MBR at sector `table`: type, first sector from there, sectors. */
static void put_entry(const char *path, uint64_t table, unsigned index, uint8_t type,
		      uint32_t start, uint32_t sectors)
{
	uint8_t entry[16] = {0};
	int fd = open(path, O_RDWR);

	assert_true(fd >= 0);
	entry[4] = type;
	for (int i = 0; i < 4; i++) {
		entry[8 + i] = (uint8_t)(start >> 8 * i);
		entry[12 + i] = (uint8_t)(sectors >> 8 * i);
	}
	assert_int_equal(pwrite(fd, entry, 16, (off_t)(table * 512 + 446 + 16 * index)), 16);
	assert_int_equal(pwrite(fd, "\x55\xaa", 2, (off_t)(table * 512 + 510)), 2);
	assert_int_equal(close(fd), 0);
}

static void read_image(const char *path)
{
	file = open_image(path, FL_DEVICE_READ);
	if (fl_partitions_read(file, &partitions, &diag))
		fail_msg("%s: %s", path, diag.text);
}

static void assert_partition(size_t index, unsigned number, uint64_t start, uint64_t size,
			     const char *type)
{
	const struct fl_partition *partition = &partitions.all.at[index];

	assert_true(index < partitions.all.count);
	assert_int_equal(partition->number, number);
	assert_int_equal(partition->start_bytes, start);
	assert_int_equal(partition->size_bytes, size);
	assert_string_equal(partition->type, type);
}

static void assert_found(unsigned number, uint64_t start)
{
	const struct fl_partition *found = NULL;

	if (fl_partitions_find(&partitions, number, file->size_bytes, &found, &diag))
		fail_msg("partition %u: %s", number, diag.text);
	assert_int_equal(found->start_bytes, start);
}

static void assert_not_found(unsigned number, int error, const char *text)
{
	const struct fl_partition *found = NULL;

	assert_int_equal(fl_partitions_find(&partitions, number, file->size_bytes, &found, &diag),
			 error);
	assert_null(found);
	if (!strstr(diag.text, text))
		fail_msg("'%s' does not say '%s'", diag.text, text);
}

static void test_none(void **state)
{
	(void)state;
	make_file("empty", 0);
	read_image("empty");
	assert_int_equal(partitions.all.count, 0);
	fl_device_close(file);
	make_file("image", 4 * MIB);
	read_image("image");
	assert_int_equal(partitions.all.count, 0);
	assert_string_equal(partitions.table, "");
	assert_not_found(1, FL_EINVAL, "there is no partition table");
	assert_int_equal(fl_partitions_limit(&partitions, 512, file->size_bytes), 4 * MIB);
}

static void test_not_a_file(void **state)
{
	struct fl_device *device;

	(void)state;
	assert_int_equal(fl_device_memory(MIB, &device), 0);
	assert_int_equal(fl_partitions_read(device, &partitions, &diag), FL_EINVAL);
	fl_device_close(device);
}

/* Primary and logical partitions; the first begins at sector 63, as DOS had it. */
static void test_mbr(void **state)
{
	char line[128];

	(void)state;
	make_file("image", 64 * MIB);
	put_entry("image", 0, 0, 0x83, 63, 2000);
	put_entry("image", 0, 1, 0x05, 4096, 40960);
	put_entry("image", 0, 3, 0x82, 65536, 8192);
	put_entry("image", 4096, 0, 0x83, 64, 10000);
	put_entry("image", 4096, 1, 0x05, 20000, 10000);
	put_entry("image", 4096 + 20000, 0, 0xda, 64, 9000);
	assert_true(shell(line, "mke2fs -q -F -t ext3 -E offset=%d image 4M 2>&1", 4160 * 512));
	read_image("image");
	assert_string_equal(partitions.table, "dos");
	assert_int_equal(partitions.all.count, 5);
	assert_partition(0, 1, 32256, 2000 * 512, "Linux");
	assert_partition(1, 2, 2 * MIB, 20 * MIB, "extended");
	assert_partition(2, 4, 32 * MIB, 4 * MIB, "Linux swap");
	assert_partition(3, 5, 4160 * 512, 10000 * 512, "Linux");
	assert_partition(4, 6, (4096 + 20064) * 512, 9000 * 512, "0xda");
	assert_true(partitions.all.at[1].extended);
	assert_false(partitions.all.at[3].extended);
	assert_string_equal(partitions.all.at[3].holds, "ext3");
	assert_true(partitions.all.at[3].ext);
	assert_string_equal(partitions.all.at[0].holds, "");
	assert_false(partitions.all.at[0].ext);
	assert_found(1, 32256);
	assert_found(5, 4160 * 512);
	assert_not_found(2, FL_EINVAL, "partition 2 is an extended one");
	assert_not_found(3, FL_EINVAL, "partition 3: there is none");
	assert_not_found(7, FL_EINVAL, "partition 7: there is none");
}

/* Where a filesystem from some byte on has to end. */
static void test_limit(void **state)
{
	(void)state;
	make_file("image", 64 * MIB);
	put_entry("image", 0, 0, 0x83, 2048, 2048);
	put_entry("image", 0, 1, 0x83, 8192, 2048);
	put_entry("image", 0, 2, 0x05, 16384, 65536);
	put_entry("image", 16384, 0, 0x83, 2048, 4096);
	read_image("image");
	assert_int_equal(fl_partitions_limit(&partitions, 0, file->size_bytes), 64 * MIB);
	assert_int_equal(fl_partitions_limit(&partitions, 512, file->size_bytes), MIB);
	assert_int_equal(fl_partitions_limit(&partitions, MIB, file->size_bytes), 2 * MIB);
	assert_int_equal(fl_partitions_limit(&partitions, 2 * MIB - 512, file->size_bytes),
			 2 * MIB);
	assert_int_equal(fl_partitions_limit(&partitions, 2 * MIB, file->size_bytes), 4 * MIB);
	assert_int_equal(fl_partitions_limit(&partitions, 8 * MIB, file->size_bytes), 9 * MIB);
	assert_int_equal(fl_partitions_limit(&partitions, 9 * MIB, file->size_bytes), 11 * MIB);
	assert_int_equal(fl_partitions_limit(&partitions, 11 * MIB, file->size_bytes), 40 * MIB);
	assert_int_equal(fl_partitions_limit(&partitions, 40 * MIB, file->size_bytes), 64 * MIB);
}

static void test_nonsense(void **state)
{
	(void)state;
	make_file("image", 64 * MIB);
	put_entry("image", 0, 0, 0x83, 2048, 4096);
	put_entry("image", 0, 1, 0x83, 6143, 4096);
	put_entry("image", 0, 2, 0x83, 65536, 65537);
	put_entry("image", 0, 3, 0x83, 0xfffff000, 0xfffff000);
	read_image("image");
	assert_not_found(1, FL_EDAMAGED, "partitions 1 and 2 overlap");
	assert_not_found(2, FL_EDAMAGED, "partitions 2 and 1 overlap");
	assert_not_found(3, FL_ESHORT,
			 "partition 3 ends at byte 67109376, behind the end of the image at "
			 "67108864");
	assert_not_found(4, FL_ESHORT, "behind the end of the image");
	/* Repaired, both are as good as any. */
	fl_partitions_free(&partitions);
	fl_device_close(file);
	put_entry("image", 0, 1, 0x83, 6144, 4096);
	read_image("image");
	assert_found(1, MIB);
	assert_found(2, 3 * MIB);
}

static void require_sfdisk(void)
{
	char line[128];

	if (!shell(line, "PATH=$PATH:/usr/sbin:/sbin command -v sfdisk")) {
		print_message("skipped: no sfdisk here\n");
		skip();
	}
}

static void test_gpt(void **state)
{
	char line[128];

	(void)state;
	require_sfdisk();
	make_file("image", 64 * MIB);
	assert_true(shell(line, "printf 'label: gpt\\n2:start=2048,size=20480,type=U\\n"
				"7:start=22528,size=65536,type=L\\n' | "
				"PATH=$PATH:/usr/sbin:/sbin sfdisk -q image 2>&1"));
	assert_true(shell(line, "mke2fs -q -F -t ext4 -E offset=%d image 32M 2>&1", 11 * 1048576));
	read_image("image");
	assert_string_equal(partitions.table, "gpt");
	assert_int_equal(partitions.all.count, 2);
	assert_partition(0, 2, MIB, 10 * MIB, "EFI System");
	assert_partition(1, 7, 11 * MIB, 32 * MIB, "Linux filesystem");
	assert_string_equal(partitions.all.at[1].holds, "ext4");
	assert_found(7, 11 * MIB);
	fl_partitions_free(&partitions);
	fl_device_close(file);
	file = NULL;
	/* Cut off within the last partition: the table says so. */
	assert_int_equal(truncate("image", 40 * MIB), 0);
	file = open_image("image", FL_DEVICE_READ);
	assert_int_equal(fl_partitions_read(file, &partitions, &diag), FL_ESHORT);
	assert_non_null(strstr(diag.text, "the image (41943040 bytes) is not all"));
}

/* A disk with sectors of 4 KiB, from a loop device that has them too. */
static void test_large_sectors(void **state)
{
	char loop[128], line[128];

	(void)state;
	require_sfdisk();
	make_file("image", 64 * MIB);
	if (geteuid() || !shell(loop, "losetup -f --show -b 4096 image 2>&1") || loop[0] != '/') {
		print_message("skipped: no loop devices here: %s\n", loop);
		skip();
	}
	assert_true(shell(line,
			  "printf 'label: gpt\\nstart=256,size=2560,type=L\\n' | "
			  "PATH=$PATH:/usr/sbin:/sbin sfdisk -q --no-reread %s 2>&1",
			  loop));
	read_image(loop);
	assert_int_equal(partitions.all.count, 1);
	assert_partition(0, 1, MIB, 10 * MIB, "Linux filesystem");
	fl_partitions_free(&partitions);
	fl_device_close(file);
	file = NULL;
	assert_true(shell(line, "losetup -d %s", loop));
	for (int tries = 0; tries < 100 && !file; tries++)
		if (fl_device_file_open("image", FL_DEVICE_READ, &file, &diag))
			(void)usleep(50000);
	assert_non_null(file);
	assert_int_equal(fl_partitions_read(file, &partitions, &diag), 0);
	assert_int_equal(partitions.all.count, 1);
	assert_partition(0, 1, MIB, 10 * MIB, "Linux filesystem");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PARTITION_TEST(test_none),	    PARTITION_TEST(test_not_a_file),
		PARTITION_TEST(test_mbr),	    PARTITION_TEST(test_limit),
		PARTITION_TEST(test_nonsense),	    PARTITION_TEST(test_gpt),
		PARTITION_TEST(test_large_sectors),
	};

	return cmocka_run_group_tests_name("partition", tests, NULL, NULL);
}
