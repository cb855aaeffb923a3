/* SPDX-License-Identifier: MIT */
/*
 * Invents the directory tree of a sample image: an office desktop that is a small
 * server as well. Pure: seed and numbers in, names, sizes and owners out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "images/tree.h"

#define BIG_MIN (20u << 20)
#define BIG_MAX (100u << 20)

struct builder {
	const struct sample_options *options;
	struct sample_tree *tree;
	struct name_index index;
	struct fl_rng rng;
	uint32_t users, packages, serial;
};

static void set_owner(enum owner owner, uint32_t user, uint16_t *uid, uint16_t *gid)
{
	static const uint16_t ids[] = {
		[OWNER_ROOT] = 0, [OWNER_WEB] = 33, [OWNER_DB] = 105, [OWNER_MAIL] = 8};

	*uid = *gid = owner == OWNER_USER ? (uint16_t)(1000 + user) : ids[owner];
}

/* Finds or makes one directory; name is borrowed. */
static int enter(struct builder *b, uint32_t parent, const char *name,
		 const struct sample_dir *like, uint32_t *dir)
{
	struct sample_dir made = *like;
	uint64_t key = index_key(parent, name);
	struct sample_dir *dirs;

	if (index_find(&b->index, key, dir))
		return 0;
	*dir = (uint32_t)b->tree->dirs.count;
	made.parent = parent;
	if (fl_array_push(&b->tree->dirs, made))
		return FL_ENOMEM;
	dirs = b->tree->dirs.at;
	dirs[*dir].name = strdup(name);
	if (!dirs[*dir].name)
		return FL_ENOMEM;
	/* The root is its own parent, but no child of its own. */
	if (*dir) {
		dirs[*dir].depth = dirs[parent].depth + 1;
		dirs[*dir].next_sibling = dirs[parent].first_child;
		dirs[parent].first_child = *dir;
	}
	return index_add(&b->index, key, *dir);
}

/* mkdir -p of an expanded path, cut up in place. The first two levels belong to root. */
static int enter_path(struct builder *b, char *path, enum owner owner, uint32_t user, uint32_t *dir)
{
	char *rest, *part;
	int depth = 0;

	*dir = 0;
	for (part = strtok_r(path, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		struct sample_dir like = {.mode = 0755};
		int error;

		depth++;
		if (depth > 1 + (owner != OWNER_USER))
			set_owner(owner, user, &like.uid, &like.gid);
		if (depth > 1 && owner == OWNER_USER)
			like.mode = part[0] == '.' || depth == 2 ? 0700 : 0755;
		error = enter(b, *dir, part, &like, dir);
		if (error)
			return error;
	}
	return 0;
}

/* Adds a file (name and target taken, also on failure); a name in use gets a number. */
static int add_file(struct builder *b, struct sample_file file)
{
	uint32_t other;
	int error = file.name ? 0 : FL_ENOMEM;

	while (!error && index_find(&b->index, index_key(file.dir, file.name), &other)) {
		char *longer;

		if (asprintf(&longer, "%s.%u", file.name, ++b->serial) < 0)
			error = FL_ENOMEM;
		else {
			free(file.name);
			file.name = longer;
		}
	}
	file.key = fl_rng_next(&b->rng);
	if (!error)
		error = index_add(&b->index, index_key(file.dir, file.name), UINT32_MAX);
	if (!error)
		error = fl_array_push(&b->tree->files, file);
	if (error) {
		free(file.name);
		free(file.target);
	}
	return error;
}

static int add_from_row(struct builder *b, const struct row *row, struct sample_file file)
{
	uint32_t user = (uint32_t)fl_rng_below(&b->rng, b->users);
	struct name_context context = {.rng = &b->rng,
				       .user = user,
				       .package = (uint32_t)fl_rng_below(&b->rng, b->packages),
				       .packages = b->packages,
				       .serial = b->serial++};
	char *path = sample_name(row->dir, &context);
	int error = path ? enter_path(b, path, row->owner, user, &file.dir) : FL_ENOMEM;

	free(path);
	if (error)
		return error;
	file.name = sample_name(row->name, &context);
	file.mode = (uint16_t)(S_IFREG | row->mode);
	file.content = row->content;
	set_owner(row->owner, user, &file.uid, &file.gid);
	return add_file(b, file);
}

static int add_ordinary_files(struct builder *b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct row *row = row_pick(&b->rng, false);
		struct sample_file file = {.link_to = UINT32_MAX};
		int error;

		file.size_bytes = fl_rng_chance(&b->rng, 1, 50) ? 0 : row_draw_size(row, &b->rng);
		if (fl_rng_chance(&b->rng, 1, 25))
			file.xattr_bytes = (uint32_t)fl_rng_between(&b->rng, 4, 24);
		else if (fl_rng_chance(&b->rng, 1, 120))
			file.xattr_bytes = (uint32_t)fl_rng_between(&b->rng, 200, 700);
		if (fl_rng_chance(&b->rng, 1, 60) && row->content == CONTENT_MIXED)
			file.shape = SHAPE_HOLES;
		else if (fl_rng_chance(&b->rng, 1, 100) && row->content != CONTENT_RANDOM)
			file.shape = SHAPE_PREALLOCATED;
		error = add_from_row(b, row, file);
		if (error)
			return error;
	}
	return 0;
}

/* Blocks that so many bytes take. */
static uint64_t room_blocks(const struct sample_options *options, uint64_t bytes)
{
	uint32_t unit = options->cluster_bytes ? options->cluster_bytes : options->block_bytes;

	return fl_div_up(bytes, unit) * (unit / options->block_bytes);
}

static uint64_t size_blocks(const struct builder *b)
{
	uint64_t blocks = 0;

	for (size_t i = 0; i < b->tree->files.count; i++)
		blocks += room_blocks(b->options, b->tree->files.at[i].size_bytes);
	return blocks;
}

/* Makes the files smaller, in proportion, until they take at most limit blocks. */
static int fit_sizes(struct builder *b, uint64_t limit)
{
	for (int round = 0; round < 64; round++) {
		uint64_t blocks = size_blocks(b);

		if (blocks <= limit)
			return 0;
		for (size_t i = 0; i < b->tree->files.count; i++) {
			struct sample_file *file = &b->tree->files.at[i];

			file->size_bytes = file->size_bytes * (15 * limit) / (16 * blocks);
		}
	}
	return FL_ENOROOM;
}

/* Big files take what the ordinary ones leave; the last grows to the wanted fullness. */
static int add_big_files(struct builder *b, uint64_t limit, uint32_t count)
{
	uint64_t left = limit * b->options->block_bytes;
	uint64_t high = fl_max(fl_min(left / 4, BIG_MAX), left / (count ? 2 * count : 1));
	uint64_t low = fl_min(BIG_MIN, high / 3);
	int error = 0;

	for (uint32_t i = 0; !error && i < count; i++) {
		const struct row *row = row_pick(&b->rng, true);
		struct sample_file file = {.link_to = UINT32_MAX};

		file.size_bytes = fl_min(fl_rng_between(&b->rng, low, high), left);
		left -= file.size_bytes;
		if (row->content == CONTENT_MIXED)
			file.shape = SHAPE_HOLES;
		error = add_from_row(b, row, file);
	}
	if (!error) {
		struct sample_file filler = {.link_to = UINT32_MAX, .filler = true};

		error = add_from_row(b, row_filler(), filler);
	}
	return error;
}

/* Links, symlinks and nodes: what a desktop has besides regular files. */
static int add_others(struct builder *b)
{
	static const struct {
		const char *name, *target;
		uint16_t mode, device;
	} fixed[] = {
		{"bin", "usr/bin", S_IFLNK | 0777, 0},
		{"lib", "usr/lib", S_IFLNK | 0777, 0},
		{"vmlinuz", "boot/vmlinuz-6.1.0", S_IFLNK | 0777, 0},
		{"console", NULL, S_IFCHR | 0600, 0x501},
		{"sda", NULL, S_IFBLK | 0660, 0x800},
		{"initctl", NULL, S_IFIFO | 0600, 0},
	};
	size_t regular = b->tree->files.count;
	int error = 0;

	for (size_t i = 0; !error && i < COUNT(fixed); i++) {
		struct sample_file file = {
			.link_to = UINT32_MAX, .mode = fixed[i].mode, .device = fixed[i].device};

		file.name = strdup(fixed[i].name);
		file.target = fixed[i].target ? strdup(fixed[i].target) : NULL;
		error = add_file(b, file);
	}
	for (size_t i = 0; !error && i < regular; i++) {
		const struct sample_file *to = &b->tree->files.at[i];
		struct sample_file file = {.dir = to->dir, .uid = to->uid, .gid = to->gid};
		uint64_t lot = fl_rng_below(&b->rng, 240);

		if (to->filler || lot > 7)
			continue;
		if (asprintf(&file.name, "%s.%s", to->name, lot < 3 ? "orig" : "link") < 0)
			return FL_ENOMEM;
		file.mode = lot < 3 ? to->mode : S_IFLNK | 0777;
		file.link_to = lot < 3 ? (uint32_t)i : UINT32_MAX;
		if (lot >= 3 && asprintf(&file.target, "%s%s",
					 lot == 7 ? "../../../srv/share/a-folder-with-a-long-name/"
						    "and-another-one-below-it/"
						  : "",
					 to->name) < 0) {
			free(file.name);
			return FL_ENOMEM;
		}
		error = add_file(b, file);
	}
	return error;
}

static int order_of(const void *left, const void *right, void *context)
{
	const struct sample_tree *tree = context;
	const struct sample_file *a = &tree->files.at[*(const uint32_t *)left];
	const struct sample_file *b = &tree->files.at[*(const uint32_t *)right];
	int order = fl_compare(a->dir, b->dir);

	/* A hard link needs its file first. */
	if (!order)
		order = fl_compare(a->link_to != UINT32_MAX, b->link_to != UINT32_MAX);
	return order ? order : fl_compare(a->key, b->key);
}

int sample_tree_build(const struct sample_options *options, uint64_t data_blocks,
		      struct sample_tree *tree)
{
	struct builder b = {.options = options, .tree = tree};
	uint32_t big, root;
	uint64_t left;
	int error;

	fl_rng_seed(&b.rng, options->seed);
	b.users = (uint32_t)fl_max(1, fl_min(4, options->files / 1500));
	b.packages = (uint32_t)fl_max(3, fl_min(200, options->files / 60));
	big = (uint32_t)fl_max(options->files / 40 ? 2 : 0,
			       data_blocks * options->block_bytes / 2 / ((BIG_MIN + BIG_MAX) / 2));
	big = (uint32_t)fl_min(big, options->files / 2);
	error = enter(&b, 0, "", &(struct sample_dir){.mode = 0755}, &root);
	if (!error)
		error = add_ordinary_files(&b, options->files - big - 1);
	if (!error)
		error = fit_sizes(&b, data_blocks * 11 / 20);
	left = data_blocks - fl_min(data_blocks, size_blocks(&b));
	/* Nine tenths of the rest: the filler evens out what cannot be known beforehand. */
	if (!error)
		error = add_big_files(&b, left * 9 / 10, big);
	if (!error)
		error = add_others(&b);
	for (uint32_t i = 0; !error && i < tree->files.count; i++)
		error = fl_array_push(&tree->order, i);
	if (!error)
		qsort_r(tree->order.at, tree->order.count, sizeof(uint32_t), order_of, tree);
	index_free(&b.index);
	return error;
}

void sample_tree_free(struct sample_tree *tree)
{
	for (size_t i = 0; i < tree->dirs.count; i++)
		free(tree->dirs.at[i].name);
	for (size_t i = 0; i < tree->files.count; i++) {
		free(tree->files.at[i].name);
		free(tree->files.at[i].target);
	}
	fl_array_free(&tree->dirs);
	fl_array_free(&tree->files);
	fl_array_free(&tree->order);
}
