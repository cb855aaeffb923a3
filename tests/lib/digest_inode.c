/* SPDX-License-Identifier: MIT */
/*
 * One inode as a line of text: attributes, xattrs, the map of holes, written and
 * unwritten blocks, and a hash of every written block. Only reads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/lib/digest.h"

/* A run of logical blocks on consecutive physical ones. */
struct run {
	uint64_t lblk, pblk, len;
	bool unwritten;
};

struct runs {
	struct run *at;
	size_t count, room;
	bool out_of_memory;
};

static void add_run(struct runs *runs, struct run run)
{
	struct run *last = runs->count ? &runs->at[runs->count - 1] : NULL;

	if (last && last->unwritten == run.unwritten && last->lblk + last->len == run.lblk &&
	    last->pblk + last->len == run.pblk) {
		last->len += run.len;
		return;
	}
	if (runs->count == runs->room) {
		size_t room = runs->room ? 2 * runs->room : 16;
		struct run *at = realloc(runs->at, room * sizeof(*at));

		if (!at) {
			runs->out_of_memory = true;
			return;
		}
		runs->at = at;
		runs->room = room;
	}
	runs->at[runs->count++] = run;
}

static int add_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t lblk, blk64_t ref, int offset,
		     void *context)
{
	(void)fs, (void)ref, (void)offset;
	if (lblk >= 0)
		add_run(context, (struct run){(uint64_t)lblk, *block, 1, false});
	return 0;
}

static errcode_t read_extents(ext2_filsys fs, ext2_ino_t ino, struct ext2_inode *inode,
			      struct runs *runs)
{
	ext2_extent_handle_t handle;
	struct ext2fs_extent extent;
	int op = EXT2_EXTENT_ROOT;
	errcode_t error = ext2fs_extent_open2(fs, ino, inode, &handle);

	if (error)
		return error;
	/* Leaves only: the length of an index entry is a guess of the library. */
	while (!(error = ext2fs_extent_get(handle, op, &extent))) {
		op = EXT2_EXTENT_NEXT;
		if (extent.e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT ||
		    !(extent.e_flags & EXT2_EXTENT_FLAGS_LEAF))
			continue;
		add_run(runs, (struct run){extent.e_lblk, extent.e_pblk, extent.e_len,
					   extent.e_flags & EXT2_EXTENT_FLAGS_UNINIT});
	}
	ext2fs_extent_free(handle);
	return error == EXT2_ET_EXTENT_NO_NEXT || error == EXT2_ET_NO_CURRENT_NODE ? 0 : error;
}

static errcode_t hash_run(ext2_filsys fs, const struct run *run, uint8_t *buffer,
			  struct hash128 *hash)
{
	uint64_t chunk = DIGEST_BUFFER / fs->blocksize;

	for (uint64_t done = 0; done < run->len; done += chunk) {
		uint64_t len = run->len - done < chunk ? run->len - done : chunk;
		errcode_t error = io_channel_read_blk64(fs->io, run->pblk + done, (int)len, buffer);

		if (error)
			return error;
		hash128_add(hash, buffer, (size_t)len * fs->blocksize);
	}
	return 0;
}

/* " map=0+3,u3+2,9+1 data=HASH": long maps as a hash; hidden files' places as well. */
static errcode_t print_blocks(ext2_filsys fs, const struct runs *runs, bool hidden, uint8_t *buffer,
			      FILE *out)
{
	struct hash128 data, places;
	char text[HASH128_TEXT], *map = NULL;
	size_t map_bytes, i = 0;
	FILE *list = open_memstream(&map, &map_bytes);
	errcode_t error = list ? 0 : EXT2_ET_NO_MEMORY;

	hash128_start(&data);
	hash128_start(&places);
	while (!error && i < runs->count) {
		const struct run *first = &runs->at[i];
		uint64_t end = first->lblk;

		for (; !error && i < runs->count && runs->at[i].lblk == end &&
		       runs->at[i].unwritten == first->unwritten;
		     i++) {
			end += runs->at[i].len;
			hash128_add(&places, &runs->at[i].pblk, sizeof(runs->at[i].pblk));
			if (!first->unwritten)
				error = hash_run(fs, &runs->at[i], buffer, &data);
		}
		fprintf(list, "%s%s%" PRIu64 "+%" PRIu64, first == runs->at ? "" : ",",
			first->unwritten ? "u" : "", first->lblk, end - first->lblk);
	}
	if (list && fclose(list) && !error)
		error = EXT2_ET_NO_MEMORY;
	if (!error && map_bytes > 400) {
		struct hash128 hash;

		hash128_start(&hash);
		hash128_add(&hash, map, map_bytes);
		fprintf(out, " map=#%s", hash128_text(hash, text));
	} else if (!error) {
		fprintf(out, " map=%s", map);
	}
	if (!error)
		fprintf(out, " data=%s", hash128_text(data, text));
	if (!error && hidden)
		fprintf(out, " places=%s", hash128_text(places, text));
	free(map);
	return error;
}

static errcode_t print_mapped(ext2_filsys fs, ext2_ino_t ino, struct ext2_inode *inode, bool hidden,
			      uint8_t *buffer, FILE *out)
{
	struct runs runs = {0};
	errcode_t error;

	if (inode->i_flags & EXT4_EXTENTS_FL)
		error = read_extents(fs, ino, inode, &runs);
	else
		error = ext2fs_block_iterate3(fs, ino, BLOCK_FLAG_READ_ONLY | BLOCK_FLAG_DATA_ONLY,
					      NULL, add_block, &runs);
	if (!error && runs.out_of_memory)
		error = EXT2_ET_NO_MEMORY;
	if (!error)
		error = print_blocks(fs, &runs, hidden, buffer, out);
	free(runs.at);
	return error;
}

static errcode_t print_inline(ext2_filsys fs, ext2_ino_t ino, struct ext2_inode *inode,
			      uint8_t *buffer, FILE *out)
{
	struct hash128 hash;
	char text[HASH128_TEXT];
	size_t size = 0;
	errcode_t error = ext2fs_inline_data_get(fs, ino, inode, buffer, &size);

	if (error)
		return error;
	hash128_start(&hash);
	hash128_add(&hash, buffer, size);
	fprintf(out, " inline=%zu:%s", size, hash128_text(hash, text));
	return 0;
}

static int print_xattr(char *name, char *value, size_t length, void *context)
{
	struct hash128 hash;
	char text[HASH128_TEXT];
	FILE *out = context;

	hash128_start(&hash);
	hash128_add(&hash, value, length);
	fputs(" xattr=", out);
	digest_escape(out, name, strlen(name));
	fprintf(out, ":%zu:%s", length, hash128_text(hash, text));
	return 0;
}

static errcode_t print_xattrs(ext2_filsys fs, ext2_ino_t ino, FILE *out)
{
	struct ext2_xattr_handle *handle;
	unsigned int flags = XATTR_HANDLE_FLAG_RAW;
	errcode_t error = ext2fs_xattrs_open(fs, ino, &handle);

	/* Before there were features there were no attributes. */
	if (error)
		return error == EXT2_ET_MISSING_EA_FEATURE ? 0 : error;
	error = ext2fs_xattrs_flags(handle, &flags, NULL);
	if (!error)
		error = ext2fs_xattrs_read(handle);
	if (!error)
		error = ext2fs_xattrs_iterate(handle, print_xattr, out);
	ext2fs_xattrs_close(&handle);
	return error;
}

static void print_time(FILE *out, const char *name, uint32_t seconds, uint32_t extra)
{
	int64_t full = (int64_t)(int32_t)seconds + ((int64_t)(extra & 3) << 32);

	fprintf(out, " %s=%" PRId64 ".%09u", name, full, extra >> 2);
}

static void print_attributes(ext2_filsys fs, const struct ext2_inode_large *inode, FILE *out)
{
	static const char types[] = "?pc?d?b?-?l?s???";
	uint32_t extra =
		EXT2_INODE_SIZE(fs->super) > EXT2_GOOD_OLD_INODE_SIZE ? inode->i_extra_isize : 0;
	bool has_extra = extra >= 24; /* up to and including i_crtime_extra */

	fprintf(out, "%c mode=%04o uid=%u gid=%u links=%u size=%" PRIu64 " flags=%x gen=%u",
		types[inode->i_mode >> 12], inode->i_mode & 07777u, inode_uid(*inode),
		inode_gid(*inode), inode->i_links_count,
		(uint64_t)EXT2_I_SIZE((const struct ext2_inode *)inode), inode->i_flags,
		inode->i_generation);
	print_time(out, "atime", inode->i_atime, has_extra ? inode->i_atime_extra : 0);
	print_time(out, "mtime", inode->i_mtime, has_extra ? inode->i_mtime_extra : 0);
	print_time(out, "ctime", inode->i_ctime, has_extra ? inode->i_ctime_extra : 0);
	if (has_extra)
		print_time(out, "crtime", inode->i_crtime, inode->i_crtime_extra);
	fprintf(out, " dtime=%u version=%u.%u", inode->i_dtime, inode->osd1.linux1.l_i_version,
		extra >= 28 ? inode->i_version_hi : 0);
	if (extra >= 32)
		fprintf(out, " project=%u", inode->i_projid);
}

errcode_t digest_inode(ext2_filsys fs, ext2_ino_t ino, struct ext2_inode_large *inode, bool hidden,
		       uint8_t *buffer, FILE *out)
{
	struct ext2_inode *small = (struct ext2_inode *)inode;
	errcode_t error = 0;

	print_attributes(fs, inode, out);
	if (LINUX_S_ISCHR(inode->i_mode) || LINUX_S_ISBLK(inode->i_mode))
		fprintf(out, " device=%x:%x", inode->i_block[0], inode->i_block[1]);
	else if (inode->i_flags & EXT4_INLINE_DATA_FL)
		error = print_inline(fs, ino, small, buffer, out);
	else if (ext2fs_is_fast_symlink(small)) {
		fputs(" target=", out);
		digest_escape(out, (const char *)inode->i_block,
			      strnlen((const char *)inode->i_block, sizeof(inode->i_block)));
	} else if (ext2fs_inode_has_valid_blocks2(fs, small)) {
		/* The value of an attribute is hidden, but may lie anywhere. */
		hidden = hidden && !(inode->i_flags & EXT4_EA_INODE_FL);
		error = print_mapped(fs, ino, small, hidden, buffer, out);
	}
	if (!error && inode->i_mode)
		error = print_xattrs(fs, ino, out);
	return error;
}
