/* SPDX-License-Identifier: MIT */
/*
 * The part of the JSON document that is about I/O: a workload's figures and histograms. Keys are
 * an interface, as all of them (json.c).
 */
#include "json_value.h"

json_t *fl_json_hist(const struct fl_hist *hist)
{
	json_t *object = json_object(), *edges = json_array(), *counts = json_array();
	size_t buckets;
	const int64_t *edge = fl_hist_edges(hist->kind, &buckets);
	bool failed = false;

	for (size_t i = 0; i < buckets; i++) {
		if (i + 1 < buckets)
			failed |= add(edges, json_integer(edge[i]));
		failed |= add(counts, whole(hist->buckets[i]));
	}
	failed |= put(object, "edges", edges);
	failed |= put(object, "counts", counts);
	failed |= put(object, "count", whole(hist->count));
	failed |= put(object, "min", json_integer(hist->min));
	failed |= put(object, "max", json_integer(hist->max));
	failed |=
		put(object, "mean", json_real(hist->count ? hist->sum / (double)hist->count : 0.0));
	return finish(object, failed);
}

/* Histograms of times: null when no disk model made any. */
static json_t *timed_json(const struct fl_hist *hist, bool timed)
{
	return timed ? fl_json_hist(hist) : json_null();
}

static bool put_hists(json_t *object, const struct fl_hist *length, const struct fl_hist *seek)
{
	bool failed = put(object, fl_hist_name(FL_HIST_LENGTH), fl_json_hist(length));

	failed |= put(object, fl_hist_name(FL_HIST_SEEK), fl_json_hist(seek));
	return failed;
}

static bool put_timed(json_t *object, bool timed, const struct fl_hist *latency,
		      const struct fl_hist *interarrival, const struct fl_hist *outstanding)
{
	bool failed = put(object, fl_hist_name(FL_HIST_LATENCY), timed_json(latency, timed));

	failed |= put(object, fl_hist_name(FL_HIST_INTERARRIVAL), timed_json(interarrival, timed));
	failed |= put(object, fl_hist_name(FL_HIST_OUTSTANDING), timed_json(outstanding, timed));
	return failed;
}

static json_t *side_json(const struct fl_io_side *side, bool timed)
{
	json_t *object = json_object();
	bool failed = put(object, "ios", whole(side->ios));

	failed |= put(object, "bytes", whole(side->bytes));
	failed |= put_hists(object, &side->length, &side->seek);
	failed |= put_timed(object, timed, &side->latency, &side->interarrival, &side->outstanding);
	return finish(object, failed);
}

json_t *fl_json_io(const struct fl_io_metrics *io)
{
	json_t *object = json_object(), *histograms = json_object();
	bool timed = io->disk != FL_DISK_NONE, failed = false;

	failed |= put_hists(histograms, &io->length, &io->seek);
	failed |= put(histograms, fl_hist_name(FL_HIST_WINDOWED_SEEK),
		      fl_json_hist(&io->windowed_seek));
	failed |= put_timed(histograms, timed, &io->latency, &io->interarrival, &io->outstanding);
	failed |= put(histograms, "reads", side_json(&io->reads, timed));
	failed |= put(histograms, "writes", side_json(&io->writes, timed));

	failed |= put(object, "workload", json_string(fl_workload_name(io->workload)));
	failed |= put(object, "ios", whole(io->ios));
	failed |= put(object, "bytes", whole(io->bytes));
	failed |= put(object, "seeks", whole(io->seeks));
	failed |= put(object, "seeks_per_100mib", json_real(io->seeks_per_100mib));
	failed |= put(object, "sequential_ratio", json_real(io->sequential_ratio));
	failed |= put(object, "mean_io_bytes", json_real(io->mean_io_bytes));
	failed |= put(object, "disk", json_string(fl_disk_name(io->disk)));
	failed |= put(object, "mean_latency_us",
		      timed ? json_real(io->mean_latency_us) : json_null());
	failed |= put(object, "slow_ratio", timed ? json_real(io->slow_ratio) : json_null());
	failed |= put(object, "seconds", timed ? json_real(io->seconds) : json_null());
	failed |= put(object, "blame", fl_json_blame(&io->blame));
	failed |= put(object, "histograms", histograms);
	return finish(object, failed);
}

/* The histograms of one disk, all I/Os beside those of reads and writes, as an io has them. */
static json_t *capture_json(const struct fl_report *report, size_t first)
{
	const struct fl_captures *captures = &report->captures;
	json_t *object = json_object(), *histograms = json_object(), *sides[FL_CAPTURE_OFS];
	bool failed = false;

	sides[FL_CAPTURE_ALL] = histograms;
	sides[FL_CAPTURE_READS] = json_object();
	sides[FL_CAPTURE_WRITES] = json_object();
	for (size_t i = first; i < captures->count; i++) {
		const struct fl_capture *capture = &captures->at[i];

		if (fl_captures_same_disk(&captures->at[first], capture))
			failed |= put(sides[capture->of], fl_hist_name(capture->hist.kind),
				      fl_json_hist(&capture->hist));
	}
	failed |= put(histograms, "reads", sides[FL_CAPTURE_READS]);
	failed |= put(histograms, "writes", sides[FL_CAPTURE_WRITES]);
	failed |= put(object, "path", path_string(report->capture_path));
	failed |= put(object, "world", json_integer(captures->at[first].world));
	failed |= put(object, "handle", json_integer(captures->at[first].handle));
	failed |= put(object, "histograms", histograms);
	return finish(object, failed);
}

json_t *fl_json_captures(const struct fl_report *report)
{
	json_t *list = json_array();
	bool failed = false;

	for (size_t i = 0; i < report->captures.count; i++)
		if (fl_captures_first_of_disk(&report->captures, i))
			failed |= add(list, capture_json(report, i));
	return finish(list, failed);
}
