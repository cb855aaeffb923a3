/* SPDX-License-Identifier: MIT */
/*
 * The report as one JSON document. Keys are an interface: add, never rename.
 * The public header documents what goes beyond the README's table.
 */
#include "json_value.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define DEVIATIONS_LISTED 100

static bool put_interleaved(json_t *root, const struct fl_report *report)
{
	json_t *rows = json_array();
	bool failed = false;

	for (size_t i = 0; i < report->interleaved_count; i++) {
		const struct fl_interleaved *entry = &report->interleaved[i];
		json_t *row = json_object();

		failed |=
			put(row, "workload", json_string(fl_workload_name(entry->alone.workload)));
		failed |= put(row, "alone", fl_json_io(&entry->alone));
		failed |= put(row, "together", fl_json_io(&entry->together));
		failed |= put(row, "kept", json_real(entry->kept));
		failed |= add(rows, row);
	}
	failed |= put(root, "interleaved", rows);
	return failed;
}

static json_t *files_json(const struct fl_file_metrics *files)
{
	json_t *object = json_object(), *largest = json_array(), *pinned = json_object();
	bool failed = false;

	for (size_t i = 0; i < files->largest_count; i++)
		failed |= add(largest, whole(files->largest_fragments[i]));
	for (size_t i = FL_PIN_NONE + 1; i < FL_PIN_COUNT; i++)
		failed |= put(pinned, fl_report_pin((enum fl_pin)i), whole(files->pinned[i]));
	failed |= put(object, "count", whole(files->count));
	failed |= put(object, "blocks", whole(files->blocks));
	failed |= put(object, "extents", whole(files->extents));
	failed |= put(object, "fragments", whole(files->fragments));
	failed |= put(object, "fragmented", whole(files->fragmented));
	failed |= put(object, "forced_fragments", whole(files->forced_fragments));
	failed |= put(object, "avoidable_fragments", whole(files->avoidable_fragments));
	failed |= put(object, "layout_score", json_real(files->layout_score));
	failed |= put(object, "largest_fragments", largest);
	failed |= put(object, "worst_ratio", json_real(files->worst_ratio));
	failed |= put(object, "tree_blocks", whole(files->tree_blocks));
	failed |= put(object, "pinned", pinned);
	return finish(object, failed);
}

static json_t *free_json(const struct fl_free_metrics *space, uint32_t block_bytes)
{
	json_t *object = json_object(), *rows = json_array();
	size_t count = FL_FREE_BUCKETS;
	bool failed = false;

	while (count && !space->histogram[count - 1].extents)
		count--;
	for (size_t i = 0; i < count; i++) {
		json_t *row = json_object();

		failed |= put(row, "from_bytes", whole((uint64_t)block_bytes << i));
		failed |= put(row, "to_bytes", whole((uint64_t)block_bytes << (i + 1)));
		failed |= put(row, "extents", whole(space->histogram[i].extents));
		failed |= put(row, "blocks", whole(space->histogram[i].blocks));
		failed |= add(rows, row);
	}
	failed |= put(object, "blocks", whole(space->blocks));
	failed |= put(object, "extents", whole(space->extents));
	failed |= put(object, "largest_bytes", whole(space->largest_bytes));
	failed |= put(object, "largest_possible_bytes", whole(space->largest_possible_bytes));
	failed |= put(object, "mean_bytes", json_real(space->mean_bytes));
	failed |= put(object, "histogram", rows);
	return finish(object, failed);
}

/* Puts M, the metrics of one state, into object. */
static bool put_metrics(json_t *object, const struct fl_metrics *metrics, uint32_t block_bytes)
{
	json_t *io = json_array();
	bool failed = false;

	for (size_t i = 0; i < metrics->io_count; i++)
		failed |= add(io, fl_json_io(&metrics->io[i]));
	failed |= put(object, "files", files_json(&metrics->files));
	failed |= put(object, "free", free_json(&metrics->free, block_bytes));
	failed |= put(object, "legacy", fl_json_legacy(metrics, block_bytes));
	failed |= put(object, "io", io);
	return failed;
}

static json_t *metrics_json(const struct fl_metrics *metrics, uint32_t block_bytes)
{
	json_t *object = json_object();

	return finish(object, put_metrics(object, metrics, block_bytes));
}

static json_t *filesystem_json(const struct fl_report_filesystem *filesystem)
{
	json_t *object = json_object(), *features = json_array();
	bool failed = false;

	for (size_t i = 0; i < filesystem->feature_count; i++)
		failed |= add(features, string(filesystem->features[i]));
	failed |= put(object, "block_bytes", whole(filesystem->block_bytes));
	failed |= put(object, "blocks", whole(filesystem->blocks));
	failed |= put(object, "used_blocks", whole(filesystem->used_blocks));
	failed |= put(object, "free_blocks", whole(filesystem->free_blocks));
	failed |= put(object, "features", features);
	return finish(object, failed);
}

static json_t *location_json(const struct fl_report_image *image)
{
	json_t *object = json_object();
	bool failed = false;

	failed |=
		put(object, "partition", image->partition ? whole(image->partition) : json_null());
	failed |= put(object, "offset_bytes", whole(image->offset_bytes));
	failed |= put(object, "size_bytes", whole(image->size_bytes));
	return finish(object, failed);
}

static bool put_images(json_t *root, const struct fl_report *report)
{
	json_t *images = json_array();
	bool failed = false;

	for (size_t i = 0; i < report->image_count; i++) {
		const struct fl_report_image *image = &report->images[i];
		json_t *object = json_object();

		failed |= put(object, "path", path_string(image->path));
		failed |= put(object, "location", location_json(image));
		failed |= put(object, "filesystem", filesystem_json(&image->filesystem));
		failed |= put_metrics(object, &image->metrics, image->filesystem.block_bytes);
		failed |= add(images, object);
	}
	failed |= put(root, "images", images);
	return failed;
}

static json_t *moves_json(const struct fl_report *report)
{
	json_t *object = json_object();
	bool failed = false;

	failed |= put(object, "extents", whole(report->moves.extents));
	failed |= put(object, "bytes", whole(report->moves.bytes));
	failed |= put(object, "batches", whole(report->moves.batches));
	failed |= put(object, "seconds", json_real(report->seconds));
	failed |= put(object, "flushes", whole(report->moves.flushes));
	failed |= put(object, "planned_bytes", whole(report->planned_bytes));
	failed |= put(object, "needed_bytes", whole(report->needed_bytes));
	failed |= put(object, "next_bytes", whole(report->next_bytes));
	failed |= put(object, "fenced", json_boolean(report->moves.fenced));
	return finish(object, failed);
}

static json_t *prediction_json(const struct fl_report *report)
{
	struct fl_deviation *list = fl_alloc(DEVIATIONS_LISTED, sizeof(*list));
	json_t *object = json_object(), *deviations = json_array();
	bool failed = !list, met = false;
	size_t count = 0;

	if (list)
		met = fl_metrics_equal(&report->predicted, &report->after, list, DEVIATIONS_LISTED,
				       &count);
	for (size_t i = 0; i < count && i < DEVIATIONS_LISTED; i++) {
		json_t *row = json_object();

		failed |= put(row, "metric", json_string(list[i].name));
		failed |= put(row, "predicted", json_string(list[i].expected));
		failed |= put(row, "after", json_string(list[i].found));
		failed |= add(deviations, row);
	}
	free(list);
	failed |= put(object, "met", json_boolean(met));
	failed |= put(object, "deviations", deviations);
	return finish(object, failed);
}

static json_t *missing_json(const struct fl_report *report)
{
	json_t *list = json_array();
	bool failed = false;

	for (size_t i = 0; i < report->missing_count; i++)
		failed |= add(list, path_string(report->missing[i]));
	return finish(list, failed);
}

static bool put_left(json_t *root, const struct fl_report *report)
{
	json_t *left = json_array();
	bool failed = false;

	for (size_t i = 0; i < report->left_count; i++) {
		json_t *row = json_object();

		failed |= put(row, "path", path_string(report->left[i].path));
		failed |= put(row, "fragments", whole(report->left[i].fragments));
		failed |= put(row, "reason", json_string(fl_report_reason(report->left[i].reason)));
		failed |= add(left, row);
	}
	failed |= put(root, "missing", missing_json(report));
	failed |= put(root, "left", left);
	failed |= put(root, "left_total", whole(report->left_total));
	return failed;
}

static json_t *curve_json(const struct fl_report *report)
{
	json_t *array = json_array();
	bool failed = false;

	for (size_t i = 0; i < FL_CURVE_POINTS; i++) {
		const struct fl_curve_point *point = &report->curve[i];
		json_t *object = json_object();

		failed |= put(object, "bytes", whole(point->bytes));
		failed |= put(object, "fragments", whole(point->fragments));
		failed |= put(object, "seeks", whole(point->seeks));
		failed |= put(object, "sequential_ratio", json_real(point->sequential_ratio));
		failed |= put(object, "free_extents", whole(point->free_extents));
		failed |= put(object, "largest_free_bytes", whole(point->largest_free_bytes));
		failed |= !array || json_array_append_new(array, object);
	}
	return finish(array, failed);
}

static bool put_run(json_t *root, const struct fl_report *report)
{
	uint32_t block_bytes = report->images[0].filesystem.block_bytes;
	bool failed = put(root, "before", metrics_json(&report->images[0].metrics, block_bytes));

	if (report->has_after)
		failed |= put(root, "after", metrics_json(&report->after, block_bytes));
	if (report->has_predicted)
		failed |= put(root, "predicted", metrics_json(&report->predicted, block_bytes));
	if (report->has_after && report->has_predicted)
		failed |= put(root, "prediction", prediction_json(report));
	failed |= put(root, "moves", moves_json(report));
	if (report->aims.count)
		failed |= put(root, "targets", fl_json_aims(report));
	if (report->has_curve)
		failed |= put(root, "curve", curve_json(report));
	failed |= put_left(root, report);
	return failed;
}

static json_t *report_json(const struct fl_report *report)
{
	json_t *root = json_object();
	bool frag = !strcmp(report->tool, "frag"), failed = false;

	failed |= put(root, "tool", string(report->tool));
	failed |= put(root, "version", string(report->version));
	failed |= put(root, "image", path_string(report->images[0].path));
	failed |= put(root, "seed",
		      report->seed > INT64_MAX ? json_sprintf("%" PRIu64, report->seed)
					       : whole(report->seed));
	failed |= put(root, "dry_run", json_boolean(report->dry_run));
	if (report->profile)
		failed |= put(root, frag ? "profile" : "mode", string(report->profile));
	if (report->profile && frag)
		failed |= put(root, "months", whole(report->months));
	failed |= put(root, "location", location_json(&report->images[0]));
	failed |= put(root, "filesystem", filesystem_json(&report->images[0].filesystem));
	failed |= report->analyze ? put_images(root, report) : put_run(root, report);
	if (report->captures.count)
		failed |= put(root, "captures", fl_json_captures(report));
	if (report->interleaved_count)
		failed |= put_interleaved(root, report);
	return finish(root, failed);
}

int fl_report_json(const struct fl_report *report, char **text)
{
	json_t *root;
	char *made, *grown;
	size_t length;

	if (!report->image_count)
		return FL_EINVAL;
	root = report_json(report);
	/* 15 digits are all that a double has for certain: 0.3 stays 0.3. */
	made = root ? json_dumps(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(root);
	if (!made)
		return FL_ENOMEM;
	length = strlen(made);
	grown = realloc(made, length + 2);
	if (!grown) {
		free(made);
		return FL_ENOMEM;
	}
	memcpy(grown + length, "\n", 2);
	*text = grown;
	return 0;
}
