/* SPDX-License-Identifier: MIT */
/*
 * The judge of an image: its own reading of the filesystem, with libext2fs alone, and e2fsck.
 * It must not use libfraglab. Texts say what is wrong; an empty text means nothing.
 */
#ifndef TESTS_LIB_ORACLE_H
#define TESTS_LIB_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_TEXT 400

/* What an image must keep holding: names, attributes, xattrs, maps of holes, every byte. */
struct oracle;

/* NULL: bytes cannot be read; the reason is in why. */
struct oracle *oracle_new(const uint8_t *bytes, size_t size_bytes, char why[ORACLE_TEXT]);
/* NULL is legal. */
void oracle_free(struct oracle *oracle);

/* The same content, down to inode numbers and times; false: why names the first difference. */
bool oracle_content(const struct oracle *oracle, const uint8_t *bytes, char why[ORACLE_TEXT]);

/*
 * No block has two owners (files, xattr blocks, fixed metadata), none lies outside, and none that
 * is owned is free in the bitmap as it is on disk, right or wrong its checksum may be. Descriptors
 * have right checksums; xattr blocks do not count fewer sharers than they have.
 */
bool oracle_blocks(const uint8_t *bytes, size_t size_bytes, char why[ORACLE_TEXT]);

/*
 * By block: whether it is free or belongs to a file, so that it may change hands; malloc'd, with
 * *block_bytes. NULL: why, or no memory.
 */
bool *oracle_movable(const uint8_t *bytes, size_t size_bytes, uint32_t *block_bytes,
		     char why[ORACLE_TEXT]);

/* Whether the superblock calls the filesystem clean. */
bool oracle_clean(const uint8_t *bytes);

/* Where the block (of 1024 bytes that mean something) of multiple mount protection is; 0: none. */
size_t oracle_mmp_at(const uint8_t *bytes);

/* What multiple mount protection tells other machines. */
enum oracle_mmp {
	ORACLE_MMP_NONE,     /* there is none */
	ORACLE_MMP_CLEAN,    /* that nobody uses it */
	ORACLE_MMP_IN_USE,   /* a number: e2fsck takes over when it does not change */
	ORACLE_MMP_CHECKING, /* as e2fsck when it works: nobody takes over */
};
enum oracle_mmp oracle_mmp(const uint8_t *bytes);
/* What e2fsck asks for then: tune2fs -f -E clear_mmp on a file. False: it failed. */
bool oracle_clear_mmp(const char *path);

/*
 * e2undo (with -f: force). Returns its exit status, or -1; *other_super: it says that the image has
 * not the superblock that the undo file expects.
 */
int oracle_undo(const char *undo, const char *path, bool force, bool *other_super);

/*
 * e2fsck -fy (fix) or -fn on a file; journal: the file with its external journal, or NULL. complain
 * gets every line that is not routine, with numbers as N and lists of blocks as LIST, so that equal
 * kinds have equal texts. Returns e2fsck's exit status, or -1 when it could not be run or took over
 * a minute; *modified: it says so.
 */
int oracle_fsck(const char *path, const char *journal, bool fix,
		void (*complain)(void *context, const char *kind), void *context, bool *modified);

#endif
