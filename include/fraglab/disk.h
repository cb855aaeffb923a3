/* SPDX-License-Identifier: MIT */
/*
 * Disk models: how long each I/O of a stream takes. Pure, deterministic, whole nanoseconds.
 *
 * A host keeps a queue of I/Os in flight (closed loop): the next I/O of the stream is issued the
 * moment a slot is free, or later when a rate limits the stream. So with a saturated disk the
 * latency is mostly waiting in the queue, as vscsiStats sees it on a busy host.
 *
 * Rotating disks pick from what is queued the access that can begin first (seek and rotation),
 * as NCQ and TCQ drives do, but take an access that waits for over half a second first. An access
 * that continues where the head is costs its transfer only (the drive reads ahead).
 *
 * hdd7200  Seagate Constellation.2, 1 TB (ST91000640SS and its SATA twin; product manual 100620418
 *          rev. H, 5.1 and 5.2): 7,200 rpm, 8 heads, 165,800 tracks a surface; seeks without the
 *          controller's overhead 7.5 ms on average, 0.23 single track, 17.06 full stroke, writes
 *          1.0, 0.21 and 1.02 more. The mean track follows from capacity, heads and tracks (754 KB,
 *          90.5 MB/s), and the zones' spread is that of the head's rate, 163 to 84 MB/s: 119.4 MB/s
 *          outside, 61.5 inside. Others of its kind: 8.5 ms (Hitachi 7K1000.C, 4.5.2.1), 83 to
 *          175 MB/s (Seagate Constellation ES.3, 4.1.2).
 * hdd15k   Seagate Cheetah 15K.7, 600 GB (ST3600057SS; product manual 100516226): 15,000 rpm, 204
 * to 122 MB/s (4.2.3). Seeks as commonly quoted for it, not looked up in the manual: 3.4 ms on
 *          average, 0.2 single track, 6.6 full stroke, writes 0.5 and 0.24 more; 8 heads.
 * (Hitachi's Ultrastar 15K450, 4.5.1: 3.3 ms on average, writes 3.8.) Curve of both: a + b sqrt(d)
 * up to a fifth of the stroke, c + e d beyond, as Ruemmler and Wilkes fitted it (An introduction to
 * disk drive modeling, Computer 27(3), 1994: 383 of 1,962 cylinders); a, b, c, e follow from the
 * three seek times. "Average" is the mean over all pairs of cylinders, as the manuals define it. 16
 * zones. The switch of heads and of neighbouring tracks is hidden by skew. raid5    Four hdd7200,
 * 64 KiB a disk and stripe (the default of LSI MegaRAID and so of Dell PERC), parity rotated
 * left-symmetrically. A write that fills a stripe writes data and parity; else old data and parity,
 * or the rest of the stripe, is read first, whichever is less (Chen et al., RAID, ACM Surveys
 * 26(2), 1994). Without write_cache_bytes the controller writes through. With it, it has a
 * battery-backed cache of that size and writes back: an I/O is done when the cache has taken it;
 * when it is full, writes wait in their order. It is emptied while the host has nothing in flight,
 * or when three quarters of it are in use (the policy of PERC 6: when activity is low or the buffer
 * approaches capacity, Dell Power Solutions, May 2008; the three quarters are assumed). Neighbours
 * are gathered to whole stripes and leave in order of their place, 32 stripes at a time (write
 * gathering, DEC RAID Array 3000, 2.5.2; coalescing and reordering, HP Smart Array technology, 4th
 * edition). 1,484 MB/s in and out (measured by Dell on PERC 6); 50 us a command are assumed (HP:
 * microseconds). A PERC 6 has 256 MiB, an HP P410 256 MiB to 1 GiB. A read of what is dirty is
 * served by the cache; the controller's read-ahead is not modelled. ssd      A SATA drive: 550 MB/s
 * link (Samsung's first of 3D TLC, 2014), 8 channels of NAND with pages of 16 KiB, 60 us a read, 20
 * us of controller a command; writes end in the drive's memory while a channel takes 150 us a page
 * (pages of two planes). No data sheet has the inner figures: typical of TLC drives, no certain
 * one. No seek; a fragment costs a command and, below 16 KiB, a page (see also SOSP'21: throughput
 * by fragment size flattens at the request's 128 KiB).
 *
 * The image lies at the beginning of the disk, on its outermost tracks, block 0 at LBN 0.
 */
#ifndef FRAGLAB_DISK_H
#define FRAGLAB_DISK_H

#include <fraglab/stream.h>

enum fl_disk_model {
	FL_DISK_NONE, /* no latencies */
	FL_DISK_HDD7200,
	FL_DISK_RAID5,
	FL_DISK_HDD15K,
	FL_DISK_SSD,
	FL_DISK_MODELS
};

/* "none", "hdd7200", "raid5", "hdd15k", "ssd". */
const char *fl_disk_name(enum fl_disk_model model);
/* False: no such model. */
bool fl_disk_find(const char *name, enum fl_disk_model *model);

#define FL_DISK_QUEUE 32u /* default depth, a host adapter's and NCQ's */
#define FL_DISK_QUEUE_MOST 1024u
#define FL_DISK_SLOW_US 30000 /* slow I/Os take longer */
#define FL_DISK_CACHE_MOST ((uint64_t)8 << 30)
#define FL_DISK_CACHE_BYTES_A_US 1484u
#define FL_DISK_CACHE_COMMAND_NS 50000u

/* 0 is every field's default. */
struct fl_disk_options {
	enum fl_disk_model model;
	uint32_t queue_depth;	   /* I/Os in flight at most, up to FL_DISK_QUEUE_MOST; 32 */
	uint64_t bytes_per_second; /* what the program makes or takes at most; 0: no limit */
	/* With a rate: so many bytes come at once, then a pause that keeps the rate; 0: evenly. */
	uint64_t burst_bytes;
	/* raid5: of the controller's write-back cache, at most FL_DISK_CACHE_MOST; 0: none. */
	uint64_t write_cache_bytes;
};

/* An I/O that is done. Times count from the start of the stream. */
struct fl_disk_io {
	struct fl_io io;
	uint64_t issued_ns, latency_ns;
	/* Since the I/O issued before, and the one before of the same kind; 0 for the first. */
	uint64_t interarrival_ns, interarrival_same_ns;
	/* In flight once it is issued, itself included: all, and those of the same kind. */
	uint32_t outstanding, outstanding_same;
};

/* Told of every I/O as it completes. */
typedef void (*fl_disk_done)(void *context, const struct fl_disk_io *io);

struct fl_disk;

/*
 * FL_EINVAL: no such model, FL_DISK_NONE, too deep a queue, a cache that is too large or not
 * before a raid5. FL_ENOMEM.
 */
int fl_disk_new(const struct fl_disk_options *options, fl_disk_done done, void *context,
		struct fl_disk **disk) FL_CHECKED;
/* NULL is legal. */
void fl_disk_free(struct fl_disk *disk);

/* Issues the next I/O, as soon as there is room in the queue. FL_ENOMEM. */
int fl_disk_submit(struct fl_disk *disk, const struct fl_io *io) FL_CHECKED;
/* Lets all that is in flight complete; *total_ns is when the last one was done. FL_ENOMEM. */
int fl_disk_finish(struct fl_disk *disk, uint64_t *total_ns) FL_CHECKED;

#endif
