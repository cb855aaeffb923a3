/* SPDX-License-Identifier: MIT */
/*
 * frag: its own options, and the simulation they ask for. The rest of a run is in
 * common/cli; where blocks shall go is in target.c.
 */
#include "frag/target.h"

#include <fraglab/cli.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"Usage: frag [OPTION]... IMAGE\n"
	"Age the ext2/3/4 filesystem in IMAGE in place: move the blocks of its files\n"
	"until files and free space look as after months of use; print before and\n"
	"after. File content, names, times, owners and extended attributes do not\n"
	"change. The same image, options and seed give the same bytes.\n"
	"\n"
	"Ageing:\n"
	"  -m, --months N       months of use (default 6)\n"
	"  -p, --profile NAME   kind of use; 'help' lists the profiles; or the name of a\n"
	"                       file with a profile of your own (see the manual page)\n"
	"  -s, --seed N         another history of the same kind (default 1)\n"
	"      --files-only     fragment files; free space stays as it is\n"
	"      --free-only      fragment free space; files stay whole\n"
	"      --target KEY=VALUE  age until a figure is met; may be repeated:\n"
	"                       sequential=15%, fragmented=40%, extents=8 (mean of a file\n"
	"                       in pieces), layout-score=0.6, largest-free=4M,\n"
	"                       free-extents=20000\n"
	"      --like IMAGE     fragments of files by size, and holes, as in another image\n"
	"      --save-history FILE  write down what the months did, line by line\n"
	"      --history FILE   do what was written down, in place of months of use\n"
	"\n"
	"Instead of ageing:\n"
	"      --file PATH      a file in IMAGE, or a pattern; may be repeated\n"
	"      --extents N      leave it in exactly N fragments, and all else as it is\n"
	"\n" FL_CLI_USAGE;

/* The settings, and the profile that they point to. */
struct frag_run {
	struct frag_settings settings;
	struct frag_profile profile;
	const char *like; /* --like: another image; NULL: none */
	const char *ages; /* an option for ageing that was given; NULL: none */
	const char *use;  /* of them, one that says which history */
	struct fl_program_output saved;
};

/* --file PATH, and the --extents N that is for all files named since the last one. */
static int take_wish(struct frag_wishes *wishes, const char *name, const char *value,
		     struct fl_diag *diag)
{
	uint64_t number;
	size_t i = wishes->count;
	int error;

	if (!strcmp(name, "file"))
		return fl_array_push(wishes, ((struct frag_wish){.path = value}));
	error = fl_cli_number(value, 1, UINT32_MAX, &number, diag);
	if (error)
		return error;
	if (!i || wishes->at[i - 1].fragments)
		return fl_fail(diag, FL_ESYNTAX, "no --file before it");
	while (i-- > 0 && !wishes->at[i].fragments)
		wishes->at[i].fragments = number;
	return 0;
}

static int take_aim(struct fl_aims *aims, const char *value, struct fl_diag *diag)
{
	struct fl_aim aim;
	int error = fl_aim_parse(value, &aim, diag);

	if (error)
		return error;
	if (fl_aims_find(aims, aim.key))
		return fl_fail(diag, FL_ESYNTAX, "%s= is given twice", fl_aim_name(aim.key));
	return fl_array_push(aims, aim);
}

static int take_option(void *context, const char *name, const char *value, struct fl_diag *diag)
{
	struct frag_run *run = context;
	struct frag_settings *settings = &run->settings;
	uint64_t number;
	int error;

	if (!strcmp(name, "file") || !strcmp(name, "extents"))
		return take_wish(&settings->wishes, name, value, diag);
	run->ages = name;
	if (!strcmp(name, "like")) {
		if (run->like)
			return fl_fail(diag, FL_ESYNTAX, "is given twice");
		run->like = value;
		return 0;
	}
	if (!strcmp(name, "target"))
		return take_aim(&settings->aims, value, diag);
	if (!strcmp(name, "history") || !strcmp(name, "save-history")) {
		if (!*value)
			return fl_fail(diag, FL_ESYNTAX, "needs a file name");
		*(!strcmp(name, "history") ? &settings->replay_path : &run->saved.path) = value;
		return 0;
	}
	if (strcmp(name, "files-only") != 0 && strcmp(name, "free-only") != 0)
		run->use = name;
	if (!strcmp(name, "months")) {
		error = fl_cli_number(value, 1, FRAG_MOST_MONTHS, &number, diag);
		if (!error)
			settings->months = (uint32_t)number;
		return error;
	}
	if (!strcmp(name, "files-only") || !strcmp(name, "free-only")) {
		settings->files_only |= !strcmp(name, "files-only");
		settings->free_only |= !strcmp(name, "free-only");
		if (settings->files_only && settings->free_only)
			return fl_fail(diag, FL_ESYNTAX,
				       "only one of --files-only and --free-only");
		return 0;
	}
	if (!strcmp(name, "seed"))
		return fl_cli_number(value, 0, UINT64_MAX, &settings->seed, diag);
	if (!strcmp(name, "profile")) {
		if (!strcmp(value, "help"))
			return FL_OPTION_QUESTION;
		return frag_profile_load(value, &run->profile, diag);
	}
	return FL_EINVAL; /* there is no other option */
}

static int list_profiles(void *context, char **text)
{
	const struct frag_profile_text *known = frag_profile_texts;
	struct frag_profile profile;
	size_t bytes;
	FILE *stream;
	int error = 0;

	(void)context;
	stream = open_memstream(text, &bytes);
	if (!stream)
		return FL_ENOMEM;
	for (; known->name && !error; known++) {
		error = frag_profile_load(known->name, &profile, NULL);
		if (!error)
			(void)fprintf(stream, "%-10s %s\n", profile.name, profile.summary);
	}
	return fclose(stream) ? FL_ENOMEM : error;
}

/* What is wanted of a layout like another one: no distance, of the part that is changed. */
static int aim_alike(struct frag_settings *settings, struct fl_diag *diag)
{
	int error = 0;

	if (settings->aims.count)
		return fl_fail(diag, FL_ESYNTAX, "--like: not with --target");
	if (!settings->free_only)
		error = fl_array_push(&settings->aims, ((struct fl_aim){.key = FL_AIM_LIKE_FILES}));
	if (!error && !settings->files_only)
		error = fl_array_push(&settings->aims, ((struct fl_aim){.key = FL_AIM_LIKE_FREE}));
	return error;
}

static int make_target(void *context, const struct fl_map *map,
		       const struct fl_analyze_options *analysis, const struct fl_watch *watch,
		       struct fl_target *target, struct fl_report *report, struct fl_diag *diag)
{
	struct frag_run *run = context;
	struct frag_settings *settings = &run->settings;
	int error;

	settings->analysis = analysis;
	settings->watch = watch;
	settings->save_path = run->saved.part;
	if (settings->wishes.count && run->ages)
		return fl_fail(diag, FL_ESYNTAX, "--%s: not with --file, which ages nothing",
			       run->ages);
	if (settings->wishes.count)
		return frag_target(settings, map, target, diag);
	error = run->like ? aim_alike(settings, diag) : 0;
	if (!error)
		error = fl_array_append(&report->aims, settings->aims.at, settings->aims.count);
	if (error)
		return error;
	if (settings->replay_path && run->use)
		return fl_fail(diag, FL_ESYNTAX, "--%s: not with --history, which has its own",
			       run->use);
	if (settings->replay_path)
		return frag_target(settings, map, target, diag);
	report->seed = settings->seed;
	report->months = settings->months;
	report->profile = strdup(settings->profile->name);
	if (!report->profile)
		return FL_ENOMEM;
	return frag_target(settings, map, target, diag);
}

int main(int argc, char **argv)
{
	static const struct fl_program_option own_options[] = {
		{"extents", 0, true},	 {"file", 0, true},	 {"files-only", 0, false},
		{"free-only", 0, false}, {"history", 0, true},	 {"like", 0, true},
		{"months", 'm', true},	 {"profile", 'p', true}, {"save-history", 0, true},
		{"seed", 's', true},	 {"target", 0, true},	 {NULL, 0, false},
	};
	struct frag_run run = {
		.settings = {.months = FRAG_DEFAULT_MONTHS,
			     .seed = FRAG_DEFAULT_SEED,
			     .profile = &run.profile},
		.saved = {.option = "--save-history"},
	};
	const struct fl_program program = {
		.name = "frag",
		.usage = usage,
		.option = take_option,
		.answer = list_profiles,
		.own_options = own_options,
		.target = make_target,
		.like = &run.like,
		.output = &run.saved,
		.settings = &run,
	};
	int status;

	/* Compiled in, so this fails only when memory has run out. */
	if (frag_profile_load(NULL, &run.profile, NULL))
		return FL_EXIT_FAILED;
	status = fl_cli_main(&program, argc, argv);
	fl_array_free(&run.settings.wishes);
	fl_array_free(&run.settings.aims);
	return status;
}
