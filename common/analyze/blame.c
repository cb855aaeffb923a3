/* SPDX-License-Identifier: MIT */
/*
 * Charges each seek of a stream to the file that the I/O after it goes to. Finds the owner of a
 * block; generates no stream.
 */
#include <fraglab/blame.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fl_blamer {
	const struct fl_map *map;
	struct fl_places places;
	uint64_t *seeks; /* by index into map->files */
	uint64_t total, owned;
	bool begun;
	fl_lbn next; /* where the previous I/O ended */
};

int fl_blamer_new(const struct fl_map *map, struct fl_blamer **blamer)
{
	struct fl_blamer *made = calloc(1, sizeof(*made));
	int error = FL_ENOMEM;

	if (!made)
		return FL_ENOMEM;
	made->map = map;
	made->seeks = calloc(map->files.count + 1, sizeof(*made->seeks));
	if (made->seeks)
		error = fl_map_places(map, &made->places);
	if (error)
		fl_blamer_free(made);
	else
		*blamer = made;
	return error;
}

void fl_blamer_free(struct fl_blamer *blamer)
{
	if (!blamer)
		return;
	fl_array_free(&blamer->places);
	free(blamer->seeks);
	free(blamer);
}

void fl_blamer_start(struct fl_blamer *blamer)
{
	memset(blamer->seeks, 0, blamer->map->files.count * sizeof(*blamer->seeks));
	blamer->total = blamer->owned = 0;
	blamer->begun = false;
}

/* The place that holds a block. False: no file's. */
static bool find_owner(const struct fl_blamer *blamer, fl_pblk block, uint32_t *file)
{
	const struct fl_place *places = blamer->places.at;
	size_t low = 0, high = blamer->places.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places[middle].run.start <= block)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || block - places[low - 1].run.start >= places[low - 1].run.len)
		return false;
	*file = places[low - 1].file;
	return true;
}

void fl_blamer_note(struct fl_blamer *blamer, const struct fl_io *io)
{
	uint32_t sectors = blamer->map->geo.block_bytes / FL_SECTOR_BYTES, file;
	bool follows = blamer->begun && io->lbn == blamer->next;

	blamer->begun = true;
	blamer->next = io->lbn + io->sectors;
	if (follows)
		return;
	blamer->total++;
	if (!find_owner(blamer, io->lbn / sectors, &file))
		return;
	blamer->owned++;
	blamer->seeks[file]++;
}

static void insert(const struct fl_blamer *blamer, size_t file, size_t worst[FL_BLAMED],
		   size_t *count)
{
	size_t at = *count;

	while (at && blamer->seeks[worst[at - 1]] < blamer->seeks[file])
		at--;
	if (at == FL_BLAMED)
		return;
	if (*count < FL_BLAMED)
		(*count)++;
	memmove(&worst[at + 1], &worst[at], (*count - at - 1) * sizeof(*worst));
	worst[at] = file;
}

static void describe(const struct fl_blamer *blamer, size_t index, struct fl_blamed *blamed)
{
	const struct fl_file *file = &blamer->map->files.at[index];
	char buffer[FL_BLAME_PATH];

	blamed->ino = file->ino;
	blamed->seeks = blamer->seeks[index];
	blamed->share = (double)blamed->seeks / (double)blamer->total;
	if (file->name < blamer->map->names.count)
		snprintf(blamed->path, sizeof(blamed->path), "%s",
			 fl_map_path(blamer->map, file->name, true, buffer, sizeof(buffer)));
	else
		snprintf(blamed->path, sizeof(blamed->path), "<inode %" PRIu32 ">", file->ino);
}

void fl_blamer_sum(const struct fl_blamer *blamer, struct fl_blame *blame)
{
	size_t worst[FL_BLAMED], count = 0;

	*blame = (struct fl_blame){.seeks = blamer->total, .owned = blamer->owned};
	for (size_t i = 0; i < blamer->map->files.count; i++) {
		if (!blamer->seeks[i])
			continue;
		blame->files++;
		insert(blamer, i, worst, &count);
	}
	for (size_t i = 0; i < count; i++)
		describe(blamer, worst[i], &blame->worst[i]);
	blame->worst_count = count;
}
