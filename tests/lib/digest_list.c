/* SPDX-License-Identifier: MIT */
/*
 * The listing of a filesystem: what a user can see, a line a name, sorted. Only reads,
 * with libext2fs alone.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/digest.h"

struct entry {
	char *path; /* owned; raw bytes */
	ext2_ino_t ino;
};

struct digest {
	ext2_filsys fs; /* borrowed */
	struct entry *entries;
	size_t count, room;
	char **lines; /* by inode number: what digest_inode prints, once for all its names */
	uint8_t *buffer;
	const char *directory; /* the path that is read now */
};

void digest_escape(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c > ' ' && c < 0x7f && c != '\\')
			fputc(c, out);
		else
			fprintf(out, "\\x%02x", c);
	}
}

static int by_path(const void *left, const void *right)
{
	return strcmp(((const struct entry *)left)->path, ((const struct entry *)right)->path);
}

static errcode_t add_entry(struct digest *d, char *path, ext2_ino_t ino)
{
	if (d->count == d->room) {
		size_t room = d->room ? 2 * d->room : 1024;
		struct entry *entries = realloc(d->entries, room * sizeof(*entries));

		if (!entries) {
			free(path);
			return EXT2_ET_NO_MEMORY;
		}
		d->entries = entries;
		d->room = room;
	}
	d->entries[d->count++] = (struct entry){path, ino};
	return 0;
}

struct visit {
	struct digest *digest;
	size_t directory; /* index of its entry */
	errcode_t error;
};

static int visit_name(struct ext2_dir_entry *name, int offset, int block_bytes, char *buffer,
		      void *context)
{
	struct visit *visit = context;
	int length = ext2fs_dirent_name_len(name);
	const char *directory = visit->digest->entries[visit->directory].path;
	char *path;

	(void)offset, (void)block_bytes, (void)buffer;
	if ((length == 1 && name->name[0] == '.') ||
	    (length == 2 && name->name[0] == '.' && name->name[1] == '.'))
		return 0;
	if (asprintf(&path, "%s/%.*s", directory, length, name->name) < 0)
		visit->error = EXT2_ET_NO_MEMORY;
	else
		visit->error = add_entry(visit->digest, path, name->inode);
	return visit->error ? DIRENT_ABORT : 0;
}

/* The entries are the queue as well: directories found are read in their turn. */
static errcode_t find_names(struct digest *d)
{
	char *root = strdup("");
	errcode_t error = root ? add_entry(d, root, EXT2_ROOT_INO) : EXT2_ET_NO_MEMORY;

	for (size_t i = 0; !error && i < d->count; i++) {
		struct visit visit = {d, i, 0};
		struct ext2_inode inode;

		error = ext2fs_read_inode(d->fs, d->entries[i].ino, &inode);
		if (error || !LINUX_S_ISDIR(inode.i_mode))
			continue;
		error = ext2fs_dir_iterate(d->fs, d->entries[i].ino, 0, NULL, visit_name, &visit);
		if (!error)
			error = visit.error;
	}
	return error;
}

/* The line of an inode, made when it is first asked for. */
static errcode_t line_of(struct digest *d, ext2_ino_t ino, bool hidden, const char **line)
{
	struct ext2_inode_large inode = {0};
	errcode_t error;
	size_t length;
	FILE *out;

	if (!ino || ino > d->fs->super->s_inodes_count)
		return EXT2_ET_BAD_INODE_NUM;
	if (!d->lines[ino]) {
		error = ext2fs_read_inode_full(d->fs, ino, (struct ext2_inode *)&inode,
					       sizeof(inode));
		if (error)
			return error;
		out = open_memstream(&d->lines[ino], &length);
		if (!out)
			return EXT2_ET_NO_MEMORY;
		error = digest_inode(d->fs, ino, &inode, hidden, d->buffer, out);
		if (fclose(out) && !error)
			error = EXT2_ET_NO_MEMORY;
		if (error)
			return error;
	}
	*line = d->lines[ino];
	return 0;
}

static errcode_t print_names(struct digest *d, FILE *out)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct entry *entry = &d->entries[i];
		const char *line;
		errcode_t error = line_of(d, entry->ino, false, &line);

		if (error) {
			fprintf(stderr, "digest: inode %u, %s: %s.\n", entry->ino, entry->path,
				error_message(error));
			return error;
		}
		if (entry->path[0])
			digest_escape(out, entry->path, strlen(entry->path));
		else
			fputc('/', out);
		fprintf(out, " ino=%u %s\n", entry->ino, line);
	}
	return 0;
}

/* Inodes in use that no path leads to: journal, resize, bad blocks, quota, EA inodes. */
static errcode_t print_hidden(struct digest *d, FILE *out)
{
	for (ext2_ino_t ino = 1; ino <= d->fs->super->s_inodes_count; ino++) {
		const char *line;
		errcode_t error;

		if (d->lines[ino] || !ext2fs_test_inode_bitmap2(d->fs->inode_map, ino))
			continue;
		error = line_of(d, ino, true, &line);
		if (error) {
			fprintf(stderr, "digest: inode %u: %s.\n", ino, error_message(error));
			return error;
		}
		fprintf(out, "<%u> %s\n", ino, line);
	}
	return 0;
}

/* What the superblock says, without the counts that follow from mapping-tree sizes. */
static void print_super(const struct ext2_super_block *super, FILE *out)
{
	fprintf(out,
		"<super> inodes=%u free_inodes=%u blocks=%llu block_bytes=%u state=%x errors=%x",
		super->s_inodes_count, super->s_free_inodes_count,
		(unsigned long long)ext2fs_blocks_count((struct ext2_super_block *)super),
		EXT2_BLOCK_SIZE(super), super->s_state, super->s_errors);
	fprintf(out, " features=%x:%x:%x mtime=%u wtime=%u lastcheck=%u mounts=%u/%d uuid=",
		super->s_feature_compat, super->s_feature_incompat, super->s_feature_ro_compat,
		super->s_mtime, super->s_wtime, super->s_lastcheck, super->s_mnt_count,
		super->s_max_mnt_count);
	for (size_t i = 0; i < sizeof(super->s_uuid); i++)
		fprintf(out, "%02x", super->s_uuid[i]);
	fputs(" label=", out);
	digest_escape(out, (const char *)super->s_volume_name,
		      strnlen((const char *)super->s_volume_name, sizeof(super->s_volume_name)));
	fprintf(out, " orphan=%u journal=%u kbytes=%llu\n", super->s_last_orphan,
		super->s_journal_inum, (unsigned long long)super->s_kbytes_written);
}

static errcode_t list(struct digest *d, bool with_super, FILE *out)
{
	errcode_t error = d->fs->inode_map ? 0 : ext2fs_read_inode_bitmap(d->fs);

	d->buffer = malloc(DIGEST_BUFFER);
	d->lines = calloc((size_t)d->fs->super->s_inodes_count + 1, sizeof(*d->lines));
	if (!error && (!d->buffer || !d->lines))
		error = EXT2_ET_NO_MEMORY;
	if (!error)
		error = find_names(d);
	if (error)
		return error;
	qsort(d->entries, d->count, sizeof(*d->entries), by_path);
	if (with_super)
		print_super(d->fs->super, out);
	error = print_names(d, out);
	return error ? error : print_hidden(d, out);
}

static void release(struct digest *d)
{
	for (size_t i = 0; i < d->count; i++)
		free(d->entries[i].path);
	for (size_t i = 0; d->lines && i <= d->fs->super->s_inodes_count; i++)
		free(d->lines[i]);
	free(d->entries);
	free(d->lines);
	free(d->buffer);
}

errcode_t digest_list(ext2_filsys fs, bool with_super, FILE *out)
{
	struct digest d = {.fs = fs};
	errcode_t error = list(&d, with_super, out);

	release(&d);
	return error;
}
