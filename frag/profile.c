/* SPDX-License-Identifier: MIT */
/*
 * The table of profiles. Numbers with their reasons only; profile.h says what each one
 * means.
 */
#include "frag/profile.h"

#include <string.h>

#define KIB(n) ((uint64_t)(n) << 10)
#define MIB(n) ((uint64_t)(n) << 20)

const uint64_t frag_class_bytes[FRAG_CLASSES] = {KIB(16), KIB(128), MIB(1), MIB(16), UINT64_MAX};

/* A study of desktops in 2004, rounded; what is below 512 bytes takes a block as well. */
static const struct frag_size_weight desktop_sizes[] = {
	{512, 64},	{KIB(2), 50}, {KIB(8), 46}, {KIB(32), 35}, {KIB(128), 20},
	{KIB(512), 10}, {MIB(2), 4},  {MIB(8), 1},  {0, 0},
};

/* Spool files, lock files and session data, and now and then a dump or an upload. */
static const struct frag_size_weight server_sizes[] = {
	{KIB(4), 90}, {KIB(16), 60}, {KIB(64), 40}, {KIB(256), 18},
	{MIB(1), 8},  {MIB(4), 3},   {MIB(16), 1},  {0, 0},
};

static const struct frag_profile profiles[] = {
	{
		.name = "desktop",
		.summary = "an office desktop: documents, mail, a browser, updates",
		.installed_percent = 50,
		.rewritten_percent = 10,		 /* updates, and documents saved again */
		.growing_percent = {24, 30, 26, 28, 24}, /* mail boxes and databases are large */
		.growing_first_percent = 25,
		.appends = {1, 2, 4, 8, 16},
		.appends_most = 512,			/* 17 a day: a browser's history */
		.shared_percent = {15, 40, 55, 70, 75}, /* downloads and updates at a time */
		.writers = 4,
		.chunk_least = KIB(16),
		.chunk_most = KIB(512),
		.turn_temporary_percent = 50,
		.temporary_permille = 20, /* the disk is written over in seven weeks */
		.short_lived_percent = 30,
		.sizes = desktop_sizes,
		.low_percent = 70,
		.peak_percent = 90,
	},
	{
		.name = "server",
		.summary = "a server: logs that never stop, spools, a data base",
		.installed_percent = 75,		/* set up once, then left alone */
		.rewritten_percent = 4,			/* security updates */
		.growing_percent = {6, 16, 30, 40, 50}, /* logs */
		.growing_first_percent = 5,
		.appends = {4, 8, 16, 32, 64},
		.appends_most = 2048,		       /* one each 20 minutes */
		.shared_percent = {0, 30, 60, 70, 70}, /* many requests at a time */
		.writers = 8,
		.chunk_least = KIB(32),
		.chunk_most = KIB(512),
		.turn_temporary_percent = 20,
		.temporary_permille = 30,
		.short_lived_percent = 60, /* spools empty soon */
		.sizes = server_sizes,
		.low_percent = 65,
		.peak_percent = 88,
	},
};

const struct frag_profile *frag_profile_at(size_t i)
{
	return i < sizeof(profiles) / sizeof(*profiles) ? &profiles[i] : NULL;
}

const struct frag_profile *frag_profile_find(const char *name)
{
	const struct frag_profile *profile;

	for (size_t i = 0; (profile = frag_profile_at(i)); i++)
		if (strcmp(profile->name, name) == 0)
			return profile;
	return NULL;
}
