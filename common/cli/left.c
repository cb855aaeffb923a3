/* SPDX-License-Identifier: MIT */
/*
 * Which files are still fragmented beyond need after a run, and why. Only looks.
 */
#include "common/cli/run.h"

#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

struct candidate {
	uint32_t file;
	uint64_t fragments;
};

struct candidates {
	FL_ARRAY(struct candidate);
};

/* Worst first; files alike in inode order, so that the report is the same everywhere. */
static int by_fragments_descending(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	int order = fl_compare(right->fragments, left->fragments);

	return order ? order : fl_compare(left->file, right->file);
}

/* The files with more fragments than the slots of the disk force on them, worst first. */
static int find_candidates(const struct fl_map *map, struct candidates *found)
{
	struct fl_runs slots = {0};
	uint32_t i;
	int error;

	error = fl_map_slots(map, &slots);
	if (error)
		goto out;
	fl_runs_longest_first(&slots);
	for (i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];
		struct candidate candidate = {.file = i};

		if (!fl_file_counted(file))
			continue;
		candidate.fragments = fl_file_fragments(map, file);
		if (candidate.fragments < 2 ||
		    candidate.fragments <=
			    fl_fragments_forced(fl_file_room(map, file), slots.at, slots.count))
			continue;
		error = fl_array_push(found, candidate);
		if (error)
			goto out;
	}
	if (found->count)
		qsort(found->at, found->count, sizeof(*found->at), by_fragments_descending);
out:
	fl_array_free(&slots);
	return error;
}

static enum fl_left_reason reason_of(const struct run *run, const struct fl_map *map, uint32_t file)
{
	if (run->program->leaves(run->program->settings, map, file))
		return FL_LEFT_MODE;
	if (run->stopped)
		return FL_LEFT_STOPPED;
	return run->out_of_time || (run->program->budget && run->program->budget->bytes)
		       ? FL_LEFT_BUDGET
		       : FL_LEFT_NO_ROOM;
}

int fl_run_find_left(struct run *run, const struct fl_map *map, bool *beyond)
{
	struct candidates found = {0};
	struct fl_report *report = &run->report;
	char path[PATH_BYTES];
	size_t i;
	int error;

	*beyond = false;
	if (!run->program->leaves)
		return 0;
	error = find_candidates(map, &found);
	if (error)
		goto out;
	report->left_total = found.count;
	report->left = fl_alloc(FL_LEFT_SHOWN, sizeof(*report->left));
	if (!report->left) {
		error = FL_ENOMEM;
		goto out;
	}
	for (i = 0; i < found.count; i++) {
		const struct candidate *candidate = &found.at[i];
		struct fl_left left = {.fragments = candidate->fragments};

		left.reason = reason_of(run, map, candidate->file);
		*beyond |= left.reason == FL_LEFT_NO_ROOM || left.reason == FL_LEFT_BUDGET;
		if (i >= FL_LEFT_SHOWN)
			continue;
		left.path = strdup(fl_map_path(map, map->files.at[candidate->file].name, true, path,
					       sizeof(path)));
		if (!left.path) {
			error = FL_ENOMEM;
			goto out;
		}
		report->left[report->left_count++] = left;
	}
out:
	fl_array_free(&found);
	return error;
}
