/* SPDX-License-Identifier: MIT */
/*
 * measure: runs a command, prints what it took as one line of numbers:
 * wall, user and system seconds, peak memory in KiB. Judges nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
	struct timespec from = {0}, to = {0};
	struct rusage use;
	FILE *out;
	pid_t child;
	int status;

	if (argc < 3) {
		fputs("Usage: measure OUTPUT COMMAND [ARGUMENT]...\n", stderr);
		return 16;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	child = vfork();
	if (!child) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &use) < 0) {
		perror("measure");
		return 4;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	out = fopen(argv[1], "w");
	if (!out) {
		perror(argv[1]);
		return 4;
	}
	fprintf(out, "%.3f %.3f %.3f %ld\n",
		(double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9,
		seconds(use.ru_utime), seconds(use.ru_stime), use.ru_maxrss);
	if (fclose(out))
		return 4;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
