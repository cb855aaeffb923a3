/* SPDX-License-Identifier: MIT */
/*
 * Blocks that are made anew, not copied: mapping trees. Must only write to claimed blocks.
 */
#include "move_internal.h"

#include <stdlib.h>
#include <string.h>

int move_write_block(struct fl_fs *fs, fl_pblk place, const void *block, bool verify)
{
	const uint32_t bytes = fl_fs_geometry(fs)->block_bytes;
	errcode_t code = io_channel_write_blk64(fl_fs_ext2(fs)->io, place, 1, block);
	void *found;
	int error;

	if (code || !verify)
		return code ? fl_fs_error(fs, code) : 0;
	found = malloc(bytes);
	if (!found)
		return FL_ENOMEM;
	error = fl_device_read(fl_fs_device(fs), found, bytes, place * bytes);
	if (!error && memcmp(found, block, bytes))
		error = FL_EVERIFY;
	free(found);
	return error;
}
