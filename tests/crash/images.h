/* SPDX-License-Identifier: MIT */
/*
 * The images of the crash tests: small, each with something that makes a mover's life hard.
 * Made with mke2fs and libext2fs alone, the same every time.
 */
#ifndef TESTS_CRASH_IMAGES_H
#define TESTS_CRASH_IMAGES_H

#include <fraglab/util.h>

struct crash_image {
	const char *name;
	const char *mke2fs; /* arguments */
	uint32_t kib;	    /* size */
	uint32_t full_percent;
	bool deep;   /* files whose extent trees have two levels, or triple indirect blocks */
	bool shared; /* xattr blocks that several inodes share */
	bool preallocated;
	bool by_turns;	       /* files that grow by turns, and end anywhere in their clusters */
	bool journal_beside;   /* an external journal, empty: see crash_image_journal */
	uint32_t batch_blocks; /* so that a run has several batches */
};

extern const struct crash_image crash_images[];
extern const size_t crash_image_count;

/* Makes the image at path; on failure says why on stderr. */
int crash_image_make(const struct crash_image *image, const char *path) FL_CHECKED;

/* The file that has the external journal of the image at path. */
void crash_image_journal(const char *path, char journal[200]);

/* The environment that e2fsprogs shall see: fixed clock, no configuration of the machine. */
int crash_environment(void) FL_CHECKED;

#endif
