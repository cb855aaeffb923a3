/* SPDX-License-Identifier: MIT */
/*
 * Growable arrays and checked allocation. Must not know what the items are.
 */
#include <fraglab/util.h>

#include <stdlib.h>
#include <string.h>

#include <sys/mman.h>

/* Direct I/O wants its buffers at multiples of a disk's sector, of which this is the largest. */
#define PAGE_BYTES 4096u
#define HUGE_PAGE_BYTES ((size_t)2 << 20)

void *fl_alloc(size_t count, size_t item_bytes)
{
	if (item_bytes && count > SIZE_MAX / item_bytes)
		return NULL;
	/* calloc(0) may return NULL, which callers would take for a failure. */
	return calloc(count ? count : 1, item_bytes ? item_bytes : 1);
}

void *fl_alloc_buffer(size_t count, size_t item_bytes)
{
	size_t bytes;
	void *made;

	if (item_bytes && count > SIZE_MAX / item_bytes)
		return NULL;
	bytes = fl_max(count * item_bytes, 1);
	if (posix_memalign(&made, bytes < HUGE_PAGE_BYTES ? PAGE_BYTES : HUGE_PAGE_BYTES, bytes))
		return NULL;
	/* Only faster: a host without them says no. */
	if (bytes >= HUGE_PAGE_BYTES)
		(void)madvise(made, bytes, MADV_HUGEPAGE);
	return made;
}

int fl_array_reserve_(void **at, size_t *room, size_t total, size_t item_bytes)
{
	size_t want = *room ? *room : 8;
	void *grown;

	if (total <= *room)
		return 0;
	while (want < total) {
		if (want > SIZE_MAX / 2)
			return FL_ENOMEM;
		want *= 2;
	}
	if (want > SIZE_MAX / item_bytes)
		return FL_ENOMEM;
	grown = realloc(*at, want * item_bytes);
	if (!grown)
		return FL_ENOMEM;
	*at = grown;
	*room = want;
	return 0;
}

int fl_array_append_(void **at, size_t *count, size_t *room, const void *items, size_t number,
		     size_t item_bytes)
{
	int error = number > SIZE_MAX - *count
			    ? FL_ENOMEM
			    : fl_array_reserve_(at, room, *count + number, item_bytes);

	if (error || !number)
		return error;
	memcpy((char *)*at + *count * item_bytes, items, number * item_bytes);
	*count += number;
	return 0;
}

void fl_array_free_(void **at)
{
	free(*at);
	*at = NULL;
}
