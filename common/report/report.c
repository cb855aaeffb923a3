/* SPDX-License-Identifier: MIT */
/*
 * The life of a report, and the words that all renderers use. Renders nothing.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

void fl_report_free(struct fl_report *report)
{
	if (!report)
		return;
	for (size_t i = 0; i < report->image_count; i++) {
		struct fl_report_image *image = &report->images[i];

		for (size_t f = 0; f < image->filesystem.feature_count; f++)
			free(image->filesystem.features[f]);
		free(image->filesystem.features);
		free(image->path);
	}
	free(report->images);
	for (size_t i = 0; i < report->left_count; i++)
		free(report->left[i].path);
	for (size_t i = 0; i < report->missing_count; i++)
		free(report->missing[i]);
	free(report->missing);
	free(report->left);
	free(report->profile);
	free(report->interleaved);
	fl_array_free(&report->captures);
	fl_array_free(&report->aims);
	memset(report, 0, sizeof(*report));
}

const char *fl_report_reason(enum fl_left_reason reason)
{
	switch (reason) {
	case FL_LEFT_PINNED:
		return "pinned";
	case FL_LEFT_NO_ROOM:
		return "no-room";
	case FL_LEFT_MODE:
		return "mode";
	case FL_LEFT_STOPPED:
		return "stopped";
	case FL_LEFT_BUDGET:
		return "budget";
	}
	return "unknown";
}

const char *fl_report_pin(enum fl_pin pin)
{
	static const char *const names[FL_PIN_COUNT] = {
		[FL_PIN_NONE] = "movable",  [FL_PIN_SYSTEM] = "system",
		[FL_PIN_HIDDEN] = "hidden", [FL_PIN_IMMUTABLE] = "immutable",
		[FL_PIN_SWAP] = "swap",	    [FL_PIN_BOOT] = "boot",
	};

	return (unsigned int)pin < FL_PIN_COUNT ? names[pin] : "unknown";
}

const char *fl_report_type(const struct fl_report_filesystem *filesystem)
{
	static const char *const ext4_only[] = {
		"extent",    "extents",	      "64bit",	     "flex_bg",	    "huge_file", "bigalloc",
		"uninit_bg", "metadata_csum", "inline_data", "extra_isize", "dir_nlink", "mmp",
	};
	const char *type = "ext2";

	for (size_t i = 0; i < filesystem->feature_count; i++) {
		for (size_t k = 0; k < sizeof(ext4_only) / sizeof(ext4_only[0]); k++)
			if (!strcmp(filesystem->features[i], ext4_only[k]))
				return "ext4";
		if (!strcmp(filesystem->features[i], "has_journal"))
			type = "ext3";
	}
	return type;
}
