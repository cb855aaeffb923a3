/* SPDX-License-Identifier: MIT */
/*
 * Reads histograms in vscsiStats' CSV layout: captures from real hosts, and ours. Text from
 * outside: every line and number is bounded, and what does not add up is refused.
 */
#include "parts.h"

#include <inttypes.h>
#include <string.h>

/* What is not read yet, and the line at hand. */
struct reader {
	const char *text;
	size_t bytes;
	const char *line; /* not NUL-terminated; without its end */
	size_t length;
	size_t number;
	struct fl_diag *diag;
};

static int refuse(const struct reader *reader, const char *why)
{
	return fl_fail(reader->diag, FL_ESYNTAX, "line %zu: %s", reader->number, why);
}

/* The next line with anything in it. False: the end. */
static bool next_line(struct reader *reader)
{
	while (reader->bytes) {
		const char *end = memchr(reader->text, '\n', reader->bytes);
		size_t length = end ? (size_t)(end - reader->text) : reader->bytes;
		size_t taken = length + (end != NULL);

		reader->line = reader->text;
		reader->length = length;
		reader->text += taken;
		reader->bytes -= taken;
		reader->number++;
		while (reader->length && strchr(" \t\r", reader->line[reader->length - 1]))
			reader->length--;
		if (reader->length)
			return true;
	}
	return false;
}

/* Takes the text off the front of the line. False: something else stands there. */
static bool take(struct reader *reader, const char *text)
{
	size_t length = strlen(text);

	if (reader->length < length || memcmp(reader->line, text, length))
		return false;
	reader->line += length;
	reader->length -= length;
	return true;
}

/* Takes a whole number off the front. False: none, or more than 64 bits. */
static bool take_number(struct reader *reader, int64_t *value)
{
	bool negative = take(reader, "-");
	const uint64_t most = (uint64_t)INT64_MAX + negative;
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < reader->length; i++) {
		unsigned int digit = (unsigned int)(unsigned char)reader->line[i] - '0';

		if (digit > 9)
			break;
		if (number > (most - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	reader->line += i;
	reader->length -= i;
	*value = negative ? (int64_t)(0 - number) : (int64_t)number;
	return i > 0;
}

/* Looks for the text in the line and takes what is before it, and it, off. */
static bool take_up_to(struct reader *reader, const char *text)
{
	const char *found = memmem(reader->line, reader->length, text, strlen(text));

	if (!found)
		return false;
	reader->length -= (size_t)(found - reader->line) + strlen(text);
	reader->line = found + strlen(text);
	while (reader->length && strchr(" ,:", reader->line[0])) {
		reader->line++;
		reader->length--;
	}
	return true;
}

/* "Histogram: NAME,virtual machine worldGroupID,N,virtual disk handleID,N (scsi0:0)" */
static int read_title(struct reader *reader, struct fl_capture *capture)
{
	static const char after_name[] = ",virtual machine worldGroupID";
	bool found = false;

	if (!take(reader, "Histogram: "))
		return refuse(reader, "no histogram begins here");
	for (unsigned int kind = 0; kind < FL_HIST_KINDS && !found; kind++) {
		for (unsigned int of = 0; of < FL_CAPTURE_OFS && !found; of++) {
			const char *name =
				fl_report_csv_name((enum fl_hist_kind)kind, (enum fl_capture_of)of);
			struct reader rest = *reader;

			if (!name || !take(&rest, name) || !take(&rest, after_name))
				continue;
			found = true;
			fl_hist_init(&capture->hist, (enum fl_hist_kind)kind);
			capture->of = (enum fl_capture_of)of;
		}
	}
	if (!found)
		return refuse(reader, "a histogram of an unknown name");
	if (!take_up_to(reader, after_name) || !take_number(reader, &capture->world) ||
	    !take_up_to(reader, ",virtual disk handleID") || !take_number(reader, &capture->handle))
		return refuse(reader, "no virtual machine and disk after the name");
	return 0;
}

/* "min,N": a line of this name. */
static int read_value(struct reader *reader, const char *name, int64_t *value)
{
	if (!next_line(reader) || !take(reader, name) || !take(reader, ",") ||
	    !take_number(reader, value) || reader->length)
		return fl_fail(reader->diag, FL_ESYNTAX, "line %zu: no line \"%s,NUMBER\"",
			       reader->number, name);
	return 0;
}

static int read_buckets(struct reader *reader, struct fl_hist *hist)
{
	size_t buckets;
	const int64_t *edges = fl_hist_edges(hist->kind, &buckets);
	uint64_t sum = 0;

	if (!next_line(reader) || !take(reader, "Frequency,Histogram Bucket Limit") ||
	    reader->length)
		return refuse(reader, "no line \"Frequency,Histogram Bucket Limit\"");
	for (size_t i = 0; i < buckets; i++) {
		int64_t frequency, edge;

		if (!next_line(reader) || !take_number(reader, &frequency) || frequency < 0 ||
		    !take(reader, ","))
			return refuse(reader, "no line \"FREQUENCY,LIMIT\"");
		(void)take(reader, ">");
		(void)take(reader, " ");
		if (!take_number(reader, &edge) || reader->length)
			return refuse(reader, "no line \"FREQUENCY,LIMIT\"");
		/* The last one repeats the edge before it: "greater than". */
		if (edge != edges[i + 1 < buckets ? i : i - 1])
			return refuse(reader, "a limit that this histogram does not have");
		hist->buckets[i] = (uint64_t)frequency;
		sum += (uint64_t)frequency;
		if (sum > INT64_MAX)
			return refuse(reader, "the frequencies are too large");
	}
	if (sum != hist->count)
		return refuse(reader, "the frequencies do not add up to the count");
	return 0;
}

static int read_capture(struct reader *reader, struct fl_capture *capture)
{
	int64_t min, max, mean, count;
	int error = read_title(reader, capture);

	if (!error)
		error = read_value(reader, "min", &min);
	if (!error)
		error = read_value(reader, "max", &max);
	if (!error)
		error = read_value(reader, "mean", &mean);
	if (!error)
		error = read_value(reader, "count", &count);
	if (error)
		return error;
	if (count < 0 || (count && min > max))
		return refuse(reader, "count, min and max contradict each other");
	capture->hist.count = (uint64_t)count;
	/* An empty one is shown with whatever limits the host's integers have. */
	if (count) {
		capture->hist.min = min;
		capture->hist.max = max;
		capture->hist.sum = (double)mean * (double)count;
	}
	return read_buckets(reader, &capture->hist);
}

int fl_captures_parse(const char *text, size_t bytes, struct fl_captures *captures,
		      struct fl_diag *diag)
{
	struct reader reader = {.text = text, .bytes = bytes, .diag = diag};
	struct fl_captures made = {0};
	int error = 0;

	while (!error && next_line(&reader)) {
		struct fl_capture capture = {0};

		error = read_capture(&reader, &capture);
		if (!error)
			error = fl_array_push(&made, capture);
	}
	if (!error && !made.count)
		error = fl_fail(diag, FL_ESYNTAX, "no histogram in it");
	if (error)
		fl_array_free(&made);
	else
		*captures = made;
	return error;
}

bool fl_captures_same_disk(const struct fl_capture *a, const struct fl_capture *b)
{
	return a->world == b->world && a->handle == b->handle;
}

bool fl_captures_first_of_disk(const struct fl_captures *captures, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (fl_captures_same_disk(&captures->at[i], &captures->at[index]))
			return false;
	return true;
}
