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
 * hdd7200  Seagate Barracuda 7200.12, 1 TB (ST31000528AS, product manual 100529369): 7,200 rpm;
 *          seeks 8.5 ms on average, 1.0 track to track, writes 1.0 and 0.2 more; 125 MB/s at the
 *          outside. Half of that at the inside, and 17 ms for the full stroke (twice the average,
 *          as in the disks of the paper below), are assumed.
 * hdd15k   Seagate Cheetah 15K.7, 600 GB (ST3600057SS, product manual 100516226): 15,000 rpm;
 *          3.4 ms on average, 0.2 track to track, writes 0.5 and 0.24 more; 204 MB/s outside,
 *          122 inside; full stroke assumed 6.8 ms.
 *          Curve of both: a + b sqrt(d) up to a fifth of the stroke, c + e d beyond, as Ruemmler
 *          and Wilkes fitted it (An introduction to disk drive modeling, Computer 27(3), 1994:
 *          383 of 1,962 cylinders); a, b, c, e follow from the three seek times. 16 zones. The
 *          switch of heads and of neighbouring tracks is hidden by skew.
 * raid5    Four hdd7200, 64 KiB a disk and stripe (a common default of controllers and mdadm's
 *          before 512), parity rotated left-symmetrically, no write-back cache. A write that
 *          fills a stripe writes data and parity; else old data and parity, or the rest of the
 *          stripe, is read first, whichever is less (Chen et al., RAID, ACM Surveys 26(2), 1994).
 * ssd      A SATA drive: 550 MB/s link, 8 channels of NAND with pages of 16 KiB, 60 us a read,
 *          20 us of controller a command; writes end in the drive's memory while a channel takes
 *          150 us a page (pages of two planes). Typical of TLC drives, no certain one. No seek;
 *          a fragment costs a command and, below 16 KiB, a page (see also SOSP'21: throughput by
 *          fragment size flattens at the request's 128 KiB).
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

/* 0 is every field's default. */
struct fl_disk_options {
	enum fl_disk_model model;
	uint32_t queue_depth;	   /* I/Os in flight at most, up to FL_DISK_QUEUE_MOST; 32 */
	uint64_t bytes_per_second; /* what the program makes or takes at most; 0: no limit */
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

/* FL_EINVAL: no such model, FL_DISK_NONE, or too deep a queue. FL_ENOMEM. */
int fl_disk_new(const struct fl_disk_options *options, fl_disk_done done, void *context,
		struct fl_disk **disk) FL_CHECKED;
/* NULL is legal. */
void fl_disk_free(struct fl_disk *disk);

/* Issues the next I/O, as soon as there is room in the queue. FL_ENOMEM. */
int fl_disk_submit(struct fl_disk *disk, const struct fl_io *io) FL_CHECKED;
/* Lets all that is in flight complete; *total_ns is when the last one was done. FL_ENOMEM. */
int fl_disk_finish(struct fl_disk *disk, uint64_t *total_ns) FL_CHECKED;

#endif
