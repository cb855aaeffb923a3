/* SPDX-License-Identifier: MIT */
/*
 * The e2fsprogs as judges: by their words, not by their status alone. Must not change them, only
 * make equal kinds look equal.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/oracle.h"

extern char **environ;

/* A list of blocks as e2fsck prints it begins here: "+(12--15) -17". */
static bool list_begins(const char *line, const char *at)
{
	return at > line && at[-1] == ' ' && (*at == '+' || *at == '-') &&
	       (at[1] == '(' || isdigit((unsigned char)at[1]));
}

/* Digits become N, lists of blocks LIST, and blanks one blank. */
static void generalize(const char *line, char kind[ORACLE_TEXT])
{
	const char *at = line;
	size_t used = 0;

	while (*at && used + 6 < ORACLE_TEXT) {
		if (list_begins(line, at)) {
			at += strspn(at, "+-(0123456789) ");
			used += (size_t)sprintf(kind + used, "LIST");
		} else if (isdigit((unsigned char)*at)) {
			at += strspn(at, "0123456789");
			kind[used++] = 'N';
		} else if (*at == ' ' && at[1] == ' ') {
			at++;
		} else {
			kind[used++] = *at++;
		}
	}
	while (used && isspace((unsigned char)kind[used - 1]))
		used--;
	kind[used] = '\0';
}

static bool routine(const char *line, const char *path)
{
	static const char *const begins[] = {"e2fsck ", "Pass ", "Fix? ", "\x01"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(line, begins[i], strlen(begins[i])))
			return true;
	/* The last line: what is in the filesystem. */
	return !line[strspn(line, " ")] || (!strncmp(line, path, strlen(path)) &&
					    strstr(line, " files (") && strstr(line, " blocks"));
}

static void tell(char *text, const char *path, void (*complain)(void *context, const char *kind),
		 void *context, bool *modified)
{
	char *rest = text, *line;

	while ((line = strsep(&rest, "\n"))) {
		char kind[ORACLE_TEXT];

		if (strstr(line, "FILE SYSTEM WAS MODIFIED")) {
			*modified = true;
			continue;
		}
		if (routine(line, path))
			continue;
		if (!strncmp(line, path, strlen(path)))
			line += strlen(path);
		generalize(line, kind);
		complain(context, kind);
	}
}

/* Waits with a limit: some images make e2fsck run for ever. */
static int wait_for(pid_t child)
{
	int status;

	for (unsigned waits = 0; waits < 60000; waits++) {
		pid_t got = waitpid(child, &status, WNOHANG);

		if (got == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		if (got < 0 && errno != EINTR)
			return -1;
		usleep(waits < 20 ? 200 : 1000);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return -1;
}

/* Runs a tool with its words in a file; its exit status, or -1. */
static int run(const char *const *argv, int out)
{
	posix_spawn_file_actions_t actions;
	int status = -1;
	pid_t child;

	if (out < 0 || posix_spawn_file_actions_init(&actions))
		return -1;
	if (!posix_spawn_file_actions_adddup2(&actions, out, 1) &&
	    !posix_spawn_file_actions_adddup2(&actions, out, 2) &&
	    !posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environ))
		status = wait_for(child);
	posix_spawn_file_actions_destroy(&actions);
	return status;
}

bool oracle_clear_mmp(const char *path)
{
	const char *argv[] = {"tune2fs", "-f", "-E", "clear_mmp", path, NULL};
	int out = memfd_create("tune2fs", MFD_CLOEXEC), status = run(argv, out);

	if (out >= 0)
		close(out);
	return status == 0;
}

/* What a tool has said; malloc'd, NULL: it cannot be read. Closes out. */
static char *said(int out)
{
	static const size_t most = 1u << 20;
	char *text = out >= 0 ? malloc(most + 1) : NULL;
	ssize_t got = text ? pread(out, text, most, 0) : -1;

	if (out >= 0)
		close(out);
	if (got < 0) {
		free(text);
		return NULL;
	}
	text[got] = '\0';
	return text;
}

int oracle_undo(const char *undo, const char *path, bool force, bool *other_super)
{
	const char *argv[] = {"e2undo", undo, path, NULL};
	const char *forced[] = {"e2undo", "-f", undo, path, NULL};
	int out = memfd_create("e2undo", MFD_CLOEXEC), status = run(force ? forced : argv, out);
	char *text = said(out);

	*other_super = text && strstr(text, "superblock doesn");
	if (!text)
		status = -1;
	free(text);
	return status;
}

int oracle_fsck(const char *path, const char *journal, bool fix,
		void (*complain)(void *context, const char *kind), void *context, bool *modified)
{
	const char *argv[] = {"e2fsck", fix ? "-fy" : "-fn", path, journal ? "-j" : NULL, journal,
			      NULL};
	int out = memfd_create("e2fsck", MFD_CLOEXEC), status = run(argv, out);
	char *text = said(out);

	*modified = false;
	if (text && status >= 0)
		tell(text, path, complain, context, modified);
	else
		status = -1;
	free(text);
	return status;
}
