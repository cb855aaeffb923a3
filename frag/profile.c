/* SPDX-License-Identifier: MIT */
/*
 * Where profiles come from: those compiled in, by name, or a file of the user's. Must not know
 * the format.
 */
#include "frag/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)
#define MOST_BYTES 65536

const uint64_t frag_class_bytes[FRAG_CLASSES] = {KIB(16), KIB(128), MIB(1), MIB(16), UINT64_MAX};

/* The whole file, NUL-terminated; the caller frees it. */
static int read_text(const char *path, char **text, struct fl_diag *diag)
{
	FILE *file = fopen(path, "re");
	size_t length;
	int err = 0;

	if (!file && errno == ENOENT)
		return fl_fail(diag, FL_ESYNTAX,
			       strchr(path, '/') ? "no such file: '%s'"
						 : "no such profile: '%s' "
						   "(--profile help lists them)",
			       path);
	if (!file)
		return fl_fail(diag, FL_ESYNTAX, "%s: %s", path, strerror(errno));
	*text = malloc(MOST_BYTES + 1);
	if (!*text) {
		(void)fclose(file);
		return FL_ENOMEM;
	}
	length = fread(*text, 1, MOST_BYTES + 1, file);
	if (ferror(file))
		err = fl_fail(diag, FL_ESYNTAX, "%s: %s", path, strerror(errno));
	(void)fclose(file);
	if (!err && (length > MOST_BYTES || memchr(*text, '\0', length)))
		err = fl_fail(diag, FL_ESYNTAX, "%s: not a text of at most %d bytes", path,
			      MOST_BYTES);
	if (err)
		free(*text);
	else
		(*text)[length] = '\0';
	return err;
}

int frag_profile_load(const char *name, struct frag_profile *profile, struct fl_diag *diag)
{
	const struct frag_profile_text *known = frag_profile_texts;
	struct fl_diag reason = {{0}};
	char *text = NULL;
	int err;

	profile->name = name ? name : FRAG_DEFAULT_PROFILE;
	for (; known->name; known++)
		if (!strcmp(known->name, profile->name))
			return frag_profile_parse(known->text, profile, diag);
	err = read_text(name, &text, diag);
	if (err)
		return err;
	err = frag_profile_parse(text, profile, &reason);
	free(text);
	return err == FL_ESYNTAX ? fl_fail(diag, err, "%s: %s", name, reason.text) : err;
}
