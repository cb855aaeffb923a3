/* SPDX-License-Identifier: MIT */
/*
 * Reads directories, block by block, through the extents that the scan has just found. Must
 * check every entry before believing it.
 */
#include <common/scan/names.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- from inode numbers to indexes --- */

static int rank_init(struct rank *rank, uint64_t inodes)
{
	size_t words = (size_t)fl_div_up(inodes, 64) + 1;

	rank->bits = calloc(words, sizeof(*rank->bits));
	rank->before = calloc(words, sizeof(*rank->before));
	return rank->bits && rank->before ? 0 : FL_ENOMEM;
}

static void rank_add(struct rank *rank, fl_ino ino)
{
	rank->bits[(ino - 1) / 64] |= UINT64_C(1) << ((ino - 1) & 63);
}

static void rank_finish(struct rank *rank, uint64_t inodes)
{
	uint32_t before = 0;

	for (size_t word = 0; word < fl_div_up(inodes, 64); word++) {
		rank->before[word] = before;
		before += (uint32_t)__builtin_popcountll(rank->bits[word]);
	}
}

uint32_t fl_scan_rank_find(const struct rank *rank, fl_ino ino)
{
	uint64_t word = rank->bits[(ino - 1) / 64], bit = UINT64_C(1) << ((ino - 1) & 63);

	if (!(word & bit))
		return NO_INDEX;
	return rank->before[(ino - 1) / 64] + (uint32_t)__builtin_popcountll(word & (bit - 1));
}

/* --- reading --- */

struct reader {
	struct scan *scan;
	struct entries *entries;
	const struct directory *directory;
	struct listing *listing;
	int error; /* of a callback */
};

static int damaged(struct reader *reader, const char *what)
{
	return fl_fail(reader->scan->diag, FL_EDAMAGED, "inode %u: directory: %s" RUN_E2FSCK,
		       reader->directory->ino, what);
}

/* Texts end with NUL, and ciphertext may contain one: it is shown as \x01. */
static int add_text(struct reader *reader, const char *name, size_t length, uint32_t *text)
{
	struct entries *entries = reader->entries;
	char *to;

	if (entries->texts.count + length + 1 > UINT32_MAX ||
	    fl_array_reserve(&entries->texts, entries->texts.count + length + 1))
		return FL_ENOMEM;
	*text = (uint32_t)entries->texts.count;
	to = entries->texts.at + entries->texts.count;
	for (size_t i = 0; i < length; i++)
		to[i] = name[i] ? name[i] : '\x01';
	to[length] = '\0';
	entries->texts.count += length + 1;
	return 0;
}

static int add_entry(struct reader *reader, const struct ext2_dir_entry *raw)
{
	struct scan *scan = reader->scan;
	size_t length = (size_t)ext2fs_dirent_name_len(raw);
	struct entry entry = {.ino = raw->inode};

	if (length == 1 && raw->name[0] == '.')
		return 0;
	if (length == 2 && raw->name[0] == '.' && raw->name[1] == '.')
		return 0;
	if (!length)
		return damaged(reader, "an entry without a name");
	if (!reader->directory->is_encrypted &&
	    (memchr(raw->name, '\0', length) || memchr(raw->name, '/', length)))
		return damaged(reader, "an impossible name");
	if (entry.ino > scan->ext2->super->s_inodes_count || !fl_scan_inode_used(scan, entry.ino))
		return fl_fail(scan->diag, FL_EDAMAGED,
			       "inode %u: directory: an entry leads to inode %u, which is not in "
			       "use" RUN_E2FSCK,
			       reader->directory->ino, entry.ino);
	entry.file = fl_scan_rank_find(&reader->entries->files, entry.ino);
	entry.directory = fl_scan_rank_find(&reader->entries->directories, entry.ino);
	if (entry.file == NO_INDEX && entry.directory == NO_INDEX)
		return 0;
	if (add_text(reader, raw->name, length, &entry.text) ||
	    fl_scan_listing_add(reader->listing, scan, reader->directory, raw))
		return FL_ENOMEM;
	return fl_array_push(&reader->entries->at, entry);
}

static int parse_block(struct reader *reader, unsigned char *block, size_t bytes)
{
	unsigned rec_len;
	int error = 0;

	for (size_t at = 0; at < bytes && !error; at += rec_len) {
		struct ext2_dir_entry *raw = (struct ext2_dir_entry *)(block + at);

		if (bytes - at < EXT2_DIR_ENTRY_HEADER_LEN ||
		    ext2fs_get_rec_len(reader->scan->ext2, raw, &rec_len) ||
		    rec_len < EXT2_DIR_ENTRY_HEADER_LEN || rec_len % 4 || rec_len > bytes - at)
			return damaged(reader, "an entry of impossible length");
		/* Index blocks and checksums look like entries without an inode. */
		if (!raw->inode)
			continue;
		if ((unsigned)ext2fs_dirent_name_len(raw) + EXT2_DIR_ENTRY_HEADER_LEN > rec_len)
			return damaged(reader, "a name longer than its entry");
		error = add_entry(reader, raw);
	}
	return error;
}

static int read_blocks(struct reader *reader, const struct fl_file *file, unsigned char *buffer)
{
	struct scan *scan = reader->scan;
	uint32_t bytes = scan->map->geo.block_bytes;
	uint64_t size_blocks = fl_div_up(file->size_bytes, bytes);

	for (size_t e = 0; e < file->extent_count; e++) {
		const struct fl_extent *extent = &scan->map->extents.at[file->first_extent + e];

		for (uint32_t i = 0; i < extent->len && extent->lblk + (uint64_t)i < size_blocks;
		     i++) {
			fl_pblk block = extent->pblk + i;
			errcode_t code = ext2fs_read_dir_block4(scan->ext2, block, buffer, 0,
								reader->directory->ino);
			int error;

			if (code)
				return fl_fail(scan->diag, fl_fs_error(scan->fs, code),
					       "inode %u: directory block %" PRIu64
					       ": %s" RUN_E2FSCK,
					       reader->directory->ino, block, error_message(code));
			if (extent->lblk + i == 0)
				fl_scan_listing_root(reader->listing, reader->directory, buffer);
			error = parse_block(reader, buffer, bytes);
			if (error)
				return error;
		}
	}
	return 0;
}

static int read_inline_entry(ext2_ino_t ino, int kind, struct ext2_dir_entry *raw, int offset,
			     int bytes, char *buffer, void *context)
{
	struct reader *reader = context;

	(void)ino, (void)offset, (void)bytes, (void)buffer;
	if (kind == DIRENT_OTHER_FILE && raw->inode)
		reader->error = add_entry(reader, raw);
	return reader->error ? DIRENT_ABORT : 0;
}

static int read_inline(struct reader *reader)
{
	errcode_t code = ext2fs_dir_iterate2(reader->scan->ext2, reader->directory->ino, 0, NULL,
					     read_inline_entry, reader);

	if (reader->error)
		return reader->error;
	if (code)
		return fl_fail(reader->scan->diag, fl_fs_error(reader->scan->fs, code),
			       "inode %u: inline directory: %s" RUN_E2FSCK, reader->directory->ino,
			       error_message(code));
	return 0;
}

static int compare_entries(const void *a, const void *b, void *context)
{
	const struct entry *left = a, *right = b;
	const char *texts = context;
	/* strcmp compares as unsigned char. */
	int order = strcmp(texts + left->text, texts + right->text);

	return order ? order : fl_compare(left->ino, right->ino);
}

/* By name, and as listed. */
static int order_entries(struct entries *entries, const struct directory *directory)
{
	struct entry *at = fl_array_from(&entries->at, directory->first_entry);
	uint32_t *listed;

	if (fl_array_reserve(&entries->listed, entries->at.count))
		return FL_ENOMEM;
	entries->listed.count = entries->at.count;
	listed = fl_array_from(&entries->listed, directory->first_entry);
	if (directory->entry_count > 1)
		qsort_r(at, directory->entry_count, sizeof(*at), compare_entries,
			entries->texts.at);
	for (uint32_t i = 0; i < directory->entry_count; i++)
		listed[at[i].place] = i;
	return 0;
}

static int read_directory(struct scan *scan, struct entries *entries, struct directory *directory,
			  unsigned char *buffer, struct listing *listing)
{
	struct reader reader = {
		.scan = scan, .entries = entries, .directory = directory, .listing = listing};
	uint32_t file = fl_scan_rank_find(&entries->files, directory->ino);
	uint64_t size_bytes = file == NO_INDEX ? 0 : scan->map->files.at[file].size_bytes;
	int error = 0;

	directory->first_entry = entries->at.count;
	fl_scan_listing_begin(listing, scan, directory, size_bytes / scan->map->geo.block_bytes);
	if (directory->is_inline)
		error = read_inline(&reader);
	else if (file != NO_INDEX)
		error = read_blocks(&reader, &scan->map->files.at[file], buffer);
	else
		error = damaged(&reader, "it has no block");
	if (error)
		return error;
	directory->entry_count = entries->at.count - directory->first_entry;
	fl_scan_listing_end(listing, fl_array_from(&entries->at, directory->first_entry));
	return order_entries(entries, directory);
}

static int build_ranks(struct scan *scan, struct entries *entries)
{
	uint64_t inodes = scan->ext2->super->s_inodes_count;

	if (rank_init(&entries->files, inodes) || rank_init(&entries->directories, inodes))
		return FL_ENOMEM;
	for (size_t i = 0; i < scan->map->files.count; i++)
		rank_add(&entries->files, scan->map->files.at[i].ino);
	for (size_t i = 0; i < scan->directories.count; i++)
		rank_add(&entries->directories, scan->directories.at[i].ino);
	rank_finish(&entries->files, inodes);
	rank_finish(&entries->directories, inodes);
	return 0;
}

/* Of the next directories, in order of their inodes. */
static void announce(struct scan *scan, const struct entries *entries, size_t first)
{
	size_t end = fl_min(scan->directories.count, first + SCAN_AHEAD);

	for (size_t i = first; i < end; i++) {
		uint32_t file = fl_scan_rank_find(&entries->files, scan->directories.at[i].ino);

		if (file != NO_INDEX)
			fl_scan_announce_directory(scan, &scan->map->files.at[file]);
	}
}

int fl_scan_entries_read(struct scan *scan, struct entries *entries)
{
	unsigned char *buffer = malloc(scan->map->geo.block_bytes);
	struct listing listing = {0};
	int error = buffer ? build_ranks(scan, entries) : FL_ENOMEM;

	for (size_t i = 0; i < scan->directories.count && !error; i++) {
		if (i % SCAN_AHEAD == 0)
			announce(scan, entries, i);
		error = read_directory(scan, entries, &scan->directories.at[i], buffer, &listing);
	}
	free(buffer);
	fl_array_free(&listing);
	return error;
}

void fl_scan_entries_free(struct entries *entries)
{
	fl_array_free(&entries->at);
	fl_array_free(&entries->listed);
	fl_array_free(&entries->texts);
	free(entries->files.bits);
	free(entries->files.before);
	free(entries->directories.bits);
	free(entries->directories.before);
}
