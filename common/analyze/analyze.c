/* SPDX-License-Identifier: MIT */
/*
 * All metrics of a map. Only puts the parts together; each has its own file.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

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

	fl_analyze_files(map, &slots, &result->files);
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
	*metrics = *result;
out:
	fl_blamer_free(blamer);
	fl_array_free(&slots);
	free(result);
	return error;
}
