/* SPDX-License-Identifier: MIT */
/*
 * One-line messages on stderr, and the only translation of library errors to text
 * and to an exit status. Decides nothing about the run.
 */
#include "common/cli/messages.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Stands in a diag text for the path of the image; see struct fl_diag. */
#define PLACEHOLDER "IMAGE"

/* Longer than a path and a diag text together; what does not fit is cut. */
#define MESSAGE_BYTES (4096 + sizeof(struct fl_diag) + 512)

/* Names come from outside: control characters would break the line, or drive a terminal. */
static void tame(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

/* The next free-standing word IMAGE, not a part of some path; NULL: none. */
static const char *find_placeholder(const char *reason)
{
	const char *found = reason;

	while ((found = strstr(found, PLACEHOLDER))) {
		const char *end = found + strlen(PLACEHOLDER);

		if (found > reason && found[-1] == ' ' && strchr(" ,;)", *end))
			return found;
		found = end;
	}
	return NULL;
}

/* Copies reason, with the image's path for its placeholder, so that advice can be pasted. */
void fl_message_name_image(const char *reason, const char *image, char *text, size_t bytes)
{
	const char *found;
	size_t used = 0;

	while (image && used < bytes && (found = find_placeholder(reason))) {
		used += (size_t)snprintf(text + used, bytes - used, "%.*s%s", (int)(found - reason),
					 reason, image);
		reason = found + strlen(PLACEHOLDER);
	}
	if (used < bytes)
		(void)snprintf(text + used, bytes - used, "%s", reason);
}

void fl_message(const char *program, const char *image, const char *format, ...)
{
	int saved = errno;
	char text[MESSAGE_BYTES];
	va_list args;
	int head;

	if (image)
		head = snprintf(text, sizeof(text), "%s: %s: ", program, image);
	else
		head = snprintf(text, sizeof(text), "%s: ", program);
	if (head >= 0 && (size_t)head < sizeof(text)) {
		va_start(args, format);
		(void)vsnprintf(text + head, sizeof(text) - (size_t)head, format, args);
		va_end(args);
	}
	tame(text);
	(void)fprintf(stderr, "%s.\n", text);
	errno = saved;
}

int fl_message_status(int error, enum fl_image_state state)
{
	switch (error) {
	case FL_OK:
		return FL_EXIT_DONE;
	case FL_ESYNTAX:
		return FL_EXIT_USAGE;
	case FL_ECANCELLED:
		return FL_EXIT_CANCELLED;
	default:
		break;
	}
	if (state == FL_IMAGE_UNCLEAN || state == FL_IMAGE_CLEAN || state == FL_IMAGE_DONE)
		return FL_EXIT_FAILED_WRITING;
	/* Past the point where an image is refused: what fails now is the work on the copy. */
	if (state == FL_IMAGE_COPIED)
		return FL_EXIT_FAILED;
	switch (error) {
	case FL_EBUSY:
	case FL_ENOTEXT:
	case FL_ESHORT:
	case FL_EDIRTY:
	case FL_EFEATURE:
	case FL_EDAMAGED:
	case FL_ENOROOM:
	case FL_EINVAL: /* a directory or a device where an image should be */
		return FL_EXIT_REFUSED;
	default: /* FL_ENOMEM, FL_EIO, FL_EHOSTFULL, FL_EPLAN, FL_EVERIFY */
		return FL_EXIT_FAILED;
	}
}

int fl_message_failure(const char *program, const char *image, const char *e2fs_name,
		       const char *action, int error, const struct fl_diag *diag,
		       enum fl_image_state state)
{
	int saved = errno;
	char reason[MESSAGE_BYTES];

	if (!e2fs_name)
		e2fs_name = image;

	if (diag && diag->text[0])
		fl_message_name_image(diag->text, e2fs_name, reason, sizeof(reason));
	else
		(void)snprintf(reason, sizeof(reason), "%s: %s", action, fl_error_text(error));
	switch (state) {
	case FL_IMAGE_UNTOUCHED:
		fl_message(program, image, "%s", reason);
		break;
	case FL_IMAGE_COPIED:
		fl_message(program, image, "%s; the image is as it was, the copy is removed",
			   reason);
		break;
	case FL_IMAGE_UNCLEAN:
		fl_message(program, image,
			   "%s; file content is intact; run e2fsck -fy %s, then run %s again",
			   reason, e2fs_name, program);
		break;
	case FL_IMAGE_CLEAN:
		fl_message(program, image,
			   "%s; file content is intact and the filesystem is marked clean; run "
			   "e2fsck -fn %s, then run %s again",
			   reason, e2fs_name, program);
		break;
	case FL_IMAGE_DONE:
		fl_message(program, image,
			   "%s; all blocks are moved, file content is intact; run e2fsck -fn %s, "
			   "then %s --analyze %s",
			   reason, e2fs_name, program, image);
		break;
	}
	errno = saved;
	return fl_message_status(error, state);
}
