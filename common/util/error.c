/* SPDX-License-Identifier: MIT */
/*
 * Formats reasons and names errors. Must not print.
 */
#include <fraglab/error.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int fl_fail(struct fl_diag *diag, enum fl_error error, const char *format, ...)
{
	int saved = errno;
	va_list args;

	if (diag) {
		va_start(args, format);
		vsnprintf(diag->text, sizeof(diag->text), format, args);
		va_end(args);
	}
	errno = saved;
	return error;
}

int fl_error_of_output(int host_errno)
{
	return host_errno == ENOSPC || host_errno == EDQUOT || host_errno == EFBIG ? FL_EHOSTFULL
										   : FL_EIO;
}

const char *fl_error_text(int error)
{
	switch (error) {
	case FL_OK:
		return "success";
	case FL_ENOMEM:
		return "out of memory";
	case FL_EIO:
		return "input/output error";
	case FL_EHOSTFULL:
		return "no space left on the host filesystem";
	case FL_EBUSY:
		return "in use";
	case FL_ENOTEXT:
		return "not an ext2, ext3 or ext4 filesystem";
	case FL_ESHORT:
		return "image is shorter than its filesystem";
	case FL_EDIRTY:
		return "filesystem is not clean";
	case FL_EFEATURE:
		return "unsupported feature";
	case FL_EDAMAGED:
		return "metadata is damaged";
	case FL_ENOROOM:
		return "no free block in the filesystem";
	case FL_EINVAL:
		return "invalid argument";
	case FL_EPLAN:
		return "invalid plan";
	case FL_EVERIFY:
		return "data read back differs from what was written";
	case FL_ECANCELLED:
		return "cancelled";
	case FL_ESYNTAX:
		return "syntax error";
	default:
		return "unknown error";
	}
}
