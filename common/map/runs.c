/* SPDX-License-Identifier: MIT */
/*
 * Lists of physical runs. Must not know what the runs mean.
 */
#include <fraglab/map.h>

#include <stdlib.h>

static int compare_runs(const void *a, const void *b)
{
	const struct fl_run *left = a, *right = b;

	return fl_compare(left->start, right->start);
}

void fl_runs_normalize(struct fl_runs *runs)
{
	size_t kept = 0;

	if (!runs->count)
		return;
	qsort(runs->at, runs->count, sizeof(*runs->at), compare_runs);
	for (size_t i = 1; i < runs->count; i++) {
		if (runs->at[i].start == fl_run_end(runs->at[kept]))
			runs->at[kept].len += runs->at[i].len;
		else
			runs->at[++kept] = runs->at[i];
	}
	runs->count = kept + 1;
}

static int compare_longest_first(const void *a, const void *b)
{
	const struct fl_run *left = a, *right = b;

	return left->len != right->len ? fl_compare(right->len, left->len)
				       : fl_compare(left->start, right->start);
}

static int compare_shortest_first(const void *a, const void *b)
{
	return compare_longest_first(b, a);
}

void fl_runs_longest_first(struct fl_runs *runs)
{
	if (runs->count)
		qsort(runs->at, runs->count, sizeof(*runs->at), compare_longest_first);
}

void fl_runs_shortest_first(struct fl_runs *runs)
{
	if (runs->count)
		qsort(runs->at, runs->count, sizeof(*runs->at), compare_shortest_first);
}
