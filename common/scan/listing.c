/* SPDX-License-Identifier: MIT */
/*
 * The order in which the kernel lists a directory: what tar, cp -r, find and every other program
 * that walks a tree as it comes goes by. With the feature dir_index that is the order of the
 * hashes of the names, also in a directory of one block, which has no index (is_dx_dir and
 * ext4_htree_fill_tree in fs/ext4 of Linux); else that of the entries on disk.
 */
#include <common/scan/names.h>

#include <stdlib.h>

/* Behind the entries "." and ".." of an indexed directory's first block. */
#define DX_ROOT_INFO 24u

void fl_scan_listing_begin(struct listing *listing, const struct scan *scan,
			   const struct directory *directory, uint64_t blocks)
{
	struct ext2_super_block *super = scan->ext2->super;

	listing->count = 0;
	listing->hashed = ext2fs_has_feature_dir_index(super) &&
			  (directory->is_indexed || directory->is_inline || blocks == 1);
	listing->version = super->s_def_hash_version;
	if (directory->is_encrypted && directory->is_casefolded)
		listing->version = EXT2_HASH_SIPHASH;
}

void fl_scan_listing_root(struct listing *listing, const struct directory *directory,
			  const unsigned char *block)
{
	const struct ext2_dx_root_info *info = (const void *)(block + DX_ROOT_INFO);

	if (!listing->hashed || !directory->is_indexed)
		return;
	/* The kernel takes no other (dx_probe), and then lists the directory as stored. */
	listing->hashed =
		info->hash_version <= EXT2_HASH_TEA || info->hash_version == EXT2_HASH_SIPHASH;
	listing->version = info->hash_version;
}

/* False: by no hash that is known. */
static bool hash_name(const struct listing *listing, const struct scan *scan,
		      const struct directory *directory, const struct ext2_dir_entry *raw,
		      struct listed *listed)
{
	struct ext2_super_block *super = scan->ext2->super;
	int version = listing->version, length = ext2fs_dirent_name_len(raw);

	/* Of a name that only the key can read, the entry itself has the hash. */
	if (version == EXT2_HASH_SIPHASH) {
		unsigned rec_len;

		if (ext2fs_get_rec_len(scan->ext2, (struct ext2_dir_entry *)(uintptr_t)raw,
				       &rec_len) ||
		    EXT2_DIR_ENTRY_HEADER_LEN + fl_div_up((unsigned)length, 4) * 4 + 8 > rec_len)
			return false;
		listed->hash = EXT2_DIRENT_HASH(raw);
		listed->minor_hash = EXT2_DIRENT_MINOR_HASH(raw);
		return true;
	}
	if (version <= EXT2_HASH_TEA && super->s_flags & EXT2_FLAGS_UNSIGNED_HASH)
		version += EXT2_HASH_LEGACY_UNSIGNED - EXT2_HASH_LEGACY;
	return !ext2fs_dirhash2(version, raw->name, length, scan->ext2->encoding,
				directory->is_casefolded ? EXT4_CASEFOLD_FL : 0, super->s_hash_seed,
				&listed->hash, &listed->minor_hash);
}

int fl_scan_listing_add(struct listing *listing, const struct scan *scan,
			const struct directory *directory, const struct ext2_dir_entry *raw)
{
	struct listed listed = {.entry = (uint32_t)listing->count};

	if (listing->hashed)
		listing->hashed = hash_name(listing, scan, directory, raw, &listed);
	return fl_array_push(listing, listed);
}

static int compare_listed(const void *a, const void *b)
{
	const struct listed *left = a, *right = b;
	int order = fl_compare(left->hash, right->hash);

	if (!order)
		order = fl_compare(left->minor_hash, right->minor_hash);
	return order ? order : fl_compare(left->entry, right->entry);
}

void fl_scan_listing_end(struct listing *listing, struct entry *entries)
{
	if (listing->hashed && listing->count > 1)
		qsort(listing->at, listing->count, sizeof(*listing->at), compare_listed);
	for (uint32_t i = 0; i < listing->count; i++)
		entries[listing->at[i].entry].place = i;
}
