/* SPDX-License-Identifier: MIT */
/*
 * A list of paths, in the order in which the user wants the files on the disk.
 */
#ifndef DEFRAG_LIST_H
#define DEFRAG_LIST_H

#include <fraglab/map.h>

struct path_list {
	FL_ARRAY(char *); /* as in the file, without the line ends; owned */
};

/*
 * Reads a file of one path a line; empty lines are skipped. FL_ESYNTAX with the reason in diag
 * when it cannot be read,
 * FL_ENOMEM; the list must be freed in any case.
 */
int list_read(const char *file, struct path_list *list, struct fl_diag *diag) FL_CHECKED;
void list_free(struct path_list *list);

/*
 * For each path the index of its file in map->files, or FL_NO_NAME: no such name, or a file
 * without blocks. files has room for all. O(names log names).
 */
int list_find(const struct path_list *list, const struct fl_map *map, uint32_t *files) FL_CHECKED;

#endif
