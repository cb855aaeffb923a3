/* SPDX-License-Identifier: MIT */
/*
 * Creates a sample tree in an open filesystem: directories, inodes, links, extended
 * attributes. Everything follows from the seed; the clock is never asked.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "images/sample.h"

struct populator {
	const struct sample_options *options;
	struct store store;
	ext2_filsys fs;
	struct sample_tree *tree;
	struct fl_rng rng;
	ext2_ino_t *dir_inos; /* by directory index */
	size_t next;	      /* place in tree->order */
};

/* Times within the two years before SAMPLE_NOW, as they come about: made, changed, read. */
static void set_times(struct populator *p, struct ext2_inode_large *inode)
{
	uint32_t nano = (uint32_t)fl_rng_below(&p->rng, 1000000000) << 2;
	uint64_t age = fl_rng_between(&p->rng, 1, SAMPLE_TIME_SPAN);
	uint64_t changed = age - fl_rng_below(&p->rng, age / 8 + 1);

	inode->i_crtime = (uint32_t)(SAMPLE_NOW - age);
	inode->i_mtime = (uint32_t)(SAMPLE_NOW - changed);
	inode->i_ctime = inode->i_mtime;
	inode->i_atime = (uint32_t)(SAMPLE_NOW - fl_rng_below(&p->rng, changed + 1));
	inode->i_crtime_extra = inode->i_mtime_extra = inode->i_ctime_extra = nano;
	inode->i_atime_extra = nano >> 1 & ~3u;
}

static errcode_t write_inode(struct populator *p, ext2_ino_t ino, struct ext2_inode_large *inode)
{
	return ext2fs_write_inode_full(p->fs, ino, (struct ext2_inode *)inode, sizeof(*inode));
}

static errcode_t read_inode(struct populator *p, ext2_ino_t ino, struct ext2_inode_large *inode)
{
	return ext2fs_read_inode_full(p->fs, ino, (struct ext2_inode *)inode, sizeof(*inode));
}

/* Owner, mode and times of what libext2fs has made (directories and symlinks). */
static errcode_t dress(struct populator *p, ext2_ino_t ino, uint16_t mode, uint16_t uid,
		       uint16_t gid)
{
	struct ext2_inode_large inode;
	errcode_t error = read_inode(p, ino, &inode);

	if (error)
		return error;
	inode.i_mode = mode;
	inode.i_uid = uid;
	inode.i_gid = gid;
	/* A directory's generation is in the checksums of its blocks, which exist already. */
	if (!S_ISDIR(mode))
		inode.i_generation = (uint32_t)fl_rng_next(&p->rng);
	set_times(p, &inode);
	return write_inode(p, ino, &inode);
}

static errcode_t add_name(struct populator *p, ext2_ino_t dir, const char *name, ext2_ino_t ino,
			  int type)
{
	errcode_t error = ext2fs_link(p->fs, dir, name, ino, type);

	if (error != EXT2_ET_DIR_NO_SPACE)
		return error;
	error = ext2fs_expand_dir(p->fs, dir);
	return error ? error : ext2fs_link(p->fs, dir, name, ino, type);
}

/* Upper directories go where most is free, as the kernel spreads them; others stay near. */
static ext2_ino_t inode_hint(struct populator *p, const struct sample_dir *dir, ext2_ino_t parent)
{
	uint32_t best = 0;

	if (dir->depth > 3)
		return parent;
	for (uint32_t group = 0; group < p->fs->group_desc_count; group++) {
		if (ext2fs_bg_free_blocks_count(p->fs, group) >
			    ext2fs_bg_free_blocks_count(p->fs, best) &&
		    ext2fs_bg_free_inodes_count(p->fs, group))
			best = group;
	}
	return best * EXT2_INODES_PER_GROUP(p->fs->super) + 1;
}

static errcode_t make_dir(struct populator *p, uint32_t index)
{
	const struct sample_dir *dir = &p->tree->dirs.at[index];
	ext2_ino_t parent = p->dir_inos[dir->parent], ino;
	errcode_t error;

	if (!index) {
		p->dir_inos[0] = EXT2_ROOT_INO;
		return dress(p, EXT2_ROOT_INO, S_IFDIR | 0755, 0, 0);
	}
	error = ext2fs_new_inode(p->fs, inode_hint(p, dir, parent), S_IFDIR, NULL, &ino);
	if (error)
		return error;
	error = ext2fs_mkdir(p->fs, parent, ino, dir->name);
	if (error == EXT2_ET_DIR_NO_SPACE) {
		error = ext2fs_expand_dir(p->fs, parent);
		if (!error)
			error = ext2fs_mkdir(p->fs, parent, ino, dir->name);
	}
	if (error)
		return error;
	p->dir_inos[index] = ino;
	return dress(p, ino, S_IFDIR | dir->mode, dir->uid, dir->gid);
}

/* Grows the filler so that the image becomes as full as asked. */
static uint64_t filler_size(struct populator *p)
{
	uint64_t blocks = ext2fs_blocks_count(p->fs->super);
	uint64_t wanted_free = blocks - blocks * p->options->full_percent / 100;
	uint64_t have = ext2fs_free_blocks_count(p->fs->super), room;

	room = have > wanted_free ? have - wanted_free : 0;
	if (!p->store.extents && room) {
		uint64_t data = room - fl_min(room, map_indirect_overhead(&p->store, room));

		while (data + map_indirect_overhead(&p->store, data) > room)
			data--;
		room = data;
	}
	room -= room % (uint64_t)EXT2FS_CLUSTER_RATIO(p->fs);
	return room * p->fs->blocksize;
}

static errcode_t set_xattr(struct populator *p, ext2_ino_t ino, uint32_t length)
{
	struct ext2_xattr_handle *handle;
	char value[1024];
	errcode_t error = ext2fs_xattrs_open(p->fs, ino, &handle);

	if (error)
		return error;
	for (uint32_t i = 0; i < length; i++)
		value[i] = (char)('a' + fl_rng_below(&p->rng, 26));
	error = ext2fs_xattrs_read(handle);
	if (!error)
		error = ext2fs_xattr_set(handle, length > 64 ? "user.history" : "user.origin",
					 value, length);
	if (!error)
		error = ext2fs_xattrs_write(handle);
	ext2fs_xattrs_close(&handle);
	return error;
}

static errcode_t make_node(struct populator *p, struct sample_file *file, blk64_t *goal)
{
	struct ext2_inode_large inode = {0};
	ext2_ino_t dir = p->dir_inos[file->dir], ino;
	errcode_t error = ext2fs_new_inode(p->fs, dir, file->mode, NULL, &ino);
	int type = S_ISREG(file->mode)	 ? EXT2_FT_REG_FILE
		   : S_ISCHR(file->mode) ? EXT2_FT_CHRDEV
		   : S_ISBLK(file->mode) ? EXT2_FT_BLKDEV
					 : EXT2_FT_FIFO;

	if (error)
		return error;
	if (file->filler)
		file->size_bytes = filler_size(p);
	inode.i_mode = file->mode;
	inode.i_uid = file->uid;
	inode.i_gid = file->gid;
	inode.i_links_count = 1;
	inode.i_generation = (uint32_t)fl_rng_next(&p->rng);
	inode.i_extra_isize = sizeof(inode) - EXT2_GOOD_OLD_INODE_SIZE;
	inode.i_block[0] = file->device;
	set_times(p, &inode);
	ext2fs_inode_size_set(p->fs, (struct ext2_inode *)&inode, (ext2_off64_t)file->size_bytes);
	if (p->store.extents && S_ISREG(file->mode))
		inode.i_flags = EXT4_EXTENTS_FL;
	error = ext2fs_write_new_inode(p->fs, ino, (struct ext2_inode *)&inode);
	ext2fs_inode_alloc_stats2(p->fs, ino, +1, 0);
	if (!error && S_ISREG(file->mode))
		error = store_file(&p->store, ino, (struct ext2_inode *)&inode, file,
				   p->options->seed, goal);
	if (!error)
		error = write_inode(p, ino, &inode);
	if (!error)
		error = add_name(p, dir, file->name, ino, type);
	if (!error && file->xattr_bytes)
		error = set_xattr(p, ino, file->xattr_bytes);
	file->ino = ino;
	return error;
}

static errcode_t make_symlink(struct populator *p, struct sample_file *file)
{
	ext2_ino_t dir = p->dir_inos[file->dir], ino;
	errcode_t error = ext2fs_new_inode(p->fs, dir, S_IFLNK, NULL, &ino);

	if (error)
		return error;
	error = ext2fs_symlink(p->fs, dir, ino, file->name, file->target);
	if (error == EXT2_ET_DIR_NO_SPACE) {
		error = ext2fs_expand_dir(p->fs, dir);
		if (!error)
			error = ext2fs_symlink(p->fs, dir, ino, file->name, file->target);
	}
	return error ? error : dress(p, ino, file->mode, file->uid, file->gid);
}

static errcode_t make_hard_link(struct populator *p, const struct sample_file *file)
{
	ext2_ino_t ino = p->tree->files.at[file->link_to].ino;
	struct ext2_inode_large inode;
	errcode_t error = add_name(p, p->dir_inos[file->dir], file->name, ino, EXT2_FT_REG_FILE);

	if (!error)
		error = read_inode(p, ino, &inode);
	if (error)
		return error;
	inode.i_links_count++;
	return write_inode(p, ino, &inode);
}

/* The files of one directory, in their order; the filler waits. */
static errcode_t make_files(struct populator *p, uint32_t dir)
{
	uint32_t group = (p->dir_inos[dir] - 1) / EXT2_INODES_PER_GROUP(p->fs->super);
	blk64_t goal = ext2fs_group_first_block2(p->fs, group);
	size_t i = 0, end = p->tree->order.count;
	errcode_t error = 0;

	/* Binary search for the first file of the directory. */
	while (i < end) {
		size_t middle = i + (end - i) / 2;

		if (p->tree->files.at[p->tree->order.at[middle]].dir < dir)
			i = middle + 1;
		else
			end = middle;
	}
	for (; !error && i < p->tree->order.count; i++) {
		struct sample_file *file = &p->tree->files.at[p->tree->order.at[i]];

		if (file->dir != dir)
			break;
		if (file->filler)
			continue;
		if (file->link_to != UINT32_MAX)
			error = make_hard_link(p, file);
		else if (file->target)
			error = make_symlink(p, file);
		else
			error = make_node(p, file, &goal);
	}
	return error;
}

/* Depth first, a directory's files before its children. */
static errcode_t make_all(struct populator *p)
{
	const struct sample_dir *dirs = p->tree->dirs.at;
	uint32_t dir = 0;

	for (;;) {
		errcode_t error = make_dir(p, dir);

		if (!error)
			error = make_files(p, dir);
		if (error)
			return error;
		if (dirs[dir].first_child) {
			dir = dirs[dir].first_child;
			continue;
		}
		while (dir && !dirs[dir].next_sibling)
			dir = dirs[dir].parent;
		if (!dir)
			return 0;
		dir = dirs[dir].next_sibling;
	}
}

static errcode_t make_filler(struct populator *p)
{
	blk64_t goal = 0;

	for (size_t i = 0; i < p->tree->files.count; i++) {
		if (p->tree->files.at[i].filler)
			return make_node(p, &p->tree->files.at[i], &goal);
	}
	return 0;
}

errcode_t sample_populate(const struct sample_options *options, ext2_filsys fs, int fd,
			  struct sample_tree *tree, const char **step)
{
	struct populator p = {.options = options, .fs = fs, .tree = tree};
	errcode_t error;

	*step = "fill it";
	fl_rng_seed(&p.rng, options->seed ^ 0x74696d6573);
	p.dir_inos = calloc(tree->dirs.count, sizeof(*p.dir_inos));
	if (!p.dir_inos)
		return EXT2_ET_NO_MEMORY;
	error = store_open(&p.store, fs, fd, ext2fs_has_feature_extents(fs->super), options->seed);
	p.store.hollow = options->hollow;
	if (!error)
		error = make_all(&p);
	if (!error)
		error = make_filler(&p);
	store_close(&p.store);
	free(p.dir_inos);
	return error;
}
