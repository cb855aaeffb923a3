/* SPDX-License-Identifier: MIT */
/*
 * Extended attribute blocks. Several inodes may share one, and its checksum covers its place;
 * so each is read once and must have as many users as it says.
 */
#include <common/scan/scan_internal.h>

#include <inttypes.h>
#include <stdlib.h>

static int compare_uses(const void *a, const void *b)
{
	const struct xattr_use *left = a, *right = b;
	int order = fl_compare(left->block, right->block);

	return order ? order : fl_compare(left->ino, right->ino);
}

static int check_block(struct scan *scan, const struct xattr_use *use, size_t users, void *buffer)
{
	const struct ext2_ext_attr_header *header = buffer;
	struct fl_run run = {use->block, 1};
	errcode_t code = ext2fs_read_ext_attr3(scan->ext2, use->block, buffer, use->ino);

	if (code)
		return fl_fail(scan->diag, fl_fs_error(scan->fs, code),
			       "inode %u: xattr block %" PRIu64 ": %s" RUN_E2FSCK, use->ino,
			       use->block, error_message(code));
	if (header->h_blocks != 1 || header->h_refcount != users)
		return fl_fail(scan->diag, FL_EDAMAGED,
			       "inode %u: xattr block %" PRIu64
			       " says it has %u users and %u blocks, but has %zu and 1" RUN_E2FSCK,
			       use->ino, use->block, header->h_refcount, header->h_blocks, users);
	return fl_array_push(&scan->map->xattrs, run);
}

int fl_scan_xattrs(struct scan *scan)
{
	struct xattr_use *uses = scan->xattr_uses.at;
	size_t count = scan->xattr_uses.count, users;
	void *buffer;
	int error = 0;

	if (!count)
		return 0;
	buffer = malloc(scan->map->geo.block_bytes);
	if (!buffer)
		return FL_ENOMEM;
	qsort(uses, count, sizeof(*uses), compare_uses);
	for (size_t i = 0; i < count && !error; i += users) {
		for (users = 1; i + users < count && uses[i + users].block == uses[i].block;)
			users++;
		error = check_block(scan, &uses[i], users, buffer);
	}
	free(buffer);
	return error;
}
