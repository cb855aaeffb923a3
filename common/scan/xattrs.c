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
	return 0;
}

/* It stays when one of its owners does. */
static enum fl_pin pin_of(const struct fl_map *map, const struct xattr_use *uses, size_t users)
{
	enum fl_pin pin = FL_PIN_NONE;

	for (size_t i = 0; i < users; i++) {
		size_t file;

		if (uses[i].immutable && pin == FL_PIN_NONE)
			pin = FL_PIN_IMMUTABLE;
		/* Of several reasons, not the one that can be lifted. */
		if (fl_map_find(map, uses[i].ino, &file) && map->files.at[file].pin &&
		    (pin == FL_PIN_NONE || pin == FL_PIN_IMMUTABLE))
			pin = map->files.at[file].pin;
	}
	return pin;
}

static int add_block(struct scan *scan, const struct xattr_use *uses, size_t users)
{
	struct fl_map *map = scan->map;
	struct fl_extent extent = {.pblk = uses->block, .len = 1};
	struct fl_file file = {
		.ino = uses->ino,
		.kind = FL_KIND_XATTR,
		.mapping = FL_MAPPING_EXTENTS,
		.pin = (uint8_t)pin_of(map, uses, users),
		.name = FL_NO_NAME,
		.path_rank = FL_NO_NAME,
		.listing_rank = FL_NO_NAME,
		.size_bytes = map->geo.block_bytes,
		.blocks = 1,
		.first_extent = map->extents.count,
		.extent_count = 1,
		.first_tree = map->trees.count,
		.first_owner = map->owners.count,
		.owner_count = users,
	};

	for (size_t i = 0; i < users; i++)
		if (fl_array_push(&map->owners, uses[i].ino))
			return FL_ENOMEM;
	if (fl_array_push(&map->extents, extent))
		return FL_ENOMEM;
	return fl_array_push(&scan->xattr_files, file);
}

static int compare_files(const void *a, const void *b)
{
	const struct fl_file *left = a, *right = b;

	return fl_compare(left->ino, right->ino);
}

/* Behind the inodes, by first owner: an order that moving does not change. */
static int append_files(struct scan *scan)
{
	int error = 0;

	if (scan->xattr_files.count)
		qsort(scan->xattr_files.at, scan->xattr_files.count, sizeof(struct fl_file),
		      compare_files);
	for (size_t i = 0; i < scan->xattr_files.count && !error; i++)
		error = fl_array_push(&scan->map->files, scan->xattr_files.at[i]);
	return error;
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
	for (size_t i = 0, announced = 0; i < count && !error; i += users) {
		if (i >= announced) {
			size_t some = fl_min(count - i, SCAN_AHEAD);

			fl_scan_announce_xattrs(scan, uses + i, some);
			announced = i + some;
		}
		for (users = 1; i + users < count && uses[i + users].block == uses[i].block;)
			users++;
		error = check_block(scan, &uses[i], users, buffer);
		if (!error)
			error = add_block(scan, &uses[i], users);
	}
	if (!error)
		error = append_files(scan);
	free(buffer);
	return error;
}
