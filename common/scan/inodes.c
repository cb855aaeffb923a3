/* SPDX-License-Identifier: MIT */
/*
 * Goes through the inode tables once and takes in what each inode in use owns. What counts is
 * the inode bitmap: deleted inodes keep stale pointers, unused tables hold anything.
 */
#include <common/scan/scan_internal.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of inode table to read at once. */
#define READ_BYTES (512u * 1024)
/* Inodes between two calls of the progress function. */
#define PROGRESS_INODES 8192

static int load_inode_bitmap(struct scan *scan)
{
	uint64_t count = scan->ext2->super->s_inodes_count;
	errcode_t code;

	scan->inodes_used = calloc(fl_div_up(count, 8) + 1, 1);
	if (!scan->inodes_used)
		return FL_ENOMEM;
	code = ext2fs_get_inode_bitmap_range2(scan->ext2->inode_map, 1, count, scan->inodes_used);
	if (code)
		return fl_fail(scan->diag, fl_fs_error(scan->fs, code), "inode bitmap: %s",
			       error_message(code));
	return 0;
}

static int damaged(struct scan *scan, fl_ino ino, const char *what)
{
	return fl_fail(scan->diag, FL_EDAMAGED, "inode %u: %s" RUN_E2FSCK, ino, what);
}

static bool is_reserved(const struct scan *scan, fl_ino ino)
{
	return ino < EXT2_FIRST_INO(scan->ext2->super) && ino != EXT2_ROOT_INO;
}

/* True when i_block maps blocks, and is not a device number, a symlink's text or file data. */
static bool maps_blocks(const struct ext2_inode *inode)
{
	if (inode->i_flags & EXT4_INLINE_DATA_FL)
		return false;
	switch (inode->i_mode & LINUX_S_IFMT) {
	case LINUX_S_IFREG:
	case LINUX_S_IFDIR:
	case 0: /* reserved inodes such as the list of bad blocks */
		return true;
	case LINUX_S_IFLNK:
		/* A short text is in the inode, whatever i_blocks says: an xattr block counts too.
		 */
		return (inode->i_flags & EXT4_EXTENTS_FL) ||
		       !ext2fs_is_fast_symlink((struct ext2_inode *)(uintptr_t)inode);
	default:
		return false;
	}
}

static int check_flags(struct scan *scan, const struct subject *subject)
{
	struct ext2_super_block *super = scan->ext2->super;
	uint32_t flags = subject->inode->i_flags;

	if (flags & EXT4_SNAPFILE_FL)
		return fl_fail(scan->diag, FL_EFEATURE,
			       "inode %u is a snapshot file, which is not supported", subject->ino);
	if ((flags & EXT4_EA_INODE_FL) && !ext2fs_has_feature_ea_inode(super))
		return damaged(scan, subject->ino, "holds an attribute without the feature");
	if ((flags & EXT4_EXTENTS_FL) && !ext2fs_has_feature_extents(super))
		return damaged(scan, subject->ino, "has extents without the feature");
	if ((flags & EXT4_INLINE_DATA_FL) && !ext2fs_has_feature_inline_data(super))
		return damaged(scan, subject->ino, "has inline data without the feature");
	return 0;
}

static enum fl_kind kind_of(const struct scan *scan, const struct subject *subject)
{
	struct ext2_super_block *super = scan->ext2->super;

	if (ext2fs_has_feature_journal(super) && subject->ino == super->s_journal_inum)
		return FL_KIND_JOURNAL;
	if (subject->ino == EXT2_BAD_INO)
		return FL_KIND_BAD_BLOCKS;
	if (subject->ino == EXT2_RESIZE_INO && ext2fs_has_feature_resize_inode(super))
		return FL_KIND_RESIZE;
	if (is_reserved(scan, subject->ino) ||
	    (ext2fs_has_feature_orphan_file(super) && subject->ino == super->s_orphan_file_inum) ||
	    (ext2fs_has_feature_project(super) && subject->ino == super->s_prj_quota_inum))
		return FL_KIND_HIDDEN;
	if (subject->inode->i_flags & EXT4_EA_INODE_FL)
		return FL_KIND_EA_INODE;
	switch (subject->inode->i_mode & LINUX_S_IFMT) {
	case LINUX_S_IFDIR:
		return FL_KIND_DIRECTORY;
	case LINUX_S_IFLNK:
		return FL_KIND_SYMLINK;
	default:
		return FL_KIND_REGULAR;
	}
}

static bool is_valid_type(const struct scan *scan, const struct subject *subject)
{
	switch (subject->inode->i_mode & LINUX_S_IFMT) {
	case LINUX_S_IFREG:
	case LINUX_S_IFDIR:
	case LINUX_S_IFLNK:
	case LINUX_S_IFCHR:
	case LINUX_S_IFBLK:
	case LINUX_S_IFIFO:
	case LINUX_S_IFSOCK:
		return true;
	default:
		return is_reserved(scan, subject->ino);
	}
}

/*
 * i_blocks counts data, mapping and xattr blocks, and attribute values in inodes of their own, in
 * sectors or (huge files) in blocks.
 */
static int check_i_blocks(struct scan *scan, const struct subject *subject, bool has_xattr)
{
	const struct ext2_inode *inode = subject->inode;
	const struct fl_geometry *geo = &scan->map->geo;
	uint64_t found = fl_file_room(scan->map, subject->file) +
			 (subject->file->tree_count + subject->fixed_blocks + has_xattr) *
				 geo->cluster_blocks;
	uint64_t stored = inode->i_blocks, values = 0;
	int error = fl_scan_ea_values(scan, subject, &values);

	if (error)
		return error;
	/* A list of blocks in clusters: nobody agrees on how to count it. */
	if (geo->cluster_blocks > 1 && subject->file->kind == FL_KIND_BAD_BLOCKS)
		return 0;

	/* mke2fs leaves its map blocks out, and nobody cares. */
	if (subject->ino == EXT2_BAD_INO)
		return 0;
	if (geo->huge_file)
		stored |= (uint64_t)inode->osd2.linux2.l_i_blocks_hi << 32;
	if (!geo->huge_file || !(inode->i_flags & EXT4_HUGE_FILE_FL)) {
		found *= geo->block_bytes / FL_SECTOR_BYTES;
		values *= geo->block_bytes / FL_SECTOR_BYTES;
	}
	/* Lustre's old attribute inodes are not counted. */
	if (stored != found + values && stored != found)
		return fl_fail(scan->diag, FL_EDAMAGED,
			       "inode %u: i_blocks is %" PRIu64 ", should be %" PRIu64 RUN_E2FSCK,
			       subject->ino, stored, found + values);
	return 0;
}

static int64_t modified(const struct scan *scan, const struct ext2_inode *inode)
{
	const struct ext2_inode_large *large = (const struct ext2_inode_large *)inode;
	int64_t seconds = (int32_t)inode->i_mtime;

	/* The low two bits of the extra field are the epoch. */
	if (scan->map->geo.inode_bytes > EXT2_GOOD_OLD_INODE_SIZE &&
	    inode_includes(EXT2_GOOD_OLD_INODE_SIZE + (size_t)large->i_extra_isize, i_mtime_extra))
		seconds += (int64_t)(large->i_mtime_extra & 3) << 32;
	return seconds;
}

static int note_xattr(struct scan *scan, const struct subject *subject, bool *has_xattr)
{
	struct xattr_use use = {
		.block = ext2fs_file_acl_block(scan->ext2, subject->inode),
		.ino = subject->ino,
		.immutable = subject->inode->i_flags & EXT2_IMMUTABLE_FL,
	};

	*has_xattr = use.block != 0;
	if (!use.block)
		return 0;
	if (!fl_scan_blocks_valid(scan, use.block, 1))
		return damaged(scan, subject->ino, "its xattr block is outside the filesystem");
	return fl_array_push(&scan->xattr_uses, use);
}

static int note_directory(struct scan *scan, const struct subject *subject)
{
	uint32_t flags = subject->inode->i_flags;
	struct directory directory = {
		.ino = subject->ino,
		.name = FL_NO_NAME,
		.is_inline = flags & EXT4_INLINE_DATA_FL,
		.is_encrypted = flags & EXT4_ENCRYPT_FL,
		.is_casefolded = flags & EXT4_CASEFOLD_FL,
		.is_indexed = flags & EXT2_INDEX_FL,
	};

	if (!LINUX_S_ISDIR(subject->inode->i_mode) || is_reserved(scan, subject->ino))
		return 0;
	return fl_array_push(&scan->directories, directory);
}

static int note_file(struct scan *scan, const struct subject *subject)
{
	const struct ext2_inode *inode = subject->inode;
	struct fl_file *file = subject->file;
	struct trait trait = {
		.mode = inode->i_mode,
		.immutable = inode->i_flags & EXT2_IMMUTABLE_FL,
	};

	if (!file->extent_count && !file->tree_count)
		return 0;
	file->links = inode->i_links_count;
	file->size_bytes = inode->i_size;
	/* In directories the high half was something else before large_dir. */
	if (LINUX_S_ISREG(inode->i_mode) || ext2fs_has_feature_largedir(scan->ext2->super))
		file->size_bytes = EXT2_I_SIZE(inode);
	file->mtime = modified(scan, inode);
	if (fl_array_push(&scan->map->files, *file) || fl_array_push(&scan->traits, trait))
		return FL_ENOMEM;
	return 0;
}

static int take_in(struct scan *scan, fl_ino ino, const struct ext2_inode *inode)
{
	struct fl_file file = {
		.ino = ino,
		.name = FL_NO_NAME,
		.path_rank = FL_NO_NAME,
		.listing_rank = FL_NO_NAME,
		.first_extent = scan->map->extents.count,
		.first_tree = scan->map->trees.count,
	};
	struct subject subject = {.ino = ino, .inode = inode, .file = &file};
	bool is_extent_mapped = inode->i_flags & EXT4_EXTENTS_FL;
	bool has_xattr, has_blocks;
	int error = check_flags(scan, &subject);

	if (error)
		return error;
	if (!is_valid_type(scan, &subject))
		return damaged(scan, ino, "is of no known type");
	file.kind = (uint8_t)kind_of(scan, &subject);
	file.mapping = is_extent_mapped ? FL_MAPPING_EXTENTS : FL_MAPPING_INDIRECT;
	has_blocks = maps_blocks(inode);
	error = note_xattr(scan, &subject, &has_xattr);
	if (!error && has_blocks)
		error = is_extent_mapped ? fl_scan_extent_mapped(scan, &subject)
					 : fl_scan_indirect_mapped(scan, &subject);
	/* As e2fsck: without any block the field is not looked at. */
	if (!error && (has_blocks || has_xattr))
		error = check_i_blocks(scan, &subject, has_xattr);
	if (!error)
		error = note_directory(scan, &subject);
	if (!error)
		error = note_file(scan, &subject);
	return error;
}

static bool all_zero(const uint32_t *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (words[i])
			return false;
	return true;
}

static int consider(struct scan *scan, fl_ino ino, const struct ext2_inode *inode)
{
	if (!inode->i_links_count) {
		if (!is_reserved(scan, ino) && ino != EXT2_ROOT_INO)
			return damaged(scan, ino, "is marked in use but has no links");
		/* Most reserved inodes are just empty. */
		if (all_zero(inode->i_block, EXT2_N_BLOCKS) && !inode->i_file_acl)
			return 0;
	}
	return take_in(scan, ino, inode);
}

static int next_inode(struct scan *scan, ext2_inode_scan inodes, ext2_ino_t *ino,
		      struct ext2_inode *inode)
{
	errcode_t code;

	do {
		code = ext2fs_get_next_inode_full(inodes, ino, inode,
						  (int)scan->map->geo.inode_bytes);
		if (code == EXT2_ET_INODE_CSUM_INVALID && *ino) {
			if (fl_scan_inode_used(scan, *ino))
				return damaged(scan, *ino, "wrong checksum");
			continue;
		}
		if (code)
			return fl_fail(scan->diag, fl_fs_error(scan->fs, code),
				       "inode table: %s" RUN_E2FSCK, error_message(code));
	} while (*ino && !fl_scan_inode_used(scan, *ino));
	return 0;
}

/* Inodes that have been read, and whose mapping blocks have been announced. */
struct window {
	unsigned char *inodes; /* SCAN_AHEAD, inode_bytes each */
	size_t inode_bytes;
	ext2_ino_t inos[SCAN_AHEAD];
	size_t count;
};

static struct ext2_inode *inode_at(const struct window *window, size_t index)
{
	return (struct ext2_inode *)(window->inodes + index * window->inode_bytes);
}

/* The next ones in use; none at the end. */
static int fill(struct scan *scan, ext2_inode_scan inodes, struct window *window)
{
	window->count = 0;
	while (window->count < SCAN_AHEAD) {
		struct ext2_inode *inode = inode_at(window, window->count);
		ext2_ino_t *ino = &window->inos[window->count];
		int error = next_inode(scan, inodes, ino, inode);

		if (error || !*ino)
			return error;
		if (maps_blocks(inode))
			fl_scan_announce_mapping(scan, inode);
		window->count++;
	}
	return 0;
}

static void report(struct scan *scan, fl_ino ino, uint64_t *reported)
{
	if (scan->progress && ino - *reported >= PROGRESS_INODES) {
		*reported = ino;
		scan->progress(scan->context, ino, scan->ext2->super->s_inodes_count);
	}
}

int fl_scan_inodes(struct scan *scan)
{
	int buffer_blocks = (int)fl_max(8, READ_BYTES / scan->map->geo.block_bytes);
	uint64_t total = scan->ext2->super->s_inodes_count, reported = 0;
	ext2_inode_scan inodes = NULL;
	struct window window = {
		.inode_bytes = fl_max(scan->map->geo.inode_bytes, sizeof(struct ext2_inode_large)),
	};
	errcode_t code;
	int error = load_inode_bitmap(scan);

	if (error)
		return error;
	window.inodes = fl_alloc(SCAN_AHEAD, window.inode_bytes);
	if (!window.inodes)
		return FL_ENOMEM;
	/* Opening reads the list of bad blocks too, but without looking at errors. */
	code = scan->ext2->badblocks ? 0 : ext2fs_read_bb_inode(scan->ext2, &scan->ext2->badblocks);
	if (!code)
		code = ext2fs_open_inode_scan(scan->ext2, buffer_blocks, &inodes);
	if (code) {
		error = fl_fail(scan->diag, fl_fs_error(scan->fs, code), "inode table: %s",
				error_message(code));
		goto out;
	}
	do {
		error = fill(scan, inodes, &window);
		for (size_t i = 0; i < window.count && !error; i++) {
			error = consider(scan, window.inos[i], inode_at(&window, i));
			report(scan, window.inos[i], &reported);
		}
	} while (window.count && !error);
	if (!error && scan->progress)
		scan->progress(scan->context, total, total);
out:
	if (inodes)
		ext2fs_close_inode_scan(inodes);
	free(window.inodes);
	return error;
}
