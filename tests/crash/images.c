/* SPDX-License-Identifier: MIT */
/*
 * The table of images, and how they are made. Must not use the mover or the scan.
 */
#include "tests/crash/images.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/crash/fill.h"

#define EXT2 "none,ext_attr,dir_index,filetype,sparse_super,large_file"
#define EXT4 EXT2 ",extent,flex_bg,64bit,huge_file,dir_nlink,extra_isize"

/* 1 KiB blocks and no more than a few MiB: a cut costs what the image has bytes. */
const struct crash_image crash_images[] = {
	{"ext2", "-b 1024 -I 128 -O " EXT2, 1600, 70, .deep = true, .batch_blocks = 400},
	{"ext2-groups", "-b 1024 -g 512 -I 128 -O " EXT2 ",^sparse_super", 2048, 60,
	 .batch_blocks = 400},
	{"ext3", "-b 1024 -I 256 -J size=1 -O " EXT2 ",has_journal,resize_inode", 3072, 70,
	 .deep = true, .batch_blocks = 500},
	/* One group: no backup superblock. */
	{"ext4", "-b 1024 -I 256 -J size=1 -O " EXT4 ",has_journal,metadata_csum", 3072, 65,
	 .preallocated = true, .batch_blocks = 500},
	/* Inodes of two sectors; what is switched is in the first. */
	{"ext4-4k", "-b 4096 -I 1024 -O " EXT4 ",metadata_csum,resize_inode", 6144, 50,
	 .preallocated = true, .batch_blocks = 300},
	{"csum-deep", "-b 1024 -g 1024 -I 256 -O " EXT4 ",metadata_csum,metadata_csum_seed", 2560,
	 75, .deep = true, .preallocated = true, .batch_blocks = 900},
	/* Groups whose bitmaps do not exist yet, and two blocks of descriptors. */
	{"uninit", "-b 1024 -g 256 -I 256 -O " EXT4 ",uninit_bg,^flex_bg", 4608, 40, .deep = true,
	 .batch_blocks = 500},
	{"xattr-ext2", "-b 1024 -I 128 -O " EXT2, 2048, 50, .shared = true, .batch_blocks = 300},
	{"xattr-csum", "-b 1024 -g 1024 -I 256 -O " EXT4 ",metadata_csum", 2048, 60, .shared = true,
	 .batch_blocks = 300},
	{"bigalloc", "-b 1024 -C 4096 -g 8192 -I 256 -O " EXT4 ",bigalloc,metadata_csum", 3072, 60,
	 .by_turns = true, .batch_blocks = 300},
	{"quota", "-b 1024 -I 256 -O " EXT4 ",metadata_csum,quota", 1536, 60, .deep = true,
	 .batch_blocks = 400},
	{"mmp", "-b 1024 -I 256 -O " EXT4 ",metadata_csum,mmp", 1600, 60, .batch_blocks = 300},
	{"journal-beside", "-b 1024 -I 256 -O " EXT4 ",metadata_csum", 1600, 60,
	 .journal_beside = true, .batch_blocks = 300},
	/* As full as the smallest steps get anywhere. */
	{"full", "-b 1024 -g 256 -I 256 -O " EXT4 ",metadata_csum", 800, 97, .batch_blocks = 400},
	{"full-ext2", "-b 1024 -I 128 -O " EXT2, 512, 97, .batch_blocks = 400},
};
const size_t crash_image_count = sizeof(crash_images) / sizeof(crash_images[0]);

/* e2fsck shall not wait for other machines: see nosleep.c. It is two folders away from mutants. */
static int no_waiting(void)
{
	static const char *const places[] = {"nosleep.so", "../../tests/nosleep.so"};
	char self[2048], path[2100];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return FL_EIO;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, places[i]);
		if (!access(path, R_OK))
			return setenv("LD_PRELOAD", path, 1) ? FL_EIO : 0;
	}
	return FL_EIO;
}

int crash_environment(void)
{
	static const char config[] =
		"[fs_types]\n floppy = {\n inode_size = 256\n }\n"
		"small = {\n inode_size = 256\n }\n ext3 = {\n inode_size = 256\n }\n";
	char text[4096], path[40];
	const char *old = getenv("PATH");
	int fd = memfd_create("mke2fs.conf", 0); /* inherited by mke2fs */

	if (fd < 0 || write(fd, config, sizeof(config) - 1) != (ssize_t)(sizeof(config) - 1))
		return FL_EIO;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(text, sizeof(text), "/usr/sbin:/sbin:%s", old ? old : "/usr/bin:/bin");
	if (no_waiting() || setenv("MKE2FS_CONFIG", path, 1) || setenv("PATH", text, 1))
		return FL_EIO;
	snprintf(text, sizeof(text), "%d", CRASH_NOW);
	return setenv("E2FSPROGS_FAKE_TIME", text, 1) || setenv("E2FSCK_TIME", text, 1) ||
			       setenv("E2FSCK_CONFIG", "/dev/null", 1) || setenv("LC_ALL", "C", 1)
		       ? FL_EIO
		       : 0;
}

#define JOURNAL_UUID "f7a91ab0-0000-4000-8000-00000000000a"
#define JOURNAL_DEV 0x700

void crash_image_journal(const char *path, char journal[200])
{
	snprintf(journal, 200, "%s.journal", path);
}

/* mke2fs would want a block device for it. */
static void name_journal(struct ext2_super_block *super)
{
	static const uint8_t uuid[16] = {0xf7, 0xa9, 0x1a, 0xb0, 0, 0, 0x40, 0,
					 0x80, 0,    0,	   0,	 0, 0, 0,    0x0a};

	ext2fs_set_feature_journal(super);
	super->s_journal_dev = JOURNAL_DEV;
	memcpy(super->s_journal_uuid, uuid, sizeof(uuid));
}

static int shell(const char *format, const char *arguments, const char *path)
{
	char command[1000];

	snprintf(command, sizeof(command), format, arguments, path);
	return system(command);
}

/* e2fsck must have nothing left to fix, once there are hash trees and right counts. */
static int settle(const struct crash_image *image, const char *path)
{
	char optimize[300] = "yD", check[300] = "n", journal[200];

	if (image->journal_beside) {
		crash_image_journal(path, journal);
		snprintf(optimize, sizeof(optimize), "yD -j '%s'", journal);
		snprintf(check, sizeof(check), "n -j '%s'", journal);
	}
	(void)shell("e2fsck -f%s '%s' >/dev/null 2>&1", optimize, path);
	return shell("e2fsck -f%s '%s' >/dev/null 2>&1", check, path);
}

static int make_journal(const char *path)
{
	char journal[200];

	crash_image_journal(path, journal);
	unlink(journal);
	return close(open(journal, O_CREAT | O_RDWR | O_CLOEXEC, 0600)) ||
	       truncate(journal, 1024 * 1100) ||
	       shell("mke2fs -q -F %s '%s' >/dev/null 2>&1",
		     "-b 1024 -O journal_dev -U " JOURNAL_UUID, journal);
}

int crash_image_make(const struct crash_image *image, const char *path)
{
	ext2_filsys fs = NULL;
	const char *step = "mke2fs";
	char arguments[500];
	errcode_t error = 0;
	int status;

	snprintf(arguments, sizeof(arguments),
		 "-o linux -m 0 -N 128 -U f7a91ab0-0000-4000-8000-000000000004 -E "
		 "hash_seed=f7a91ab0-0000-4000-8000-000000000004,lazy_itable_init=0,root_owner=0:0 "
		 "%s",
		 image->mke2fs);
	unlink(path);
	status = close(open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0600)) ||
		 truncate(path, (off_t)image->kib * 1024) ||
		 shell("mke2fs -q -F %s '%s' >/dev/null 2>&1", arguments, path) ||
		 (image->journal_beside && make_journal(path));
	if (!status) {
		step = "filling it";
		error = ext2fs_open(path, EXT2_FLAG_RW | EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0,
				    0, unix_io_manager, &fs);
		if (!error)
			error = ext2fs_read_bitmaps(fs);
		if (!error)
			error = crash_fill(fs, image);
	}
	if (fs && !error && image->journal_beside)
		name_journal(fs->super);
	if (fs && !error)
		error = ext2fs_close_free(&fs);
	if (!status && !error) {
		step = "e2fsck";
		status = settle(image, path);
	}
	if (status || error)
		fprintf(stderr, "image %s: %s: %s\n", image->name, step,
			error ? error_message(error) : "failed");
	return status || error ? FL_EIO : 0;
}
