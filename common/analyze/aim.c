/* SPDX-License-Identifier: MIT */
/*
 * The figures a layout is wanted to have: names, values, tolerances. Must not know how a layout
 * comes by them.
 */
#include <fraglab/aim.h>

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RATIO_TOLERANCE (FL_AIM_ONE / 100)
#define DISTANCE_TOLERANCE (FL_AIM_ONE / 20)
#define TOLERANCE_PERCENT 5u
#define DIGITS 6u /* behind the point: millionths */

static const struct {
	const char *name;
	enum fl_aim_unit unit;
} keys[FL_AIM_KEYS] = {
	[FL_AIM_SEQUENTIAL] = {"sequential", FL_AIM_RATIO},
	[FL_AIM_FRAGMENTED] = {"fragmented", FL_AIM_RATIO},
	[FL_AIM_EXTENTS] = {"extents", FL_AIM_MEAN},
	[FL_AIM_LAYOUT_SCORE] = {"layout-score", FL_AIM_RATIO},
	[FL_AIM_LARGEST_FREE] = {"largest-free", FL_AIM_BYTES},
	[FL_AIM_FREE_EXTENTS] = {"free-extents", FL_AIM_COUNT},
	[FL_AIM_LIKE_FILES] = {"like-files", FL_AIM_RATIO},
	[FL_AIM_LIKE_FREE] = {"like-free", FL_AIM_RATIO},
};

const char *fl_aim_name(enum fl_aim_key key)
{
	return keys[key].name;
}

enum fl_aim_unit fl_aim_unit(enum fl_aim_key key)
{
	return keys[key].unit;
}

/* "12", "12.5", ".5" in millionths; *rest is what follows. False: no number, or too long a one. */
static bool parse_decimal(const char *text, uint64_t *millionths, const char **rest)
{
	uint64_t value = 0;
	unsigned digits = 0, behind = 0;
	bool point = false;

	for (;; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			break;
		if (++digits > 12 || (point && ++behind > DIGITS))
			return false;
		value = value * 10 + (uint64_t)(*text - '0');
	}
	for (; behind < DIGITS; behind++)
		value *= 10;
	*millionths = value;
	*rest = text;
	return digits > 0;
}

static int parse_ratio(const char *text, uint64_t *ratio, struct fl_diag *diag)
{
	const char *rest;

	if (parse_decimal(text, ratio, &rest)) {
		if (*rest == '%') {
			*ratio /= 100;
			rest++;
		}
		if (!*rest && *ratio <= FL_AIM_ONE)
			return 0;
	}
	return fl_fail(diag, FL_ESYNTAX, "not a share, as 15%% or 0.15: '%s'", text);
}

static int parse_mean(const char *text, uint64_t *mean, struct fl_diag *diag)
{
	const char *rest;

	if (parse_decimal(text, mean, &rest) && !*rest && *mean >= 2 * FL_AIM_ONE)
		return 0;
	return fl_fail(diag, FL_ESYNTAX, "not a mean of 2 or more: '%s'", text);
}

static int parse_whole(const char *text, bool suffixes, uint64_t *value, struct fl_diag *diag)
{
	bool good = !fl_size_parse(text, value) && *value;

	if (good && (suffixes || !text[strspn(text, "0123456789")]))
		return 0;
	return fl_fail(diag, FL_ESYNTAX, "not a %s above 0: '%s'", suffixes ? "size" : "number",
		       text);
}

int fl_aim_parse(const char *text, struct fl_aim *aim, struct fl_diag *diag)
{
	const char *value = strchr(text, '=');
	size_t length = value ? (size_t)(value - text) : 0;
	unsigned key = 0;

	while (key < FL_AIM_LIKE_FILES &&
	       (strlen(keys[key].name) != length || strncmp(text, keys[key].name, length) != 0))
		key++;
	if (!value || key == FL_AIM_LIKE_FILES)
		return fl_fail(diag, FL_ESYNTAX,
			       "not one of sequential=, fragmented=, extents=, layout-score=, "
			       "largest-free= and free-extents=: '%s'",
			       text);
	aim->key = (enum fl_aim_key)key;
	value++;
	switch (keys[key].unit) {
	case FL_AIM_RATIO:
		return parse_ratio(value, &aim->wanted, diag);
	case FL_AIM_MEAN:
		return parse_mean(value, &aim->wanted, diag);
	case FL_AIM_COUNT:
	case FL_AIM_BYTES:
		break;
	}
	return parse_whole(value, keys[key].unit == FL_AIM_BYTES, &aim->wanted, diag);
}

const struct fl_aim *fl_aims_find(const struct fl_aims *aims, enum fl_aim_key key)
{
	for (size_t i = 0; i < aims->count; i++)
		if (aims->at[i].key == key)
			return &aims->at[i];
	return NULL;
}

/* part / whole in millionths, rounded; part is at most a few thousand times whole. */
static uint64_t ratio(uint64_t part, uint64_t whole)
{
	uint64_t rest;

	if (!whole)
		return 0;
	rest = part % whole;
	/* rest * a million may be too much; then both are large, and their last bits are nothing.
	 */
	while (rest > UINT64_MAX / (2 * FL_AIM_ONE)) {
		rest >>= 1;
		whole >>= 1;
	}
	return part / whole * FL_AIM_ONE + (rest * FL_AIM_ONE + whole / 2) / whole;
}

uint64_t fl_aim_value(enum fl_aim_key key, const struct fl_metrics *metrics)
{
	const struct fl_file_metrics *files = &metrics->files;
	const struct fl_io_metrics *io = &metrics->io[0];
	uint64_t extra = files->fragments - files->count;

	switch (key) {
	case FL_AIM_SEQUENTIAL:
		return metrics->io_count ? ratio(io->ios - io->seeks, io->ios) : 0;
	case FL_AIM_FRAGMENTED:
		return ratio(files->fragmented, files->count);
	case FL_AIM_EXTENTS:
		return ratio(extra + files->fragmented, files->fragmented);
	case FL_AIM_LAYOUT_SCORE:
		return files->blocks > files->count
			       ? FL_AIM_ONE - ratio(extra, files->blocks - files->count)
			       : FL_AIM_ONE;
	case FL_AIM_LARGEST_FREE:
		return metrics->free.largest_bytes;
	case FL_AIM_FREE_EXTENTS:
		return metrics->free.extents;
	case FL_AIM_LIKE_FILES:
		return metrics->like_files;
	case FL_AIM_LIKE_FREE:
		return metrics->like_free;
	case FL_AIM_KEYS:
		break;
	}
	return 0;
}

uint64_t fl_aim_tolerance(const struct fl_aim *aim)
{
	if (aim->key == FL_AIM_LIKE_FILES || aim->key == FL_AIM_LIKE_FREE)
		return DISTANCE_TOLERANCE;
	if (keys[aim->key].unit == FL_AIM_RATIO)
		return RATIO_TOLERANCE;
	return aim->wanted / 100 * TOLERANCE_PERCENT + aim->wanted % 100 * TOLERANCE_PERCENT / 100;
}

bool fl_aim_met(const struct fl_aim *aim, uint64_t value)
{
	uint64_t away = value > aim->wanted ? value - aim->wanted : aim->wanted - value;

	return away <= fl_aim_tolerance(aim);
}

bool fl_aims_met(const struct fl_aims *aims, const struct fl_metrics *metrics)
{
	for (size_t i = 0; i < aims->count; i++)
		if (!fl_aim_met(&aims->at[i], fl_aim_value(aims->at[i].key, metrics)))
			return false;
	return true;
}

const char *fl_aim_format(enum fl_aim_key key, uint64_t value, char text[FL_AIM_TEXT])
{
	double number = (double)value / (double)FL_AIM_ONE;
	char size[FL_SIZE_TEXT];

	if (key == FL_AIM_LAYOUT_SCORE || key == FL_AIM_LIKE_FILES || key == FL_AIM_LIKE_FREE)
		(void)snprintf(text, FL_AIM_TEXT, "%.3f", number);
	else if (keys[key].unit == FL_AIM_RATIO)
		(void)snprintf(text, FL_AIM_TEXT, "%.1f %%", number * 100.0);
	else if (keys[key].unit == FL_AIM_MEAN)
		(void)snprintf(text, FL_AIM_TEXT, "%.2f", number);
	else if (keys[key].unit == FL_AIM_BYTES)
		(void)snprintf(text, FL_AIM_TEXT, "%s", fl_size_format(value, size));
	else
		(void)snprintf(text, FL_AIM_TEXT, "%" PRIu64, value);
	return text;
}
