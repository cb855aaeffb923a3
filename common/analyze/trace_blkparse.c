/* SPDX-License-Identifier: MIT */
/*
 * Events as blkparse prints them by default:
 * "MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + COUNT [PROCESS]".
 */
#include "trace.h"

#include <string.h>

enum column { DEVICE, CPU, SEQUENCE, SECONDS, PID, ACTION, RWBS, SECTOR, PLUS, COUNT };

static bool parse_pair(const struct trace_word *word, char between, uint64_t pair[2])
{
	const char *at = memchr(word->text, between, word->bytes);
	struct trace_word left = {word->text, 0}, right;

	if (!at)
		return false;
	left.bytes = (size_t)(at - word->text);
	right = (struct trace_word){at + 1, word->bytes - left.bytes - 1};
	return fl_trace_number(&left, &pair[0]) && fl_trace_number(&right, &pair[1]);
}

/* "CPU0 (8,0):" or "Total (8,0):" begins the statistics at the end. */
static bool is_summary(const struct trace_words *words)
{
	struct trace_word rest = words->at[0];
	uint64_t cpu;

	if (words->count < 2 || words->at[1].text[0] != '(')
		return false;
	if (fl_trace_word_is(&rest, "Total"))
		return true;
	if (rest.bytes <= 3 || memcmp(rest.text, "CPU", 3))
		return false;
	rest.text += 3;
	rest.bytes -= 3;
	return fl_trace_number(&rest, &cpu);
}

static bool is_event(const struct trace_words *words, uint64_t device[2])
{
	static const char *const actions[] = {"A", "B", "C", "D", "F", "G",  "I", "M", "P",
					      "Q", "R", "S", "T", "U", "UT", "W", "X", "m"};
	uint64_t pair[2], number;

	if (words->count <= ACTION || !parse_pair(&words->at[DEVICE], ',', device) ||
	    device[0] > UINT32_MAX || device[1] > UINT32_MAX ||
	    !fl_trace_number(&words->at[CPU], &number) ||
	    !fl_trace_number(&words->at[SEQUENCE], &number) ||
	    !parse_pair(&words->at[SECONDS], '.', pair) ||
	    !fl_trace_number(&words->at[PID], &number))
		return false;
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (fl_trace_word_is(&words->at[ACTION], actions[i]))
			return true;
	return false;
}

/* Data goes to or from the disk. An F before the operation is a flush, one after it is FUA. */
static bool is_transfer(const struct trace_word *rwbs, bool *write)
{
	size_t at = rwbs->bytes > 1 && rwbs->text[0] == 'F';

	*write = rwbs->text[at] == 'W';
	return *write || rwbs->text[at] == 'R';
}

int fl_trace_blkparse(struct fl_trace *trace, const struct trace_words *words, struct fl_diag *diag)
{
	const struct trace_word *word = words->at;
	struct trace_io io = {.path = TRACE_DEVICE, .line = trace->line};
	uint64_t device[2], sector, count;
	bool issued, first;
	uint32_t *known;

	if (is_summary(words)) {
		trace->format = TRACE_SUMMARY;
		return 0;
	}
	if (!is_event(words, device))
		return fl_trace_refuse(trace, "neither a fio iolog nor an event of blkparse", diag);
	issued = fl_trace_word_is(&word[ACTION], "D");
	if (!issued && !fl_trace_word_is(&word[ACTION], "Q"))
		return 0;
	if (words->count <= RWBS)
		return fl_trace_refuse(trace, "the event is cut off", diag);
	if (!is_transfer(&word[RWBS], &io.write))
		return 0;
	/* A command of its own: "R 96 (12 00 00 00 60 00) [smartctl]". */
	if (words->count > PLUS && word[PLUS].text[0] == '(')
		return 0;
	if (words->count <= COUNT || !fl_trace_number(&word[SECTOR], &sector) ||
	    !fl_trace_word_is(&word[PLUS], "+") || !fl_trace_number(&word[COUNT], &count))
		return fl_trace_refuse(trace, "no \"SECTOR + COUNT\" in the event", diag);
	if (count > TRACE_MAX_BYTES / FL_SECTOR_BYTES)
		return fl_trace_refuse(trace, "its length is 4 GiB or more", diag);
	if (sector > INT64_MAX / FL_SECTOR_BYTES - count)
		return fl_trace_refuse(trace, "its sector is too large", diag);
	if (!count)
		return 0;
	io.start = sector * FL_SECTOR_BYTES;
	io.bytes = (uint32_t)count * FL_SECTOR_BYTES;

	first = issued ? !trace->ios.count : !trace->queued.count;
	known = issued ? trace->device : trace->queued_device;
	if (first) {
		known[0] = (uint32_t)device[0];
		known[1] = (uint32_t)device[1];
	} else if (known[0] != device[0] || known[1] != device[1]) {
		if (issued)
			return fl_trace_refuse(trace, "an I/O of another device", diag);
		/* Only counts if nothing was issued at all. */
		if (!trace->queued_stranger)
			trace->queued_stranger = trace->line;
		return 0;
	}
	return issued ? fl_array_push(&trace->ios, io) : fl_array_push(&trace->queued, io);
}
