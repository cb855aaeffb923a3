/* SPDX-License-Identifier: MIT */
/*
 * Copies the data of a batch: gathered by destination, read in physical order, then written in
 * physical order, while what comes next is read: the disk is never without requests but where such
 * a load ends. Must only write to claimed blocks.
 */
#include "move_internal.h"

#include <stdlib.h>
#include <string.h>

/* More gains nothing but where a disk's head has to travel, and it takes time to be had. */
#define DEFAULT_BUFFER_BYTES (UINT64_C(32) << 20)
/* Longer transfers are cut, so that several are under way. */
#define TRANSFER_BYTES (UINT64_C(1) << 20)

/* A part of a move that fits the buffer. */
struct part {
	fl_pblk from, to;
	uint32_t len;
	bool hole;	     /* the host stores nothing of it: zeros */
	unsigned char *data; /* its place in the buffer; a hole has none */
};

struct move_copier {
	struct fl_device *device;
	const struct fl_map *map;
	const struct fl_plan *plan;
	uint32_t block_bytes;
	FL_ARRAY(struct part) parts; /* the whole batch, by to */
	FL_ARRAY(struct fl_transfer) transfers;
	unsigned char *buffer;
	size_t half_blocks; /* of the buffer: one half is read into while the other is written */
	uint64_t data_start, data_end; /* bytes; the run of host data that was seen last */
	unsigned char *check;	       /* TRANSFER_BYTES, for verify; else NULL */
	struct fl_diag *diag;	       /* of the batch at hand */
};

static int compare_from(const void *a, const void *b)
{
	const struct part *left = a, *right = b;

	return fl_compare(left->from, right->from);
}

static int compare_to(const void *a, const void *b)
{
	const struct part *left = a, *right = b;

	return fl_compare(left->to, right->to);
}

static void sort(struct move_copier *copier, int (*compare)(const void *, const void *))
{
	if (copier->parts.count)
		qsort(copier->parts.at, copier->parts.count, sizeof(struct part), compare);
}

/* A move in blocks: with bigalloc plans count clusters. */
static int collect_move(struct move_copier *copier, const struct fl_move *move,
			uint32_t unit_blocks)
{
	uint64_t len = (uint64_t)move->len * unit_blocks, done = 0;

	while (done < len) {
		struct part part = {.from = move->from * unit_blocks + done,
				    .to = move->to * unit_blocks + done,
				    .len = (uint32_t)fl_min(len - done, copier->half_blocks)};

		if (fl_array_push(&copier->parts, part))
			return FL_ENOMEM;
		done += part.len;
	}
	return 0;
}

static int collect(struct move_copier *copier, const struct fl_batch *batch)
{
	const struct fl_map *map = copier->map;
	const struct fl_plan *plan = copier->plan;
	int error = 0;

	copier->parts.count = 0;
	for (size_t s = 0; s < batch->switch_count && !error; s++) {
		const struct fl_switch *item = &plan->switches.at[batch->first_switch + s];

		/* An xattr block is written anew: its checksum covers its place. */
		if (map->files.at[item->file].kind == FL_KIND_XATTR)
			continue;
		for (uint32_t m = 0; m < item->move_count && !error; m++) {
			const struct fl_move *move = &plan->moves.at[item->first_move + m];

			/* An unwritten extent reads as zeros whatever its blocks hold. */
			if (!move->unwritten)
				error = collect_move(copier, move, fl_map_unit_blocks(map));
		}
	}
	return error;
}

static int fail(struct move_copier *copier, int error, const char *action, fl_pblk block)
{
	return fl_fail(copier->diag, error, "%s block %llu: %s", action, (unsigned long long)block,
		       fl_error_text(error));
}

/* Adds a transfer to the list, in pieces. */
static int add_transfers(struct move_copier *copier, bool write, unsigned char *data,
			 uint64_t bytes, uint64_t position)
{
	for (uint64_t done = 0; done < bytes; done += TRANSFER_BYTES) {
		struct fl_transfer item = {.buffer = data + done,
					   .length = (size_t)fl_min(bytes - done, TRANSFER_BYTES),
					   .position = position + done,
					   .write = write};

		if (fl_array_push(&copier->transfers, item))
			return FL_ENOMEM;
	}
	return 0;
}

/* Does what is in the list, and empties it. */
static int transfer(struct move_copier *copier)
{
	size_t failed = 0;
	int error = fl_device_transfer(copier->device, copier->transfers.at,
				       copier->transfers.count, &failed);

	if (error) {
		const struct fl_transfer *item = &copier->transfers.at[failed];

		error = fail(copier, error, item->write ? "writing" : "reading",
			     item->position / copier->block_bytes);
	}
	copier->transfers.count = 0;
	return error;
}

/* Asked in ascending order, one long run of data answers for many parts. */
static int is_hole(struct move_copier *copier, uint64_t bytes, uint64_t position, bool *hole)
{
	uint64_t run;
	int error;

	if (position < copier->data_start || position >= copier->data_end) {
		error = fl_device_data_next(copier->device, position, &copier->data_start, &run);
		if (error)
			return error;
		copier->data_end = copier->data_start + run;
	}
	*hole = position + bytes <= copier->data_start || copier->data_start == copier->data_end;
	return 0;
}

/* Of the whole batch: no part lies where another one goes, so nothing of this changes. */
static int find_holes(struct move_copier *copier)
{
	const uint64_t bytes = copier->block_bytes;
	int error = 0;

	sort(copier, compare_from);
	copier->data_start = copier->data_end = 0; /* writing has changed it */
	for (size_t i = 0; i < copier->parts.count && !error; i++) {
		struct part *part = &copier->parts.at[i];

		error = is_hole(copier, part->len * bytes, part->from * bytes, &part->hole);
		if (error)
			error = fail(copier, error, "reading", part->from);
	}
	sort(copier, compare_to);
	return error;
}

static int compare_position(const void *a, const void *b)
{
	const struct fl_transfer *left = a, *right = b;

	return fl_compare(left->position, right->position);
}

/* Parts that are in the buffer together. */
struct load {
	struct part *parts;
	size_t count;
};

/* Lists the reads, into the buffer by destination, so that neighbours there are written together.
 */
static int list_reads(struct move_copier *copier, const struct load *load, unsigned char *buffer)
{
	const uint64_t bytes = copier->block_bytes;
	const size_t first = copier->transfers.count;
	int error = 0;

	for (size_t i = 0; i < load->count && !error; i++) {
		struct part *part = &load->parts[i];

		if (part->hole)
			continue;
		part->data = buffer;
		buffer += part->len * bytes;
		error = add_transfers(copier, false, part->data, part->len * bytes,
				      part->from * bytes);
	}
	if (!error && copier->transfers.count > first)
		qsort(copier->transfers.at + first, copier->transfers.count - first,
		      sizeof(*copier->transfers.at), compare_position);
	return error;
}

static bool is_zero(const unsigned char *data, size_t bytes)
{
	return !data[0] && !memcmp(data, data + 1, bytes - 1);
}

static int clear_blocks(struct move_copier *copier, fl_pblk to, uint64_t blocks)
{
	uint64_t bytes = copier->block_bytes;
	int error = move_clear(copier->device, blocks * bytes, to * bytes);

	return error ? fail(copier, error, "clearing", to) : 0;
}

/* Lists what is to be written of blocks that are consecutive on disk and in the buffer. */
static int write_run(struct move_copier *copier, fl_pblk to, unsigned char *data, uint64_t blocks)
{
	uint64_t bytes = copier->block_bytes, done = 0;
	int error = 0;

	while (done < blocks && !error) {
		unsigned char *at = data + done * bytes;
		bool zero = is_zero(at, bytes);
		uint64_t len = 1;

		while (done + len < blocks && is_zero(at + len * bytes, bytes) == zero)
			len++;
		if (!zero)
			error = add_transfers(copier, true, at, len * bytes, (to + done) * bytes);
		else
			error = clear_blocks(copier, to + done, len);
		done += len;
	}
	return error;
}

/* What was read back, of a part from byte `done` on. */
static bool as_written(const struct move_copier *copier, const struct part *part, uint64_t done,
		       size_t bytes)
{
	return part->hole ? is_zero(copier->check, bytes)
			  : !memcmp(copier->check, part->data + done, bytes);
}

static int verify_part(struct move_copier *copier, const struct part *part)
{
	const uint64_t bytes = (uint64_t)part->len * copier->block_bytes;

	for (uint64_t done = 0; done < bytes; done += TRANSFER_BYTES) {
		size_t len = (size_t)fl_min(bytes - done, TRANSFER_BYTES);
		int error = fl_device_read(copier->device, copier->check, len,
					   part->to * copier->block_bytes + done);

		if (error)
			return fail(copier, error, "reading back", part->to);
		if (!as_written(copier, part, done, len))
			return fl_fail(copier->diag, FL_EVERIFY,
				       "block %llu and following differ from what was written",
				       (unsigned long long)part->to);
	}
	return 0;
}

static int list_writes(struct move_copier *copier, const struct load *load)
{
	const struct part *parts = load->parts;
	int error = 0;

	for (size_t i = 0; i < load->count && !error;) {
		uint64_t blocks = parts[i].len;
		size_t end = i + 1;

		for (; end < load->count && parts[end].to == parts[i].to + blocks &&
		       parts[end].hole == parts[i].hole;
		     end++)
			blocks += parts[end].len;
		error = parts[i].hole ? clear_blocks(copier, parts[i].to, blocks)
				      : write_run(copier, parts[i].to, parts[i].data, blocks);
		i = end;
	}
	return error;
}

static size_t room_of(const struct part *part)
{
	return part->hole ? 0 : part->len;
}

/* As many parts as half the buffer holds; none at the end. */
static struct load next_load(const struct move_copier *copier, const struct load *last)
{
	const struct part *end = copier->parts.at + copier->parts.count;
	struct load load = {.parts = last->parts + last->count};
	size_t blocks = 0;

	while (load.parts + load.count < end &&
	       blocks + room_of(&load.parts[load.count]) <= copier->half_blocks)
		blocks += room_of(&load.parts[load.count++]);
	return load;
}

int move_copier_copy(struct move_copier *copier, const struct fl_batch *batch, struct fl_diag *diag)
{
	unsigned char *here = copier->buffer;
	unsigned char *there = here + copier->half_blocks * copier->block_bytes;
	struct load load = {0};
	int error;

	copier->diag = diag;
	copier->transfers.count = 0;
	error = collect(copier, batch);
	if (!error)
		error = find_holes(copier);
	if (error || !copier->parts.count)
		return error;
	load.parts = copier->parts.at;
	/* Each time, one load is written and the next one read. */
	do {
		struct load next = next_load(copier, &load);
		unsigned char *other = there;

		error = list_writes(copier, &load);
		if (!error)
			error = list_reads(copier, &next, there);
		if (!error)
			error = transfer(copier);
		for (size_t i = 0; copier->check && i < load.count && !error; i++)
			error = verify_part(copier, &load.parts[i]);
		load = next;
		there = here;
		here = other;
	} while (load.count && !error);
	return error;
}

/* Half of what the largest batch can use of the buffer. */
static size_t half_blocks(const struct fl_map *map, const struct fl_plan *plan,
			  const struct fl_move_options *options)
{
	uint64_t bytes = options->buffer_bytes ? options->buffer_bytes : DEFAULT_BUFFER_BYTES;
	uint64_t most = 1;

	for (size_t i = 0; i < plan->batches.count; i++)
		most = fl_max(most, plan->batches.at[i].blocks * fl_map_unit_blocks(map));
	return (size_t)fl_min(most, fl_max(1, bytes / map->geo.block_bytes / 2));
}

int move_copier_new(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
		    const struct fl_move_options *options, struct move_copier **copier)
{
	struct move_copier *made = calloc(1, sizeof(*made));

	if (!made)
		return FL_ENOMEM;
	made->device = fl_fs_device(fs);
	made->map = map;
	made->plan = plan;
	made->block_bytes = fl_fs_geometry(fs)->block_bytes;
	made->half_blocks = half_blocks(map, plan, options);
	made->buffer = fl_alloc_buffer(made->half_blocks, 2 * made->block_bytes);
	if (options->verify)
		made->check = fl_alloc_buffer(TRANSFER_BYTES, 1);
	if (!made->buffer || (options->verify && !made->check)) {
		move_copier_free(made);
		return FL_ENOMEM;
	}
	*copier = made;
	return 0;
}

void move_copier_free(struct move_copier *copier)
{
	if (!copier)
		return;
	fl_array_free(&copier->parts);
	fl_array_free(&copier->transfers);
	free(copier->buffer);
	free(copier->check);
	free(copier);
}
