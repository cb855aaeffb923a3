/* SPDX-License-Identifier: MIT */
/*
 * sweep: cuts the power at every operation of frag and defrag on a table of images, and lets
 * operations fail; judges what is left. Every failure has an id that repeats it alone.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/crash/sweep.h"

static const char usage[] =
	"Usage: sweep [OPTION]...\n"
	"       sweep --id IMAGE:PROGRAM:MODE:SEED:CUT[:CUT2] | IMAGE:PROGRAM:MODE:FAULT:N\n"
	"                 | IMAGE:PROGRAM:MODE:cancel:BATCHES[:CUT] | IMAGE:PROGRAM:MODE:undo:CUT\n"
	"Cuts the power at every operation of frag and defrag; ends with \"N passed, N failed\".\n"
	"\n"
	"      --cut-step STEP   cut one in STEP operations (default 1: all; 0: none)\n"
	"      --rounds N        fates of unflushed sectors tried at every cut (default 1)\n"
	"      --second STEP     cut the resuming run too, after each STEP-th cut (default 199)\n"
	"      --fault-step STEP one in STEP operations fails, each in every way (default 23)\n"
	"      --cancel-step STEP  stop after one in STEP batches, and cut one in STEP operations\n"
	"                    that a run does only then (default 3; 0: none)\n"
	"      --undo-step STEP   with an undo file: cut one in STEP operations on it and the\n"
	"                    image (default 31; 0: none)\n"
	"      --images LIST     only these, comma-separated\n"
	"      --programs LIST   only these: program:mode, comma-separated\n"
	"      --faults LIST     only these kinds of failing operations, comma-separated\n"
	"      --jobs N          processes (default: processors)\n"
	"      --first           stop at the first failure\n"
	"      --keep FILE       with --id: the disk of the cut\n"
	"      --list            images, programs and their operations\n";

/* "a,b,c" has the word; NULL has all. */
static bool listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, word, length) && (!at[length] || at[length] == ','))
			return true;
	}
	return !list;
}

/* --- workers --- */

static int work(struct sweep *sweep)
{
	struct worker worker = {.sweep = sweep};
	uint64_t next;

	while ((next = tally_add(sweep->tally, TALLY_NEXT, 1)) < sweep->units.count) {
		if (sweep->first && tally_get(sweep->tally, TALLY_FAILURES))
			break;
		if (!worker_do(&worker, &sweep->units.at[next]))
			return 1;
	}
	worker_free(&worker);
	return 0;
}

static bool work_all(struct sweep *sweep)
{
	bool good = true;
	int status;

	fflush(stdout);
	for (uint64_t i = 0; i < sweep->jobs; i++) {
		pid_t child = fork();

		if (child < 0)
			return false;
		if (!child) {
			status = work(sweep);
			fflush(stdout);
			_exit(status);
		}
	}
	for (uint64_t i = 0; i < sweep->jobs; i++) {
		if (wait(&status) < 0 || status) {
			printf("FAIL a worker broke off (%x)\n", status);
			good = false;
		}
	}
	return good;
}

/* --- the work --- */

static bool push(struct sweep *sweep, struct unit unit, enum unit_kind kind)
{
	unit.kind = kind;
	return !fl_array_push(&sweep->units, unit);
}

static bool push_ranges(struct sweep *sweep, struct unit unit, enum unit_kind kind, uint64_t first,
			uint64_t last, uint64_t most)
{
	bool good = true;

	for (unit.first = first; good && unit.first <= last; unit.first += most) {
		unit.last = fl_min(last, unit.first + most - 1);
		good = push(sweep, unit, kind);
	}
	return good;
}

static bool push_faults(struct sweep *sweep, struct unit unit)
{
	bool good = true;

	for (int fault = 0; good && fault < FAULT_KINDS; fault++) {
		unit.fault = (enum fault_kind)fault;
		if (listed(sweep->faults, fault_names[fault]))
			good = push(sweep, unit, UNIT_FAULTS);
	}
	return good;
}

static bool push_all(struct sweep *sweep, const struct scene *scene, struct unit unit)
{
	const uint64_t operations = powercut_operations(scene->log);
	bool good = true;

	if (sweep->cut_step)
		good = push_ranges(sweep, unit, UNIT_CUTS, 1, operations, UNIT_MOST_CUTS);

	if (good && sweep->fault_step)
		good = push_faults(sweep, unit);
	/* Where there is nothing to do, nobody is asked. */
	if (good && sweep->cancel_step && scene->outcome.batches)
		good = push_ranges(sweep, unit, UNIT_CANCELS, 0, scene->outcome.batches - 1,
				   UNIT_MOST_CANCELS);
	if (good && sweep->undo_step)
		good = push(sweep, unit, UNIT_UNDO);
	return good;
}

static bool add_units(struct sweep *sweep, uint32_t image, uint32_t program, bool list)
{
	struct scene scene;
	struct unit unit = {.image = image, .program = program};
	char why[ORACLE_TEXT];
	bool good = sweep_prepare(sweep, &scene, image, program);
	uint64_t operations = good ? powercut_operations(scene.log) : 0;

	if (good && list)
		printf("%s:%s:%s: %llu operations, %zu batches\n", scene.image->name,
		       scene.program->program, scene.program->mode, (unsigned long long)operations,
		       scene.outcome.batches);
	if (good && !scene_verified(&scene, why)) {
		printf("FAIL %s:%s:%s: %s\n", scene.image->name, scene.program->program,
		       scene.program->mode, why);
		good = false;
	}
	if (good)
		good = push_all(sweep, &scene, unit);
	scene_free(&scene);
	sweep->scenes++;
	sweep->operations += operations;
	return good;
}

static bool make_images(struct sweep *sweep, bool list)
{
	bool good = true;

	for (uint32_t i = 0; i < crash_image_count && good; i++) {
		char path[160];

		if (!listed(sweep->images, crash_images[i].name))
			continue;
		sweep_image_path(sweep, i, path);
		good = !crash_image_make(&crash_images[i], path);
		for (uint32_t p = 0; p < crash_program_count && good; p++) {
			char name[40];

			snprintf(name, sizeof(name), "%s:%s", crash_programs[p].program,
				 crash_programs[p].mode);
			if (listed(sweep->programs, name))
				good = add_units(sweep, i, p, list);
		}
	}
	return good;
}

/* The last line counts units of work: a hundred cuts, or the failures of one kind. */
static void report(const struct sweep *sweep, bool good)
{
	const struct tally *tally = sweep->tally;
	uint64_t bad = tally_get(tally, TALLY_BAD_UNITS);

	printf("%llu power cuts (%llu of them in a run that resumed, %llu beside an undo file), "
	       "%llu failing operations and %llu cancelled runs, in %zu scenes of %llu "
	       "operations: %llu lost something\n",
	       (unsigned long long)tally_get(tally, TALLY_CUTS),
	       (unsigned long long)tally_get(tally, TALLY_SECOND),
	       (unsigned long long)tally_get(tally, TALLY_UNDOS),
	       (unsigned long long)tally_get(tally, TALLY_FAULTS),
	       (unsigned long long)tally_get(tally, TALLY_CANCELS), sweep->scenes,
	       (unsigned long long)sweep->operations,
	       (unsigned long long)tally_get(tally, TALLY_FAILURES));
	printf("after %llu of those beside an undo file e2undo needed -f\n",
	       (unsigned long long)tally_get(tally, TALLY_FORCED));
	printf("%llu runs of e2fsck, %llu with something to fix; %llu runs to the end after it\n",
	       (unsigned long long)tally_get(tally, TALLY_FSCKS),
	       (unsigned long long)tally_get(tally, TALLY_DIRTY),
	       (unsigned long long)tally_get(tally, TALLY_RESUMED));
	puts("e2fsck's complaints:");
	tally_print(tally);
	printf("%llu passed, %llu failed\n", (unsigned long long)(sweep->units.count - bad),
	       (unsigned long long)bad + !good);
}

/* --- main --- */

static void clean_up(const struct sweep *sweep)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf '%s'", sweep->directory);
	if (system(command))
		fprintf(stderr, "sweep: cannot remove %s.\n", sweep->directory);
}

int main(int argc, char **argv)
{
	static const struct option table[] = {
		{"cut-step", required_argument, NULL, 'o'},
		{"rounds", required_argument, NULL, 'r'},
		{"second", required_argument, NULL, 's'},
		{"fault-step", required_argument, NULL, 'f'},
		{"cancel-step", required_argument, NULL, 'c'},
		{"undo-step", required_argument, NULL, 'u'},
		{"images", required_argument, NULL, 'i'},
		{"programs", required_argument, NULL, 'p'},
		{"faults", required_argument, NULL, 'F'},
		{"jobs", required_argument, NULL, 'j'},
		{"first", no_argument, NULL, '1'},
		{"keep", required_argument, NULL, 'k'},
		{"list", no_argument, NULL, 'l'},
		{"id", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct sweep sweep = {.cut_step = 1,
			      .rounds = 1,
			      .second = 199,
			      .fault_step = 23,
			      .cancel_step = 3,
			      .undo_step = 31};
	char *id = NULL;
	bool list = false, good;
	int letter;

	sweep.jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
		uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;

		switch (letter) {
		case 'o':
			sweep.cut_step = number;
			break;
		case 'r':
			sweep.rounds = number;
			break;
		case 's':
			sweep.second = number;
			break;
		case 'f':
			sweep.fault_step = number;
			break;
		case 'c':
			sweep.cancel_step = number;
			break;
		case 'u':
			sweep.undo_step = number;
			break;
		case 'j':
			sweep.jobs = number;
			break;
		case 'i':
			sweep.images = optarg;
			break;
		case 'p':
			sweep.programs = optarg;
			break;
		case 'F':
			sweep.faults = optarg;
			break;
		case 'k':
			sweep.keep = optarg;
			break;
		case '1':
			sweep.first = true;
			break;
		case 'l':
			list = true;
			break;
		case 'n':
			id = optarg;
			break;
		default:
			fputs(usage, letter == 'h' ? stdout : stderr);
			return letter == 'h' ? 0 : 16;
		}
	}
	/* In memory when there is such a place: e2fsck reads and writes every disk several times.
	 */
	snprintf(sweep.directory, sizeof(sweep.directory), "%s/fraglab-crash.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	sweep.tally = tally_new();
	if (optind != argc || !sweep.tally || crash_environment() || !mkdtemp(sweep.directory)) {
		fputs(usage, stderr);
		return 16;
	}
	if (id) {
		good = worker_repeat(&sweep, id);
	} else {
		good = make_images(&sweep, list);
		if (good && !list)
			good = work_all(&sweep);
	}
	clean_up(&sweep);
	if (!list)
		report(&sweep, good);
	fl_array_free(&sweep.units);
	return !good || tally_get(sweep.tally, TALLY_FAILURES) ? 1 : 0;
}
