/* SPDX-License-Identifier: MIT */
/*
 * Signals: a wish to stop is remembered, and asked for where stopping is safe.
 * Stops nothing itself.
 */
#include "common/cli/signals.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

/*
 * The one writable global of fraglab: a signal handler is given no context, so there is no
 * other place where it could leave its note.
 */
static volatile sig_atomic_t stop_asked;

static void remember(int number)
{
	(void)number;
	stop_asked = 1;
}

void fl_signals_catch(void)
{
	struct sigaction action, hangup;

	memset(&action, 0, sizeof(action));
	(void)sigemptyset(&action.sa_mask);
	action.sa_handler = remember;
	/* Without it a system call of the mover could fail half-way with EINTR. */
	action.sa_flags = SA_RESTART;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
		(void)sigaction(SIGHUP, &action, NULL);

	/* A reader that went away must not kill the mover while it writes its progress. */
	action.sa_handler = SIG_IGN;
	action.sa_flags = 0;
	(void)sigaction(SIGPIPE, &action, NULL);
	(void)sigaction(SIGXFSZ, &action, NULL);
}

bool fl_signals_stop_asked(void)
{
	return stop_asked != 0;
}
