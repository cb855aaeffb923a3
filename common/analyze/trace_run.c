/* SPDX-License-Identifier: MIT */
/*
 * Replays a trace on a map: offsets in files become blocks of the disk. Reads no trace and no
 * image.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_MAX_IO_BYTES (512u * 1024u)

/* --- from paths to files --- */

/* A name and where it is in map->names, sorted by parent and text. */
struct child {
	uint32_t parent, name;
	const char *text;
};

struct tree {
	const struct fl_map *map;
	struct child *children;
	size_t count;
	uint32_t root; /* FL_NO_NAME: none */
};

static int compare_children(const void *left, const void *right)
{
	const struct child *a = left, *b = right;
	int order = fl_compare(a->parent, b->parent);

	return order ? order : strcmp(a->text, b->text);
}

static int make_tree(const struct fl_map *map, struct tree *tree)
{
	*tree = (struct tree){.map = map, .root = FL_NO_NAME};
	tree->children = fl_alloc(map->names.count + 1, sizeof(*tree->children));
	if (!tree->children)
		return FL_ENOMEM;
	for (uint32_t i = 0; i < map->names.count; i++) {
		const struct fl_name *name = &map->names.at[i];

		if (name->parent == FL_NO_NAME)
			tree->root = i;
		else
			tree->children[tree->count++] =
				(struct child){name->parent, i, map->texts.at + name->text};
	}
	if (tree->count)
		qsort(tree->children, tree->count, sizeof(*tree->children), compare_children);
	return 0;
}

/* The entry of a directory; text is bytes long. */
static bool find_child(const struct tree *tree, uint32_t parent, const char *text, size_t bytes,
		       uint32_t *name)
{
	size_t low = 0, high = tree->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct child *child = &tree->children[middle];
		int order = fl_compare(child->parent, parent);

		if (!order)
			order = strncmp(child->text, text, bytes);
		if (!order)
			order = child->text[bytes] != '\0';
		if (!order) {
			*name = child->name;
			return true;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* The path from the root on. False: no such name. */
static bool descend(const struct tree *tree, const char *path, uint32_t *name)
{
	uint32_t at = tree->root;

	if (at == FL_NO_NAME)
		return false;
	for (;;) {
		size_t bytes;

		path += strspn(path, "/");
		if (!*path)
			break;
		bytes = strcspn(path, "/");
		if (!find_child(tree, at, path, bytes, &at))
			return false;
		path += bytes;
	}
	*name = at;
	return true;
}

/* As the path says, else without its first folders. False: the map has no such file. */
static bool find_file(const struct tree *tree, const char *path, size_t *file)
{
	for (;;) {
		uint32_t name;

		path += strspn(path, "/");
		if (!*path)
			return false;
		if (descend(tree, path, &name) &&
		    fl_map_find(tree->map, tree->map->names.at[name].ino, file))
			return true;
		path += strcspn(path, "/");
	}
}

/* files[i]: the file of path i. *missing: the first path that has none (then FL_EINVAL). */
static int find_files(const struct fl_trace *trace, const struct fl_map *map, size_t **files,
		      size_t *missing)
{
	struct tree tree;
	size_t *found = NULL;
	int error = make_tree(map, &tree);

	if (error)
		return error;
	found = fl_alloc(trace->paths.count + 1, sizeof(*found));
	error = found ? 0 : FL_ENOMEM;
	for (size_t i = 0; i < trace->paths.count && !error; i++) {
		if (!find_file(&tree, trace->paths.at[i].text, &found[i])) {
			*missing = i;
			error = FL_EINVAL;
		}
	}
	free(tree.children);
	if (error)
		free(found);
	else
		*files = found;
	return error;
}

int fl_trace_check(const struct fl_trace *trace, const struct fl_map *map, struct fl_diag *diag)
{
	size_t *files = NULL, missing = 0;
	int error = find_files(trace, map, &files, &missing);

	free(files);
	if (error != FL_EINVAL)
		return error;
	return fl_fail(diag, FL_ESYNTAX,
		       "line %" PRIu32 ": the image has no file with blocks of this name: %.200s",
		       trace->paths.at[missing].line, trace->paths.at[missing].text);
}

/* --- from files to the disk --- */

struct replay {
	const struct fl_map *map;
	uint64_t max_sectors;
	fl_io_sink sink;
	void *context;
	/* A run of sectors that is not handed on yet, as it may go on. */
	fl_lbn start, end;
	bool write;
};

static int hand_on(struct replay *replay)
{
	while (replay->start < replay->end) {
		uint64_t sectors = fl_min(replay->end - replay->start, replay->max_sectors);
		struct fl_io io = {
			.lbn = replay->start,
			.sectors = (uint32_t)sectors,
			.write = replay->write,
		};
		int error = replay->sink(replay->context, &io);

		if (error)
			return error;
		replay->start += sectors;
	}
	return 0;
}

/* Bytes of the disk; whole sectors are moved. */
static int touch(struct replay *replay, uint64_t start, uint64_t bytes)
{
	fl_lbn first = start / FL_SECTOR_BYTES;
	fl_lbn end = fl_div_up(start + bytes, FL_SECTOR_BYTES);
	int error = 0;

	if (replay->start < replay->end && replay->end != first)
		error = hand_on(replay);
	if (replay->start == replay->end)
		replay->start = first;
	replay->end = end;
	return error;
}

static int replay_file(struct replay *replay, const struct fl_file *file, const struct trace_io *io)
{
	const struct fl_extent *extents = replay->map->extents.at + file->first_extent;
	uint64_t block_bytes = replay->map->geo.block_bytes, end = io->start + io->bytes;
	size_t low = 0, high = file->extent_count;

	/* The first extent that ends behind the start. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (fl_extent_lend(&extents[middle]) * block_bytes <= io->start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < file->extent_count; low++) {
		const struct fl_extent *extent = &extents[low];
		uint64_t first = fl_max(extent->lblk * block_bytes, io->start);
		uint64_t last = fl_min(fl_extent_lend(extent) * block_bytes, end);
		int error;

		if (first >= end)
			break;
		if (extent->unwritten && !io->write)
			continue;
		error = touch(replay,
			      extent->pblk * block_bytes + (first - extent->lblk * block_bytes),
			      last - first);
		if (error)
			return error;
	}
	return 0;
}

int fl_trace_run(const struct fl_trace *trace, const struct fl_map *map, uint64_t max_io_bytes,
		 fl_io_sink sink, void *context)
{
	struct replay replay = {.map = map, .sink = sink, .context = context};
	size_t *files = NULL, missing = 0;
	int error;

	if (!max_io_bytes)
		max_io_bytes = DEFAULT_MAX_IO_BYTES;
	if (max_io_bytes % FL_SECTOR_BYTES || max_io_bytes / FL_SECTOR_BYTES > UINT32_MAX)
		return FL_EINVAL;
	replay.max_sectors = max_io_bytes / FL_SECTOR_BYTES;
	error = find_files(trace, map, &files, &missing);
	for (size_t i = 0; i < trace->ios.count && !error; i++) {
		const struct trace_io *io = &trace->ios.at[i];

		replay.start = replay.end = 0;
		replay.write = io->write;
		if (io->path == TRACE_DEVICE)
			error = touch(&replay, io->start, io->bytes);
		else
			error = replay_file(&replay, &map->files.at[files[io->path]], io);
		if (!error)
			error = hand_on(&replay);
	}
	free(files);
	return error;
}
