/* SPDX-License-Identifier: MIT */
/*
 * A device on which one operation fails, in a chosen way. What did not fail is done.
 */
#ifndef TESTS_LIB_FAULT_H
#define TESTS_LIB_FAULT_H

#include <fraglab/device.h>

enum fault_kind {
	FAULT_READ,	 /* the n-th read: FL_EIO */
	FAULT_WRITE,	 /* the n-th write, punch or zero: FL_EIO, nothing of it done */
	FAULT_SHORT,	 /* the same, but the first half of its sectors is written */
	FAULT_FULL,	 /* the n-th write: FL_EHOSTFULL, once */
	FAULT_FULL_HOST, /* every write into a hole from the n-th on: FL_EHOSTFULL */
	FAULT_FLUSH,	 /* the n-th flush: FL_EIO, once */
	FAULT_LOST,	 /* the n-th write does nothing and says nothing; the next flush: FL_EIO */
	FAULT_READ_BACK, /* the n-th read of nothing but what was written since a flush: FL_EIO */
	FAULT_GARBLED,	 /* the n-th write stores a wrong bit, and nothing ever says so */
	FAULT_KINDS
};

extern const char *const fault_names[FAULT_KINDS];

struct fault_device;

/* Wraps below (borrowed); n from 1 counts operations of that kind. Free with fault_free. */
int fault_new(struct fl_device *below, enum fault_kind kind, uint64_t n,
	      struct fault_device **fault) FL_CHECKED;
struct fl_device *fault_device(struct fault_device *fault);
/*
 * FAULT_GARBLED counts only writes to blocks that are true in `counted` (by block; borrowed).
 * Without it: all.
 */
void fault_garble(struct fault_device *fault, const bool *counted, uint32_t block_bytes);
/* Whether the fault has come; false: there are fewer such operations. */
bool fault_came(const struct fault_device *fault);
/* Whether any write, punch or zero was tried. */
bool fault_wrote(const struct fault_device *fault);
void fault_free(struct fault_device *fault);

#endif
