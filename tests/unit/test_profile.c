/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of the profiles' text: what is read, and what is said of each mistake. Must not need
 * an image.
 */
#include "frag/profile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char good[] = "# a comment\n"
			   "summary  two words # and a comment\n"
			   "\tinstalled-percent 1\r\n"
			   "rewritten-percent 2\n"
			   "growing-percent 3 4 5\t6 7\n"
			   "growing-first-percent 8\n"
			   "appends 9 10 11 12 13\n"
			   "appends-most 14\n"
			   "shared-percent 15 16 17 18 19\n"
			   "writers 20\n"
			   "chunk-least 1K\n"
			   "chunk-most 1M\n"
			   "turn-temporary-percent 21\n"
			   "temporary-permille 22\n"
			   "short-lived-percent 23\n"
			   "temporary-size 512 24\n"
			   "\n"
			   "temporary-size 2K 25\n"
			   "low-percent 26\n"
			   "peak-percent 27";

static void every_key_is_read(void **state)
{
	struct frag_profile p = {.name = "mine"};

	(void)state;
	assert_int_equal(frag_profile_parse(good, &p, NULL), 0);
	assert_string_equal(p.name, "mine");
	assert_string_equal(p.summary, "two words");
	assert_int_equal(p.installed_percent, 1);
	assert_int_equal(p.rewritten_percent, 2);
	for (uint64_t i = 0; i < FRAG_CLASSES; i++) {
		assert_int_equal(p.growing_percent[i], 3 + i);
		assert_int_equal(p.appends[i], 9 + i);
		assert_int_equal(p.shared_percent[i], 15 + i);
	}
	assert_int_equal(p.growing_first_percent, 8);
	assert_int_equal(p.appends_most, 14);
	assert_int_equal(p.writers, 20);
	assert_int_equal(p.chunk_least, 1024);
	assert_int_equal(p.chunk_most, 1048576);
	assert_int_equal(p.turn_temporary_percent, 21);
	assert_int_equal(p.temporary_permille, 22);
	assert_int_equal(p.short_lived_percent, 23);
	assert_int_equal(p.sizes[0].bytes, 512);
	assert_int_equal(p.sizes[0].weight, 24);
	assert_int_equal(p.sizes[1].bytes, 2048);
	assert_int_equal(p.sizes[1].weight, 25);
	assert_int_equal(p.sizes[2].weight, 0);
	assert_int_equal(p.low_percent, 26);
	assert_int_equal(p.peak_percent, 27);
}

/* The good text with the first `from` in it replaced. The caller frees. */
static char *changed(const char *from, const char *to)
{
	const char *at = strstr(good, from);
	size_t room = sizeof(good) + strlen(to);
	char *text = malloc(room);

	assert_non_null(at);
	assert_non_null(text);
	(void)snprintf(text, room, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
	return text;
}

static void mistakes_are_named_with_their_line(void **state)
{
	static const struct {
		const char *from, *to, *reason;
	} mistakes[] = {
		{"rewritten-percent", "rewriten-percent",
		 "line 4: no such key: 'rewriten-percent'"},
		{"rewritten-percent 2", "rewritten-percent",
		 "line 4: rewritten-percent: 0 values, not 1"},
		{"5\t6 7", "5 6", "line 5: growing-percent: 4 values, not 5"},
		{"6 7", "6 7 8", "line 5: growing-percent: more than 5 values"},
		{"6 7", "6 101", "line 5: growing-percent: not between 0 and 100: '101'"},
		{"6 7", "6 x", "line 5: growing-percent: not a number: 'x'"},
		{"6 7", "6 -1", "line 5: growing-percent: not a number: '-1'"},
		{"writers 20", "writers 0", "line 10: writers: not between 1 and 64: '0'"},
		{"chunk-least 1K", "chunk-least 1",
		 "line 11: chunk-least: not between 1024 and 1073741824: '1'"},
		{"chunk-least 1K", "chunk-least 2M", "chunk-least is above chunk-most"},
		{"low-percent 26", "low-percent 28", "low-percent is above peak-percent"},
		{"peak-percent 27", "peak-percent 100",
		 "line 20: peak-percent: not between 0 and 99: '100'"},
		{"peak-percent 27", "low-percent 1", "line 20: low-percent: given twice"},
		{"peak-percent 27", "summary again", "line 20: summary: given twice"},
		{"\npeak-percent 27", "", "line 19: the end, and no peak-percent"},
		{"summary  two words", "", "line 20: the end, and no summary"},
		{"summary  two words", "summary", "line 2: summary: not 1 to 71 bytes"},
		{"two words",
		 "a line of a summary that is longer than what fits beside the name of a profile",
		 "line 2: summary: not 1 to 71 bytes"},
		{"temporary-size 512 24", "temporary-size 2K 24",
		 "line 18: temporary-size: not in ascending order"},
		{"2K 25", "2K 0", "line 18: temporary-size: not between 1 and 1073741824: '0'"},
		{"2K 25", "2K 1000001", "line 18: temporary-size: the weight is above 1000000"},
		{"2K 25", "2K", "line 18: temporary-size: 1 values, not 2"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(*mistakes); i++) {
		char *text = changed(mistakes[i].from, mistakes[i].to);
		struct frag_profile profile = {0};
		struct fl_diag diag = {{0}};

		assert_int_equal(frag_profile_parse(text, &profile, &diag), FL_ESYNTAX);
		assert_string_equal(diag.text, mistakes[i].reason);
		free(text);
	}
}

static void sizes_are_bounded(void **state)
{
	char line[64], text[8192];
	struct frag_profile profile = {0};
	struct fl_diag diag = {{0}};
	size_t at = sizeof(good) - 1;

	(void)state;
	memcpy(text, good, sizeof(good));
	for (int i = 2; i <= FRAG_MOST_SIZES; i++) {
		assert_int_equal(frag_profile_parse(text, &profile, &diag), 0);
		at += (size_t)snprintf(line, sizeof(line), "\ntemporary-size %dK 1", i + 1);
		strcat(text, line);
	}
	assert_true(at < sizeof(text));
	assert_int_equal(frag_profile_parse(text, &profile, &diag), FL_ESYNTAX);
	assert_string_equal(diag.text, "line 51: temporary-size: more than 32");
}

static void those_compiled_in_are_good(void **state)
{
	struct frag_profile profile;
	struct fl_diag diag = {{0}};
	size_t count = 0;

	(void)state;
	for (; frag_profile_texts[count].name; count++) {
		assert_int_equal(frag_profile_load(frag_profile_texts[count].name, &profile, &diag),
				 0);
		assert_string_equal(profile.name, frag_profile_texts[count].name);
	}
	assert_int_equal(count, 6);
	assert_int_equal(frag_profile_load(NULL, &profile, &diag), 0);
	assert_string_equal(profile.name, "desktop");
	/* The table of 2004 has the sum 230. */
	count = 0;
	for (size_t i = 0; profile.sizes[i].weight; i++)
		count += profile.sizes[i].weight;
	assert_int_equal(count, 230);
}

/* What is in a file of this name is a profile, unless one of that name is compiled in. */
static void a_file_is_read(void **state)
{
	char path[] = "/tmp/fraglab-profile-XXXXXX";
	struct frag_profile profile;
	struct fl_diag diag = {{0}};
	char expected[128];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, good, sizeof(good) - 1), sizeof(good) - 1);
	assert_int_equal(frag_profile_load(path, &profile, &diag), 0);
	assert_string_equal(profile.name, path);
	assert_int_equal(profile.peak_percent, 27);
	assert_int_equal(write(fd, "\nmore\n", 6), 6);
	assert_int_equal(frag_profile_load(path, &profile, &diag), FL_ESYNTAX);
	(void)snprintf(expected, sizeof(expected), "%s: line 21: no such key: 'more'", path);
	assert_string_equal(diag.text, expected);
	assert_int_equal(write(fd, "", 1), 1);
	assert_int_equal(frag_profile_load(path, &profile, &diag), FL_ESYNTAX);
	assert_non_null(strstr(diag.text, "not a text"));
	(void)close(fd);
	(void)unlink(path);
	assert_int_equal(frag_profile_load(path, &profile, &diag), FL_ESYNTAX);
	assert_non_null(strstr(diag.text, "no such file"));
	assert_int_equal(frag_profile_load("/", &profile, &diag), FL_ESYNTAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(mistakes_are_named_with_their_line),
		cmocka_unit_test(sizes_are_bounded),
		cmocka_unit_test(those_compiled_in_are_good),
		cmocka_unit_test(a_file_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
