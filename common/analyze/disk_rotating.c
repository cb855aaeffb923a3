/* SPDX-License-Identifier: MIT */
/*
 * A rotating disk: zones, seek curve, rotation, and the choice among what is queued. Knows
 * nothing of hosts and arrays; the numbers' sources are in disk.h.
 */
#include <stdlib.h>
#include <string.h>
#include "disks.h"

#define ZONES 16u
#define STARVING_NS UINT64_C(500000000)

struct make {
	uint64_t sectors, revolution_ns;
	uint64_t outer_bytes_a_ms, inner_bytes_a_ms;
	uint32_t heads;
	uint64_t track_ns, average_ns, full_ns; /* seeks for reads */
	uint64_t write_track_ns, write_more_ns; /* what writes take more: of one track; of others */
};

static const struct make makes[FL_DISK_MODELS] = {
	[FL_DISK_HDD7200] = {1953525168, 8333333, 119400, 61500, 8, 230000, 7500000, 17060000,
			     210000, 1000000},
	[FL_DISK_HDD15K] = {1172123568, 4000000, 204000, 122000, 8, 200000, 3400000, 6600000,
			    240000, 500000},
};

struct zone {
	uint64_t first; /* sector */
	uint64_t first_cylinder;
	uint32_t track_sectors;
};

struct queued {
	struct access access;
	uint64_t since, cylinder, angle_ns; /* angle: when, in a revolution, its start passes */
};

struct rotating {
	const struct make *make;
	struct zone zones[ZONES];
	uint64_t cylinders;
	uint32_t *seek_ns; /* by distance in cylinders */
	FL_ARRAY(struct queued) queue;
	struct queued current;
	uint64_t done_ns;  /* of the current access; NEVER: idle */
	uint64_t cylinder; /* where the head is */
	uint64_t next_lbn; /* what passes under it next */
};

static uint64_t root(uint64_t value)
{
	uint64_t result = 0;

	for (uint64_t bit = (uint64_t)1 << 62; bit; bit >>= 2) {
		if (value >= result + bit) {
			value -= result + bit;
			result = (result >> 1) + bit;
		} else {
			result >>= 1;
		}
	}
	return result;
}

/* Zones of as many cylinders each, their rates in even steps, as many as hold the sectors. */
static void make_zones(struct rotating *disk)
{
	const struct make *make = disk->make;
	uint64_t total = 0, sector = 0, each;

	for (uint32_t i = 0; i < ZONES; i++) {
		uint64_t rate = make->outer_bytes_a_ms -
				(make->outer_bytes_a_ms - make->inner_bytes_a_ms) * i / (ZONES - 1);

		disk->zones[i].track_sectors =
			(uint32_t)(rate * make->revolution_ns / 1000000 / FL_SECTOR_BYTES);
		total += disk->zones[i].track_sectors;
	}
	each = fl_div_up(make->sectors, total * make->heads);
	disk->cylinders = each * ZONES;
	for (uint32_t i = 0; i < ZONES; i++) {
		disk->zones[i].first = sector;
		disk->zones[i].first_cylinder = i * each;
		sector += each * make->heads * disk->zones[i].track_sectors;
	}
}

/*
 * a + b sqrt(d) to a fifth of the stroke, c + e d beyond. The curve meets itself there at the
 * height that makes the mean over all pairs of cylinders, which are d apart 2 (1 - d) times (d of
 * the whole stroke), the published one: 0.376 track + 1.984 knee + 0.64 full = 3 average.
 */
static int make_curve(struct rotating *disk)
{
	const struct make *make = disk->make;
	uint64_t knee = disk->cylinders / 5, rest = disk->cylinders - knee;
	uint64_t at_knee =
		(3000 * make->average_ns - 376 * make->track_ns - 640 * make->full_ns) / 1984;

	disk->seek_ns = fl_alloc(disk->cylinders, sizeof(*disk->seek_ns));
	if (!disk->seek_ns)
		return FL_ENOMEM;
	disk->seek_ns[0] = 0;
	for (uint64_t d = 1; d < disk->cylinders; d++) {
		uint64_t ns;

		if (d < knee)
			ns = make->track_ns +
			     (at_knee - make->track_ns) * root(d << 20) / root(knee << 20);
		else
			ns = at_knee + (make->full_ns - at_knee) * (d - knee) / rest;
		disk->seek_ns[d] = (uint32_t)ns;
	}
	return 0;
}

int fl_rotating_new(enum fl_disk_model model, struct rotating **out)
{
	struct rotating *disk = calloc(1, sizeof(*disk));

	if (!disk)
		return FL_ENOMEM;
	disk->make = &makes[model];
	disk->done_ns = NEVER;
	make_zones(disk);
	if (make_curve(disk)) {
		fl_rotating_free(disk);
		return FL_ENOMEM;
	}
	*out = disk;
	return 0;
}

void fl_rotating_free(struct rotating *disk)
{
	if (!disk)
		return;
	fl_array_free(&disk->queue);
	free(disk->seek_ns);
	free(disk);
}

static const struct zone *zone_of(const struct rotating *disk, uint64_t lbn)
{
	uint32_t i = ZONES - 1;

	while (i && disk->zones[i].first > lbn)
		i--;
	return &disk->zones[i];
}

/* Larger images than the disk go on at its beginning: seeks stay bounded. */
static void locate(const struct rotating *disk, struct queued *item)
{
	uint64_t lbn = item->access.lbn % disk->make->sectors;
	const struct zone *zone = zone_of(disk, lbn);
	uint64_t inside = lbn - zone->first;

	item->cylinder = zone->first_cylinder + inside / zone->track_sectors / disk->make->heads;
	item->angle_ns =
		inside % zone->track_sectors * disk->make->revolution_ns / zone->track_sectors;
}

/* From now until the first sector is under the head. */
static uint64_t positioning(const struct rotating *disk, const struct queued *item, uint64_t now)
{
	uint64_t revolution = disk->make->revolution_ns, distance, seek;

	if (item->access.lbn == disk->next_lbn)
		return 0;
	distance = item->cylinder > disk->cylinder ? item->cylinder - disk->cylinder
						   : disk->cylinder - item->cylinder;
	seek = disk->seek_ns[distance];
	if (item->access.write)
		seek += distance > 1   ? disk->make->write_more_ns
			: distance > 0 ? disk->make->write_track_ns
				       : 0;
	return seek + (item->angle_ns + revolution - (now + seek) % revolution) % revolution;
}

/* Takes the access that can begin first, unless one has waited too long. */
static void begin(struct rotating *disk, uint64_t now)
{
	size_t best = 0, oldest = 0;
	uint64_t least = NEVER, wait;

	if (!disk->queue.count) {
		disk->done_ns = NEVER;
		return;
	}
	for (size_t i = 0; i < disk->queue.count; i++) {
		uint64_t cost = positioning(disk, &disk->queue.at[i], now);

		if (cost < least) {
			least = cost;
			best = i;
		}
		if (disk->queue.at[i].since < disk->queue.at[oldest].since)
			oldest = i;
	}
	if (now - disk->queue.at[oldest].since > STARVING_NS)
		best = oldest;
	disk->current = disk->queue.at[best];
	disk->queue.count--;
	memmove(disk->queue.at + best, disk->queue.at + best + 1,
		(disk->queue.count - best) * sizeof(*disk->queue.at));
	wait = positioning(disk, &disk->current, now);
	disk->done_ns = now + wait +
			disk->current.access.sectors * disk->make->revolution_ns /
				zone_of(disk, disk->current.access.lbn % disk->make->sectors)
					->track_sectors;
}

int fl_rotating_queue(struct rotating *disk, const struct access *access, uint64_t now)
{
	struct queued item = {.access = *access, .since = now};

	locate(disk, &item);
	if (fl_array_push(&disk->queue, item))
		return FL_ENOMEM;
	if (disk->done_ns == NEVER)
		begin(disk, now);
	return 0;
}

uint64_t fl_rotating_next(const struct rotating *disk)
{
	return disk->done_ns;
}

void fl_rotating_step(struct rotating *disk, struct access *done)
{
	struct queued end = disk->current;
	uint64_t now = disk->done_ns;

	*done = disk->current.access;
	disk->next_lbn = done->lbn + done->sectors;
	end.access.lbn = disk->next_lbn;
	locate(disk, &end);
	disk->cylinder = end.cylinder;
	begin(disk, now);
}
