/* SPDX-License-Identifier: MIT */
/*
 * Bytes from outside (paths) made fit for terminals and JSON: valid UTF-8, nothing
 * that moves a cursor. Does not depend on the locale.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

size_t fl_report_utf8(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t point, least;
	size_t length;

	if (s[0] < 0x80)
		return s[0] ? 1 : 0;
	if (s[0] >= 0xc2 && s[0] < 0xe0) {
		length = 2;
		point = s[0] & 0x1fu;
		least = 0x80;
	} else if (s[0] >= 0xe0 && s[0] < 0xf0) {
		length = 3;
		point = s[0] & 0x0fu;
		least = 0x800;
	} else if (s[0] >= 0xf0 && s[0] < 0xf5) {
		length = 4;
		point = s[0] & 0x07u;
		least = 0x10000;
	} else {
		return 0;
	}
	/* A NUL is no continuation byte, so this never reads past the end. */
	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (s[i] & 0x3fu);
	}
	if (point < least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000))
		return 0;
	return length;
}

/* A control character, C1 (U+0080 .. U+009F) and the marks that reorder a line included. */
static bool is_control(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;

	if (length == 1)
		return s[0] < 0x20 || s[0] == 0x7f;
	if (length == 2)
		return s[0] == 0xc2 && s[1] < 0xa0;
	if (length == 3 && s[0] == 0xe2) /* U+200E, U+200F, U+2028 .. U+202E, U+2066 .. U+2069 */
		return (s[1] == 0x80 &&
			((s[2] >= 0x8e && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
		       (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
	return false;
}

/* One character's columns; everything from U+1100 on counts as wide. */
static size_t char_width(const char *text, size_t length)
{
	const unsigned char *s = (const unsigned char *)text;

	if (length < 3 || (length == 3 && s[0] == 0xe0) ||
	    (length == 3 && s[0] == 0xe1 && s[1] < 0x84))
		return 1;
	return 2;
}

size_t fl_report_width(const char *text)
{
	size_t width = 0, length;

	for (; *text; text += length) {
		length = fl_report_utf8(text);
		if (!length)
			length = 1;
		width += char_width(text, length);
	}
	return width;
}

char *fl_report_safe(const char *text, size_t columns)
{
	static const char hex[] = "0123456789abcdef";
	char *safe = fl_alloc(strlen(text) + 1, 4);
	char *end = safe, *rest;
	size_t width;

	if (!safe)
		return NULL;
	while (*text) {
		size_t length = fl_report_utf8(text);
		size_t bytes = length ? length : 1;

		if (length && !is_control(text, length)) {
			memcpy(end, text, length);
			end += length;
		} else {
			for (size_t i = 0; i < bytes; i++) {
				unsigned char byte = (unsigned char)text[i];

				*end++ = '\\';
				*end++ = 'x';
				*end++ = hex[byte >> 4];
				*end++ = hex[byte & 15];
			}
		}
		text += bytes;
	}
	*end = '\0';

	width = fl_report_width(safe);
	if (!columns || width <= columns)
		return safe;
	rest = safe;
	while (*rest && width + 3 > columns) {
		size_t length = fl_report_utf8(rest);

		width -= char_width(rest, length);
		rest += length;
	}
	/* What was cut has at least the three columns, and so the three bytes, of the dots. */
	memmove(safe + 3, rest, strlen(rest) + 1);
	memcpy(safe, "...", 3);
	return safe;
}
