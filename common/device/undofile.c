/* SPDX-License-Identifier: MIT */
/*
 * Writes e2undo's format (E2UNDO02) so that the file can be used after a crash at any moment.
 * Must never change a byte that the header on the disk refers to.
 *
 * Layout, in blocks: the header; two places for the superblock's copy, used in turn; then
 * key blocks, each followed by the data of its keys. The header tells how many keys there are,
 * and all key blocks but the last must be full. So that a key block that was made durable is
 * never written to again, it is filled up with keys of no length.
 */
#include "common/device/undofile.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ext2fs/ext2fs.h>

#include <fraglab/util.h>

#include "common/device/device_private.h"

enum {
	/* struct undo_header of e2fsprogs' undo_io.c; numbers are little-endian */
	HEADER_BYTES = 512,
	H_KEYS = 8,
	H_SUPER = 16,
	H_FIRST_KEY = 24,
	H_BLOCK = 32,
	H_FS_BLOCK = 36,
	H_SUPER_CRC = 40,
	H_STATE = 44,
	H_COMPAT = 48,
	H_POSITION = 64,
	H_CRC = 508,
	STATE_FINISHED = 1,
	COMPAT_POSITION = 1,
	/* struct undo_key_block, and the keys behind it */
	K_CRC = 4,
	KEY_BYTES = 16,
	KEY_CRC = 8,
	KEY_LENGTH = 12,
	KEYS_A_BLOCK = FL_UNDO_BLOCK_BYTES / KEY_BYTES - 1,
	/* blocks of the file */
	FIRST_SUPER = 1,
	FIRST_KEY = 3,
};
#define KEY_MAGIC 0xCADECADEu
#define CRC_SEED 0xFFFFFFFFu
#define KEY_MOST_BYTES (512u * FL_UNDO_BLOCK_BYTES) /* e2undo's limit */
#define SUPER_MAGIC_AT 56

struct fl_undo_file {
	int fd;
	int flush_error;     /* the first one: see file_flush in file.c */
	bool failed_add;     /* what lies behind the end may not be zeros */
	uint64_t end_block;  /* where the next block goes */
	uint64_t full_keys;  /* keys of all blocks before the current one */
	uint64_t key_block;  /* place of the current one; 0: none */
	unsigned keys;	     /* in the current one */
	bool open;	     /* the current one is new since the last commit, so it may grow */
	bool added;	     /* since the last commit */
	uint64_t super_slot; /* block of the copy that the header names */
	uint64_t position;   /* of the filesystem */
	uint8_t super[FL_UNDO_SUPER_BYTES];
	uint8_t key[FL_UNDO_BLOCK_BYTES];
};

static void put32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void put64(uint8_t *at, uint64_t value)
{
	put32(at, (uint32_t)value);
	put32(at + 4, (uint32_t)(value >> 32));
}

static uint32_t get32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

static uint64_t get64(const uint8_t *at)
{
	return get32(at) | (uint64_t)get32(at + 4) << 32;
}

static uint8_t *key_at(struct fl_undo_file *file, unsigned index)
{
	return file->key + KEY_BYTES * (index + 1);
}

static int write_at(struct fl_undo_file *file, const void *data, size_t length, uint64_t block)
{
	return fl_device_file_pwrite(file->fd, data, length, block * FL_UNDO_BLOCK_BYTES);
}

static int flush(struct fl_undo_file *file)
{
	while (!file->flush_error && fsync(file->fd))
		if (errno != EINTR)
			file->flush_error = fl_device_host_error(errno);
	return file->flush_error;
}

/* The header is one sector: it changes as a whole or not at all. */
static int write_header(struct fl_undo_file *file, uint64_t super_slot,
			const uint8_t super[FL_UNDO_SUPER_BYTES])
{
	uint8_t header[HEADER_BYTES] = "E2UNDO02";

	put64(header + H_KEYS, file->full_keys + file->keys);
	put64(header + H_SUPER, super_slot);
	put64(header + H_FIRST_KEY, FIRST_KEY);
	put32(header + H_BLOCK, FL_UNDO_BLOCK_BYTES);
	put32(header + H_FS_BLOCK, FL_UNDO_BLOCK_BYTES);
	put32(header + H_SUPER_CRC, ext2fs_crc32c_le(CRC_SEED, super, FL_UNDO_SUPER_BYTES));
	/* True at every commit: nothing is overwritten that is not recorded. */
	put32(header + H_STATE, STATE_FINISHED);
	put32(header + H_COMPAT, file->position ? COMPAT_POSITION : 0);
	put64(header + H_POSITION, file->position);
	put32(header + H_CRC, ext2fs_crc32c_le(CRC_SEED, header, H_CRC));
	return write_at(file, header, sizeof(header), 0);
}

/* With its magic number inverted, so that nobody takes the file for a filesystem. */
static int write_super(struct fl_undo_file *file, uint64_t slot,
		       const uint8_t super[FL_UNDO_SUPER_BYTES])
{
	uint8_t copy[FL_UNDO_SUPER_BYTES];

	memcpy(copy, super, sizeof(copy));
	copy[SUPER_MAGIC_AT] = (uint8_t)~copy[SUPER_MAGIC_AT];
	copy[SUPER_MAGIC_AT + 1] = (uint8_t)~copy[SUPER_MAGIC_AT + 1];
	return write_at(file, copy, sizeof(copy), slot);
}

static int write_keys(struct fl_undo_file *file)
{
	put32(file->key + K_CRC, 0);
	put32(file->key + K_CRC, ext2fs_crc32c_le(CRC_SEED, file->key, sizeof(file->key)));
	return write_at(file, file->key, sizeof(file->key), file->key_block);
}

/* A new key block at the end of the file, all of whose keys have no length. */
static void start_keys(struct fl_undo_file *file)
{
	memset(file->key, 0, sizeof(file->key));
	put32(file->key, KEY_MAGIC);
	for (unsigned i = 0; i < KEYS_A_BLOCK; i++)
		put32(key_at(file, i) + KEY_CRC, CRC_SEED);
	if (file->key_block)
		file->full_keys += KEYS_A_BLOCK;
	file->keys = 0;
	file->key_block = file->end_block++;
	file->open = true;
}

static bool all_zero(const uint8_t *data, size_t length)
{
	return !data[0] && !memcmp(data, data + 1, length - 1);
}

/* The data of holes stays a hole in the file too. */
static int write_data(struct fl_undo_file *file, const uint8_t *data, size_t length)
{
	size_t done = 0;

	while (done < length) {
		size_t part = (size_t)fl_min(length - done, FL_UNDO_BLOCK_BYTES), end = done + part;
		int rc;

		if (!file->failed_add && all_zero(data + done, part)) {
			done = end;
			continue;
		}
		while (end < length) {
			part = (size_t)fl_min(length - end, FL_UNDO_BLOCK_BYTES);
			if (!file->failed_add && all_zero(data + end, part))
				break;
			end += part;
		}
		rc = write_at(file, data + done, end - done,
			      file->end_block + done / FL_UNDO_BLOCK_BYTES);
		if (rc)
			return rc;
		done = end;
	}
	return 0;
}

/* One piece of at most KEY_MOST_BYTES; new_key: the last key cannot grow by it. */
static int add_piece(struct fl_undo_file *file, const uint8_t *data, size_t length,
		     uint64_t position, bool new_key)
{
	uint8_t *key;
	int rc;

	if (new_key && file->open && file->keys == KEYS_A_BLOCK) {
		rc = write_keys(file);
		if (rc)
			return rc;
	}
	if (new_key && (!file->open || file->keys == KEYS_A_BLOCK))
		start_keys(file);
	rc = write_data(file, data, length);
	if (rc) {
		file->failed_add = true;
		return rc;
	}
	if (new_key) {
		key = key_at(file, file->keys++);
		put64(key, position / FL_UNDO_BLOCK_BYTES);
	} else {
		key = key_at(file, file->keys - 1);
	}
	put32(key + KEY_CRC, ext2fs_crc32c_le(get32(key + KEY_CRC), data, length));
	put32(key + KEY_LENGTH, get32(key + KEY_LENGTH) + (uint32_t)length);
	file->end_block += fl_div_up(length, FL_UNDO_BLOCK_BYTES);
	file->added = true;
	return 0;
}

int fl_undo_file_add(struct fl_undo_file *file, const uint8_t *data, size_t length,
		     uint64_t position)
{
	while (length) {
		/* What is committed is not touched, so only keys since then can grow. */
		const uint8_t *last =
			file->open && file->keys ? key_at(file, file->keys - 1) : NULL;
		size_t room = KEY_MOST_BYTES, piece;
		bool new_key = true;
		int rc;

		if (last && get32(last + KEY_LENGTH) < KEY_MOST_BYTES &&
		    get64(last) * FL_UNDO_BLOCK_BYTES + get32(last + KEY_LENGTH) == position) {
			new_key = false;
			room -= get32(last + KEY_LENGTH);
		}
		piece = (size_t)fl_min(length, room);
		rc = add_piece(file, data, piece, position, new_key);
		if (rc)
			return rc;
		data += piece;
		length -= piece;
		position += piece;
	}
	return 0;
}

int fl_undo_file_commit(struct fl_undo_file *file, const uint8_t super[FL_UNDO_SUPER_BYTES])
{
	bool new_super = memcmp(super, file->super, sizeof(file->super)) != 0;
	uint64_t slot = new_super ? 2 * FIRST_SUPER + 1 - file->super_slot : file->super_slot;
	int rc = 0;

	if (file->flush_error || (!file->added && !new_super))
		return file->flush_error;
	if (file->open && file->keys)
		rc = write_keys(file);
	if (!rc && new_super)
		rc = write_super(file, slot, super);
	/* e2undo reads whole blocks; the last one may be a hole. */
	if (!rc && ftruncate(file->fd, (off_t)(file->end_block * FL_UNDO_BLOCK_BYTES)))
		rc = fl_device_host_error(errno);
	if (!rc)
		rc = flush(file);
	if (!rc)
		rc = write_header(file, slot, super);
	if (!rc)
		rc = flush(file);
	if (rc) {
		/* Which header the disk has is not known: nothing may be built on either. */
		file->flush_error = rc;
		return rc;
	}
	file->super_slot = slot;
	memcpy(file->super, super, sizeof(file->super));
	/* A block without keys is not counted yet, so it may still be filled. */
	file->open = file->open && !file->keys;
	file->added = false;
	return 0;
}

/* The name must survive a crash as the content does. */
static int flush_folder(const char *path)
{
	char *copy = strdup(path);
	int fd, rc = 0;

	if (!copy)
		return FL_ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(copy);
	if (fd < 0)
		return FL_EIO;
	if (fsync(fd) && errno != EINVAL)
		rc = fl_device_host_error(errno);
	(void)close(fd);
	return rc;
}

int fl_undo_file_create(const char *path, uint64_t position,
			const uint8_t super[FL_UNDO_SUPER_BYTES], struct fl_undo_file **file,
			struct fl_diag *diag)
{
	struct fl_undo_file *made = calloc(1, sizeof(*made));
	int rc;

	if (!made)
		return fl_fail(diag, FL_ENOMEM, "undo: memory ran out");
	made->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (made->fd < 0) {
		rc = errno == EEXIST ? FL_EINVAL : fl_device_host_error(errno);
		rc = fl_fail(diag, rc, "undo: cannot create %s: %s", path, strerror(errno));
		free(made);
		return rc;
	}
	made->end_block = FIRST_KEY;
	made->super_slot = FIRST_SUPER;
	made->position = position;
	memcpy(made->super, super, sizeof(made->super));
	rc = write_super(made, FIRST_SUPER, super);
	if (!rc && ftruncate(made->fd, (off_t)(made->end_block * FL_UNDO_BLOCK_BYTES)))
		rc = fl_device_host_error(errno);
	if (!rc)
		rc = write_header(made, FIRST_SUPER, super);
	if (!rc)
		rc = flush(made);
	if (!rc)
		rc = flush_folder(path);
	if (rc) {
		(void)unlink(path);
		fl_undo_file_close(made);
		return fl_fail(diag, rc, "undo: cannot write %s: %s", path, fl_error_text(rc));
	}
	*file = made;
	return 0;
}

void fl_undo_file_close(struct fl_undo_file *file)
{
	if (!file)
		return;
	(void)close(file->fd);
	free(file);
}
