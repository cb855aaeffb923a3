/* SPDX-License-Identifier: MIT */
/*
 * Reads a filesystem into a map, and refuses it unless the map agrees with the
 * bitmaps and counters on disk. Only reads.
 */
#ifndef FRAGLAB_SCAN_H
#define FRAGLAB_SCAN_H

#include <fraglab/fs.h>
#include <fraglab/map.h>

/* Called now and then with the inodes done and the total; NULL for none. */
typedef void (*fl_scan_progress)(void *context, uint64_t done, uint64_t total);

/*
 * Walks every inode in use, its mapping and its xattr block, and every directory (for names).
 * FL_EDAMAGED: a block with two owners, outside the filesystem, a wrong checksum, a broken
 * tree, or any disagreement with block bitmap, group or superblock counters: the text names
 * inode and block. FL_EFEATURE: an inode of a kind this version cannot handle. FL_EIO, FL_ENOMEM.
 * I/O: inode tables in use, mapping-tree blocks, directories. Memory about 24 bytes an extent,
 * 100 an inode with blocks, 12 + length a name.
 */
int fl_scan(struct fl_fs *fs, fl_scan_progress progress, void *context, struct fl_map **map,
	    struct fl_diag *diag) FL_CHECKED;

#endif
