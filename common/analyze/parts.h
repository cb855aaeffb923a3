/* SPDX-License-Identifier: MIT */
/*
 * The parts of the analyzer, one a file, and what they share. Private to
 * common/analyze; fl_analyze puts them together.
 */
#ifndef FRAGLAB_ANALYZE_PARTS_H
#define FRAGLAB_ANALYZE_PARTS_H

#include <fraglab/analyze.h>

/* slots_by_length: fl_map_slots, longest first. FL_ENOMEM. */
int fl_analyze_files(const struct fl_map *map, const struct fl_runs *slots_by_length,
		     struct fl_file_metrics *metrics) FL_CHECKED;

void fl_analyze_free(const struct fl_map *map, const struct fl_runs *slots_by_length,
		     struct fl_free_metrics *metrics);

/* blamer NULL: nobody is blamed. */
int fl_analyze_io(const struct fl_map *map, enum fl_workload workload,
		  const struct fl_analyze_options *options, struct fl_blamer *blamer,
		  struct fl_io_metrics *metrics) FL_CHECKED;

/* --- io.c: metrics of any stream: begin, an fl_io_sink with the observer, end --- */

struct fl_observer;

/* Of options the disk, and how an install is written back. */
int fl_observer_new(enum fl_workload workload, const struct fl_analyze_options *options,
		    struct fl_observer **observer) FL_CHECKED;
/* NULL is legal. */
void fl_observer_free(struct fl_observer *observer);
int fl_observer_sink(void *observer, const struct fl_io *io) FL_CHECKED;
int fl_observer_end(struct fl_observer *observer, struct fl_io_metrics *metrics) FL_CHECKED;

#endif
