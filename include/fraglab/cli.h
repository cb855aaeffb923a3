/* SPDX-License-Identifier: MIT */
/*
 * What both programs share at the command line: options, messages, progress, exit
 * status, and the run from image to report. The only module that prints.
 */
#ifndef FRAGLAB_CLI_H
#define FRAGLAB_CLI_H

#include <fraglab/report.h>

/* Exit status: bits, as e2fsck(8) uses them. */
enum fl_exit {
	FL_EXIT_DONE = 0,
	FL_EXIT_PARTLY = 1,	    /* done, but not all that was asked */
	FL_EXIT_REFUSED = 2,	    /* nothing written */
	FL_EXIT_FAILED = 4,	    /* nothing written */
	FL_EXIT_FAILED_WRITING = 8, /* after writing began; content intact */
	FL_EXIT_USAGE = 16,
	FL_EXIT_CANCELLED = 32, /* image consistent */
};

enum fl_progress_when { FL_PROGRESS_AUTO, FL_PROGRESS_ALWAYS, FL_PROGRESS_NEVER };

#define FL_CLI_PATH 4096

/* Options that frag and defrag share. */
struct fl_options {
	bool dry_run, analyze, quiet, verbose, verify, move_immutable;
	bool interleave; /* with analyze and two images or more */
	bool json;	 /* with json_path NULL: stdout, instead of the text report */
	const char *json_path, *csv_path, *output_path, *fio_log_path, *undo_path;
	const char *capture_path;     /* with analyze */
	char trace_path[FL_CLI_PATH]; /* of --workload trace=FILE; else empty */
	unsigned partition;	      /* 0: not given */
	bool has_offset;	      /* --offset is given; never with partition */
	uint64_t offset_bytes;
	uint64_t memory_bytes; /* for copying; 0: the mover's default */
	enum fl_progress_when progress;
	struct fl_analyze_options analysis;
	char **images; /* borrowed from argv */
	size_t image_count;
};

/* Limits of a run, kept by ending after a batch. */
struct fl_budget {
	uint64_t bytes;	  /* of data moved; 0: no limit */
	uint64_t seconds; /* of moving; 0: no limit */
	/* What a run within `bytes` must bring; `target` sets it. */
	enum fl_gain gain;
	/* Whose seeks the dry run's curve counts, when it is analysed; `target` sets it. */
	enum fl_workload reading;
};

/* A file that the program writes while it makes its target. */
struct fl_program_output {
	const char *option; /* that asks for it: "--save-history" */
	const char *path;   /* NULL: not asked for */
	char *part;	    /* where to write it; set for `target`, and named path after the run */
};

/*
 * A program: its name, its own options, and how it makes a target. fl_cli_main does the rest:
 * parse, open, scan, plan, validate, predict, move, scan again, analyze, report.
 */
struct fl_program {
	const char *name;  /* "frag" */
	const char *usage; /* the whole of --help, lines of at most 80 columns */
	/*
	 * Takes one option of the program's own. value is NULL when it has none. 0; FL_ESYNTAX
	 * with a diag text without the option's name ("not a number: 'x'"); FL_OPTION_QUESTION
	 * when it is a question: `answer` is called, and the program ends with status 0.
	 */
	int (*option)(void *settings, const char *name, const char *value, struct fl_diag *diag);
	/* The answer to a question ("--profile help") in *text, malloc'd; FL_ENOMEM. */
	int (*answer)(void *settings, char **text);
	/* The program's own options: {long name, short name or 0, takes a value}; name NULL ends.
	 */
	const struct fl_program_option {
		const char *name;
		char letter;
		bool value;
	} * own_options;
	/*
	 * Fills the target (zero-initialised) from the map; analysis says how it will be measured.
	 * Seed, profile and aims go to the report. A run that misses an aim has status 1.
	 * watch is for what takes long; an error of its own is passed on.
	 */
	int (*target)(void *settings, const struct fl_map *map,
		      const struct fl_analyze_options *analysis, const struct fl_watch *watch,
		      struct fl_target *target, struct fl_report *report, struct fl_diag *diag);
	/*
	 * The file may stay fragmented because of how the program was asked to work. NULL: the
	 * program promises nothing about fragments, and no file counts as left over.
	 */
	bool (*leaves)(void *settings, const struct fl_map *map, uint32_t file);
	/*
	 * What a run may cost; NULL: whatever it takes. A run that ends for it has status 1. A dry
	 * run without a limit asks for targets within several: then bytes is set for the call.
	 */
	struct fl_budget *budget;
	/*
	 * Path of an image whose shape all metrics are compared with (fl_analyze_options.like).
	 * NULL, or a pointer to NULL: none. Its filesystem takes the whole of it.
	 */
	const char *const *like;
	struct fl_program_output *output; /* NULL: none */
	void *settings;
};

/* What fl_program.option returns for a question; no enum fl_error is positive. */
#define FL_OPTION_QUESTION 1

/* The part of --help that both programs share. */
#define FL_CLI_USAGE                                                                               \
	"General options:\n"                                                                       \
	"  -n, --dry-run        plan and predict; IMAGE is opened read-only\n"                     \
	"      --analyze        change nothing; takes IMAGE..., one column each\n"                 \
	"  -o, --output FILE    leave IMAGE as it is; work on a copy in FILE\n"                    \
	"  -P, --partition N    the filesystem in partition N of a disk image (MBR, GPT)\n"        \
	"      --offset BYTES   the filesystem begins at this byte\n"                              \
	"      --undo FILE      keep what is overwritten in FILE, for e2undo\n"                    \
	"      --move-immutable move files with the immutable flag (chattr +i) too\n"              \
	"      --memory BYTES   copy through at most so much memory (default 32M)\n"               \
	"      --verify         read every moved block back before it is used\n"                   \
	"      --json[=FILE]    one JSON document on stdout, or in FILE\n"                         \
	"      --csv=FILE       the histograms, in vscsiStats' CSV layout\n"                       \
	"      --capture FILE   with --analyze: vscsiStats' CSV of a host, shown beside\n"         \
	"      --fio-log FILE   the first workload as an iolog for fio(1)\n"                       \
	"      --workload LIST  read-all, read-inode-order, read-directory-order (these\n"         \
	"                       by default), install, random-8k, sequential-512k,\n"               \
	"                       trace=FILE\n"                                                      \
	"      --disk MODEL     hdd7200, raid5, hdd15k, ssd: latencies (default: none)\n"          \
	"      --queue N        I/Os that a host keeps in flight (default 32)\n"                   \
	"      --rate BYTES     most that a workload handles a second (default: no limit)\n"       \
	"      --write-cache BYTES  of the controller before raid5 (default: none)\n"              \
	"      --max-io BYTES   largest request of a workload (default 512K)\n"                    \
	"      --read-ahead BYTES  the kernel's read-ahead window (default 128K)\n"                \
	"      --interleave     with --analyze: the images as guests on one array\n"               \
	"      --progress WHEN  auto, always or never (default auto)\n"                            \
	"  -q, --quiet          no text report, no progress; errors only\n"                        \
	"  -v, --verbose        say more: features, phases, what the plan costs\n"                 \
	"  -V, --version        print the version\n"                                               \
	"  -h, --help           print this help\n"                                                 \
	"\n"                                                                                       \
	"Sizes take K, M, G and T, powers of 1024.\n"                                              \
	"Exit status, bits: 0 done, 1 done in part, 2 refused and 4 failed with\n"                 \
	"nothing written, 8 failed after writing began (content is intact),\n"                     \
	"16 usage, 32 cancelled (the image is consistent).\n"

/* A whole decimal number in low .. high. FL_ESYNTAX with a text for fl_program.option. */
int fl_cli_number(const char *text, uint64_t low, uint64_t high, uint64_t *value,
		  struct fl_diag *diag) FL_CHECKED;

/* Runs the program; once a process. Returns its exit status (enum fl_exit bits). */
int fl_cli_main(const struct fl_program *program, int argc, char **argv);

#endif
