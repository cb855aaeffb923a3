/* SPDX-License-Identifier: MIT */
/*
 * All metrics of a map. Only puts the parts together; each has its own file.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

static int compare_shapes(const struct fl_map *map, const struct fl_shape *like,
			  struct fl_metrics *metrics)
{
	struct fl_shape shape = {0};
	int error = fl_shape_of(map, &shape);

	if (!error) {
		metrics->like_files = fl_shape_files_distance(&shape, like);
		metrics->like_free = fl_shape_free_distance(&shape, like);
	}
	fl_shape_free(&shape);
	return error;
}

int fl_analyze(const struct fl_map *map, const struct fl_analyze_options *options,
	       struct fl_metrics *metrics)
{
	struct fl_runs slots = {0};
	struct fl_blamer *blamer = NULL;
	struct fl_metrics *result = NULL;
	int error;

	if (options->workload_count > FL_WORKLOADS)
		return FL_EINVAL;
	result = calloc(1, sizeof(*result));
	if (!result)
		return FL_ENOMEM;
	error = fl_map_slots(map, &slots);
	if (error)
		goto out;
	fl_runs_longest_first(&slots);

	error = fl_analyze_files(map, &slots, &result->files);
	if (error)
		goto out;
	fl_analyze_free(map, &slots, &result->free);
	if (!options->brief) {
		fl_legacy(map, &result->legacy);
		error = fl_blamer_new(map, &blamer);
		if (error)
			goto out;
	}
	for (size_t i = 0; i < options->workload_count; i++) {
		error = fl_analyze_io(map, options->workloads[i], options, blamer, &result->io[i]);
		if (error)
			goto out;
	}
	result->io_count = options->workload_count;
	if (options->like)
		error = compare_shapes(map, options->like, result);
	if (error)
		goto out;
	*metrics = *result;
out:
	fl_blamer_free(blamer);
	fl_array_free(&slots);
	free(result);
	return error;
}
