/* SPDX-License-Identifier: MIT */
/*
 * The table of images, and how they are filled. Must not use the mover or the scan.
 */
#include "tests/crash/images.h"

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOW 1704067200

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
	/* Groups whose bitmaps do not exist yet. */
	{"uninit", "-b 1024 -g 512 -I 256 -O " EXT4 ",uninit_bg,^64bit,^flex_bg", 4096, 40,
	 .deep = true, .batch_blocks = 500},
	{"xattr-ext2", "-b 1024 -I 128 -O " EXT2, 2048, 50, .shared = true, .batch_blocks = 300},
	{"xattr-csum", "-b 1024 -g 1024 -I 256 -O " EXT4 ",metadata_csum", 2048, 60, .shared = true,
	 .batch_blocks = 300},
	{"bigalloc", "-b 1024 -C 4096 -g 8192 -I 256 -O " EXT4 ",bigalloc,metadata_csum", 3072, 60,
	 .by_turns = true, .batch_blocks = 300},
	{"quota", "-b 1024 -I 256 -O " EXT4 ",metadata_csum,quota", 1536, 60, .deep = true,
	 .batch_blocks = 400},
	{"mmp", "-b 1024 -I 256 -O " EXT4 ",metadata_csum,mmp", 1600, 60, .batch_blocks = 300},
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
	snprintf(text, sizeof(text), "%d", NOW);
	return setenv("E2FSPROGS_FAKE_TIME", text, 1) || setenv("E2FSCK_TIME", text, 1) ||
			       setenv("E2FSCK_CONFIG", "/dev/null", 1) || setenv("LC_ALL", "C", 1)
		       ? FL_EIO
		       : 0;
}

struct filler {
	ext2_filsys fs;
	const struct crash_image *image;
	struct fl_rng rng;
	ext2_ino_t dirs[6], file; /* file: the one made last */
	size_t dir_count;
	unsigned serial;
	uint8_t *block;
};

static errcode_t make_dirs(struct filler *f)
{
	errcode_t error = 0;

	f->dirs[f->dir_count++] = EXT2_ROOT_INO;
	while (!error && f->dir_count < 6) {
		ext2_ino_t parent = f->dirs[f->dir_count / 2];
		char name[16];

		snprintf(name, sizeof(name), "dir%zu", f->dir_count);
		error = ext2fs_mkdir(f->fs, parent, 0, name);
		if (!error)
			error = ext2fs_lookup(f->fs, parent, name, (int)strlen(name), NULL,
					      &f->dirs[f->dir_count++]);
	}
	return error;
}

/* An empty file in some directory, with two names now and then. */
static errcode_t make_file(struct filler *f)
{
	ext2_ino_t dir = f->dirs[fl_rng_below(&f->rng, f->dir_count)];
	struct ext2_inode inode = {.i_mode = LINUX_S_IFREG | 0644, .i_links_count = 1};
	char name[80];
	errcode_t error = ext2fs_new_inode(f->fs, dir, LINUX_S_IFREG, NULL, &f->file);

	if (error)
		return error;
	inode.i_mtime = inode.i_ctime = inode.i_atime = NOW - (__u32)fl_rng_below(&f->rng, 9000000);
	inode.i_uid = (__u16)fl_rng_below(&f->rng, 1000);
	if (ext2fs_has_feature_extents(f->fs->super)) {
		ext2_extent_handle_t handle;

		inode.i_flags |= EXT4_EXTENTS_FL;
		error = ext2fs_extent_open2(f->fs, f->file, &inode, &handle);
		if (!error)
			ext2fs_extent_free(handle);
	}
	ext2fs_inode_alloc_stats2(f->fs, f->file, 1, 0);
	if (!error)
		error = ext2fs_write_new_inode(f->fs, f->file, &inode);
	snprintf(name, sizeof(name), "file-%u%s", f->serial,
		 f->serial % 7 ? "" : "-with-a-name-that-takes-some-room-in-its-directory");
	f->serial++;
	for (int tries = 0; !error && tries < 2; tries++) {
		error = ext2fs_link(f->fs, dir, name, f->file, EXT2_FT_REG_FILE);
		if (error != EXT2_ET_DIR_NO_SPACE)
			break;
		error = ext2fs_expand_dir(f->fs, dir);
	}
	return error;
}

/* Every sector says whose it is; some blocks are zeros. */
static void fill_block(struct filler *f, uint64_t lblk)
{
	uint64_t words[8];

	memset(f->block, 0, f->fs->blocksize);
	if (!fl_rng_below(&f->rng, 20))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		words[i] = fl_rng_next(&f->rng);
	for (size_t at = 0; at < f->fs->blocksize; at += sizeof(words)) {
		words[0] = (uint64_t)f->file << 32 | lblk;
		words[1] = at;
		memcpy(f->block + at, words, sizeof(words));
	}
}

/* Writes `count` blocks, the first at lblk, `step` apart. */
static errcode_t write_blocks(struct filler *f, uint64_t lblk, uint64_t count, uint64_t step)
{
	ext2_file_t file;
	errcode_t error = ext2fs_file_open(f->fs, f->file, EXT2_FILE_WRITE, &file), closed;

	if (error)
		return error;
	for (; count && !error; count--, lblk += step) {
		unsigned int bytes = f->fs->blocksize, done;

		if (count == 1 && step == 1)
			bytes -= (unsigned int)fl_rng_below(&f->rng, 600);
		fill_block(f, lblk);
		error = ext2fs_file_llseek(file, lblk * f->fs->blocksize, EXT2_SEEK_SET, NULL);
		if (!error)
			error = ext2fs_file_write(file, f->block, bytes, &done);
	}
	closed = ext2fs_file_close(file);
	return error ? error : closed;
}

static errcode_t make_deep(struct filler *f)
{
	static const uint64_t places[] = {0, 11, 12, 20, 267, 268, 300, 600};
	errcode_t error = make_file(f);

	/* 420 extents of one block: 84 fit into a 1 KiB node, so the tree has two levels. */
	if (!error)
		error = write_blocks(f, 0, ext2fs_has_feature_extents(f->fs->super) ? 420 : 330, 2);
	if (!error)
		error = make_file(f);
	for (size_t i = 0; !error && i < sizeof(places) / sizeof(*places); i++)
		error = write_blocks(f, places[i], 2, 1);
	/* Behind a triple indirect block. */
	return error ? error : write_blocks(f, 66000, 3, 1);
}

static errcode_t make_preallocated(struct filler *f)
{
	errcode_t error = make_file(f);

	if (!error)
		error = write_blocks(f, 0, 9, 1);
	return error ? error
		     : ext2fs_fallocate(f->fs, EXT2_FALLOCATE_FORCE_UNINIT, f->file, NULL, 0, 6,
					70);
}

/* Six files that grow by turns. */
static errcode_t make_by_turns(struct filler *f)
{
	ext2_ino_t files[6];
	errcode_t error = 0;

	for (size_t i = 0; i < 6 && !error; i++) {
		error = make_file(f);
		files[i] = f->file;
	}
	for (uint64_t turn = 0; turn < 18 * 6 && !error; turn++) {
		f->file = files[turn % 6];
		error = write_blocks(f, turn / 6 * 8, 1 + fl_rng_below(&f->rng, 8), 1);
	}
	return error;
}

/* One block of attributes that twelve inodes name. */
static errcode_t make_shared(struct filler *f)
{
	struct ext2_xattr_handle *handle;
	struct ext2_inode inode;
	blk64_t block = 0;
	__u32 count;
	errcode_t error = 0;
	char value[700];

	memset(value, 'x', sizeof(value));
	for (int i = 0; i < 12 && !error; i++) {
		error = make_file(f);
		if (!error)
			error = write_blocks(f, 0, 1 + fl_rng_below(&f->rng, 9), 1);
		if (error)
			break;
		if (i) {
			error = ext2fs_read_inode(f->fs, f->file, &inode);
			if (error)
				break;
			ext2fs_file_acl_block_set(f->fs, &inode, block);
			error = ext2fs_iblk_add_blocks(f->fs, &inode, 1);
			if (!error)
				error = ext2fs_write_inode(f->fs, f->file, &inode);
			if (!error)
				error = ext2fs_adjust_ea_refcount3(f->fs, block, (char *)f->block,
								   1, &count, f->file);
			continue;
		}
		error = ext2fs_xattrs_open(f->fs, f->file, &handle);
		if (error)
			break;
		error = ext2fs_xattrs_read(handle);
		if (!error)
			error = ext2fs_xattr_set(handle, "user.shared", value, sizeof(value));
		if (!error)
			error = ext2fs_xattrs_write(handle);
		ext2fs_xattrs_close(&handle);
		if (!error)
			error = ext2fs_read_inode(f->fs, f->file, &inode);
		block = ext2fs_file_acl_block(f->fs, &inode);
	}
	return error;
}

static errcode_t fill(struct filler *f)
{
	uint64_t blocks = ext2fs_blocks_count(f->fs->super);
	uint64_t least = blocks - blocks * f->image->full_percent / 100, free_blocks;
	errcode_t error = make_dirs(f);

	if (!error)
		error = ext2fs_symlink(
			f->fs, f->dirs[1], 0, "slow",
			"a/target/so/long/that/it/does/not/fit/into/the/inode/and/takes/"
			"a/block/of/its/own");
	if (!error && f->image->deep)
		error = make_deep(f);
	if (!error && f->image->preallocated)
		error = make_preallocated(f);
	for (int i = 0; !error && f->image->shared && i < 3; i++)
		error = make_shared(f);
	for (int i = 0; !error && f->image->by_turns && i < 2; i++)
		error = make_by_turns(f);
	while (!error && (free_blocks = ext2fs_free_blocks_count(f->fs->super)) > least + 3) {
		uint64_t most = fl_rng_chance(&f->rng, 1, 6) ? 290 : 24;
		uint64_t size = 1 + fl_rng_below(&f->rng, most * 1024 / f->fs->blocksize);

		error = make_file(f);
		/* Room for its mapping tree. */
		if (!error)
			error = write_blocks(f, 0, fl_min(size, free_blocks - least - 2), 1);
	}
	return error;
}

static int shell(const char *format, const char *arguments, const char *path)
{
	char command[1000];

	snprintf(command, sizeof(command), format, arguments, path);
	return system(command);
}

int crash_image_make(const struct crash_image *image, const char *path)
{
	struct filler f = {.image = image};
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
		 shell("mke2fs -q -F %s '%s' >/dev/null 2>&1", arguments, path);
	fl_rng_seed(&f.rng, image->kib + image->full_percent);
	if (!status) {
		step = "filling it";
		error = ext2fs_open(path, EXT2_FLAG_RW | EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0,
				    0, unix_io_manager, &f.fs);
		if (!error)
			error = ext2fs_read_bitmaps(f.fs);
		f.block = f.fs ? malloc(f.fs->blocksize) : NULL;
		if (!error && !f.block)
			error = EXT2_ET_NO_MEMORY;
	}
	if (!status && !error) {
		f.fs->now = NOW;
		error = fill(&f);
	}
	if (f.fs && !error)
		error = ext2fs_close_free(&f.fs);
	free(f.block);
	if (!status && !error) {
		step = "e2fsck";
		/* Hash trees, and right counts; then there must be nothing left to fix. */
		(void)shell("e2fsck -fy%s '%s' >/dev/null 2>&1", "D", path);
		status = shell("e2fsck -f%s '%s' >/dev/null 2>&1", "n", path);
	}
	if (status || error)
		fprintf(stderr, "image %s: %s: %s\n", image->name, step,
			error ? error_message(error) : "failed");
	return status || error ? FL_EIO : 0;
}
