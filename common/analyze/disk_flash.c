/* SPDX-License-Identifier: MIT */
/*
 * Flash: a command, pages on parallel channels, one link. Has no head and no seek; the numbers'
 * sources are in disk.h.
 */
#include "disks.h"

#define COMMAND_NS 20000u
#define READ_NS 60000u
#define PROGRAM_NS 150000u
#define PAGE_SECTORS 32u /* 16 KiB */
#define LINK_BYTES_A_US 550u
#define BUFFER_NS 10000000u /* of programming may be waiting in the drive's memory */

static uint64_t transfer(struct flash *flash, uint64_t ready, uint64_t sectors)
{
	uint64_t ns = sectors * FL_SECTOR_BYTES * 1000 / LINK_BYTES_A_US;

	flash->link_free = fl_max(flash->link_free, ready) + ns;
	return flash->link_free;
}

uint64_t fl_flash_time(struct flash *flash, const struct fl_io *io, uint64_t now)
{
	uint64_t begin = fl_max(now, flash->controller_free) + COMMAND_NS, end = begin;
	uint64_t first = io->lbn / PAGE_SECTORS;
	uint64_t last = (io->lbn + io->sectors - 1) / PAGE_SECTORS;

	flash->controller_free = begin;
	if (io->write)
		end = transfer(flash, begin, io->sectors);
	for (uint64_t page = first; page <= last; page++) {
		uint64_t *channel = &flash->channel_free[page % FLASH_CHANNELS];
		uint64_t from = fl_max(page * PAGE_SECTORS, io->lbn);
		uint64_t to = fl_min((page + 1) * PAGE_SECTORS, io->lbn + io->sectors);

		if (io->write) {
			*channel = fl_max(*channel, end) + PROGRAM_NS;
			/* A full memory makes the host wait. */
			if (*channel > end + BUFFER_NS)
				end = *channel - BUFFER_NS;
		} else {
			*channel = fl_max(*channel, begin) + READ_NS;
			end = fl_max(end, transfer(flash, *channel, to - from));
		}
	}
	return end;
}
