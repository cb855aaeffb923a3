/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an image: a small table of functions, and wrappers that have the
 * same table (window, overlay, recorder). Knows nothing about filesystems.
 *
 * Parameter order everywhere: device, buffer, length, position. All lengths and
 * positions are in bytes. Reads and writes are whole or fail: no short counts.
 */
#ifndef FRAGLAB_DEVICE_H
#define FRAGLAB_DEVICE_H

#include <fraglab/error.h>

struct fl_device;

enum fl_device_op { FL_OP_READ, FL_OP_WRITE, FL_OP_FLUSH, FL_OP_PUNCH, FL_OP_ZERO };

enum fl_device_advice {
	/*
	 * The next read of the range sees what is on the disk now, also where another machine has
	 * written it: what this host keeps of it is dropped, as far as it can be. Flush before.
	 */
	FL_ADVICE_FORGET,
	/* It will be read soon: the disk may begin now, and with other ranges in an order it likes.
	 */
	FL_ADVICE_SOON,
};

/* One of many transfers. A write only reads its buffer. */
struct fl_transfer {
	void *buffer;
	size_t length;
	uint64_t position;
	bool write;
};

/*
 * What an implementation provides. Every function returns 0 or FL_EIO,
 * FL_EHOSTFULL (writes), FL_EINVAL (outside 0 .. size_bytes), FL_ENOMEM (devices
 * that live in memory). A NULL entry means: punch and zero are not possible;
 * data_next: no holes known. The wrappers below have checked range and read_only
 * and never pass a length of 0.
 */
struct fl_device_ops {
	int (*read)(struct fl_device *device, void *buffer, size_t length, uint64_t position);
	int (*write)(struct fl_device *device, const void *buffer, size_t length,
		     uint64_t position);
	/*
	 * Reads and writes many ranges, none of which overlaps one that is written, in any order
	 * and several at a time; positions count from base. *failed: index of one that failed.
	 * NULL: one after the other.
	 */
	int (*many)(struct fl_device *device, const struct fl_transfer *items, size_t count,
		    uint64_t base, size_t *failed);
	/* All writes before it are durable when it returns 0. Its result must be checked. */
	int (*flush)(struct fl_device *device);
	/* The range reads as zeros and takes no host space. */
	int (*punch)(struct fl_device *device, uint64_t length, uint64_t position);
	/* The range reads as zeros, host space stays reserved, no data is transferred. */
	int (*zero)(struct fl_device *device, uint64_t length, uint64_t position);
	/*
	 * The first run of bytes at or after position that may hold data; outside it
	 * everything reads as zeros without host space. *length 0: no data up to the end.
	 */
	int (*data_next)(struct fl_device *device, uint64_t position, uint64_t *start,
			 uint64_t *length);
	/* See enum fl_device_advice. NULL: nothing is kept, nor read ahead. */
	void (*advise)(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
		       uint64_t position);
	/* Frees the implementation; a wrapper does not close what it wraps. */
	void (*close)(struct fl_device *device);
};

/*
 * What an implementation's punch and zero may also return: this host cannot do it, nothing
 * was changed. The fl_device_* functions below take another way and never return it.
 */
#define FL_DEVICE_CANNOT 1

struct fl_device {
	const struct fl_device_ops *ops;
	uint64_t size_bytes;
	bool read_only;	     /* write, punch and zero fail with FL_EINVAL */
	bool sparse;	     /* the host stores it with holes; vacated blocks are worth punching */
	uint64_t base_bytes; /* where byte 0 lies in the file; 0 where there is none */
};

int fl_device_read(struct fl_device *device, void *buffer, size_t length,
		   uint64_t position) FL_CHECKED;
int fl_device_write(struct fl_device *device, const void *buffer, size_t length,
		    uint64_t position) FL_CHECKED;
int fl_device_flush(struct fl_device *device) FL_CHECKED;

/*
 * Many ranges, about in the order given, several at a time where the device can. None may overlap
 * one that is written. The host may take transfers past its cache when buffers, positions and
 * lengths are multiples of its disk's sectors. On failure any of them may have been done; *failed
 * is one that was not.
 */
int fl_device_transfer(struct fl_device *device, const struct fl_transfer *items, size_t count,
		       size_t *failed) FL_CHECKED;

/*
 * Makes a range read as zeros by the cheapest way there is: punch when the device
 * is sparse, else zero without transfer, else write zeros. After it, the content is
 * the same whichever way was taken, so results do not depend on the host.
 */
int fl_device_clear(struct fl_device *device, uint64_t length, uint64_t position) FL_CHECKED;

/*
 * The same for blocks that nobody needs any more, but never transfers data: a device that
 * can neither punch nor zero is left alone. Not durable until the next flush.
 */
int fl_device_discard(struct fl_device *device, uint64_t length, uint64_t position) FL_CHECKED;

/* True in *hole when the whole range is known to be a hole of the host file. */
int fl_device_is_hole(struct fl_device *device, uint64_t length, uint64_t position,
		      bool *hole) FL_CHECKED;

/* As the ops entry; a device without it reports one run of data to the end. */
int fl_device_data_next(struct fl_device *device, uint64_t position, uint64_t *start,
			uint64_t *length) FL_CHECKED;

/* Never waits, and cannot fail: a range outside the device is ignored. */
void fl_device_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
		      uint64_t position);

/* NULL is legal. */
void fl_device_close(struct fl_device *device);

/* --- raw files and block devices --- */

enum fl_device_mode {
	FL_DEVICE_READ,	 /* shared lock; others may read too */
	FL_DEVICE_WRITE, /* exclusive lock */
};

/*
 * Opens a raw image or a block device. A symlink is resolved once: lock, checks and I/O
 * act on the same open file. Refuses with FL_EBUSY an image that is attached to any loop
 * device (in whatever mount namespace), mounted, or locked by a process (flock and
 * OFD locks, which qemu uses); with FL_EIO what cannot be opened; with FL_EINVAL
 * directories, other devices and other non-files. Locks last until close.
 *
 * A block device is opened exclusively, for reading too: FL_EBUSY while it or a partition of
 * it is mounted, swapped on or claimed by anybody, and for a loop device also while another
 * one shows the same bytes of its file. It has neither punch nor zero.
 * The diag text names cause and remedy. I/O: a few system calls, no data.
 */
int fl_device_file_open(const char *path, enum fl_device_mode mode, struct fl_device **device,
			struct fl_diag *diag) FL_CHECKED;

/*
 * A sparse, durable copy of a device's bytes in a new file: written under a temporary name
 * beside path, then renamed, so that path never holds half a copy. The copy is readable and
 * writable by its owner only. FL_EINVAL when path exists and replace is false, and always
 * when it is not a regular file or is the file that the device itself reads.
 */
int fl_device_file_copy(struct fl_device *from, const char *path, bool replace,
			struct fl_diag *diag) FL_CHECKED;

/* --- wrappers: borrow the device below, which must outlive them --- */

/* The bytes position .. position+length-1 of another device. FL_EINVAL if outside it. */
int fl_device_window(struct fl_device *below, uint64_t length, uint64_t position,
		     struct fl_device **device) FL_CHECKED;

/*
 * Writes stay in memory (pages of 64 KiB, allocated when first written); the device
 * below is only read. Closing forgets them.
 */
int fl_device_overlay(struct fl_device *below, struct fl_device **device) FL_CHECKED;

/*
 * What is overwritten, punched or zeroed is saved first in a new file at path, in the format
 * of e2undo(8), which brings it back byte for byte. position: where below begins in what e2undo
 * will be given (0, or that of a partition). The file is good at every moment: writes wait in
 * memory, at most some 64 MiB and at most until the next flush, until what they overwrite is
 * durable there. Only between the two steps of a flush that writes another superblock does
 * e2undo find one that it does not expect; it then asks for its option -f.
 *
 * Closing drops what was not flushed, as a power cut may. A flush also fails when the file
 * cannot be written. Its superblock is taken from bytes 1024 .. 2047.
 * FL_EINVAL: path exists, or below is read-only or too small; FL_EIO, FL_EHOSTFULL, FL_ENOMEM.
 */
int fl_device_undo(struct fl_device *below, const char *path, uint64_t position,
		   struct fl_device **device, struct fl_diag *diag) FL_CHECKED;

/* An anonymous in-memory device, all zeros; for tests. */
int fl_device_memory(uint64_t size_bytes, struct fl_device **device) FL_CHECKED;

struct fl_device_event {
	enum fl_device_op op;
	uint64_t position, length; /* bytes; 0 for a flush */
};

/* Passes everything on and tells observe about it first. A non-zero result fails the call. */
int fl_device_recorder(struct fl_device *below,
		       int (*observe)(void *context, const struct fl_device_event *event),
		       void *context, struct fl_device **device) FL_CHECKED;

#endif
