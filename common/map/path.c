/* SPDX-License-Identifier: MIT */
/*
 * Paths from the name table of a map. Must cope with names that are not text.
 */
#include <fraglab/map.h>

#include <stdio.h>
#include <string.h>

/* Writes one name byte backwards before `end`; NULL when it does not fit above `floor`. */
static char *prepend_byte(char *floor, char *end, unsigned char byte, bool escape)
{
	static const char hex[] = "0123456789abcdef";

	if (!escape || (byte >= 0x20 && byte < 0x7f && byte != '\\')) {
		if (end - floor < 1)
			return NULL;
		*--end = (char)byte;
		return end;
	}
	if (end - floor < 4)
		return NULL;
	*--end = hex[byte & 15];
	*--end = hex[byte >> 4];
	*--end = 'x';
	*--end = '\\';
	return end;
}

static char *prepend_name(char *floor, char *end, const char *text, bool escape)
{
	for (size_t i = strlen(text); i > 0 && end; i--)
		end = prepend_byte(floor, end, (unsigned char)text[i - 1], escape);
	if (end && end > floor) {
		*--end = '/';
		return end;
	}
	return NULL;
}

const char *fl_map_path(const struct fl_map *map, uint32_t name, bool escape, char *buffer,
			size_t buffer_bytes)
{
	char *end = buffer + buffer_bytes - 1, *floor = buffer + 3, *at = end;

	*end = '\0';
	if (name == FL_NO_NAME)
		return end;
	if (map->names.at[name].parent == FL_NO_NAME) {
		*--at = '/';
		return at;
	}
	for (; map->names.at[name].parent != FL_NO_NAME; name = map->names.at[name].parent) {
		const char *text = map->texts.at + map->names.at[name].text;
		char *before = prepend_name(floor, at, text, escape);

		if (!before) {
			memcpy(at - 3, "...", 3);
			return at - 3;
		}
		at = before;
	}
	return at;
}
