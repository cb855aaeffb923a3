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
};

/* Zero-initialise; free with fl_scan_entries_free. */
struct entries {
	FL_ARRAY(struct entry) at; /* those of a directory together, in byte order of the names */
	FL_ARRAY(char) texts;
	struct rank files;	 /* over map->files */
	struct rank directories; /* over scan->directories */
};

/* Reads all directories and sets their first_entry and entry_count. */
int fl_scan_entries_read(struct scan *scan, struct entries *entries);
void fl_scan_entries_free(struct entries *entries);

#endif
