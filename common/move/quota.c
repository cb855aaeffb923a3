/* SPDX-License-Identifier: MIT */
/*
 * Quota usage: what mapping trees take or give up is charged to the owners, in place in the hidden
 * quota files (vfsv1). Must not add or remove entries: every owner has one, or nothing is moved.
 *
 * A quota file is a tree of blocks of 1 KiB: the header in the first, then a radix tree over the
 * id, 8 bits a level, whose leaves hold entries of 72 bytes.
 */
#include "move_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define QUOTA_BLOCK 1024u
#define TREE_DEPTH 4u
#define LEAF_HEADER 16u
#define ENTRY_BYTES 72u
#define ENTRIES ((QUOTA_BLOCK - LEAF_HEADER) / ENTRY_BYTES)
#define ENTRY_SPACE 48u /* dqb_curspace in an entry: bytes in use */

enum quota_type { QUOTA_USER, QUOTA_GROUP, QUOTA_PROJECT, QUOTA_TYPES };

static const struct {
	uint32_t magic;
	const char *name;
} types[QUOTA_TYPES] = {{0xd9c01f11, "user"}, {0xd9c01927, "group"}, {0xd9c03f14, "project"}};

/* The usage of one owner. */
struct account {
	uint32_t type, id;
	uint64_t block; /* the quota block with its entry: a byte on the device */
	uint32_t entry; /* where in it the entry begins */
	int64_t change; /* bytes, not yet written */
};

struct move_quota {
	struct fl_fs *fs;
	const struct fl_map *map;
	fl_ino files[QUOTA_TYPES]; /* 0: usage of this type is not kept */
	FL_ARRAY(struct account) accounts;
	unsigned char block[QUOTA_BLOCK];
};

static uint32_t get_le32(const unsigned char *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return ext2fs_le32_to_cpu(value);
}

static uint64_t get_le64(const unsigned char *at)
{
	return get_le32(at) | (uint64_t)get_le32(at + 4) << 32;
}

static void put_le64(unsigned char *at, uint64_t value)
{
	value = ext2fs_cpu_to_le64(value);
	memcpy(at, &value, sizeof(value));
}

/* --- reading the files --- */

static int damaged(struct fl_diag *diag, uint32_t type, const char *what)
{
	return fl_fail(diag, FL_EDAMAGED, "the %s quota file: %s; run e2fsck -f IMAGE first",
		       types[type].name, what);
}

/* Reads quota block number `number` into quota->block, and gives its place on the device. */
static int read_block(struct move_quota *quota, uint32_t type, uint32_t number, uint64_t *place,
		      struct fl_diag *diag)
{
	const struct fl_map *map = quota->map;
	uint64_t bytes = map->geo.block_bytes, position = (uint64_t)number * QUOTA_BLOCK;
	uint64_t lblk = position / bytes;
	size_t index;

	if (!fl_map_find(map, quota->files[type], &index))
		return damaged(diag, type, "it is empty");
	for (size_t i = 0; i < map->files.at[index].extent_count; i++) {
		const struct fl_extent *e = &map->extents.at[map->files.at[index].first_extent + i];

		if (lblk < e->lblk || lblk >= fl_extent_lend(e) || e->unwritten)
			continue;
		*place = (e->pblk + (lblk - e->lblk)) * bytes + position % bytes;
		if (fl_device_read(fl_fs_device(quota->fs), quota->block, QUOTA_BLOCK, *place))
			return fl_fail(diag, FL_EIO, "cannot read the %s quota file",
				       types[type].name);
		return 0;
	}
	return damaged(diag, type, "a block of it is missing");
}

static int check_header(struct move_quota *quota, uint32_t type, struct fl_diag *diag)
{
	uint64_t place;
	int error = read_block(quota, type, 0, &place, diag);

	if (error)
		return error;
	if (get_le32(quota->block) != types[type].magic)
		return damaged(diag, type, "no header");
	if (get_le32(quota->block + 4) != 1)
		return fl_fail(diag, FL_EFEATURE,
			       "the %s quota file is of an unknown version; run tune2fs -O ^quota "
			       "IMAGE first",
			       types[type].name);
	return 0;
}

/* Fills in where the entry of an account is. */
static int find_entry(struct move_quota *quota, struct account *account, struct fl_diag *diag)
{
	uint32_t number = 1;
	int error;

	for (unsigned level = 0; level < TREE_DEPTH; level++) {
		error = read_block(quota, account->type, number, &account->block, diag);
		if (error)
			return error;
		number = get_le32(quota->block + 4 * (account->id >> (24 - 8 * level) & 0xff));
		if (!number)
			goto missing;
	}
	error = read_block(quota, account->type, number, &account->block, diag);
	if (error)
		return error;
	for (unsigned i = 0; i < ENTRIES; i++) {
		static const unsigned char unused[ENTRY_BYTES];

		account->entry = LEAF_HEADER + i * ENTRY_BYTES;
		/* An unused place would look like the entry of id 0. */
		if (get_le32(quota->block + account->entry) == account->id &&
		    memcmp(quota->block + account->entry, unused, ENTRY_BYTES))
			return 0;
	}
missing:
	return fl_fail(diag, FL_EDAMAGED,
		       "the %s quota file has no entry for id %u, which owns files; run e2fsck -f "
		       "IMAGE first",
		       types[account->type].name, account->id);
}

/* --- accounts --- */

static uint32_t owner_of(const struct ext2_inode *inode, size_t inode_bytes, uint32_t type)
{
	const struct ext2_inode_large *large = (const struct ext2_inode_large *)inode;

	switch (type) {
	case QUOTA_USER:
		return inode_uid(*inode);
	case QUOTA_GROUP:
		return inode_gid(*inode);
	default:
		if (inode_bytes > EXT2_GOOD_OLD_INODE_SIZE &&
		    inode_includes(EXT2_GOOD_OLD_INODE_SIZE + (size_t)large->i_extra_isize,
				   i_projid))
			return large->i_projid;
		return 0;
	}
}

/* Reserved inodes and attribute values cost nobody anything. */
static bool is_charged(const struct move_quota *quota, const struct fl_file *file)
{
	return file->kind != FL_KIND_XATTR && file->kind != FL_KIND_EA_INODE &&
	       (file->ino == EXT2_ROOT_INO ||
		file->ino >= EXT2_FIRST_INO(fl_fs_ext2(quota->fs)->super));
}

static int compare_accounts(const void *a, const void *b)
{
	const struct account *left = a, *right = b;

	return left->type != right->type ? fl_compare(left->type, right->type)
					 : fl_compare(left->id, right->id);
}

static int open_accounts(struct move_quota *quota, const struct fl_file *file,
			 struct ext2_inode *inode, struct fl_diag *diag)
{
	ext2_filsys ext2 = fl_fs_ext2(quota->fs);
	size_t bytes = (size_t)EXT2_INODE_SIZE(ext2->super);
	errcode_t code = ext2fs_read_inode_full(ext2, file->ino, inode, (int)bytes);

	if (code)
		return move_fail(quota->fs, code, diag, "reading inode %u", file->ino);
	for (uint32_t type = 0; type < QUOTA_TYPES; type++) {
		struct account account = {.type = type, .id = owner_of(inode, bytes, type)};

		if (quota->files[type] && fl_array_push(&quota->accounts, account))
			return FL_ENOMEM;
	}
	return 0;
}

static void drop_doubles(struct move_quota *quota)
{
	size_t kept = 0;

	if (quota->accounts.count)
		qsort(quota->accounts.at, quota->accounts.count, sizeof(*quota->accounts.at),
		      compare_accounts);
	for (size_t i = 0; i < quota->accounts.count; i++)
		if (!i || compare_accounts(&quota->accounts.at[i], &quota->accounts.at[kept - 1]))
			quota->accounts.at[kept++] = quota->accounts.at[i];
	quota->accounts.count = kept;
}

/* Opens an account for each owner of a file whose mapping tree changes its size at any time. */
static int collect(struct move_quota *quota, const struct fl_map *map, const struct fl_plan *plan,
		   struct fl_diag *diag)
{
	size_t bytes = (size_t)EXT2_INODE_SIZE(fl_fs_ext2(quota->fs)->super);
	struct ext2_inode *inode =
		calloc(1, bytes < sizeof(struct ext2_inode_large) ? sizeof(struct ext2_inode_large)
								  : bytes);
	int error = inode ? 0 : FL_ENOMEM;

	for (size_t i = 0; i < plan->switches.count && !error; i++) {
		const struct fl_switch *item = &plan->switches.at[i];
		const struct fl_file *file = &map->files.at[item->file];

		if (item->tree_count != file->tree_count && is_charged(quota, file))
			error = open_accounts(quota, file, inode, diag);
	}
	free(inode);
	if (error)
		return error;
	drop_doubles(quota);
	for (size_t i = 0; i < quota->accounts.count && !error; i++)
		error = find_entry(quota, &quota->accounts.at[i], diag);
	return error;
}

int move_quota_new(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		   struct move_quota **quota, struct fl_diag *diag)
{
	struct ext2_super_block *super = fl_fs_ext2(fs)->super;
	struct move_quota *made = calloc(1, sizeof(*made));
	int error = 0;

	if (!made)
		return FL_ENOMEM;
	made->fs = fs;
	made->map = map->blocks ? map->blocks : map;
	if (ext2fs_has_feature_quota(super)) {
		made->files[QUOTA_USER] = super->s_usr_quota_inum;
		made->files[QUOTA_GROUP] = super->s_grp_quota_inum;
		made->files[QUOTA_PROJECT] = super->s_prj_quota_inum;
	}
	for (uint32_t type = 0; type < QUOTA_TYPES && !error; type++)
		if (made->files[type])
			error = check_header(made, type, diag);
	if (!error)
		error = collect(made, map, plan, diag);
	if (error)
		move_quota_free(made);
	else
		*quota = made;
	return error;
}

void move_quota_free(struct move_quota *quota)
{
	if (!quota)
		return;
	fl_array_free(&quota->accounts);
	free(quota);
}

int move_quota_charge(struct move_quota *quota, const struct fl_file *file,
		      const struct ext2_inode *inode, int64_t bytes)
{
	size_t inode_bytes = (size_t)EXT2_INODE_SIZE(fl_fs_ext2(quota->fs)->super);

	if (!bytes || !is_charged(quota, file))
		return 0;
	for (uint32_t type = 0; type < QUOTA_TYPES; type++) {
		struct account key = {.type = type, .id = owner_of(inode, inode_bytes, type)};
		struct account *account;

		if (!quota->files[type])
			continue;
		account = quota->accounts.count
				  ? bsearch(&key, quota->accounts.at, quota->accounts.count,
					    sizeof(key), compare_accounts)
				  : NULL;
		if (!account)
			return FL_EPLAN;
		account->change += bytes;
	}
	return 0;
}

static int write_account(struct move_quota *quota, struct account *account)
{
	struct fl_device *device = fl_fs_device(quota->fs);
	unsigned char *at = quota->block + account->entry + ENTRY_SPACE;
	int error = fl_device_read(device, quota->block, QUOTA_BLOCK, account->block);
	uint64_t space;

	if (error)
		return error;
	space = get_le64(at);
	/* Usage that was wrong before must not become enormous. */
	if (account->change < 0 && space < (uint64_t)-account->change)
		space = 0;
	else
		space += (uint64_t)account->change;
	put_le64(at, space);
	/* The whole block, so that no sector is written in part. */
	error = fl_device_write(device, quota->block, QUOTA_BLOCK, account->block);
	if (!error)
		account->change = 0;
	return error;
}

int move_quota_write(struct move_quota *quota, struct fl_diag *diag)
{
	for (size_t i = 0; i < quota->accounts.count; i++) {
		struct account *account = &quota->accounts.at[i];
		int error = account->change ? write_account(quota, account) : 0;

		if (error)
			return fl_fail(diag, error, "writing the %s quota of id %u: %s",
				       types[account->type].name, account->id,
				       fl_error_text(error));
	}
	return 0;
}
