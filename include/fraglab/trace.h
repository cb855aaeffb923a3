/* SPDX-License-Identifier: MIT */
/*
 * Recorded I/O as a workload: fio iologs (version 2 and 3) of files or of a device, and the text
 * that blkparse prints. Parses and replays; opens nothing.
 */
#ifndef FRAGLAB_TRACE_H
#define FRAGLAB_TRACE_H

#include <fraglab/stream.h>

struct fl_trace;

/*
 * A trace without I/Os yet; give it every line in turn, then fl_trace_finish. FL_ENOMEM.
 * Free with fl_trace_free (NULL is legal).
 */
int fl_trace_new(struct fl_trace **trace) FL_CHECKED;
void fl_trace_free(struct fl_trace *trace);

/*
 * The next line, with or without its newline; any bytes. The first tells the format: "fio version
 * 2 iolog", "fio version 3 iolog", or an event of blkparse. FL_ESYNTAX with the number of the
 * line in diag, FL_ENOMEM; the trace is then only fit to be freed.
 *
 * fio: reads and writes are taken; add, open, close, wait, sync, datasync and trim are not I/O
 * here. Times are not looked at. A name below /dev/ is the device.
 * blkparse: issued requests (D) are taken, or queued ones (Q) when none was issued; discards,
 * flushes and commands without data are not. What follows the summary's first line is ignored.
 * All of them must be of one device; sectors are taken as they are.
 */
int fl_trace_line(struct fl_trace *trace, const char *line, size_t bytes,
		  struct fl_diag *diag) FL_CHECKED;
/* After the last line. FL_ESYNTAX: no I/O in it, or not all of one device. */
int fl_trace_finish(struct fl_trace *trace, struct fl_diag *diag) FL_CHECKED;
/* All of it at once. As above; outputs on success only. */
int fl_trace_parse(const char *text, size_t bytes, struct fl_trace **trace,
		   struct fl_diag *diag) FL_CHECKED;

/* I/Os of the trace, as recorded. */
size_t fl_trace_count(const struct fl_trace *trace);

/*
 * Whether the map has every file of the trace. A path is looked for from the root; when there is
 * no such file its leading folders are left out one by one, as they may be a mount point. Of a
 * file with several links only the first (in path order) is known, and only files that own blocks.
 * FL_ESYNTAX with path and line in diag; FL_ENOMEM.
 */
int fl_trace_check(const struct fl_trace *trace, const struct fl_map *map,
		   struct fl_diag *diag) FL_CHECKED;

/*
 * The stream: each I/O goes to the disk at once, as direct I/O does, cut where the file's blocks
 * are not neighbours and at max_io_bytes (0: 512 KiB). No cache, no read-ahead. Holes, unwritten
 * extents that are read, and what lies behind the last block are no I/O.
 * FL_EINVAL: a file is not there, or max_io_bytes is no multiple of 512; FL_ENOMEM; what the
 * sink returned.
 */
int fl_trace_run(const struct fl_trace *trace, const struct fl_map *map, uint64_t max_io_bytes,
		 fl_io_sink sink, void *context) FL_CHECKED;

#endif
