/* SPDX-License-Identifier: MIT */
/*
 * Traces, line by line: the format, the words, the paths. Text from outside: every length is
 * bounded, nothing is taken for NUL-terminated.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int fl_trace_new(struct fl_trace **trace)
{
	struct fl_trace *made = calloc(1, sizeof(*made));

	if (!made)
		return FL_ENOMEM;
	*trace = made;
	return 0;
}

void fl_trace_free(struct fl_trace *trace)
{
	if (!trace)
		return;
	for (size_t i = 0; i < trace->paths.count; i++)
		free(trace->paths.at[i].text);
	fl_array_free(&trace->paths);
	fl_array_free(&trace->ios);
	fl_array_free(&trace->queued);
	free(trace->slots);
	free(trace);
}

size_t fl_trace_count(const struct fl_trace *trace)
{
	return trace->ios.count;
}

bool fl_trace_word_is(const struct trace_word *word, const char *text)
{
	return word->bytes == strlen(text) && !memcmp(word->text, text, word->bytes);
}

bool fl_trace_number(const struct trace_word *word, uint64_t *value)
{
	uint64_t number = 0;

	for (size_t i = 0; i < word->bytes; i++) {
		unsigned int digit = (unsigned int)(unsigned char)word->text[i] - '0';

		if (digit > 9 || number > (UINT64_MAX - digit) / 10)
			return false;
		number = number * 10 + digit;
	}
	*value = number;
	return word->bytes > 0;
}

int fl_trace_refuse(const struct fl_trace *trace, const char *why, struct fl_diag *diag)
{
	return fl_fail(diag, FL_ESYNTAX, "line %" PRIu32 ": %s", trace->line, why);
}

/* --- paths --- */

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const char *text, size_t bytes)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* The path's slot, or the empty one where it belongs. The table is never full. */
static uint32_t *slot_of(struct fl_trace *trace, const char *text, size_t bytes)
{
	size_t mask = trace->slot_count - 1, at = (size_t)hash_of(text, bytes) & mask;

	for (;; at = (at + 1) & mask) {
		const char *known;

		if (!trace->slots[at])
			return &trace->slots[at];
		known = trace->paths.at[trace->slots[at] - 1].text;
		if (strlen(known) == bytes && !memcmp(known, text, bytes))
			return &trace->slots[at];
	}
}

/* At most half of the slots are taken. */
static int make_room(struct fl_trace *trace)
{
	size_t count = trace->slot_count ? trace->slot_count * 2 : 64;
	uint32_t *slots;

	if (trace->paths.count + 1 <= trace->slot_count / 2)
		return 0;
	slots = calloc(count, sizeof(*slots));
	if (!slots || trace->paths.count >= TRACE_DEVICE - 1) {
		free(slots);
		return FL_ENOMEM;
	}
	free(trace->slots);
	trace->slots = slots;
	trace->slot_count = count;
	for (uint32_t i = 0; i < trace->paths.count; i++) {
		const char *text = trace->paths.at[i].text;

		*slot_of(trace, text, strlen(text)) = i + 1;
	}
	return 0;
}

int fl_trace_path(struct fl_trace *trace, const char *text, size_t bytes, uint32_t *path)
{
	struct trace_path made = {.line = trace->line};
	uint32_t *slot;

	if (make_room(trace))
		return FL_ENOMEM;
	slot = slot_of(trace, text, bytes);
	if (!*slot) {
		made.text = strndup(text, bytes);
		if (!made.text || fl_array_push(&trace->paths, made)) {
			free(made.text);
			return FL_ENOMEM;
		}
		*slot = (uint32_t)trace->paths.count;
	}
	*path = *slot - 1;
	return 0;
}

/* --- lines --- */

static void cut(const char *line, size_t bytes, struct trace_words *words)
{
	size_t at = 0;

	words->count = 0;
	while (words->count < TRACE_WORDS) {
		struct trace_word *word = &words->at[words->count];

		while (at < bytes && (line[at] == ' ' || line[at] == '\t'))
			at++;
		if (at == bytes)
			return;
		word->text = line + at;
		while (at < bytes && line[at] != ' ' && line[at] != '\t')
			at++;
		word->bytes = (size_t)(line + at - word->text);
		words->count++;
	}
}

/* The first line with anything in it. */
static int find_format(struct fl_trace *trace, const struct trace_words *words,
		       struct fl_diag *diag)
{
	const struct trace_word *word = words->at;

	if (words->count == 4 && fl_trace_word_is(&word[0], "fio") &&
	    fl_trace_word_is(&word[1], "version") && fl_trace_word_is(&word[3], "iolog")) {
		if (fl_trace_word_is(&word[2], "2"))
			trace->format = TRACE_FIO_2;
		else if (fl_trace_word_is(&word[2], "3"))
			trace->format = TRACE_FIO_3;
		else
			return fl_trace_refuse(trace, "this version of a fio iolog is not known",
					       diag);
		return 0;
	}
	trace->format = TRACE_BLKPARSE;
	return fl_trace_blkparse(trace, words, diag);
}

int fl_trace_line(struct fl_trace *trace, const char *line, size_t bytes, struct fl_diag *diag)
{
	struct trace_words words;

	if (trace->line == UINT32_MAX)
		return fl_trace_refuse(trace, "too many lines", diag);
	trace->line++;
	if (bytes && line[bytes - 1] == '\n')
		bytes--;
	if (bytes && line[bytes - 1] == '\r')
		bytes--;
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			return fl_trace_refuse(trace,
					       "not text; what blktrace writes must go through "
					       "blkparse first",
					       diag);
	cut(line, bytes, &words);
	if (!words.count)
		return 0;
	switch (trace->format) {
	case TRACE_UNKNOWN:
		return find_format(trace, &words, diag);
	case TRACE_FIO_2:
	case TRACE_FIO_3:
		return fl_trace_fio(trace, line, bytes, diag);
	case TRACE_BLKPARSE:
		return fl_trace_blkparse(trace, &words, diag);
	case TRACE_SUMMARY:
		break;
	}
	return 0;
}

int fl_trace_finish(struct fl_trace *trace, struct fl_diag *diag)
{
	/* Nothing was issued as far as the trace goes: stacked devices only see what is queued. */
	if (!trace->ios.count && trace->queued.count) {
		if (trace->queued_stranger) {
			trace->line = trace->queued_stranger;
			return fl_trace_refuse(trace, "an I/O of another device", diag);
		}
		for (size_t i = 0; i < trace->queued.count; i++)
			if (fl_array_push(&trace->ios, trace->queued.at[i]))
				return FL_ENOMEM;
	}
	fl_array_free(&trace->queued);
	trace->queued.at = NULL;
	if (!trace->ios.count)
		return fl_fail(diag, FL_ESYNTAX, "no read or write in it");
	return 0;
}

int fl_trace_parse(const char *text, size_t bytes, struct fl_trace **trace, struct fl_diag *diag)
{
	struct fl_trace *made;
	int error = fl_trace_new(&made);

	if (error)
		return error;
	while (bytes && !error) {
		const char *end = memchr(text, '\n', bytes);
		size_t line = end ? (size_t)(end - text) + 1 : bytes;

		error = fl_trace_line(made, text, line, diag);
		text += line;
		bytes -= line;
	}
	if (!error)
		error = fl_trace_finish(made, diag);
	if (error)
		fl_trace_free(made);
	else
		*trace = made;
	return error;
}
