/* SPDX-License-Identifier: MIT */
/*
 * The one error enum of the library, and the text that goes with a failure.
 * The library never prints: it fills a struct fl_diag, and cli prints that.
 */
#ifndef FRAGLAB_ERROR_H
#define FRAGLAB_ERROR_H

#include <fraglab/types.h>

/*
 * Every fallible function returns 0 or one of these. Unless a function says
 * otherwise, a failure leaves its outputs unset and the image as it was.
 */
enum fl_error {
	FL_OK = 0,
	FL_ENOMEM = -1,	     /* memory ran out */
	FL_EIO = -2,	     /* the host could not read, write, flush or open */
	FL_EHOSTFULL = -3,   /* the host filesystem has no room for a write */
	FL_EBUSY = -4,	     /* mounted, attached to a loop device, or locked by a process */
	FL_ENOTEXT = -5,     /* no ext2/3/4 filesystem there */
	FL_ESHORT = -6,	     /* the image is shorter than its filesystem */
	FL_EDIRTY = -7,	     /* not cleanly unmounted: state, journal, orphans, errors */
	FL_EFEATURE = -8,    /* a feature this version cannot move safely */
	FL_EDAMAGED = -9,    /* metadata contradicts itself */
	FL_ENOROOM = -10,    /* too few free blocks in the filesystem to do anything */
	FL_EINVAL = -11,     /* the caller broke the interface's rules */
	FL_EPLAN = -12,	     /* a plan is not valid for the map */
	FL_EVERIFY = -13,    /* a block read back differs from what was written */
	FL_ECANCELLED = -14, /* asked to stop; what was begun was finished */
	FL_ESYNTAX = -15,    /* text input (option, plan, profile) cannot be parsed */
};

/*
 * Why something failed: "action: reason; remedy", without a final period or newline. The word
 * IMAGE stands for the path of the image, which the library does not know: cli puts it there.
 */
struct fl_diag {
	char text[512];
};

/*
 * Formats the reason into diag (borrowed; NULL is allowed) and returns error,
 * so that callers write `return fl_fail(diag, FL_EIO, ...)`. Keeps errno.
 */
int fl_fail(struct fl_diag *diag, enum fl_error error, const char *format, ...) FL_PRINTF(3, 4);

/* For what fails while an output file is written: FL_EHOSTFULL or FL_EIO. */
int fl_error_of_output(int host_errno);

/* A short fixed phrase for an error, for messages that have no diag text. Never NULL. */
const char *fl_error_text(int error);

#endif
