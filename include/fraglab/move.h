/* SPDX-License-Identifier: MIT */
/*
 * The mover: the only writer of an image. Runs a plan by the protocol
 *
 *	fence; per batch: claim, copy, flush, switch, flush, release; unfence
 *
 * (with multiple mount protection between fl_fs_claim and fl_fs_disclaim)
 * so that a stop at any moment, with any subset of unflushed sectors lost, leaves
 * every file readable and the filesystem repairable by one e2fsck run.
 */
#ifndef FRAGLAB_MOVE_H
#define FRAGLAB_MOVE_H

#include <fraglab/fs.h>
#include <fraglab/plan.h>

struct fl_move_options {
	bool verify;	       /* read back what was copied and built, compare before the switch */
	uint64_t buffer_bytes; /* copy buffer, at least two blocks; 0: 32 MiB, less for small plans
				*/
	/* Asked between batches; true finishes cleanly with FL_ECANCELLED. NULL: never. */
	bool (*cancelled)(void *context);
	/* Blocks written so far, of all. NULL: none. */
	void (*progress)(void *context, uint64_t done, uint64_t total);
	void *context;		     /* for both */
	struct fl_claimant claimant; /* only used with multiple mount protection */
};

struct fl_move_result {
	uint64_t extents; /* moves done */
	uint64_t bytes;	  /* data bytes they cover */
	uint64_t batches; /* batches done */
	uint64_t flushes;
	bool fenced;  /* the image is still marked unclean: run e2fsck */
	bool claimed; /* multiple mount protection still says that it is in use */
	/* At least one write was attempted. A claim (fl_fs_claim) that was taken back is none. */
	bool wrote;
};

/*
 * Runs the plan on fs (opened FL_FS_CHANGE, map scanned from it). result is always filled.
 * FL_ECANCELLED: the batches done are in place, the filesystem is clean.
 * FL_EIO, FL_EHOSTFULL, FL_EVERIFY, FL_ENOMEM, FL_EPLAN: see result.wrote and result.fenced;
 * content is intact in every case, and when fenced e2fsck -fy makes it clean again.
 * FL_EBUSY: another machine uses the filesystem, says multiple mount protection.
 * FL_EINVAL: with bigalloc, when map is not one of fl_map_units; nothing is written.
 * An empty plan writes nothing.
 */
int fl_move_run(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		const struct fl_move_options *options, struct fl_move_result *result,
		struct fl_diag *diag) FL_CHECKED;

#endif
