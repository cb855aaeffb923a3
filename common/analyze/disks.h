/* SPDX-License-Identifier: MIT */
/*
 * The parts of the disk models: the queue of the host (disk.c), a rotating disk (disk_rotating.c),
 * the array (disk_raid5.c) and its cache (disk_cache.c), flash (disk_flash.c). Private to
 * common/analyze.
 */
#ifndef FRAGLAB_ANALYZE_DISKS_H
#define FRAGLAB_ANALYZE_DISKS_H

#include <fraglab/disk.h>

#define NEVER UINT64_MAX

/* One access of one rotating disk; part of the host's I/O in a slot. */
struct access {
	uint64_t lbn;
	uint32_t sectors;
	uint32_t slot;
	bool write;
};

struct accesses {
	FL_ARRAY(struct access);
};

/* --- disk_rotating.c --- */

struct rotating;

/* model: FL_DISK_HDD7200 or FL_DISK_HDD15K. */
int fl_rotating_new(enum fl_disk_model model, struct rotating **disk) FL_CHECKED;
void fl_rotating_free(struct rotating *disk);
/* Queues an access; an idle disk begins at once. */
int fl_rotating_queue(struct rotating *disk, const struct access *access, uint64_t now) FL_CHECKED;
/* When the access at hand is done; NEVER: idle. */
uint64_t fl_rotating_next(const struct rotating *disk);
/* It is that time: *done is over, the next access begins. */
void fl_rotating_step(struct rotating *disk, struct access *done);

/* --- disk_raid5.c --- */

#define RAID5_DISKS 4u

/* An access and the disk of the array it goes to. */
struct raid_access {
	uint32_t disk;
	bool later; /* only once the accesses that are not are done (it needs what they read) */
	uint64_t lbn;
	uint32_t sectors;
	bool write;
};

struct raid_accesses {
	FL_ARRAY(struct raid_access);
};

#define RAID5_UNIT_SECTORS 128u /* 64 KiB */
#define RAID5_STRIPE_SECTORS ((uint64_t)RAID5_UNIT_SECTORS * (RAID5_DISKS - 1))

/* Appends what one I/O makes the disks do. */
int fl_raid5_split(const struct fl_io *io, struct raid_accesses *accesses) FL_CHECKED;
/*
 * Appends what writing the lines of a stripe takes; bit i is line i. A unit is written from its
 * first line to its last: what lies between was read for the parity's sake.
 */
int fl_raid5_write(uint64_t stripe, uint64_t lines, struct raid_accesses *accesses) FL_CHECKED;

/* --- disk_cache.c --- */

#define CACHE_LINE_SECTORS 8u
#define CACHE_LINE_BYTES (CACHE_LINE_SECTORS * FL_SECTOR_BYTES)
_Static_assert(RAID5_STRIPE_SECTORS / CACHE_LINE_SECTORS < 64, "a stripe's lines fit a word");

struct cache;

int fl_cache_new(uint64_t bytes, struct cache **cache) FL_CHECKED;
void fl_cache_free(struct cache *cache);
/* All of the I/O is dirty: a read that needs no disk. */
bool fl_cache_holds(struct cache *cache, const struct fl_io *io);
bool fl_cache_has_room(struct cache *cache, const struct fl_io *io);
/* A write that there is room for. */
int fl_cache_add(struct cache *cache, const struct fl_io *io) FL_CHECKED;
/* So full that it must be emptied even while the host is busy. */
bool fl_cache_pressed(const struct cache *cache);
/* The stripe to write next, and its lines; they keep their room until they are clean. */
bool fl_cache_destage(struct cache *cache, uint64_t *stripe, uint64_t *lines);
void fl_cache_clean(struct cache *cache, uint64_t lines);

/* --- disk_flash.c --- */

#define FLASH_CHANNELS 8u

struct flash {
	uint64_t controller_free, link_free;
	uint64_t channel_free[FLASH_CHANNELS];
};

/* When an I/O that is issued now will be done. */
uint64_t fl_flash_time(struct flash *flash, const struct fl_io *io, uint64_t now);

#endif
