/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer target: a saved history. Lines that are taken must survive printing; what can be done
 * is played on a small disk, and every block must be where it was in the end.
 */
#include <stdlib.h>
#include <string.h>

#include "frag/history_text.h"
#include "frag/play.h"
#include "tests/fuzz/lab.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length);

static struct fl_map *map;
static struct frag_names *names;

static void add_file(fl_ino ino, enum fl_kind kind, uint32_t name, fl_pblk start, uint32_t blocks)
{
	struct fl_file file = {
		.ino = ino,
		.kind = (uint8_t)kind,
		.name = name,
		.path_rank = name,
		.listing_rank = name,
		.blocks = blocks,
		.first_extent = map->extents.count,
		.extent_count = 1,
	};

	check(!fl_array_push(&map->extents, ((struct fl_extent){start, 0, blocks, false})));
	check(!fl_array_push(&map->files, file));
}

/* "/", "/d", "/d/a b" and "/c", what has no name, and room for more. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct fl_diag diag;

	(void)argc;
	(void)argv;
	map = lab_map(3001, 1000);
	check(!fl_array_push(&map->fixed, ((struct fl_run){0, 5})));
	lab_name(map, FL_NO_NAME, 2, "");
	lab_name(map, 0, 11, "d");
	lab_name(map, 1, 12, "a b");
	lab_name(map, 0, 13, "c");
	add_file(2, FL_KIND_DIRECTORY, 0, 20, 1);
	add_file(11, FL_KIND_DIRECTORY, 1, 30, 2);
	add_file(12, FL_KIND_REGULAR, 2, 100, 12);
	add_file(13, FL_KIND_REGULAR, 3, 1200, 300);
	add_file(14, FL_KIND_EA_INODE, FL_NO_NAME, 2000, 3);
	check(!fl_map_finish(map, &diag));
	check(!frag_names_new(map, &names));
	return 0;
}

static bool is_same(const struct frag_op *a, const struct frag_op *b)
{
	return a->kind == b->kind && a->file.number == b->file.number &&
	       a->file.temporary == b->file.temporary && a->other == b->other &&
	       a->amount == b->amount;
}

/* What is printed reads as what was printed. */
static void check_print(const struct frag_op *op)
{
	struct frag_history_reader reader = {.map = map, .names = names};
	struct frag_op again;
	struct fl_diag diag;
	char *text = NULL, *at, *next;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);
	bool none = true;

	check(stream != NULL);
	check(!frag_history_print_head(stream, map) && !frag_history_print(stream, map, op));
	check(!fclose(stream));
	for (at = text; *at; at = next) {
		next = strchr(at, '\n');
		check(next != NULL);
		*next++ = '\0';
		check(!frag_history_line(&reader, at, &again, &none, &diag));
	}
	check(!none && is_same(op, &again));
	free(text);
}

static bool moves(const void *context, uint32_t file)
{
	(void)context;
	(void)file;
	return true;
}

/* In the end nobody has a block but those that the files have. */
static void check_end(struct frag_play *play)
{
	struct fl_diag diag;
	uint64_t all = map->geo.blocks - map->fixed.at[0].len, held = 0;
	int error = frag_play_end(play, &diag);

	check(!error || error == FL_EPLAN);
	if (error)
		return;
	for (size_t i = 0; i < map->files.count; i++) {
		uint64_t blocks = 0;

		for (uint32_t at = play->files[i].chain.first; at;
		     at = play->chains.links.at[at].next)
			blocks += play->chains.links.at[at].len;
		check(blocks == map->files.at[i].blocks);
		held += blocks;
	}
	check(fl_alloc_free_blocks(play->alloc) == all - held);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	struct frag_history_reader reader = {.map = map, .names = names};
	struct frag_play play = {0};
	struct fl_diag diag;
	int error = 0;

	check(!frag_play_start(&play, map, moves, NULL));
	while (length && !error) {
		const uint8_t *end = memchr(input, '\n', length);
		size_t bytes = end ? (size_t)(end - input) : length;
		/* Of its exact size: nothing may read a byte too many. */
		char *text = malloc(bytes + 1);
		struct frag_op op;
		bool none;

		check(text != NULL);
		memcpy(text, input, bytes);
		text[bytes] = '\0';
		error = frag_history_line(&reader, text, &op, &none, &diag);
		check(!error || (error == FL_ESYNTAX && diag.text[0]));
		free(text);
		if (!error && !none) {
			check_print(&op);
			/* A large number makes a large table, which is as it should be. */
			if (!op.file.temporary || op.file.number < 1000)
				error = frag_play_do(&play, &op, &diag);
			check(!error || error == FL_EPLAN || error == FL_ENOROOM);
		}
		input += bytes + (end != NULL);
		length -= bytes + (end != NULL);
	}
	if (!error)
		check_end(&play);
	frag_play_free(&play);
	return 0;
}
