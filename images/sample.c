/* SPDX-License-Identifier: MIT */
/*
 * sample: builds an ext2/3/4 image with a made-up but realistic tree. The same
 * arguments give the same bytes. Needs neither root nor a mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images/sample.h"

static const char usage[] = "Usage: sample [OPTION]... IMAGE\n"
			    "Builds a sample ext2/3/4 filesystem in the new file IMAGE.\n"
			    "\n"
			    "      --size BYTES     size of the image (default 1G)\n"
			    "      --full PERCENT   used blocks of all blocks (default 58)\n"
			    "      --files N        regular files (default 6000)\n"
			    "      --seed N         another seed, another image (default 1)\n"
			    "      --type TYPE      ext2, ext3 or ext4 (default)\n"
			    "      --block BYTES    1024, 2048 or 4096 (default)\n"
			    "      --cluster BYTES  bigalloc: 2 to 64 blocks; ext4 only\n"
			    "      --hollow         no content: files have blocks, all of zeros\n"
			    "      --help           this text\n";

extern char **environ;

static int fail(const char *image, const char *action, const char *reason)
{
	fprintf(stderr, "sample: %s: %s: %s.\n", image, action, reason);
	return -1;
}

static int parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	if (fl_size_parse(text, value) || *value < low || *value > high) {
		fprintf(stderr, "sample: '%s' is not a number from %llu to %llu.\n", text,
			(unsigned long long)low, (unsigned long long)high);
		return -1;
	}
	return 0;
}

static bool is_power(uint32_t number)
{
	return (number & (number - 1)) == 0;
}

static bool clusters_fit(const struct sample_options *o)
{
	uint32_t bytes = o->cluster_bytes;

	return !bytes || (is_power(bytes) && bytes > o->block_bytes &&
			  bytes <= 64 * o->block_bytes && !strcmp(o->type, "ext4"));
}

/* 0; -1: usage error, said; 1: help given. */
static int parse(int argc, char **argv, struct sample_options *options)
{
	static const struct option table[] = {
		{"size", required_argument, NULL, 's'},	   {"full", required_argument, NULL, 'f'},
		{"files", required_argument, NULL, 'n'},   {"seed", required_argument, NULL, 'r'},
		{"type", required_argument, NULL, 't'},	   {"block", required_argument, NULL, 'b'},
		{"cluster", required_argument, NULL, 'c'}, {"hollow", no_argument, NULL, 'e'},
		{"help", no_argument, NULL, 'h'},	   {0},
	};
	uint64_t value = 0;
	int letter, error = 0;

	*options = (struct sample_options){.type = "ext4",
					   .size_bytes = 1ull << 30,
					   .full_percent = 58,
					   .files = 6000,
					   .block_bytes = 4096,
					   .seed = 1};
	while (!error && (letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (letter) {
		case 's':
			error = parse_number(optarg, 8u << 20, 1ull << 40, &options->size_bytes);
			break;
		case 'f':
			error = parse_number(optarg, 0, 100, &value);
			options->full_percent = (uint32_t)value;
			break;
		case 'n':
			error = parse_number(optarg, 1, 10000000, &value);
			options->files = (uint32_t)value;
			break;
		case 'r':
			error = parse_number(optarg, 0, UINT64_MAX, &options->seed);
			break;
		case 't':
			options->type = optarg;
			break;
		case 'b':
			error = parse_number(optarg, 1024, 4096, &value);
			options->block_bytes = (uint32_t)value;
			break;
		case 'c':
			error = parse_number(optarg, 2048, 256u << 10, &value);
			options->cluster_bytes = (uint32_t)value;
			break;
		case 'e':
			options->hollow = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return 1;
		default:
			error = -1;
		}
	}
	if (!error && optind + 1 == argc && is_power(options->block_bytes) && clusters_fit(options))
		options->image = argv[optind];
	if (!options->image || (strcmp(options->type, "ext2") && strcmp(options->type, "ext3") &&
				strcmp(options->type, "ext4"))) {
		fputs(usage, stderr);
		return -1;
	}
	return 0;
}

/* Runs an e2fsprogs tool with a fixed clock; gives its exit status, or -1. */
static int run(char *const *argv)
{
	pid_t child;
	int status;

	if (posix_spawnp(&child, argv[0], NULL, NULL, argv, environ))
		return -1;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Every feature and size is said on the command line, none comes from the machine's mke2fs.conf. */
static int make_filesystem(const struct sample_options *o)
{
	static const char ext2[] = "none,ext_attr,dir_index,filetype,sparse_super,large_file";
	static const char ext4[] =
		",extent,flex_bg,64bit,huge_file,dir_nlink,extra_isize,metadata_csum";
	uint64_t inodes = fl_max(o->size_bytes / 16384, o->files + o->files / 4 + 1000ull);
	uint64_t journal_mib = fl_max(fl_div_up(1024ull * o->block_bytes, 1u << 20),
				      fl_min(64, o->size_bytes >> 25));
	char features[200], ext[200], block[16], cluster[16], uuid[40], count[32], journal[32];

	/* With clusters mke2fs has the resize inode list blocks that it leaves free. */
	snprintf(features, sizeof(features), "%s%s%s%s", ext2,
		 strcmp(o->type, "ext2") ? ",has_journal" : "", strcmp(o->type, "ext4") ? "" : ext4,
		 o->cluster_bytes ? ",bigalloc" : ",resize_inode");
	snprintf(uuid, sizeof(uuid), "f7a91ab0-0000-4000-8000-%012llx",
		 (unsigned long long)(o->seed & 0xffffffffffff));
	snprintf(ext, sizeof(ext),
		 "hash_seed=%s,root_owner=0:0,lazy_itable_init=0,"
		 "lazy_journal_init=0,nodiscard",
		 uuid);
	snprintf(block, sizeof(block), "%u", o->block_bytes);
	snprintf(cluster, sizeof(cluster), "%u", o->cluster_bytes);
	snprintf(count, sizeof(count), "%llu", (unsigned long long)inodes);
	snprintf(journal, sizeof(journal), "size=%llu", (unsigned long long)journal_mib);

	const char *argv[32] = {"mke2fs", "-q",	    "-F", "-o",	 "linux", "-t",	 o->type,
				"-O",	  features, "-b", block, "-I",	  "256", "-N",
				count,	  "-m",	    "5",  "-U",	 uuid,	  "-E",	 ext};
	size_t n = 21;

	if (strcmp(o->type, "ext2")) {
		argv[n++] = "-J";
		argv[n++] = journal;
	}
	if (o->cluster_bytes) {
		argv[n++] = "-C";
		argv[n++] = cluster;
	}
	argv[n] = o->image;
	return run((char *const *)argv) ? fail(o->image, "make the filesystem", "mke2fs failed")
					: 0;
}

/* Gives large directories their hash trees, as the kernel would have made them. */
static int hash_directories(const struct sample_options *o)
{
	const char *argv[] = {"e2fsck", "-fyD", o->image, NULL};
	int null = open("/dev/null", O_WRONLY), saved = dup(STDOUT_FILENO),
	    saved_err = dup(STDERR_FILENO);
	int status = -1;

	if (null >= 0 && saved >= 0 && saved_err >= 0) {
		fflush(NULL);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		status = run((char *const *)argv);
		dup2(saved, STDOUT_FILENO);
		dup2(saved_err, STDERR_FILENO);
	}
	close(null);
	close(saved);
	close(saved_err);
	/* 1: changed, as asked. */
	return status == 0 || status == 1 ? 0 : fail(o->image, "hash directories", "e2fsck failed");
}

static int populate(const struct sample_options *o, int fd)
{
	struct sample_tree tree = {0};
	const char *step = "open it";
	ext2_filsys fs = NULL;
	uint64_t used, wanted, spare;
	errcode_t error, closed;
	int result;

	error = ext2fs_open(o->image, EXT2_FLAG_RW | EXT2_FLAG_64BITS, 0, 0, unix_io_manager, &fs);
	if (!error)
		error = ext2fs_read_bitmaps(fs);
	if (error) {
		if (fs)
			ext2fs_free(fs);
		return fail(o->image, step, error_message(error));
	}
	fs->now = SAMPLE_NOW;
	umask(022);
	wanted = ext2fs_blocks_count(fs->super) * o->full_percent / 100;
	used = ext2fs_blocks_count(fs->super) - ext2fs_free_blocks_count(fs->super);
	/* Directories, symlinks, xattrs and mapping trees come on top of file data. */
	spare = (30 + o->files / 20) * (uint64_t)EXT2FS_CLUSTER_RATIO(fs);
	result = wanted > used + spare ? sample_tree_build(o, wanted - used - spare, &tree)
				       : FL_ENOROOM;
	if (result) {
		result = fail(o->image, "plan the tree",
			      result == FL_ENOROOM ? "so many files do not fit into so little space"
						   : fl_error_text(result));
	} else {
		error = sample_populate(o, fs, fd, &tree, &step);
		if (error)
			result = fail(o->image, step, error_message(error));
	}
	closed = ext2fs_close_free(&fs);
	if (closed && !result)
		result = fail(o->image, "close it", error_message(closed));
	sample_tree_free(&tree);
	return result;
}

/* mke2fs insists on a file that defines the types; an inherited nameless one will do. */
static int use_own_config(void)
{
	static const char config[] = "[fs_types]\n"
				     " ext3 = {\n inode_size = 256\n }\n"
				     " ext4 = {\n inode_size = 256\n }\n"
				     " small = {\n inode_size = 256\n }\n"
				     " floppy = {\n inode_size = 256\n }\n"
				     " big = {\n inode_size = 256\n }\n"
				     " huge = {\n inode_size = 256\n }\n";
	char path[40];
	int fd = memfd_create("mke2fs.conf", 0);

	if (fd < 0 || write(fd, config, sizeof(config) - 1) != (ssize_t)(sizeof(config) - 1))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return setenv("MKE2FS_CONFIG", path, 1);
}

/* The environment the tools run in: found in sbin too, fixed clock, no configuration. */
static int set_environment(void)
{
	const char *path = getenv("PATH");
	char text[4096];

	snprintf(text, sizeof(text), "%s:/usr/sbin:/sbin", path ? path : "/usr/bin:/bin");
	if (setenv("PATH", text, 1))
		return -1;
	snprintf(text, sizeof(text), "%d", SAMPLE_NOW);
	if (setenv("E2FSPROGS_FAKE_TIME", text, 1) || use_own_config() ||
	    setenv("E2FSCK_CONFIG", "/dev/null", 1) || setenv("E2FSCK_TIME", text, 1) ||
	    setenv("LC_ALL", "C", 1))
		return -1;
	return unsetenv("MKE2FS_SYNC");
}

int main(int argc, char **argv)
{
	struct sample_options options;
	int error = parse(argc, argv, &options), fd;

	if (error)
		return error > 0 ? 0 : 16;
	add_error_table(&et_ext2_error_table);
	if (set_environment())
		return 1;
	unlink(options.image);
	fd = open(options.image, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 || ftruncate(fd, (off_t)options.size_bytes)) {
		fail(options.image, "create it", strerror(errno));
		return 1;
	}
	error = make_filesystem(&options);
	if (!error)
		error = populate(&options, fd);
	if (!error)
		error = hash_directories(&options);
	if (close(fd) && !error)
		error = fail(options.image, "write it", strerror(errno));
	if (error)
		unlink(options.image);
	return error ? 1 : 0;
}
