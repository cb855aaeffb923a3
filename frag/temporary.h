/* SPDX-License-Identifier: MIT */
/*
 * Temporary files: they come and go between the files that stay, and keep the disk as
 * full as the profile says. All of them are gone in the end. Must not touch other files.
 */
#ifndef FRAG_TEMPORARY_H
#define FRAG_TEMPORARY_H

#include "frag/script.h"

struct frag_temporary_file {
	uint32_t number; /* of the operations */
	uint32_t blocks;
};

struct frag_temporaries {
	/* borrowed */
	const struct fl_map *map;
	const struct frag_profile *profile;
	struct frag_script *script;
	/* own */
	struct fl_rng rng;
	uint64_t disk_blocks; /* all that can move, free blocks included */
	uint64_t held_blocks; /* what the temporaries have now */
	uint64_t weights;     /* sum of the profile's sizes */
	uint64_t scale;	      /* sizes are multiplied: bounds the number of files on huge disks */
	uint64_t next;	      /* the tick at which the next temporary is due; UINT64_MAX: never */
	uint64_t *levels;     /* used blocks wanted, one a week; frag_temporaries_free frees */
	size_t level_count;
	FL_ARRAY(struct frag_temporary_file) files;
};

/*
 * Zero-initialised before. `least_used` is what the files that stay need in the end; the script
 * has written nothing yet. FL_ENOMEM.
 */
int frag_temporaries_init(struct frag_temporaries *temporaries, struct frag_script *script,
			  const struct frag_schedule_options *options,
			  uint64_t least_used) FL_CHECKED;
void frag_temporaries_free(struct frag_temporaries *temporaries);

/* Lets the temporaries come and go up to a time. */
int frag_temporaries_run(struct frag_temporaries *temporaries, uint64_t until) FL_CHECKED;
/* Writes one of this many blocks now, beside a file, when the level of the time allows. */
int frag_temporaries_add(struct frag_temporaries *temporaries, uint64_t now, uint32_t beside,
			 uint64_t blocks) FL_CHECKED;
/* Deletes until `blocks` are free or no temporary is left. */
int frag_temporaries_make_room(struct frag_temporaries *temporaries, uint64_t blocks) FL_CHECKED;

#endif
