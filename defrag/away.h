/* SPDX-License-Identifier: MIT */
/*
 * Private to defrag: lays stretches of units into gaps, and counts where they had to be cut.
 */
#ifndef DEFRAG_AWAY_H
#define DEFRAG_AWAY_H

#include "defrag/units.h"

/*
 * Lays the units that are neither kept nor placed into the gaps; those that are neighbours in the
 * order one behind the other, as far as gaps hold them, the longest stretch first, a unit in pieces
 * where none holds it. What stays open is in gaps afterwards, maximal runs in any order. *cuts:
 * neighbours that were parted, and units' pieces. FL_ENOROOM: the gaps are shorter in all;
 * FL_ENOMEM.
 */
int away_lay(struct units *units, struct fl_runs *gaps, uint64_t *cuts) FL_CHECKED;

#endif
