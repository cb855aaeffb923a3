/* SPDX-License-Identifier: MIT */
/*
 * The sample-image builder: what its files share. A build tool, not part of the
 * library; it must not be linked into frag or defrag.
 */
#ifndef IMAGES_SAMPLE_H
#define IMAGES_SAMPLE_H

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <fraglab/util.h>

/* Seconds since 1970 at which every sample was "made"; file times lie in the two years before. */
#define SAMPLE_NOW 1704067200
#define SAMPLE_TIME_SPAN (2 * 365 * 86400)

struct sample_options {
	const char *image;
	const char *type; /* "ext2", "ext3" or "ext4" */
	uint64_t size_bytes;
	uint32_t full_percent;	/* used blocks of all blocks, metadata included */
	uint32_t files;		/* regular files */
	uint32_t block_bytes;	/* 1024, 2048 or 4096 */
	uint32_t cluster_bytes; /* of bigalloc; 0: none */
	uint64_t seed;
	bool hollow; /* files have their blocks, but no content: holes of the host file */
};

enum content {
	CONTENT_TEXT,	/* words and lines */
	CONTENT_RANDOM, /* as compressed data looks */
	CONTENT_MIXED,	/* binary with a zero block now and then */
};

enum shape {
	SHAPE_DENSE,
	SHAPE_HOLES,	    /* sparse: written runs with holes between */
	SHAPE_PREALLOCATED, /* the second half, and a little past the end, is unwritten */
};

struct sample_dir {
	char *name;			    /* owned; "" for the root */
	uint32_t parent;		    /* index; the root is its own parent */
	uint32_t depth;			    /* 0 for the root */
	uint32_t first_child, next_sibling; /* indexes; 0: none */
	uint16_t mode, uid, gid;
};

struct sample_file {
	char *name;   /* owned */
	char *target; /* owned; a symlink's text, else NULL */
	uint64_t size_bytes;
	uint64_t key; /* order of creation within its directory */
	uint32_t dir;
	uint32_t link_to;	 /* a hard link to this file (index), else UINT32_MAX */
	uint32_t ino;		 /* filled when it is created */
	uint32_t xattr_bytes;	 /* value length; 0: no extended attribute */
	uint32_t device;	 /* major << 8 | minor of a device node */
	uint16_t mode, uid, gid; /* mode with the type bits */
	uint8_t content, shape;
	bool filler; /* grows until the image is as full as asked */
};

struct sample_tree {
	FL_ARRAY(struct sample_dir) dirs; /* a parent before its children */
	FL_ARRAY(struct sample_file) files;
	FL_ARRAY(uint32_t) order; /* the files by (directory, key) */
};

/*
 * Invents the tree. data_blocks: what regular files may take; the filler's size stays 0.
 * FL_ENOROOM: so many files do not fit. Free with sample_tree_free, also after a failure.
 */
int sample_tree_build(const struct sample_options *options, uint64_t data_blocks,
		      struct sample_tree *tree) FL_CHECKED;
void sample_tree_free(struct sample_tree *tree);

/* Names: expands a pattern (see names.c) with random words; the result is malloc'd or NULL. */
struct name_context {
	struct fl_rng *rng;
	uint32_t user, package, packages, serial;
};
char *sample_name(const char *pattern, const struct name_context *context);

/* --- writing data --- */

struct store {
	ext2_filsys fs;
	int fd;		 /* the image, for file data; metadata goes through fs */
	bool extents;	 /* mapping of new files */
	bool hollow;	 /* write no data */
	uint8_t *pool;	 /* POOL_BYTES of text, then POOL_BYTES of noise */
	uint8_t *buffer; /* STORE_BUFFER_BYTES */
};
#define POOL_BYTES (1u << 20)
#define STORE_BUFFER_BYTES (1u << 20)

/* 0 or a libext2fs error code (as all functions below). */
errcode_t store_open(struct store *store, ext2_filsys fs, int fd, bool extents, uint64_t seed);
void store_close(struct store *store);

/*
 * Allocates, maps and writes the data of a file whose inode (borrowed, changed, written to disk
 * as well) is new. *goal is where to begin looking, and then one past the last block used.
 */
errcode_t store_file(struct store *store, ext2_ino_t ino, struct ext2_inode *inode,
		     const struct sample_file *file, uint64_t seed, blk64_t *goal);

/* Takes up to want blocks as one run near goal; whole clusters, of which goal is a border. */
errcode_t store_take(ext2_filsys fs, blk64_t goal, blk64_t want, blk64_t *start, blk64_t *len);

/* A run of a file to be mapped: allocated, and written or not. */
struct piece {
	uint64_t lblk, len;
	bool unwritten;
};
/* Maps pieces (ascending) and calls write for each physical run of written data. */
typedef errcode_t (*piece_writer)(void *context, uint64_t lblk, blk64_t pblk, uint64_t len);
errcode_t map_extents(ext2_filsys fs, ext2_ino_t ino, struct ext2_inode *inode,
		      const struct piece *pieces, size_t count, blk64_t *goal, piece_writer write,
		      void *context);
errcode_t map_indirect(ext2_filsys fs, struct ext2_inode *inode, const struct piece *pieces,
		       size_t count, blk64_t *goal, piece_writer write, void *context);
/* Indirect blocks that dense blocks 0 .. blocks-1 need. */
uint64_t map_indirect_overhead(const struct store *store, uint64_t blocks);

/* Creates everything in the tree inside an open filesystem. */
errcode_t sample_populate(const struct sample_options *options, ext2_filsys fs, int fd,
			  struct sample_tree *tree, const char **step);

#endif
