/* SPDX-License-Identifier: MIT */
/*
 * Lines of a fio iolog: "NAME ACTION" or "NAME ACTION OFFSET LENGTH", in version 3 after a time.
 * Names may contain blanks, so a line is read from its end.
 */
#include "trace.h"

#include <string.h>

/* Takes the last word off the line. False: there is none. */
static bool take_last(const char *line, size_t *bytes, struct trace_word *word)
{
	size_t end = *bytes, start;

	while (end && (line[end - 1] == ' ' || line[end - 1] == '\t'))
		end--;
	start = end;
	while (start && line[start - 1] != ' ' && line[start - 1] != '\t')
		start--;
	word->text = line + start;
	word->bytes = end - start;
	*bytes = start;
	return end > start;
}

static bool is_one_of(const struct trace_word *word, const char *const *list)
{
	for (; *list; list++)
		if (fl_trace_word_is(word, *list))
			return true;
	return false;
}

/* The time that begins a line of version 3. False: it has none. */
static bool skip_time(const char **line, size_t *bytes)
{
	struct trace_word word = {.text = *line};
	uint64_t time;

	while (word.bytes < *bytes && word.text[word.bytes] != ' ' && word.text[word.bytes] != '\t')
		word.bytes++;
	if (!fl_trace_number(&word, &time))
		return false;
	*line += word.bytes;
	*bytes -= word.bytes;
	return true;
}

static void trim(const char **line, size_t *bytes)
{
	while (*bytes && (**line == ' ' || **line == '\t')) {
		(*line)++;
		(*bytes)--;
	}
	while (*bytes && ((*line)[*bytes - 1] == ' ' || (*line)[*bytes - 1] == '\t'))
		(*bytes)--;
}

static int add(struct fl_trace *trace, const struct trace_word *name, bool write, uint64_t offset,
	       uint64_t length, struct fl_diag *diag)
{
	struct trace_io io = {.start = offset, .line = trace->line, .write = write};

	if (!length || length > TRACE_MAX_BYTES)
		return fl_trace_refuse(trace, "its length is 0 or 4 GiB and more", diag);
	if (offset > INT64_MAX - length)
		return fl_trace_refuse(trace, "its offset is too large", diag);
	io.bytes = (uint32_t)length;
	io.path = TRACE_DEVICE;
	if ((name->bytes < 5 || memcmp(name->text, "/dev/", 5)) &&
	    fl_trace_path(trace, name->text, name->bytes, &io.path))
		return FL_ENOMEM;
	return fl_array_push(&trace->ios, io);
}

int fl_trace_fio(struct fl_trace *trace, const char *line, size_t bytes, struct fl_diag *diag)
{
	static const char *const file_actions[] = {"add",  "open",     "close",
						   "sync", "datasync", NULL};
	static const char *const other_actions[] = {"wait", "sync", "datasync", "trim", NULL};
	struct trace_word last, before, action;
	uint64_t offset, length;
	bool write;

	trim(&line, &bytes);
	if (trace->format == TRACE_FIO_3) {
		if (!skip_time(&line, &bytes))
			return fl_trace_refuse(trace, "no time before the name", diag);
		trim(&line, &bytes);
	}
	if (!take_last(line, &bytes, &last))
		return fl_trace_refuse(trace, "not a line of a fio iolog", diag);
	if (is_one_of(&last, file_actions)) {
		trim(&line, &bytes);
		return bytes ? 0 : fl_trace_refuse(trace, "no name before the action", diag);
	}
	if (!take_last(line, &bytes, &before) || !take_last(line, &bytes, &action) ||
	    !fl_trace_number(&last, &length) || !fl_trace_number(&before, &offset))
		return fl_trace_refuse(trace, "not a line of a fio iolog", diag);
	trim(&line, &bytes);
	if (!bytes)
		return fl_trace_refuse(trace, "no name before the action", diag);
	if (is_one_of(&action, other_actions))
		return 0;
	write = fl_trace_word_is(&action, "write");
	if (!write && !fl_trace_word_is(&action, "read"))
		return fl_trace_refuse(trace, "no such action", diag);
	return add(trace, &(struct trace_word){line, bytes}, write, offset, length, diag);
}
