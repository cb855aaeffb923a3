/* SPDX-License-Identifier: MIT */
/*
 * Decides which files stay where they are, and why. Must not read a block of every file: only
 * of those that may be swap files.
 */
#include <common/scan/scan_internal.h>

#include <string.h>

/* mkswap refuses less than ten pages. */
#define SWAP_MIN_BYTES (10u * 4096)
#define SWAP_MAGIC_BYTES 10u

static const char *name_text(const struct fl_map *map, uint32_t name)
{
	return map->texts.at + map->names.at[name].text;
}

/*
 * A swap file has its magic at the end of the first page, whose size depends on the machine.
 * It is looked for in regular files of whole pages and without holes that only the owner may
 * read (as mkswap demands), or that have "swap" in their name.
 */
static bool may_be_swap(const struct scan *scan, const struct fl_file *file,
			const struct trait *trait)
{
	if (file->kind != FL_KIND_REGULAR || file->size_bytes < SWAP_MIN_BYTES ||
	    file->size_bytes % 4096 || file->blocks < file->size_bytes / scan->map->geo.block_bytes)
		return false;
	return !(trait->mode & 077) || strcasestr(name_text(scan->map, file->name), "swap");
}

/* Reads length bytes at a position inside one block of the file; zeros where nothing is stored. */
static int read_file(struct scan *scan, const struct fl_file *file, void *buffer, size_t length,
		     uint64_t position)
{
	uint32_t block_bytes = scan->map->geo.block_bytes;
	fl_lblk lblk = (fl_lblk)(position / block_bytes);

	memset(buffer, 0, length);
	for (size_t i = 0; i < file->extent_count; i++) {
		const struct fl_extent *extent = &scan->map->extents.at[file->first_extent + i];

		if (lblk >= fl_extent_lend(extent))
			continue;
		if (lblk < extent->lblk || extent->unwritten)
			return 0;
		return fl_device_read(scan->device, buffer, length,
				      (extent->pblk + (lblk - extent->lblk)) * block_bytes +
					      position % block_bytes);
	}
	return 0;
}

static int is_swap(struct scan *scan, const struct fl_file *file, bool *swap)
{
	static const uint32_t pages[] = {4096, 8192, 16384, 65536};
	char magic[SWAP_MAGIC_BYTES];

	*swap = false;
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]) && !*swap; i++) {
		int error;

		if (file->size_bytes < pages[i])
			break;
		error = read_file(scan, file, magic, sizeof(magic), pages[i] - SWAP_MAGIC_BYTES);
		if (error)
			return fl_fail(scan->diag, error, "inode %u: cannot read its first blocks",
				       file->ino);
		*swap = !memcmp(magic, "SWAPSPACE2", sizeof(magic)) ||
			!memcmp(magic, "SWAP-SPACE", sizeof(magic));
	}
	return 0;
}

/* Files that boot loaders are known to find by block number. */
static bool is_boot_file(const struct fl_map *map, const struct fl_file *file)
{
	static const char *const exact[] = {"ldlinux.sys", "ldlinux.c32", "extlinux.sys",
					    "core.img",	   "stage1",	  "stage2"};
	static const char suffix[] = "stage1_5";
	const struct fl_name *name = &map->names.at[file->name];
	const char *text = name_text(map, file->name);
	size_t length = strlen(text);

	if (file->kind != FL_KIND_REGULAR)
		return false;
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++)
		if (!strcmp(text, exact[i]))
			return true;
	if (length >= sizeof(suffix) - 1 && !strcmp(text + length - (sizeof(suffix) - 1), suffix))
		return true;
	/* LILO: /boot/map, and only there. */
	return !strcmp(text, "map") && !strcmp(name_text(map, name->parent), "boot") &&
	       map->names.at[map->names.at[name->parent].parent].parent == FL_NO_NAME;
}

static int decide(struct scan *scan, const struct fl_file *file, const struct trait *trait,
		  enum fl_pin *pin)
{
	bool swap = false;
	int error = 0;

	*pin = FL_PIN_NONE;
	/* The value of an attribute has no name, but its mapping is a file's. */
	if (file->kind == FL_KIND_EA_INODE)
		return 0;
	if (file->kind != FL_KIND_REGULAR && file->kind != FL_KIND_DIRECTORY &&
	    file->kind != FL_KIND_SYMLINK)
		*pin = FL_PIN_SYSTEM;
	else if (file->name == FL_NO_NAME)
		*pin = FL_PIN_HIDDEN;
	else if (is_boot_file(scan->map, file) || fl_map_boot_names(scan->map, file))
		*pin = FL_PIN_BOOT;
	else if (may_be_swap(scan, file, trait))
		error = is_swap(scan, file, &swap);
	/* Last, because it is the one that can be lifted. */
	if (swap)
		*pin = FL_PIN_SWAP;
	else if (*pin == FL_PIN_NONE && trait->immutable)
		*pin = FL_PIN_IMMUTABLE;
	return error;
}

int fl_scan_pins(struct scan *scan)
{
	int error = 0;

	for (size_t i = 0; i < scan->map->files.count && !error; i++) {
		struct fl_file *file = &scan->map->files.at[i];
		enum fl_pin pin;

		error = decide(scan, file, &scan->traits.at[i], &pin);
		file->pin = (uint8_t)pin;
	}
	return error;
}
