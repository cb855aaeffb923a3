/* SPDX-License-Identifier: MIT */
/*
 * How far two images are from each other in how they are fragmented:
 *
 *   layouts ONE OTHER
 *
 * Kolmogorov-Smirnov distances of the fragments a file, of the lengths of fragments and of those
 * of free extents, and the difference of the layout scores; of the regular files. One line:
 * "fragments-a-file D fragment-length D free-extent-length D layout-score D", then the two scores,
 * the fragments of each and the free extents of each.
 */
#include <fraglab/scan.h>
#include <fraglab/shape.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct layout {
	struct fl_numbers files; /* fragments of each */
	struct fl_numbers fragments, free;
	uint64_t blocks, followers; /* blocks that could, and do, follow the one before */
};

static int keep(struct fl_numbers *lengths, uint64_t value)
{
	return fl_array_push(lengths, value);
}

static int take_file(struct layout *layout, const struct fl_map *map, const struct fl_file *file)
{
	const struct fl_extent *extents = map->extents.at + file->first_extent;
	uint64_t count = 0;
	int error = 0;

	for (size_t i = 0; i < file->extent_count && !error;) {
		uint64_t length = 0;
		fl_pblk end = extents[i].pblk;

		for (; i < file->extent_count && extents[i].pblk == end; i++) {
			length += extents[i].len;
			end = fl_extent_pend(&extents[i]);
		}
		count++;
		error = keep(&layout->fragments, length);
	}
	layout->blocks += file->blocks - 1;
	layout->followers += file->blocks - count;
	return error ? error : keep(&layout->files, count);
}

static int read_layout(const char *path, struct layout *layout, struct fl_diag *diag)
{
	struct fl_device *device = NULL;
	struct fl_fs *fs = NULL;
	struct fl_map *map = NULL;
	int error = fl_device_file_open(path, FL_DEVICE_READ, &device, diag);

	if (!error)
		error = fl_fs_open(device, FL_FS_ANALYZE, &fs, diag);
	if (!error)
		error = fl_scan(fs, NULL, NULL, &map, diag);
	for (size_t i = 0; !error && i < map->files.count; i++)
		if (map->files.at[i].kind == FL_KIND_REGULAR && map->files.at[i].blocks)
			error = take_file(layout, map, &map->files.at[i]);
	for (size_t i = 0; !error && i < map->free.count; i++)
		error = keep(&layout->free, map->free.at[i].len);
	fl_map_free(map);
	fl_fs_close(fs);
	fl_device_close(device);
	return error;
}

static double distance(struct fl_numbers *one, struct fl_numbers *other)
{
	if (!one->count || !other->count)
		return one->count != other->count;
	fl_numbers_sort(one);
	fl_numbers_sort(other);
	return (double)fl_numbers_distance(one, other) / 1e6;
}

static double score(const struct layout *layout)
{
	return layout->blocks ? (double)layout->followers / (double)layout->blocks : 1;
}

int main(int argc, char **argv)
{
	struct layout layouts[2] = {{.blocks = 0}, {.blocks = 0}};
	struct fl_diag diag = {{0}};

	if (argc != 3)
		return 2;
	for (int i = 0; i < 2; i++)
		if (read_layout(argv[i + 1], &layouts[i], &diag)) {
			(void)fprintf(stderr, "layouts: %s: %s\n", argv[i + 1], diag.text);
			return 1;
		}
	printf("fragments-a-file %.3f fragment-length %.3f free-extent-length %.3f layout-score "
	       "%.3f scores %.3f %.3f fragments %zu %zu free %zu %zu\n",
	       distance(&layouts[0].files, &layouts[1].files),
	       distance(&layouts[0].fragments, &layouts[1].fragments),
	       distance(&layouts[0].free, &layouts[1].free),
	       fabs(score(&layouts[0]) - score(&layouts[1])), score(&layouts[0]),
	       score(&layouts[1]), layouts[0].fragments.count, layouts[1].fragments.count,
	       layouts[0].free.count, layouts[1].free.count);
	for (int i = 0; i < 2; i++) {
		fl_array_free(&layouts[i].files);
		fl_array_free(&layouts[i].fragments);
		fl_array_free(&layouts[i].free);
	}
	return 0;
}
