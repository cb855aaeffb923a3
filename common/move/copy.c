/* SPDX-License-Identifier: MIT */
/*
 * Copies the data of a batch: read in physical order, gathered, written in physical order.
 * Must only write to claimed blocks.
 */
#include "move_internal.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_BUFFER_BYTES (UINT64_C(32) << 20)

/* A part of a move that fits the buffer. */
struct part {
	fl_pblk from, to;
	uint32_t len;
	unsigned char *data; /* its place in the buffer */
	bool hole;	     /* the source is a hole of the host: data was not read */
};

struct copier {
	struct fl_device *device;
	uint32_t block_bytes;
	FL_ARRAY(struct part) parts; /* the whole batch, by from */
	unsigned char *buffer;
	size_t buffer_blocks;
	unsigned char *check; /* a second buffer of one part, for verify */
	struct fl_diag *diag;
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

/* A move in blocks: with bigalloc plans count clusters. */
static int collect_move(struct copier *copier, const struct fl_move *move, uint32_t unit_blocks)
{
	uint64_t len = (uint64_t)move->len * unit_blocks, done = 0;

	while (done < len) {
		struct part part = {.from = move->from * unit_blocks + done,
				    .to = move->to * unit_blocks + done,
				    .len = (uint32_t)fl_min(len - done, copier->buffer_blocks)};

		if (fl_array_push(&copier->parts, part))
			return FL_ENOMEM;
		done += part.len;
	}
	return 0;
}

static int collect(struct copier *copier, const struct fl_map *map, const struct fl_plan *plan,
		   const struct fl_batch *batch)
{
	int error = 0;

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
	if (copier->parts.count)
		qsort(copier->parts.at, copier->parts.count, sizeof(struct part), compare_from);
	return error;
}

static int fail(struct copier *copier, int error, const char *action, fl_pblk block)
{
	return fl_fail(copier->diag, error, "%s block %llu: %s", action, (unsigned long long)block,
		       fl_error_text(error));
}

/* Places go by destination, so that neighbours there are written together. */
static void place(struct copier *copier, struct part *parts, size_t count)
{
	unsigned char *at = copier->buffer;

	qsort(parts, count, sizeof(*parts), compare_to);
	for (size_t i = 0; i < count; i++) {
		parts[i].data = at;
		at += (size_t)parts[i].len * copier->block_bytes;
	}
	qsort(parts, count, sizeof(*parts), compare_from);
}

static int read_parts(struct copier *copier, struct part *parts, size_t count)
{
	uint64_t bytes = copier->block_bytes;

	for (size_t i = 0; i < count; i++) {
		struct part *part = &parts[i];
		int error = fl_device_is_hole(copier->device, part->len * bytes, part->from * bytes,
					      &part->hole);

		if (!error && part->hole)
			memset(part->data, 0, part->len * bytes);
		else if (!error)
			error = fl_device_read(copier->device, part->data, part->len * bytes,
					       part->from * bytes);
		if (error)
			return fail(copier, error, "reading", part->from);
	}
	return 0;
}

static bool is_zero(const unsigned char *data, size_t bytes)
{
	return !data[0] && !memcmp(data, data + 1, bytes - 1);
}

/* Zero blocks: nothing to write where the destination is a hole already. */
static int clear_blocks(struct copier *copier, fl_pblk to, uint64_t blocks)
{
	uint64_t bytes = copier->block_bytes;
	bool hole = false;
	int error = fl_device_is_hole(copier->device, blocks * bytes, to * bytes, &hole);

	if (!error && !hole)
		error = fl_device_clear(copier->device, blocks * bytes, to * bytes);
	return error;
}

/* Writes blocks that are consecutive on disk and in the buffer. */
static int write_run(struct copier *copier, fl_pblk to, const unsigned char *data, uint64_t blocks)
{
	uint64_t bytes = copier->block_bytes, done = 0;
	int error = 0;

	while (done < blocks && !error) {
		const unsigned char *at = data + done * bytes;
		bool zero = is_zero(at, bytes);
		uint64_t len = 1;

		while (done + len < blocks && is_zero(at + len * bytes, bytes) == zero)
			len++;
		error = zero ? clear_blocks(copier, to + done, len)
			     : fl_device_write(copier->device, at, len * bytes,
					       (to + done) * bytes);
		if (error)
			return fail(copier, error, "writing", to + done);
		done += len;
	}
	return 0;
}

static int verify_part(struct copier *copier, const struct part *part)
{
	uint64_t bytes = (uint64_t)part->len * copier->block_bytes;
	int error = fl_device_read(copier->device, copier->check, bytes,
				   part->to * copier->block_bytes);

	if (error)
		return fail(copier, error, "reading back", part->to);
	if (memcmp(copier->check, part->data, bytes))
		return fl_fail(copier->diag, FL_EVERIFY,
			       "block %llu and following differ from what was written",
			       (unsigned long long)part->to);
	return 0;
}

static int write_parts(struct copier *copier, struct part *parts, size_t count, bool verify)
{
	int error = 0;

	qsort(parts, count, sizeof(*parts), compare_to);
	for (size_t i = 0; i < count && !error;) {
		uint64_t blocks = parts[i].len;
		size_t end = i + 1;

		for (; end < count && parts[end].to == parts[i].to + blocks; end++)
			blocks += parts[end].len;
		error = write_run(copier, parts[i].to, parts[i].data, blocks);
		i = end;
	}
	for (size_t i = 0; verify && i < count && !error; i++)
		error = verify_part(copier, &parts[i]);
	return error;
}

static int copy_all(struct copier *copier, bool verify)
{
	int error = 0;

	for (size_t first = 0; first < copier->parts.count && !error;) {
		struct part *parts = copier->parts.at + first;
		size_t count = 0, blocks = 0;

		while (first + count < copier->parts.count &&
		       blocks + parts[count].len <= copier->buffer_blocks)
			blocks += parts[count++].len;
		place(copier, parts, count);
		error = read_parts(copier, parts, count);
		if (!error)
			error = write_parts(copier, parts, count, verify);
		first += count;
	}
	return error;
}

int move_copy(struct fl_fs *fs, const struct fl_map *map, const struct fl_plan *plan,
	      const struct fl_batch *batch, const struct fl_move_options *options,
	      struct fl_diag *diag)
{
	struct copier copier = {.device = fl_fs_device(fs),
				.block_bytes = fl_fs_geometry(fs)->block_bytes,
				.diag = diag};
	uint64_t bytes = options->buffer_bytes ? options->buffer_bytes : DEFAULT_BUFFER_BYTES;
	int error = FL_ENOMEM;

	copier.buffer_blocks = (size_t)fl_max(1, bytes / copier.block_bytes);
	copier.buffer = fl_alloc(copier.buffer_blocks, copier.block_bytes);
	if (!copier.buffer)
		goto out;
	if (options->verify) {
		copier.check = fl_alloc(copier.buffer_blocks, copier.block_bytes);
		if (!copier.check)
			goto out;
	}
	error = collect(&copier, map, plan, batch);
	if (!error)
		error = copy_all(&copier, options->verify);
out:
	fl_array_free(&copier.parts);
	free(copier.buffer);
	free(copier.check);
	return error;
}
