/* SPDX-License-Identifier: MIT */
/*
 * What the parts of the JSON renderer share: values that are safe to put into a document.
 * Private to common/report.
 */
#ifndef FRAGLAB_REPORT_JSON_VALUE_H
#define FRAGLAB_REPORT_JSON_VALUE_H

#include "parts.h"

#include <jansson.h>
#include <stdlib.h>

/*
 * Takes value, NULL (no memory) included; true means failed. Failures are collected with |=
 * and looked at once: an incomplete document is never shown.
 */
static inline bool put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new_nocheck(object, key, value) != 0;
}

static inline bool add(json_t *array, json_t *value)
{
	return json_array_append_new(array, value) != 0;
}

/* JSON readers hold integers in 63 bits; nothing that is counted gets there. */
static inline json_t *whole(uint64_t value)
{
	return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static inline json_t *string(const char *text)
{
	char *safe = fl_report_safe(text ? text : "", 0);
	json_t *value = safe ? json_string(safe) : NULL;

	free(safe);
	return value;
}

/* The bytes as they are where JSON can say them; else made safe. */
static inline json_t *path_string(const char *path)
{
	const char *at = path ? path : "";

	for (size_t length; *at; at += length) {
		length = fl_report_utf8(at);
		if (!length)
			return string(path);
	}
	return json_string_nocheck(path ? path : "");
}

static inline json_t *finish(json_t *value, bool failed)
{
	if (!failed)
		return value;
	json_decref(value);
	return NULL;
}

/* --- json_io.c; NULL: no memory --- */

json_t *fl_json_hist(const struct fl_hist *hist);
json_t *fl_json_io(const struct fl_io_metrics *io);
/* A disk an entry. */
json_t *fl_json_captures(const struct fl_report *report);

/* --- json_aims.c --- */

/* What was wanted and what was achieved. */
json_t *fl_json_aims(const struct fl_report *report);

/* --- json_legacy.c --- */

/* The scores of other tools; NULL: no memory. */
json_t *fl_json_legacy(const struct fl_metrics *metrics, uint32_t block_bytes);
/* The files that the seeks go to; NULL: no memory. */
json_t *fl_json_blame(const struct fl_blame *blame);

#endif
