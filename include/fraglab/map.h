/* SPDX-License-Identifier: MIT */
/*
 * The extent map: what every block of a filesystem is used for, as runs. A map is
 * const once scanned (or predicted) and needs no image.
 *
 * Ownership of the whole: free with fl_map_free. Arrays are sorted as stated and
 * never overlap. Every block of first_data_block .. blocks-1 (and block 0) is in
 * exactly one of: a file's data, a file's mapping tree, fixed metadata, free.
 */
#ifndef FRAGLAB_MAP_H
#define FRAGLAB_MAP_H

#include <fraglab/geometry.h>
#include <fraglab/util.h>

enum fl_kind {
	FL_KIND_REGULAR,
	FL_KIND_DIRECTORY,
	FL_KIND_SYMLINK, /* slow: its text has a block */
	FL_KIND_JOURNAL,
	FL_KIND_RESIZE,	    /* inode 7: reserved descriptor blocks */
	FL_KIND_BAD_BLOCKS, /* inode 1 */
	FL_KIND_HIDDEN,	    /* quota, boot loader, orphan file, EA inodes */
	/*
	 * A block of extended attributes, which one or more inodes share. Not an inode, but moved
	 * as if it were a file of one block; it has no name, and its `ino` is its first owner.
	 */
	FL_KIND_XATTR,
};

enum fl_mapping {
	FL_MAPPING_EXTENTS,  /* the mapping tree is an extent tree */
	FL_MAPPING_INDIRECT, /* the mapping tree is the indirect blocks */
};

/* Why a file stays where it is. */
enum fl_pin {
	FL_PIN_NONE,	  /* movable */
	FL_PIN_SYSTEM,	  /* journal, resize inode, bad blocks, other reserved inodes */
	FL_PIN_HIDDEN,	  /* an inode without a name */
	FL_PIN_IMMUTABLE, /* chattr +i */
	FL_PIN_SWAP,	  /* a swap file: its place may be in the boot configuration */
	FL_PIN_BOOT,	  /* a boot loader reads it by block number */
	FL_PIN_COUNT
};

#define FL_NO_NAME UINT32_MAX

/*
 * A directory entry worth remembering: the first name (in path order) of each directory
 * and of each file that owns blocks. Names need not be UTF-8. The root has parent FL_NO_NAME
 * and the empty text.
 */
struct fl_name {
	fl_ino ino;
	uint32_t parent; /* index into map->names */
	uint32_t text;	 /* offset of the NUL-terminated name in map->texts */
};

/* An inode that owns data blocks, or a block of extended attributes. */
struct fl_file {
	fl_ino ino;
	uint8_t kind;	 /* enum fl_kind */
	uint8_t mapping; /* enum fl_mapping */
	uint8_t pin;	 /* enum fl_pin */
	uint32_t name;	 /* index into map->names, or FL_NO_NAME */
	uint32_t
		path_rank; /* place in path order among the named files, from 0; FL_NO_NAME: none */
	uint64_t size_bytes; /* i_size */
	int64_t mtime;	     /* seconds since 1970 */
	uint64_t blocks;     /* data blocks: the sum of its extents */
	size_t first_extent; /* map->extents[first_extent ..], logical order, as stored on disk */
	size_t extent_count;
	size_t first_tree; /* map->trees[first_tree ..], preorder (a node before what it maps) */
	size_t tree_count;
	size_t first_owner; /* FL_KIND_XATTR: map->owners[first_owner ..], by ino */
	size_t owner_count;
};

/* Arrays of runs: zero-initialise, free with fl_array_free. */
struct fl_runs {
	FL_ARRAY(struct fl_run);
};

/* Arrays of extents in logical order: zero-initialise, free with fl_array_free. */
struct fl_extents {
	FL_ARRAY(struct fl_extent);
};

/* Where the fixed metadata of a block group lies; with flex_bg often in another group. */
struct fl_group_places {
	fl_pblk block_bitmap, inode_bitmap, inode_table;
	uint32_t inodes_used; /* entries of the table ever used: those after it are not read */
};

struct fl_map {
	struct fl_geometry geo;
	FL_ARRAY(struct fl_file) files; /* inodes by ino, then FL_KIND_XATTR by ino */
	size_t inode_count;		/* how many of them are inodes; set by fl_map_finish */
	FL_ARRAY(fl_ino) owners;	/* of xattr blocks */
	struct fl_extents extents;
	FL_ARRAY(fl_pblk) trees; /* mapping-tree blocks, one entry a block */
	struct fl_runs fixed;	 /* metadata at fixed places, by start, maximal runs */
	/* One a group, also part of fixed; or none: not known (analyzers then leave them out). */
	FL_ARRAY(struct fl_group_places) groups;
	struct fl_runs free;  /* free blocks, by start, maximal runs */
	uint64_t free_blocks; /* the sum of free */
	FL_ARRAY(struct fl_name) names;
	FL_ARRAY(char) texts;
};

/* An empty map. FL_ENOMEM. */
int fl_map_new(const struct fl_geometry *geo, struct fl_map **map) FL_CHECKED;
/* NULL is legal. */
void fl_map_free(struct fl_map *map);
/*
 * Call it once everything that is owned is in. Checks every rule above (order, no overlap, no
 * block owned twice, counts add up), makes fixed sorted and maximal, counts the inodes, and fills
 * free and free_blocks with what nobody owns. FL_EDAMAGED with the block and both owners in diag.
 * O(blocks / 64 + runs log runs).
 */
int fl_map_finish(struct fl_map *map, struct fl_diag *diag) FL_CHECKED;

/*
 * The path of a name in buffer, always NUL-terminated, cut at the front ("...") when it is too
 * long; bytes that are not printable are escaped as \xNN when `escape`. Returns the text,
 * which lies somewhere in buffer; FL_NO_NAME gives the empty text.
 */
const char *fl_map_path(const struct fl_map *map, uint32_t name, bool escape, char *buffer,
			size_t buffer_bytes);
/* Index of the inode with this number. False: it owns no data blocks. O(log files). */
bool fl_map_find(const struct fl_map *map, fl_ino ino, size_t *file);
/* True when planners may move it. */
static inline bool fl_file_movable(const struct fl_file *file)
{
	return file->pin == FL_PIN_NONE;
}
/* Named and not pinned: counted in the "files" metrics. */
static inline bool fl_file_counted(const struct fl_file *file)
{
	return file->pin == FL_PIN_NONE && file->name != FL_NO_NAME;
}

/* What sits at a place on the disk. */
enum fl_use { FL_USE_DATA, FL_USE_TREE };

struct fl_place {
	struct fl_run run;
	uint32_t file; /* index into map->files */
	fl_lblk lblk;  /* data: the first logical block; tree: index in the file's tree */
	uint8_t use;   /* enum fl_use */
};

/* Fills places (caller frees) with all file-owned runs, sorted by physical place. */
struct fl_places {
	FL_ARRAY(struct fl_place);
};
int fl_map_places(const struct fl_map *map, struct fl_places *places) FL_CHECKED;

/* Sorts by start and joins runs that touch. Runs that overlap stay apart. O(n log n). */
void fl_runs_normalize(struct fl_runs *runs);

/*
 * Slots: the maximal runs of blocks that hold nothing that must stay (fixed metadata, pinned
 * files). Movable files and free blocks lie in slots only. By start.
 */
int fl_map_slots(const struct fl_map *map, struct fl_runs *slots) FL_CHECKED;

/* --- rules of the on-disk mapping, pure --- */

/*
 * Appends one extent to a list in logical order, merged with the last one where the on-disk
 * format can say so (same state, consecutive both ways, at most 32768 blocks written or
 * 32767 unwritten for extent mapping; without bound for indirect mapping), split where it
 * must be. A list built only with it is what the mover writes and what a scan finds.
 */
int fl_extents_append(struct fl_extents *list, enum fl_mapping mapping,
		      struct fl_extent extent) FL_CHECKED;

/*
 * How many mapping-tree blocks a file with these stored extents needs: extent trees as the
 * bulk builder packs them (nodes full, 4 entries in the inode); indirect blocks as the
 * logical blocks demand. O(count).
 */
uint64_t fl_tree_blocks(const struct fl_geometry *geo, enum fl_mapping mapping,
			const struct fl_extent *extents, size_t count);

/* Fragments: runs that are physically consecutive in logical order, holes skipped. */
uint64_t fl_fragments(const struct fl_extent *extents, size_t count);

/*
 * The least number of fragments a file of `blocks` blocks can have when the slots are these
 * (sorted by length, longest first): the least k with the k longest holding it.
 */
uint64_t fl_fragments_forced(uint64_t blocks, const struct fl_run *slots_by_length, size_t count);

#endif
