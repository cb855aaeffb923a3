/* SPDX-License-Identifier: MIT */
/*
 * The one table of what a superblock can say: every feature bit and every special condition is
 * moved, analysed only, or refused, and why. A bit that is not in it is unknown and refused.
 */
#include <common/fs/fs_internal.h>

#include <stdio.h>

enum word { COMPAT, INCOMPAT, RO_COMPAT, WORDS };

struct feature {
	uint32_t bit;
	const char *name; /* as dumpe2fs prints it */
	enum fl_treatment treatment;
	/* Moved: what that means. Else "reason; remedy". NULL: see the state of that name. */
	const char *sentence;
};

#define MOVE FL_TREATMENT_MOVE
#define ANALYSE FL_TREATMENT_ANALYSE
#define REFUSE FL_TREATMENT_REFUSE

#define NO_REMEDY "; this version leaves such filesystems alone"
#define SNAPSHOT "next3 snapshots keep block numbers of their own" NO_REMEDY
#define NO_MATTER "block numbers do not occur in it"

static const struct feature compat[] = {
	{0x0001, "dir_prealloc", MOVE, "preallocated directory blocks move with their directory"},
	{0x0002, "imagic_inodes", REFUSE, "AFS magic inodes are not understood" NO_REMEDY},
	{0x0004, "has_journal", MOVE, "the journal must be empty, and stays in its place"},
	{0x0008, "ext_attr", MOVE,
	 "blocks of extended attributes move, for all their owners at once"},
	{0x0010, "resize_inode", MOVE, "the resize inode and the blocks it reserves stay"},
	{0x0020, "dir_index", MOVE, "directory indexes hold logical block numbers, which stay"},
	{0x0040, "lazy_bg", REFUSE, "a test feature that e2fsck refuses too" NO_REMEDY},
	{0x0080, "snapshot_inode", REFUSE, SNAPSHOT},
	{0x0100, "snapshot_bitmap", REFUSE, SNAPSHOT},
	{0x0200, "sparse_super2", MOVE, "the backup superblocks stay"},
	{0x0400, "fast_commit", MOVE, "the journal must be empty, and stays in its place"},
	{0x0800, "stable_inodes", MOVE, "inode numbers and the UUID never change"},
	{0x1000, "orphan_file", MOVE, "the orphan file must be empty, and stays in its place"},
	{0, NULL, REFUSE, NULL},
};

static const struct feature incompat[] = {
	{0x00001, "compression", REFUSE, "compressed files are not understood" NO_REMEDY},
	{0x00002, "filetype", MOVE, NO_MATTER},
	{0x00004, "needs_recovery", MOVE, NULL},
	{0x00008, "journal_dev", REFUSE,
	 "it is a journal device without files; give the filesystem that uses it"},
	{0x00010, "meta_bg", MOVE, "the descriptors stay, wherever they are"},
	{0x00040, "extent", MOVE, "extent trees are built anew, in as few blocks as they need"},
	{0x00080, "64bit", MOVE, "block numbers of 48 bits are used throughout"},
	{0x00100, "mmp", MOVE, "its block stays, and keeps other machines away meanwhile"},
	{0x00200, "flex_bg", MOVE, "bitmaps and inode tables stay, wherever they are"},
	{0x00400, "ea_inode", MOVE, "attribute values in inodes move; their reference counts stay"},
	{0x01000, "dirdata", REFUSE, "data in directory entries is not understood" NO_REMEDY},
	{0x02000, "metadata_csum_seed", MOVE, "checksums use the seed, not the UUID"},
	{0x04000, "large_dir", MOVE, "directories move like files, whatever their size"},
	{0x08000, "inline_data", MOVE, "data in an inode has no block, and stays"},
	{0x10000, "encrypt", MOVE, "encrypted data moves as it is; keys depend on no block number"},
	{0x20000, "casefold", MOVE, NO_MATTER},
	{0, NULL, REFUSE, NULL},
};

static const struct feature ro_compat[] = {
	{0x00001, "sparse_super", MOVE, "the backup superblocks stay"},
	{0x00002, "large_file", MOVE, NO_MATTER},
	{0x00004, "btree_dir", REFUSE, "a feature that was never used" NO_REMEDY},
	{0x00008, "huge_file", MOVE, "i_blocks is kept exact, in its own units"},
	{0x00010, "uninit_bg", MOVE, "groups that receive blocks get their bitmap"},
	{0x00020, "dir_nlink", MOVE, NO_MATTER},
	{0x00040, "extra_isize", MOVE, NO_MATTER},
	{0x00080, "has_snapshot", REFUSE, SNAPSHOT},
	{0x00100, "quota", MOVE, "usage by user and group is kept exact; the quota files stay"},
	{0x00200, "bigalloc", MOVE, "whole clusters move; blocks keep their places in them"},
	{0x00400, "metadata_csum", MOVE, "checksums are computed anew"},
	{0x00800, "replica", REFUSE, "replicas are not understood" NO_REMEDY},
	{0x01000, "read-only", ANALYSE,
	 "it is marked as never to be written; run tune2fs -O ^read-only IMAGE first"},
	{0x02000, "project", MOVE, "usage by project is kept exact; the quota file stays"},
	{0x04000, "shared_blocks", REFUSE,
	 "files share blocks; run e2fsck -f -E unshare_blocks IMAGE first"},
	{0x08000, "verity", MOVE, "hash trees behind the end of files move with them"},
	{0x10000, "orphan_present", MOVE, NULL},
	{0, NULL, REFUSE, NULL},
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

/* --- special conditions --- */

static bool new_revision(const struct ext2_super_block *super)
{
	return super->s_rev_level > EXT2_MAX_SUPP_REV;
}

/* Revision 0 has no feature words: what is there is an accident, and who reads it differs. */
static bool old_with_features(const struct ext2_super_block *super)
{
	return super->s_rev_level == EXT2_GOOD_OLD_REV &&
	       (super->s_feature_compat | super->s_feature_incompat | super->s_feature_ro_compat);
}

static bool foreign(const struct ext2_super_block *super)
{
	return super->s_creator_os != EXT2_OS_LINUX && super->s_creator_os != EXT2_OS_FREEBSD;
}

static bool snapshot_image(const struct ext2_super_block *super)
{
	return super->s_flags & EXT2_FLAGS_IS_SNAPSHOT;
}

/* libext2fs's predicates do not take a const superblock. */
static bool has_bit(const struct ext2_super_block *super, int word, uint32_t bit)
{
	return feature_word(super, word) & bit;
}

static bool external_journal(const struct ext2_super_block *super)
{
	return has_bit(super, COMPAT, EXT3_FEATURE_COMPAT_HAS_JOURNAL) && !super->s_journal_inum;
}

static bool needs_recovery(const struct ext2_super_block *super)
{
	return has_bit(super, INCOMPAT, EXT3_FEATURE_INCOMPAT_RECOVER);
}

static bool orphans(const struct ext2_super_block *super)
{
	return has_bit(super, RO_COMPAT, EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT) ||
	       super->s_last_orphan || (super->s_state & EXT3_ORPHAN_FS);
}

static bool errors(const struct ext2_super_block *super)
{
	return super->s_state & EXT2_ERROR_FS;
}

static bool unclean(const struct ext2_super_block *super)
{
	return !(super->s_state & EXT2_VALID_FS) || (super->s_state & EXT4_FC_REPLAY);
}

struct condition {
	bool (*holds)(const struct ext2_super_block *super);
	const char *name;
	enum fl_treatment treatment;
	enum fl_error error;
	const char *sentence; /* "reason; remedy" */
};

/* Those that make the feature words meaningless, then the others: in the order of checking. */
static const struct condition conditions[] = {
	{new_revision, "revision", REFUSE, FL_EFEATURE,
	 "its revision is newer than 1, the newest that is known" NO_REMEDY},
	{old_with_features, "revision 0", REFUSE, FL_EDAMAGED,
	 "revision 0 with feature flags; run e2fsck -f IMAGE first"},
	{foreign, "creator", REFUSE, FL_EFEATURE,
	 "made for another system, whose inodes hold other block numbers" NO_REMEDY},
	{snapshot_image, "snapshot", REFUSE, FL_EFEATURE, "it is a snapshot image" NO_REMEDY},
};

static const struct condition states[] = {
	{external_journal, "external journal", MOVE, FL_EFEATURE,
	 "its journal on another device is left alone; after a clean unmount it is empty"},
	{needs_recovery, "needs_recovery", REFUSE, FL_EDIRTY,
	 "its journal must be replayed; run e2fsck -f IMAGE first"},
	{orphans, "orphans", REFUSE, FL_EDIRTY,
	 "files deleted while open wait for removal; run e2fsck -f IMAGE first"},
	{errors, "errors", REFUSE, FL_EDIRTY,
	 "it is marked as having errors; run e2fsck -f IMAGE first"},
	{unclean, "unclean", REFUSE, FL_EDIRTY,
	 "it was not unmounted cleanly; run e2fsck -f IMAGE first"},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static int check_conditions(const struct condition *table, size_t count,
			    const struct ext2_super_block *super, enum fl_treatment allowed,
			    struct fl_diag *diag)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].treatment > allowed && table[i].holds(super))
			return fl_fail(diag, table[i].error, "%s", table[i].sentence);
	return 0;
}

static int check_features(const struct ext2_super_block *super, enum fl_treatment allowed,
			  struct fl_diag *diag)
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
			if (feature->treatment > allowed)
				return fl_fail(diag, FL_EFEATURE, "feature %s: %s", feature->name,
					       feature->sentence);
		}
	}
	return 0;
}

int fl_feature_check(const struct ext2_super_block *super, enum fl_fs_mode mode,
		     struct fl_diag *diag)
{
	enum fl_treatment allowed = mode == FL_FS_ANALYZE ? ANALYSE : MOVE;
	int error = check_conditions(conditions, COUNT(conditions), super, allowed, diag);

	if (!error)
		error = check_features(super, allowed, diag);
	if (!error)
		error = check_conditions(states, COUNT(states), super, allowed, diag);
	return error;
}

/* --- the table, read aloud --- */

static int add_verdict(struct fl_verdicts *list, const char *name, enum fl_treatment treatment,
		       const char *sentence)
{
	struct fl_verdict verdict = {.treatment = treatment, .sentence = sentence};

	snprintf(verdict.name, sizeof(verdict.name), "%s", name);
	return fl_array_push(list, verdict);
}

static int add_conditions(struct fl_verdicts *list, const struct condition *table, size_t count,
			  const struct ext2_super_block *super)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		if (table[i].holds(super))
			error = add_verdict(list, table[i].name, table[i].treatment,
					    table[i].sentence);
	return error;
}

static int add_features(struct fl_verdicts *list, const struct ext2_super_block *super)
{
	int error = 0;

	for (int word = 0; word < WORDS; word++) {
		uint32_t set = feature_word(super, word);

		for (; set && !error; set &= set - 1) {
			uint32_t bit = set & (~set + 1);
			const struct feature *feature = lookup(word, bit);
			char name[FL_FEATURE_NAME];

			if (feature && feature->sentence)
				error = add_verdict(list, feature->name, feature->treatment,
						    feature->sentence);
			if (feature)
				continue;
			snprintf(name, sizeof(name), "%s 0x%x", word_names[word], bit);
			error = add_verdict(list, name, REFUSE, "unknown" NO_REMEDY);
		}
	}
	return error;
}

int fl_feature_verdicts(const struct ext2_super_block *super, struct fl_verdicts *list)
{
	int error = add_conditions(list, conditions, COUNT(conditions), super);

	if (!error)
		error = add_features(list, super);
	if (!error)
		error = add_conditions(list, states, COUNT(states), super);
	return error;
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
