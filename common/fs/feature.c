/* SPDX-License-Identifier: MIT */
/*
 * The one table of on-disk features: which are moved, which are refused and with what words.
 * A bit that is not in it is unknown and refused.
 */
#include <common/fs/fs_internal.h>

#include <stdio.h>

enum word { COMPAT, INCOMPAT, RO_COMPAT, WORDS };

struct feature {
	uint32_t bit;
	const char *name;    /* as dumpe2fs prints it */
	const char *refusal; /* NULL: moved. Else "reason; remedy" */
};

#define NO_REMEDY "; this version leaves such filesystems alone"
#define SNAPSHOT "next3 snapshots keep block numbers of their own" NO_REMEDY

static const struct feature compat[] = {
	{0x0001, "dir_prealloc", NULL},
	{0x0002, "imagic_inodes", "AFS magic inodes are not understood" NO_REMEDY},
	{0x0004, "has_journal", NULL},
	{0x0008, "ext_attr", NULL},
	{0x0010, "resize_inode", NULL},
	{0x0020, "dir_index", NULL},
	{0x0040, "lazy_bg", "a test feature that e2fsck refuses too" NO_REMEDY},
	{0x0080, "snapshot_inode", SNAPSHOT},
	{0x0100, "snapshot_bitmap", SNAPSHOT},
	{0x0200, "sparse_super2", NULL},
	{0x0400, "fast_commit", NULL},
	{0x0800, "stable_inodes", NULL},
	{0x1000, "orphan_file", NULL},
	{0, NULL, NULL},
};

static const struct feature incompat[] = {
	{0x00001, "compression", "compressed files are not understood" NO_REMEDY},
	{0x00002, "filetype", NULL},
	/* Not a feature to refuse but a state: super.c does that, with better words. */
	{0x00004, "needs_recovery", NULL},
	{0x00008, "journal_dev",
	 "it is a journal device without files; give the filesystem that uses it"},
	{0x00010, "meta_bg", NULL},
	{0x00040, "extent", NULL},
	{0x00080, "64bit", NULL},
	{0x00100, "mmp",
	 "multiple mount protection is not supported yet; run tune2fs -O ^mmp IMAGE first"},
	{0x00200, "flex_bg", NULL},
	{0x00400, "ea_inode", "extended attributes in inodes are not supported yet" NO_REMEDY},
	{0x01000, "dirdata", "data in directory entries is not understood" NO_REMEDY},
	{0x02000, "metadata_csum_seed", NULL},
	{0x04000, "large_dir", NULL},
	{0x08000, "inline_data", NULL},
	{0x10000, "encrypt", NULL},
	{0x20000, "casefold", NULL},
	{0, NULL, NULL},
};

static const struct feature ro_compat[] = {
	{0x00001, "sparse_super", NULL},
	{0x00002, "large_file", NULL},
	{0x00004, "btree_dir", "a feature that was never used" NO_REMEDY},
	{0x00008, "huge_file", NULL},
	{0x00010, "uninit_bg", NULL},
	{0x00020, "dir_nlink", NULL},
	{0x00040, "extra_isize", NULL},
	{0x00080, "has_snapshot", SNAPSHOT},
	{0x00100, "quota", "quota files are not supported yet; run tune2fs -O ^quota IMAGE first"},
	{0x00200, "bigalloc", "clusters of several blocks are not supported yet" NO_REMEDY},
	{0x00400, "metadata_csum", NULL},
	{0x00800, "replica", "replicas are not understood" NO_REMEDY},
	{0x01000, "read-only",
	 "it is marked as never to be written; run tune2fs -O ^read-only IMAGE first"},
	{0x02000, "project",
	 "project quota is not supported yet; run tune2fs -O ^project IMAGE first"},
	{0x04000, "shared_blocks",
	 "files share blocks; run e2fsck -f -E unshare_blocks IMAGE first"},
	{0x08000, "verity", "fs-verity files are not supported yet" NO_REMEDY},
	/* A state, as needs_recovery. */
	{0x10000, "orphan_present", NULL},
	{0, NULL, NULL},
};

static const struct feature *const tables[WORDS] = {compat, incompat, ro_compat};

static const char *const word_names[WORDS] = {"compat", "incompat", "ro_compat"};

static uint32_t feature_word(const struct ext2_super_block *super, int word)
{
	switch (word) {
	case COMPAT:
		return super->s_feature_compat;
	case INCOMPAT:
		return super->s_feature_incompat;
	default:
		return super->s_feature_ro_compat;
	}
}

static const struct feature *lookup(int word, uint32_t bit)
{
	for (const struct feature *feature = tables[word]; feature->name; feature++)
		if (feature->bit == bit)
			return feature;
	return NULL;
}

int fl_feature_check(const struct ext2_super_block *super, struct fl_diag *diag)
{
	for (int word = 0; word < WORDS; word++) {
		uint32_t set = feature_word(super, word);

		for (; set; set &= set - 1) {
			uint32_t bit = set & (~set + 1);
			const struct feature *feature = lookup(word, bit);

			if (!feature)
				return fl_fail(diag, FL_EFEATURE,
					       "feature 0x%x of the %s set is unknown" NO_REMEDY,
					       bit, word_names[word]);
			if (feature->refusal)
				return fl_fail(diag, FL_EFEATURE, "feature %s: %s", feature->name,
					       feature->refusal);
		}
	}
	return 0;
}

const char *fl_fs_feature(const struct fl_fs *fs, size_t i, char buffer[FL_FEATURE_NAME])
{
	for (int word = 0; word < WORDS; word++) {
		uint32_t set = feature_word(fs->ext2->super, word);

		for (; set; set &= set - 1) {
			const struct feature *feature = lookup(word, set & (~set + 1));

			if (i-- > 0)
				continue;
			snprintf(buffer, FL_FEATURE_NAME, "%s",
				 feature ? feature->name : "unknown");
			return buffer;
		}
	}
	return NULL;
}
