/* SPDX-License-Identifier: MIT */
/*
 * To be preloaded: sleep() returns at once. Only for tests of multiple mount protection, where
 * every tool waits for machines that are not there. Must not be linked into anything.
 */
#include <unistd.h>

unsigned int sleep(unsigned int seconds)
{
	(void)seconds;
	return 0;
}
