/* SPDX-License-Identifier: MIT */
/*
 * Operations to lines and back. One table has the words. Must not look at what a file has on the
 * disk.
 */
#include "frag/history_text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "frag/history_names.h"

#define VERSION "1"
#define BLANKS " \t\r"

/* What a line has after its word. */
enum shape {
	AMOUNT,
	FILE_ONLY,
	FILE_AMOUNT,
	TEMPORARY_FOLDER,
	TEMPORARY_FILE,
	NOTHING,
};

static const struct word {
	const char *text;
	enum frag_op_kind kind;
	enum shape shape;
} words[] = {
	{"append", FRAG_OP_APPEND, FILE_AMOUNT},
	{"fsync", FRAG_OP_FSYNC, FILE_ONLY},
	{"close", FRAG_OP_CLOSE, FILE_ONLY},
	{"create", FRAG_OP_CREATE, TEMPORARY_FOLDER},
	{"delete", FRAG_OP_DELETE, FILE_ONLY},
	{"rename", FRAG_OP_RENAME, TEMPORARY_FILE},
	{"sync", FRAG_OP_SYNC, NOTHING},
	{"time", FRAG_OP_TIME, AMOUNT},
	{"truncate", FRAG_OP_TRUNCATE, FILE_AMOUNT},
};
#define WORD_COUNT (sizeof(words) / sizeof(*words))

/* --- to text --- */

static int state_of(FILE *stream)
{
	return ferror(stream) ? fl_error_of_output(errno) : 0;
}

int frag_history_print_head(FILE *stream, const struct fl_map *map)
{
	(void)fprintf(stream, "fraglab history " VERSION "\nblock-bytes %u\n",
		      map->geo.block_bytes);
	return state_of(stream);
}

static void print_file(FILE *stream, const struct fl_map *map, struct frag_op_file file)
{
	(void)putc(' ', stream);
	if (file.temporary)
		(void)fprintf(stream, "%%%u", file.number);
	else
		frag_names_print(stream, map, file.number);
}

int frag_history_print(FILE *stream, const struct fl_map *map, const struct frag_op *op)
{
	const struct word *word = words;

	while (word->kind != op->kind)
		word++;
	(void)fputs(word->text, stream);
	if (word->shape != NOTHING && word->shape != AMOUNT)
		print_file(stream, map, op->file);
	if (word->shape == TEMPORARY_FOLDER) {
		(void)putc(' ', stream);
		frag_names_print_path(stream, map, op->other);
	} else if (word->shape == TEMPORARY_FILE) {
		print_file(stream, map, (struct frag_op_file){op->other, false});
	} else if (word->shape == AMOUNT || word->shape == FILE_AMOUNT) {
		(void)fprintf(stream, " %" PRIu64, op->amount);
	}
	(void)putc('\n', stream);
	return state_of(stream);
}

/* --- from text --- */

#define refuse(reader, diag, format, ...)                                                          \
	fl_fail(diag, FL_ESYNTAX, "line %" PRIu64 ": " format, (reader)->line, ##__VA_ARGS__)

static int take_amount(const struct frag_history_reader *reader, const char *text, uint64_t *amount,
		       struct fl_diag *diag)
{
	if (!text)
		return refuse(reader, diag, "a number is missing");
	*amount = 0;
	for (const char *at = text; *at; at++) {
		if (*at < '0' || *at > '9' || at - text >= 18)
			return refuse(reader, diag, "not a number: '%.40s'", text);
		*amount = *amount * 10 + (uint64_t)(*at - '0');
	}
	return *text ? 0 : refuse(reader, diag, "a number is missing");
}

static int take_temporary(const struct frag_history_reader *reader, const char *text,
			  struct frag_op_file *file, struct fl_diag *diag)
{
	uint64_t number;
	int err = take_amount(reader, text + 1, &number, diag);

	if (err)
		return err;
	if (number >= FRAG_MOST_TEMPORARIES)
		return refuse(reader, diag, "'%.40s': numbers go up to %u", text,
			      FRAG_MOST_TEMPORARIES - 1);
	*file = (struct frag_op_file){(uint32_t)number, true};
	return 0;
}

/* A file of the map that the history may write. */
static int take_file(const struct frag_history_reader *reader, char *text, uint32_t *number,
		     struct fl_diag *diag)
{
	char shown[256];

	if (!text)
		return refuse(reader, diag, "a file is missing");
	(void)snprintf(shown, sizeof(shown), "%s", text);
	if (!frag_names_find(reader->names, text, number))
		return refuse(reader, diag, "IMAGE has no file with blocks of this name: '%s'",
			      shown);
	if (!fl_file_movable(&reader->map->files.at[*number]))
		return refuse(reader, diag, "'%s' must stay where it is", shown);
	return 0;
}

static int take_any(const struct frag_history_reader *reader, char *text, struct frag_op_file *file,
		    struct fl_diag *diag)
{
	if (text && *text == '%')
		return take_temporary(reader, text, file, diag);
	file->temporary = false;
	return take_file(reader, text, &file->number, diag);
}

static int take_folder(const struct frag_history_reader *reader, char *text, uint32_t *name,
		       struct fl_diag *diag)
{
	char shown[256];
	size_t file;

	if (!text)
		return refuse(reader, diag, "a folder is missing");
	(void)snprintf(shown, sizeof(shown), "%s", text);
	if (!frag_names_find_folder(reader->names, text, name) ||
	    (*name != FL_NO_NAME &&
	     fl_map_find(reader->map, reader->map->names.at[*name].ino, &file) &&
	     reader->map->files.at[file].kind != FL_KIND_DIRECTORY))
		return refuse(reader, diag, "IMAGE has no such folder: '%s'", shown);
	return 0;
}

static int take_operands(const struct frag_history_reader *reader, const struct word *word,
			 char *rest, struct frag_op *op, struct fl_diag *diag)
{
	char *first = word->shape == NOTHING ? NULL : strtok_r(NULL, BLANKS, &rest);
	char *second = word->shape <= FILE_ONLY || word->shape == NOTHING
			       ? NULL
			       : strtok_r(NULL, BLANKS, &rest);
	char *more = strtok_r(NULL, BLANKS, &rest);
	int err = 0;

	if (more)
		return refuse(reader, diag, "%s: too much: '%.40s'", word->text, more);
	if (word->shape == NOTHING)
		return 0;
	if (word->shape == AMOUNT)
		return take_amount(reader, first, &op->amount, diag);
	if (word->shape >= TEMPORARY_FOLDER && (!first || *first != '%'))
		return refuse(reader, diag, "%s: not a temporary file: '%.40s'", word->text,
			      first ? first : "");
	err = take_any(reader, first, &op->file, diag);
	if (!err && word->shape == FILE_AMOUNT)
		err = take_amount(reader, second, &op->amount, diag);
	else if (!err && word->shape == TEMPORARY_FOLDER)
		err = take_folder(reader, second, &op->other, diag);
	else if (!err && word->shape == TEMPORARY_FILE)
		err = take_file(reader, second, &op->other, diag);
	return err;
}

/* The first line that counts says what this is, the next one how large a block is. */
static int take_head(struct frag_history_reader *reader, char *text, struct fl_diag *diag)
{
	char *rest, *word = strtok_r(text, BLANKS, &rest);
	char *second = word ? strtok_r(NULL, BLANKS, &rest) : NULL;
	char *third = second ? strtok_r(NULL, BLANKS, &rest) : NULL;
	char *more = third ? strtok_r(NULL, BLANKS, &rest) : NULL;
	uint64_t bytes;
	int err;

	if (!reader->has_version) {
		if (!third || more || strcmp(word, "fraglab") != 0 ||
		    strcmp(second, "history") != 0)
			return refuse(reader, diag,
				      "no history: it begins with 'fraglab history " VERSION "'");
		if (strcmp(third, VERSION) != 0)
			return refuse(reader, diag, "version '%.40s'; this program reads " VERSION,
				      third);
		reader->has_version = true;
		return 0;
	}
	if (!second || third || strcmp(word, "block-bytes") != 0)
		return refuse(reader, diag, "'block-bytes N' must come second");
	err = take_amount(reader, second, &bytes, diag);
	if (err)
		return err;
	if (bytes != reader->map->geo.block_bytes)
		return refuse(reader, diag, "blocks of %" PRIu64 " bytes; those of IMAGE have %u",
			      bytes, reader->map->geo.block_bytes);
	reader->has_blocks = true;
	return 0;
}

int frag_history_line(struct frag_history_reader *reader, char *text, struct frag_op *op,
		      bool *none, struct fl_diag *diag)
{
	char *rest, *first;

	reader->line++;
	text += strspn(text, BLANKS);
	*none = !*text || *text == '#' || !reader->has_blocks;
	if (!*text || *text == '#')
		return 0;
	if (!reader->has_blocks)
		return take_head(reader, text, diag);
	first = strtok_r(text, BLANKS, &rest);
	*op = (struct frag_op){0};
	for (size_t i = 0; i < WORD_COUNT; i++) {
		if (strcmp(words[i].text, first) != 0)
			continue;
		op->kind = words[i].kind;
		return take_operands(reader, &words[i], rest, op, diag);
	}
	return refuse(reader, diag, "not an operation: '%.40s'", first);
}
