/* SPDX-License-Identifier: MIT */
/*
 * Where in the image the filesystem is: the whole, a partition, or from some byte on. Chooses
 * nothing by itself: where there is a choice it shows it.
 */
#include "common/cli/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* s_magic of an ext2/3/4 superblock. */
#define SUPER_MAGIC_AT (1024 + 56)

/* An ext2/3/4 filesystem seems to begin with the image. */
static int begins_with_ext(struct run *run, bool *ext)
{
	unsigned char magic[2];
	int error;

	*ext = false;
	if (run->device->size_bytes < SUPER_MAGIC_AT + sizeof(magic))
		return 0;
	error = fl_device_read(run->device, magic, sizeof(magic), SUPER_MAGIC_AT);
	if (!error)
		*ext = magic[0] == 0x53 && magic[1] == 0xef;
	return error;
}

void fl_run_list_partitions(const struct run *run)
{
	char size[FL_SIZE_TEXT], advice[32];
	size_t i;

	for (i = 0; i < run->partitions.all.count; i++) {
		const struct fl_partition *partition = &run->partitions.all.at[i];

		advice[0] = '\0';
		if (partition->ext)
			(void)snprintf(advice, sizeof(advice), ": use -P %u", partition->number);
		fl_message(run->program->name, run->image,
			   "partition %u: from byte %" PRIu64 ", %s, type %s, %s%s",
			   partition->number, partition->start_bytes,
			   fl_size_format(partition->size_bytes, size), partition->type,
			   partition->extended	 ? "holds the logical ones"
			   : partition->holds[0] ? partition->holds
						 : "content unknown",
			   advice);
	}
}

static int choose_partition(struct run *run)
{
	const struct fl_partition *partition;
	int error = fl_partitions_find(&run->partitions, run->options->partition,
				       run->file->size_bytes, &partition, &run->diag);

	if (error)
		return error;
	run->place.partition = partition->number;
	run->place.offset_bytes = partition->start_bytes;
	run->place.size_bytes = partition->size_bytes;
	return 0;
}

static int choose_offset(struct run *run)
{
	uint64_t offset = run->options->offset_bytes, size = run->file->size_bytes;

	if (offset >= size)
		return fl_fail(&run->diag, FL_EINVAL,
			       "option --offset: byte %" PRIu64
			       " is not in the image, which has %" PRIu64 " bytes",
			       offset, size);
	run->place.offset_bytes = offset;
	run->place.size_bytes = fl_partitions_limit(&run->partitions, offset, size) - offset;
	return 0;
}

/*
 * Nothing was chosen. A table beside a filesystem is either left from an earlier use of the
 * image or the other way round, and moving blocks of the wrong one would destroy the other.
 */
static int choose_whole(struct run *run)
{
	const struct fl_partitions *partitions = &run->partitions;
	bool is_disk = !strcmp(partitions->table, "gpt") || !strcmp(partitions->table, "dos");
	bool ext;
	int error = begins_with_ext(run, &ext);

	if (error)
		return error;
	run->place.chosen = false;
	run->place.size_bytes = run->file->size_bytes;
	if (!partitions->all.count || (ext && !is_disk))
		return 0;
	if (ext)
		return fl_fail(&run->diag, FL_EINVAL,
			       "there is a partition table (%s) and a filesystem at byte 0 too; "
			       "say with --partition N or --offset 0 which one is meant",
			       partitions->table);
	return fl_fail(&run->diag, FL_EINVAL,
		       "it is a disk with partitions (%s); say with --partition N which one is "
		       "meant",
		       partitions->table);
}

char *fl_run_e2fs_name(const struct run *run, const char *path)
{
	char *name = NULL;

	if (!run->place.offset_bytes ||
	    asprintf(&name, "%s?offset=%" PRIu64, path, run->place.offset_bytes) < 0)
		return NULL;
	return name;
}

int fl_run_open_place(struct run *run)
{
	if (!run->place.chosen)
		return 0;
	return fl_device_window(run->device, run->place.size_bytes, run->place.offset_bytes,
				&run->window);
}

int fl_run_locate(struct run *run)
{
	const struct fl_options *options = run->options;
	int error;

	run->action = "looking for partitions";
	run->place = (struct fl_run_place){.chosen = true};
	error = fl_partitions_read(run->file, &run->partitions, &run->diag);
	/* A damaged table does not matter to who knows where the filesystem is. */
	if (error == FL_ESHORT && options->has_offset) {
		run->diag.text[0] = '\0';
		error = 0;
	}
	if (!error && options->partition)
		error = choose_partition(run);
	else if (!error && options->has_offset)
		error = choose_offset(run);
	else if (!error)
		error = choose_whole(run);
	if (error)
		return error;
	fl_partitions_free(&run->partitions);
	return fl_run_open_place(run);
}
