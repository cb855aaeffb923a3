/* SPDX-License-Identifier: MIT */
/*
 * Streams of I/Os: what the disk under a filesystem would see while a workload
 * runs. Generated from a map, handed I/O by I/O to a consumer: no stream is stored.
 *
 * Modelled on Linux 6.x and measured against 6.18 by tests/kernel/blocktrace.sh; each parameter
 * below says what in the kernel it stands for. Where in the source:
 *
 * - windows: mm/readahead.c, get_init_ra_size and get_next_ra_size (times 4 up to a 32nd of the
 *   largest, times 2 up to a quarter, else the largest; then times 4 below a 16th, times 2);
 *   VM_READAHEAD_PAGES, 128 KiB, is read_ahead_kb's default.
 * - plugs: block/blk-merge.c, blk_attempt_plug_merge: a bio joins the last request of its queue at
 *   either end. A plug that holds 32 requests, or whose last one has 128 KiB
 * (BLK_MAX_REQUEST_COUNT, BLK_PLUG_FLUSH_SIZE in block/blk.h), is issued when one more comes; that
 * changes no request.
 * - the request limit: max_sectors_kb, by default BLK_DEF_MAX_SECTORS_CAP: 1,280 KiB, since Linux
 *   6.17 4 MiB, and what the device can.
 * - inodes: fs/ext4/inode.c, __ext4_get_inode_loc; EXT4_DEF_INODE_READAHEAD_BLKS, 32.
 * - writeback: MAX_WRITEPAGES_EXTENT_LEN, 2,048 blocks, in fs/ext4/inode.c; the wait for reserved
 *   credits in fs/jbd2/transaction.c, add_transaction_credits.
 *
 * Not modelled: an I/O scheduler. Requests leave as with "none", the default of devices with
 * several queues; mq-deadline, that of devices with one, sorts and merges what is waiting: an
 * install then had 11 to 22 % fewer seeks on an aged image and 37 to 65 % fewer on others. The
 * disk models choose among what is queued themselves.
 */
#ifndef FRAGLAB_STREAM_H
#define FRAGLAB_STREAM_H

#include <fraglab/map.h>

enum fl_workload {
	/*
	 * One process walks the tree in path order on a cold cache and reads every file whole
	 * with read(2): per entry its inode, then a directory's blocks or a file's mapping-tree
	 * blocks and data.
	 */
	FL_WORKLOAD_READ_ALL,
	FL_WORKLOAD_READ_INODE_ORDER, /* the same files by inode number */
	/* The same, each directory as the kernel lists it (fl_file.listing_rank): tar, cp, find. */
	FL_WORKLOAD_READ_DIRECTORY_ORDER,
	/*
	 * Writes a package's worth of new files and syncs: data in the order of their making,
	 * placed by the allocator model on the map's free blocks; then the journal's commit; then
	 * the metadata blocks at home, in disk order.
	 */
	FL_WORKLOAD_INSTALL,
	FL_WORKLOAD_RANDOM_8K, /* direct reads of 8 KiB at random places in the largest files */
	FL_WORKLOAD_SEQUENTIAL_512K, /* direct reads of 512 KiB through the largest files */
	FL_WORKLOAD_TRACE,	     /* recorded I/O: see trace.h */
	FL_WORKLOADS
};

/*
 * "read-all", "read-inode-order", "read-directory-order", "install", "random-8k",
 * "sequential-512k", "trace".
 */
const char *fl_workload_name(enum fl_workload workload);
/* False: no such workload. */
bool fl_workload_find(const char *name, enum fl_workload *workload);

struct fl_io {
	fl_lbn lbn;	  /* first 512-byte block */
	uint32_t sectors; /* length, > 0 */
	bool write;
};

struct fl_trace;

/* 0 is every field's default. */
struct fl_stream_options {
	/* Largest request; a multiple of the block size; default 512 KiB, as some hosts' adapters
	 * have it; the kernel's max_sectors_kb. */
	uint64_t max_io_bytes;
	/* Read-ahead window, a multiple of 4096; default 128 KiB, the kernel's read_ahead_kb.
	 * Buffered reads are never longer. */
	uint64_t readahead_bytes;
	/* Bytes that one read(2) asks for; default 128 KiB (cat, cp; tar has 10 KiB). Sets the
	 * first window: small reads begin with 32 or 64 KiB and double, large ones begin full. */
	uint64_t read_bytes;
	/* Inodes, directories and mapping trees are in memory: only the files' data is read. */
	bool data_only;
	/* For install (sizes) and random-8k (places). */
	uint64_t seed;
	/* install: bytes of the package; default 256 MiB, and at most half of what is free. */
	uint64_t install_bytes;
	/* install: bytes that the program makes a second; 0: as fast as can be. Sets how much is
	 * written back and committed at a time. */
	uint64_t install_rate;
	const struct fl_trace *trace; /* for FL_WORKLOAD_TRACE; borrowed */
};

#define FL_STREAM_PAGE_BYTES 4096u    /* the page size modelled */
#define FL_STREAM_INODE_READAHEAD 32u /* blocks of inode table; inode_readahead_blks */
#define FL_STREAM_LARGEST_FILES 8u    /* files that random-8k and sequential-512k use */
#define FL_STREAM_RANDOM_READS 8192u  /* reads that random-8k asks for */
/*
 * install: data between two journal commits, FL_STREAM_COMMIT_BYTES of them, or with a rate what is
 * made in the flusher's interval, which is ext4's for commits, too (vm.dirty_writeback_centisecs
 * 500, mount option commit=5). That data are written when they are vm.dirty_expire_centisecs, 30 s,
 * old delays the bursts and does not change them.
 */
#define FL_STREAM_COMMIT_BYTES ((uint64_t)128 << 20)
#define FL_STREAM_COMMIT_SECONDS 5u
uint64_t fl_stream_commit_bytes(const struct fl_stream_options *options);

/* Consumes one I/O; a non-zero result ends the stream and is returned. */
typedef int (*fl_io_sink)(void *context, const struct fl_io *io);

/*
 * Generates the stream.
 *
 * Buffered reads: each file goes through windows as ondemand read-ahead makes them (the first from
 * read_bytes, then doubled up to readahead_bytes; one page-aligned window after the other,
 * clipped at i_size). A window is one plug: neighbours on the disk become one request, also
 * across extents and holes; two windows never share a request. Holes and unwritten extents are
 * zeros without I/O. A mapping-tree block is read before the first block that needs it. An inode
 * brings up to 32 blocks of its table along, once. Blocks of a directory with several come one by
 * one in an order like that of hashes. Pinned but named files are read as well. Not modelled:
 * names without blocks of their own (empty files, fast symlinks), hard links beyond the first,
 * xattr blocks, group descriptors, memory pressure.
 *
 * Install writes and direct reads are documented in install.c and inside.c.
 *
 * FL_EINVAL: max_io_bytes is no multiple of the block size, or readahead_bytes none of the page; no
 * trace to replay;
 * FL_ENOMEM; what the sink returned.
 */
int fl_stream_run(const struct fl_map *map, enum fl_workload workload,
		  const struct fl_stream_options *options, fl_io_sink sink,
		  void *context) FL_CHECKED;

#endif
