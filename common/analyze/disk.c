/* SPDX-License-Identifier: MIT */
/*
 * The host's queue before a disk: issues I/Os as slots and rate allow, and puts the times of the
 * models together, event by event. How long an access takes is up to the models.
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
	uint64_t done_ns;	       /* flash: known from the start; else NEVER */
	uint32_t waiting;	       /* accesses that are not done */
	struct raid_accesses accesses; /* of an array */
	bool later_issued;
};

struct fl_disk {
	struct fl_disk_options options;
	fl_disk_done done;
	void *context;
	struct rotating *spindles[RAID5_DISKS];
	uint32_t spindle_count;
	struct flash flash;
	struct slot *slots;
	uint32_t busy[2]; /* reads, writes in flight */
	uint64_t now, bytes, ios, last_issue, last_issue_of[2], ios_of[2];
};

int fl_disk_new(const struct fl_disk_options *options, fl_disk_done done, void *context,
		struct fl_disk **out)
{
	struct fl_disk *disk;
	uint32_t spindles = 0;

	if ((unsigned int)options->model >= FL_DISK_MODELS || options->model == FL_DISK_NONE ||
	    options->queue_depth > FL_DISK_QUEUE_MOST)
		return FL_EINVAL;
	disk = calloc(1, sizeof(*disk));
	if (!disk)
		return FL_ENOMEM;
	disk->options = *options;
	if (!disk->options.queue_depth)
		disk->options.queue_depth = FL_DISK_QUEUE;
	disk->done = done;
	disk->context = context;
	disk->slots = calloc(disk->options.queue_depth, sizeof(*disk->slots));
	if (!disk->slots)
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
	for (uint32_t i = 0; disk->slots && i < disk->options.queue_depth; i++)
		fl_array_free(&disk->slots[i].accesses);
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
	error = fl_raid5_split(io, &slot->accesses);
	if (!error)
		error = queue_accesses(disk, number, false);
	if (!error && !slot->waiting)
		error = queue_accesses(disk, number, true);
	return error;
}

/* The next moment at which something is done: of spindle *which, or else of slot *which. */
static uint64_t next_event(const struct fl_disk *disk, uint32_t *which)
{
	uint64_t first = NEVER, at;

	for (uint32_t i = 0; i < disk->spindle_count; i++) {
		at = fl_rotating_next(disk->spindles[i]);
		if (at < first) {
			first = at;
			*which = i;
		}
	}
	for (uint32_t i = 0; !disk->spindle_count && i < disk->options.queue_depth; i++)
		if (disk->slots[i].busy && disk->slots[i].done_ns < first) {
			first = disk->slots[i].done_ns;
			*which = i;
		}
	return first;
}

/* Goes on to the next event; until: but not past it. */
static int step(struct fl_disk *disk, uint64_t until)
{
	struct access access;
	struct slot *slot;
	uint32_t which = 0;
	uint64_t at = next_event(disk, &which);

	if (at > until) {
		disk->now = until;
		return 0;
	}
	disk->now = at;
	if (!disk->spindle_count) {
		complete(disk, &disk->slots[which]);
		return 0;
	}
	fl_rotating_step(disk->spindles[which], &access);
	slot = &disk->slots[access.slot];
	if (--slot->waiting)
		return 0;
	if (slot->accesses.count && !slot->later_issued) {
		int error = queue_accesses(disk, access.slot, true);

		if (error || slot->waiting)
			return error;
	}
	complete(disk, slot);
	return 0;
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

int fl_disk_submit(struct fl_disk *disk, const struct fl_io *io)
{
	uint64_t rate = disk->options.bytes_per_second, due = 0;
	uint32_t number = 0;
	int error = 0;

	if (rate)
		due = disk->bytes / rate * 1000000000 + disk->bytes % rate * 1000 / rate * 1000000;
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
