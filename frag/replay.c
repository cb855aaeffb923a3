/* SPDX-License-Identifier: MIT */
/*
 * Reads a history twice: all lines are looked at, and which files they name, before the first is
 * done. Must not know the format.
 */
#include "frag/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frag/history_text.h"

#define WATCH_LINES 1024u /* a look at the watch after so many */

struct replay {
	const char *path;
	FILE *file;
	uint64_t bytes, done_bytes; /* of the file, twice; read so far */
	const struct fl_watch *watch;
	struct frag_script *script;
	const struct fl_map *map;
	const struct frag_names *names;
	bool *named; /* as map->files */
};

static bool is_named(const void *context, uint32_t file)
{
	const struct replay *replay = context;

	return replay->named[file];
}

static int note_names(struct replay *replay, const struct frag_op *op)
{
	if (op->kind != FRAG_OP_TIME && op->kind != FRAG_OP_SYNC && !op->file.temporary)
		replay->named[op->file.number] = true;
	if (op->kind == FRAG_OP_RENAME)
		replay->named[op->other] = true;
	return 0;
}

static int do_line(struct replay *replay, const struct frag_op *op, uint64_t line)
{
	struct fl_diag reason = {{0}}, *diag = replay->script->diag;
	int err;

	replay->script->diag = &reason;
	err = frag_script_do(replay->script, op);
	replay->script->diag = diag;
	if ((err == FL_EPLAN || err == FL_ENOROOM) && reason.text[0])
		return fl_fail(diag, FL_ESYNTAX, "line %" PRIu64 ": %s", line, reason.text);
	return err;
}

/* All lines once. play: they are done; else only looked at. */
static int read_lines(struct replay *replay, bool play)
{
	struct frag_history_reader reader = {.map = replay->map, .names = replay->names};
	struct fl_diag *diag = replay->script->diag;
	char *text = NULL;
	size_t room = 0;
	ssize_t bytes;
	int err = 0;

	rewind(replay->file);
	errno = 0;
	while (!err && (bytes = getline(&text, &room, replay->file)) >= 0) {
		struct frag_op op;
		bool none;

		replay->done_bytes += (uint64_t)bytes;
		if (reader.line % WATCH_LINES == 0)
			err = fl_watch_step(replay->watch, NULL, replay->done_bytes, replay->bytes);
		if (err)
			break;
		if (memchr(text, '\0', (size_t)bytes))
			err = fl_fail(diag, FL_ESYNTAX, "line %" PRIu64 ": not a text",
				      reader.line + 1);
		else if (bytes && text[bytes - 1] == '\n')
			text[bytes - 1] = '\0';
		if (!err)
			err = frag_history_line(&reader, text, &op, &none, diag);
		if (!err && !none)
			err = play ? do_line(replay, &op, reader.line) : note_names(replay, &op);
		errno = 0;
	}
	if (!err && !feof(replay->file))
		err = errno == ENOMEM ? FL_ENOMEM
				      : fl_fail(diag, FL_EIO, "reading: %s", strerror(errno));
	if (!err && !reader.has_blocks)
		err = fl_fail(diag, FL_ESYNTAX, "line %" PRIu64 ": the head is missing",
			      reader.line + 1);
	free(text);
	return err;
}

static int open_file(struct replay *replay)
{
	struct fl_diag *diag = replay->script->diag;
	struct stat status;

	replay->file = fopen(replay->path, "re");
	if (!replay->file || fstat(fileno(replay->file), &status))
		return fl_fail(diag, FL_ESYNTAX, "%s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return fl_fail(diag, FL_ESYNTAX, "not a regular file, and it is read twice");
	replay->bytes = 2 * (uint64_t)status.st_size;
	return 0;
}

int frag_replay(struct frag_script *script, const struct fl_map *map, const char *path,
		const struct fl_watch *watch)
{
	struct fl_diag reason = {{0}}, *diag = script->diag;
	struct replay replay = {.path = path, .script = script, .map = map, .watch = watch};
	struct frag_names *names = NULL;
	int err;

	script->diag = &reason;
	err = open_file(&replay);
	replay.named = calloc((size_t)fl_max(map->files.count, 1), sizeof(*replay.named));
	if (!err && !replay.named)
		err = FL_ENOMEM;
	if (!err)
		err = frag_names_new(map, &names);
	replay.names = names;
	if (!err)
		err = read_lines(&replay, false);
	if (!err)
		err = frag_play_start(&script->play, map, is_named, &replay);
	if (!err)
		err = read_lines(&replay, true);
	if (!err)
		err = frag_play_end(&script->play, &reason);
	if (err == FL_EPLAN)
		err = FL_ESYNTAX;
	if (replay.file)
		(void)fclose(replay.file);
	frag_names_free(names);
	free(replay.named);
	script->diag = diag;
	return reason.text[0] ? fl_fail(diag, err, "option --history: %s: %s", path, reason.text)
			      : err;
}
