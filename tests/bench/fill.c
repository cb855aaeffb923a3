/* SPDX-License-Identifier: MIT */
/*
 * fill: writes noise into every data block of the regular files of an image, for layouts that
 * were kept without their data. Where files lie is not changed; what is in them is lost.
 */
#include <fcntl.h>
#include <fraglab/scan.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define BUFFER_BYTES (8u << 20)

static int compare_places(const void *a, const void *b)
{
	const struct fl_place *left = a, *right = b;

	return fl_compare(left->run.start, right->run.start);
}

static bool wanted(const struct fl_map *map, const struct fl_place *place)
{
	return place->use == FL_USE_DATA && map->files.at[place->file].kind == FL_KIND_REGULAR;
}

static int write_noise(int fd, const char *noise, struct fl_run run, uint32_t block_bytes)
{
	uint64_t pos = run.start * block_bytes, left = run.len * block_bytes;

	while (left) {
		/* Every place begins elsewhere in the noise, so that no two blocks are the same. */
		uint64_t skip = pos / block_bytes * 8 % (BUFFER_BYTES / 2);
		size_t part = (size_t)fl_min(left, BUFFER_BYTES / 2);

		if (pwrite(fd, noise + skip, part, (off_t)pos) != (ssize_t)part)
			return FL_EIO;
		pos += part;
		left -= part;
	}
	return 0;
}

static int fill(const struct fl_map *map, const char *path)
{
	struct fl_places places = {0};
	char *noise = malloc(BUFFER_BYTES);
	int fd = open(path, O_RDWR), error = fl_map_places(map, &places);
	struct fl_rng rng;

	fl_rng_seed(&rng, 1);
	for (size_t i = 0; noise && i < BUFFER_BYTES / sizeof(uint64_t); i++)
		((uint64_t *)(void *)noise)[i] = fl_rng_next(&rng) | 1;
	if (!error && (fd < 0 || !noise))
		error = FL_EIO;
	if (!error && places.count)
		qsort(places.at, places.count, sizeof(*places.at), compare_places);
	for (size_t i = 0; i < places.count && !error; i++)
		if (wanted(map, &places.at[i]))
			error = write_noise(fd, noise, places.at[i].run, map->geo.block_bytes);
	if (!error && fsync(fd))
		error = FL_EIO;
	if (fd >= 0)
		close(fd);
	free(noise);
	fl_array_free(&places);
	return error;
}

int main(int argc, char **argv)
{
	struct fl_device *device = NULL;
	struct fl_fs *fs = NULL;
	struct fl_map *map = NULL;
	struct fl_diag diag = {{0}};
	int error;

	if (argc != 2) {
		fputs("Usage: fill IMAGE\n", stderr);
		return 16;
	}
	error = fl_device_file_open(argv[1], FL_DEVICE_READ, &device, &diag);
	if (!error)
		error = fl_fs_open(device, FL_FS_READ, &fs, &diag);
	if (!error)
		error = fl_scan(fs, NULL, NULL, &map, &diag);
	fl_fs_close(fs);
	fl_device_close(device);
	if (!error)
		error = fill(map, argv[1]);
	fl_map_free(map);
	if (error)
		fprintf(stderr, "fill: %s: %s.\n", argv[1],
			diag.text[0] ? diag.text : fl_error_text(error));
	return error ? 4 : 0;
}
