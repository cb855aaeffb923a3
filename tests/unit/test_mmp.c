/* SPDX-License-Identifier: MIT */
/*
 * The claim by multiple mount protection: what others see of it, who is quicker, what is left.
 */
#include "tests/lib/image.h"

#include <common/fs/fs_internal.h>

#define SEQUENCE 0x12345678u

struct scene {
	struct bench *bench;
	uint64_t at; /* of the block, in bytes */
	unsigned waits;
	bool other; /* another machine writes while we wait */
	bool stop;
	bool wrote;
};

static uint32_t sequence_on_disk(const struct scene *scene)
{
	uint32_t sequence;

	bench_peek(scene->bench, &sequence, sizeof(sequence), scene->at + 4);
	return ext2fs_le32_to_cpu(sequence);
}

static bool wait_a_little(void *context, uint32_t seconds)
{
	struct scene *scene = context;

	scene->waits++;
	assert_int_equal(seconds, 11);
	assert_int_equal(sequence_on_disk(scene), SEQUENCE);
	if (scene->other)
		bench_poke(scene->bench, "\1\2\3\4", 4, scene->at + 4);
	return !scene->stop;
}

static struct scene begin(struct bench *b, const char *arguments)
{
	struct scene scene = {.bench = b};

	bench_make(b, "8M", arguments);
	assert_int_equal(bench_open(b, FL_FS_CHANGE), 0);
	scene.at = b->fs->ext2->super->s_mmp_block * b->fs->ext2->blocksize;
	return scene;
}

static int claim(struct scene *scene)
{
	const struct fl_claimant claimant = {SEQUENCE, wait_a_little, scene};

	return fl_fs_claim(scene->bench->fs, &claimant, &scene->wrote, &scene->bench->diag);
}

static void claim_and_give_back(struct bench *b, const char *arguments)
{
	struct scene scene = begin(b, arguments);
	uint64_t digest = bench_digest(b);
	unsigned char before[1024], claimed[1024];
	struct mmp_struct *mmp = (struct mmp_struct *)claimed;

	bench_peek(b, before, sizeof(before), scene.at);
	assert_int_equal(claim(&scene), 0);
	assert_true(scene.wrote);
	assert_int_equal(scene.waits, 1);
	assert_true(fl_fs_claimed(b->fs));
	assert_int_equal(sequence_on_disk(&scene), EXT4_MMP_SEQ_FSCK);
	bench_peek(b, claimed, sizeof(claimed), scene.at);
	assert_true(ext2fs_mmp_csum_verify(b->fs->ext2, mmp));
	assert_memory_equal(before + FL_SECTOR_BYTES, claimed + FL_SECTOR_BYTES, FL_SECTOR_BYTES);
	assert_memory_equal(mmp->mmp_bdevname, "fraglab", 8);
	assert_int_equal(fl_fs_claim_holds(b->fs, &b->diag), 0);
	assert_int_equal(claim(&scene), FL_EINVAL);
	assert_int_equal(fl_fs_disclaim(b->fs, &b->diag), 0);
	assert_false(fl_fs_claimed(b->fs));
	assert_int_equal(fl_fs_disclaim(b->fs, &b->diag), 0);
	assert_true(bench_digest(b) == digest);
}

static void test_claim(void **state)
{
	claim_and_give_back(*state, "-t ext4 -b 1024 -O mmp,^metadata_csum");
	claim_and_give_back(*state, "-t ext4 -b 1024 -O mmp,metadata_csum");
	claim_and_give_back(*state, "-t ext4 -b 4096 -O mmp,metadata_csum,metadata_csum_seed");
}

/* Two that have seen the block clean: the one that wrote last has it. */
static void test_other_is_quicker(void **state)
{
	struct scene scene = begin(*state, "-t ext4 -b 1024 -O mmp");

	scene.other = true;
	assert_int_equal(claim(&scene), FL_EBUSY);
	assert_false(scene.wrote);
	assert_false(fl_fs_claimed(scene.bench->fs));
	assert_int_equal(sequence_on_disk(&scene), 0x04030201);
}

/* Between opening and claiming. */
static void test_other_was_quicker(void **state)
{
	struct scene scene = begin(*state, "-t ext4 -b 1024 -O mmp,^metadata_csum");

	bench_poke(scene.bench, "\1\2\3\4", 4, scene.at + 4);
	assert_int_equal(claim(&scene), FL_EBUSY);
	assert_false(scene.wrote);
	assert_int_equal(scene.waits, 0);
	assert_int_equal(sequence_on_disk(&scene), 0x04030201);
}

static void test_stop(void **state)
{
	struct scene scene = begin(*state, "-t ext4 -b 1024 -O mmp,metadata_csum");
	uint64_t digest = bench_digest(scene.bench);

	scene.stop = true;
	assert_int_equal(claim(&scene), FL_ECANCELLED);
	assert_false(scene.wrote);
	assert_false(fl_fs_claimed(scene.bench->fs));
	assert_true(bench_digest(scene.bench) == digest);
}

/* Somebody clears the block in spite of us, and mounts. */
static void test_taken_over(void **state)
{
	struct scene scene = begin(*state, "-t ext4 -b 1024 -O mmp");
	struct bench *b = scene.bench;

	assert_int_equal(claim(&scene), 0);
	bench_poke(b, "\1\2\3\4", 4, scene.at + 4);
	assert_int_equal(fl_fs_claim_holds(b->fs, &b->diag), FL_EBUSY);
	assert_int_equal(fl_fs_disclaim(b->fs, &b->diag), 0);
	assert_int_equal(sequence_on_disk(&scene), 0x04030201);
}

static void test_misuse(void **state)
{
	struct scene scene = begin(*state, "-t ext4 -b 1024 -O mmp");
	struct bench *b = scene.bench;
	struct fl_claimant none = {0}, reserved = {EXT4_MMP_SEQ_FSCK, wait_a_little, &scene};

	assert_int_equal(fl_fs_claim(b->fs, &none, &scene.wrote, &b->diag), FL_EINVAL);
	assert_int_equal(fl_fs_claim(b->fs, &reserved, &scene.wrote, &b->diag), FL_EINVAL);
	assert_int_equal(sequence_on_disk(&scene), EXT4_MMP_SEQ_CLEAN);
	/* Nothing is needed where there is no such protection. */
	bench_make(b, "8M", "-t ext4 -b 1024");
	assert_int_equal(bench_open(b, FL_FS_CHANGE), 0);
	assert_int_equal(fl_fs_claim(b->fs, &none, &scene.wrote, &b->diag), 0);
	assert_false(fl_fs_claimed(b->fs));
}

/* In use, being checked, and damaged: also for a look. */
static void test_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t at;
		int error;
		const char *words;
	} cases[] = {
		{"\1\0\0\0", 4, FL_EBUSY, "in use"},
		{"\x50\x4d\x4d\xe2", 4, FL_EBUSY, "clear_mmp"},
		{"\0\0\0\0", 0, FL_EDAMAGED, "damaged"},
		{"\1\1\1\1", 600, FL_EDAMAGED, "damaged"},
	};
	struct bench *b = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool sealed = cases[i].error == FL_EDAMAGED;
		struct scene scene = begin(b, sealed ? "-t ext4 -b 1024 -O mmp,metadata_csum"
						     : "-t ext4 -b 1024 -O mmp,^metadata_csum");

		bench_close(b);
		bench_poke(b, cases[i].bytes, 4, scene.at + cases[i].at);
		assert_int_equal(bench_open(b, FL_FS_ANALYZE), cases[i].error);
		assert_non_null(strstr(b->diag.text, cases[i].words));
		assert_int_equal(bench_open(b, FL_FS_CHANGE), cases[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_claim, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_other_is_quicker, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_other_was_quicker, bench_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(test_stop, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_taken_over, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_misuse, bench_setup, bench_teardown),
		cmocka_unit_test_setup_teardown(test_refused, bench_setup, bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
