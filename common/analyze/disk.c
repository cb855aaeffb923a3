/* SPDX-License-Identifier: MIT */
/*
 * The host's queue before a disk: issues I/Os as slots and rate allow, and puts the times of the
 * models together, event by event, those of an array's cache too. How long an access takes is up to
 * the models.
 */
#include <fraglab/disk.h>

#include <stdlib.h>
#include <string.h>
#include "disks.h"

static const char *const names[FL_DISK_MODELS] = {
	[FL_DISK_NONE] = "none",     [FL_DISK_HDD7200] = "hdd7200", [FL_DISK_RAID5] = "raid5",
	[FL_DISK_HDD15K] = "hdd15k", [FL_DISK_SSD] = "ssd",
};

const char *fl_disk_name(enum fl_disk_model model)
{
	return names[model];
}

bool fl_disk_find(const char *name, enum fl_disk_model *model)
{
	for (unsigned int i = 0; i < FL_DISK_MODELS; i++) {
		if (!strcmp(name, names[i])) {
			*model = (enum fl_disk_model)i;
			return true;
		}
	}
	return false;
}

/* An I/O in flight. */
struct slot {
	bool busy;
	struct fl_disk_io io;
	uint64_t done_ns;	       /* flash, cache: known from the start; else NEVER */
	uint32_t waiting;	       /* accesses that are not done */
	struct raid_accesses accesses; /* of an array */
	bool later_issued;
	uint64_t wants_room; /* a write that the cache has no room for: its number; 0: none */
	uint64_t lines;	     /* destaged: those of the stripe */
};

/* Stripes on their way from the cache to the disks at a time: what SATA's queues hold. */
#define DESTAGED 32u

struct fl_disk {
	struct fl_disk_options options;
	fl_disk_done done;
	void *context;
	struct rotating *spindles[RAID5_DISKS];
	uint32_t spindle_count;
	struct flash flash;
	struct cache *cache; /* NULL: none */
	uint64_t cache_free; /* when its link is */
	struct slot *slots;  /* queue_depth of the host's, then DESTAGED of the cache's */
	uint32_t slot_count;
	uint32_t busy[2];     /* reads, writes in flight */
	uint64_t room_wanted; /* writes that found none, so far */
	uint64_t now, bytes, ios, last_issue, last_issue_of[2], ios_of[2];
};

int fl_disk_new(const struct fl_disk_options *options, fl_disk_done done, void *context,
		struct fl_disk **out)
{
	struct fl_disk *disk;
	uint32_t spindles = 0;

	if ((unsigned int)options->model >= FL_DISK_MODELS || options->model == FL_DISK_NONE ||
	    options->queue_depth > FL_DISK_QUEUE_MOST ||
	    options->write_cache_bytes > FL_DISK_CACHE_MOST ||
	    (options->write_cache_bytes && options->model != FL_DISK_RAID5))
		return FL_EINVAL;
	disk = calloc(1, sizeof(*disk));
	if (!disk)
		return FL_ENOMEM;
	disk->options = *options;
	if (!disk->options.queue_depth)
		disk->options.queue_depth = FL_DISK_QUEUE;
	disk->done = done;
	disk->context = context;
	disk->slot_count = disk->options.queue_depth + (options->write_cache_bytes ? DESTAGED : 0);
	disk->slots = calloc(disk->slot_count, sizeof(*disk->slots));
	if (!disk->slots)
		goto no_memory;
	if (options->write_cache_bytes && fl_cache_new(options->write_cache_bytes, &disk->cache))
		goto no_memory;
	if (options->model != FL_DISK_SSD)
		spindles = options->model == FL_DISK_RAID5 ? RAID5_DISKS : 1;
	for (; disk->spindle_count < spindles; disk->spindle_count++)
		if (fl_rotating_new(options->model == FL_DISK_HDD15K ? FL_DISK_HDD15K
								     : FL_DISK_HDD7200,
				    &disk->spindles[disk->spindle_count]))
			goto no_memory;
	*out = disk;
	return 0;
no_memory:
	fl_disk_free(disk);
	return FL_ENOMEM;
}

void fl_disk_free(struct fl_disk *disk)
{
	if (!disk)
		return;
	for (uint32_t i = 0; i < disk->spindle_count; i++)
		fl_rotating_free(disk->spindles[i]);
	for (uint32_t i = 0; disk->slots && i < disk->slot_count; i++)
		fl_array_free(&disk->slots[i].accesses);
	fl_cache_free(disk->cache);
	free(disk->slots);
	free(disk);
}

static void complete(struct fl_disk *disk, struct slot *slot)
{
	slot->io.latency_ns = disk->now - slot->io.issued_ns;
	slot->busy = false;
	disk->busy[slot->io.io.write]--;
	disk->done(disk->context, &slot->io);
}

/* Queues the accesses of an array's I/O whose turn it is. */
static int queue_accesses(struct fl_disk *disk, uint32_t number, bool later)
{
	struct slot *slot = &disk->slots[number];
	int error = 0;

	slot->later_issued = later;
	/* Counted first: none of them can be done before all are queued. */
	for (size_t i = 0; i < slot->accesses.count; i++)
		slot->waiting += slot->accesses.at[i].later == later;
	for (size_t i = 0; i < slot->accesses.count && !error; i++) {
		const struct raid_access *item = &slot->accesses.at[i];
		struct access access = {item->lbn, item->sectors, number, item->write};

		if (item->later == later)
			error = fl_rotating_queue(disk->spindles[item->disk], &access, disk->now);
	}
	return error;
}

/* The accesses of a slot are known: the first of them begin. */
static int queue_first(struct fl_disk *disk, uint32_t number)
{
	int error = queue_accesses(disk, number, false);

	if (!error && !disk->slots[number].waiting)
		error = queue_accesses(disk, number, true);
	return error;
}

/* Over the controller's link, to its memory or from it. */
static void pass_link(struct fl_disk *disk, struct slot *slot)
{
	uint64_t bytes = (uint64_t)slot->io.io.sectors * FL_SECTOR_BYTES;

	disk->cache_free =
		fl_max(disk->cache_free, disk->now) + bytes * 1000 / FL_DISK_CACHE_BYTES_A_US;
	slot->done_ns = disk->cache_free + FL_DISK_CACHE_COMMAND_NS;
}

/* Writes that waited for room go in, in their order, as many as there is room for. */
static int admit(struct fl_disk *disk)
{
	for (;;) {
		struct slot *first = NULL;
		int error;

		for (uint32_t i = 0; i < disk->options.queue_depth; i++)
			if (disk->slots[i].wants_room &&
			    (!first || disk->slots[i].wants_room < first->wants_room))
				first = &disk->slots[i];
		if (!first || !fl_cache_has_room(disk->cache, &first->io.io))
			return 0;
		first->wants_room = 0;
		pass_link(disk, first);
		error = fl_cache_add(disk->cache, &first->io.io);
		if (error)
			return error;
	}
}

/* Stripes leave the cache when the host has nothing to do, or there is little room left. */
static int destage(struct fl_disk *disk)
{
	bool idle = !disk->busy[0] && !disk->busy[1];

	for (uint32_t i = disk->options.queue_depth; i < disk->slot_count; i++) {
		struct slot *slot = &disk->slots[i];
		uint64_t stripe;
		int error;

		if (slot->busy)
			continue;
		if ((!idle && !fl_cache_pressed(disk->cache)) ||
		    !fl_cache_destage(disk->cache, &stripe, &slot->lines))
			return 0;
		slot->busy = true;
		slot->done_ns = NEVER;
		slot->waiting = 0;
		slot->accesses.count = 0;
		error = fl_raid5_write(stripe, slot->lines, &slot->accesses);
		if (!error)
			error = queue_first(disk, i);
		if (error)
			return error;
	}
	return 0;
}

/* After every event: what it makes room for. */
static int serve_cache(struct fl_disk *disk)
{
	int error = disk->cache ? admit(disk) : 0;

	return error || !disk->cache ? error : destage(disk);
}

static int start(struct fl_disk *disk, uint32_t number)
{
	struct slot *slot = &disk->slots[number];
	const struct fl_io *io = &slot->io.io;
	int error;

	slot->done_ns = NEVER;
	slot->waiting = 0;
	slot->accesses.count = 0;
	if (disk->options.model == FL_DISK_SSD) {
		slot->done_ns = fl_flash_time(&disk->flash, io, disk->now);
		return 0;
	}
	if (disk->options.model != FL_DISK_RAID5) {
		struct access access = {io->lbn, io->sectors, number, io->write};

		slot->waiting = 1;
		return fl_rotating_queue(disk->spindles[0], &access, disk->now);
	}
	if (disk->cache && io->write) {
		slot->wants_room = ++disk->room_wanted;
		return serve_cache(disk);
	}
	if (disk->cache && fl_cache_holds(disk->cache, io)) {
		pass_link(disk, slot);
		return 0;
	}
	error = fl_raid5_split(io, &slot->accesses);
	return error ? error : queue_first(disk, number);
}

/* The next moment at which something is done: of spindle *which, or of slot *which. */
static uint64_t next_event(const struct fl_disk *disk, uint32_t *which, bool *of_slot)
{
	uint64_t first = NEVER, at;

	for (uint32_t i = 0; i < disk->spindle_count; i++) {
		at = fl_rotating_next(disk->spindles[i]);
		if (at < first) {
			first = at;
			*which = i;
			*of_slot = false;
		}
	}
	if (disk->spindle_count && !disk->cache)
		return first;
	for (uint32_t i = 0; i < disk->options.queue_depth; i++)
		if (disk->slots[i].busy && disk->slots[i].done_ns < first) {
			first = disk->slots[i].done_ns;
			*which = i;
			*of_slot = true;
		}
	return first;
}

/* The access at hand of a spindle is over; with its last one a slot is, too. */
static int end_access(struct fl_disk *disk, uint32_t spindle)
{
	struct access access;
	struct slot *slot;

	fl_rotating_step(disk->spindles[spindle], &access);
	slot = &disk->slots[access.slot];
	if (--slot->waiting)
		return 0;
	if (slot->accesses.count && !slot->later_issued) {
		int error = queue_accesses(disk, access.slot, true);

		if (error || slot->waiting)
			return error;
	}
	if (access.slot < disk->options.queue_depth) {
		complete(disk, slot);
	} else {
		slot->busy = false;
		fl_cache_clean(disk->cache, slot->lines);
	}
	return 0;
}

/* Goes on to the next event; until: but not past it. */
static int step(struct fl_disk *disk, uint64_t until)
{
	uint32_t which = 0;
	bool of_slot = false;
	uint64_t at = next_event(disk, &which, &of_slot);
	int error = 0;

	if (at > until) {
		disk->now = until;
		return 0;
	}
	disk->now = at;
	if (of_slot)
		complete(disk, &disk->slots[which]);
	else
		error = end_access(disk, which);
	return error ? error : serve_cache(disk);
}

static void note_issue(struct fl_disk *disk, struct fl_disk_io *record, const struct fl_io *io)
{
	bool write = io->write;

	disk->busy[write]++;
	*record = (struct fl_disk_io){
		.io = *io,
		.issued_ns = disk->now,
		.interarrival_ns = disk->ios ? disk->now - disk->last_issue : 0,
		.interarrival_same_ns =
			disk->ios_of[write] ? disk->now - disk->last_issue_of[write] : 0,
		.outstanding = disk->busy[0] + disk->busy[1],
		.outstanding_same = disk->busy[write],
	};
	disk->ios++;
	disk->ios_of[write]++;
	disk->last_issue = disk->now;
	disk->last_issue_of[write] = disk->now;
	disk->bytes += (uint64_t)io->sectors * FL_SECTOR_BYTES;
}

/* When a rate lets the next I/O go; with bursts, when that of its burst's first byte does. */
static uint64_t due_ns(const struct fl_disk *disk)
{
	uint64_t rate = disk->options.bytes_per_second, bytes = disk->bytes;

	if (!rate)
		return 0;
	if (disk->options.burst_bytes)
		bytes -= bytes % disk->options.burst_bytes;
	return bytes / rate * 1000000000 + bytes % rate * 1000 / rate * 1000000;
}

int fl_disk_submit(struct fl_disk *disk, const struct fl_io *io)
{
	uint64_t due = due_ns(disk);
	uint32_t number = 0;
	int error = 0;

	while (!error && disk->now < due)
		error = step(disk, due);
	while (!error && disk->busy[0] + disk->busy[1] == disk->options.queue_depth)
		error = step(disk, NEVER);
	if (error)
		return error;
	while (disk->slots[number].busy)
		number++;
	disk->slots[number].busy = true;
	note_issue(disk, &disk->slots[number].io, io);
	return start(disk, number);
}

int fl_disk_finish(struct fl_disk *disk, uint64_t *total_ns)
{
	int error = 0;

	while (!error && disk->busy[0] + disk->busy[1])
		error = step(disk, NEVER);
	if (!error)
		*total_ns = disk->now;
	return error;
}
