/* SPDX-License-Identifier: MIT */
/*
 * Changes bytes without changing their checksum, so that the checksum need not be written. crc32c
 * is linear: for any change there is exactly one value of 32 spare bits that makes up for it.
 */
#include <common/fs/fs_internal.h>

/* Solves for the spare bits: each of them flips a fixed set of bits of the checksum. */
int fl_checksum_keep(fl_checksum_with *checksum_with, void *context, uint32_t wanted)
{
	uint32_t flips[32] = {0}, values[32], base, checksum, value = 0;
	int error = checksum_with(context, 0, &base);

	for (unsigned i = 0; i < 32 && !error; i++) {
		uint32_t flip, by = UINT32_C(1) << i;

		error = checksum_with(context, by, &checksum);
		flip = checksum ^ base;
		for (unsigned bit = 32; bit-- && !error;) {
			if (!(flip >> bit & 1))
				continue;
			if (!flips[bit]) {
				flips[bit] = flip;
				values[bit] = by;
				break;
			}
			flip ^= flips[bit];
			by ^= values[bit];
		}
	}
	checksum = base ^ wanted;
	for (unsigned bit = 32; bit-- && !error;) {
		if (flips[bit] && checksum >> bit & 1) {
			checksum ^= flips[bit];
			value ^= values[bit];
		}
	}
	if (!error)
		error = checksum_with(context, value, &checksum);
	return error || checksum != wanted ? FL_EINVAL : 0;
}
