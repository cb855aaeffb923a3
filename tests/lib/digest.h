/* SPDX-License-Identifier: MIT */
/*
 * What the files of the digest tool share. It must not use libfraglab: it is the
 * independent reader that the tests trust.
 */
#ifndef TESTS_LIB_DIGEST_H
#define TESTS_LIB_DIGEST_H

#include <ext2fs/ext2_fs.h>
#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdio.h>

/* MurmurHash3 x64 128 (Austin Appleby, public domain), fed piece by piece. */
struct hash128 {
	uint64_t a, b, bytes;
	uint8_t rest[16];
	size_t rest_bytes;
};

#define HASH128_TEXT 33
void hash128_start(struct hash128 *hash);
void hash128_add(struct hash128 *hash, const void *data, size_t length);
/* 32 hex digits. Returns text. */
const char *hash128_text(struct hash128 hash, char text[HASH128_TEXT]);

/*
 * One inode as text: everything but its name, its number of blocks and, when it is not
 * hidden, where its blocks lie. buffer: DIGEST_BUFFER bytes. 0 or a libext2fs error.
 */
#define DIGEST_BUFFER (1u << 20)
errcode_t digest_inode(ext2_filsys fs, ext2_ino_t ino, struct ext2_inode_large *inode, bool hidden,
		       uint8_t *buffer, FILE *out);

/*
 * All of them: a line a name, sorted by path, then the inodes in use that have none; before
 * them, with_super, a line of what the superblock says. Reads the inode bitmap if that is not done.
 */
errcode_t digest_list(ext2_filsys fs, bool with_super, FILE *out);

/* A name, with everything but plain printable ASCII as \xNN. */
void digest_escape(FILE *out, const char *text, size_t length);

#endif
