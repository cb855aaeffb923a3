/* SPDX-License-Identifier: MIT */
/*
 * digest: prints what a user of a filesystem can see, so that diff shows what a tool has
 * changed. Must not do anything but open the image and print.
 */
#include <getopt.h>
#include <stdlib.h>

#include "tests/lib/digest.h"

static const char usage[] = "Usage: digest [--sum] [--offset BYTES] IMAGE\n"
			    "Lists all names, attributes and content hashes of an ext2/3/4 image.\n"
			    "\n"
			    "      --sum            one hash of the listing instead\n"
			    "      --offset BYTES   the filesystem begins there\n"
			    "      --help           this text\n";

static int run(const char *image, const char *offset, bool sum)
{
	char io_options[64] = "", text[HASH128_TEXT], *listing = NULL;
	ext2_filsys fs = NULL;
	struct hash128 hash;
	size_t length = 0;
	errcode_t error;
	FILE *out;

	if (offset)
		snprintf(io_options, sizeof(io_options), "offset=%s", offset);
	error = ext2fs_open2(image, offset ? io_options : NULL,
			     EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0, 0, unix_io_manager, &fs);
	if (error) {
		fprintf(stderr, "digest: %s: open: %s.\n", image, error_message(error));
		return 1;
	}
	out = sum ? open_memstream(&listing, &length) : stdout;
	error = out ? digest_list(fs, true, out) : EXT2_ET_NO_MEMORY;
	/* Errors of writing show at the latest now; a stream in memory has its text then. */
	if (out && fflush(out) && !error)
		error = EXT2_ET_SHORT_WRITE;
	if (error) {
		fprintf(stderr, "digest: %s: %s.\n", image, error_message(error));
	} else if (sum) {
		hash128_start(&hash);
		hash128_add(&hash, listing, length);
		printf("%s\n", hash128_text(hash, text));
	}
	if (sum && out)
		fclose(out);
	free(listing);
	ext2fs_free(fs);
	return error ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option table[] = {{"sum", no_argument, NULL, 's'},
					      {"offset", required_argument, NULL, 'o'},
					      {"help", no_argument, NULL, 'h'},
					      {0}};
	const char *offset = NULL;
	bool sum = false;
	int letter;

	while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
		if (letter == 's')
			sum = true;
		else if (letter == 'o')
			offset = optarg;
		else {
			fputs(usage, letter == 'h' ? stdout : stderr);
			return letter == 'h' ? 0 : 16;
		}
	}
	if (optind + 1 != argc) {
		fputs(usage, stderr);
		return 16;
	}
	add_error_table(&et_ext2_error_table);
	return run(argv[optind], offset, sum);
}
