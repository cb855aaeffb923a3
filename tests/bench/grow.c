/* SPDX-License-Identifier: MIT */
/*
 * grow: fills a new, empty ext4 filesystem with very many small files, or with one file in very
 * many fragments. Writes metadata only (the data are holes of the host file), never twice the
 * same way: it is for the growth bench, not a model of anything.
 */
#include <ext2fs/ext2fs.h>
#include <ext2fs/ext3_extents.h>
#include <fraglab/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILES_PER_DIR 100u
#define DIRS_PER_DIR 16u
#define MOST_BLOCKS 3u
#define GROW_NOW 1700000000u
/* A file's fragments lie in any order within windows of this many blocks. */
#define WINDOW 4096u

struct grower {
	ext2_filsys fs;
	struct fl_rng rng;
	blk64_t next_block;
	ext2_ino_t next_ino;
	ext2_ino_t *dirs;
	char *block; /* one block of scratch */
};

static errcode_t new_block(struct grower *g, blk64_t *block)
{
	errcode_t error = ext2fs_find_first_zero_block_bitmap2(
		g->fs->block_map, g->next_block, ext2fs_blocks_count(g->fs->super) - 1, block);

	if (error)
		return error;
	ext2fs_block_alloc_stats2(g->fs, *block, +1);
	g->next_block = *block + 1;
	return 0;
}

static errcode_t new_inode(struct grower *g, bool directory, ext2_ino_t *ino)
{
	errcode_t error = ext2fs_find_first_zero_inode_bitmap2(g->fs->inode_map, g->next_ino,
							       g->fs->super->s_inodes_count, ino);

	if (error)
		return error;
	ext2fs_inode_alloc_stats2(g->fs, *ino, +1, directory);
	g->next_ino = *ino + 1;
	return 0;
}

static void put_extent_header(void *at, size_t entries, size_t max, unsigned depth)
{
	struct ext3_extent_header *header = at;

	header->eh_magic = ext2fs_cpu_to_le16(EXT3_EXT_MAGIC);
	header->eh_entries = ext2fs_cpu_to_le16((uint16_t)entries);
	header->eh_max = ext2fs_cpu_to_le16((uint16_t)max);
	header->eh_depth = ext2fs_cpu_to_le16((uint16_t)depth);
}

/* One block as one extent. Images here have less than 2^32 blocks. */
static void put_extent(void *header, size_t index, uint32_t lblk, blk64_t block)
{
	struct ext3_extent *e = (struct ext3_extent *)((struct ext3_extent_header *)header + 1);

	e[index] = (struct ext3_extent){.ee_block = ext2fs_cpu_to_le32(lblk),
					.ee_len = ext2fs_cpu_to_le16(1),
					.ee_start = ext2fs_cpu_to_le32((uint32_t)block)};
}

static struct ext2_inode_large fresh_inode(uint16_t mode, uint32_t links)
{
	struct ext2_inode_large inode = {.i_mode = mode, .i_flags = EXT4_EXTENTS_FL};

	inode.i_links_count = (uint16_t)links;
	inode.i_atime = inode.i_ctime = inode.i_mtime = inode.i_crtime = GROW_NOW;
	inode.i_extra_isize = sizeof(inode) - EXT2_GOOD_OLD_INODE_SIZE;
	put_extent_header(inode.i_block, 0, 4, 0);
	return inode;
}

static errcode_t write_inode(struct grower *g, ext2_ino_t ino, struct ext2_inode_large *inode)
{
	return ext2fs_write_inode_full(g->fs, ino, (struct ext2_inode *)inode, sizeof(*inode));
}

/* Adds blocks to a small file's mapping; joins extents that touch. */
static errcode_t add_blocks(struct grower *g, struct ext2_inode_large *inode, unsigned count)
{
	struct ext3_extent_header *header = (void *)inode->i_block;
	struct ext3_extent *extents = (struct ext3_extent *)(header + 1);
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		blk64_t block;
		errcode_t error;

		/* Every fourth block or so begins a new fragment; some gaps stay free. */
		if (fl_rng_chance(&g->rng, 1, 4))
			g->next_block += fl_rng_below(&g->rng, 4);
		error = new_block(g, &block);
		if (error)
			return error;
		if (used && extents[used - 1].ee_start + extents[used - 1].ee_len == block)
			extents[used - 1].ee_len++;
		else
			put_extent(header, used++, i, block);
	}
	put_extent_header(header, used, 4, 0);
	return ext2fs_iblk_set(g->fs, (struct ext2_inode *)inode, count);
}

static errcode_t make_file(struct grower *g, ext2_ino_t *ino)
{
	struct ext2_inode_large inode = fresh_inode(S_IFREG | 0644, 1);
	unsigned count = (unsigned)fl_rng_below(&g->rng, MOST_BLOCKS + 1);
	errcode_t error = new_inode(g, false, ino);

	if (!error)
		error = add_blocks(g, &inode, count);
	inode.i_size = count * g->fs->blocksize;
	return error ? error : write_inode(g, *ino, &inode);
}

/* Appends an entry to a directory block, behind the last one (at *last). */
static void add_entry(char *block, size_t *last, const char *name, ext2_ino_t ino, int type)
{
	struct ext2_dir_entry *tail = (struct ext2_dir_entry *)(block + *last), *entry;
	unsigned used = (unsigned)EXT2_DIR_REC_LEN((uint8_t)tail->name_len),
		 rest = tail->rec_len - used;

	tail->rec_len = (uint16_t)used;
	*last += used;
	entry = (struct ext2_dir_entry *)(block + *last);
	entry->inode = ino;
	entry->rec_len = (uint16_t)rest;
	entry->name_len = (uint16_t)(strlen(name) | (unsigned)type << 8);
	memcpy(entry->name, name, strlen(name));
}

/* The files of directory number `index`, and the entries of its children, made later. */
static errcode_t make_dir(struct grower *g, size_t index, size_t dirs, size_t files)
{
	size_t child = index * DIRS_PER_DIR + 1, child_end = child + DIRS_PER_DIR, last;
	ext2_ino_t parent = index ? g->dirs[(index - 1) / DIRS_PER_DIR] : EXT2_ROOT_INO, ino;
	struct ext2_inode_large inode;
	char name[32], *block = NULL;
	errcode_t error;

	if (child > dirs)
		child = dirs;
	if (child_end > dirs)
		child_end = dirs;
	inode = fresh_inode(S_IFDIR | 0755, 2 + (uint32_t)(child_end - child));
	error = add_blocks(g, &inode, 1);
	inode.i_size = g->fs->blocksize;
	if (!error)
		error = write_inode(g, g->dirs[index], &inode);
	if (!error)
		error = ext2fs_new_dir_block(g->fs, g->dirs[index], parent, &block);
	if (error)
		return error;
	last = EXT2_DIR_REC_LEN(1);
	for (size_t i = 0; !error && i < files; i++) {
		error = make_file(g, &ino);
		snprintf(name, sizeof(name), "file-%03zu-%x", i, (unsigned)ino);
		add_entry(block, &last, name, ino, EXT2_FT_REG_FILE);
	}
	for (; !error && child < child_end; child++) {
		error = new_inode(g, true, &g->dirs[child]);
		snprintf(name, sizeof(name), "dir-%06zu", child);
		add_entry(block, &last, name, g->dirs[child], EXT2_FT_DIR);
	}
	if (!error) {
		struct ext3_extent_header *header = (void *)inode.i_block;
		const struct ext3_extent *extent = (const struct ext3_extent *)(header + 1);

		error = ext2fs_write_dir_block4(g->fs, extent->ee_start, block, 0, g->dirs[index]);
	}
	ext2fs_free_mem(&block);
	return error;
}

static errcode_t grow_files(struct grower *g, size_t files)
{
	size_t dirs = (size_t)fl_div_up(files, FILES_PER_DIR);
	struct ext2_inode root;
	errcode_t error;

	g->dirs = fl_alloc(dirs, sizeof(*g->dirs));
	if (!g->dirs)
		return EXT2_ET_NO_MEMORY;
	error = new_inode(g, true, &g->dirs[0]);
	for (size_t i = 0; !error && i < dirs; i++)
		error = make_dir(g, i, dirs,
				 (size_t)fl_min(FILES_PER_DIR, files - i * FILES_PER_DIR));
	if (!error)
		error = ext2fs_link(g->fs, EXT2_ROOT_INO, "tree", g->dirs[0], EXT2_FT_DIR);
	if (!error)
		error = ext2fs_read_inode(g->fs, EXT2_ROOT_INO, &root);
	if (error)
		return error;
	root.i_links_count++;
	return ext2fs_write_inode(g->fs, EXT2_ROOT_INO, &root);
}

/* --- one file in many fragments --- */

struct node {
	uint32_t lblk;
	blk64_t place;
};

/* Writes count nodes' worth of entries and turns the list into that of the nodes written. */
static errcode_t write_level(struct grower *g, ext2_ino_t ino, struct node *nodes, size_t *count,
			     unsigned depth)
{
	size_t max = (g->fs->blocksize - sizeof(struct ext3_extent_header)) / 12, made = 0;

	for (size_t i = 0; i < *count; i += max) {
		size_t entries = (size_t)fl_min(max, *count - i);
		struct node node = {.lblk = nodes[i].lblk};
		errcode_t error;

		memset(g->block, 0, g->fs->blocksize);
		put_extent_header(g->block, entries, max, depth);
		for (size_t e = 0; e < entries; e++) {
			put_extent(g->block, e, nodes[i + e].lblk, nodes[i + e].place);
			if (depth) {
				struct ext3_extent_idx *index = (void *)(g->block + 12 + 12 * e);

				*index = (struct ext3_extent_idx){
					.ei_block = nodes[i + e].lblk,
					.ei_leaf = (uint32_t)nodes[i + e].place};
			}
		}
		error = new_block(g, &node.place);
		if (!error)
			error = ext2fs_extent_block_csum_set(g->fs, ino, (void *)g->block);
		if (!error)
			error = io_channel_write_blk64(g->fs->io, node.place, 1, g->block);
		if (error)
			return error;
		nodes[made++] = node;
	}
	*count = made;
	return 0;
}

/* Places for single blocks: every other one, shuffled within windows. */
static errcode_t scatter(struct grower *g, struct node *nodes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		errcode_t error = new_block(g, &nodes[i].place);

		if (error)
			return error;
		nodes[i].lblk = (uint32_t)i;
		g->next_block++;
	}
	for (size_t i = 0; i < count; i++) {
		size_t room = (size_t)fl_min(WINDOW - i % WINDOW, count - i);
		size_t other = i + (size_t)fl_rng_below(&g->rng, room);
		blk64_t place = nodes[i].place;

		nodes[i].place = nodes[other].place;
		nodes[other].place = place;
	}
	return 0;
}

static errcode_t grow_fragments(struct grower *g, size_t count)
{
	struct ext2_inode_large inode = fresh_inode(S_IFREG | 0644, 1);
	struct node *nodes = fl_alloc(count, sizeof(*nodes));
	uint64_t blocks = count;
	unsigned depth = 0;
	ext2_ino_t ino;
	errcode_t error = nodes ? new_inode(g, false, &ino) : EXT2_ET_NO_MEMORY;

	ext2fs_inode_size_set(g->fs, (struct ext2_inode *)&inode,
			      (ext2_off64_t)count * g->fs->blocksize);
	if (!error)
		error = scatter(g, nodes, count);
	for (; !error && count > 4; depth++) {
		error = write_level(g, ino, nodes, &count, depth);
		blocks += count;
	}
	for (size_t i = 0; !error && i < count; i++) {
		struct ext3_extent_idx *index = (void *)((char *)inode.i_block + 12 + 12 * i);

		put_extent(inode.i_block, i, nodes[i].lblk, nodes[i].place);
		if (depth)
			*index = (struct ext3_extent_idx){.ei_block = nodes[i].lblk,
							  .ei_leaf = (uint32_t)nodes[i].place};
	}
	put_extent_header(inode.i_block, count, 4, depth);
	if (!error)
		error = ext2fs_iblk_set(g->fs, (struct ext2_inode *)&inode, blocks);
	if (!error)
		error = write_inode(g, ino, &inode);
	if (!error)
		error = ext2fs_link(g->fs, EXT2_ROOT_INO, "fragments", ino, EXT2_FT_REG_FILE);
	free(nodes);
	return error;
}

int main(int argc, char **argv)
{
	struct grower g = {.next_ino = EXT2_GOOD_OLD_FIRST_INO + 1};
	uint64_t count = 0, seed = 1;
	errcode_t error, closed;

	if (argc < 4 || argc > 5 || fl_size_parse(argv[2], &count) || !count ||
	    (argc == 5 && fl_size_parse(argv[4], &seed)) ||
	    (strcmp(argv[1], "files") && strcmp(argv[1], "fragments"))) {
		fputs("Usage: grow files|fragments COUNT IMAGE [SEED]\n"
		      "IMAGE holds a new ext4 filesystem with inodes and blocks enough.\n",
		      stderr);
		return 16;
	}
	fl_rng_seed(&g.rng, seed);
	error = ext2fs_open(argv[3], EXT2_FLAG_RW | EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &g.fs);
	if (!error && g.fs->blocksize < 4096)
		error = EXT2_ET_UNEXPECTED_BLOCK_SIZE; /* a directory's names fill up to 3 KiB */
	if (!error)
		error = ext2fs_read_bitmaps(g.fs);
	g.block = error ? NULL : malloc(g.fs->blocksize);
	if (!error && !g.block)
		error = EXT2_ET_NO_MEMORY;
	if (!error) {
		g.fs->now = GROW_NOW;
		g.next_block = g.fs->super->s_first_data_block;
		error = strcmp(argv[1], "files") ? grow_fragments(&g, (size_t)count)
						 : grow_files(&g, (size_t)count);
	}
	closed = g.fs ? ext2fs_close_free(&g.fs) : 0;
	free(g.block);
	free(g.dirs);
	if (error || closed) {
		fprintf(stderr, "grow: %s: %s.\n", argv[3], error_message(error ? error : closed));
		return 4;
	}
	return 0;
}
