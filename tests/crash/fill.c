/* SPDX-License-Identifier: MIT */
/*
 * Fills the images of the crash tests with files that lie anywhere. The same every time.
 */
#include "tests/crash/fill.h"

#include <stdlib.h>
#include <string.h>

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
	inode.i_mtime = inode.i_ctime = inode.i_atime =
		CRASH_NOW - (__u32)fl_rng_below(&f->rng, 9000000);
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

errcode_t crash_fill(ext2_filsys fs, const struct crash_image *image)
{
	struct filler f = {.fs = fs, .image = image};
	errcode_t error = EXT2_ET_NO_MEMORY;

	fl_rng_seed(&f.rng, image->kib + image->full_percent);
	fs->now = CRASH_NOW;
	f.block = malloc(fs->blocksize);
	if (f.block)
		error = fill(&f);
	free(f.block);
	return error;
}
