/* SPDX-License-Identifier: MIT */
/*
 * What a stream of I/Os looks like to a disk: sizes, seeks, distances. Consumes the
 * stream as it is generated; no latency, that needs a disk model.
 */
#include "parts.h"

#define WINDOW 16    /* I/Os that a windowed distance looks back over */
#define SEQUENTIAL 1 /* distance of an I/O that begins just after the one before it */

struct observer {
	struct fl_io_metrics *metrics;
	struct fl_blamer *blamer;
	fl_lbn last[WINDOW]; /* last LBN of the previous I/Os, a ring */
	uint64_t sequential;
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
static int64_t windowed_distance(const struct observer *observer, fl_lbn first)
{
	uint64_t seen = fl_min(observer->metrics->ios, WINDOW);
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

static int observe(void *context, const struct fl_io *io)
{
	struct observer *observer = context;
	struct fl_io_metrics *metrics = observer->metrics;
	uint64_t bytes = (uint64_t)io->sectors * FL_SECTOR_BYTES;

	fl_blamer_note(observer->blamer, io);
	fl_hist_add(&metrics->length, (int64_t)bytes);
	if (metrics->ios) {
		fl_lbn previous = observer->last[(metrics->ios - 1) % WINDOW];
		int64_t seek = distance(previous, io->lbn);

		fl_hist_add(&metrics->seek, seek);
		fl_hist_add(&metrics->windowed_seek, windowed_distance(observer, io->lbn));
		observer->sequential += seek == SEQUENTIAL;
	}
	observer->last[metrics->ios % WINDOW] = io->lbn + io->sectors - 1;
	metrics->ios++;
	metrics->bytes += bytes;
	return 0;
}

int fl_analyze_io(const struct fl_map *map, enum fl_workload workload,
		  const struct fl_stream_options *options, struct fl_blamer *blamer,
		  struct fl_io_metrics *metrics)
{
	struct fl_io_metrics sum = {.workload = workload};
	struct observer observer = {.metrics = &sum, .blamer = blamer};
	int error;

	fl_hist_init(&sum.length, FL_HIST_LENGTH);
	fl_hist_init(&sum.seek, FL_HIST_SEEK);
	fl_hist_init(&sum.windowed_seek, FL_HIST_WINDOWED_SEEK);
	fl_blamer_start(blamer);
	error = fl_stream_run(map, workload, options, observe, &observer);
	if (error)
		return error;
	sum.seeks = sum.ios - observer.sequential;
	if (sum.ios) {
		sum.seeks_per_100mib =
			(double)sum.seeks * (100.0 * 1024.0 * 1024.0) / (double)sum.bytes;
		sum.sequential_ratio = (double)observer.sequential / (double)sum.ios;
		sum.mean_io_bytes = (double)sum.bytes / (double)sum.ios;
	}
	fl_blamer_sum(blamer, &sum.blame);
	*metrics = sum;
	return 0;
}
