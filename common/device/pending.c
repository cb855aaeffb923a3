/* SPDX-License-Identifier: MIT */
/*
 * Writes that wait in memory, a granule (4 KiB) at a time with a bit for each sector, so that
 * nothing goes down that was not written. Must not keep an order: there is one at flushes only.
 */
#include "common/device/pending.h"

#include <stdlib.h>
#include <string.h>

#include <fraglab/util.h>

#define SECTORS (FL_PENDING_GRANULE / FL_SECTOR_BYTES)
#define ALL_SECTORS ((1u << SECTORS) - 1)
#define BUFFER_BYTES (1u << 20)

/* What shall be written to a granule. fl_pages_zero() in its place: all of it reads as zeros. */
struct granule {
	uint32_t sectors; /* a bit for each that is to be written */
	uint8_t data[FL_PENDING_GRANULE];
};

/* The part of a range that lies in one granule. */
struct piece {
	uint64_t number;
	size_t offset, length; /* bytes in the granule */
	bool whole;	       /* all of the granule that is inside the device */
};

/* Bytes of a granule that are inside the device. */
static size_t granule_bytes(const struct fl_pending *pending, uint64_t number)
{
	return (size_t)fl_min(FL_PENDING_GRANULE,
			      pending->below->size_bytes - number * FL_PENDING_GRANULE);
}

static struct piece first_piece(const struct fl_pending *pending, uint64_t length,
				uint64_t position)
{
	struct piece piece = {.number = position / FL_PENDING_GRANULE,
			      .offset = (size_t)(position % FL_PENDING_GRANULE)};

	piece.length = (size_t)fl_min(length, FL_PENDING_GRANULE - piece.offset);
	piece.whole = !piece.offset && piece.length == granule_bytes(pending, piece.number);
	return piece;
}

static struct granule *granule_at(const struct fl_pending *pending, uint64_t number)
{
	return (struct granule *)(void *)fl_pages_get(&pending->granules, number);
}

static bool is_zero_mark(const struct granule *granule)
{
	return (const void *)granule == fl_pages_zero();
}

/* The memory of a granule, none of whose sectors need to be valid yet. */
static int own(struct fl_pending *pending, uint64_t number, struct granule **granule_out)
{
	uint8_t **slot = fl_pages_slot(&pending->granules, number);
	struct granule *granule;

	if (!slot)
		return FL_ENOMEM;
	if (!*slot || *slot == fl_pages_zero()) {
		granule = calloc(1, sizeof(*granule));
		if (!granule)
			return FL_ENOMEM;
		granule->sectors = *slot ? ALL_SECTORS : 0;
		*slot = (uint8_t *)granule;
		pending->bytes += sizeof(*granule);
	}
	*granule_out = (struct granule *)(void *)*slot;
	return 0;
}

/* Makes a sector valid that is to be written in part: with what it reads as now. */
static int complete(struct fl_pending *pending, struct granule *granule, uint64_t number,
		    size_t offset)
{
	size_t sector = offset / FL_SECTOR_BYTES, start = sector * FL_SECTOR_BYTES;
	size_t bytes = (size_t)fl_min(FL_SECTOR_BYTES, granule_bytes(pending, number) - start);
	int rc;

	if (granule->sectors >> sector & 1)
		return 0;
	rc = fl_device_read(pending->below, granule->data + start, bytes,
			    number * FL_PENDING_GRANULE + start);
	if (!rc)
		granule->sectors |= 1u << sector;
	return rc;
}

/* data NULL: zeros. */
static int put(struct fl_pending *pending, struct piece piece, const uint8_t *data)
{
	size_t end = piece.offset + piece.length;
	struct granule *granule;
	int rc = own(pending, piece.number, &granule);

	if (!rc && piece.offset % FL_SECTOR_BYTES)
		rc = complete(pending, granule, piece.number, piece.offset);
	if (!rc && end % FL_SECTOR_BYTES && end != granule_bytes(pending, piece.number))
		rc = complete(pending, granule, piece.number, end);
	if (rc)
		return rc;
	if (data)
		memcpy(granule->data + piece.offset, data, piece.length);
	else
		memset(granule->data + piece.offset, 0, piece.length);
	for (size_t at = piece.offset / FL_SECTOR_BYTES; at * FL_SECTOR_BYTES < end; at++)
		granule->sectors |= 1u << at;
	return 0;
}

static int put_zero_mark(struct fl_pending *pending, uint64_t number)
{
	uint8_t **slot = fl_pages_slot(&pending->granules, number);

	if (!slot)
		return FL_ENOMEM;
	if (*slot != fl_pages_zero()) {
		free(*slot);
		*slot = fl_pages_zero();
		pending->bytes += sizeof(*slot);
	}
	return 0;
}

/* Consecutive bytes on their way down. */
struct run {
	uint64_t position, length;
	bool zero;
};

static int send_run(struct fl_pending *pending, struct run *run)
{
	int rc = 0;

	if (run->length && run->zero)
		rc = fl_device_clear(pending->below, run->length, run->position);
	else if (run->length)
		rc = fl_device_write(pending->below, pending->buffer, (size_t)run->length,
				     run->position);
	run->length = 0;
	return rc;
}

/* data NULL: zeros. */
static int gather(struct fl_pending *pending, struct run *run, const uint8_t *data, size_t length,
		  uint64_t position)
{
	if (run->length && (run->zero != !data || run->position + run->length != position ||
			    (data && run->length + length > BUFFER_BYTES))) {
		int rc = send_run(pending, run);

		if (rc)
			return rc;
	}
	if (!run->length) {
		run->position = position;
		run->zero = !data;
	}
	if (data)
		memcpy(pending->buffer + run->length, data, length);
	run->length += length;
	return 0;
}

static int gather_granule(struct fl_pending *pending, struct run *run, uint64_t number)
{
	const struct granule *granule = granule_at(pending, number);
	size_t bytes = granule_bytes(pending, number);
	int rc = 0;

	if (is_zero_mark(granule))
		return gather(pending, run, NULL, bytes, number * FL_PENDING_GRANULE);
	for (size_t at = 0; at < bytes && !rc; at += FL_SECTOR_BYTES)
		if (granule->sectors >> at / FL_SECTOR_BYTES & 1)
			rc = gather(pending, run, granule->data + at,
				    (size_t)fl_min(FL_SECTOR_BYTES, bytes - at),
				    number * FL_PENDING_GRANULE + at);
	return rc;
}

int fl_pending_send(struct fl_pending *pending)
{
	struct run run = {0};
	uint64_t number = 0;
	int rc = 0;

	while (!rc && fl_pages_next(&pending->granules, number, &number))
		rc = gather_granule(pending, &run, number++);
	if (!rc)
		rc = send_run(pending, &run);
	/* What fails may be tried again: it stays. */
	if (!rc) {
		fl_pages_free(&pending->granules);
		pending->bytes = 0;
	}
	return rc;
}

static void read_granule(const struct granule *granule, struct piece piece, uint8_t *buffer)
{
	if (is_zero_mark(granule)) {
		memset(buffer, 0, piece.length);
		return;
	}
	for (size_t done = 0, part; done < piece.length; done += part) {
		size_t at = piece.offset + done;

		part = (size_t)fl_min(piece.length - done, FL_SECTOR_BYTES - at % FL_SECTOR_BYTES);
		if (granule->sectors >> at / FL_SECTOR_BYTES & 1)
			memcpy(buffer + done, granule->data + at, part);
	}
}

int fl_pending_init(struct fl_pending *pending, struct fl_device *below)
{
	pending->below = below;
	pending->bytes = 0;
	pending->buffer = malloc(BUFFER_BYTES);
	fl_pages_init(&pending->granules, fl_div_up(below->size_bytes, FL_PENDING_GRANULE));
	return pending->buffer ? 0 : FL_ENOMEM;
}

void fl_pending_free(struct fl_pending *pending)
{
	fl_pages_free(&pending->granules);
	free(pending->buffer);
	pending->buffer = NULL;
}

int fl_pending_read(const struct fl_pending *pending, void *buffer, size_t length,
		    uint64_t position)
{
	uint64_t number = position / FL_PENDING_GRANULE, end = position + length;
	int rc = fl_device_read(pending->below, buffer, length, position);

	while (!rc && fl_pages_next(&pending->granules, number, &number) &&
	       number * FL_PENDING_GRANULE < end) {
		uint64_t from = fl_max(position, number * FL_PENDING_GRANULE);

		read_granule(granule_at(pending, number), first_piece(pending, end - from, from),
			     (uint8_t *)buffer + (from - position));
		number++;
	}
	return rc;
}

int fl_pending_write(struct fl_pending *pending, const void *buffer, size_t length,
		     uint64_t position)
{
	const uint8_t *at = buffer;
	int rc = 0;

	while (length && !rc) {
		struct piece piece = first_piece(pending, length, position);

		rc = put(pending, piece, at);
		at += piece.length;
		length -= piece.length;
		position += piece.length;
	}
	return rc;
}

int fl_pending_clear(struct fl_pending *pending, uint64_t length, uint64_t position)
{
	int rc = 0;

	while (length && !rc) {
		struct piece piece = first_piece(pending, length, position);

		rc = piece.whole ? put_zero_mark(pending, piece.number) : put(pending, piece, NULL);
		length -= piece.length;
		position += piece.length;
	}
	return rc;
}

bool fl_pending_next(const struct fl_pending *pending, uint64_t position, uint64_t *start,
		     uint64_t *length)
{
	uint64_t number;

	if (!fl_pages_next(&pending->granules, position / FL_PENDING_GRANULE, &number))
		return false;
	*start = fl_max(position, number * FL_PENDING_GRANULE);
	*length = number * FL_PENDING_GRANULE + granule_bytes(pending, number) - *start;
	return true;
}
