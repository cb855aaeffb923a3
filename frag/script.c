/* SPDX-License-Identifier: MIT */
/*
 * Operations one by one, to the disk and to the file. Must not decide what is written when.
 */
#include "frag/script.h"

#include <stdlib.h>

#include "frag/history_text.h"

/* What is dirty is written back after so long (dirty_expire_centisecs). */
#define WRITEBACK_TICKS (FRAG_DAY_TICKS / 2880)
#define DAY_SECONDS 86400u

int frag_script_do(struct frag_script *script, const struct frag_op *op)
{
	int err = script->stream ? frag_history_print(script->stream, script->play.map, op) : 0;

	return err ? err : frag_play_do(&script->play, op, script->diag);
}

int frag_script_time(struct frag_script *script, uint64_t ticks)
{
	struct frag_op time = {
		.kind = FRAG_OP_TIME,
		/* Ticks of a month are below 2^32, so this fits for most of two million years. */
		.amount = ticks / FRAG_DAY_TICKS * DAY_SECONDS +
			  ticks % FRAG_DAY_TICKS * DAY_SECONDS / FRAG_DAY_TICKS,
	};
	struct frag_op sync = {.kind = FRAG_OP_SYNC};
	int err;

	if (ticks < script->synced + WRITEBACK_TICKS &&
	    script->play.dirty_blocks <= script->dirty_most)
		return 0;
	if (ticks >= script->synced + WRITEBACK_TICKS)
		script->synced = ticks;
	if (!script->play.dirty_blocks)
		return 0;
	err = frag_script_do(script, &time);
	return err ? err : frag_script_do(script, &sync);
}

int frag_script_write(struct frag_script *script, struct frag_op_file file, uint64_t blocks,
		      bool sync)
{
	struct frag_op op = {.kind = FRAG_OP_APPEND, .file = file, .amount = blocks};
	int err;

	if (!blocks)
		return 0;
	err = frag_script_do(script, &op);
	op.amount = 0;
	op.kind = FRAG_OP_FSYNC;
	if (!err && sync)
		err = frag_script_do(script, &op);
	op.kind = FRAG_OP_CLOSE;
	return err ? err : frag_script_do(script, &op);
}

int frag_script_start(struct frag_script *script, const struct fl_map *map)
{
	script->folders = fl_alloc(fl_max(map->files.count, 1), sizeof(*script->folders));
	if (!script->folders)
		return FL_ENOMEM;
	for (size_t i = 0; i < map->files.count; i++) {
		uint32_t name = map->files.at[i].name;

		script->folders[i] = name == FL_NO_NAME ? FL_NO_NAME : map->names.at[name].parent;
	}
	return 0;
}

int frag_script_create(struct frag_script *script, uint32_t beside, uint32_t *number)
{
	struct frag_op op = {.kind = FRAG_OP_CREATE};

	op.other = script->folders[beside];
	if (script->spare.count)
		op.file = frag_temporary(script->spare.at[--script->spare.count]);
	else if (script->numbers == FRAG_MOST_TEMPORARIES)
		return FL_ENOMEM;
	else
		op.file = frag_temporary(script->numbers++);
	*number = op.file.number;
	return frag_script_do(script, &op);
}

int frag_script_delete(struct frag_script *script, uint32_t number)
{
	struct frag_op op = {.kind = FRAG_OP_DELETE, .file = frag_temporary(number)};

	if (fl_array_push(&script->spare, number))
		return FL_ENOMEM;
	return frag_script_do(script, &op);
}

int frag_script_rename(struct frag_script *script, uint32_t number, uint32_t file)
{
	struct frag_op op = {.kind = FRAG_OP_RENAME, .file = frag_temporary(number), .other = file};

	if (fl_array_push(&script->spare, number))
		return FL_ENOMEM;
	return frag_script_do(script, &op);
}

void frag_script_free(struct frag_script *script)
{
	fl_array_free(&script->spare);
	free(script->folders);
}
