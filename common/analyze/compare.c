/* SPDX-License-Identifier: MIT */
/*
 * Two sets of metrics, field by field: did a prediction come true? Exact; both were
 * computed by the same code from whole numbers, so no tolerance is needed.
 */
#include <fraglab/analyze.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct comparison {
	struct fl_deviation *deviations;
	size_t room, count;
};

static struct fl_deviation *next_deviation(struct comparison *comparison)
{
	size_t at = comparison->count++;

	return at < comparison->room ? &comparison->deviations[at] : NULL;
}

static void check(struct comparison *comparison, const char *group, const char *name,
		  uint64_t expected, uint64_t found)
{
	struct fl_deviation *deviation;

	if (expected == found)
		return;
	deviation = next_deviation(comparison);
	if (!deviation)
		return;
	snprintf(deviation->name, sizeof(deviation->name), "%s.%s", group, name);
	snprintf(deviation->expected, sizeof(deviation->expected), "%" PRIu64, expected);
	snprintf(deviation->found, sizeof(deviation->found), "%" PRIu64, found);
}

static void check_real(struct comparison *comparison, const char *group, const char *name,
		       double expected, double found)
{
	struct fl_deviation *deviation;

	if (!(expected < found) && !(found < expected))
		return;
	deviation = next_deviation(comparison);
	if (!deviation)
		return;
	snprintf(deviation->name, sizeof(deviation->name), "%s.%s", group, name);
	snprintf(deviation->expected, sizeof(deviation->expected), "%.10g", expected);
	snprintf(deviation->found, sizeof(deviation->found), "%.10g", found);
}

static void compare_files(struct comparison *c, const struct fl_file_metrics *a,
			  const struct fl_file_metrics *b)
{
	char name[32];

	check(c, "files", "count", a->count, b->count);
	check(c, "files", "blocks", a->blocks, b->blocks);
	check(c, "files", "extents", a->extents, b->extents);
	check(c, "files", "fragments", a->fragments, b->fragments);
	check(c, "files", "fragmented", a->fragmented, b->fragmented);
	check(c, "files", "forced_fragments", a->forced_fragments, b->forced_fragments);
	check(c, "files", "avoidable_fragments", a->avoidable_fragments, b->avoidable_fragments);
	check_real(c, "files", "layout_score", a->layout_score, b->layout_score);
	check_real(c, "files", "worst_ratio", a->worst_ratio, b->worst_ratio);
	check(c, "files", "tree_blocks", a->tree_blocks, b->tree_blocks);
	check(c, "files", "largest_count", a->largest_count, b->largest_count);
	for (size_t i = 0; i < FL_LARGEST_FRAGMENTS; i++) {
		snprintf(name, sizeof(name), "largest_fragments[%zu]", i);
		check(c, "files", name, a->largest_fragments[i], b->largest_fragments[i]);
	}
	for (size_t i = 0; i < FL_PIN_COUNT; i++) {
		snprintf(name, sizeof(name), "pinned[%zu]", i);
		check(c, "files", name, a->pinned[i], b->pinned[i]);
	}
}

static void compare_free(struct comparison *c, const struct fl_free_metrics *a,
			 const struct fl_free_metrics *b)
{
	char name[32];

	check(c, "free", "blocks", a->blocks, b->blocks);
	check(c, "free", "extents", a->extents, b->extents);
	check(c, "free", "largest_bytes", a->largest_bytes, b->largest_bytes);
	check(c, "free", "largest_possible_bytes", a->largest_possible_bytes,
	      b->largest_possible_bytes);
	check_real(c, "free", "mean_bytes", a->mean_bytes, b->mean_bytes);
	for (size_t i = 0; i < FL_FREE_BUCKETS; i++) {
		snprintf(name, sizeof(name), "histogram[%zu].extents", i);
		check(c, "free", name, a->histogram[i].extents, b->histogram[i].extents);
		snprintf(name, sizeof(name), "histogram[%zu].blocks", i);
		check(c, "free", name, a->histogram[i].blocks, b->histogram[i].blocks);
	}
}

static void compare_legacy(struct comparison *c, const struct fl_legacy_metrics *a,
			   const struct fl_legacy_metrics *b)
{
	check(c, "legacy", "e4defrag.files", a->e4defrag.files, b->e4defrag.files);
	check(c, "legacy", "e4defrag.extents", a->e4defrag.extents, b->e4defrag.extents);
	check(c, "legacy", "e4defrag.best", a->e4defrag.best, b->e4defrag.best);
	check_real(c, "legacy", "e4defrag.score", a->e4defrag.score, b->e4defrag.score);
	check(c, "legacy", "e2fsck.files", a->e2fsck.files, b->e2fsck.files);
	check(c, "legacy", "e2fsck.directories", a->e2fsck.directories, b->e2fsck.directories);
	check(c, "legacy", "e2freefrag.min_kib", a->e2freefrag.min_kib, b->e2freefrag.min_kib);
	check(c, "legacy", "filefrag.extents", a->filefrag.extents, b->filefrag.extents);
}

static void compare_blame(struct comparison *c, const char *workload, const struct fl_blame *a,
			  const struct fl_blame *b)
{
	char name[32];

	check(c, workload, "blame.owned", a->owned, b->owned);
	check(c, workload, "blame.files", a->files, b->files);
	for (size_t i = 0; i < FL_BLAMED; i++) {
		snprintf(name, sizeof(name), "blame[%zu].inode", i);
		check(c, workload, name, a->worst[i].ino, b->worst[i].ino);
		snprintf(name, sizeof(name), "blame[%zu].seeks", i);
		check(c, workload, name, a->worst[i].seeks, b->worst[i].seeks);
	}
}

static void compare_hist(struct comparison *c, const char *workload, const struct fl_hist *a,
			 const struct fl_hist *b)
{
	const char *kind = fl_hist_name(a->kind);
	char name[48];

	for (size_t i = 0; i < FL_HIST_MAX_BUCKETS; i++) {
		snprintf(name, sizeof(name), "%s[%zu]", kind, i);
		check(c, workload, name, a->buckets[i], b->buckets[i]);
	}
	snprintf(name, sizeof(name), "%s.count", kind);
	check(c, workload, name, a->count, b->count);
	snprintf(name, sizeof(name), "%s.min", kind);
	check_real(c, workload, name, (double)a->min, (double)b->min);
	snprintf(name, sizeof(name), "%s.max", kind);
	check_real(c, workload, name, (double)a->max, (double)b->max);
	snprintf(name, sizeof(name), "%s.sum", kind);
	check_real(c, workload, name, a->sum, b->sum);
}

static void compare_side(struct comparison *c, const char *workload, const char *side,
			 const struct fl_io_side *a, const struct fl_io_side *b)
{
	char name[40];

	snprintf(name, sizeof(name), "%s.%s", workload, side);
	check(c, name, "ios", a->ios, b->ios);
	check(c, name, "bytes", a->bytes, b->bytes);
	compare_hist(c, name, &a->length, &b->length);
	compare_hist(c, name, &a->seek, &b->seek);
	compare_hist(c, name, &a->latency, &b->latency);
	compare_hist(c, name, &a->interarrival, &b->interarrival);
	compare_hist(c, name, &a->outstanding, &b->outstanding);
}

/* A stream without writes has its reads' figures twice; once is enough. */
static bool one_sided(const struct fl_io_metrics *io)
{
	return !io->reads.ios || !io->writes.ios;
}

static void compare_io(struct comparison *c, const struct fl_io_metrics *a,
		       const struct fl_io_metrics *b)
{
	const char *workload = fl_workload_name(a->workload);

	check(c, workload, "workload", a->workload, b->workload);
	check(c, workload, "ios", a->ios, b->ios);
	check(c, workload, "bytes", a->bytes, b->bytes);
	check(c, workload, "seeks", a->seeks, b->seeks);
	check_real(c, workload, "seeks_per_100mib", a->seeks_per_100mib, b->seeks_per_100mib);
	check_real(c, workload, "sequential_ratio", a->sequential_ratio, b->sequential_ratio);
	check_real(c, workload, "mean_io_bytes", a->mean_io_bytes, b->mean_io_bytes);
	check(c, workload, "disk", a->disk, b->disk);
	check_real(c, workload, "mean_latency_us", a->mean_latency_us, b->mean_latency_us);
	check_real(c, workload, "slow_ratio", a->slow_ratio, b->slow_ratio);
	check_real(c, workload, "seconds", a->seconds, b->seconds);
	compare_hist(c, workload, &a->length, &b->length);
	compare_hist(c, workload, &a->seek, &b->seek);
	compare_hist(c, workload, &a->windowed_seek, &b->windowed_seek);
	compare_blame(c, workload, &a->blame, &b->blame);
	compare_hist(c, workload, &a->latency, &b->latency);
	compare_hist(c, workload, &a->interarrival, &b->interarrival);
	compare_hist(c, workload, &a->outstanding, &b->outstanding);
	if (one_sided(a) && one_sided(b) && !a->reads.ios == !b->reads.ios)
		return;
	compare_side(c, workload, "reads", &a->reads, &b->reads);
	compare_side(c, workload, "writes", &a->writes, &b->writes);
}

bool fl_metrics_equal(const struct fl_metrics *expected, const struct fl_metrics *found,
		      struct fl_deviation *deviations, size_t room, size_t *count)
{
	struct comparison comparison = {.deviations = deviations, .room = room};
	size_t workloads = expected->io_count;

	compare_files(&comparison, &expected->files, &found->files);
	compare_free(&comparison, &expected->free, &found->free);
	compare_legacy(&comparison, &expected->legacy, &found->legacy);
	check(&comparison, "io", "count", expected->io_count, found->io_count);
	if (workloads > found->io_count)
		workloads = found->io_count;
	for (size_t i = 0; i < workloads; i++)
		compare_io(&comparison, &expected->io[i], &found->io[i]);
	if (count)
		*count = comparison.count;
	return comparison.count == 0;
}
