/* SPDX-License-Identifier: MIT */
/*
 * Aims: figures that a layout is wanted to have, how far from them still counts as met, and
 * what metrics come to. Pure.
 *
 * Values are integers, so that layouts made for them are the same on every machine: ratios and
 * the mean in millionths, counts and bytes as they are.
 */
#ifndef FRAGLAB_AIM_H
#define FRAGLAB_AIM_H

#include <fraglab/analyze.h>

enum fl_aim_key {
	FL_AIM_SEQUENTIAL,   /* ratio: sequential I/Os of the first workload */
	FL_AIM_FRAGMENTED,   /* ratio: files with more than one fragment, of all that count */
	FL_AIM_EXTENTS,	     /* mean: fragments of the files that have more than one */
	FL_AIM_LAYOUT_SCORE, /* ratio: see struct fl_file_metrics */
	FL_AIM_LARGEST_FREE, /* bytes */
	FL_AIM_FREE_EXTENTS, /* count */
	FL_AIM_LIKE_FILES,   /* ratio: distance of the files from those of another image, shape.h */
	FL_AIM_LIKE_FREE,    /* ratio: of the free extents */
	FL_AIM_KEYS
};

/* What a value counts. */
enum fl_aim_unit { FL_AIM_RATIO, FL_AIM_MEAN, FL_AIM_COUNT, FL_AIM_BYTES };

#define FL_AIM_ONE UINT64_C(1000000) /* of ratios and means */

struct fl_aim {
	enum fl_aim_key key;
	uint64_t wanted;
};

/* Each key at most once. Zero-initialise, free with fl_array_free. */
struct fl_aims {
	FL_ARRAY(struct fl_aim);
};

/* "sequential", "fragmented", "extents", "layout-score", "largest-free", "free-extents",
 * "like-files", "like-free". */
const char *fl_aim_name(enum fl_aim_key key);
enum fl_aim_unit fl_aim_unit(enum fl_aim_key key);

/*
 * "KEY=VALUE": a ratio as "15%", "12.5%" or "0.15"; the mean as "8" or "2.5", 2 at least; a count
 * and a size (fl_size_parse) above 0; no distances. FL_ESYNTAX with a text about the value or the
 * key.
 */
int fl_aim_parse(const char *text, struct fl_aim *aim, struct fl_diag *diag) FL_CHECKED;
/* NULL: nothing is wanted of this key. */
const struct fl_aim *fl_aims_find(const struct fl_aims *aims, enum fl_aim_key key);

/* What the metrics have. FL_AIM_SEQUENTIAL: of io[0]; 0 where there is no such. */
uint64_t fl_aim_value(enum fl_aim_key key, const struct fl_metrics *metrics);

/* How far a value may be from what is wanted: a point of a ratio, 0.05 of a distance, 5 % of all
 * others. */
uint64_t fl_aim_tolerance(const struct fl_aim *aim);
bool fl_aim_met(const struct fl_aim *aim, uint64_t value);
/* True when all are. */
bool fl_aims_met(const struct fl_aims *aims, const struct fl_metrics *metrics);

/* "15.0 %", "8.00", "0.600", "20,000", "4.00 MiB", as people read them. Returns text. */
#define FL_AIM_TEXT 32
const char *fl_aim_format(enum fl_aim_key key, uint64_t value, char text[FL_AIM_TEXT]);

#endif
