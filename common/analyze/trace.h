/* SPDX-License-Identifier: MIT */
/*
 * What the parsers of traces share. Private to common/analyze.
 */
#ifndef FRAGLAB_ANALYZE_TRACE_H
#define FRAGLAB_ANALYZE_TRACE_H

#include <fraglab/trace.h>

enum trace_format { TRACE_UNKNOWN, TRACE_FIO_2, TRACE_FIO_3, TRACE_BLKPARSE, TRACE_SUMMARY };

/* The largest I/O that a line may ask for: fio keeps lengths in 32 bits. */
#define TRACE_MAX_BYTES UINT32_MAX
/* A block device in place of a file. */
#define TRACE_DEVICE UINT32_MAX

struct trace_io {
	uint64_t start; /* bytes; start + bytes fits int64_t */
	uint32_t bytes; /* > 0 */
	uint32_t path;	/* index into paths, or TRACE_DEVICE */
	uint32_t line;
	bool write;
};

struct trace_path {
	char *text;
	uint32_t line; /* that names it first */
};

struct fl_trace {
	enum trace_format format;
	uint32_t line; /* the number of the line at hand */
	FL_ARRAY(struct trace_io) ios;
	FL_ARRAY(struct trace_path) paths;
	uint32_t *slots; /* hash table of paths: index + 1, 0 is empty; slot_count a power of 2 */
	size_t slot_count;
	/* blkparse: queued I/Os, until it is known whether any was issued; device of the first. */
	FL_ARRAY(struct trace_io) queued;
	uint32_t device[2], queued_device[2]; /* major, minor */
	uint32_t queued_stranger;	      /* line of a queued I/O of another device; 0: none */
};

/* A line, cut into words at blanks and tabs; borrowed, not NUL-terminated. */
#define TRACE_WORDS 16
struct trace_word {
	const char *text;
	size_t bytes;
};
struct trace_words {
	struct trace_word at[TRACE_WORDS];
	size_t count; /* at most TRACE_WORDS; the rest of the line is then not cut */
};

bool fl_trace_word_is(const struct trace_word *word, const char *text);
/* A decimal number and nothing else. */
bool fl_trace_number(const struct trace_word *word, uint64_t *value);
/* FL_ESYNTAX, "line N: why". */
int fl_trace_refuse(const struct fl_trace *trace, const char *why, struct fl_diag *diag);
/* Index of the path, which becomes known by it. FL_ENOMEM. */
int fl_trace_path(struct fl_trace *trace, const char *text, size_t bytes,
		  uint32_t *path) FL_CHECKED;

/* One line after the header; bytes > 0. */
int fl_trace_fio(struct fl_trace *trace, const char *line, size_t bytes,
		 struct fl_diag *diag) FL_CHECKED;
int fl_trace_blkparse(struct fl_trace *trace, const struct trace_words *words,
		      struct fl_diag *diag) FL_CHECKED;

#endif
