/* SPDX-License-Identifier: MIT */
/*
 * Multiple mount protection: a block that tells all machines that can reach the filesystem whether
 * one of them uses it. Must not write any other block. The protocol is e2fsck's: a number of one's
 * own, a wait for others who saw the block clean in the same moment, and if the number still
 * stands the one that means "being checked": it keeps everybody away, need not be renewed, and is
 * not taken over by who has waited long enough, as a number would be. (libext2fs's own code opens
 * the image by a name that our devices do not have.)
 *
 * The block is 1024 bytes, its checksum the last four. Only the first sector is ever written, and
 * padding in it makes up for the checksum, as in the fence: no cut leaves half a block.
 */
#include <common/fs/fs_internal.h>

#include <string.h>
#include <unistd.h>

_Static_assert(FL_FS_MOST_SEQUENCE == EXT4_MMP_SEQ_MAX, "numbers that have no other meaning");

#define HELD_BY "fraglab" /* where others name their device */

static uint64_t place(const struct fl_fs *fs)
{
	return fs->ext2->super->s_mmp_block * fs->ext2->blocksize;
}

/* Also what another machine has just written. */
static int read_fresh(struct fl_fs *fs, void *buffer, size_t length, struct fl_diag *diag)
{
	int error;

	fl_device_advise(fs->io.device, FL_ADVICE_FORGET, length, place(fs));
	error = fl_device_read(fs->io.device, buffer, length, place(fs));
	return error ? fl_fail(diag, error, "cannot read the block of multiple mount protection")
		     : 0;
}

int fl_mmp_check(struct fl_fs *fs, struct fl_diag *diag)
{
	ext2_filsys ext2 = fs->ext2;
	uint64_t block = ext2->super->s_mmp_block;
	struct mmp_struct *mmp = &fs->mmp_clean;
	int error;

	_Static_assert(sizeof(*mmp) == 1024, "the block of MMP has 1024 bytes");
	if (!ext2fs_has_feature_mmp(ext2->super))
		return 0;
	if (block <= ext2->super->s_first_data_block || block >= ext2fs_blocks_count(ext2->super))
		return fl_fail(diag, FL_EDAMAGED,
			       "the block of multiple mount protection is outside the filesystem; "
			       "run e2fsck -f IMAGE first");
	error = read_fresh(fs, mmp, sizeof(*mmp), diag);
	if (error)
		return error;
	if (ext2fs_le32_to_cpu(mmp->mmp_magic) != EXT4_MMP_MAGIC ||
	    !ext2fs_mmp_csum_verify(ext2, mmp))
		return fl_fail(diag, FL_EDAMAGED,
			       "the block of multiple mount protection is damaged; run e2fsck -f "
			       "IMAGE first");
	switch (ext2fs_le32_to_cpu(mmp->mmp_seq)) {
	case EXT4_MMP_SEQ_CLEAN:
		return 0;
	case EXT4_MMP_SEQ_FSCK:
		return fl_fail(diag, FL_EBUSY,
			       "multiple mount protection says that it is being checked or moved; "
			       "if it is not, run tune2fs -f -E clear_mmp IMAGE, then e2fsck -f "
			       "IMAGE");
	default:
		return fl_fail(diag, FL_EBUSY,
			       "multiple mount protection says that it is in use; if it is not, "
			       "run e2fsck -f IMAGE first");
	}
}

struct sealing {
	ext2_filsys ext2;
	struct mmp_struct *mmp;
};

static int checksum_with(void *context, uint32_t spare, uint32_t *checksum)
{
	struct sealing *sealing = context;

	sealing->mmp->mmp_pad2[0] = spare;
	if (ext2fs_mmp_csum_set(sealing->ext2, sealing->mmp))
		return FL_EINVAL;
	*checksum = sealing->mmp->mmp_checksum;
	return 0;
}

static int write_sector(struct fl_fs *fs, const void *sector, struct fl_diag *diag)
{
	int error = fl_device_write(fs->io.device, sector, FL_SECTOR_BYTES, place(fs));

	if (!error)
		error = fl_device_flush(fs->io.device);
	return error ? fl_fail(diag, error, "cannot write the block of multiple mount protection")
		     : 0;
}

static int write_sequence(struct fl_fs *fs, uint32_t sequence, struct fl_diag *diag)
{
	struct mmp_struct mmp = fs->mmp_clean;
	struct sealing sealing = {fs->ext2, &mmp};

	_Static_assert(offsetof(struct mmp_struct, mmp_pad2) + 4 <= FL_SECTOR_BYTES,
		       "what changes is in the first sector");
	mmp.mmp_seq = ext2fs_cpu_to_le32(sequence);
	memset(mmp.mmp_nodename, 0, sizeof(mmp.mmp_nodename));
	(void)gethostname((char *)mmp.mmp_nodename, sizeof(mmp.mmp_nodename));
	memset(mmp.mmp_bdevname, 0, sizeof(mmp.mmp_bdevname));
	memcpy(mmp.mmp_bdevname, HELD_BY, sizeof(HELD_BY));
	if (ext2fs_has_feature_metadata_csum(fs->ext2->super) &&
	    fl_checksum_keep(checksum_with, &sealing, fs->mmp_clean.mmp_checksum))
		return fl_fail(diag, FL_EINVAL,
			       "block of multiple mount protection: cannot keep its checksum");
	memcpy(fs->mmp_ours, &mmp, sizeof(fs->mmp_ours));
	/* From the first try on: after a failure the disk may have it. */
	fs->claimed = true;
	return write_sector(fs, fs->mmp_ours, diag);
}

int fl_fs_claim_holds(struct fl_fs *fs, struct fl_diag *diag)
{
	unsigned char sector[FL_SECTOR_BYTES];
	int error;

	if (!fs->claimed)
		return 0;
	error = read_fresh(fs, sector, sizeof(sector), diag);
	if (error || !memcmp(sector, fs->mmp_ours, sizeof(sector)))
		return error;
	/* It is the other's now, and nothing more may be written. */
	fs->claimed = false;
	return fl_fail(diag, FL_EBUSY,
		       "multiple mount protection says that another machine has begun to use it");
}

/* Until others who saw the block clean have written to it, or given up. */
static int wait_for_others(struct fl_fs *fs, const struct fl_claimant *claimant,
			   struct fl_diag *diag)
{
	uint64_t interval =
		fl_max(fs->ext2->super->s_mmp_update_interval, EXT4_MMP_MIN_CHECK_INTERVAL);
	uint32_t seconds = (uint32_t)fl_min(2 * interval + 1, interval + 60);

	return claimant->wait(claimant->context, seconds)
		       ? 0
		       : fl_fail(diag, FL_ECANCELLED, "cancelled: nothing is written");
}

int fl_fs_claim(struct fl_fs *fs, const struct fl_claimant *claimant, bool *wrote,
		struct fl_diag *diag)
{
	struct fl_diag ignored;
	int error;

	*wrote = false;
	if (!ext2fs_has_feature_mmp(fs->ext2->super))
		return 0;
	if (fs->mode != FL_FS_CHANGE || fs->claimed || !claimant->wait || !claimant->sequence ||
	    claimant->sequence > FL_FS_MOST_SEQUENCE)
		return fl_fail(diag, FL_EINVAL,
			       "claim: not open for change, claimed, or no number and wait");
	/* Some time has passed since it was opened. */
	error = fl_mmp_check(fs, diag);
	if (error)
		return error;
	*wrote = true;
	error = write_sequence(fs, claimant->sequence, diag);
	if (!error)
		error = wait_for_others(fs, claimant, diag);
	if (!error)
		error = fl_fs_claim_holds(fs, diag);
	if (!error)
		error = write_sequence(fs, EXT4_MMP_SEQ_FSCK, diag);
	if (error && !fl_fs_disclaim(fs, &ignored))
		*wrote = error != FL_EBUSY && error != FL_ECANCELLED;
	return error;
}

int fl_fs_disclaim(struct fl_fs *fs, struct fl_diag *diag)
{
	int error = fl_fs_claim_holds(fs, diag);

	if (error || !fs->claimed)
		return error;
	error = write_sector(fs, &fs->mmp_clean, diag);
	if (!error)
		fs->claimed = false;
	return error;
}

bool fl_fs_claimed(const struct fl_fs *fs)
{
	return fs->claimed;
}
