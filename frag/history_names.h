/* SPDX-License-Identifier: MIT */
/*
 * What a history calls the files of a map: "/path" with bytes outside of ! .. ~ and the backslash
 * as \xNN; "<INODE>" and "<xattr:INODE>" for what has no name. Private to the text of histories.
 */
#ifndef FRAG_HISTORY_NAMES_H
#define FRAG_HISTORY_NAMES_H

#include <stdio.h>

#include <fraglab/map.h>

struct frag_names;

/* They change the text. *file: index into map->files; *name: into map->names. */
bool frag_names_find(const struct frag_names *names, char *text, uint32_t *file);
bool frag_names_find_path(const struct frag_names *names, char *path, uint32_t *name);
/* The same, but the root is FL_NO_NAME. */
bool frag_names_find_folder(const struct frag_names *names, char *path, uint32_t *name);

/* The stream remembers its errors. FL_NO_NAME is the root. */
void frag_names_print(FILE *stream, const struct fl_map *map, uint32_t file);
void frag_names_print_path(FILE *stream, const struct fl_map *map, uint32_t name);

#endif
