/* SPDX-License-Identifier: MIT */
/*
 * The data of sample files: which parts exist, and what is in them. Data goes to the
 * image by large writes of its own; blocks of zeros stay holes of the host file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/sample.h"

static void fill_text(struct fl_rng *rng, uint8_t *at, size_t length)
{
	static const char letters[] = "eeeeettttaaaooinnsshhrrddllucmwfgypbvk";
	size_t line = 0, word = 0;

	for (size_t i = 0; i < length; i++) {
		uint64_t lot = fl_rng_below(rng, 8);

		if (line > 60 && word > 2) {
			at[i] = '\n';
			line = word = 0;
		} else if (word > 2 && lot < 2) {
			at[i] = ' ';
			word = 0;
		} else {
			at[i] = (uint8_t)letters[fl_rng_below(rng, sizeof(letters) - 1)];
			word++;
		}
		line++;
	}
}

errcode_t store_open(struct store *store, ext2_filsys fs, int fd, bool extents, uint64_t seed)
{
	struct fl_rng rng;

	*store = (struct store){.fs = fs, .fd = fd, .extents = extents};
	store->pool = malloc(2 * POOL_BYTES);
	store->buffer = malloc(STORE_BUFFER_BYTES);
	if (!store->pool || !store->buffer) {
		store_close(store);
		return EXT2_ET_NO_MEMORY;
	}
	fl_rng_seed(&rng, seed ^ 0x706f6f6c);
	fill_text(&rng, store->pool, POOL_BYTES);
	for (size_t i = 0; i < POOL_BYTES; i += 8) {
		uint64_t noise = htole64(fl_rng_next(&rng));

		memcpy(store->pool + POOL_BYTES + i, &noise, 8);
	}
	return 0;
}

void store_close(struct store *store)
{
	free(store->pool);
	free(store->buffer);
	store->pool = store->buffer = NULL;
}

struct writer {
	struct store *store;
	const struct sample_file *file;
	ext2_ino_t ino;
	struct fl_rng rng;
};

/*
 * One block of data: a part of the pool, stamped with inode and logical block, so that no two
 * blocks are alike and a block in the wrong place is noticed. False: the block is all zeros.
 */
static bool fill_block(struct writer *w, uint64_t lblk, uint8_t *block)
{
	static const char digits[] = "0123456789abcdef";
	const uint32_t block_bytes = w->store->fs->blocksize;
	uint64_t position = lblk * block_bytes, lot = fl_rng_next(&w->rng);
	size_t offset = (size_t)(lot % (POOL_BYTES - block_bytes)) & ~(size_t)7;
	uint64_t stamp = (uint64_t)w->ino << 32 ^ lblk;

	if (w->file->content == CONTENT_MIXED && (lot >> 60) < 2)
		return false;
	if (w->file->content != CONTENT_TEXT)
		offset += POOL_BYTES;
	memcpy(block, w->store->pool + offset, block_bytes);
	for (int i = 15; i >= 0; i--, stamp >>= 4)
		block[i] = (uint8_t)digits[stamp & 15];
	/* After the end of the file a block holds zeros. */
	if (position + block_bytes > w->file->size_bytes) {
		size_t inside =
			(size_t)(w->file->size_bytes - fl_min(position, w->file->size_bytes));

		memset(block + inside, 0, block_bytes - inside);
		return inside != 0;
	}
	return true;
}

static errcode_t write_all(int fd, const uint8_t *from, size_t length, uint64_t position)
{
	while (length) {
		ssize_t done = pwrite(fd, from, length, (off_t)position);

		if (done < 0 && errno != EINTR)
			return errno;
		if (done > 0) {
			from += done;
			position += (uint64_t)done;
			length -= (size_t)done;
		}
	}
	return 0;
}

static errcode_t write_run(void *context, uint64_t lblk, blk64_t pblk, uint64_t len)
{
	struct writer *w = context;
	const uint32_t block_bytes = w->store->fs->blocksize;
	size_t filled = 0;
	errcode_t error = 0;

	if (w->store->hollow)
		return 0;
	for (uint64_t i = 0; !error && i <= len; i++) {
		uint8_t *block = w->store->buffer + filled;
		bool data = i < len && fill_block(w, lblk + i, block);

		if (data)
			filled += block_bytes;
		if (filled && (!data || filled == STORE_BUFFER_BYTES)) {
			error = write_all(w->store->fd, w->store->buffer, filled,
					  (pblk + i + data) * block_bytes - filled);
			filled = 0;
		}
	}
	return error;
}

/* Which blocks of the file exist. pieces is empty at first. */
static errcode_t cut(struct store *store, const struct sample_file *file, struct fl_rng *rng,
		     struct piece **pieces, size_t *count)
{
	uint64_t blocks = fl_div_up(file->size_bytes, store->fs->blocksize), lblk = 0;
	FL_ARRAY(struct piece) list = {0};
	int error = 0;

	if (file->shape == SHAPE_PREALLOCATED && store->extents && blocks > 3) {
		error = fl_array_push(&list, ((struct piece){0, blocks / 2, false}));
		if (!error)
			error = fl_array_push(
				&list, ((struct piece){blocks / 2, blocks - blocks / 2 + 4, true}));
		lblk = blocks;
	}
	while (!error && lblk < blocks) {
		uint64_t len = blocks - lblk, hole = 0;

		if (file->shape == SHAPE_HOLES) {
			len = fl_rng_between(rng, fl_max(1, blocks / 24), fl_max(1, blocks / 8));
			hole = fl_rng_between(rng, 1, fl_max(1, blocks / 12));
		}
		len = fl_min(len, blocks - lblk);
		error = fl_array_push(&list, ((struct piece){lblk, len, false}));
		lblk += len + hole;
	}
	*pieces = list.at;
	*count = list.count;
	return error ? EXT2_ET_NO_MEMORY : 0;
}

errcode_t store_file(struct store *store, ext2_ino_t ino, struct ext2_inode *inode,
		     const struct sample_file *file, uint64_t seed, blk64_t *goal)
{
	struct writer writer = {.store = store, .file = file, .ino = ino};
	struct piece *pieces;
	size_t count;
	errcode_t error;

	fl_rng_seed(&writer.rng, seed ^ ((uint64_t)ino << 20));
	error = cut(store, file, &writer.rng, &pieces, &count);
	if (!error && store->extents)
		error = map_extents(store->fs, ino, inode, pieces, count, goal, write_run, &writer);
	else if (!error)
		error = map_indirect(store->fs, inode, pieces, count, goal, write_run, &writer);
	free(pieces);
	return error;
}
