/* SPDX-License-Identifier: MIT */
/*
 * A saved history instead of a schedule.
 */
#ifndef FRAG_REPLAY_H
#define FRAG_REPLAY_H

#include "frag/script.h"

/*
 * Plays what the file says, from beginning to end; files of the map that it does not name stay.
 * Reads the file twice, a line at a time: it must be a regular one. FL_ESYNTAX with the number of
 * the line in diag: it cannot be read or done; FL_EIO, FL_ENOMEM; what
 * frag_script_do and the watch return.
 */
int frag_replay(struct frag_script *script, const struct fl_map *map, const char *path,
		const struct fl_watch *watch) FL_CHECKED;

#endif
