/* SPDX-License-Identifier: MIT */
/*
 * A device whose writes stay in memory, over another one that is only read.
 * Must never write to, punch or flush the device below.
 */
#include <stdlib.h>
#include <string.h>

#include <fraglab/util.h>

#include "common/device/device_private.h"
#include "common/device/pages.h"

struct overlay {
	struct fl_device device;
	struct fl_device *below; /* borrowed; NULL: zeros */
	struct fl_pages pages;	 /* what was written; absent: as below */
};

/* The part of a range that lies in one page. */
struct piece {
	uint64_t page;
	size_t offset, length; /* bytes in the page */
	bool whole;	       /* all of the page that is inside the device */
};

static struct overlay *as_overlay(struct fl_device *device)
{
	return (struct overlay *)device; /* device is the first member */
}

static struct piece first_piece(const struct overlay *overlay, uint64_t length, uint64_t position)
{
	struct piece piece;

	piece.page = position / FL_PAGE_BYTES;
	piece.offset = (size_t)(position % FL_PAGE_BYTES);
	piece.length = (size_t)fl_min(length, FL_PAGE_BYTES - piece.offset);
	piece.whole = !piece.offset && (piece.length == FL_PAGE_BYTES ||
					piece.length == overlay->device.size_bytes - position);
	return piece;
}

/* How many of length bytes at position are in no page at all. */
static uint64_t absent_bytes(const struct overlay *overlay, uint64_t length, uint64_t position)
{
	uint64_t page;

	if (!fl_pages_next(&overlay->pages, position / FL_PAGE_BYTES, &page))
		return length;
	page *= FL_PAGE_BYTES;
	return page <= position ? 0 : fl_min(length, page - position);
}

static int read_below(const struct overlay *overlay, void *buffer, size_t length, uint64_t position)
{
	if (overlay->below)
		return fl_device_read(overlay->below, buffer, length, position);
	memset(buffer, 0, length);
	return 0;
}

static int overlay_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	struct overlay *overlay = as_overlay(device);
	uint8_t *at = buffer;

	while (length) {
		size_t done = (size_t)absent_bytes(overlay, length, position);

		if (done) {
			int rc = read_below(overlay, at, done, position);

			if (rc)
				return rc;
		} else {
			struct piece piece = first_piece(overlay, length, position);
			const uint8_t *page = fl_pages_get(&overlay->pages, piece.page);

			done = piece.length;
			if (page == fl_pages_zero())
				memset(at, 0, done);
			else
				memcpy(at, page + piece.offset, done);
		}
		at += done;
		length -= done;
		position += done;
	}
	return 0;
}

/* The memory of a page that is about to be written to; unless whole, with its old content. */
static int own_page(struct overlay *overlay, uint64_t number, bool whole, uint8_t **page_out)
{
	uint8_t **slot = fl_pages_slot(&overlay->pages, number);
	uint64_t position = number * FL_PAGE_BYTES;
	uint8_t *page;

	if (!slot)
		return FL_ENOMEM;
	if (!*slot || *slot == fl_pages_zero()) {
		page = calloc(1, FL_PAGE_BYTES);
		if (!page)
			return FL_ENOMEM;
		if (!*slot && !whole && overlay->below) {
			uint64_t left = overlay->device.size_bytes - position;
			int rc = fl_device_read(overlay->below, page,
						(size_t)fl_min(left, FL_PAGE_BYTES), position);

			if (rc) {
				free(page);
				return rc;
			}
		}
		*slot = page;
	}
	*page_out = *slot;
	return 0;
}

static int overlay_write(struct fl_device *device, const void *buffer, size_t length,
			 uint64_t position)
{
	struct overlay *overlay = as_overlay(device);
	const uint8_t *at = buffer;

	while (length) {
		struct piece piece = first_piece(overlay, length, position);
		uint8_t *page;
		int rc = own_page(overlay, piece.page, piece.whole, &page);

		if (rc)
			return rc;
		memcpy(page + piece.offset, at, piece.length);
		at += piece.length;
		length -= piece.length;
		position += piece.length;
	}
	return 0;
}

/* Nothing here is ever durable, and below has not been written to. */
static int overlay_flush(struct fl_device *device)
{
	(void)device;
	return 0;
}

static int zero_whole_page(struct overlay *overlay, uint64_t number)
{
	uint8_t **slot;

	/* Over nothing, absent is zero already. */
	if (!overlay->below && !fl_pages_get(&overlay->pages, number))
		return 0;
	slot = fl_pages_slot(&overlay->pages, number);
	if (!slot)
		return FL_ENOMEM;
	if (*slot != fl_pages_zero())
		free(*slot);
	*slot = overlay->below ? fl_pages_zero() : NULL;
	return 0;
}

static int zero_part(struct overlay *overlay, struct piece piece)
{
	uint8_t *page = fl_pages_get(&overlay->pages, piece.page);
	int rc;

	if (page == fl_pages_zero() || (!page && !overlay->below))
		return 0;
	rc = own_page(overlay, piece.page, false, &page);
	if (!rc)
		memset(page + piece.offset, 0, piece.length);
	return rc;
}

/* Both ops: there is no host space to keep. */
static int overlay_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct overlay *overlay = as_overlay(device);
	int rc = 0;

	while (length && !rc) {
		struct piece piece = first_piece(overlay, length, position);

		rc = piece.whole ? zero_whole_page(overlay, piece.page) : zero_part(overlay, piece);
		length -= piece.length;
		position += piece.length;
	}
	return rc;
}

static int below_next(const struct overlay *overlay, uint64_t position, uint64_t *start,
		      uint64_t *end)
{
	uint64_t length = 0;
	int rc = 0;

	*start = overlay->device.size_bytes;
	if (overlay->below)
		rc = fl_device_data_next(overlay->below, position, start, &length);
	*end = *start + length;
	return rc;
}

/* One past the last byte of a page; no sum, because the last one may end at 2^64. */
static uint64_t page_end(const struct overlay *overlay, uint64_t page)
{
	return page + 1 < overlay->pages.count ? (page + 1) * FL_PAGE_BYTES
					       : overlay->device.size_bytes;
}

/* Where the pages with data that begin at page (one itself) end. */
static uint64_t pages_end(const struct overlay *overlay, uint64_t page)
{
	while (page + 1 < overlay->pages.count) {
		const uint8_t *next = fl_pages_get(&overlay->pages, page + 1);

		if (!next || next == fl_pages_zero())
			break;
		page++;
	}
	return page_end(overlay, page);
}

/* Runs may touch: one of pages and one of below are reported one after the other. */
static int overlay_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			     uint64_t *length)
{
	struct overlay *overlay = as_overlay(device);
	uint64_t size_bytes = device->size_bytes, below_start = 0, below_end = 0;

	while (position < size_bytes) {
		uint64_t page, page_start = size_bytes;
		bool have_page = fl_pages_next(&overlay->pages, position / FL_PAGE_BYTES, &page);

		if (have_page)
			page_start = fl_max(page * FL_PAGE_BYTES, position);
		if (below_end <= position) {
			int rc = below_next(overlay, position, &below_start, &below_end);

			if (rc)
				return rc;
		}
		below_start = fl_max(below_start, position);
		if (below_start < page_start) {
			*start = below_start;
			*length = fl_min(below_end, page_start) - below_start;
			return 0;
		}
		if (!have_page)
			break;
		if (fl_pages_get(&overlay->pages, page) != fl_pages_zero()) {
			*start = page_start;
			*length = pages_end(overlay, page) - page_start;
			return 0;
		}
		position = page_end(overlay, page);
	}
	*start = size_bytes;
	*length = 0;
	return 0;
}

static void overlay_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
			   uint64_t position)
{
	if (as_overlay(device)->below)
		fl_device_advise(as_overlay(device)->below, advice, length, position);
}

static void overlay_close(struct fl_device *device)
{
	fl_pages_free(&as_overlay(device)->pages);
	free(device);
}

static const struct fl_device_ops overlay_ops = {
	.read = overlay_read,
	.write = overlay_write,
	.flush = overlay_flush,
	.punch = overlay_punch,
	.zero = overlay_punch,
	.data_next = overlay_data_next,
	.advise = overlay_advise,
	.close = overlay_close,
};

int fl_device_overlay_new(struct fl_device *below, uint64_t size_bytes, struct fl_device **device)
{
	struct overlay *overlay = calloc(1, sizeof(*overlay));

	if (!overlay)
		return FL_ENOMEM;
	fl_pages_init(&overlay->pages, fl_div_up(size_bytes, FL_PAGE_BYTES));
	overlay->below = below;
	overlay->device.ops = &overlay_ops;
	overlay->device.size_bytes = size_bytes;
	overlay->device.read_only = false;
	overlay->device.sparse = below ? below->sparse : true;
	overlay->device.base_bytes = below ? below->base_bytes : 0;
	*device = &overlay->device;
	return 0;
}

int fl_device_overlay(struct fl_device *below, struct fl_device **device)
{
	return fl_device_overlay_new(below, below->size_bytes, device);
}
