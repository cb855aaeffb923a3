/* SPDX-License-Identifier: MIT */
/*
 * A read-only io_manager of libext2fs on bytes in memory. Must not keep anything else.
 */
#include "tests/lib/memio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory {
	const uint8_t *bytes;
	size_t size_bytes;
};

static errcode_t memio_open_channel(const char *name, int flags, io_channel *channel);

static errcode_t memio_close(io_channel channel)
{
	if (--channel->refcount > 0)
		return 0;
	free(channel->private_data);
	free(channel->name);
	free(channel);
	return 0;
}

static errcode_t memio_set_blksize(io_channel channel, int block_bytes)
{
	channel->block_size = block_bytes;
	return 0;
}

/* A negative count is a number of bytes. */
static errcode_t memio_read(io_channel channel, unsigned long long block, int count, void *data)
{
	const struct memory *memory = channel->private_data;
	uint64_t bytes =
		count < 0 ? (uint64_t)-count : (uint64_t)count * (uint64_t)channel->block_size;
	uint64_t from;

	if (__builtin_mul_overflow((uint64_t)block, (uint64_t)channel->block_size, &from) ||
	    from > memory->size_bytes || bytes > memory->size_bytes - from)
		return EXT2_ET_SHORT_READ;
	memcpy(data, memory->bytes + from, bytes);
	return 0;
}

static errcode_t memio_read_blk(io_channel channel, unsigned long block, int count, void *data)
{
	return memio_read(channel, block, count, data);
}

static errcode_t memio_write(io_channel channel, unsigned long long block, int count,
			     const void *data)
{
	(void)channel, (void)block, (void)count, (void)data;
	return EROFS;
}

static errcode_t memio_write_blk(io_channel channel, unsigned long block, int count,
				 const void *data)
{
	return memio_write(channel, block, count, data);
}

static errcode_t memio_flush(io_channel channel)
{
	(void)channel;
	return 0;
}

static const struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER,
	.name = "memory",
	.open = memio_open_channel,
	.close = memio_close,
	.set_blksize = memio_set_blksize,
	.read_blk = memio_read_blk,
	.write_blk = memio_write_blk,
	.flush = memio_flush,
	.read_blk64 = memio_read,
	.write_blk64 = memio_write,
};

static errcode_t memio_open_channel(const char *name, int flags, io_channel *channel)
{
	struct struct_io_channel *made = calloc(1, sizeof(*made));
	struct memory *memory = calloc(1, sizeof(*memory));
	uintptr_t address;

	(void)flags;
	if (!made || !memory ||
	    sscanf(name, "%" SCNxPTR ":%zx", &address, &memory->size_bytes) != 2)
		goto fail;
	memory->bytes = (const uint8_t *)address;
	made->name = strdup(name);
	if (!made->name)
		goto fail;
	made->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	made->manager = (io_manager)(uintptr_t)&manager;
	made->block_size = 1024;
	made->refcount = 1;
	made->private_data = memory;
	*channel = made;
	return 0;
fail:
	free(made);
	free(memory);
	return EXT2_ET_NO_MEMORY;
}

errcode_t memio_open(const uint8_t *bytes, size_t size_bytes, ext2_filsys *fs)
{
	char name[64];

	snprintf(name, sizeof(name), "%" PRIxPTR ":%zx", (uintptr_t)bytes, size_bytes);
	*fs = NULL;
	return ext2fs_open2(name, NULL, EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0, 0,
			    (io_manager)(uintptr_t)&manager, fs);
}
