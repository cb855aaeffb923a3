/* SPDX-License-Identifier: MIT */
/*
 * Sizes as text, in powers of 1024. Must not depend on the locale.
 */
#include <fraglab/util.h>

#include <inttypes.h>
#include <stdio.h>

static unsigned suffix_shift(char suffix)
{
	switch (suffix) {
	case 'K':
	case 'k':
		return 10;
	case 'M':
	case 'm':
		return 20;
	case 'G':
	case 'g':
		return 30;
	case 'T':
	case 't':
		return 40;
	default:
		return 0;
	}
}

int fl_size_parse(const char *text, uint64_t *bytes)
{
	uint64_t value = 0;
	unsigned shift = 0;

	if (*text < '0' || *text > '9')
		return FL_ESYNTAX;
	for (; *text >= '0' && *text <= '9'; text++) {
		unsigned digit = (unsigned)(*text - '0');

		if (value > (UINT64_MAX - digit) / 10)
			return FL_ESYNTAX;
		value = value * 10 + digit;
	}
	if (*text) {
		shift = suffix_shift(*text++);
		if (!shift || *text)
			return FL_ESYNTAX;
	}
	if (value > UINT64_MAX >> shift)
		return FL_ESYNTAX;
	*bytes = value << shift;
	return 0;
}

const char *fl_size_format(uint64_t bytes, char text[FL_SIZE_TEXT])
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	uint64_t whole = bytes, rest = 0;
	size_t unit = 0;

	if (bytes < 1024) {
		snprintf(text, FL_SIZE_TEXT, "%" PRIu64 " B", bytes);
		return text;
	}
	for (;; unit++) {
		rest = whole % 1024;
		whole /= 1024;
		if (whole < 1024)
			break;
	}
	/* Integer tenths and hundredths, cut rather than rounded: "1023.9" must not become 1024. */
	if (whole < 10 && rest)
		snprintf(text, FL_SIZE_TEXT, "%" PRIu64 ".%02" PRIu64 " %s", whole,
			 rest * 100 / 1024, units[unit]);
	else if (whole < 100 && rest)
		snprintf(text, FL_SIZE_TEXT, "%" PRIu64 ".%" PRIu64 " %s", whole, rest * 10 / 1024,
			 units[unit]);
	else
		snprintf(text, FL_SIZE_TEXT, "%" PRIu64 " %s", whole, units[unit]);
	return text;
}
