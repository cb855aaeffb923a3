/* SPDX-License-Identifier: MIT */
/*
 * The io_manager that lets libext2fs work on an fl_device. No cache: the order of writes is
 * the order of calls. No write_byte: with it libext2fs would write the superblock in pieces.
 */
#include <common/device/ext2io.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static errcode_t io_open(const char *name, int flags, io_channel *channel)
{
	struct struct_io_channel *made;
	uintptr_t address;

	(void)flags;
	if (!name || sscanf(name, "fl:%" SCNxPTR, &address) != 1)
		return EXT2_ET_BAD_DEVICE_NAME;
	made = calloc(1, sizeof(*made));
	if (!made)
		return EXT2_ET_NO_MEMORY;
	made->name = strdup(name);
	if (!made->name) {
		free(made);
		return EXT2_ET_NO_MEMORY;
	}
	made->magic = EXT2_ET_MAGIC_IO_CHANNEL;
	made->manager = fl_ext2io_manager();
	made->block_size = 1024;
	made->refcount = 1;
	made->private_data = (struct fl_ext2io *)address;
	*channel = made;
	return 0;
}

static errcode_t io_close(io_channel channel)
{
	if (--channel->refcount > 0)
		return 0;
	free(channel->name);
	free(channel);
	return 0;
}

static errcode_t io_set_blksize(io_channel channel, int block_bytes)
{
	if (block_bytes <= 0)
		return EXT2_ET_INVALID_ARGUMENT;
	channel->block_size = block_bytes;
	return 0;
}

/* A negative count is a number of bytes. False: the request has no meaning. */
static bool locate(io_channel channel, unsigned long long block, int count, size_t *length,
		   uint64_t *position)
{
	int64_t bytes = count < 0 ? -(int64_t)count : (int64_t)count * channel->block_size;

	if (__builtin_mul_overflow((uint64_t)block, (uint64_t)channel->block_size, position))
		return false;
	*length = (size_t)bytes;
	return true;
}

static errcode_t finish(io_channel channel, int error)
{
	struct fl_ext2io *io = channel->private_data;

	if (!error)
		return 0;
	io->last_error = error;
	switch (error) {
	case FL_EHOSTFULL:
		return ENOSPC;
	case FL_ENOMEM:
		return EXT2_ET_NO_MEMORY;
	case FL_EINVAL:
		return EXT2_ET_BAD_BLOCK_NUM;
	default:
		return EIO;
	}
}

static errcode_t io_read_blk64(io_channel channel, unsigned long long block, int count, void *data)
{
	struct fl_ext2io *io = channel->private_data;
	uint64_t position;
	size_t length;

	if (!locate(channel, block, count, &length, &position))
		return finish(channel, FL_EINVAL);
	return finish(channel, fl_device_read(io->device, data, length, position));
}

static errcode_t io_write_blk64(io_channel channel, unsigned long long block, int count,
				const void *data)
{
	struct fl_ext2io *io = channel->private_data;
	uint64_t position;
	size_t length;

	if (!locate(channel, block, count, &length, &position))
		return finish(channel, FL_EINVAL);
	return finish(channel, fl_device_write(io->device, data, length, position));
}

static errcode_t io_read_blk(io_channel channel, unsigned long block, int count, void *data)
{
	return io_read_blk64(channel, block, count, data);
}

static errcode_t io_write_blk(io_channel channel, unsigned long block, int count, const void *data)
{
	return io_write_blk64(channel, block, count, data);
}

static errcode_t io_flush(io_channel channel)
{
	struct fl_ext2io *io = channel->private_data;

	return finish(channel, fl_device_flush(io->device));
}

static const struct struct_io_manager manager = {
	.magic = EXT2_ET_MAGIC_IO_MANAGER,
	.name = "fraglab device",
	.open = io_open,
	.close = io_close,
	.set_blksize = io_set_blksize,
	.read_blk = io_read_blk,
	.write_blk = io_write_blk,
	.flush = io_flush,
	.read_blk64 = io_read_blk64,
	.write_blk64 = io_write_blk64,
};

io_manager fl_ext2io_manager(void)
{
	/* libext2fs never writes to it; only its prototypes lack the const. */
	return (io_manager)(uintptr_t)&manager;
}

const char *fl_ext2io_name(struct fl_ext2io *io, char name[FL_EXT2IO_NAME])
{
	snprintf(name, FL_EXT2IO_NAME, "fl:%" PRIxPTR, (uintptr_t)io);
	return name;
}

int fl_ext2io_error(struct fl_ext2io *io, errcode_t code)
{
	int device_error = io->last_error;

	io->last_error = 0;
	if (!code)
		return 0;
	if (device_error)
		return device_error == FL_EINVAL ? FL_EDAMAGED : device_error;
	switch (code) {
	case ENOMEM:
	case EXT2_ET_NO_MEMORY:
		return FL_ENOMEM;
	case EIO:
		return FL_EIO;
	case ENOSPC:
		return FL_EHOSTFULL;
	case EXT2_ET_INVALID_ARGUMENT:
	case EXT2_ET_RO_FILSYS:
		return FL_EINVAL;
	case EXT2_ET_BAD_MAGIC:
		return FL_ENOTEXT;
	case EXT2_ET_REV_TOO_HIGH:
	case EXT2_ET_UNSUPP_FEATURE:
	case EXT2_ET_RO_UNSUPP_FEATURE:
	case EXT2_ET_UNKNOWN_CSUM:
		return FL_EFEATURE;
	default:
		return FL_EDAMAGED;
	}
}
