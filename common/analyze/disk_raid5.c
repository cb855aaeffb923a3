/* SPDX-License-Identifier: MIT */
/*
 * RAID 5: from an I/O of the host to accesses of the disks. Only arithmetic; times are made in
 * disk_rotating.c.
 */
#include "disks.h"

#define DATA_DISKS (RAID5_DISKS - 1)

/* Left-symmetric: parity moves from the last disk down, data begins on the disk after it. */
static uint32_t parity_disk(uint64_t stripe)
{
	return (uint32_t)(DATA_DISKS - stripe % RAID5_DISKS);
}

static uint32_t data_disk(uint64_t stripe, uint32_t unit)
{
	return (parity_disk(stripe) + 1 + unit) % RAID5_DISKS;
}

struct stripe {
	uint64_t number;
	/* Part of each unit that the I/O covers: from .. to-1; to 0: none. */
	uint32_t from[DATA_DISKS], to[DATA_DISKS];
	bool holed[DATA_DISKS]; /* not all from .. to-1 is new */
	uint32_t low, high;	/* what parity has to cover: the parts' union, as one range */
	uint32_t parts, whole;
};

static int add(struct raid_accesses *accesses, const struct stripe *stripe, uint32_t disk,
	       uint32_t from, uint32_t to, bool write, bool later)
{
	struct raid_access access = {
		.disk = disk,
		.later = later,
		.lbn = stripe->number * RAID5_UNIT_SECTORS + from,
		.sectors = to - from,
		.write = write,
	};

	return fl_array_push(accesses, access);
}

static int read_stripe(const struct stripe *stripe, struct raid_accesses *accesses)
{
	int error = 0;

	for (uint32_t i = 0; i < DATA_DISKS && !error; i++)
		if (stripe->to[i])
			error = add(accesses, stripe, data_disk(stripe->number, i), stripe->from[i],
				    stripe->to[i], false, false);
	return error;
}

static int write_stripe(const struct stripe *stripe, struct raid_accesses *accesses)
{
	uint32_t parity = parity_disk(stripe->number);
	bool full = stripe->whole == DATA_DISKS;
	/* Reads to learn the parity: of what changes and of it, or of what does not change. */
	bool modify = stripe->parts + 1 <= DATA_DISKS - stripe->whole;
	int error = 0;

	for (uint32_t i = 0; i < DATA_DISKS && !full && !error; i++) {
		bool covered = stripe->to[i] && !stripe->holed[i] &&
			       stripe->from[i] <= stripe->low && stripe->to[i] >= stripe->high;
		uint32_t disk = data_disk(stripe->number, i);

		if (modify && stripe->to[i])
			error = add(accesses, stripe, disk, stripe->from[i], stripe->to[i], false,
				    false);
		else if (!modify && !covered)
			error = add(accesses, stripe, disk, stripe->low, stripe->high, false,
				    false);
	}
	if (!error && !full && modify)
		error = add(accesses, stripe, parity, stripe->low, stripe->high, false, false);
	for (uint32_t i = 0; i < DATA_DISKS && !error; i++)
		if (stripe->to[i])
			error = add(accesses, stripe, data_disk(stripe->number, i), stripe->from[i],
				    stripe->to[i], true, !full);
	return error ? error
		     : add(accesses, stripe, parity, stripe->low, stripe->high, true, !full);
}

int fl_raid5_split(const struct fl_io *io, struct raid_accesses *accesses)
{
	uint64_t at = io->lbn, end = io->lbn + io->sectors;
	int error = 0;

	while (at < end && !error) {
		struct stripe stripe = {.number = at / RAID5_STRIPE_SECTORS,
					.low = RAID5_UNIT_SECTORS};
		uint64_t first = stripe.number * RAID5_STRIPE_SECTORS;
		uint64_t stop = fl_min(end, first + RAID5_STRIPE_SECTORS);

		while (at < stop) {
			uint32_t unit = (uint32_t)((at - first) / RAID5_UNIT_SECTORS);
			uint32_t from = (uint32_t)((at - first) % RAID5_UNIT_SECTORS);
			uint32_t to = (uint32_t)fl_min(RAID5_UNIT_SECTORS, from + (stop - at));

			stripe.from[unit] = from;
			stripe.to[unit] = to;
			stripe.low = (uint32_t)fl_min(stripe.low, from);
			stripe.high = (uint32_t)fl_max(stripe.high, to);
			stripe.parts++;
			stripe.whole += to - from == RAID5_UNIT_SECTORS;
			at += to - from;
		}
		error = io->write ? write_stripe(&stripe, accesses)
				  : read_stripe(&stripe, accesses);
	}
	return error;
}

int fl_raid5_write(uint64_t number, uint64_t lines, struct raid_accesses *accesses)
{
	const uint32_t unit_lines = RAID5_UNIT_SECTORS / CACHE_LINE_SECTORS;
	struct stripe stripe = {.number = number, .low = RAID5_UNIT_SECTORS};

	for (uint32_t unit = 0; unit < DATA_DISKS; unit++) {
		uint64_t part = lines >> unit * unit_lines & (((uint64_t)1 << unit_lines) - 1);
		uint32_t first, end;

		if (!part)
			continue;
		first = (uint32_t)__builtin_ctzll(part);
		end = 64 - (uint32_t)__builtin_clzll(part);
		stripe.from[unit] = first * CACHE_LINE_SECTORS;
		stripe.to[unit] = end * CACHE_LINE_SECTORS;
		stripe.holed[unit] = (uint32_t)__builtin_popcountll(part) < end - first;
		stripe.low = (uint32_t)fl_min(stripe.low, stripe.from[unit]);
		stripe.high = (uint32_t)fl_max(stripe.high, stripe.to[unit]);
		stripe.parts++;
		stripe.whole += end - first == unit_lines && !stripe.holed[unit];
	}
	return write_stripe(&stripe, accesses);
}
