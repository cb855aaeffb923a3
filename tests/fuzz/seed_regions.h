/* SPDX-License-Identifier: MIT */
/*
 * Where the metadata of a seed is. Only reads.
 */
#ifndef FRAGLAB_FUZZ_SEED_REGIONS_H
#define FRAGLAB_FUZZ_SEED_REGIONS_H

#include "tests/fuzz/seed.h"

/* Fills seed->regions from seed->fs. False: the image cannot be read. */
bool seed_find_regions(struct seed *seed);

#endif
