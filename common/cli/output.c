/* SPDX-License-Identifier: MIT */
/*
 * Where results go: stdout, and files that appear whole or not at all. Knows
 * nothing about what is in them.
 */
#include "common/cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fl_output_reserve_standard(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int fl_output_print(const char *text, struct fl_diag *diag)
{
	size_t length = strlen(text);

	if (fwrite(text, 1, length, stdout) != length || fflush(stdout))
		return fl_fail(diag, fl_error_of_output(errno), "writing to stdout: %s",
			       strerror(errno));
	return 0;
}

/* Where a new file of that name really goes: through a symlink, if there is one. */
static int resolve(const char *path, char **resolved)
{
	*resolved = realpath(path, NULL);
	if (!*resolved && errno != ENOMEM)
		*resolved = strdup(path);
	return *resolved ? 0 : FL_ENOMEM;
}

/* The folder of a path; *folder is malloc'd. */
static int folder_of(const char *path, char **folder)
{
	char *copy = strdup(path);

	if (!copy)
		return FL_ENOMEM;
	*folder = strdup(dirname(copy));
	free(copy);
	return *folder ? 0 : FL_ENOMEM;
}

static int check_folder(const char *option, const char *path, struct fl_diag *diag)
{
	char *resolved = NULL, *folder = NULL;
	int error;

	error = resolve(path, &resolved);
	if (!error)
		error = folder_of(resolved, &folder);
	if (!error && access(folder, W_OK | X_OK))
		error = fl_fail(diag, FL_EIO, "writing %s file %s: %s", option, path,
				strerror(errno));
	free(folder);
	free(resolved);
	return error;
}

static bool same_file(const char *a, const char *b)
{
	struct stat a_status, b_status;

	if (!strcmp(a, b))
		return true;
	return !stat(a, &a_status) && !stat(b, &b_status) && a_status.st_dev == b_status.st_dev &&
	       a_status.st_ino == b_status.st_ino;
}

static int check_one(const struct fl_options *options, const char *option, const char *path,
		     bool regular, struct fl_diag *diag)
{
	struct stat status;
	size_t i;

	for (i = 0; i < options->image_count; i++)
		if (same_file(path, options->images[i]))
			return fl_fail(diag, FL_ESYNTAX, "option %s: %s is the image itself",
				       option, path);
	if (stat(path, &status))
		return check_folder(option, path, diag);
	if (S_ISREG(status.st_mode))
		return check_folder(option, path, diag);
	if (regular || S_ISDIR(status.st_mode))
		return fl_fail(diag, FL_EINVAL, "option %s: %s is not a regular file", option,
			       path);
	return 0;
}

int fl_output_check(const struct fl_options *options, const struct fl_program_output *own,
		    struct fl_diag *diag)
{
	const struct {
		const char *option, *path;
		bool regular; /* a device of that name must not be replaced */
	} files[] = {
		{"--output", options->output_path, true},
		{"--json", options->json_path, false},
		{"--csv", options->csv_path, false},
		{"--fio-log", options->fio_log_path, false},
		{"--undo", options->undo_path, true},
		{own ? own->option : NULL, own ? own->path : NULL, true},
	};
	const size_t count = sizeof(files) / sizeof(files[0]);
	struct stat status;
	size_t i, k;
	int error;

	for (i = 0; i < count; i++) {
		if (!files[i].path)
			continue;
		error = check_one(options, files[i].option, files[i].path, files[i].regular, diag);
		if (error)
			return error;
		for (k = 0; k < i; k++)
			if (files[k].path && same_file(files[i].path, files[k].path))
				return fl_fail(diag, FL_ESYNTAX,
					       "options %s and %s: both name the file %s",
					       files[k].option, files[i].option, files[i].path);
	}
	/* What an older run saved may be all that is left of another image. */
	if (options->undo_path && !lstat(options->undo_path, &status))
		return fl_fail(diag, FL_EINVAL,
			       "option --undo: %s exists; name another file or remove it",
			       options->undo_path);
	return 0;
}

int fl_output_part_name(const char *path, char **part)
{
	char *resolved, *name = NULL;
	int error;

	error = resolve(path, &resolved);
	if (error)
		return error;
	if (asprintf(&name, "%s.%ld.part", resolved, (long)getpid()) < 0)
		name = NULL;
	free(resolved);
	if (!name)
		return FL_ENOMEM;
	*part = name;
	return 0;
}

int fl_output_take_mode(const char *part, const char *path, struct fl_diag *diag)
{
	const mode_t mask = umask(0);
	struct stat status;

	(void)umask(mask);
	if (stat(path, &status) || chmod(part, status.st_mode & 0777 & ~mask))
		return fl_fail(diag, FL_EIO, "setting the permissions of the copy: %s",
			       strerror(errno));
	return 0;
}

/* The new name must survive a crash of the host as the content does. */
static int flush_folder(const char *path)
{
	char *folder;
	int fd, error;

	error = folder_of(path, &folder);
	if (error)
		return error;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(folder);
	if (fd < 0)
		return FL_EIO;
	/* Some filesystems have no fsync for folders; that is their word, not a failure. */
	if (fsync(fd) && errno != EINVAL)
		error = FL_EIO;
	(void)close(fd);
	return error;
}

int fl_output_publish(char **part, const char *path, struct fl_diag *diag)
{
	char *resolved;
	int error;

	error = resolve(path, &resolved);
	if (error)
		return error;
	if (rename(*part, resolved))
		error = fl_fail(diag, FL_EIO, "renaming %s to %s: %s", *part, path,
				strerror(errno));
	else if (flush_folder(resolved))
		error = fl_fail(diag, FL_EIO, "flushing the folder of %s: %s", path,
				strerror(errno));
	free(resolved);
	if (error)
		return error;
	free(*part);
	*part = NULL;
	return 0;
}

void fl_output_drop(char **part)
{
	if (!*part)
		return;
	(void)unlink(*part);
	free(*part);
	*part = NULL;
}

/* Writes, flushes and closes; stream is closed in every case. */
static int fill(FILE *stream, const char *path, const char *text, bool durable,
		struct fl_diag *diag)
{
	size_t length = strlen(text);
	int error = 0;

	if (fwrite(text, 1, length, stream) != length || fflush(stream) ||
	    (durable && fsync(fileno(stream))))
		error = fl_fail(diag, fl_error_of_output(errno), "writing %s: %s", path,
				strerror(errno));
	if (fclose(stream) && !error)
		error = fl_fail(diag, fl_error_of_output(errno), "writing %s: %s", path,
				strerror(errno));
	return error;
}

int fl_output_file(const char *path, const char *text, struct fl_diag *diag)
{
	struct stat status;
	bool direct = !stat(path, &status) && !S_ISREG(status.st_mode);
	char *part = NULL;
	FILE *stream;
	int error;

	if (!direct) {
		error = fl_output_part_name(path, &part);
		if (error)
			return error;
	}
	stream = fopen(direct ? path : part, direct ? "we" : "wxe");
	if (!stream) {
		error = fl_fail(diag, fl_error_of_output(errno), "creating %s: %s", path,
				strerror(errno));
		goto out;
	}
	error = fill(stream, path, text, !direct, diag);
	if (!error && !direct)
		error = fl_output_publish(&part, path, diag);
	fl_output_drop(&part);
out:
	free(part);
	return error;
}
