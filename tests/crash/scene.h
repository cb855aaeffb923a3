/* SPDX-License-Identifier: MIT */
/*
 * A scene: one image under one program and mode, what it must keep holding, and the log of its
 * run without a cut. And the judgement of a disk that a cut or fault has left.
 */
#ifndef TESTS_CRASH_SCENE_H
#define TESTS_CRASH_SCENE_H

#include "tests/crash/images.h"
#include "tests/crash/programs.h"
#include "tests/crash/tally.h"
#include "tests/lib/oracle.h"
#include "tests/lib/powercut.h"

struct scene {
	const struct crash_image *image;
	const struct crash_program *program;
	size_t size_bytes;
	uint8_t *before; /* the image at the start of the run */
	bool *movable;	 /* by block: see oracle_movable */
	uint32_t block_bytes;
	struct oracle *oracle;
	struct powercut *log;
	struct crash_outcome outcome; /* of the run without a cut */
};

/*
 * Reads the image at path, ages it by frag when the program is defrag, and runs the program
 * once. False: said on stdout.
 */
bool scene_prepare(struct scene *scene, const struct crash_image *image,
		   const struct crash_program *program, const char *path);
void scene_free(struct scene *scene);

/* What every run of the scene is told. */
struct crash_conditions scene_conditions(const struct scene *scene);

/* Runs the program on bytes to its end, or until it is cancelled, and keeps the log. */
bool scene_record(const struct scene *scene, const struct crash_conditions *conditions,
		  uint8_t *bytes, struct powercut **log, struct crash_outcome *outcome,
		  char why[ORACLE_TEXT]);

/*
 * A run that verifies does the same operations as one that does not, so the cuts of the one are
 * those of the other. False: why.
 */
bool scene_verified(const struct scene *scene, char why[ORACLE_TEXT]);

/*
 * Runs the program on a device that stops at operation `cut`, in scratch: it must fail with
 * FL_EIO, say that the fence stands, and leave the bytes of `expected`.
 */
bool scene_live(const struct scene *scene, uint64_t cut, const uint8_t *expected, uint8_t *scratch,
		char why[ORACLE_TEXT]);

/* A disk in a file, seen through memory too: e2fsck wants a path. */
struct disk {
	char path[80];
	uint8_t *bytes;
	size_t size_bytes;
	char journal[100]; /* the file with its external journal; empty: none */
};
/* journal: an external journal, of which the disk gets a copy; NULL: none. */
bool disk_new(struct disk *disk, const char *directory, const char *name, size_t size_bytes,
	      const char *journal);
void disk_free(struct disk *disk);

/*
 * What multiple mount protection must say of a disk after a cut: as long as it is not clean,
 * that it is being checked. True where there is none.
 */
bool scene_guarded(const struct disk *disk, char why[ORACLE_TEXT]);

/* A place to stop at: after the first e2fsck, to begin the resuming run elsewhere. */
enum judge_depth { JUDGE_REPAIR, JUDGE_ALL };

/*
 * The promise, at one moment: content as before, blocks in order, e2fsck at most 1 with allowed
 * complaints only (none if the superblock says clean), then 0, content as before; the program run
 * again reaches the goal, content as before. Changes disk. False: why says what is broken.
 */
bool scene_judge(const struct scene *scene, struct disk *disk, struct tally *tally,
		 enum judge_depth depth, char why[ORACLE_TEXT]);

#endif
