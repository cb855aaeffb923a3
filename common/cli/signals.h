/* SPDX-License-Identifier: MIT */
/*
 * Signals: a wish to stop is remembered, and asked for where stopping is safe.
 * Stops nothing itself.
 */
#ifndef FRAGLAB_CLI_SIGNALS_H
#define FRAGLAB_CLI_SIGNALS_H

#include <stdbool.h>

/*
 * Once, before any image is opened: SIGINT and SIGTERM (and SIGHUP, unless it is ignored as
 * nohup does) are remembered; SIGPIPE and SIGXFSZ become errors of the write that caused them.
 */
void fl_signals_catch(void);

/* Someone asked the program to stop. */
bool fl_signals_stop_asked(void);

#endif
