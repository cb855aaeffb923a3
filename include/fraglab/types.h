/* SPDX-License-Identifier: MIT */
/*
 * Units and small value types that every layer shares. Only types and their
 * named conversions; nothing here allocates or does I/O.
 */
#ifndef FRAGLAB_TYPES_H
#define FRAGLAB_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Physical block number: filesystem blocks from the start of the filesystem. */
typedef uint64_t fl_pblk;
/* Logical block number inside a file. The last legal one is FL_LBLK_MAX. */
typedef uint32_t fl_lblk;
/* Inode number, from 1; 0 means none. */
typedef uint32_t fl_ino;
/* 512-byte logical block address on the disk that holds the filesystem. */
typedef uint64_t fl_lbn;

#define FL_LBLK_MAX ((fl_lblk)0xFFFFFFFEu)
#define FL_SECTOR_BYTES 512u

/* A run of consecutive physical blocks; len counts blocks and is never 0 in an array. */
struct fl_run {
	fl_pblk start;
	uint64_t len;
};

/*
 * A run of a file's blocks that is consecutive both in the file and on the disk.
 * Arrays of them are sorted by lblk and do not overlap.
 */
struct fl_extent {
	fl_pblk pblk;	/* first physical block */
	fl_lblk lblk;	/* first logical block */
	uint32_t len;	/* blocks, > 0 */
	bool unwritten; /* allocated, reads as zeros (preallocation) */
};

static inline fl_pblk fl_run_end(struct fl_run run)
{
	return run.start + run.len;
}

/* One past the last logical block; 64 bits, because the last legal block + 1 needs them. */
static inline uint64_t fl_extent_lend(const struct fl_extent *extent)
{
	return (uint64_t)extent->lblk + extent->len;
}

/* One past the last physical block. */
static inline fl_pblk fl_extent_pend(const struct fl_extent *extent)
{
	return extent->pblk + extent->len;
}

#if defined(__GNUC__)
#define FL_CHECKED __attribute__((warn_unused_result))
#define FL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define FL_CHECKED
#define FL_PRINTF(fmt, args)
#endif

#endif
