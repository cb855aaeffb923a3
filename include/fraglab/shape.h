/* SPDX-License-Identifier: MIT */
/*
 * The shape of a layout: in how many fragments files of each size are, and how long free extents
 * are. For laying out one image like another. Pure.
 */
#ifndef FRAGLAB_SHAPE_H
#define FRAGLAB_SHAPE_H

#include <fraglab/map.h>

/* Sizes from 2^i to 2^(i+1) - 1 bytes of data blocks; the last: all beyond. */
#define FL_SHAPE_CLASSES 48

/* Numbers in ascending order. */
struct fl_numbers {
	FL_ARRAY(uint64_t);
};

struct fl_shape {
	struct fl_numbers fragments[FL_SHAPE_CLASSES]; /* of each file that counts, by its size */
	struct fl_numbers free_bytes;		       /* of each free extent */
	uint64_t all_free_bytes;
};

/* From a map in blocks, into shape (zero-initialised). FL_ENOMEM. */
int fl_shape_of(const struct fl_map *map, struct fl_shape *shape) FL_CHECKED;
void fl_shape_free(struct fl_shape *shape);

size_t fl_shape_class(uint64_t bytes);
/* The fragments of files of a class; where there are none, those of the nearest class. */
const struct fl_numbers *fl_shape_fragments(const struct fl_shape *shape, size_t class);
void fl_numbers_sort(struct fl_numbers *numbers);
/*
 * The largest difference of the two distribution functions (Kolmogorov and Smirnov), in millionths;
 * 0 where one of the two has none.
 */
uint64_t fl_numbers_distance(const struct fl_numbers *a, const struct fl_numbers *b);
/* The number at index i when the numbers are stretched to so many; there is one or more. */
uint64_t fl_numbers_quantile(const struct fl_numbers *numbers, uint64_t i, uint64_t count);

/*
 * How far one shape is from another that is wanted, as fl_numbers_distance. Of files: the mean over
 * those of the first shape, each with the distance of its class.
 */
uint64_t fl_shape_files_distance(const struct fl_shape *shape, const struct fl_shape *wanted);
uint64_t fl_shape_free_distance(const struct fl_shape *shape, const struct fl_shape *wanted);

#endif
