/* SPDX-License-Identifier: MIT */
/*
 * The extent map: what every block of a filesystem is used for, as runs. A map is
 * const once scanned (or predicted) and needs no image.
 *
 * Ownership of the whole: free with fl_map_free. Arrays are sorted as stated and
 * never overlap. Every block of first_data_block .. blocks-1 (and block 0) is in
 * exactly one of: a file's data, a file's mapping tree, fixed metadata, free. (With bigalloc the
 * blocks that nobody uses in a cluster that somebody does are in none of them.)
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
	FL_KIND_HIDDEN,	    /* quota, boot loader, orphan file */
	FL_KIND_EA_INODE,   /* the value of an extended attribute: no name, moved like a file */
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
	/*
	 * The same in the order in which the kernel lists directories, depth first: that of tar,
	 * cp -r and find.
	 */
	uint32_t listing_rank;
	uint32_t links;	     /* hard links; 0 (maps made by hand) stands for 1 */
	uint64_t size_bytes; /* i_size */
	int64_t mtime;	     /* seconds since 1970 */
	uint64_t blocks;     /* data blocks: the sum of its extents */
	size_t first_extent; /* map->extents[first_extent ..], logical order, as stored on disk */
	size_t extent_count;
	size_t first_tree; /* map->trees[first_tree ..], preorder (a node before what it maps) */
	size_t tree_count;
	size_t first_owner; /* FL_KIND_XATTR: map->owners[first_owner ..], by ino */
	size_t owner_count;
	bool rebuilt; /* of a predicted map: its mapping has been written anew */
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
	/*
	 * Blocks that code before the superblock may name by number, ascending. Who begins at one
	 * is pinned (FL_PIN_BOOT); also one that was moved there. Not in maps of clusters.
	 */
	FL_ARRAY(fl_pblk) boot;
	const struct fl_map *blocks; /* NULL, or this map counts clusters: see fl_map_units */
};

/* An empty map. FL_ENOMEM. */
int fl_map_new(const struct fl_geometry *geo, struct fl_map **map) FL_CHECKED;
/*
 * A map without files that begins like another one: with its names and the owners of its xattr
 * blocks. geo NULL: also with its geometry, fixed metadata, groups and blocks; else with this
 * geometry, which counts in other units, so that no places are taken over. FL_ENOMEM.
 */
int fl_map_derive(const struct fl_map *from, const struct fl_geometry *geo,
		  struct fl_map **map) FL_CHECKED;
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
/* Lifts a pin from all files that have it (FL_PIN_IMMUTABLE: the user wants them moved). */
void fl_map_unpin(struct fl_map *map, enum fl_pin pin);
/* A regular file whose first block is in map->boot. O(log). */
bool fl_map_boot_names(const struct fl_map *map, const struct fl_file *file);
/* Appends file number `index` of another map, as it is to be, to the files of `to`. */
typedef int (*fl_map_add)(const void *context, uint32_t index, struct fl_map *to);
/*
 * What a scan would find when the files of a map are as `add` gives them, one by one: pinned are
 * also those that now begin where code before the superblock looks. Errors of add and
 * fl_map_finish.
 */
int fl_map_rebuild(const struct fl_map *from, fl_map_add add, const void *context,
		   struct fl_map **map, struct fl_diag *diag) FL_CHECKED;
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

/*
 * Fragments of a file, as fl_fragments; with bigalloc blocks in the same or in successive clusters
 * belong together, whatever holes there are between them.
 */
uint64_t fl_file_fragments(const struct fl_map *map, const struct fl_file *file);
/* Blocks that its data keeps from others: with bigalloc more than it has. */
uint64_t fl_file_room(const struct fl_map *map, const struct fl_file *file);

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
/* Sorts by length; runs of one length by start, the lower one nearer to the longest end. */
void fl_runs_longest_first(struct fl_runs *runs);
void fl_runs_shortest_first(struct fl_runs *runs);

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

/*
 * The same for file number `file` of a map, in the map's own units: one a mapping-tree block, also
 * when a unit is a cluster. FL_EPLAN: the extents are not those of the file; FL_ENOMEM.
 */
int fl_map_tree_blocks(const struct fl_map *map, uint32_t file, const struct fl_extent *extents,
		       size_t count, uint64_t *blocks) FL_CHECKED;

/* Fragments: runs that are physically consecutive in logical order, holes skipped. */
uint64_t fl_fragments(const struct fl_extent *extents, size_t count);

/*
 * The least number of fragments a file of `blocks` blocks can have when the slots are these
 * (sorted by length, longest first): the least k with the k longest holding it.
 */
uint64_t fl_fragments_forced(uint64_t blocks, const struct fl_run *slots_by_length, size_t count);

/* --- allocation units: bigalloc --- */

/*
 * With bigalloc blocks are taken and given back in clusters only, and a block keeps its place in
 * its cluster. So planners and mover get a map of another kind: what it calls a block is a cluster
 * (geo.cluster_blocks is 1), a file's data is the clusters it has blocks in, and each block of
 * mapping trees and attributes has a cluster of its own. File indexes are the same in both maps.
 *
 * map must outlive units, which remembers it in units->blocks. FL_EDAMAGED: a cluster has two
 * owners, or blocks are not at their places in clusters; FL_ENOMEM. Only when
 * map->geo.cluster_blocks > 1; else the map itself is what planners want.
 */
int fl_map_units(const struct fl_map *map, struct fl_map **units, struct fl_diag *diag) FL_CHECKED;
/* Back: the map in blocks that belongs to units, as fl_plan_predict made them. FL_ENOMEM. */
int fl_units_to_blocks(const struct fl_map *units, struct fl_map **blocks,
		       struct fl_diag *diag) FL_CHECKED;
/* The same in place of the map; one in blocks stays. After an error it is freed, and NULL. */
int fl_map_into_blocks(struct fl_map **map, struct fl_diag *diag) FL_CHECKED;
/*
 * Appends to blocks the extents in blocks that a file has when its clusters are at these places.
 * FL_EPLAN: some of them have no place; FL_ENOMEM.
 */
int fl_units_expand(const struct fl_map *units, uint32_t file, const struct fl_extent *extents,
		    size_t count, struct fl_extents *blocks) FL_CHECKED;
/* Blocks of the filesystem in what this map calls a block. */
static inline uint32_t fl_map_unit_blocks(const struct fl_map *map)
{
	return map->blocks ? map->blocks->geo.cluster_blocks : 1;
}

#endif
