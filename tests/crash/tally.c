/* SPDX-License-Identifier: MIT */
/*
 * Counts and complaints, shared between processes. Must not lose one.
 */
#include "tests/crash/tally.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define KINDS 256
#define KIND_TEXT 160

struct kind {
	char text[KIND_TEXT];
	uint64_t count;
};

struct tally {
	_Atomic uint64_t counts[TALLY_COUNTS];
	atomic_flag lock; /* over the kinds */
	size_t kind_count;
	struct kind kinds[KINDS];
};

/* What e2fsck may say after a cut, and why it is no loss. */
static const struct {
	const char *kind, *reason;
} allowed[] = {
	{" was not cleanly unmounted, check forced.", "that is the fence's purpose"},
	{"Block bitmap differences: LIST",
	 "blocks claimed for a batch that was not switched, or vacated and not released yet"},
	{"Free blocks count wrong for group #N (N, counted=N).", "the same blocks, counted"},
	{"Free blocks count wrong (N, counted=N).", "the same; the superblock is written last"},
	{"Block bitmap differences: Group N block bitmap does not match checksum.",
	 "a bitmap and the descriptor with its checksum are two writes; both hold every used "
	 "block"},
	{"Padding at end of block bitmap is not set. Fix? yes",
	 "a group's first bitmap did not arrive, its descriptor did; nothing uses the group yet"},
	{"Extended attribute block N has reference count N, should be N. Fix? yes",
	 "sharers are switched one by one: some name the copy, some still the block; both are "
	 "whole, "
	 "and count too many sharers, never too few"},
	{"[QUOTA WARNING] Usage inconsistent for ID N:actual (N, N) != expected (N, N)",
	 "an owner's usage and his inodes are different sectors, written between the same flushes"},
	{"Update quota info for quota type N? yes", "the same"},
	{"FIXED.", "the end of the line above"},
};

struct tally *tally_new(void)
{
	struct tally *tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return tally == MAP_FAILED ? NULL : tally;
}

uint64_t tally_add(struct tally *tally, enum tally_count which, uint64_t by)
{
	return atomic_fetch_add(&tally->counts[which], by);
}

uint64_t tally_get(const struct tally *tally, enum tally_count which)
{
	return atomic_load(&tally->counts[which]);
}

static const char *reason_for(const char *kind)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (!strcmp(allowed[i].kind, kind))
			return allowed[i].reason;
	return NULL;
}

bool tally_complaint(struct tally *tally, const char *kind)
{
	size_t i = 0;

	while (atomic_flag_test_and_set(&tally->lock))
		sched_yield();
	while (i < tally->kind_count && strncmp(tally->kinds[i].text, kind, KIND_TEXT - 1))
		i++;
	if (i == tally->kind_count && i < KINDS) {
		snprintf(tally->kinds[i].text, KIND_TEXT, "%s", kind);
		tally->kind_count++;
	}
	if (i < KINDS)
		tally->kinds[i].count++;
	atomic_flag_clear(&tally->lock);
	return reason_for(kind);
}

void tally_print(const struct tally *tally)
{
	for (size_t i = 0; i < tally->kind_count; i++) {
		const char *reason = reason_for(tally->kinds[i].text);

		printf("  %8llu  %s\n            %s%s\n", (unsigned long long)tally->kinds[i].count,
		       tally->kinds[i].text, reason ? "allowed: " : "NOT ALLOWED",
		       reason ? reason : "");
	}
}
