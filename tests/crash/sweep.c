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

#include "tests/crash/faults.h"

static const char usage[] =
	"Usage: sweep [OPTION]...\n"
	"       sweep --id IMAGE:PROGRAM:MODE:SEED:CUT[:CUT2] | IMAGE:PROGRAM:MODE:FAULT:N\n"
	"Cuts the power at every operation of frag and defrag; ends with \"N passed, N failed\".\n"
	"\n"
	"      --rounds N        fates of unflushed sectors tried at every cut (default 1)\n"
	"      --second STEP     cut the resuming run too, after each STEP-th cut (default 199)\n"
	"      --fault-step STEP one in STEP operations fails, each in every way (default 23)\n"
	"      --images LIST     only these, comma-separated\n"
	"      --programs LIST   only these: program:mode, comma-separated\n"
	"      --jobs N          processes (default: processors)\n"
	"      --first           stop at the first failure\n"
	"      --keep FILE       with --id: the disk of the cut\n"
	"      --list            images, programs and their operations\n";

/* A range of cuts, or all faults of a kind, of one scene. */
struct unit {
	uint32_t image, program;
	int fault;	      /* enum fault_kind; -1: cuts */
	uint64_t first, last; /* cuts */
};
#define UNIT_CUTS 100u
/* In the resuming run, every so-many-th operation is cut. */
#define SECOND_STEP 29u
/* A worker gives up a unit after so many failures: they are one fault, seen again and again. */
#define UNIT_FAILURES 5u

struct sweep {
	char directory[64];
	uint64_t rounds, second, fault_step, jobs;
	const char *images, *programs, *keep;
	bool first;
	struct tally *tally;
	FL_ARRAY(struct unit) units;
	size_t scenes;
	uint64_t operations;
};

struct worker {
	struct sweep *sweep;
	struct scene scene;
	struct disk disk, other; /* the cut, and the cut of the run that resumes */
	const struct unit *unit;
	uint64_t failures;
};

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

static void image_path(const struct sweep *sweep, uint32_t image, char path[160])
{
	snprintf(path, 160, "%s/%s.img", sweep->directory, crash_images[image].name);
}

static bool prepare(const struct sweep *sweep, struct scene *scene, uint32_t image,
		    uint32_t program)
{
	char path[160];

	image_path(sweep, image, path);
	return scene_prepare(scene, &crash_images[image], &crash_programs[program], path);
}

/* The fates of a cut: in the first round the plain ones too. */
static uint64_t seed_of(uint64_t round, uint64_t cut)
{
	if (!round && cut % 8 < 3)
		return cut % 8;
	return 3 + round * 97 + cut % 97;
}

static void complain(struct worker *worker, const char *tail, const char *why)
{
	const struct scene *scene = &worker->scene;

	worker->failures++;
	tally_add(worker->sweep->tally, TALLY_FAILURES, 1);
	printf("FAIL %s:%s:%s:%s: %s\n", scene->image->name, scene->program->program,
	       scene->program->mode, tail, why);
	fflush(stdout);
}

static bool enough(const struct worker *worker)
{
	return worker->failures >= UNIT_FAILURES ||
	       (worker->sweep->first && tally_get(worker->sweep->tally, TALLY_FAILURES));
}

/* --- power cuts --- */

/* The run that resumes from the repaired disk is cut as well; cut2 0: at every STEP-th operation.
 */
static void cut_again(struct worker *worker, uint64_t seed, uint64_t cut, uint64_t cut2)
{
	const struct scene *scene = &worker->scene;
	uint8_t *durable = malloc(scene->size_bytes), *after = malloc(scene->size_bytes);
	char why[ORACLE_TEXT] = "out of memory", tail[80];
	struct crash_outcome outcome;
	struct powercut *log = NULL;
	struct powercut_replay replay = {NULL, 0, durable, scene->size_bytes};
	uint64_t last;

	snprintf(tail, sizeof(tail), "%llu:%llu", (unsigned long long)seed,
		 (unsigned long long)cut);
	if (durable && after) {
		memcpy(durable, worker->disk.bytes, scene->size_bytes);
		memcpy(after, worker->disk.bytes, scene->size_bytes);
	}
	if (!durable || !after || !scene_record(scene, after, &log, &outcome, why)) {
		complain(worker, tail, why);
		goto out;
	}
	last = powercut_operations(log);
	replay.log = log;
	for (uint64_t at = cut2 ? cut2 : 1 + cut % SECOND_STEP; at <= last && !enough(worker);
	     at += SECOND_STEP) {
		powercut_disk(&replay, at, seed, worker->other.bytes);
		tally_add(worker->sweep->tally, TALLY_CUTS, 1);
		tally_add(worker->sweep->tally, TALLY_SECOND, 1);
		if (!scene_judge(scene, &worker->other, worker->sweep->tally, JUDGE_ALL, why)) {
			snprintf(tail, sizeof(tail), "%llu:%llu:%llu", (unsigned long long)seed,
				 (unsigned long long)cut, (unsigned long long)at);
			complain(worker, tail, why);
		}
		if (cut2)
			break;
	}
out:
	powercut_free(log);
	free(durable);
	free(after);
}

/* One cut; the disk is in worker->disk. */
static void judge_cut(struct worker *worker, uint64_t seed, uint64_t cut, bool again, uint64_t cut2)
{
	const struct scene *scene = &worker->scene;
	struct tally *tally = worker->sweep->tally;
	char why[ORACLE_TEXT], tail[80];

	if (!cut2)
		tally_add(tally, TALLY_CUTS, 1);
	if (!scene_judge(scene, &worker->disk, tally, again ? JUDGE_REPAIR : JUDGE_ALL, why)) {
		snprintf(tail, sizeof(tail), "%llu:%llu", (unsigned long long)seed,
			 (unsigned long long)cut);
		complain(worker, tail, why);
		return;
	}
	if (again)
		cut_again(worker, seed, cut, cut2);
}

static void sweep_cuts(struct worker *worker)
{
	const struct sweep *sweep = worker->sweep;
	const struct unit *unit = worker->unit;
	struct scene *scene = &worker->scene;
	uint8_t *durable = malloc(scene->size_bytes);

	if (!durable) {
		complain(worker, "0:0", "out of memory");
		return;
	}
	for (uint64_t round = 0; round < sweep->rounds && !enough(worker); round++) {
		struct powercut_replay replay = {scene->log, 0, durable, scene->size_bytes};

		memcpy(durable, scene->before, scene->size_bytes);
		for (uint64_t cut = unit->first; cut <= unit->last && !enough(worker); cut++) {
			uint64_t seed = seed_of(round, cut);

			powercut_disk(&replay, cut, seed, worker->disk.bytes);
			judge_cut(worker, seed, cut,
				  sweep->second && (cut + round) % sweep->second == 0, 0);
		}
	}
	free(durable);
}

/* --- faults --- */

static bool one_fault(struct worker *worker, enum fault_kind kind, uint64_t n)
{
	char why[ORACLE_TEXT], tail[80];
	bool came;

	if (fault_judge(&worker->scene, kind, n, &worker->disk, worker->sweep->tally, &came, why))
		return came;
	snprintf(tail, sizeof(tail), "%s:%llu", fault_names[kind], (unsigned long long)n);
	complain(worker, tail, why);
	return came;
}

static void sweep_faults(struct worker *worker)
{
	const struct unit *unit = worker->unit;
	/* Flushes are few; and each scene has its share of the others. */
	uint64_t step = unit->fault == FAULT_FLUSH ? 1 : worker->sweep->fault_step;
	uint64_t n = 1 + (unit->image + unit->program * 7u) % step;

	while (!enough(worker) && one_fault(worker, (enum fault_kind)unit->fault, n))
		n += step;
}

/* --- workers --- */

static bool worker_scene(struct worker *worker, const struct unit *unit)
{
	struct scene *scene = &worker->scene;

	worker->unit = unit;
	worker->failures = 0;
	if (scene->image == &crash_images[unit->image] &&
	    scene->program == &crash_programs[unit->program])
		return true;
	if (scene->image) {
		disk_free(&worker->disk);
		disk_free(&worker->other);
	}
	scene_free(scene);
	if (!prepare(worker->sweep, scene, unit->image, unit->program))
		return false;
	if (!disk_new(&worker->disk, worker->sweep->directory, "a", scene->size_bytes) ||
	    !disk_new(&worker->other, worker->sweep->directory, "b", scene->size_bytes)) {
		complain(worker, "0:0", "no room for a disk");
		return false;
	}
	return true;
}

static int work(struct sweep *sweep)
{
	struct worker worker = {.sweep = sweep};
	uint64_t next;

	while ((next = tally_add(sweep->tally, TALLY_NEXT, 1)) < sweep->units.count) {
		if (sweep->first && tally_get(sweep->tally, TALLY_FAILURES))
			break;
		if (!worker_scene(&worker, &sweep->units.at[next]))
			return 1;
		if (worker.unit->fault < 0)
			sweep_cuts(&worker);
		else
			sweep_faults(&worker);
		tally_add(sweep->tally, TALLY_BAD_UNITS, worker.failures > 0);
	}
	if (worker.scene.image) {
		disk_free(&worker.disk);
		disk_free(&worker.other);
	}
	scene_free(&worker.scene);
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

static bool add_units(struct sweep *sweep, uint32_t image, uint32_t program, bool list)
{
	struct scene scene;
	struct unit unit = {.image = image, .program = program, .fault = -1};
	bool good = prepare(sweep, &scene, image, program);
	uint64_t operations = good ? powercut_operations(scene.log) : 0;

	if (good && list)
		printf("%s:%s:%s: %llu operations, %zu batches\n", scene.image->name,
		       scene.program->program, scene.program->mode, (unsigned long long)operations,
		       scene.outcome.batches);
	scene_free(&scene);
	sweep->scenes++;
	sweep->operations += operations;
	for (unit.first = 1; good && unit.first <= operations; unit.first += UNIT_CUTS) {
		unit.last = fl_min(operations, unit.first + UNIT_CUTS - 1);
		good = !fl_array_push(&sweep->units, unit);
	}
	for (unit.fault = 0; good && sweep->fault_step && unit.fault < FAULT_KINDS; unit.fault++)
		good = !fl_array_push(&sweep->units, unit);
	return good;
}

static bool make_images(struct sweep *sweep, bool list)
{
	bool good = true;

	for (uint32_t i = 0; i < crash_image_count && good; i++) {
		char path[160];

		if (!listed(sweep->images, crash_images[i].name))
			continue;
		image_path(sweep, i, path);
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

	printf("%llu power cuts (%llu of them in a run that resumed) and %llu failing operations, "
	       "in "
	       "%zu scenes of %llu operations: %llu lost something\n",
	       (unsigned long long)tally_get(tally, TALLY_CUTS),
	       (unsigned long long)tally_get(tally, TALLY_SECOND),
	       (unsigned long long)tally_get(tally, TALLY_FAULTS), sweep->scenes,
	       (unsigned long long)sweep->operations,
	       (unsigned long long)tally_get(tally, TALLY_FAILURES));
	printf("%llu runs of e2fsck, %llu with something to fix; %llu runs to the end after it\n",
	       (unsigned long long)tally_get(tally, TALLY_FSCKS),
	       (unsigned long long)tally_get(tally, TALLY_DIRTY),
	       (unsigned long long)tally_get(tally, TALLY_RESUMED));
	puts("e2fsck's complaints:");
	tally_print(tally);
	printf("%llu passed, %llu failed\n", (unsigned long long)(sweep->units.count - bad),
	       (unsigned long long)bad + !good);
}

/* --- one id --- */

static bool find(const char *image, const char *program, const char *mode, struct unit *unit)
{
	for (unit->image = 0; unit->image < crash_image_count; unit->image++)
		if (!strcmp(crash_images[unit->image].name, image))
			break;
	for (unit->program = 0; unit->program < crash_program_count; unit->program++)
		if (!strcmp(crash_programs[unit->program].program, program) &&
		    !strcmp(crash_programs[unit->program].mode, mode))
			break;
	return unit->image < crash_image_count && unit->program < crash_program_count;
}

static bool keep(const struct sweep *sweep, const struct disk *disk)
{
	FILE *file = sweep->keep ? fopen(sweep->keep, "wb") : NULL;
	bool good = file && fwrite(disk->bytes, disk->size_bytes, 1, file) == 1;

	if (file && fclose(file))
		good = false;
	return good || !sweep->keep;
}

static bool repeat(struct sweep *sweep, char *id)
{
	char *part[6] = {NULL}, path[160], *rest = id, *end;
	struct worker worker = {.sweep = sweep};
	struct unit unit = {0};
	struct powercut_replay replay;
	uint64_t seed, cut;

	for (size_t i = 0; i < 6 && rest; i++)
		part[i] = strsep(&rest, ":");
	if (!part[4] || !find(part[0], part[1], part[2], &unit)) {
		fputs("sweep: there is no such id.\n", stderr);
		return false;
	}
	image_path(sweep, unit.image, path);
	if (crash_image_make(&crash_images[unit.image], path) || !worker_scene(&worker, &unit))
		return false;
	sweep->scenes = 1;
	sweep->operations = powercut_operations(worker.scene.log);
	if (fl_array_push(&sweep->units, unit))
		return false;
	cut = strtoull(part[4], NULL, 10);
	for (int kind = 0; kind < FAULT_KINDS; kind++)
		if (!strcmp(fault_names[kind], part[3]))
			return one_fault(&worker, (enum fault_kind)kind, cut);
	seed = strtoull(part[3], &end, 10);
	if (*end || !cut || cut > sweep->operations) {
		fputs("sweep: there is no such fault or cut.\n", stderr);
		return false;
	}
	replay = (struct powercut_replay){worker.scene.log, 0, worker.scene.before,
					  worker.scene.size_bytes};
	powercut_disk(&replay, cut, seed, worker.disk.bytes);
	if (!keep(sweep, &worker.disk))
		return false;
	judge_cut(&worker, seed, cut, part[5], part[5] ? strtoull(part[5], NULL, 10) : 0);
	return true;
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
		{"rounds", required_argument, NULL, 'r'},
		{"second", required_argument, NULL, 's'},
		{"fault-step", required_argument, NULL, 'f'},
		{"images", required_argument, NULL, 'i'},
		{"programs", required_argument, NULL, 'p'},
		{"jobs", required_argument, NULL, 'j'},
		{"first", no_argument, NULL, '1'},
		{"keep", required_argument, NULL, 'k'},
		{"list", no_argument, NULL, 'l'},
		{"id", required_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct sweep sweep = {.rounds = 1, .second = 199, .fault_step = 23};
	char *id = NULL;
	bool list = false, good;
	int letter;

	sweep.jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
		uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;

		switch (letter) {
		case 'r':
			sweep.rounds = number;
			break;
		case 's':
			sweep.second = number;
			break;
		case 'f':
			sweep.fault_step = number;
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
		good = repeat(&sweep, id);
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
