/* SPDX-License-Identifier: MIT */
/*
 * The log of a device's operations, and what a power cut leaves of them. A sector is atomic,
 * nothing else is.
 */
#include "tests/lib/powercut.h"

#include <stdlib.h>
#include <string.h>

/* As the library's own wrappers: what below cannot do, this cannot do. */
#include "common/device/device_private.h"

struct op {
	enum fl_device_op op;
	uint64_t position, length;
	size_t data; /* of a write: offset in the log's bytes */
};

struct powercut {
	struct fl_device device;
	struct fl_device_ops ops;
	struct fl_device *below;
	uint64_t stop_at, begun;
	FL_ARRAY(struct op) list;
	FL_ARRAY(uint8_t) bytes;
};

static struct powercut *as_powercut(struct fl_device *device)
{
	return (struct powercut *)device; /* device is the first member */
}

static bool stopped(const struct powercut *log)
{
	return log->stop_at && log->begun >= log->stop_at;
}

/* FL_EIO when the power is off, or goes off in this operation. */
static int begin(struct powercut *log, struct op op, const void *data)
{
	if (stopped(log))
		return FL_EIO;
	op.data = log->bytes.count;
	if (fl_array_push(&log->list, op))
		return FL_ENOMEM;
	if (data) {
		if (fl_array_reserve(&log->bytes, log->bytes.count + op.length))
			return FL_ENOMEM;
		memcpy(log->bytes.at + log->bytes.count, data, op.length);
		log->bytes.count += op.length;
	}
	log->begun++;
	return stopped(log) ? FL_EIO : 0;
}

static int cut_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	struct powercut *log = as_powercut(device);

	return stopped(log) ? FL_EIO : fl_device_read(log->below, buffer, length, position);
}

static int cut_write(struct fl_device *device, const void *buffer, size_t length, uint64_t position)
{
	struct powercut *log = as_powercut(device);
	int rc = begin(log, (struct op){FL_OP_WRITE, position, length, 0}, buffer);

	return rc ? rc : fl_device_write(log->below, buffer, length, position);
}

static int cut_flush(struct fl_device *device)
{
	struct powercut *log = as_powercut(device);
	int rc = begin(log, (struct op){FL_OP_FLUSH, 0, 0, 0}, NULL);

	return rc ? rc : fl_device_flush(log->below);
}

static int cut_punch(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct powercut *log = as_powercut(device);
	int rc = begin(log, (struct op){FL_OP_PUNCH, position, length, 0}, NULL);

	return rc ? rc : fl_device_punch(log->below, length, position);
}

static int cut_zero(struct fl_device *device, uint64_t length, uint64_t position)
{
	struct powercut *log = as_powercut(device);
	int rc = begin(log, (struct op){FL_OP_ZERO, position, length, 0}, NULL);

	return rc ? rc : fl_device_zero(log->below, length, position);
}

static int cut_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			 uint64_t *length)
{
	struct powercut *log = as_powercut(device);

	return stopped(log) ? FL_EIO : fl_device_data_next(log->below, position, start, length);
}

static void cut_close(struct fl_device *device)
{
	(void)device; /* the log outlives it; see powercut_free */
}

int powercut_new(struct fl_device *below, uint64_t stop_at, struct powercut **log)
{
	struct powercut *made = calloc(1, sizeof(*made));

	if (!made)
		return FL_ENOMEM;
	made->below = below;
	made->stop_at = stop_at;
	made->ops = (struct fl_device_ops){
		.read = cut_read,
		.write = cut_write,
		.flush = cut_flush,
		.punch = below->ops->punch ? cut_punch : NULL,
		.zero = below->ops->zero ? cut_zero : NULL,
		.data_next = cut_data_next,
		.close = cut_close,
	};
	made->device.ops = &made->ops;
	made->device.size_bytes = below->size_bytes;
	made->device.sparse = below->sparse;
	*log = made;
	return 0;
}

struct fl_device *powercut_device(struct powercut *log)
{
	return &log->device;
}

uint64_t powercut_operations(const struct powercut *log)
{
	return log->begun;
}

void powercut_free(struct powercut *log)
{
	if (!log)
		return;
	fl_array_free(&log->list);
	fl_array_free(&log->bytes);
	free(log);
}

/* Applies length bytes of an operation, offset bytes into it. */
static void apply(const struct powercut *log, const struct op *op, uint64_t offset, uint64_t length,
		  uint8_t *disk)
{
	if (op->op == FL_OP_WRITE)
		memcpy(disk + op->position + offset, log->bytes.at + op->data + offset, length);
	else if (op->op != FL_OP_FLUSH)
		memset(disk + op->position + offset, 0, length);
}

/* The sectors of an operation, by place on the disk: the first and last may be parts. */
static void tear(const struct powercut *log, const struct op *op, struct fl_rng *rng, uint8_t *disk)
{
	uint64_t first = op->position / FL_SECTOR_BYTES;
	uint64_t sectors = fl_div_up(op->position + op->length, FL_SECTOR_BYTES) - first;
	bool prefix = fl_rng_below(rng, 2);
	uint64_t until = fl_rng_below(rng, sectors + 1);

	for (uint64_t i = 0; i < sectors; i++) {
		uint64_t from = fl_max(op->position, (first + i) * FL_SECTOR_BYTES);
		uint64_t to = fl_min(op->position + op->length, (first + i + 1) * FL_SECTOR_BYTES);

		if (prefix ? i < until : fl_rng_below(rng, 2))
			apply(log, op, from - op->position, to - from, disk);
	}
}

static void suffer(const struct powercut *log, const struct op *op, bool in_flight, uint64_t seed,
		   struct fl_rng *rng, uint8_t *disk)
{
	uint64_t fate = seed > 2 ? fl_rng_below(rng, 3) : 0;

	if (op->op == FL_OP_FLUSH || !seed || (seed == 1 && in_flight))
		return;
	if (seed <= 2 || fate == 0)
		apply(log, op, 0, op->length, disk);
	else if (fate == 1)
		tear(log, op, rng, disk);
}

uint64_t powercut_flushed(const struct powercut *log, uint64_t done)
{
	while (done && log->list.at[done - 1].op != FL_OP_FLUSH)
		done--;
	return done;
}

/* After `ended` operations; `begun` is one more when another is in flight. */
static void replay_to(struct powercut_replay *replay, uint64_t ended, uint64_t begun, uint64_t seed,
		      uint8_t *disk)
{
	const struct powercut *log = replay->log;
	size_t flushed = fl_max(replay->replayed, powercut_flushed(log, ended));
	struct fl_rng rng;

	for (; replay->replayed < flushed; replay->replayed++) {
		const struct op *op = &log->list.at[replay->replayed];

		apply(log, op, 0, op->length, replay->durable);
	}
	memcpy(disk, replay->durable, replay->size_bytes);
	fl_rng_seed(&rng, seed * UINT64_C(1000003) + begun);
	for (size_t i = flushed; i < begun && i < log->list.count; i++)
		suffer(log, &log->list.at[i], i >= ended, seed, &rng, disk);
}

void powercut_disk(struct powercut_replay *replay, uint64_t cut, uint64_t seed, uint8_t *disk)
{
	replay_to(replay, cut - 1, cut, seed, disk);
}

void powercut_between(struct powercut_replay *replay, uint64_t done, uint64_t seed, uint8_t *disk)
{
	replay_to(replay, done, done, seed, disk);
}

uint64_t powercut_common(const struct powercut *log, const struct powercut *other)
{
	size_t most = fl_min(log->list.count, other->list.count), i;

	for (i = 0; i < most; i++) {
		const struct op *a = &log->list.at[i], *b = &other->list.at[i];

		if (a->op != b->op || a->position != b->position || a->length != b->length)
			break;
		if (a->op == FL_OP_WRITE &&
		    memcmp(log->bytes.at + a->data, other->bytes.at + b->data, a->length))
			break;
	}
	return i;
}
