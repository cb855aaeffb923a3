/* SPDX-License-Identifier: MIT */
/*
 * What the parts of a scan share while the map grows. Lives for one fl_scan.
 */
#ifndef FRAGLAB_SCAN_INTERNAL_H
#define FRAGLAB_SCAN_INTERNAL_H

#include <fraglab/scan.h>

#include <common/fs/fs_internal.h>

/* Ends every message about damage. */
#define RUN_E2FSCK "; run e2fsck -f IMAGE first"

/* Deepest extent tree that can be (a full 2^32 blocks need no more). */
#define MAX_DEPTH 5

/* A directory whose entries are to be read; by ino. */
struct directory {
	fl_ino ino;
	uint32_t name;	    /* index into map->names once it has one, else FL_NO_NAME */
	bool is_inline;	    /* its entries are in the inode */
	bool is_encrypted;  /* names are ciphertext: any byte may occur */
	bool is_casefolded; /* upper and lower case are the same */
	bool is_indexed;    /* with a tree of hashes */
	size_t first_entry; /* entries.at[first_entry ..], in name order once sorted */
	size_t entry_count;
};

struct xattr_use {
	fl_pblk block;
	fl_ino ino;
	bool immutable;
};

/* What the pins need to know of an inode and the map does not keep; one a map->files entry. */
struct trait {
	uint16_t mode;
	bool immutable;
};

struct scan {
	struct fl_fs *fs;
	ext2_filsys ext2;
	struct fl_device *device;
	struct fl_map *map;
	struct fl_diag *diag;
	fl_scan_progress progress;
	void *context;

	unsigned char *inodes_used;	     /* the inode bitmap: bit ino - 1 */
	unsigned char *nodes;		     /* MAX_DEPTH mapping blocks, one a level */
	FL_ARRAY(struct fl_run) descriptors; /* superblocks, descriptors, reserved ones; by start */
	FL_ARRAY(struct directory) directories;
	FL_ARRAY(struct xattr_use) xattr_uses;
	FL_ARRAY(struct trait) traits;
	FL_ARRAY(struct fl_file) xattr_files;
};

/*
 * ahead.c: announces what will be read soon. SCAN_AHEAD: so many inodes, directories or uses of
 * xattr blocks are looked at ahead of the one at hand; the memory of so many inodes is taken.
 */
#define SCAN_AHEAD 512
/* What an inode that maps blocks has of mapping blocks, as far as the inode tells. */
void fl_scan_announce_mapping(struct scan *scan, const struct ext2_inode *inode);
/* What an index node of so many bytes leads to, and what pointers of an indirect block do. */
void fl_scan_announce_children(struct scan *scan, const struct ext3_extent_header *node,
			       size_t bytes);
void fl_scan_announce_pointers(struct scan *scan, const uint32_t *pointers, size_t count);
void fl_scan_announce_directory(struct scan *scan, const struct fl_file *file);
/* In order of blocks. */
void fl_scan_announce_xattrs(struct scan *scan, const struct xattr_use *uses, size_t count);

/* The inode at hand. */
struct subject {
	fl_ino ino;
	const struct ext2_inode *inode;
	struct fl_file *file;  /* being filled; not yet in map->files */
	uint64_t fixed_blocks; /* counted in its i_blocks, but fixed metadata (resize inode) */
};

/* Reads one filesystem block into buffer. FL_EIO with the inode named. */
int fl_scan_read_block(struct scan *scan, fl_ino ino, fl_pblk block, void *buffer);

/* True when len > 0 blocks from start are inside the filesystem and not block 0. */
static inline bool fl_scan_blocks_valid(const struct scan *scan, fl_pblk start, uint64_t len)
{
	const struct fl_geometry *geo = &scan->map->geo;

	return start && start >= geo->first_data_block && start < geo->blocks &&
	       len <= geo->blocks - start;
}

static inline bool fl_scan_inode_used(const struct scan *scan, fl_ino ino)
{
	return scan->inodes_used[(ino - 1) / 8] >> ((ino - 1) & 7) & 1;
}

/* True when the block holds a superblock, a descriptor or is reserved for descriptors. */
bool fl_scan_is_descriptor(const struct scan *scan, fl_pblk block);

/* metadata.c: fills map->fixed and scan->descriptors. */
int fl_scan_metadata(struct scan *scan);

/*
 * extent_mapped.c, indirect_mapped.c: append the inode's data to map->extents and its mapping
 * blocks to map->trees, and count them in subject->file.
 */
int fl_scan_extent_mapped(struct scan *scan, struct subject *subject);
int fl_scan_indirect_mapped(struct scan *scan, struct subject *subject);

/* inodes.c: fills files, extents, trees, directories, xattr_uses. */
int fl_scan_inodes(struct scan *scan);

/*
 * ea_values.c: blocks that i_blocks counts for attribute values that are inodes of their own.
 * I/O with the feature ea_inode: the xattr block.
 */
int fl_scan_ea_values(struct scan *scan, const struct subject *subject, uint64_t *blocks);

/* xattrs.c: reads each xattr block once and adds it to the files. After the pins. */
int fl_scan_xattrs(struct scan *scan);

/* names.c: reads every directory; fills map->names, texts, and each file's name and rank. */
int fl_scan_names(struct scan *scan);

/* boot.c: reads the boot sector; whether it names the place of a file's first block. */
int fl_scan_boot(struct scan *scan);

/* pins.c: decides what stays where it is. After the names. */
int fl_scan_pins(struct scan *scan);

/* crosscheck.c: the finished map against the bitmaps and counters on disk. */
int fl_scan_crosscheck(struct scan *scan);

#endif
