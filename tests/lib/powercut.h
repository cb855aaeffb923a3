/* SPDX-License-Identifier: MIT */
/*
 * A device whose power fails. It passes everything on to the device below and keeps a log, so
 * that one run gives the disk of a cut at each of its operations: what was flushed is there,
 * and each unflushed sector may be. Can also stop for real.
 *
 * Operations that count, from 1: write, flush, punch, zero.
 */
#ifndef TESTS_LIB_POWERCUT_H
#define TESTS_LIB_POWERCUT_H

#include <fraglab/device.h>
#include <fraglab/util.h>

struct powercut;

/*
 * Wraps below (borrowed). From operation stop_at on nothing gets through and every call fails
 * with FL_EIO, reads too; 0: never. Close the device before the log is freed.
 */
int powercut_new(struct fl_device *below, uint64_t stop_at, struct powercut **log) FL_CHECKED;
struct fl_device *powercut_device(struct powercut *log);
/* Operations begun so far; the one that was stopped counts. */
uint64_t powercut_operations(const struct powercut *log);
/* NULL is legal. */
void powercut_free(struct powercut *log);

/*
 * The disk of a cut. `durable` (the bytes at the start of the log when replayed is 0) is brought
 * forward to the last flush that ended before operation `cut`; so cuts go upwards. Then `disk`
 * becomes durable, and of every operation after that flush, `cut` itself included, what the seed
 * says, a sector of 512 bytes at a time: applied, dropped, or torn (a prefix or any subset).
 * Seed 0: all are dropped; 1: all but the one in flight are applied; 2: that one too.
 */
struct powercut_replay {
	const struct powercut *log;
	size_t replayed;  /* operations that are in durable */
	uint8_t *durable; /* borrowed */
	size_t size_bytes;
};
void powercut_disk(struct powercut_replay *replay, uint64_t cut, uint64_t seed, uint8_t *disk);
/* As that, but the power fails when `done` operations have ended and none is in flight. */
void powercut_between(struct powercut_replay *replay, uint64_t done, uint64_t seed, uint8_t *disk);

/* The last flush among the first `done` operations; 0: none. */
uint64_t powercut_flushed(const struct powercut *log, uint64_t done);

/* How many operations two logs have in common at their beginnings, down to the bytes written. */
uint64_t powercut_common(const struct powercut *log, const struct powercut *other);

#endif
