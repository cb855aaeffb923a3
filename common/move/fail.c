/* SPDX-License-Identifier: MIT */
/*
 * Failures of libext2fs as ours. Must not lose errno.
 */
#include "move_internal.h"

#include <stdarg.h>
#include <stdio.h>

int move_fail(struct fl_fs *fs, errcode_t code, struct fl_diag *diag, const char *action, ...)
{
	int error = fl_fs_error(fs, code);
	char text[128];
	va_list args;

	va_start(args, action);
	vsnprintf(text, sizeof(text), action, args);
	va_end(args);
	return fl_fail(diag, error, "%s: %s", text, error_message(code));
}
