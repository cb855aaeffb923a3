/* SPDX-License-Identifier: MIT */
/*
 * What a history calls a file: by its path, folder by folder. Both directions are here, so that
 * they agree. Must not know operations.
 */
#include "frag/history_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "frag/history_text.h"

struct frag_names {
	const struct fl_map *map;
	uint32_t *slots; /* open addressing, by folder and text; FL_NO_NAME: empty */
	size_t mask;
	uint32_t *files; /* as map->names: the index into map->files; UINT32_MAX: no blocks */
};

static const char *text_of(const struct fl_map *map, uint32_t name)
{
	return map->texts.at + map->names.at[name].text;
}

/* FNV-1a; bytes of a text, after the folder that it is in. */
static uint64_t hash(uint32_t parent, const char *text, size_t bytes)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325) ^ parent;

	value *= UINT64_C(0x100000001b3);
	for (size_t i = 0; i < bytes; i++)
		value = (value ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return value ^ value >> 29;
}

int frag_names_new(const struct fl_map *map, struct frag_names **out)
{
	struct frag_names *names = calloc(1, sizeof(*names));
	size_t room = 16;

	if (!names)
		return FL_ENOMEM;
	while (room < map->names.count * 2)
		room *= 2;
	names->map = map;
	names->mask = room - 1;
	names->slots = fl_alloc(room, sizeof(*names->slots));
	names->files = fl_alloc(map->names.count + 1, sizeof(*names->files));
	if (!names->slots || !names->files) {
		frag_names_free(names);
		return FL_ENOMEM;
	}
	memset(names->slots, 0xff, room * sizeof(*names->slots));
	memset(names->files, 0xff, (map->names.count + 1) * sizeof(*names->files));
	for (uint32_t i = 0; i < map->names.count; i++) {
		const char *text = text_of(map, i);
		size_t at = hash(map->names.at[i].parent, text, strlen(text)) & names->mask;

		while (names->slots[at] != FL_NO_NAME)
			at = (at + 1) & names->mask;
		names->slots[at] = i;
	}
	for (uint32_t i = 0; i < map->files.count; i++)
		if (map->files.at[i].name != FL_NO_NAME)
			names->files[map->files.at[i].name] = i;
	*out = names;
	return 0;
}

void frag_names_free(struct frag_names *names)
{
	if (!names)
		return;
	free(names->slots);
	free(names->files);
	free(names);
}

static uint32_t look_up(const struct frag_names *names, uint32_t parent, const char *text,
			size_t bytes)
{
	size_t at = hash(parent, text, bytes) & names->mask;

	for (; names->slots[at] != FL_NO_NAME; at = (at + 1) & names->mask) {
		uint32_t name = names->slots[at];
		const char *other = text_of(names->map, name);

		if (names->map->names.at[name].parent == parent && !strncmp(other, text, bytes) &&
		    !other[bytes])
			return name;
	}
	return FL_NO_NAME;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Undoes \xNN in place; false: something else follows a backslash, or NN is 00. */
static bool unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (*text == '\\') {
			int high = text[1] == 'x' ? hex_digit(text[2]) : -1;
			int low = high >= 0 ? hex_digit(text[3]) : -1;

			if (low < 0 || high + low == 0)
				return false;
			*to++ = (char)(high * 16 + low);
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
	return true;
}

bool frag_names_find_path(const struct frag_names *names, char *path, uint32_t *name)
{
	uint32_t at = look_up(names, FL_NO_NAME, "", 0);

	if (*path != '/' || !unescape(path))
		return false;
	while (at != FL_NO_NAME && *path == '/' && path[1]) {
		size_t bytes = strcspn(++path, "/");

		at = look_up(names, at, path, bytes);
		path += bytes;
	}
	*name = at;
	return at != FL_NO_NAME && (!*path || !path[1]);
}

bool frag_names_find_folder(const struct frag_names *names, char *path, uint32_t *name)
{
	*name = FL_NO_NAME;
	return !strcmp(path, "/") || frag_names_find_path(names, path, name);
}

/* "<12>" or "<xattr:12>": what has no name. */
static bool find_nameless(const struct fl_map *map, const char *text, uint32_t *file)
{
	bool xattr = !strncmp(text, "<xattr:", 7);
	char *end;
	unsigned long long ino = strtoull(text + (xattr ? 7 : 1), &end, 10);
	size_t i = 0;

	if (strcmp(end, ">") != 0 || ino == 0 || ino > UINT32_MAX)
		return false;
	if (!xattr && !fl_map_find(map, (fl_ino)ino, &i))
		return false;
	if (xattr)
		for (i = map->inode_count; i < map->files.count; i++)
			if (map->files.at[i].ino == ino)
				break;
	if (i >= map->files.count || map->files.at[i].name != FL_NO_NAME)
		return false;
	*file = (uint32_t)i;
	return true;
}

bool frag_names_find(const struct frag_names *names, char *text, uint32_t *file)
{
	uint32_t name;

	if (*text == '<')
		return find_nameless(names->map, text, file);
	if (!frag_names_find_path(names, text, &name) || names->files[name] == UINT32_MAX)
		return false;
	*file = names->files[name];
	return true;
}

static void print_text(FILE *stream, const char *text)
{
	for (; *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte <= ' ' || byte >= 0x7f || byte == '\\')
			(void)fprintf(stream, "\\x%02x", byte);
		else
			(void)putc(byte, stream);
	}
}

void frag_names_print_path(FILE *stream, const struct fl_map *map, uint32_t name)
{
	uint32_t depth = 0, at = name;

	for (; at != FL_NO_NAME && map->names.at[at].parent != FL_NO_NAME; depth++)
		at = map->names.at[at].parent;
	if (!depth)
		(void)putc('/', stream);
	/* From the root down; paths are short, so no list of them is kept. */
	for (; depth > 0; depth--) {
		at = name;
		for (uint32_t up = 1; up < depth; up++)
			at = map->names.at[at].parent;
		(void)putc('/', stream);
		print_text(stream, text_of(map, at));
	}
}

void frag_names_print(FILE *stream, const struct fl_map *map, uint32_t file)
{
	const struct fl_file *f = &map->files.at[file];

	if (f->name != FL_NO_NAME)
		frag_names_print_path(stream, map, f->name);
	else
		(void)fprintf(stream, f->kind == FL_KIND_XATTR ? "<xattr:%u>" : "<%u>", f->ino);
}
