/* SPDX-License-Identifier: MIT */
/*
 * Sorts indexes by what they are worth, the same on every machine.
 */
#include <fraglab/util.h>

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct fl_ranked *left = a, *right = b;
	int order = fl_compare(left->rank, right->rank);

	return order ? order : fl_compare(left->index, right->index);
}

void fl_ranked_sort(struct fl_ranked *at, size_t count)
{
	if (count)
		qsort(at, count, sizeof(*at), compare);
}
