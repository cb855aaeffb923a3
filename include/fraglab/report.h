/* SPDX-License-Identifier: MIT */
/*
 * One result struct, several renderers, each to its own buffer: text for people,
 * JSON and CSV for programs. Renderers compute nothing and print nothing.
 */
#ifndef FRAGLAB_REPORT_H
#define FRAGLAB_REPORT_H

#include <fraglab/aim.h>
#include <fraglab/analyze.h>
#include <fraglab/move.h>

/* The features of a filesystem as the report shows them; owned by the report. */
struct fl_report_filesystem {
	uint32_t block_bytes;
	uint64_t blocks, used_blocks, free_blocks;
	char **features; /* feature_count names */
	size_t feature_count;
};

struct fl_report_image {
	char *path;	    /* as the user gave it */
	unsigned partition; /* its number; 0: none was chosen */
	bool placed;	    /* a partition or an offset was chosen; else the whole image */
	uint64_t offset_bytes, size_bytes; /* where in the image the filesystem may lie */
	struct fl_report_filesystem filesystem;
	struct fl_metrics metrics;
};

/* A file that is still fragmented beyond need, and why. */
enum fl_left_reason {
	FL_LEFT_PINNED,
	FL_LEFT_NO_ROOM,
	FL_LEFT_MODE,
	FL_LEFT_STOPPED,
	FL_LEFT_BUDGET
};

struct fl_left {
	char *path; /* escaped */
	uint64_t fragments;
	enum fl_left_reason reason;
};

/* Which I/Os a histogram of a capture counts. */
enum fl_capture_of { FL_CAPTURE_ALL, FL_CAPTURE_READS, FL_CAPTURE_WRITES, FL_CAPTURE_OFS };

struct fl_capture {
	struct fl_hist hist; /* sum is mean * count, as the mean is rounded */
	enum fl_capture_of of;
	int64_t world, handle; /* of the virtual machine and its disk */
};

/* Zero-initialise, free with fl_array_free. */
struct fl_captures {
	FL_ARRAY(struct fl_capture);
};

/* What moving so many bytes, of the first workload and the disk, would come to. */
struct fl_curve_point {
	uint64_t bytes; /* of data moved */
	uint64_t fragments, seeks;
	double sequential_ratio;
	uint64_t free_extents, largest_free_bytes;
};
#define FL_CURVE_POINTS 5

struct fl_report {
	const char *tool; /* "frag" or "defrag" */
	const char *version;
	uint64_t seed; /* 0 for defrag */
	bool analyze;  /* --analyze: images only, no before/after */
	bool dry_run;
	struct fl_report_image *images; /* one (the image), or all of --analyze */
	size_t image_count;		/* images[0].metrics is "before" */
	bool has_predicted, has_after;
	struct fl_metrics predicted, after;
	struct fl_move_result moves;
	uint64_t planned_bytes,
		needed_bytes; /* data bytes of the plan; that had to move at least */
	double seconds;	      /* of moving */
	/* When a budget is too small for anything: one that is enough, in whole KiB; else 0. */
	uint64_t next_bytes;
	/* Dry run of a program with budgets: from nothing moved to the whole plan. */
	struct fl_curve_point curve[FL_CURVE_POINTS];
	bool has_curve;
	struct fl_left *left; /* worst first, at most FL_LEFT_SHOWN */
	size_t left_count;
	uint64_t left_total; /* files, shown or not */
	char **missing;	     /* names of --order list that are not there, as given */
	size_t missing_count;
	struct fl_aims aims; /* frag: figures wanted */
	char *profile;	     /* frag: profile name; defrag: mode name; NULL: neither */
	uint32_t months;     /* frag */
	/* --capture: histograms of a real host, and the file's name (borrowed); none without it. */
	struct fl_captures captures;
	const char *capture_path;
	/* --interleave: a malloc'd entry a workload; none without it. */
	struct fl_interleaved *interleaved;
	size_t interleaved_count;
};
#define FL_LEFT_SHOWN 10

/* Frees what the report owns (not itself); NULL is legal. */
void fl_report_free(struct fl_report *report);

/*
 * The renderers need one image or more (FL_EINVAL), fail with FL_ENOMEM, and give a malloc'd
 * text that ends with a newline.
 */
/* For people: 80 columns, UTF-8 only in paths, no colour unless `colour`. */
int fl_report_text(const struct fl_report *report, bool colour, char **text) FL_CHECKED;
/*
 * One JSON document with a final newline. Keys are those of the README; more than those:
 *
 * - a histogram is {"edges":[..],"counts":[..],"count","min","max","mean"}: counts[i] counts
 *   values over edges[i-1] and up to edges[i]; there is one count more than edges, for values
 *   over the last edge. min, max and mean are 0 while count is 0. Latency, interarrival and
 *   outstanding I/Os are null while no disk model is chosen.
 * - io: disk, seconds (null without a disk model), and in histograms: interarrival_us, and reads
 *   and writes, which have all histograms but the windowed one.
 * - interleaved (with --interleave) [{"workload","alone","together","kept"}]: alone and together
 *   as the entries of io, of all guests one after the other and merged.
 * - captures (with --capture) [{"path","world","handle","histograms"}], one a disk; histograms as
 * in io, without those that the capture lacks.
 * - free.histogram has a row for each power of two from one block to the largest that is not
 *   empty: from_bytes included, to_bytes excluded.
 * - files: forced_fragments, worst_ratio, blocks, tree_blocks, pinned {reason: files}; free:
 *   largest_possible_bytes; moves: planned_bytes, needed_bytes, next_bytes, fenced; at the top:
 * dry_run, mode (defrag) or profile and months (frag), left [{path, fragments, reason}],
 * left_total.
 * - legacy, in M: scores of other tools (see legacy.h): e4defrag {files, extents, best_extents,
 *   score, worst [{path, inode, extents, best_extents, score}]}, e2fsck {non_contiguous_files,
 *   non_contiguous_directories, non_contiguous_percent}, e2freefrag {min_kib, max_kib, mean_kib,
 *   histogram as in free, without empty rows}, filefrag {files, extents}.
 * - blame, in each of io: {seeks, owned_seeks, files, worst [{path, inode, seeks, share}]}; seeks
 *   to what no file owns are in seeks only.
 * - location {"partition","offset_bytes","size_bytes"}: where in the image the filesystem may
 *   lie; partition is null unless --partition chose one. With --analyze in each image, too.
 * - curve (dry run of defrag without a budget) [{"bytes","fragments","seeks","sequential_ratio",
 *   "free_extents","largest_free_bytes"}]: what so many bytes moved come to; of the
 *   workload that reads in the order wanted, if it is analysed, else of the first.
 * - targets (with --target) [{"key","wanted","achieved","tolerance","met"}]: achieved after the
 *   run, else as predicted; shares 0..1, counts, bytes.
 * - prediction {"met","deviations":[{"metric","predicted","after"}]} when there are both.
 *
 * With --analyze "images" stands for before, after, predicted and moves; "image" and
 * "filesystem" are then the first one's. Whole numbers stay whole; a seed over 2^63 - 1, which
 * readers could not hold, is a string. Bytes of paths that are not UTF-8 become \xNN.
 */
int fl_report_json(const struct fl_report *report, char **text) FL_CHECKED;
/*
 * The histograms of the last state (after, else predicted, else the images), in vscsiStats' CSV
 * layout: for each image and workload the 16 that a capture has, under a handle ID that counts
 * from 0; interleaved streams follow as one disk more. Latency, outstanding I/Os and interarrival
 * times are empty without a disk model. The last row of a histogram repeats the last edge and
 * counts what is over it. The mean is rounded to a whole number.
 */
int fl_report_csv(const struct fl_report *report, char **text) FL_CHECKED;

/*
 * Reads what vscsiStats or fl_report_csv wrote, any number of histograms; text need not end with a
 * NUL. FL_ESYNTAX with the number of the line in diag: not that layout, a name or limit that
 * vscsiStats does not have, frequencies that do not add up. FL_ENOMEM. captures on success only.
 */
int fl_captures_parse(const char *text, size_t bytes, struct fl_captures *captures,
		      struct fl_diag *diag) FL_CHECKED;
/* Two histograms of one disk. */
bool fl_captures_same_disk(const struct fl_capture *a, const struct fl_capture *b);
/* None before this one is of its disk. */
bool fl_captures_first_of_disk(const struct fl_captures *captures, size_t index);

/*
 * A workload of a map as a fio iolog, version 2, of one device named FL_FIO_DEVICE, which begins
 * where the filesystem does; no such file
 * exists, so that nothing is overwritten before fio's --replay_redirect names a disk. Malloc'd.
 * FL_ENOMEM, and what fl_stream_run returns.
 */
#define FL_FIO_DEVICE "fraglab-disk"
int fl_report_fio_log(const struct fl_map *map, enum fl_workload workload,
		      const struct fl_stream_options *options, char **text) FL_CHECKED;

#endif
