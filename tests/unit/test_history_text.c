/* SPDX-License-Identifier: MIT */
/*
 * Unit tests of saved histories: what is written reads as what was written, and what is replayed
 * ends as what was played. Must not need an image; messages are the command line's tests.
 */
#include "frag/history.h"
#include "frag/history_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/history_lab.h"

static struct fl_map *new_map(void)
{
	const struct lab_disk disk = {.blocks = 65536,
				      .block_bytes = 4096,
				      .per_group = 32768,
				      .percent_full = 60,
				      .seed = 11};
	struct fl_map *map = NULL;

	assert_int_equal(lab_map(&disk, &map), 0);
	return map;
}

static void add_name(struct fl_map *map, uint32_t parent, fl_ino ino, const char *text)
{
	struct fl_name name = {ino, parent, (uint32_t)map->texts.count};

	assert_int_equal(fl_array_append(&map->texts, text, strlen(text) + 1), 0);
	assert_int_equal(fl_array_push(&map->names, name), 0);
}

/* Names with every byte that a name can have, in a folder of a folder. */
static void any_name_survives(void **state)
{
	struct fl_map *map = new_map();
	struct frag_names *names;
	struct frag_history_reader reader = {0};
	struct fl_diag diag;
	char *text = NULL, *at, *next;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	uint32_t number = 0;

	(void)state;
	add_name(map, FL_NO_NAME, 2, "");
	add_name(map, 0, 12, "f\nolder");
	add_name(map, 1, 32, "\\x41");
	for (int byte = 1; byte < 256; byte++) {
		char name[3] = {(char)byte, 'a', '\0'};

		if (byte == '/')
			continue;
		/* The next file that moves. */
		while (!fl_file_movable(&map->files.at[number]))
			number++;
		map->files.at[number].name = (uint32_t)map->names.count;
		add_name(map, 2, map->files.at[number++].ino, name);
	}
	assert_int_equal(frag_names_new(map, &names), 0);
	assert_non_null(stream);
	assert_int_equal(frag_history_print_head(stream, map), 0);
	for (uint32_t i = 0; i < number; i++) {
		struct frag_op op = {.kind = FRAG_OP_APPEND, .file = {i, false}, .amount = i};

		if (fl_file_movable(&map->files.at[i]))
			assert_int_equal(frag_history_print(stream, map, &op), 0);
	}
	assert_int_equal(fclose(stream), 0);
	reader.map = map;
	reader.names = names;
	for (at = text, number = 0; *at; at = next) {
		struct frag_op op;
		bool none;

		next = strchr(at, '\n');
		*next++ = '\0';
		for (const char *c = at; *c; c++)
			assert_in_range(*c, ' ', '~');
		assert_int_equal(frag_history_line(&reader, at, &op, &none, &diag), 0);
		if (none)
			continue;
		while (!fl_file_movable(&map->files.at[number]))
			number++;
		assert_int_equal(op.kind, FRAG_OP_APPEND);
		assert_int_equal(op.file.number, number);
		assert_int_equal(op.amount, number++);
	}
	assert_true(number >= 254);
	free(text);
	frag_names_free(names);
	fl_map_free(map);
}

static void same_chains(const struct frag_history *a, const struct frag_history *b)
{
	for (size_t i = 0; i < a->map->files.count; i++) {
		uint32_t one = a->files[i].first, other = b->files[i].first;

		for (; one && other;
		     one = a->chains.links.at[one].next, other = b->chains.links.at[other].next) {
			assert_int_equal(a->chains.links.at[one].start,
					 b->chains.links.at[other].start);
			assert_int_equal(a->chains.links.at[one].len,
					 b->chains.links.at[other].len);
		}
		assert_int_equal(one, other);
	}
	assert_int_equal(fl_alloc_free_blocks(a->alloc), fl_alloc_free_blocks(b->alloc));
}

static void what_is_saved_replays(void **state)
{
	char path[] = "/tmp/fraglab-history-XXXXXX";
	struct fl_map *map = new_map();
	struct frag_profile profile;
	struct frag_history_options options = {
		.schedule = {.profile = &profile, .months = 4, .seed = 2}, .save_path = path};
	struct frag_history_options again = {.replay_path = path};
	struct frag_history played = {0}, replayed = {0};
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && !close(fd));
	assert_int_equal(frag_profile_load("mail", &profile, NULL), 0);
	assert_int_equal(frag_history_run(&played, map, &options, NULL), 0);
	assert_int_equal(frag_history_run(&replayed, map, &again, NULL), 0);
	same_chains(&played, &replayed);
	assert_int_equal(fl_alloc_free_blocks(played.alloc), map->free_blocks);
	frag_history_free(&played);
	frag_history_free(&replayed);
	fl_map_free(map);
	(void)unlink(path);
}

/* What a history does not name stays, and what it names begins empty. */
static void what_is_not_named_stays(void **state)
{
	char path[] = "/tmp/fraglab-history-XXXXXX";
	struct fl_map *map = new_map();
	struct frag_history_options options = {.replay_path = path};
	struct frag_history history = {0};
	int fd = mkstemp(path);
	size_t named = 0;
	FILE *file;

	(void)state;
	while (!fl_file_movable(&map->files.at[named]) || map->files.at[named].blocks < 5)
		named++;
	file = fdopen(fd, "w");
	assert_non_null(file);
	(void)fprintf(file, "fraglab history 1\nblock-bytes 4096\nappend <%u> %llu\n",
		      map->files.at[named].ino, (unsigned long long)map->files.at[named].blocks);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(frag_history_run(&history, map, &options, NULL), 0);
	for (size_t i = 0; i < map->files.count; i++)
		assert_int_equal(history.files[i].first != 0, i == named);
	assert_int_equal(fl_alloc_free_blocks(history.alloc), map->free_blocks);
	frag_history_free(&history);
	fl_map_free(map);
	(void)unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_name_survives),
		cmocka_unit_test(what_is_saved_replays),
		cmocka_unit_test(what_is_not_named_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
