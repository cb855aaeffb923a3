/* SPDX-License-Identifier: MIT */
/*
 * The scores of other tools, and whose seeks they are, as JSON. Keys are an interface: add, never
 * rename.
 */
#include "json_value.h"

static json_t *e4defrag_json(const struct fl_legacy_metrics *legacy)
{
	json_t *object = json_object(), *worst = json_array();
	bool failed = false;

	for (size_t i = 0; i < legacy->e4defrag.worst_count; i++) {
		const struct fl_legacy_file *file = &legacy->e4defrag.worst[i];
		json_t *row = json_object();

		failed |= put(row, "path", path_string(file->path));
		failed |= put(row, "inode", whole(file->ino));
		failed |= put(row, "extents", whole(file->extents));
		failed |= put(row, "best_extents", whole(file->best));
		failed |= put(row, "score", json_real(file->score));
		failed |= add(worst, row);
	}
	failed |= put(object, "files", whole(legacy->e4defrag.files));
	failed |= put(object, "extents", whole(legacy->e4defrag.extents));
	failed |= put(object, "best_extents", whole(legacy->e4defrag.best));
	failed |= put(object, "score", json_real(legacy->e4defrag.score));
	failed |= put(object, "worst", worst);
	return finish(object, failed);
}

/* The rows that e2freefrag shows: those that are not empty. */
static json_t *e2freefrag_json(const struct fl_metrics *metrics, uint32_t block_bytes)
{
	const struct fl_legacy_metrics *legacy = &metrics->legacy;
	json_t *object = json_object(), *rows = json_array();
	bool failed = false;

	for (size_t i = 0; i < FL_FREE_BUCKETS; i++) {
		json_t *row;

		if (!metrics->free.histogram[i].extents)
			continue;
		row = json_object();
		failed |= put(row, "from_bytes", whole((uint64_t)block_bytes << i));
		failed |= put(row, "to_bytes", whole((uint64_t)block_bytes << (i + 1)));
		failed |= put(row, "extents", whole(metrics->free.histogram[i].extents));
		failed |= put(row, "blocks", whole(metrics->free.histogram[i].blocks));
		failed |= add(rows, row);
	}
	failed |= put(object, "min_kib", whole(legacy->e2freefrag.min_kib));
	failed |= put(object, "max_kib", whole(legacy->e2freefrag.max_kib));
	failed |= put(object, "mean_kib", whole(legacy->e2freefrag.mean_kib));
	failed |= put(object, "histogram", rows);
	return finish(object, failed);
}

json_t *fl_json_legacy(const struct fl_metrics *metrics, uint32_t block_bytes)
{
	const struct fl_legacy_metrics *legacy = &metrics->legacy;
	json_t *object = json_object(), *fsck = json_object(), *filefrag = json_object();
	bool failed = false;

	failed |= put(fsck, "non_contiguous_files", whole(legacy->e2fsck.files));
	failed |= put(fsck, "non_contiguous_directories", whole(legacy->e2fsck.directories));
	failed |= put(fsck, "non_contiguous_percent", json_real(legacy->e2fsck.percent));
	failed |= put(filefrag, "files", whole(legacy->filefrag.files));
	failed |= put(filefrag, "extents", whole(legacy->filefrag.extents));
	failed |= put(object, "e4defrag", e4defrag_json(legacy));
	failed |= put(object, "e2fsck", fsck);
	failed |= put(object, "e2freefrag", e2freefrag_json(metrics, block_bytes));
	failed |= put(object, "filefrag", filefrag);
	return finish(object, failed);
}

json_t *fl_json_blame(const struct fl_blame *blame)
{
	json_t *object = json_object(), *worst = json_array();
	bool failed = false;

	for (size_t i = 0; i < blame->worst_count; i++) {
		json_t *row = json_object();

		failed |= put(row, "path", path_string(blame->worst[i].path));
		failed |= put(row, "inode", whole(blame->worst[i].ino));
		failed |= put(row, "seeks", whole(blame->worst[i].seeks));
		failed |= put(row, "share", json_real(blame->worst[i].share));
		failed |= add(worst, row);
	}
	failed |= put(object, "seeks", whole(blame->seeks));
	failed |= put(object, "owned_seeks", whole(blame->owned));
	failed |= put(object, "files", whole(blame->files));
	failed |= put(object, "worst", worst);
	return finish(object, failed);
}
