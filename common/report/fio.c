/* SPDX-License-Identifier: MIT */
/*
 * A stream as a fio iolog, so that it can be replayed on a real disk. Whole numbers only.
 */
#include "parts.h"

#include <inttypes.h>
#include <stdlib.h>

static int print_io(void *context, const struct fl_io *io)
{
	FILE *out = context;

	fprintf(out, FL_FIO_DEVICE " %s %" PRIu64 " %" PRIu64 "\n", io->write ? "write" : "read",
		io->lbn * FL_SECTOR_BYTES, (uint64_t)io->sectors * FL_SECTOR_BYTES);
	return ferror(out) ? FL_ENOMEM : 0;
}

int fl_report_fio_log(const struct fl_map *map, enum fl_workload workload,
		      const struct fl_stream_options *options, char **text)
{
	char *made = NULL;
	size_t size;
	FILE *out = open_memstream(&made, &size);
	int error;

	if (!out)
		return FL_ENOMEM;
	fprintf(out, "fio version 2 iolog\n" FL_FIO_DEVICE " add\n" FL_FIO_DEVICE " open\n");
	error = fl_stream_run(map, workload, options, print_io, out);
	fprintf(out, FL_FIO_DEVICE " close\n");
	if (ferror(out) && !error)
		error = FL_ENOMEM;
	if (fclose(out) && !error)
		error = FL_ENOMEM;
	if (error)
		free(made);
	else
		*text = made;
	return error;
}
