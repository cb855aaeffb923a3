/* SPDX-License-Identifier: MIT */
/*
 * Reads lists of paths and finds their files. Must cope with names that are not text.
 */
#include "defrag/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int list_read(const char *file, struct path_list *list, struct fl_diag *diag)
{
	FILE *in = fopen(file, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t length;
	int error = 0;

	if (!in)
		return fl_fail(diag, FL_ESYNTAX, "cannot open the list '%s': %s", file,
			       strerror(errno));
	errno = 0;
	while (!error && (length = getline(&line, &room, in)) >= 0) {
		char *path;

		if (length && line[length - 1] == '\n')
			line[--length] = '\0';
		if (!length)
			continue;
		path = strdup(line);
		if (!path || fl_array_push(list, path)) {
			free(path);
			error = FL_ENOMEM;
		}
	}
	if (!error && ferror(in))
		error = fl_fail(diag, FL_ESYNTAX, "cannot read the list '%s': %s", file,
				strerror(errno));
	free(line);
	(void)fclose(in); /* only read */
	return error;
}

void list_free(struct path_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->at[i]);
	fl_array_free(list);
}

static int compare_names(const void *a, const void *b, void *context)
{
	const struct fl_map *map = context;
	const struct fl_name *left = &map->names.at[*(const uint32_t *)a];
	const struct fl_name *right = &map->names.at[*(const uint32_t *)b];

	if (left->parent != right->parent)
		return fl_compare(left->parent, right->parent);
	return strcmp(map->texts.at + left->text, map->texts.at + right->text);
}

/* The name of `length` bytes in a directory, among name indexes sorted by compare_names. */
static uint32_t find_child(const struct fl_map *map, const uint32_t *sorted, uint32_t parent,
			   const char *text, size_t length)
{
	size_t low = 0, high = map->names.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct fl_name *name = &map->names.at[sorted[middle]];
		const char *other = map->texts.at + name->text;
		int order = fl_compare(name->parent, parent);

		if (!order)
			order = strncmp(other, text, length);
		if (!order && other[length])
			order = 1;
		if (!order)
			return sorted[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return FL_NO_NAME;
}

static uint32_t find_root(const struct fl_map *map)
{
	for (uint32_t i = 0; i < map->names.count; i++)
		if (map->names.at[i].parent == FL_NO_NAME)
			return i;
	return FL_NO_NAME;
}

static uint32_t find_path(const struct fl_map *map, const uint32_t *sorted, uint32_t root,
			  const char *path)
{
	uint32_t name = root;
	size_t file;

	while (name != FL_NO_NAME) {
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (!length)
			break;
		if (length != 1 || path[0] != '.')
			name = find_child(map, sorted, name, path, length);
		path += length;
	}
	if (name == FL_NO_NAME || !fl_map_find(map, map->names.at[name].ino, &file))
		return FL_NO_NAME;
	return (uint32_t)file;
}

int list_find(const struct path_list *list, const struct fl_map *map, uint32_t *files)
{
	uint32_t *sorted = fl_alloc(map->names.count, sizeof(*sorted));
	uint32_t root = find_root(map);

	if (!sorted)
		return FL_ENOMEM;
	for (uint32_t i = 0; i < map->names.count; i++)
		sorted[i] = i;
	qsort_r(sorted, map->names.count, sizeof(*sorted), compare_names, (void *)(uintptr_t)map);
	for (size_t i = 0; i < list->count; i++)
		files[i] = find_path(map, sorted, root, list->at[i]);
	free(sorted);
	return 0;
}
