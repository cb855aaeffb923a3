/* SPDX-License-Identifier: MIT */
/*
 * Drives a scan: fixed metadata, inodes, xattr blocks, names, pins; then the map is finished
 * and held against the bitmaps. Only reads.
 */
#include <common/scan/scan_internal.h>

#include <inttypes.h>
#include <stdlib.h>

int fl_scan_read_block(struct scan *scan, fl_ino ino, fl_pblk block, void *buffer)
{
	uint32_t bytes = scan->map->geo.block_bytes;
	int error = fl_device_read(scan->device, buffer, bytes, block * bytes);

	return error ? fl_fail(scan->diag, error, "inode %u: cannot read block %" PRIu64, ino,
			       block)
		     : 0;
}

static int run(struct scan *scan)
{
	static int (*const steps[])(struct scan *) = {fl_scan_metadata, fl_scan_inodes,
						      fl_scan_names,	fl_scan_boot,
						      fl_scan_pins,	fl_scan_xattrs};
	int error = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !error; i++)
		error = steps[i](scan);
	if (!error)
		error = fl_map_finish(scan->map, scan->diag);
	if (!error)
		error = fl_scan_crosscheck(scan);
	return error;
}

int fl_scan(struct fl_fs *fs, fl_scan_progress progress, void *context, struct fl_map **map,
	    struct fl_diag *diag)
{
	const struct fl_geometry *geo = fl_fs_geometry(fs);
	struct scan scan = {
		.fs = fs,
		.ext2 = fl_fs_ext2(fs),
		.device = fl_fs_device(fs),
		.diag = diag,
		.progress = progress,
		.context = context,
	};
	int error = fl_map_new(geo, &scan.map);

	if (error)
		goto out;
	scan.nodes = fl_alloc(MAX_DEPTH, geo->block_bytes);
	error = scan.nodes ? run(&scan) : FL_ENOMEM;
	if (error)
		goto out;
	*map = scan.map;
	scan.map = NULL;
out:
	if (error == FL_ENOMEM)
		(void)fl_fail(diag, FL_ENOMEM, "out of memory");
	fl_map_free(scan.map);
	free(scan.nodes);
	free(scan.inodes_used);
	fl_array_free(&scan.descriptors);
	fl_array_free(&scan.directories);
	fl_array_free(&scan.xattr_uses);
	fl_array_free(&scan.traits);
	fl_array_free(&scan.xattr_files);
	return error;
}
