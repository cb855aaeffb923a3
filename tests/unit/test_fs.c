/* SPDX-License-Identifier: MIT */
/*
 * Opening: geometry, features, every refusal (and that it changes no byte), the fence, and
 * libext2fs's I/O over a device.
 */
#include <tests/lib/image.h>

#include <common/fs/fs_internal.h>

/* --- refusals --- */

struct refusal {
	const char *label;
	const char *mke2fs;  /* arguments */
	const char *debugfs; /* commands, or NULL */
	const char *shell;   /* further damage, or NULL */
	int error;
	const char *words; /* must be in the message */
};

static const struct refusal refusals[] = {
	{"zeros", "-t ext4", NULL, "truncate -s 0 $I; truncate -s 8M $I", FL_ENOTEXT,
	 "no ext2, ext3 or ext4"},
	{"tiny", "-t ext4", NULL, "truncate -s 2047 $I", FL_ENOTEXT, "too few"},
	{"empty", "-t ext4", NULL, "truncate -s 0 $I", FL_ENOTEXT, "too few"},
	{"qcow2", "-t ext4", NULL, "truncate -s 0 $I; printf 'QFI\\373' >$I; truncate -s 8M $I",
	 FL_ENOTEXT, "qcow2"},
	{"partitions", "-t ext4", NULL,
	 "truncate -s 0 $I; truncate -s 8M $I; printf '\\125\\252' | dd of=$I bs=1 seek=510 "
	 "conv=notrunc",
	 FL_ENOTEXT, "--partition"},
	{"xz", "-t ext4", NULL, "xz -0 $I; mv $I.xz $I; truncate -s 8M $I", FL_ENOTEXT, "xz"},
	{"short", "-t ext4", NULL, "truncate -s 8388607 $I", FL_ESHORT, "8388608"},
	{"needs_recovery", "-t ext4", "feature needs_recovery", NULL, FL_EDIRTY, "journal"},
	{"orphans", "-t ext4 -O ^orphan_file", "ssv last_orphan 12", NULL, FL_EDIRTY,
	 "wait for removal"},
	{"orphan_present", "-t ext4 -O orphan_file", "feature orphan_present", NULL, FL_EDIRTY,
	 "wait for removal"},
	{"not clean", "-t ext4", "ssv state 0", NULL, FL_EDIRTY, "cleanly"},
	{"errors", "-t ext4", "ssv state 3", NULL, FL_EDIRTY, "having errors"},
	{"only errors", "-t ext4", "ssv state 2", NULL, FL_EDIRTY, "having errors"},
	{"block size", "-t ext4", "ssv log_block_size 7", NULL, FL_EDAMAGED, "block size"},
	{"read-only", "-t ext4", "feature read-only", NULL, FL_EFEATURE, "tune2fs -O ^read-only"},
	{"shared_blocks", "-t ext4", "feature shared_blocks", NULL, FL_EFEATURE, "unshare_blocks"},
	{"journal device", "-O journal_dev", NULL, NULL, FL_EFEATURE, "journal_dev"},
	{"external journal", "-t ext4", "ssv journal_inum 0\nfeature needs_recovery", NULL,
	 FL_EDIRTY, "journal must be replayed"},
	{"hurd", "-t ext2 -I 128 -o hurd", NULL, NULL, FL_EFEATURE, "another system"},
	{"unknown compat", "-t ext4", "ssv feature_compat 0x8000003c", NULL, FL_EFEATURE,
	 "0x80000000 of the compat"},
	{"unknown incompat", "-t ext4", "ssv feature_incompat 0x402c2", NULL, FL_EFEATURE,
	 "0x40000 of the incompat"},
	{"unknown ro_compat", "-t ext2", "ssv feature_ro_compat 0x20003", NULL, FL_EFEATURE,
	 "0x20000 of the ro_compat"},
	{"compression", "-t ext2", "ssv feature_incompat 0x3", NULL, FL_EFEATURE, "compression"},
	{"dirdata", "-t ext2", "ssv feature_incompat 0x1002", NULL, FL_EFEATURE, "dirdata"},
	{"revision", "-t ext2", "ssv rev_level 2", NULL, FL_EFEATURE, "newer than 1"},
	{"revision 0", "-t ext2", "ssv rev_level 0", NULL, FL_EDAMAGED, "revision 0"},
	{"superblock checksum", "-t ext4 -O metadata_csum", NULL,
	 "printf x | dd of=$I bs=1 seek=1160 conv=notrunc", FL_EDAMAGED, "e2fsck"},
	{"descriptor checksum", "-t ext4 -b 1024 -O metadata_csum", NULL,
	 "printf x | dd of=$I bs=1 seek=2061 conv=notrunc", FL_EDAMAGED, "e2fsck"},
	{"block bitmap checksum", "-t ext4 -b 1024 -O metadata_csum", NULL,
	 "B=$(debugfs -R 'stats' $I | sed -n 's/.*Group  0: block bitmap at "
	 "\\([0-9]*\\).*/\\1/p'); "
	 "printf x | dd of=$I bs=1 seek=$((B * 1024 + 900)) conv=notrunc",
	 FL_EDAMAGED, "bitmap checksum"},
};

static void refuse_one(struct bench *b, const struct refusal *r)
{
	static const enum fl_fs_mode modes[] = {FL_FS_READ, FL_FS_CHANGE};
	uint64_t digest;

	bench_make(b, "8M", r->mke2fs);
	if (r->debugfs)
		bench_debugfs(b, r->debugfs);
	if (r->shell)
		bench_run(b, "%s", r->shell);
	digest = bench_digest(b);
	for (size_t i = 0; i < 2; i++) {
		int error = bench_open(b, modes[i]);

		if (error != r->error || !strstr(b->diag.text, r->words))
			fail_msg("%s: %s: \"%s\"", r->label, fl_error_text(error), b->diag.text);
		assert_null(b->fs);
		bench_close(b);
		if (bench_digest(b) != digest)
			fail_msg("%s: the image was changed", r->label);
	}
}

static void test_refusals(void **state)
{
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		refuse_one(*state, &refusals[i]);
}

struct analysed {
	const char *label, *mke2fs, *debugfs;
};

/* Figures may be taken where nothing may be changed. */
static void test_analysed_only(void **state)
{
	static const struct analysed cases[] = {
		{"read-only", "-t ext4", "feature read-only"},
	};
	struct bench *b = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t digest;

		bench_make(b, "8M", cases[i].mke2fs);
		if (cases[i].debugfs)
			bench_debugfs(b, cases[i].debugfs);
		digest = bench_digest(b);
		if (bench_open(b, FL_FS_ANALYZE))
			fail_msg("%s: %s", cases[i].label, b->diag.text);
		assert_int_equal(fl_scan(b->fs, NULL, NULL, &b->map, &b->diag), 0);
		bench_close(b);
		assert_int_equal(bench_open(b, FL_FS_READ), FL_EFEATURE);
		bench_close(b);
		assert_true(bench_digest(b) == digest);
	}
}

static const struct fl_verdict *verdict_on(const struct fl_verdicts *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->at[i].name, name))
			return &list->at[i];
	return NULL;
}

/* Every feature has its say, and an image that is refused too. */
static void test_verdicts(void **state)
{
	struct bench *b = *state;
	struct fl_verdicts list = {0};

	bench_make(b, "8M", "-t ext4 -O quota");
	bench_debugfs(b, "feature shared_blocks read-only\nfeature needs_recovery\n"
			 "ssv feature_compat 0x8000003c\n");
	assert_int_equal(bench_open(b, FL_FS_READ), FL_EFEATURE);
	assert_int_equal(fl_fs_verdicts(b->device, &list, &b->diag), 0);
	assert_int_equal(verdict_on(&list, "quota")->treatment, FL_TREATMENT_MOVE);
	assert_int_equal(verdict_on(&list, "read-only")->treatment, FL_TREATMENT_ANALYSE);
	assert_int_equal(verdict_on(&list, "shared_blocks")->treatment, FL_TREATMENT_REFUSE);
	assert_int_equal(verdict_on(&list, "compat 0x80000000")->treatment, FL_TREATMENT_REFUSE);
	assert_int_equal(verdict_on(&list, "needs_recovery")->treatment, FL_TREATMENT_REFUSE);
	assert_null(verdict_on(&list, "unclean"));
	for (size_t i = 0; i < list.count; i++)
		assert_true(list.at[i].sentence && *list.at[i].sentence);
	fl_array_free(&list);
}

/* e2fsck would replay it although the superblock does not ask for it. */
static void test_refuses_full_journal(void **state)
{
	struct bench *b = *state;
	const unsigned char start[4] = {0, 0, 0, 1};
	fl_pblk journal = 0;

	bench_make(b, "16M", "-t ext4 -b 1024 -O ^metadata_csum");
	bench_scan_ok(b);
	for (size_t i = 0; i < b->map->files.count; i++)
		if (b->map->files.at[i].kind == FL_KIND_JOURNAL)
			journal = b->map->extents.at[b->map->files.at[i].first_extent].pblk;
	assert_true(journal > 0);
	bench_close(b);
	bench_poke(b, start, sizeof(start), journal * 1024 + 28);
	assert_int_equal(bench_open(b, FL_FS_READ), FL_EDIRTY);
	assert_non_null(strstr(b->diag.text, "journal"));
	bench_poke(b, "\0\0\0\0", 4, journal * 1024 + 28);
	bench_poke(b, start, sizeof(start), journal * 1024 + 32);
	assert_int_equal(bench_open(b, FL_FS_READ), FL_EDIRTY);
	bench_poke(b, "\0\0\0\0", 4, journal * 1024 + 32);
	bench_poke(b, "\0\0\0\0", 4, journal * 1024);
	assert_int_equal(bench_open(b, FL_FS_READ), FL_EDAMAGED);
}

static void test_change_needs_writable_device(void **state)
{
	struct bench *b = *state;

	bench_make(b, "8M", "-t ext4");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	fl_fs_close(b->fs);
	b->fs = NULL;
	assert_int_equal(fl_fs_open(b->device, FL_FS_CHANGE, &b->fs, &b->diag), FL_EINVAL);
}

/* --- what is opened --- */

static void test_geometry(void **state)
{
	struct bench *b = *state;
	const struct fl_geometry *geo;

	bench_make(b, "20000K", "-t ext4 -b 1024 -N 2000 -I 256 -G 4");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	geo = fl_fs_geometry(b->fs);
	assert_int_equal(geo->block_bytes, 1024);
	assert_int_equal(geo->blocks, 20000);
	assert_int_equal(geo->first_data_block, 1);
	assert_int_equal(geo->blocks_per_group, 8192);
	assert_int_equal(geo->groups, 3);
	assert_int_equal(geo->flex_groups, 4);
	assert_int_equal(geo->cluster_blocks, 1);
	assert_int_equal(geo->inode_bytes, 256);
	assert_int_equal(geo->inodes_per_group * geo->groups, b->fs->ext2->super->s_inodes_count);
	assert_true(geo->huge_file);
	assert_ptr_equal(fl_fs_device(b->fs), b->device);

	bench_make(b, "8M", "-r 0 -O none -b 4096");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	geo = fl_fs_geometry(b->fs);
	assert_int_equal(geo->block_bytes, 4096);
	assert_int_equal(geo->first_data_block, 0);
	assert_int_equal(geo->flex_groups, 1);
	assert_int_equal(geo->inode_bytes, 128);
	assert_false(geo->huge_file);
}

static void test_features(void **state)
{
	struct bench *b = *state;
	static const char *const expected[] = {
		"has_journal", "ext_attr",	     "orphan_file",  "filetype",   "extent",
		"64bit",       "metadata_csum_seed", "sparse_super", "large_file", "metadata_csum"};
	char name[FL_FEATURE_NAME];

	bench_make(b, "8M",
		   "-O none,has_journal,ext_attr,orphan_file,filetype,extent,64bit,"
		   "metadata_csum_seed,sparse_super,large_file,metadata_csum");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_string_equal(fl_fs_feature(b->fs, i, name), expected[i]);
	assert_null(fl_fs_feature(b->fs, sizeof(expected) / sizeof(expected[0]), name));

	bench_make(b, "8M", "-r 0 -O none");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	assert_null(fl_fs_feature(b->fs, 0, name));
}

/* Features that must open and scan; the scan's own tests look at the maps. */
static void test_accepted(void **state)
{
	static const char *const arguments[] = {
		"-t ext2",
		"-t ext3",
		"-t ext4",
		"-t ext4 -O inline_data -I 256",
		"-t ext4 -O encrypt,stable_inodes",
		"-t ext4 -O casefold -E encoding=utf8",
		"-t ext4 -O large_dir,dir_nlink",
		"-t ext4 -O fast_commit",
		"-t ext4 -O orphan_file",
		"-t ext4 -O ^metadata_csum,uninit_bg",
		"-t ext4 -O metadata_csum,metadata_csum_seed",
		"-t ext4 -O meta_bg,^resize_inode",
		"-t ext4 -O sparse_super2,^sparse_super,^resize_inode -E num_backup_sb=2",
		"-t ext4 -O ^sparse_super,^flex_bg,^resize_inode",
		"-t ext4 -b 65536 -O ^has_journal",
		"-t ext4 -I 1024",
		"-r 0 -O none",
	};

	for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++) {
		struct bench *b = *state;
		uint64_t digest;

		bench_make(b, "32M", arguments[i]);
		digest = bench_digest(b);
		if (bench_open(b, FL_FS_CHANGE))
			fail_msg("%s: %s", arguments[i], b->diag.text);
		if (fl_scan(b->fs, NULL, NULL, &b->map, &b->diag))
			fail_msg("%s: %s", arguments[i], b->diag.text);
		/* Whatever happened in memory, close writes nothing. */
		b->fs->ext2->super->s_volume_name[0] = 'x';
		ext2fs_mark_super_dirty(b->fs->ext2);
		ext2fs_block_alloc_stats2(b->fs->ext2, b->map->free.at[0].start, 1);
		bench_close(b);
		assert_true(bench_digest(b) == digest);
	}
}

/* --- the fence --- */

struct trace {
	struct fl_device_event events[16];
	size_t count;
	int fail_at; /* index of the write or flush to fail; -1: none */
};

static int observe(void *context, const struct fl_device_event *event)
{
	struct trace *trace = context;

	if (event->op == FL_OP_READ)
		return 0;
	assert_true(trace->count < 16);
	trace->events[trace->count++] = *event;
	return trace->fail_at == (int)trace->count - 1 ? FL_EIO : 0;
}

static void expect_super_write(const struct fl_device_event *event)
{
	assert_int_equal(event->op, FL_OP_WRITE);
	/* One sector, which no power cut can tear. */
	assert_int_equal(event->position, 1024);
	assert_int_equal(event->length, 512);
}

static void fence_one(struct bench *b, const char *arguments)
{
	struct trace trace = {.fail_at = -1};
	struct fl_device *recorder;
	unsigned char before[1024], fenced[1024];
	uint64_t digest;
	struct fl_fs *fs;

	bench_make(b, "8M", arguments);
	digest = bench_digest(b);
	bench_peek(b, before, sizeof(before), 1024);
	assert_int_equal(fl_device_file_open(b->path, FL_DEVICE_WRITE, &b->device, &b->diag), 0);
	assert_int_equal(fl_device_recorder(b->device, observe, &trace, &recorder), 0);
	assert_int_equal(fl_fs_open(recorder, FL_FS_CHANGE, &fs, &b->diag), 0);
	assert_int_equal(trace.count, 0);

	assert_int_equal(fl_fs_unfence(fs, &b->diag), FL_EINVAL);
	assert_int_equal(fl_fs_fence(fs, &b->diag), 0);
	assert_int_equal(trace.count, 2);
	expect_super_write(&trace.events[0]);
	assert_int_equal(trace.events[1].op, FL_OP_FLUSH);
	bench_peek(b, fenced, sizeof(fenced), 1024);
	assert_int_equal(fenced[0x3a], before[0x3a] & ~1);
	/* What else may change: bytes that keep the checksum as it is. */
	for (size_t i = 0; i < sizeof(before); i++)
		if (i != 0x3a && (i < 0x1fc || i >= 0x200 || !strstr(arguments, "O metadata_csum")))
			assert_int_equal(fenced[i], before[i]);
	/* Now fsck checks it without being forced; and the checksum is right, or it would say so.
	 */
	bench_run(b, "dumpe2fs -h $I >$D/out 2>&1; grep 'state: *not clean' $D/out; "
		     "! grep -i checksum.*match $D/out");
	assert_int_equal(fl_fs_fence(fs, &b->diag), FL_EINVAL);

	assert_int_equal(fl_fs_unfence(fs, &b->diag), 0);
	assert_int_equal(trace.count, 5);
	assert_int_equal(trace.events[2].op, FL_OP_FLUSH);
	expect_super_write(&trace.events[3]);
	assert_int_equal(trace.events[4].op, FL_OP_FLUSH);
	fl_fs_close(fs);
	fl_device_close(recorder);
	bench_close(b);
	assert_int_equal(trace.count, 5);
	assert_true(bench_digest(b) == digest);
	bench_fsck(b);
}

static void test_fence(void **state)
{
	fence_one(*state, "-t ext4 -O metadata_csum");
	fence_one(*state, "-t ext4 -O ^metadata_csum,uninit_bg -b 4096");
	fence_one(*state, "-r 0 -O none");
}

static void test_fence_only_for_change(void **state)
{
	struct bench *b = *state;

	bench_make(b, "8M", "-t ext4");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	assert_int_equal(fl_fs_fence(b->fs, &b->diag), FL_EINVAL);
}

/* Every write and flush of fence and unfence can fail, and each failure is told. */
static void test_fence_failures(void **state)
{
	for (int fail_at = 0; fail_at < 5; fail_at++) {
		struct bench *b = *state;
		struct trace trace = {.fail_at = fail_at};
		struct fl_device *recorder;
		struct fl_fs *fs;
		unsigned char disk_state[2];

		bench_make(b, "8M", "-t ext4");
		assert_int_equal(
			fl_device_file_open(b->path, FL_DEVICE_WRITE, &b->device, &b->diag), 0);
		assert_int_equal(fl_device_recorder(b->device, observe, &trace, &recorder), 0);
		assert_int_equal(fl_fs_open(recorder, FL_FS_CHANGE, &fs, &b->diag), 0);
		if (fail_at < 2) {
			assert_int_equal(fl_fs_fence(fs, &b->diag), FL_EIO);
		} else {
			assert_int_equal(fl_fs_fence(fs, &b->diag), 0);
			assert_int_equal(fl_fs_unfence(fs, &b->diag), FL_EIO);
			assert_false(fs->ext2->super->s_state & EXT2_VALID_FS);
			bench_peek(b, disk_state, 2, 1024 + 0x3a);
			assert_int_equal(disk_state[0] & 1, fail_at == 4);
			/* It can be tried again. */
			assert_int_equal(fl_fs_unfence(fs, &b->diag), 0);
			bench_peek(b, disk_state, 2, 1024 + 0x3a);
			assert_int_equal(disk_state[0], 1);
		}
		fl_fs_close(fs);
		fl_device_close(recorder);
		bench_close(b);
	}
}

/* The free count at unfence is the bitmap's. */
static void test_unfence_counts(void **state)
{
	struct bench *b = *state;
	uint64_t free_before;
	blk64_t block;

	bench_make(b, "8M", "-t ext4");
	assert_int_equal(bench_open(b, FL_FS_CHANGE), 0);
	free_before = ext2fs_free_blocks_count(b->fs->ext2->super);
	assert_int_equal(fl_fs_fence(b->fs, &b->diag), 0);
	assert_int_equal(ext2fs_new_block2(b->fs->ext2, 0, NULL, &block), 0);
	ext2fs_mark_block_bitmap2(b->fs->ext2->block_map, block);
	assert_int_equal(fl_fs_unfence(b->fs, &b->diag), 0);
	assert_int_equal(ext2fs_free_blocks_count(b->fs->ext2->super), free_before - 1);
	bench_close(b);
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	assert_int_equal(ext2fs_free_blocks_count(b->fs->ext2->super), free_before - 1);
}

/* Whatever lies at the end: libext2fs's own count misses a used last block after a free one. */
static void test_unfence_counts_last(void **state)
{
	struct bench *b = *state;

	for (unsigned pattern = 0; pattern < 8; pattern++) {
		uint64_t blocks, free_before;

		bench_make(b, "4M", "-t ext4 -b 1024 -O ^has_journal");
		assert_int_equal(bench_open(b, FL_FS_CHANGE), 0);
		blocks = fl_fs_geometry(b->fs)->blocks;
		free_before = ext2fs_free_blocks_count(b->fs->ext2->super);
		assert_int_equal(fl_fs_fence(b->fs, &b->diag), 0);
		for (unsigned i = 0; i < 3; i++)
			if (pattern >> i & 1)
				ext2fs_mark_block_bitmap2(b->fs->ext2->block_map, blocks - 1 - i);
		assert_int_equal(fl_fs_unfence(b->fs, &b->diag), 0);
		assert_int_equal(ext2fs_free_blocks_count(b->fs->ext2->super),
				 free_before - (unsigned)__builtin_popcount(pattern));
		bench_close(b);
	}
}

/* The second sector of the superblock never changes, and a count that returns takes all back. */
static void test_fence_one_sector(void **state)
{
	struct bench *b = *state;
	unsigned char before[1024], between[1024] = {0}, after[1024] = {0};
	blk64_t block = 0;

	bench_make(b, "8M", "-t ext4 -b 1024 -O metadata_csum,^has_journal");
	bench_peek(b, before, sizeof(before), 1024);
	for (int used = 1; used >= 0; used--) {
		assert_int_equal(bench_open(b, FL_FS_CHANGE), 0);
		assert_int_equal(fl_fs_fence(b->fs, &b->diag), 0);
		if (used) {
			assert_int_equal(ext2fs_new_block2(b->fs->ext2, 0, NULL, &block), 0);
			ext2fs_mark_block_bitmap2(b->fs->ext2->block_map, block);
		}
		assert_int_equal(fl_fs_unfence(b->fs, &b->diag), 0);
		bench_close(b);
		bench_peek(b, used ? between : after, sizeof(after), 1024);
	}
	assert_memory_not_equal(between, before, 512);
	assert_memory_equal(between + 512, before + 512, 512);
	/* The block was marked in memory only, so the second run counts as the first bitmap did. */
	assert_memory_equal(after, before, sizeof(after));
	bench_fsck(b);
}

/* --- libext2fs over a device --- */

static void test_ext2io(void **state)
{
	struct fl_ext2io io = {0};
	char name[FL_EXT2IO_NAME];
	unsigned char data[4096], back[4096];
	io_manager manager = fl_ext2io_manager();
	io_channel channel;

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7);
	assert_int_equal(fl_device_memory(65536, &io.device), 0);
	assert_int_equal(manager->open("nonsense", 0, &channel), EXT2_ET_BAD_DEVICE_NAME);
	assert_int_equal(manager->open(fl_ext2io_name(&io, name), IO_FLAG_RW, &channel), 0);
	assert_int_equal(io_channel_set_blksize(channel, 2048), 0);
	assert_int_equal(io_channel_write_blk64(channel, 3, 2, data), 0);
	assert_int_equal(fl_device_read(io.device, back, 4096, 6144), 0);
	assert_memory_equal(back, data, 4096);
	/* Negative counts are bytes. */
	assert_int_equal(io_channel_write_blk64(channel, 1, -3, data), 0);
	memset(back, 0xee, sizeof(back));
	assert_int_equal(io_channel_read_blk64(channel, 1, -5, back), 0);
	assert_memory_equal(back, data, 3);
	assert_int_equal(back[3], 0);
	assert_int_equal(back[4], 0);
	assert_int_equal(back[5], 0xee);
	assert_int_equal(io_channel_read_blk64(channel, 3, 1, back), 0);
	assert_memory_equal(back, data, 2048);
	assert_int_equal(io_channel_write_byte(channel, 0, 1, data), EXT2_ET_UNIMPLEMENTED);
	assert_int_equal(io_channel_flush(channel), 0);
	/* Outside: some metadata pointed there. */
	assert_int_not_equal(io_channel_read_blk64(channel, 31, 2, back), 0);
	assert_int_equal(fl_ext2io_error(&io, EXT2_ET_SHORT_READ), FL_EDAMAGED);
	assert_int_not_equal(io_channel_read_blk64(channel, UINT64_MAX, 1, back), 0);
	assert_int_equal(fl_ext2io_error(&io, EIO), FL_EDAMAGED);
	assert_int_equal(fl_ext2io_error(&io, EIO), FL_EIO);
	assert_int_equal(fl_ext2io_error(&io, EXT2_ET_NO_MEMORY), FL_ENOMEM);
	assert_int_equal(fl_ext2io_error(&io, 0), 0);
	io_channel_close(channel);
	fl_device_close(io.device);
}

struct faulty {
	uint64_t from, to; /* reads that touch these bytes fail */
};

static int fail_reads(void *context, const struct fl_device_event *event)
{
	const struct faulty *faulty = context;

	return event->op == FL_OP_READ && event->position < faulty->to &&
			       faulty->from < event->position + event->length
		       ? FL_EIO
		       : 0;
}

/* libext2fs hides the cause of a failed bitmap read; it comes out nevertheless. */
static void test_read_errors(void **state)
{
	struct bench *b = *state;
	struct faulty faulty = {0};
	struct fl_device *recorder;
	struct fl_fs *fs;
	uint64_t at[3];

	bench_make(b, "8M", "-t ext4 -b 1024");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	at[0] = 1024;
	at[1] = 2048;
	at[2] = ext2fs_block_bitmap_loc(b->fs->ext2, 0) * 1024;
	for (size_t i = 0; i < 3; i++) {
		faulty.from = at[i];
		faulty.to = at[i] + 1;
		assert_int_equal(fl_device_recorder(b->device, fail_reads, &faulty, &recorder), 0);
		assert_int_equal(fl_fs_open(recorder, FL_FS_READ, &fs, &b->diag), FL_EIO);
		fl_device_close(recorder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_refusals, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_refuses_full_journal, bench_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(test_change_needs_writable_device, bench_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(test_geometry, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_analysed_only, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_verdicts, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_features, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_accepted, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_fence, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_fence_only_for_change, bench_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(test_fence_failures, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_unfence_counts, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_unfence_counts_last, bench_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(test_fence_one_sector, bench_setup, bench_teardown),
		cmocka_unit_test(test_ext2io),
		cmocka_unit_test_setup_teardown(test_read_errors, bench_setup, bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
