/* SPDX-License-Identifier: MIT */
/*
 * Reads the indirect blocks of an ext2-style inode, in file order. A block pointer of 0 is a
 * hole. Must stay bounded when pointers form a loop: there are no checksums.
 */
#include <common/scan/scan_internal.h>

#include <inttypes.h>

struct walk {
	struct scan *scan;
	struct subject *subject;
	uint64_t lblk;	/* of the next pointer */
	bool is_resize; /* inode 7, whose blocks are reserved descriptors */
};

static int damaged(struct walk *walk, const char *what, fl_pblk block)
{
	return fl_fail(walk->scan->diag, FL_EDAMAGED,
		       "inode %u: logical block %" PRIu64 ": %s block %" PRIu64 RUN_E2FSCK,
		       walk->subject->ino, walk->lblk, what, block);
}

static int add_block(struct walk *walk, fl_pblk block)
{
	struct scan *scan = walk->scan;
	struct fl_file *file = walk->subject->file;
	struct fl_extent extent = {.pblk = block, .lblk = (fl_lblk)walk->lblk, .len = 1};
	struct fl_extent *last;

	if (!fl_scan_blocks_valid(scan, block, 1))
		return damaged(walk, "outside the filesystem:", block);
	if (walk->lblk > FL_LBLK_MAX)
		return damaged(walk, "beyond the largest file:", block);
	/* A loop of indirect blocks would map the same blocks again and again. */
	if (file->blocks >= scan->map->geo.blocks)
		return damaged(walk, "more blocks than the filesystem has, up to", block);
	file->blocks++;
	last = file->extent_count ? &scan->map->extents.at[scan->map->extents.count - 1] : NULL;
	if (last && fl_extent_lend(last) == walk->lblk && fl_extent_pend(last) == block) {
		last->len++;
		return 0;
	}
	file->extent_count++;
	return fl_array_push(&scan->map->extents, extent);
}

/*
 * The resize inode lists, for each reserved descriptor block of group 0, its copies in the
 * backup groups. All of these are fixed metadata; only the top block is the inode's own.
 *
 * With bigalloc and 1 KiB blocks the first superblock is in block 1 of its group, but the copies
 * are in block 0 of theirs; mke2fs and e2fsck ignore that, and so the list is one too high.
 */
static bool is_resize_block(const struct scan *scan, fl_pblk block)
{
	const struct fl_geometry *geo = &scan->map->geo;

	if (fl_scan_is_descriptor(scan, block))
		return true;
	return geo->cluster_blocks > 1 && geo->block_bytes == 1024 &&
	       fl_scan_is_descriptor(scan, block - 1);
}

static int add_resize_block(struct walk *walk, fl_pblk block)
{
	if (!is_resize_block(walk->scan, block))
		return damaged(walk, "not a reserved descriptor:", block);
	walk->subject->fixed_blocks++;
	/* A loop, as in add_block. */
	if (walk->subject->fixed_blocks > walk->scan->map->geo.blocks)
		return damaged(walk, "more blocks than the filesystem has, up to", block);
	return 0;
}

static int add_data(struct walk *walk, fl_pblk block)
{
	return walk->is_resize ? add_resize_block(walk, block) : add_block(walk, block);
}

/* Maps what pointer leads to: a data block at height 0, else an indirect block of that height. */
static int map_pointer(struct walk *walk, uint32_t pointer, unsigned height)
{
	struct scan *scan = walk->scan;
	size_t bytes = scan->map->geo.block_bytes, count = bytes / sizeof(uint32_t);
	/* Each height has its own buffer, so the recursion (at most 3 deep) can go on with it. */
	const uint32_t *pointers = (const uint32_t *)(scan->nodes + height * bytes);
	uint64_t covers = 1;
	int error;

	for (unsigned i = 0; i < height; i++)
		covers *= count;
	if (!pointer) {
		walk->lblk += covers;
		return 0;
	}
	if (!height) {
		error = add_data(walk, pointer);
		walk->lblk++;
		return error;
	}
	if (!fl_scan_blocks_valid(scan, pointer, 1))
		return damaged(walk, "an indirect block outside the filesystem:", pointer);
	if (walk->is_resize && height == 1) {
		error = add_resize_block(walk, pointer);
	} else {
		walk->subject->file->tree_count++;
		error = fl_array_push(&scan->map->trees, pointer);
		if (!error && walk->subject->file->tree_count > scan->map->geo.blocks)
			error = damaged(walk, "a loop through indirect", pointer);
	}
	if (!error)
		error = fl_scan_read_block(scan, walk->subject->ino, pointer,
					   scan->nodes + height * bytes);
	if (!error && height > 1)
		fl_scan_announce_pointers(scan, pointers, count);
	for (size_t i = 0; i < count && !error; i++)
		error = map_pointer(walk, ext2fs_le32_to_cpu(pointers[i]), height - 1);
	return error;
}

int fl_scan_indirect_mapped(struct scan *scan, struct subject *subject)
{
	const uint32_t *pointers = subject->inode->i_block;
	struct walk walk = {.scan = scan,
			    .subject = subject,
			    .is_resize = subject->file->kind == FL_KIND_RESIZE};
	int error = 0;

	for (unsigned i = 0; i < EXT2_NDIR_BLOCKS && !error; i++)
		error = map_pointer(&walk, pointers[i], 0);
	for (unsigned height = 1; height <= 3 && !error; height++)
		error = map_pointer(&walk, pointers[EXT2_NDIR_BLOCKS + height - 1], height);
	return error;
}
