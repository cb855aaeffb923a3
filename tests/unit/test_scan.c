/* SPDX-License-Identifier: MIT */
/*
 * Scanning: maps against libext2fs's own block iterator, names and their order, pins, and
 * every kind of damage.
 */
#include <tests/lib/image.h>

#include <ext2fs/ext2fs.h>

/* --- the oracle: what libext2fs's block iterator sees through its own I/O --- */

struct oracle {
	struct bench *b;
	const struct fl_file *file; /* NULL: the inode is not in the map and must own nothing */
	ext2_ino_t ino;
	size_t extent;	 /* the extent the next data block is expected in */
	uint32_t offset; /* in it */
	size_t tree;	 /* the next mapping block */
};

static int see_block(ext2_filsys ext2, blk64_t *block, e2_blkcnt_t lblk, blk64_t ref, int offset,
		     void *context)
{
	struct oracle *o = context;
	const struct fl_map *map = o->b->map;
	const struct fl_extent *extent;

	(void)ext2, (void)ref, (void)offset;
	if (!o->file)
		fail_msg("inode %u owns block %llu and is not in the map", o->ino,
			 (unsigned long long)*block);
	if (o->file->kind == FL_KIND_RESIZE) {
		/* All but its top block is fixed metadata. */
		if (lblk == BLOCK_COUNT_DIND)
			assert_int_equal(map->trees.at[o->file->first_tree + o->tree++], *block);
		return 0;
	}
	if (lblk < 0) {
		assert_true(o->tree < o->file->tree_count);
		assert_int_equal(map->trees.at[o->file->first_tree + o->tree++], *block);
		return 0;
	}
	assert_true(o->extent < o->file->extent_count);
	extent = &map->extents.at[o->file->first_extent + o->extent];
	assert_int_equal(extent->lblk + o->offset, lblk);
	assert_int_equal(extent->pblk + o->offset, *block);
	if (++o->offset == extent->len) {
		o->offset = 0;
		o->extent++;
	}
	return 0;
}

static void check_inode(struct bench *b, ext2_filsys ext2, ext2_ino_t ino, struct ext2_inode *inode)
{
	struct oracle o = {.b = b, .ino = ino};
	size_t index;

	if (fl_map_find(b->map, ino, &index))
		o.file = &b->map->files.at[index];
	if (ino == EXT2_BAD_INO || ext2fs_inode_has_valid_blocks2(ext2, inode))
		assert_int_equal(
			ext2fs_block_iterate3(ext2, ino, BLOCK_FLAG_READ_ONLY, NULL, see_block, &o),
			0);
	if (!o.file)
		return;
	assert_int_equal(o.extent, o.file->extent_count);
	assert_int_equal(o.tree, o.file->tree_count);
	assert_int_equal(o.file->mapping, inode->i_flags & EXT4_EXTENTS_FL ? FL_MAPPING_EXTENTS
									   : FL_MAPPING_INDIRECT);
	for (size_t e = 0; e < o.file->extent_count; e++) {
		const struct fl_extent *extent = &b->map->extents.at[o.file->first_extent + e];
		int flags = 0;
		blk64_t block;

		assert_int_equal(
			ext2fs_bmap2(ext2, ino, NULL, NULL, 0, extent->lblk, &flags, &block), 0);
		assert_int_equal(block, extent->pblk);
		assert_int_equal(!!(flags & BMAP_RET_UNINIT), extent->unwritten);
	}
}

/* --- what is read block by block has been announced before --- */

struct watcher {
	struct fl_device device;
	struct fl_device *below; /* borrowed */
	const struct fl_map *map;
	unsigned char *awaited, *announced; /* a byte a block */
	size_t late;
	fl_pblk late_block; /* the first */
};

static int watch_read(struct fl_device *device, void *buffer, size_t length, uint64_t position)
{
	struct watcher *watcher = (struct watcher *)device;
	uint64_t block = position / watcher->map->geo.block_bytes;

	if (watcher->awaited[block] && !watcher->announced[block] && !watcher->late++)
		watcher->late_block = block;
	return fl_device_read(watcher->below, buffer, length, position);
}

static void watch_advise(struct fl_device *device, enum fl_device_advice advice, uint64_t length,
			 uint64_t position)
{
	struct watcher *watcher = (struct watcher *)device;
	uint32_t bytes = watcher->map->geo.block_bytes;

	if (advice == FL_ADVICE_SOON)
		memset(watcher->announced + position / bytes, 1, length / bytes);
}

static void watch_close(struct fl_device *device)
{
	(void)device;
}

static void await(struct watcher *watcher, const struct fl_file *file)
{
	const struct fl_map *map = watcher->map;

	/* The lists of bad and of reserved blocks are read by libext2fs when it opens an image. */
	if (file->kind == FL_KIND_BAD_BLOCKS || file->kind == FL_KIND_RESIZE)
		return;
	for (size_t t = 0; t < file->tree_count; t++)
		watcher->awaited[map->trees.at[file->first_tree + t]] = 1;
	for (size_t e = 0; e < file->extent_count; e++)
		if (file->kind == FL_KIND_DIRECTORY || file->kind == FL_KIND_XATTR)
			memset(watcher->awaited + map->extents.at[file->first_extent + e].pblk, 1,
			       map->extents.at[file->first_extent + e].len);
}

static void check_announced(struct bench *b)
{
	static const struct fl_device_ops ops = {
		.read = watch_read, .advise = watch_advise, .close = watch_close};
	struct watcher watcher = {
		.device = {.ops = &ops, .size_bytes = b->device->size_bytes, .read_only = true},
		.below = b->device,
		.map = b->map,
		.awaited = calloc(b->map->geo.blocks, 1),
		.announced = calloc(b->map->geo.blocks, 1)};
	struct fl_fs *fs;
	struct fl_map *map;

	assert_non_null(watcher.awaited);
	assert_non_null(watcher.announced);
	assert_int_equal(fl_fs_open(&watcher.device, FL_FS_READ, &fs, &b->diag), 0);
	for (size_t i = 0; i < b->map->files.count; i++)
		await(&watcher, &b->map->files.at[i]);
	assert_int_equal(fl_scan(fs, NULL, NULL, &map, &b->diag), 0);
	if (watcher.late)
		fail_msg("%zu blocks read and not announced, the first: %llu", watcher.late,
			 (unsigned long long)watcher.late_block);
	fl_map_free(map);
	fl_fs_close(fs);
	free(watcher.awaited);
	free(watcher.announced);
}

/* Each named file has a place of its own in either order. */
static void check_ranks(struct bench *b)
{
	unsigned char *seen = calloc(b->map->files.count, 2);
	size_t named = 0;

	assert_non_null(seen);
	for (size_t i = 0; i < b->map->files.count; i++)
		named += b->map->files.at[i].name != FL_NO_NAME;
	for (size_t i = 0; i < b->map->files.count; i++) {
		const struct fl_file *file = &b->map->files.at[i];

		if (file->name == FL_NO_NAME) {
			assert_int_equal(file->path_rank, FL_NO_NAME);
			assert_int_equal(file->listing_rank, FL_NO_NAME);
			continue;
		}
		assert_true(file->path_rank < named && file->listing_rank < named);
		assert_int_equal(seen[2 * file->path_rank]++, 0);
		assert_int_equal(seen[2 * file->listing_rank + 1]++, 0);
	}
	free(seen);
}

/* Scans and compares every inode in use with the oracle. Accepts only images e2fsck likes. */
static void check_image(struct bench *b)
{
	ext2_filsys ext2;
	ext2_inode_scan scan;
	struct ext2_inode inode;
	ext2_ino_t ino;

	bench_fsck(b);
	bench_scan_ok(b);
	check_announced(b);
	check_ranks(b);
	assert_int_equal(ext2fs_open(b->path, EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &ext2), 0);
	assert_int_equal(ext2fs_read_bitmaps(ext2), 0);
	assert_int_equal(ext2fs_open_inode_scan(ext2, 0, &scan), 0);
	for (;;) {
		assert_int_equal(ext2fs_get_next_inode(scan, &ino, &inode), 0);
		if (!ino)
			break;
		if (ext2fs_test_inode_bitmap2(ext2->inode_map, ino) &&
		    (inode.i_links_count || ino == EXT2_BAD_INO))
			check_inode(b, ext2, ino, &inode);
	}
	ext2fs_close_inode_scan(scan);
	for (size_t i = 0; i < b->map->free.count; i++)
		assert_false(ext2fs_test_block_bitmap2(ext2->block_map, b->map->free.at[i].start));
	assert_int_equal(b->map->free_blocks, ext2fs_free_blocks_count(ext2->super));
	ext2fs_free(ext2);
}

/* --- sources --- */

/*
 * A tree with a bit of everything: sizes around block limits, holes, links, odd names, slow and
 * fast symlinks, empty files, a large directory.
 */
static void make_source(struct bench *b)
{
	bench_run(b, "mkdir -p $D/src/dir/deep/deeper $D/src/many $D/src/empty; cd $D/src\n"
		     "for s in 0 1 59 1023 1024 1025 4096 12288 12289 70000 300000; do\n"
		     "  head -c $s /dev/zero | tr '\\0' x >dir/size$s; done\n"
		     "head -c 3000000 /dev/zero | tr '\\0' y >dir/big\n"
		     "for i in 0 5 9 400 20000 70000 130000; do\n"
		     "  head -c 4096 /dev/zero | tr '\\0' z | dd of=holes bs=1024 seek=$i "
		     "conv=notrunc; done\n"
		     "truncate -s 50M allhole\n"
		     "ln dir/big dir/deep/big2; ln dir/big abig\n"
		     "ln -s short fast; ln -s $(head -c 200 /dev/zero | tr '\\0' l) slow\n"
		     "mkfifo fifo; mknod blk b 8 1; mknod chr c 300 70000\n"
		     "for i in $(seq 400); do echo $i "
		     ">many/a_rather_long_name_to_fill_several_directory_blocks_$i; done\n"
		     "echo d >dir/deep/deeper/d");
}

/* A file of 1000 pieces of 4 KiB with holes of 4 KiB between them. */
static void make_comb(struct bench *b)
{
	char path[96], piece[4096];
	int fd;

	memset(piece, 'c', sizeof(piece));
	snprintf(path, sizeof(path), "%s/comb", b->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	assert_true(fd >= 0);
	for (off_t i = 0; i < 1000; i++)
		assert_int_equal(pwrite(fd, piece, sizeof(piece), i * 8192), sizeof(piece));
	close(fd);
}

/* The tree, then files of many pieces, some interleaved with holes that others left. */
static void make_image(struct bench *b, const char *size, const char *arguments)
{
	bench_make(b, size, arguments);
	make_comb(b);
	bench_debugfs(b, "write comb comb\n"
			 "write comb short_lived\n"
			 "write comb comb2\n"
			 "rm short_lived\n"
			 "write comb comb3\n"
			 "mknod p p\n"
			 "symlink sym targettargettargettargettargettargettargettargettarget/x\n");
	/* mke2fs -d and debugfs leave counts that only e2fsck puts right. */
	assert_in_range(bench_try(b, "e2fsck -fy $I"), 0, 1);
}

static void test_oracle(void **state)
{
	static const struct {
		const char *size, *arguments;
		bool extents;
	} cases[] = {
		{"64M", "-t ext2 -b 1024", false},
		{"64M", "-t ext2 -b 1024 -I 128 -O ^resize_inode", false},
		{"96M", "-t ext3 -b 2048", false},
		{"96M", "-t ext3 -b 4096", false},
		{"64M", "-r 0 -O none -b 1024", false},
		{"64M", "-t ext4 -b 1024", true},
		{"64M", "-t ext4 -b 1024 -O ^metadata_csum,uninit_bg,^flex_bg", true},
		{"64M", "-t ext4 -b 1024 -O meta_bg,^resize_inode", true},
		{"64M",
		 "-t ext4 -b 1024 -O sparse_super2,^sparse_super,^resize_inode "
		 "-E num_backup_sb=2",
		 true},
		{"64M", "-t ext4 -b 1024 -O ^sparse_super,^resize_inode -g 1024", true},
		{"64M", "-t ext4 -b 1024 -E resize=1000000", true},
		{"40000K", "-t ext4 -b 1024 -J size=4", true},
		{"96M", "-t ext4 -b 2048 -O inline_data -I 256", true},
		{"96M", "-t ext4 -b 4096 -O metadata_csum_seed,orphan_file,large_dir", true},
		{"96M", "-t ext4 -b 4096 -O 64bit -I 1024", true},
		{"96M", "-t ext4 -b 4096 -O extent,^64bit,^huge_file,^metadata_csum", true},
		{"256M", "-t ext4 -b 65536 -O ^has_journal", true},
	};
	struct bench *b = *state;

	make_source(b);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		print_message("%s\n", cases[i].arguments);
		make_image(b, cases[i].size, cases[i].arguments);
		check_image(b);
		assert_int_equal(bench_file(b, "/comb")->mapping,
				 cases[i].extents ? FL_MAPPING_EXTENTS : FL_MAPPING_INDIRECT);
	}
}

static void test_deep_tree(void **state)
{
	struct bench *b = *state;

	make_image(b, "64M", "-t ext4 -b 1024");
	check_image(b);
	/* 1000 extents need two levels of nodes of 84 entries: 12 leaves and one index or more. */
	assert_true(bench_file(b, "/comb3")->extent_count >= 1000);
	assert_true(bench_file(b, "/comb3")->tree_count > 12);
}

static void test_triple_indirect(void **state)
{
	struct bench *b = *state;
	const struct fl_file *file;

	/* All edges of single, double and triple indirection, and the last legal block. */
	bench_make(b, "64M", "-t ext2 -b 1024 -O ^resize_inode");
	bench_run(b,
		  "cd $D; for i in 0 11 12 267 268 523 524 65803 65804 66060 131340 16843019; do "
		  "echo $i | dd of=edges bs=1024 seek=$i conv=notrunc,sync; done");
	bench_debugfs(b, "write edges edges");
	check_image(b);
	file = bench_file(b, "/edges");
	assert_true(file->blocks >= 12);
	assert_int_equal(b->map->extents.at[file->first_extent].lblk, 0);
	assert_true(file->tree_count >= 12);
	assert_int_equal(file->size_bytes, UINT64_C(16843020) * 1024);
}

static void test_unwritten(void **state)
{
	struct bench *b = *state;
	const struct fl_file *file;
	const struct fl_extent *e;

	bench_make(b, "64M", "-t ext4 -b 1024");
	bench_run(b, "head -c 3072 /dev/zero | tr '\\0' w >$D/w");
	/* Past the end of the file, and longer than one extent can be. */
	bench_debugfs(b, "write w pre\nfallocate pre 3 36000");
	bench_fsck(b);
	check_image(b);
	file = bench_file(b, "/pre");
	assert_int_equal(file->size_bytes, 3072);
	assert_int_equal(file->blocks, 36001);
	e = &b->map->extents.at[file->first_extent];
	assert_false(e[0].unwritten);
	assert_int_equal(e[0].len, 3);
	for (size_t i = 1; i < file->extent_count; i++) {
		assert_true(e[i].unwritten);
		assert_in_range(e[i].len, 1, 32767);
	}
}

/* 32768 with the top bit is the longest written extent, not an unwritten one of length 0. */
static void test_longest_extent(void **state)
{
	struct bench *b = *state;
	const struct fl_file *file;
	bool seen = false;

	bench_run(
		b,
		"printf '[defaults]\\nbase_features = sparse_super2,filetype\\n[fs_types]\\n"
		"hf = {\\nfeatures = extent,flex_bg\\nmake_hugefiles = true\\nhugefiles_dir = /h\\n"
		"num_hugefiles = 1\\nhugefiles_size = 80M\\nzero_hugefiles = false\\n"
		"hash_alg = half_md4\\nblocksize = 1024\\n}\\n' >$D/conf; truncate -s 200M $I; "
		"MKE2FS_CONFIG=$D/conf mke2fs -qF -T hf -b 1024 -g 8192 -G 64 -E num_backup_sb=0 "
		"$I");
	check_image(b);
	for (size_t i = 0; i < b->map->files.count; i++) {
		file = &b->map->files.at[i];
		for (size_t k = 0; k < file->extent_count; k++) {
			const struct fl_extent *e = &b->map->extents.at[file->first_extent + k];

			seen = seen || (e->len == 32768 && !e->unwritten);
		}
	}
	assert_true(seen);
}

static void test_huge_file_counts_blocks(void **state)
{
	struct bench *b = *state;

	bench_make(b, "16M", "-t ext4 -b 1024 -O huge_file");
	bench_run(b, "head -c 20480 /dev/zero | tr '\\0' h >$D/h");
	bench_debugfs(b, "write h h\nset_inode_field h flags 0xC0000\nset_inode_field h blocks 20");
	check_image(b);
	assert_int_equal(bench_file(b, "/h")->blocks, 20);
	bench_debugfs(b, "set_inode_field h blocks 40");
	assert_int_equal(bench_scan(b), FL_EDAMAGED);
}

static void test_times(void **state)
{
	struct bench *b = *state;

	bench_make(b, "16M", "-t ext4 -b 1024 -I 256");
	bench_run(b, "echo h >$D/h");
	bench_debugfs(b, "write h a\nwrite h z\nset_inode_field a mtime 0x10\n"
			 "set_inode_field a mtime_extra 1\nset_inode_field z mtime 0xffffffff\n"
			 "set_inode_field z mtime_extra 0\n");
	bench_scan_ok(b);
	assert_int_equal(bench_file(b, "/a")->mtime, INT64_C(0x100000010));
	assert_int_equal(bench_file(b, "/z")->mtime, -1);
}

/* --- kinds and pins --- */

static const struct fl_file *file_of_kind(struct bench *b, enum fl_kind kind)
{
	for (size_t i = 0; i < b->map->files.count; i++)
		if (b->map->files.at[i].kind == kind)
			return &b->map->files.at[i];
	return NULL;
}

static void test_system_files(void **state)
{
	struct bench *b = *state;
	const struct fl_file *file;

	bench_run(b, "printf '700\\n702\\n5000\\n' >$D/bad");
	bench_run(b, "truncate -s 32M $I; mke2fs -qF -t ext4 -b 1024 -O orphan_file "
		     "-E resize=1000000 -l $D/bad $I");
	check_image(b);
	file = file_of_kind(b, FL_KIND_BAD_BLOCKS);
	assert_non_null(file);
	assert_int_equal(file->ino, 1);
	assert_int_equal(file->blocks, 3);
	assert_int_equal(file->pin, FL_PIN_SYSTEM);
	file = file_of_kind(b, FL_KIND_RESIZE);
	assert_non_null(file);
	assert_int_equal(file->ino, 7);
	assert_int_equal(file->blocks, 0);
	assert_int_equal(file->tree_count, 1);
	assert_int_equal(file->pin, FL_PIN_SYSTEM);
	file = file_of_kind(b, FL_KIND_JOURNAL);
	assert_non_null(file);
	assert_int_equal(file->ino, 8);
	assert_int_equal(file->pin, FL_PIN_SYSTEM);
	file = file_of_kind(b, FL_KIND_HIDDEN);
	assert_non_null(file);
	assert_int_equal(file->ino, 12);
	assert_int_equal(file->pin, FL_PIN_SYSTEM);
	assert_int_equal(bench_file(b, "/")->pin, FL_PIN_NONE);
	assert_int_equal(bench_file(b, "/")->kind, FL_KIND_DIRECTORY);
	assert_int_equal(bench_file(b, "/lost+found")->pin, FL_PIN_NONE);
	assert_int_equal(b->map->names.at[0].ino, 2);
	assert_int_equal(b->map->names.at[0].parent, FL_NO_NAME);
}

static void test_pins(void **state)
{
	static const struct {
		const char *path;
		enum fl_pin pin;
	} expected[] = {
		{"/plain", FL_PIN_NONE},
		{"/fixed", FL_PIN_IMMUTABLE},
		{"/mem", FL_PIN_SWAP},
		{"/swap.open", FL_PIN_SWAP},
		{"/big.page.swap", FL_PIN_SWAP},
		{"/readable", FL_PIN_NONE}, /* has the magic, but others may read it */
		{"/odd", FL_PIN_NONE},	    /* not whole pages */
		{"/swapless", FL_PIN_NONE}, /* has no magic */
		{"/boot/map", FL_PIN_BOOT},
		{"/map", FL_PIN_NONE},
		{"/boot/x/map", FL_PIN_NONE},
		{"/boot/x/core.img", FL_PIN_BOOT},
		{"/ldlinux.sys", FL_PIN_BOOT},
		{"/boot/e2fs_stage1_5", FL_PIN_BOOT},
		{"/stage2", FL_PIN_BOOT},
		{"/boot", FL_PIN_NONE},
	};
	static const char *const images[] = {"-t ext4 -b 1024", "-t ext4 -b 4096",
					     "-t ext2 -b 1024"};
	struct bench *b = *state;

	bench_run(b, "mkdir -p $D/src/boot/x; cd $D/src\n"
		     "head -c 65536 /dev/zero | tr '\\0' x >swapless; chmod 600 swapless\n"
		     "cp swapless mem; printf SWAPSPACE2 | dd of=mem bs=1 seek=4086 conv=notrunc\n"
		     "cp mem swap.open; cp mem readable; chmod 644 swap.open readable\n"
		     "cp mem odd; echo >>odd\n"
		     "cp swapless big.page.swap\n"
		     "printf SWAPSPACE2 | dd of=big.page.swap bs=1 seek=65526 conv=notrunc\n"
		     "for f in plain fixed boot/map map boot/x/map boot/x/core.img ldlinux.sys "
		     "boot/e2fs_stage1_5 stage2; do echo $f >$f; done");
	for (size_t k = 0; k < sizeof(images) / sizeof(images[0]); k++) {
		bench_make(b, "32M", images[k]);
		bench_debugfs(b, "set_inode_field fixed flags 0x80010");
		if (k == 2)
			bench_debugfs(b, "set_inode_field fixed flags 0x10");
		check_image(b);
		for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
			if (bench_file(b, expected[i].path)->pin != expected[i].pin)
				fail_msg("%s: pin %d", expected[i].path,
					 bench_file(b, expected[i].path)->pin);
	}
}

static void test_hidden(void **state)
{
	struct bench *b = *state;
	size_t index;

	bench_make(b, "16M", "-t ext4 -b 1024");
	bench_run(b, "echo h >$D/h");
	bench_debugfs(b, "write h h\nunlink h");
	bench_scan_ok(b);
	assert_true(fl_map_find(b->map, b->fs ? 12 : 0, &index));
	assert_int_equal(b->map->files.at[index].pin, FL_PIN_HIDDEN);
	assert_int_equal(b->map->files.at[index].name, FL_NO_NAME);
	assert_int_equal(b->map->files.at[index].path_rank, FL_NO_NAME);
}

/* --- extended attributes --- */

static const char *const attribute_of_200 =
	"0123456789012345678901234567890123456789012345678901234567890123456789"
	"0123456789012345678901234567890123456789012345678901234567890123456789"
	"012345678901234567890123456789012345678901234567890123456789";

static void make_attributes(struct bench *b, const char *arguments)
{
	char commands[2048];

	bench_make(b, "16M", arguments);
	bench_run(b, "echo h >$D/h");
	/* A fast symlink, a device and an empty file can own an attribute block, too. */
	snprintf(commands, sizeof(commands),
		 "write h f\nsymlink s short\nmknod d b 8 1\nmknod p p\nwrite /dev/null e\n"
		 "ea_set f user.a %s\nea_set d user.a %s\nea_set e user.a %s\nea_set s user.a %s\n",
		 attribute_of_200, attribute_of_200, attribute_of_200, attribute_of_200);
	bench_debugfs(b, commands);
}

static void test_attribute_blocks(void **state)
{
	static const char *const arguments[] = {
		"-t ext4 -b 1024 -I 128 -O ^extra_isize,metadata_csum", "-t ext2 -b 1024 -I 128"};
	struct bench *b = *state;

	for (size_t i = 0; i < 2; i++) {
		make_attributes(b, arguments[i]);
		check_image(b);
		assert_int_equal(b->map->files.count - b->map->inode_count, 4);
		for (size_t k = b->map->inode_count; k < b->map->files.count; k++) {
			const struct fl_file *file = &b->map->files.at[k];

			assert_int_equal(file->kind, FL_KIND_XATTR);
			assert_int_equal(file->blocks, 1);
			assert_int_equal(file->owner_count, 1);
			assert_int_equal(b->map->owners.at[file->first_owner], file->ino);
		}
		/* They are not data of the file. */
		assert_int_equal(bench_file(b, "/f")->blocks, 1);
		assert_int_equal(bench_file(b, "/f")->tree_count, 0);
	}
}

static fl_pblk first_xattr_block(const struct bench *b)
{
	return b->map->extents.at[b->map->files.at[b->map->inode_count].first_extent].pblk;
}

/* One block for two inodes, as the kernel makes it: once in the map, but with the right count. */
static void test_shared_attribute_block(void **state)
{
	struct bench *b = *state;
	const unsigned char two[4] = {2, 0, 0, 0}, three[4] = {3, 0, 0, 0};
	char commands[256];
	fl_pblk block;

	make_attributes(b, "-t ext2 -b 1024 -I 128");
	bench_scan_ok(b);
	block = first_xattr_block(b);
	bench_close(b);
	snprintf(commands, sizeof(commands),
		 "write h g\nset_inode_field g file_acl %llu\nset_inode_field g blocks 4\n",
		 (unsigned long long)block);
	bench_debugfs(b, commands);
	assert_int_equal(bench_scan(b), FL_EDAMAGED);
	assert_non_null(strstr(b->diag.text, "users"));
	bench_poke(b, two, 4, block * 1024 + 4);
	check_image(b);
	assert_int_equal(b->map->files.at[b->map->inode_count].owner_count, 2);
	bench_poke(b, three, 4, block * 1024 + 4);
	assert_int_equal(bench_scan(b), FL_EDAMAGED);
}

static void test_attribute_damage(void **state)
{
	struct bench *b = *state;
	uint64_t at;

	make_attributes(b, "-t ext4 -b 1024 -I 128 -O ^extra_isize,metadata_csum");
	bench_scan_ok(b);
	at = first_xattr_block(b) * b->map->geo.block_bytes;
	bench_poke(b, "!", 1, at + 1000);
	assert_int_equal(bench_scan(b), FL_EDAMAGED);
	assert_non_null(strstr(b->diag.text, "checksum"));
	bench_debugfs(b, "set_inode_field f file_acl 999999");
	assert_int_equal(bench_scan(b), FL_EDAMAGED);
}

/* --- names --- */

static void check_names(struct bench *b)
{
	/* Byte order in a directory, a directory before its content, no matter what follows it. */
	static const char *const expected[] = {
		"/",	 "/A",	"/a",	       "/a/0", "/a/b", "/a/b/first", "/a/z",  "/a!",
		"/a!/x", "/a0", "/lost+found", "/z",   "/~",   "/\xc3\xa4",  "/\xff",
	};
	uint32_t rank = 0;
	char buffer[4096];
	const char *path;

	for (size_t i = 0; i < b->map->names.count; i++) {
		size_t file;

		if (!fl_map_find(b->map, b->map->names.at[i].ino, &file))
			continue;
		path = fl_map_path(b->map, (uint32_t)i, false, buffer, sizeof(buffer));
		assert_true(rank < sizeof(expected) / sizeof(expected[0]));
		assert_string_equal(path, expected[rank]);
		assert_int_equal(b->map->files.at[file].path_rank, rank);
		assert_int_equal(b->map->files.at[file].name, i);
		rank++;
	}
	assert_int_equal(rank, sizeof(expected) / sizeof(expected[0]));
}

static void test_names(void **state)
{
	struct bench *b = *state;

	bench_run(b,
		  "mkdir -p $D/src/a/b $D/src/a!; cd $D/src; for f in a!/x a0 z A '~' a/0 a/z "
		  "a/b/first \"$(printf '\\303\\244')\" \"$(printf '\\377')\"; do echo 1 >\"$f\"; "
		  "done; ln a/b/first a/zz; ln a/b/first later; : >no_blocks; ln -s x link");
	bench_make(b, "16M", "-t ext4 -b 1024");
	check_image(b);
	check_names(b);
	bench_make(b, "16M", "-t ext2 -b 4096 -O ^dir_index,^filetype");
	check_image(b);
	check_names(b);
}

/* Inline directories own no block, but what is below them is found. */
static void test_inline_directories(void **state)
{
	struct bench *b = *state;
	size_t index;

	bench_run(b, "mkdir -p $D/src/tiny/inner; head -c 9000 /dev/zero | tr '\\0' q "
		     ">$D/src/tiny/inner/file; echo 1 >$D/src/tiny/small");
	bench_make(b, "16M", "-t ext4 -b 1024 -I 256 -O inline_data");
	check_image(b);
	assert_int_equal(bench_file(b, "/tiny/inner/file")->blocks, 9);
	for (size_t i = 0; i < b->map->names.count; i++)
		if (!strcmp(b->map->texts.at + b->map->names.at[i].text, "tiny"))
			assert_false(fl_map_find(b->map, b->map->names.at[i].ino, &index));
}

static void test_deep_directories(void **state)
{
	struct bench *b = *state;
	size_t depth = 0;

	bench_run(b, "mkdir $D/src; cd $D/src; for i in $(seq 300); do mkdir d; cd d; done; "
		     "echo end >end");
	bench_make(b, "16M", "-t ext4 -b 1024");
	check_image(b);
	for (uint32_t n = (uint32_t)b->map->names.count - 1; n != FL_NO_NAME;
	     n = b->map->names.at[n].parent)
		depth++;
	/* The last in path order is lost+found. */
	assert_int_equal(depth, 2);
	assert_int_equal(b->map->names.count, 1 + 300 + 1 + 1);
}

/* --- damage --- */

static void expect_damage(struct bench *b, const char *label, const char *words)
{
	uint64_t digest = bench_digest(b);
	int error = bench_scan(b);

	if (error != FL_EDAMAGED || !strstr(b->diag.text, words))
		fail_msg("%s: %s: \"%s\"", label, fl_error_text(error), b->diag.text);
	if (!strstr(b->diag.text, "e2fsck"))
		fail_msg("%s: no remedy in \"%s\"", label, b->diag.text);
	assert_null(b->map);
	bench_close(b);
	assert_true(bench_digest(b) == digest);
}

struct damage {
	const char *mke2fs, *debugfs, *words;
};

/* x has 40 blocks; on ext2 (12 direct) its first ones are in i_block. */
static const struct damage damages[] = {
	{"-t ext2 -b 1024", "setb 12000 50", "marked used but nothing owns it"},
	{"-t ext4 -b 1024", "setb 12000 1", "block 12000 (group 1)"},
	{"-t ext2 -b 1024", "set_inode_field x block[2] 3", "used by"},
	{"-t ext2 -b 1024", "set_inode_field x block[2] 99999999", "outside"},
	{"-t ext2 -b 1024", "set_inode_field x block[IND] 99999999", "outside"},
	{"-t ext2 -b 1024", "set_inode_field x block[3] 0", "i_blocks"},
	{"-t ext2 -b 1024", "set_inode_field x blocks 20", "i_blocks is 20"},
	{"-t ext4 -b 1024", "set_inode_field x blocks 20", "i_blocks is 20"},
	{"-t ext4 -b 1024", "set_inode_field x links_count 0", "no links"},
	{"-t ext4 -b 1024", "set_inode_field x mode 0", "known type"},
	{"-t ext2 -b 1024", "set_inode_field x flags 0x80000", "without the feature"},
	{"-t ext4 -b 1024", "set_inode_field x flags 0x10080000", "without the feature"},
	{"-t ext4 -b 1024", "set_bg 1 free_blocks_count 5", "group 1"},
	{"-t ext4 -b 1024", "set_super_value free_blocks_count 5", "superblock counts 5"},
	{"-t ext4 -b 1024", "freei x", "not in use"},
	{"-t ext4 -b 1024", "link /dir /dir/again", "two names"},
	{"-t ext4 -b 1024", "link / /dir/root", "two names"},
	{"-t ext4 -b 1024 -O ^metadata_csum", "set_inode_field x block[0] 0", "bad header"},
	/* Entry 0: logical 1 instead of 0 is fine; length 0, and a start outside, are not. */
	{"-t ext4 -b 1024 -O ^metadata_csum", "set_inode_field x block[4] 0", "length 0"},
	{"-t ext4 -b 1024 -O ^metadata_csum", "set_inode_field x block[5] 99999999",
	 "outside the filesystem"},
	{"-t ext4 -b 1024 -O ^metadata_csum", "set_inode_field x block[5] 3", "used by"},
	{"-t ext4 -b 1024 -O ^metadata_csum", "set_inode_field x block[3] 0xfffffff0",
	 "leaves the range"},
	{"-t ext4 -b 1024 -O ^metadata_csum", "set_inode_field x block[1] 0x00070004", "deeper"},
};

static void test_debugfs_damage(void **state)
{
	struct bench *b = *state;

	bench_run(b, "head -c 40960 /dev/zero | tr '\\0' x >$D/x");
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		char commands[512];

		bench_make(b, "16M", damages[i].mke2fs);
		bench_debugfs(b, "write x x\nmkdir dir\nwrite x dir/y");
		check_image(b);
		bench_close(b);
		snprintf(commands, sizeof(commands), "%s\n", damages[i].debugfs);
		bench_debugfs(b, commands);
		expect_damage(b, damages[i].debugfs, damages[i].words);
	}
}

static void test_bitmap_says_free(void **state)
{
	static const char *const arguments[] = {"-t ext2 -b 1024", "-t ext4 -b 4096"};
	struct bench *b = *state;
	char commands[64], words[64];

	bench_run(b, "head -c 40960 /dev/zero | tr '\\0' x >$D/x");
	for (size_t i = 0; i < 2; i++) {
		fl_pblk block;

		bench_make(b, "16M", arguments[i]);
		bench_debugfs(b, "write x x");
		bench_scan_ok(b);
		block = b->map->extents.at[bench_file(b, "/x")->first_extent].pblk + 5;
		snprintf(words, sizeof(words),
			 "block %llu (group %u) is marked free but used by "
			 "inode %u",
			 (unsigned long long)block, fl_group_of(&b->map->geo, block),
			 bench_file(b, "/x")->ino);
		bench_close(b);
		snprintf(commands, sizeof(commands), "freeb %llu\n", (unsigned long long)block);
		bench_debugfs(b, commands);
		expect_damage(b, "freeb", words);
	}
}

/* A deep tree without checksums, to be bent; returns where its first mapping block begins. */
static uint64_t make_tree(struct bench *b, const char *arguments)
{
	uint64_t at;

	make_image(b, "64M", arguments);
	bench_scan_ok(b);
	assert_true(bench_file(b, "/comb")->tree_count > 2);
	at = b->map->trees.at[bench_file(b, "/comb")->first_tree] * b->map->geo.block_bytes;
	bench_close(b);
	return at;
}

static void poke_damage(struct bench *b, const char *label, uint64_t at, const char *bytes,
			size_t length, const char *words)
{
	unsigned char saved[16];

	bench_peek(b, saved, length, at);
	bench_poke(b, bytes, length, at);
	expect_damage(b, label, words);
	bench_poke(b, saved, length, at);
}

static void test_tree_damage(void **state)
{
	struct bench *b = *state;
	const char *plain = "-t ext4 -b 1024 -O ^metadata_csum";
	uint64_t at = make_tree(b, plain);
	unsigned char node[64];

	/* The first node is an index (1000 extents, 84 a leaf, 4 in the inode: depth 2). */
	bench_peek(b, node, sizeof(node), at);
	assert_int_equal(node[6], 1);
	poke_damage(b, "magic", at, "\0", 1, "bad header");
	poke_damage(b, "no entries", at + 2, "\0\0", 2, "no entries");
	poke_damage(b, "more entries than fit", at + 2, "\xff\xff", 2, "bad header");
	poke_damage(b, "eh_max", at + 4, "\xff\x7f", 2, "bad header");
	poke_damage(b, "depth", at + 6, "\2", 1, "wrong depth");
	poke_damage(b, "start", at + 12, "\1", 1, "does not begin where");
	poke_damage(b, "pointer", at + 16, "\xff\xff\xff\x7f", 4, "outside");
	poke_damage(b, "pointer, high half", at + 20, "\1", 1, "outside");
	poke_damage(b, "second entry like the first", at + 24, (const char *)node + 12, 12,
		    "out of order");
	/* The index names itself as its first leaf. */
	at = make_tree(b, plain);
	{
		uint32_t self = (uint32_t)(at / 1024);

		poke_damage(b, "cycle", at + 16, (const char *)&self, 4, "wrong depth");
	}
	/* With checksums any change is seen. */
	at = make_tree(b, "-t ext4 -b 1024 -O metadata_csum");
	poke_damage(b, "checksum", at + 8, "\1", 1, "wrong checksum");
	bench_scan_ok(b);
}

static void test_leaf_damage(void **state)
{
	struct bench *b = *state;
	uint64_t at = make_tree(b, "-t ext4 -b 1024 -O ^metadata_csum");
	unsigned char entries;

	bench_scan_ok(b);
	at = b->map->trees.at[bench_file(b, "/comb")->first_tree + 1] * 1024;
	bench_close(b);
	poke_damage(b, "length 0", at + 16, "\0\0", 2, "length 0");
	poke_damage(b, "overlap", at + 16, "\x40", 1, "out of order or overlapping");
	poke_damage(b, "order", at + 24, "\0\0\0\0", 4, "out of order or overlapping");
	/* The last entry of the leaf reaches into the next leaf's range. */
	bench_peek(b, &entries, 1, at + 2);
	poke_damage(b, "range", at + (uint64_t)entries * 12 + 4, "\xff\x7f", 2, "leaves the range");
	poke_damage(b, "place", at + 20, "\xff\xff\xff\x7f", 4, "outside");
	poke_damage(b, "duplicate", at + 20, "\3\0\0\0", 4, "used by");
	bench_scan_ok(b);
}

/* Indirect blocks that point to themselves must not keep the scan busy. */
static void test_indirect_loop(void **state)
{
	struct bench *b = *state;
	unsigned char pointers[1024];
	uint32_t self;
	uint64_t at = make_tree(b, "-t ext2 -b 1024 -O ^resize_inode");
	const struct fl_file *file;

	bench_scan_ok(b);
	file = bench_file(b, "/comb");
	/* Preorder: IND, DIND and what is below it. */
	assert_int_equal(at, b->map->trees.at[file->first_tree] * 1024);
	self = (uint32_t)b->map->trees.at[file->first_tree + 1];
	bench_close(b);
	for (size_t i = 0; i < sizeof(pointers); i += 4)
		memcpy(pointers + i, &self, 4);
	bench_poke(b, pointers, sizeof(pointers), (uint64_t)self * 1024);
	expect_damage(b, "loop", "");
}

static void test_inode_checksum(void **state)
{
	struct bench *b = *state;
	uint64_t at;

	bench_run(b, "echo 1 >$D/x");
	bench_make(b, "16M", "-t ext4 -b 1024 -I 256 -O metadata_csum");
	bench_debugfs(b, "write x x");
	bench_scan_ok(b);
	assert_int_equal(bench_file(b, "/x")->ino, 12);
	bench_close(b);
	bench_run(b, "debugfs -R 'imap <12>' $I 2>/dev/null | sed -n 's/.*block \\([0-9]*\\), "
		     "offset 0x\\(.*\\)/echo $((\\1 * 1024 + 0x\\2))/p' | sh >$D/at");
	{
		char path[96];
		FILE *file;

		snprintf(path, sizeof(path), "%s/at", b->dir);
		file = fopen(path, "r");
		assert_non_null(file);
		assert_int_equal(fscanf(file, "%lu", &at), 1);
		fclose(file);
	}
	poke_damage(b, "inode", at + 4, "\7", 1, "inode 12: wrong checksum");
	/* An unused inode with garbage in it is nobody's business. */
	bench_poke(b, "garbage", 7, at + 5 * 256);
	bench_scan_ok(b);
}

static void test_directory_damage(void **state)
{
	struct bench *b = *state;
	uint64_t at;

	bench_run(b, "echo 1 >$D/x");
	bench_make(b, "16M", "-t ext4 -b 1024 -O metadata_csum");
	bench_scan_ok(b);
	at = b->map->extents.at[bench_file(b, "/")->first_extent].pblk * 1024;
	bench_close(b);
	poke_damage(b, "checksum", at + 500, "x", 1, "checksum");

	bench_make(b, "16M", "-t ext4 -b 1024 -O ^metadata_csum");
	bench_debugfs(b, "write x x");
	bench_scan_ok(b);
	at = b->map->extents.at[bench_file(b, "/")->first_extent].pblk * 1024;
	bench_close(b);
	/* "." and "..", 12 bytes each, then lost+found. */
	poke_damage(b, "rec_len 0", at + 24 + 4, "\0\0", 2, "irectory");
	poke_damage(b, "rec_len past the end", at + 24 + 4, "\xf0\xff", 2, "irectory");
	poke_damage(b, "name_len", at + 24 + 6, "\xff", 1, "longer than its entry");
	poke_damage(b, "slash", at + 24 + 8, "/", 1, "impossible name");
	poke_damage(b, "inode", at + 24, "\xff\xff\xff\x7f", 4, "not in use");
	bench_scan_ok(b);
}

static void count_progress(void *context, uint64_t done, uint64_t total)
{
	uint64_t *last = context;

	assert_true(done <= total && done > *last);
	*last = done;
}

static void test_progress(void **state)
{
	struct bench *b = *state;
	uint64_t last = 0;

	bench_make(b, "64M", "-t ext4 -b 1024 -N 32768");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	assert_int_equal(fl_scan(b->fs, count_progress, &last, &b->map, &b->diag), 0);
	assert_int_equal(last, b->map->geo.inodes_per_group * b->map->geo.groups);
}

/* Every read of a scan can fail, and then the scan says so. */
struct countdown {
	uint64_t reads, fail_at;
};

static int fail_read(void *context, const struct fl_device_event *event)
{
	struct countdown *countdown = context;

	(void)event;
	return ++countdown->reads == countdown->fail_at ? FL_EIO : 0;
}

static void test_read_errors(void **state)
{
	struct bench *b = *state;
	struct countdown countdown = {0};
	struct fl_device *recorder;
	uint64_t reads;

	make_source(b);
	bench_make(b, "64M", "-t ext4 -b 1024 -I 256 -O inline_data");
	assert_int_equal(bench_open(b, FL_FS_READ), 0);
	fl_fs_close(b->fs);
	b->fs = NULL;
	assert_int_equal(fl_device_recorder(b->device, fail_read, &countdown, &recorder), 0);
	assert_int_equal(fl_fs_open(recorder, FL_FS_READ, &b->fs, &b->diag), 0);
	assert_int_equal(fl_scan(b->fs, NULL, NULL, &b->map, &b->diag), 0);
	reads = countdown.reads;
	fl_map_free(b->map);
	fl_fs_close(b->fs);
	b->map = NULL;
	b->fs = NULL;
	for (uint64_t i = 1; i <= reads; i++) {
		int error;

		countdown = (struct countdown){.fail_at = i};
		error = fl_fs_open(recorder, FL_FS_READ, &b->fs, &b->diag);
		if (!error)
			error = fl_scan(b->fs, NULL, NULL, &b->map, &b->diag);
		if (error != FL_EIO)
			fail_msg("read %llu of %llu: %d: %s", (unsigned long long)i,
				 (unsigned long long)reads, error, b->diag.text);
		fl_fs_close(b->fs);
		b->fs = NULL;
	}
	fl_device_close(recorder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_oracle),
		TEST(test_deep_tree),
		TEST(test_triple_indirect),
		TEST(test_unwritten),
		TEST(test_longest_extent),
		TEST(test_huge_file_counts_blocks),
		TEST(test_times),
		TEST(test_system_files),
		TEST(test_pins),
		TEST(test_hidden),
		TEST(test_attribute_blocks),
		TEST(test_shared_attribute_block),
		TEST(test_attribute_damage),
		TEST(test_names),
		TEST(test_inline_directories),
		TEST(test_deep_directories),
		TEST(test_debugfs_damage),
		TEST(test_bitmap_says_free),
		TEST(test_tree_damage),
		TEST(test_leaf_damage),
		TEST(test_indirect_loop),
		TEST(test_inode_checksum),
		TEST(test_directory_damage),
		TEST(test_progress),
		TEST(test_read_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
