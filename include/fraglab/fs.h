/* SPDX-License-Identifier: MIT */
/*
 * An open ext2/3/4 filesystem over a device: the open policy (what is refused and
 * why), its geometry, and the fence that marks it unclean while it is changed.
 *
 * libext2fs does the on-disk formats; its I/O goes through the device, without
 * any write-back cache and without partial-block writes.
 */
#ifndef FRAGLAB_FS_H
#define FRAGLAB_FS_H

#include <fraglab/device.h>
#include <fraglab/geometry.h>
#include <fraglab/util.h>

struct fl_fs;

enum fl_fs_mode {
	FL_FS_READ,    /* to see what a run would do */
	FL_FS_CHANGE,  /* for the mover; nothing is written before fl_fs_fence */
	FL_FS_ANALYZE, /* for figures alone: takes some filesystems that must not be changed */
};

/*
 * Opens the filesystem on device (borrowed; must outlive it). READ and CHANGE refuse the same
 * images, so that a dry run tells what a run would do; ANALYZE takes those that have features
 * whose treatment is FL_TREATMENT_ANALYSE too:
 * FL_ENOTEXT, FL_ESHORT (device smaller than the filesystem), FL_EDIRTY (not clean, errors,
 * journal to replay, orphans), FL_EFEATURE (fs/feature.c has the table), FL_EDAMAGED
 * (superblock, descriptors or bitmaps unreadable or with wrong checksums), FL_EIO, FL_ENOMEM.
 * FL_EINVAL: FL_FS_CHANGE on a read-only device.
 * I/O: superblock, descriptors, bitmaps. Free with fl_fs_close.
 */
int fl_fs_open(struct fl_device *device, enum fl_fs_mode mode, struct fl_fs **fs,
	       struct fl_diag *diag) FL_CHECKED;

/* Writes nothing, whatever happened before. NULL is legal. */
void fl_fs_close(struct fl_fs *fs);

const struct fl_geometry *fl_fs_geometry(const struct fl_fs *fs);
struct fl_device *fl_fs_device(const struct fl_fs *fs);

/*
 * Name of the i-th feature the filesystem has, in the order compat, incompat, ro_compat;
 * NULL past the last. The text lives in buffer.
 */
#define FL_FEATURE_NAME 32
const char *fl_fs_feature(const struct fl_fs *fs, size_t i, char buffer[FL_FEATURE_NAME]);

/* What lies behind the filesystem on its device and vouches for its blocks. */
enum fl_trailer {
	FL_TRAILER_NONE,   /* nothing that is known */
	FL_TRAILER_AVB,	   /* an Android Verified Boot footer, at the end of the device */
	FL_TRAILER_VERITY, /* a dm-verity superblock or Android's older verity metadata */
};

/* I/O: two small reads. FL_EIO. */
int fl_fs_trailer(const struct fl_fs *fs, enum fl_trailer *trailer) FL_CHECKED;

/* What happens to a filesystem that has a feature, or is in a condition. */
enum fl_treatment {
	FL_TREATMENT_MOVE,
	FL_TREATMENT_ANALYSE, /* opens for FL_FS_ANALYZE only */
	FL_TREATMENT_REFUSE,
};

struct fl_verdict {
	char name[FL_FEATURE_NAME]; /* of the feature or condition */
	enum fl_treatment treatment;
	const char *sentence; /* moved: what that means; else "reason; remedy", as in fl_diag */
};

/* Zero-initialise, free with fl_array_free. */
struct fl_verdicts {
	FL_ARRAY(struct fl_verdict);
};

/*
 * Appends the verdict on each feature and special condition of the superblock on device, whether
 * fl_fs_open would take it or not. Nothing when there is no superblock. I/O: the superblock.
 * FL_EIO, FL_ENOMEM.
 */
int fl_fs_verdicts(struct fl_device *device, struct fl_verdicts *list,
		   struct fl_diag *diag) FL_CHECKED;

/*
 * Multiple mount protection: who claims a filesystem that has it, before the fence. The number,
 * 1 .. FL_FS_MOST_SEQUENCE, must differ from that of a run on another machine at the same time;
 * wait pauses so many seconds, and returns false when the run is to end instead.
 */
#define FL_FS_MOST_SEQUENCE 0xE24D4D4Fu
struct fl_claimant {
	uint32_t sequence;
	bool (*wait)(void *context, uint32_t seconds);
	void *context;
};

/*
 * Tells all machines that the filesystem is being worked on, the way e2fsck does, waiting as
 * the protocol demands (11 seconds if not set otherwise). Without that feature nothing is done.
 * FL_EBUSY: another machine was quicker; FL_ECANCELLED: wait returned false. After a failure the
 * block is as it was, unless fl_fs_claimed says that this failed too. *wrote, always set: something
 * was written, and not all of it taken back for certain.
 */
int fl_fs_claim(struct fl_fs *fs, const struct fl_claimant *claimant, bool *wrote,
		struct fl_diag *diag) FL_CHECKED;
/*
 * FL_EBUSY: another machine has begun to use it in spite of the claim, and nothing more may be
 * written. 0 without a claim. I/O: one sector.
 */
int fl_fs_claim_holds(struct fl_fs *fs, struct fl_diag *diag) FL_CHECKED;
/* Puts the block back as it was, byte for byte. 0 without a claim. Failure: the claim stands. */
int fl_fs_disclaim(struct fl_fs *fs, struct fl_diag *diag) FL_CHECKED;
bool fl_fs_claimed(const struct fl_fs *fs);

/*
 * The fence: superblock without the "clean" mark, then a flush. From here on a crash leaves
 * a filesystem that fsck checks before use. No time stamp changes.
 * Failure: nothing else may be written.
 */
int fl_fs_fence(struct fl_fs *fs, struct fl_diag *diag) FL_CHECKED;
/* Flush, the clean superblock with exact free counts, flush. Failure: the fence still stands. */
int fl_fs_unfence(struct fl_fs *fs, struct fl_diag *diag) FL_CHECKED;

#endif
