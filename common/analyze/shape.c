/* SPDX-License-Identifier: MIT */
/*
 * Distributions of a layout, and how far two are apart. Must not lay anything out.
 */
#include <fraglab/shape.h>

#include <stdlib.h>

#define ONE UINT64_C(1000000)

static int compare_numbers(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return fl_compare(left, right);
}

void fl_numbers_sort(struct fl_numbers *numbers)
{
	if (numbers->count)
		qsort(numbers->at, numbers->count, sizeof(*numbers->at), compare_numbers);
}

size_t fl_shape_class(uint64_t bytes)
{
	size_t class = 0;

	while (bytes >>= 1)
		class ++;
	return class < FL_SHAPE_CLASSES ? class : FL_SHAPE_CLASSES - 1;
}

int fl_shape_of(const struct fl_map *map, struct fl_shape *shape)
{
	const uint64_t block_bytes = map->geo.block_bytes;

	for (size_t i = 0; i < map->files.count; i++) {
		const struct fl_file *file = &map->files.at[i];
		size_t class = fl_shape_class(file->blocks * block_bytes);

		if (fl_file_counted(file) && file->blocks &&
		    fl_array_push(&shape->fragments[class], fl_file_fragments(map, file)))
			return FL_ENOMEM;
	}
	for (size_t i = 0; i < map->free.count; i++)
		if (fl_array_push(&shape->free_bytes, map->free.at[i].len * block_bytes))
			return FL_ENOMEM;
	for (size_t i = 0; i < FL_SHAPE_CLASSES; i++)
		fl_numbers_sort(&shape->fragments[i]);
	fl_numbers_sort(&shape->free_bytes);
	shape->all_free_bytes = map->free_blocks * block_bytes;
	return 0;
}

void fl_shape_free(struct fl_shape *shape)
{
	for (size_t i = 0; i < FL_SHAPE_CLASSES; i++)
		fl_array_free(&shape->fragments[i]);
	fl_array_free(&shape->free_bytes);
}

const struct fl_numbers *fl_shape_fragments(const struct fl_shape *shape, size_t class)
{
	for (size_t away = 0; away < FL_SHAPE_CLASSES; away++) {
		if (away <= class && shape->fragments[class - away].count)
			return &shape->fragments[class - away];
		if (class + away < FL_SHAPE_CLASSES && shape->fragments[class + away].count)
			return &shape->fragments[class + away];
	}
	return &shape->fragments[class];
}

uint64_t fl_numbers_quantile(const struct fl_numbers *numbers, uint64_t i, uint64_t count)
{
	/* The middle of step i, (2 i + 1) / (2 count) of the way, in parts that do not overflow. */
	const uint64_t twice = 2 * count, at = 2 * i + 1;
	uint64_t index = numbers->count / twice * at + numbers->count % twice * at / twice;

	return numbers->at[fl_min(index, numbers->count - 1)];
}

uint64_t fl_numbers_distance(const struct fl_numbers *a, const struct fl_numbers *b)
{
	uint64_t largest = 0;

	for (size_t i = 0, k = 0; i < a->count && k < b->count;) {
		const uint64_t value = a->at[i] < b->at[k] ? a->at[i] : b->at[k];
		uint64_t left, right;

		while (i < a->count && a->at[i] == value)
			i++;
		while (k < b->count && b->at[k] == value)
			k++;
		left = i * ONE / a->count;
		right = k * ONE / b->count;
		largest = fl_max(largest, left > right ? left - right : right - left);
	}
	return largest;
}

uint64_t fl_shape_files_distance(const struct fl_shape *shape, const struct fl_shape *wanted)
{
	uint64_t sum = 0, files = 0;

	for (size_t i = 0; i < FL_SHAPE_CLASSES; i++) {
		const struct fl_numbers *own = &shape->fragments[i];

		sum += fl_numbers_distance(own, fl_shape_fragments(wanted, i)) * own->count;
		files += own->count;
	}
	return files ? sum / files : 0;
}

uint64_t fl_shape_free_distance(const struct fl_shape *shape, const struct fl_shape *wanted)
{
	return fl_numbers_distance(&shape->free_bytes, &wanted->free_bytes);
}
