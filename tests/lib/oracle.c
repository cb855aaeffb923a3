/* SPDX-License-Identifier: MIT */
/*
 * Reads an image that a power cut has left. Must not trust what it reads, nor the library
 * that is under test.
 */
#include "tests/lib/oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/digest.h"
#include "tests/lib/memio.h"

struct oracle {
	size_t size_bytes;
	char *listing; /* owned */
};

static bool fail(char why[ORACLE_TEXT], const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static bool fail(char why[ORACLE_TEXT], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why, ORACLE_TEXT, format, args);
	va_end(args);
	return false;
}

/* --- content --- */

/*
 * Takes out the line of a quota file: its usage follows mapping trees. That it is right is for
 * e2fsck to say.
 */
static void forget_inode(char *listing, ext2_ino_t ino)
{
	char begin[32], *line;

	snprintf(begin, sizeof(begin), "\n<%u> ", ino);
	line = ino ? strstr(listing, begin) : NULL;
	if (line) {
		char *end = strchr(line + 1, '\n');

		memmove(line, end, strlen(end) + 1);
	}
}

static bool list(const uint8_t *bytes, size_t size_bytes, char **listing, char why[ORACLE_TEXT])
{
	ext2_filsys fs;
	errcode_t error = memio_open(bytes, size_bytes, &fs);
	ext2_ino_t quota[3];
	size_t length;
	FILE *out;

	*listing = NULL;
	if (error)
		return fail(why, "cannot be opened: %s", error_message(error));
	out = open_memstream(listing, &length);
	if (!out) {
		ext2fs_free(fs);
		return fail(why, "out of memory");
	}
	error = digest_list(fs, false, out);
	fprintf(out, "label %.16s, features %x %x %x, %u inodes free\n", fs->super->s_volume_name,
		fs->super->s_feature_compat, fs->super->s_feature_incompat,
		fs->super->s_feature_ro_compat, fs->super->s_free_inodes_count);
	quota[0] = fs->super->s_usr_quota_inum;
	quota[1] = fs->super->s_grp_quota_inum;
	quota[2] = fs->super->s_prj_quota_inum;
	ext2fs_free(fs);
	if (fclose(out) && !error)
		error = EXT2_ET_NO_MEMORY;
	for (size_t i = 0; i < 3 && !error; i++)
		forget_inode(*listing, quota[i]);
	if (error) {
		free(*listing);
		*listing = NULL;
		return fail(why, "cannot be read: %s", error_message(error));
	}
	return true;
}

struct oracle *oracle_new(const uint8_t *bytes, size_t size_bytes, char why[ORACLE_TEXT])
{
	struct oracle *oracle = calloc(1, sizeof(*oracle));

	add_error_table(&et_ext2_error_table);
	if (!oracle) {
		fail(why, "out of memory");
		return NULL;
	}
	oracle->size_bytes = size_bytes;
	if (!list(bytes, size_bytes, &oracle->listing, why)) {
		free(oracle);
		return NULL;
	}
	return oracle;
}

void oracle_free(struct oracle *oracle)
{
	if (!oracle)
		return;
	free(oracle->listing);
	free(oracle);
}

/* A word, up to a blank or the end of the line. */
static int word_bytes(const char *text)
{
	return (int)strcspn(text, " \n");
}

/* Names the first word that differs, and the file that its line begins with. */
static bool name_difference(const char *before, const char *after, char why[ORACLE_TEXT])
{
	const char *line = before, *word = before, *word_after = after;

	for (; *before && *before == *after; before++, after++) {
		if (*before == ' ' || *before == '\n') {
			word = before + 1;
			word_after = after + 1;
		}
		if (*before == '\n')
			line = word;
	}
	return fail(why, "content of %.*s changed: was \"%.*s\", is \"%.*s\"", word_bytes(line),
		    line, word_bytes(word), word, word_bytes(word_after), word_after);
}

bool oracle_content(const struct oracle *oracle, const uint8_t *bytes, char why[ORACLE_TEXT])
{
	char *listing;
	bool same;

	if (!list(bytes, oracle->size_bytes, &listing, why))
		return false;
	same = !strcmp(listing, oracle->listing);
	if (!same)
		name_difference(oracle->listing, listing, why);
	free(listing);
	return same;
}

bool oracle_clean(const uint8_t *bytes)
{
	return ((const struct ext2_super_block *)(bytes + SUPERBLOCK_OFFSET))->s_state &
	       ext2fs_cpu_to_le16(EXT2_VALID_FS);
}

size_t oracle_mmp_at(const uint8_t *bytes)
{
	const struct ext2_super_block *super = (const void *)(bytes + SUPERBLOCK_OFFSET);
	uint64_t block_bytes = UINT64_C(1024) << ext2fs_le32_to_cpu(super->s_log_block_size);

	if (!(super->s_feature_incompat & ext2fs_cpu_to_le32(EXT4_FEATURE_INCOMPAT_MMP)))
		return 0;
	return ext2fs_le64_to_cpu(super->s_mmp_block) * block_bytes;
}

enum oracle_mmp oracle_mmp(const uint8_t *bytes)
{
	const struct mmp_struct *mmp = (const void *)(bytes + oracle_mmp_at(bytes));

	if (!oracle_mmp_at(bytes))
		return ORACLE_MMP_NONE;
	switch (ext2fs_le32_to_cpu(mmp->mmp_seq)) {
	case EXT4_MMP_SEQ_CLEAN:
		return ORACLE_MMP_CLEAN;
	case EXT4_MMP_SEQ_FSCK:
		return ORACLE_MMP_CHECKING;
	default:
		return ORACLE_MMP_IN_USE;
	}
}

/* --- blocks --- */

#define FIXED UINT32_MAX  /* as an owner: fixed metadata */
#define XATTR 0x80000000u /* with the first owner's inode number: an xattr block, may be shared */

struct walk {
	ext2_filsys fs;
	uint32_t *owners;  /* by block; 0: none */
	uint32_t *sharers; /* by block: inodes that name it as their xattr block */
	ext2_ino_t ino;
	char *why;
	bool bad;
};

static void own(struct walk *walk, blk64_t block, uint32_t owner)
{
	if (walk->bad)
		return;
	if (!block || block >= ext2fs_blocks_count(walk->fs->super)) {
		fail(walk->why, "inode %u has block %llu, outside", owner, block);
		walk->bad = true;
	} else if (walk->owners[block] &&
		   !(walk->owners[block] == owner && (owner == FIXED || owner & XATTR))) {
		fail(walk->why, "block %llu has two owners, %u and %u", block, walk->owners[block],
		     owner);
		walk->bad = true;
	} else {
		walk->owners[block] = owner;
	}
}

static void own_fixed(struct walk *walk)
{
	ext2_filsys fs = walk->fs;

	for (dgrp_t g = 0; g < fs->group_desc_count; g++) {
		blk64_t super, old, new;
		blk_t used;

		ext2fs_super_and_bgd_loc2(fs, g, &super, &old, &new, &used);
		if (super || !g)
			walk->owners[super] = FIXED;
		if (new)
			own(walk, new, FIXED);
		for (blk64_t i = 0; old && i < fs->desc_blocks; i++)
			own(walk, old + i, FIXED);
		own(walk, ext2fs_block_bitmap_loc(fs, g), FIXED);
		own(walk, ext2fs_inode_bitmap_loc(fs, g), FIXED);
		for (blk_t i = 0; i < fs->inode_blocks_per_group; i++)
			own(walk, ext2fs_inode_table_loc(fs, g) + i, FIXED);
	}
}

static int own_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t lblk, blk64_t ref, int offset,
		     void *context)
{
	struct walk *walk = context;

	(void)fs, (void)lblk, (void)ref, (void)offset;
	own(walk, *block, walk->ino);
	return walk->bad ? BLOCK_ABORT : 0;
}

static errcode_t own_inode(struct walk *walk, struct ext2_inode *inode)
{
	blk64_t xattr = ext2fs_file_acl_block(walk->fs, inode);

	if (xattr) {
		uint32_t had =
			xattr < ext2fs_blocks_count(walk->fs->super) ? walk->owners[xattr] : 0;

		own(walk, xattr, had & XATTR && had != FIXED ? had : walk->ino | XATTR);
		if (!walk->bad)
			walk->sharers[xattr]++;
	}
	if (walk->ino == EXT2_RESIZE_INO || inode->i_flags & EXT4_INLINE_DATA_FL ||
	    !ext2fs_inode_has_valid_blocks2(walk->fs, inode))
		return 0;
	return ext2fs_block_iterate3(walk->fs, walk->ino, BLOCK_FLAG_READ_ONLY, NULL, own_block,
				     walk);
}

static errcode_t own_inodes(struct walk *walk)
{
	struct ext2_inode inode;
	ext2_inode_scan scan;
	errcode_t error = ext2fs_open_inode_scan(walk->fs, 0, &scan);

	if (error)
		return error;
	while (!walk->bad && !(error = ext2fs_get_next_inode(scan, &walk->ino, &inode)) &&
	       walk->ino) {
		if (!ext2fs_test_inode_bitmap2(walk->fs->inode_map, walk->ino))
			continue;
		error = own_inode(walk, &inode);
		if (error)
			break;
	}
	ext2fs_close_inode_scan(scan);
	return error;
}

/* Whether a block is marked in the bitmap block as it is on disk. */
static bool marked(const struct walk *walk, const uint8_t *bytes, blk64_t block)
{
	ext2_filsys fs = walk->fs;
	dgrp_t g = ext2fs_group_of_blk2(fs, block);
	uint64_t bit = (block - ext2fs_group_first_block2(fs, g)) >> fs->cluster_ratio_bits;

	if (ext2fs_has_group_desc_csum(fs) && ext2fs_bg_flags_test(fs, g, EXT2_BG_BLOCK_UNINIT))
		return false;
	return bytes[ext2fs_block_bitmap_loc(fs, g) * fs->blocksize + bit / 8] >> bit % 8 & 1;
}

/* With too low a count, the block would be freed while somebody still names it. */
static bool check_sharers(struct walk *walk, const uint8_t *bytes)
{
	for (blk64_t b = 0; b < ext2fs_blocks_count(walk->fs->super); b++) {
		const struct ext2_ext_attr_header *header =
			(const void *)(bytes + b * walk->fs->blocksize);

		if (walk->sharers[b] && walk->sharers[b] > ext2fs_le32_to_cpu(header->h_refcount))
			return fail(walk->why, "xattr block %llu: %u sharers, counted %u", b,
				    walk->sharers[b], ext2fs_le32_to_cpu(header->h_refcount));
	}
	return true;
}

static bool check_marks(struct walk *walk, const uint8_t *bytes)
{
	ext2_filsys fs = walk->fs;

	for (dgrp_t g = 0; g < fs->group_desc_count; g++)
		if (!ext2fs_group_desc_csum_verify(fs, g))
			return fail(walk->why, "descriptor of group %u: wrong checksum", g);
	for (blk64_t b = fs->super->s_first_data_block; b < ext2fs_blocks_count(fs->super); b++)
		if (walk->owners[b] && walk->owners[b] != FIXED && !marked(walk, bytes, b))
			return fail(walk->why, "block %llu of inode %u is free in the bitmap", b,
				    walk->owners[b] & ~XATTR);
	return true;
}

/* Finds the owners of all blocks. Free in any case. */
static bool walk_all(struct walk *walk, const uint8_t *bytes, size_t size_bytes,
		     char why[ORACLE_TEXT])
{
	errcode_t error;

	*walk = (struct walk){.why = why};
	error = memio_open(bytes, size_bytes, &walk->fs);
	if (error)
		return fail(why, "cannot be opened: %s", error_message(error));
	walk->owners = calloc(ext2fs_blocks_count(walk->fs->super), sizeof(*walk->owners));
	walk->sharers = calloc(ext2fs_blocks_count(walk->fs->super), sizeof(*walk->sharers));
	error = walk->owners && walk->sharers ? ext2fs_read_inode_bitmap(walk->fs)
					      : EXT2_ET_NO_MEMORY;
	if (!error) {
		own_fixed(walk);
		error = own_inodes(walk);
	}
	if (error)
		return fail(why, "blocks of inode %u: %s", walk->ino, error_message(error));
	return !walk->bad;
}

static void walk_free(struct walk *walk)
{
	free(walk->owners);
	free(walk->sharers);
	if (walk->fs)
		ext2fs_free(walk->fs);
}

bool oracle_blocks(const uint8_t *bytes, size_t size_bytes, char why[ORACLE_TEXT])
{
	struct walk walk;
	bool good = walk_all(&walk, bytes, size_bytes, why) && check_sharers(&walk, bytes) &&
		    check_marks(&walk, bytes);

	walk_free(&walk);
	return good;
}

static bool movable(const struct walk *walk, const uint8_t *bytes, blk64_t block)
{
	uint32_t owner = walk->owners[block];

	if (!owner)
		return !marked(walk, bytes, block);
	return owner != FIXED && (owner & XATTR || owner == EXT2_ROOT_INO ||
				  owner >= EXT2_FIRST_INODE(walk->fs->super));
}

bool *oracle_movable(const uint8_t *bytes, size_t size_bytes, uint32_t *block_bytes,
		     char why[ORACLE_TEXT])
{
	struct walk walk;
	bool *found = NULL;

	if (!walk_all(&walk, bytes, size_bytes, why))
		goto out;
	found = calloc(ext2fs_blocks_count(walk.fs->super), sizeof(*found));
	*block_bytes = walk.fs->blocksize;
	for (blk64_t b = walk.fs->super->s_first_data_block;
	     found && b < ext2fs_blocks_count(walk.fs->super); b++)
		found[b] = movable(&walk, bytes, b);
out:
	walk_free(&walk);
	return found;
}
