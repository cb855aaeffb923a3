/* SPDX-License-Identifier: MIT */
/*
 * The directory entries a scan keeps while it makes names of them.
 */
#ifndef FRAGLAB_SCAN_NAMES_H
#define FRAGLAB_SCAN_NAMES_H

#include <common/scan/scan_internal.h>

#define NO_INDEX UINT32_MAX

/* Finds the index of an inode number in a sorted list, in constant time. */
struct rank {
	uint64_t *bits;	  /* bit ino - 1 */
	uint32_t *before; /* members before each word of bits */
};

/* NO_INDEX: not in the list. */
uint32_t fl_scan_rank_find(const struct rank *rank, fl_ino ino);

/* An entry of a directory that leads to a directory or to a file that owns blocks. */
struct entry {
	fl_ino ino;
	uint32_t text;	    /* offset of the name in entries->texts */
	uint32_t directory; /* index into scan->directories, or NO_INDEX */
	uint32_t file;	    /* index into map->files, or NO_INDEX */
	uint32_t place;	    /* among those of its directory, as it lists them */
};

/* Zero-initialise; free with fl_scan_entries_free. */
struct entries {
	FL_ARRAY(struct entry) at; /* those of a directory together, in byte order of the names */
	/* The same in the order in which the directory lists them: indexes from its first on. */
	FL_ARRAY(uint32_t) listed;
	FL_ARRAY(char) texts;
	struct rank files;	 /* over map->files */
	struct rank directories; /* over scan->directories */
};

/* --- listing.c: the order in which a directory lists its entries --- */

struct listed {
	uint32_t hash, minor_hash;
	uint32_t entry; /* as stored, from 0 */
};

/* Of the directory at hand. Zero-initialise; free with fl_array_free. */
struct listing {
	FL_ARRAY(struct listed);
	bool hashed;
	int version; /* of the hash, EXT2_HASH_... */
};

/* Of a directory of so many blocks. */
void fl_scan_listing_begin(struct listing *listing, const struct scan *scan,
			   const struct directory *directory, uint64_t blocks);
/* Its first block, before any entry is added. */
void fl_scan_listing_root(struct listing *listing, const struct directory *directory,
			  const unsigned char *block);
/* An entry that has been checked. FL_ENOMEM */
int fl_scan_listing_add(struct listing *listing, const struct scan *scan,
			const struct directory *directory, const struct ext2_dir_entry *raw);
/* Sets the place of each entry; they are in the order in which they were added. */
void fl_scan_listing_end(struct listing *listing, struct entry *entries);

/* --- entries.c --- */

/* Reads all directories and sets their first_entry and entry_count. */
int fl_scan_entries_read(struct scan *scan, struct entries *entries);
void fl_scan_entries_free(struct entries *entries);

#endif
