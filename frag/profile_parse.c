/* SPDX-License-Identifier: MIT */
/*
 * The text of a profile: "key value..." a line, # begins a comment. One table has the keys with
 * their limits. Must not know what the numbers are for.
 */
#include "frag/profile.h"

#include <fraglab/util.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define GIB ((uint64_t)1 << 30)
#define BLANKS " \t\r"

/* A key with one or more numbers. The limits keep the arithmetic of the history within 64 bits. */
struct key {
	const char *name;
	size_t offset, count;
	uint64_t low, high;
};

#define KEY(name, field, count, low, high)                                                         \
	{                                                                                          \
		name, offsetof(struct frag_profile, field), count, low, high                       \
	}
static const struct key keys[] = {
	KEY("installed-percent", installed_percent, 1, 0, 100),
	KEY("rewritten-percent", rewritten_percent, 1, 0, 100),
	KEY("growing-percent", growing_percent, FRAG_CLASSES, 0, 100),
	KEY("growing-first-percent", growing_first_percent, 1, 0, 100),
	KEY("appends", appends, FRAG_CLASSES, 0, 100000),
	KEY("appends-most", appends_most, 1, 0, 100000),
	KEY("shared-percent", shared_percent, FRAG_CLASSES, 0, 100),
	KEY("writers", writers, 1, 1, 64),
	KEY("chunk-least", chunk_least, 1, 1024, GIB),
	KEY("chunk-most", chunk_most, 1, 1024, GIB),
	KEY("turn-temporary-percent", turn_temporary_percent, 1, 0, 100),
	KEY("temporary-permille", temporary_permille, 1, 0, 1000),
	KEY("short-lived-percent", short_lived_percent, 1, 0, 100),
	KEY("low-percent", low_percent, 1, 0, 99),
	KEY("peak-percent", peak_percent, 1, 0, 99),
};
#define KEY_COUNT (sizeof(keys) / sizeof(*keys))

struct parser {
	struct frag_profile *profile;
	struct fl_diag *diag;
	size_t line; /* from 1 */
	bool seen[KEY_COUNT], summarized;
	size_t sizes;
};

static int take_number(const struct parser *p, const char *key, const char *word, uint64_t low,
		       uint64_t high, uint64_t *number)
{
	if (fl_size_parse(word, number))
		return fl_fail(p->diag, FL_ESYNTAX, "line %zu: %s: not a number: '%.40s'", p->line,
			       key, word);
	if (*number < low || *number > high)
		return fl_fail(p->diag, FL_ESYNTAX,
			       "line %zu: %s: not between %" PRIu64 " and %" PRIu64 ": '%.40s'",
			       p->line, key, low, high, word);
	return 0;
}

/* The numbers of one line, exactly `count` of them. rest: what strtok_r has left. */
static int take_numbers(const struct parser *p, const struct key *key, char *rest,
			uint64_t *numbers)
{
	size_t count = 0;

	for (char *word; (word = strtok_r(NULL, BLANKS, &rest)); count++) {
		int err;

		if (count == key->count)
			return fl_fail(p->diag, FL_ESYNTAX, "line %zu: %s: more than %zu values",
				       p->line, key->name, count);
		err = take_number(p, key->name, word, key->low, key->high, &numbers[count]);
		if (err)
			return err;
	}
	if (count < key->count)
		return fl_fail(p->diag, FL_ESYNTAX, "line %zu: %s: %zu values, not %zu", p->line,
			       key->name, count, key->count);
	return 0;
}

static int take_key(struct parser *p, size_t number, char *rest)
{
	const struct key *key = &keys[number];

	if (p->seen[number])
		return fl_fail(p->diag, FL_ESYNTAX, "line %zu: %s: given twice", p->line,
			       key->name);
	p->seen[number] = true;
	return take_numbers(p, key, rest, (uint64_t *)((char *)p->profile + key->offset));
}

static int take_summary(struct parser *p, char *rest)
{
	rest += strspn(rest, BLANKS);
	if (p->summarized)
		return fl_fail(p->diag, FL_ESYNTAX, "line %zu: summary: given twice", p->line);
	if (!*rest || strlen(rest) >= FRAG_SUMMARY_BYTES)
		return fl_fail(p->diag, FL_ESYNTAX, "line %zu: summary: not 1 to %d bytes", p->line,
			       FRAG_SUMMARY_BYTES - 1);
	p->summarized = true;
	strcpy(p->profile->summary, rest);
	return 0;
}

static int take_size(struct parser *p, char *rest)
{
	const struct key both = {.name = "temporary-size", .count = 2, .low = 1, .high = GIB};
	struct frag_size_weight *size = &p->profile->sizes[p->sizes];
	uint64_t numbers[2];
	int err = take_numbers(p, &both, rest, numbers);

	if (err)
		return err;
	if (p->sizes == FRAG_MOST_SIZES)
		return fl_fail(p->diag, FL_ESYNTAX, "line %zu: temporary-size: more than %d",
			       p->line, FRAG_MOST_SIZES);
	if (p->sizes && numbers[0] <= size[-1].bytes)
		return fl_fail(p->diag, FL_ESYNTAX,
			       "line %zu: temporary-size: not in ascending order", p->line);
	if (numbers[1] > 1000000)
		return fl_fail(p->diag, FL_ESYNTAX,
			       "line %zu: temporary-size: the weight is above 1000000", p->line);
	*size = (struct frag_size_weight){.bytes = numbers[0], .weight = numbers[1]};
	p->sizes++;
	return 0;
}

static int take_line(struct parser *p, char *line)
{
	char *rest = NULL, *word;

	line[strcspn(line, "#")] = '\0';
	for (size_t end = strlen(line); end && strchr(BLANKS, line[end - 1]);)
		line[--end] = '\0';
	word = strtok_r(line, BLANKS, &rest);
	if (!word)
		return 0;
	if (!strcmp(word, "summary"))
		return take_summary(p, rest);
	if (!strcmp(word, "temporary-size"))
		return take_size(p, rest);
	for (size_t i = 0; i < KEY_COUNT; i++)
		if (!strcmp(word, keys[i].name))
			return take_key(p, i, rest);
	return fl_fail(p->diag, FL_ESYNTAX, "line %zu: no such key: '%.40s'", p->line, word);
}

/* What no line can be blamed for. */
static int check_whole(const struct parser *p)
{
	const struct frag_profile *profile = p->profile;
	const char *missing = p->summarized ? NULL : "summary";

	for (size_t i = 0; i < KEY_COUNT && !missing; i++)
		missing = p->seen[i] ? NULL : keys[i].name;
	if (!missing && !p->sizes)
		missing = "temporary-size";
	if (missing)
		return fl_fail(p->diag, FL_ESYNTAX, "line %zu: the end, and no %s", p->line,
			       missing);
	if (profile->chunk_least > profile->chunk_most)
		return fl_fail(p->diag, FL_ESYNTAX, "chunk-least is above chunk-most");
	if (profile->low_percent > profile->peak_percent)
		return fl_fail(p->diag, FL_ESYNTAX, "low-percent is above peak-percent");
	return 0;
}

int frag_profile_parse(const char *text, struct frag_profile *profile, struct fl_diag *diag)
{
	struct parser parser = {.profile = profile, .diag = diag};
	char *copy = strdup(text), *next = copy;
	int err = copy ? 0 : FL_ENOMEM;

	*profile = (struct frag_profile){.name = profile->name};
	while (!err && next && *next) {
		char *line = strsep(&next, "\n");

		parser.line++;
		err = take_line(&parser, line);
	}
	free(copy);
	return err ? err : check_whole(&parser);
}
