/* SPDX-License-Identifier: MIT */
/*
 * What a stream of I/Os looks like to a disk: sizes, seeks, distances; and times, when there is a
 * disk model. Consumes the stream as it is generated.
 */
#include <stdlib.h>
#include "parts.h"

#define WINDOW 16    /* I/Os that a windowed distance looks back over */
#define SEQUENTIAL 1 /* distance of an I/O that begins just after the one before it */

struct fl_observer {
	struct fl_io_metrics sum;
	struct fl_blamer *blamer; /* NULL: nobody is blamed */
	fl_lbn last[WINDOW];	  /* last LBN of the previous I/Os, a ring */
	fl_lbn last_of[2];	  /* of the previous read, write */
	uint64_t sequential;
	struct fl_disk *disk; /* NULL: no model */
	uint64_t slow;
	double latency_ns;
};

/* Signed distance from the last LBN of an earlier I/O to the first of this one. */
static int64_t distance(fl_lbn last, fl_lbn first)
{
	return (int64_t)(first - last);
}

/*
 * The distance to the closest of the previous I/Os (at least one). Of two that are equally
 * close, one behind and one ahead, the forward distance wins: the I/O goes on from there.
 */
static int64_t windowed_distance(const struct fl_observer *observer, fl_lbn first)
{
	uint64_t seen = fl_min(observer->sum.ios, WINDOW);
	int64_t best = distance(observer->last[0], first);

	for (uint64_t i = 1; i < seen; i++) {
		int64_t now = distance(observer->last[i], first);
		int64_t now_size = now < 0 ? -now : now;
		int64_t best_size = best < 0 ? -best : best;

		if (now_size < best_size || (now_size == best_size && now > best))
			best = now;
	}
	return best;
}

static void observe_side(struct fl_observer *observer, const struct fl_io *io)
{
	struct fl_io_side *side = io->write ? &observer->sum.writes : &observer->sum.reads;
	uint64_t bytes = (uint64_t)io->sectors * FL_SECTOR_BYTES;

	fl_hist_add(&side->length, (int64_t)bytes);
	if (side->ios)
		fl_hist_add(&side->seek, distance(observer->last_of[io->write], io->lbn));
	observer->last_of[io->write] = io->lbn + io->sectors - 1;
	side->ios++;
	side->bytes += bytes;
}

int fl_observer_sink(void *context, const struct fl_io *io)
{
	struct fl_observer *observer = context;
	struct fl_io_metrics *metrics = &observer->sum;
	uint64_t bytes = (uint64_t)io->sectors * FL_SECTOR_BYTES;

	if (observer->blamer)
		fl_blamer_note(observer->blamer, io);
	fl_hist_add(&metrics->length, (int64_t)bytes);
	if (metrics->ios) {
		fl_lbn previous = observer->last[(metrics->ios - 1) % WINDOW];
		int64_t seek = distance(previous, io->lbn);

		fl_hist_add(&metrics->seek, seek);
		fl_hist_add(&metrics->windowed_seek, windowed_distance(observer, io->lbn));
		observer->sequential += seek == SEQUENTIAL;
	}
	observe_side(observer, io);
	observer->last[metrics->ios % WINDOW] = io->lbn + io->sectors - 1;
	metrics->ios++;
	metrics->bytes += bytes;
	return observer->disk ? fl_disk_submit(observer->disk, io) : 0;
}

/* Microseconds, begun ones counted, as captures have no shorter ones. */
static int64_t microseconds(uint64_t ns)
{
	return (int64_t)fl_div_up(ns, 1000);
}

static void observe_done(void *context, const struct fl_disk_io *done)
{
	struct fl_observer *observer = context;
	struct fl_io_metrics *all = &observer->sum;
	struct fl_io_side *side = done->io.write ? &all->writes : &all->reads;
	int64_t latency = microseconds(done->latency_ns);

	fl_hist_add(&all->latency, latency);
	fl_hist_add(&side->latency, latency);
	fl_hist_add(&all->interarrival, microseconds(done->interarrival_ns));
	fl_hist_add(&side->interarrival, microseconds(done->interarrival_same_ns));
	fl_hist_add(&all->outstanding, done->outstanding);
	fl_hist_add(&side->outstanding, done->outstanding_same);
	observer->slow += latency > FL_DISK_SLOW_US;
	observer->latency_ns += (double)done->latency_ns;
}

static void init_side(struct fl_io_side *side)
{
	fl_hist_init(&side->length, FL_HIST_LENGTH);
	fl_hist_init(&side->seek, FL_HIST_SEEK);
	fl_hist_init(&side->latency, FL_HIST_LATENCY);
	fl_hist_init(&side->interarrival, FL_HIST_INTERARRIVAL);
	fl_hist_init(&side->outstanding, FL_HIST_OUTSTANDING);
}

int fl_observer_new(enum fl_workload workload, const struct fl_analyze_options *options,
		    struct fl_observer **out)
{
	struct fl_observer *observer = calloc(1, sizeof(*observer));
	struct fl_disk_options disk = options->disk;
	struct fl_io_metrics *sum;
	int error = 0;

	if (!observer)
		return FL_ENOMEM;
	sum = &observer->sum;
	sum->workload = workload;
	sum->disk = disk.model;
	fl_hist_init(&sum->length, FL_HIST_LENGTH);
	fl_hist_init(&sum->seek, FL_HIST_SEEK);
	fl_hist_init(&sum->windowed_seek, FL_HIST_WINDOWED_SEEK);
	fl_hist_init(&sum->latency, FL_HIST_LATENCY);
	fl_hist_init(&sum->interarrival, FL_HIST_INTERARRIVAL);
	fl_hist_init(&sum->outstanding, FL_HIST_OUTSTANDING);
	init_side(&sum->reads);
	init_side(&sum->writes);
	/* What is installed reaches the disk when it is written back; what is read, when wanted. */
	if (workload == FL_WORKLOAD_INSTALL && disk.bytes_per_second)
		disk.burst_bytes = fl_stream_commit_bytes(&options->stream);
	if (disk.model != FL_DISK_NONE)
		error = fl_disk_new(&disk, observe_done, observer, &observer->disk);
	if (error) {
		fl_observer_free(observer);
		return error;
	}
	*out = observer;
	return 0;
}

void fl_observer_free(struct fl_observer *observer)
{
	if (!observer)
		return;
	fl_disk_free(observer->disk);
	free(observer);
}

int fl_observer_end(struct fl_observer *observer, struct fl_io_metrics *metrics)
{
	struct fl_io_metrics *sum = &observer->sum;
	uint64_t total_ns = 0;
	int error = observer->disk ? fl_disk_finish(observer->disk, &total_ns) : 0;

	if (error)
		return error;
	sum->seeks = sum->ios - observer->sequential;
	if (sum->ios) {
		double ios = (double)sum->ios;

		sum->seeks_per_100mib =
			(double)sum->seeks * (100.0 * 1024.0 * 1024.0) / (double)sum->bytes;
		sum->sequential_ratio = (double)observer->sequential / ios;
		sum->mean_io_bytes = (double)sum->bytes / ios;
		sum->mean_latency_us = observer->latency_ns / 1000.0 / ios;
		sum->slow_ratio = (double)observer->slow / ios;
		sum->seconds = (double)total_ns / 1e9;
	}
	*metrics = *sum;
	return 0;
}

int fl_analyze_io(const struct fl_map *map, enum fl_workload workload,
		  const struct fl_analyze_options *options, struct fl_blamer *blamer,
		  struct fl_io_metrics *metrics)
{
	struct fl_observer *observer;
	int error = fl_observer_new(workload, options, &observer);

	if (error)
		return error;
	if (blamer)
		fl_blamer_start(blamer);
	observer->blamer = blamer;
	error = fl_stream_run(map, workload, &options->stream, fl_observer_sink, observer);
	if (!error)
		error = fl_observer_end(observer, metrics);
	if (!error && blamer)
		fl_blamer_sum(blamer, &metrics->blame);
	fl_observer_free(observer);
	return error;
}
