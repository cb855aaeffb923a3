/* SPDX-License-Identifier: MIT */
/*
 * Several guests on one array: their streams side by side on the disk and merged by time. The
 * only place that stores streams.
 */
#include <stdlib.h>
#include "parts.h"

#define BYTES_A_US 100u /* of a guest's own clock, as analyze.h tells */
#define SEEK_US 8000u

struct guest {
	FL_ARRAY(struct fl_io) ios[FL_WORKLOADS]; /* as the options list them */
};

struct fl_interleave {
	struct fl_analyze_options options;
	FL_ARRAY(struct guest) guests;
	fl_lbn end; /* of the guests' disks so far */
};

struct keeper {
	struct fl_interleave *interleave;
	struct guest *guest;
	size_t workload;
};

int fl_interleave_new(const struct fl_analyze_options *options, struct fl_interleave **interleave)
{
	struct fl_interleave *made = calloc(1, sizeof(*made));

	if (!made)
		return FL_ENOMEM;
	made->options = *options;
	*interleave = made;
	return 0;
}

static void free_guest(struct guest *guest)
{
	for (size_t i = 0; i < FL_WORKLOADS; i++)
		fl_array_free(&guest->ios[i]);
}

void fl_interleave_free(struct fl_interleave *interleave)
{
	if (!interleave)
		return;
	for (size_t i = 0; i < interleave->guests.count; i++)
		free_guest(&interleave->guests.at[i]);
	fl_array_free(&interleave->guests);
	free(interleave);
}

static int keep(void *context, const struct fl_io *io)
{
	struct keeper *keeper = context;
	struct fl_io moved = *io;

	moved.lbn += keeper->interleave->end;
	return fl_array_push(&keeper->guest->ios[keeper->workload], moved);
}

int fl_interleave_add(struct fl_interleave *interleave, const struct fl_map *map)
{
	const struct fl_analyze_options *options = &interleave->options;
	struct guest guest = {0};
	struct keeper keeper = {.interleave = interleave, .guest = &guest};
	int error = options->workload_count > FL_WORKLOADS ? FL_EINVAL : 0;

	for (size_t i = 0; i < options->workload_count && !error; i++) {
		keeper.workload = i;
		error = fl_stream_run(map, options->workloads[i], &options->stream, keep, &keeper);
	}
	if (!error)
		error = fl_array_push(&interleave->guests, guest);
	if (error)
		free_guest(&guest);
	else
		interleave->end += fl_lbn_of(&map->geo, map->geo.blocks);
	return error;
}

struct clock {
	size_t next;
	uint64_t us;
};

static int merge(const struct fl_interleave *interleave, size_t workload,
		 struct fl_observer *observer)
{
	size_t count = interleave->guests.count;
	struct clock *clocks = calloc(count + 1, sizeof(*clocks));
	int error = clocks ? 0 : FL_ENOMEM;

	while (!error) {
		const struct fl_io *io;
		struct clock *clock;
		size_t best = count;

		for (size_t g = 0; g < count; g++)
			if (clocks[g].next < interleave->guests.at[g].ios[workload].count &&
			    (best == count || clocks[g].us < clocks[best].us))
				best = g;
		if (best == count)
			break;
		clock = &clocks[best];
		io = &interleave->guests.at[best].ios[workload].at[clock->next];
		clock->us += io->sectors * FL_SECTOR_BYTES / BYTES_A_US;
		if (!clock->next || io[-1].lbn + io[-1].sectors != io->lbn)
			clock->us += SEEK_US;
		clock->next++;
		error = fl_observer_sink(observer, io);
	}
	free(clocks);
	return error;
}

static int chain(const struct fl_interleave *interleave, size_t workload,
		 struct fl_observer *observer)
{
	int error = 0;

	for (size_t g = 0; g < interleave->guests.count; g++) {
		const struct guest *guest = &interleave->guests.at[g];

		for (size_t i = 0; i < guest->ios[workload].count && !error; i++)
			error = fl_observer_sink(observer, &guest->ios[workload].at[i]);
	}
	return error;
}

static int measure(const struct fl_interleave *interleave, size_t i,
		   int (*feed)(const struct fl_interleave *, size_t, struct fl_observer *),
		   struct fl_io_metrics *metrics)
{
	struct fl_observer *observer;
	int error =
		fl_observer_new(interleave->options.workloads[i], &interleave->options, &observer);

	if (error)
		return error;
	error = feed(interleave, i, observer);
	if (!error)
		error = fl_observer_end(observer, metrics);
	fl_observer_free(observer);
	return error;
}

int fl_interleave_measure(const struct fl_interleave *interleave, size_t i,
			  struct fl_interleaved *result)
{
	struct fl_interleaved made = {0};
	int error;

	if (i >= interleave->options.workload_count)
		return FL_EINVAL;
	error = measure(interleave, i, chain, &made.alone);
	if (!error)
		error = measure(interleave, i, merge, &made.together);
	if (error)
		return error;
	if (made.alone.sequential_ratio > 0.0)
		made.kept = made.together.sequential_ratio / made.alone.sequential_ratio;
	*result = made;
	return 0;
}
