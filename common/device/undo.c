/* SPDX-License-Identifier: MIT */
/*
 * A wrapper that saves what is about to be overwritten in a file for e2undo(8). Must never let
 * a byte below be overwritten before its old content is durable in that file.
 *
 * So writes wait in memory: until a flush, or until there are too many. Then the file is
 * committed, and only then they go down. Order among them does not matter, as nothing
 * between two flushes is promised; sectors that were not written to are not written.
 */
#include <stdlib.h>
#include <string.h>

#include <fraglab/util.h>

#include "common/device/device_private.h"
#include "common/device/pages.h"
#include "common/device/pending.h"
#include "common/device/undofile.h"

#define GRANULE_BYTES FL_UNDO_BLOCK_BYTES
#define BUFFER_BYTES (1u << 20)
#define PENDING_MOST_BYTES (64u << 20)
/* Ranges that are cleared are marked a granule at a time, this much between two looks. */
#define CLEAR_BYTES (UINT64_C(64) << 20)
#define SUPER_AT 1024

struct undo {
	struct fl_device device;
	struct fl_device_ops ops; /* our own: punch and zero only when below has them */
	struct fl_device *below;  /* borrowed */
	struct fl_undo_file *file;
	struct fl_pages saved; /* bits, by granule */
	struct fl_pending pending;
	bool clears; /* below has been seen to punch or zero */
	uint8_t *buffer;
};

static struct undo *as_undo(struct fl_device *device)
{
	return (struct undo *)device; /* device is the first member */
}

/* --- what is saved --- */

static bool is_saved(const struct undo *undo, uint64_t granule)
{
	const uint8_t *bits = fl_pages_get(&undo->saved, granule / 8 / FL_PAGE_BYTES);

	return bits && (bits[granule / 8 % FL_PAGE_BYTES] >> granule % 8 & 1);
}

static int mark_saved(struct undo *undo, uint64_t granule, uint64_t end)
{
	for (; granule < end; granule++) {
		uint8_t **bits = fl_pages_slot(&undo->saved, granule / 8 / FL_PAGE_BYTES);

		if (bits && !*bits)
			*bits = calloc(1, FL_PAGE_BYTES);
		if (!bits || !*bits)
			return FL_ENOMEM;
		(*bits)[granule / 8 % FL_PAGE_BYTES] |= (uint8_t)(1u << granule % 8);
	}
	return 0;
}

/*
 * Gives the file what the granules of a range hold, each once in a run. What was not saved was
 * not written to either, so below has its old content.
 */
static int save(struct undo *undo, uint64_t length, uint64_t position)
{
	uint64_t granule = position / GRANULE_BYTES;
	uint64_t end = (position + length - 1) / GRANULE_BYTES + 1;

	while (granule < end) {
		uint64_t next = granule + 1, at = granule * GRANULE_BYTES;
		size_t bytes;
		int rc;

		if (is_saved(undo, granule)) {
			granule++;
			continue;
		}
		while (next < end && (next - granule) < BUFFER_BYTES / GRANULE_BYTES &&
		       !is_saved(undo, next))
			next++;
		bytes = (size_t)(fl_min(next * GRANULE_BYTES, undo->device.size_bytes) - at);
		rc = fl_device_read(undo->below, undo->buffer, bytes, at);
		if (!rc)
			rc = fl_undo_file_add(undo->file, undo->buffer, bytes, at);
		/* Saved twice would be wrong only if the second came after a write. */
		if (!rc)
			rc = mark_saved(undo, granule, next);
		if (rc)
			return rc;
		granule = next;
	}
	return 0;
}

/* The file first, with the superblock that will be there afterwards; then what waits. */
static int commit(struct undo *undo)
{
	uint8_t super[FL_UNDO_SUPER_BYTES];
	int rc = fl_pending_read(&undo->pending, super, sizeof(super), SUPER_AT);

	if (!rc)
		rc = fl_undo_file_commit(undo->file, super);
	return rc ? rc : fl_pending_send(&undo->pending);
}

static int commit_if_many(struct undo *undo)
{
	return undo->pending.bytes > PENDING_MOST_BYTES ? commit(undo) : 0;
}

/* --- the operations --- */

static int undo_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	return fl_pending_read(&as_undo(device)->pending, buffer, length, position);
}

static int undo_write(struct fl_device *device, const void *buffer, size_t length,
		      uint64_t position)
{
	struct undo *undo = as_undo(device);
	const uint8_t *at = buffer;
	int rc = 0;

	while (length && !rc) {
		size_t part = (size_t)fl_min(length, BUFFER_BYTES);

		rc = save(undo, part, position);
		if (!rc)
			rc = fl_pending_write(&undo->pending, at, part, position);
		if (!rc)
			rc = commit_if_many(undo);
		at += part;
		length -= part;
		position += part;
	}
	return rc;
}

static int undo_flush(struct fl_device *device)
{
	int rc = commit(as_undo(device));

	return rc ? rc : fl_device_flush(as_undo(device)->below);
}

static int clear(struct fl_device *device, uint64_t length, uint64_t position,
		 int (*how)(struct fl_device *, uint64_t, uint64_t))
{
	struct undo *undo = as_undo(device);
	int rc = 0;

	/* Whether it can is known after one try, which cannot wait for its answer. */
	if (!undo->clears) {
		rc = save(undo, length, position);
		if (!rc)
			rc = commit(undo);
		if (!rc)
			rc = how(undo->below, length, position);
		undo->clears = !rc;
		return rc;
	}
	while (length && !rc) {
		uint64_t part = fl_min(length, CLEAR_BYTES);

		rc = save(undo, part, position);
		if (!rc)
			rc = fl_pending_clear(&undo->pending, part, position);
		if (!rc)
			rc = commit_if_many(undo);
		length -= part;
		position += part;
	}
	return rc;
}

static int undo_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	return clear(device, length, position, fl_device_punch);
}

static int undo_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	return clear(device, length, position, fl_device_zero);
}

/* What waits counts as data, zeros or not: they may be. */
static int undo_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			  uint64_t *length)
{
	struct undo *undo = as_undo(device);
	uint64_t waits_at, waits_length;
	int rc = fl_device_data_next(undo->below, position, start, length);

	if (!rc && fl_pending_next(&undo->pending, position, &waits_at, &waits_length) &&
	    (!*length || waits_at < *start)) {
		*start = waits_at;
		*length = waits_length;
	}
	return rc;
}

static void undo_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
			uint64_t position)
{
	fl_device_advise(as_undo(device)->below, advice, length, position);
}

static void undo_close(struct fl_device *device)
{
	struct undo *undo = as_undo(device);

	fl_undo_file_close(undo->file);
	fl_pending_free(&undo->pending);
	fl_pages_free(&undo->saved);
	free(undo->buffer);
	free(undo);
}

int fl_device_undo(struct fl_device *below, const char *path, uint64_t position,
		   struct fl_device **device, struct fl_diag *diag)
{
	uint64_t granules = fl_div_up(below->size_bytes, GRANULE_BYTES);
	uint8_t super[FL_UNDO_SUPER_BYTES];
	struct undo *undo;
	int rc;

	if (below->read_only || below->size_bytes < SUPER_AT + sizeof(super))
		return fl_fail(diag, FL_EINVAL, "undo: nothing that can be changed");
	rc = fl_device_read(below, super, sizeof(super), SUPER_AT);
	if (rc)
		return fl_fail(diag, rc, "undo: cannot read the superblock");
	undo = calloc(1, sizeof(*undo));
	if (!undo)
		return fl_fail(diag, FL_ENOMEM, "undo: memory ran out");
	fl_pages_init(&undo->saved, fl_div_up(granules, UINT64_C(8) * FL_PAGE_BYTES));
	undo->buffer = malloc(BUFFER_BYTES);
	rc = fl_pending_init(&undo->pending, below);
	if (rc || !undo->buffer) {
		undo_close(&undo->device);
		return fl_fail(diag, FL_ENOMEM, "undo: memory ran out");
	}
	undo->below = below;
	undo->ops = (struct fl_device_ops){
		.read = undo_read,
		.write = undo_write,
		.flush = undo_flush,
		.punch = below->ops->punch ? undo_punch : NULL,
		.zero = below->ops->zero ? undo_zero : NULL,
		.data_next = undo_data_next,
		.advise = undo_advise,
		.close = undo_close,
	};
	undo->device.ops = &undo->ops;
	undo->device.size_bytes = below->size_bytes;
	undo->device.sparse = below->sparse;
	undo->device.base_bytes = below->base_bytes;
	rc = fl_undo_file_create(path, position, super, &undo->file, diag);
	if (rc) {
		undo_close(&undo->device);
		return rc;
	}
	*device = &undo->device;
	return 0;
}
