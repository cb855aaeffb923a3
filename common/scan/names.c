/* SPDX-License-Identifier: MIT */
/*
 * Names the files: from the entries of all directories to the first path of each file, and its
 * place in path order. Must end on a damaged tree and not depend on the depth of a good one.
 */
#include <common/scan/names.h>

#include <stdlib.h>
#include <string.h>

struct frame {
	uint32_t directory; /* index into scan->directories */
	size_t next;	    /* the entry to look at next */
};

struct walk {
	struct scan *scan;
	const struct entries *entries;
	bool listing; /* the second walk, in the order of the listings; names are there */
	uint32_t next_rank;
	FL_ARRAY(struct frame) stack;
};

/* Gives an inode its name, and a file its rank. Returns the index of the name. */
static int add_name(struct walk *walk, fl_ino ino, uint32_t parent, const char *text, uint32_t file,
		    uint32_t *index)
{
	struct fl_map *map = walk->scan->map;
	size_t bytes = strlen(text) + 1;
	struct fl_name name = {.ino = ino, .parent = parent, .text = (uint32_t)map->texts.count};

	/* Both are indexed with 32 bits; nothing near that fits a filesystem's inode count. */
	if (map->texts.count + bytes > UINT32_MAX || map->names.count + 1 >= FL_NO_NAME)
		return FL_ENOMEM;
	if (fl_array_reserve(&map->texts, map->texts.count + bytes))
		return FL_ENOMEM;
	memcpy(map->texts.at + map->texts.count, text, bytes);
	map->texts.count += bytes;
	*index = (uint32_t)map->names.count;
	if (fl_array_push(&map->names, name))
		return FL_ENOMEM;
	if (file != NO_INDEX) {
		map->files.at[file].name = *index;
		map->files.at[file].path_rank = walk->next_rank++;
	}
	return 0;
}

static int enter(struct walk *walk, uint32_t index, uint32_t parent, const char *text,
		 uint32_t file)
{
	struct directory *directory = &walk->scan->directories.at[index];
	struct frame frame = {.directory = index};
	int error;

	/* A second name, or a loop: either way somebody would be visited twice. */
	if (directory->name != FL_NO_NAME)
		return fl_fail(walk->scan->diag, FL_EDAMAGED,
			       "inode %u: a directory with two names" RUN_E2FSCK, directory->ino);
	error = add_name(walk, directory->ino, parent, text, file, &directory->name);
	return error ? error : fl_array_push(&walk->stack, frame);
}

static int visit(struct walk *walk, const struct entry *entry, uint32_t parent)
{
	struct fl_map *map = walk->scan->map;
	const char *text = walk->entries->texts.at + entry->text;
	uint32_t index;

	if (entry->directory != NO_INDEX)
		return enter(walk, entry->directory, parent, text, entry->file);
	/* Hard links: the first in path order names the file. */
	if (map->files.at[entry->file].name != FL_NO_NAME)
		return 0;
	return add_name(walk, entry->ino, parent, text, entry->file, &index);
}

/* Hard links: here too the first counts. */
static int visit_listed(struct walk *walk, const struct entry *entry)
{
	struct frame frame = {.directory = entry->directory};

	if (entry->file != NO_INDEX) {
		struct fl_file *file = &walk->scan->map->files.at[entry->file];

		if (file->listing_rank == FL_NO_NAME)
			file->listing_rank = walk->next_rank++;
	}
	return entry->directory == NO_INDEX ? 0 : fl_array_push(&walk->stack, frame);
}

/* The entry of a directory that is its turn: by name, or as listed. */
static const struct entry *entry_at(const struct walk *walk, const struct directory *directory,
				    size_t turn)
{
	const struct entries *entries = walk->entries;
	size_t first = directory->first_entry;

	return &entries->at.at[first + (walk->listing ? entries->listed.at[first + turn] : turn)];
}

static int walk_tree(struct walk *walk)
{
	struct scan *scan = walk->scan;
	int error = 0;

	while (walk->stack.count && !error) {
		struct frame *top = &walk->stack.at[walk->stack.count - 1];
		const struct directory *directory = &scan->directories.at[top->directory];

		if (top->next == directory->entry_count) {
			walk->stack.count--;
			continue;
		}
		/* visit() may move the stack: top is not valid after it. */
		const struct entry *entry = entry_at(walk, directory, top->next++);

		error = walk->listing ? visit_listed(walk, entry)
				      : visit(walk, entry, directory->name);
	}
	return error;
}

int fl_scan_names(struct scan *scan)
{
	struct entries entries = {0};
	struct walk walk = {.scan = scan, .entries = &entries};
	uint32_t root, root_file;
	int error = fl_scan_entries_read(scan, &entries);

	if (!error) {
		root = fl_scan_rank_find(&entries.directories, EXT2_ROOT_INO);
		root_file = fl_scan_rank_find(&entries.files, EXT2_ROOT_INO);
		error = root == NO_INDEX ? fl_fail(scan->diag, FL_EDAMAGED,
						   "there is no root directory" RUN_E2FSCK)
					 : enter(&walk, root, FL_NO_NAME, "", root_file);
	}
	if (!error)
		error = walk_tree(&walk);
	if (!error) {
		struct entry top = {.directory = root, .file = root_file};

		walk.listing = true;
		walk.next_rank = 0;
		error = visit_listed(&walk, &top);
	}
	if (!error)
		error = walk_tree(&walk);
	fl_array_free(&walk.stack);
	fl_scan_entries_free(&entries);
	return error;
}
