/* SPDX-License-Identifier: MIT */
/*
 * Numbers as people read them, in as many columns as there are.
 */
#include "parts.h"

#include <inttypes.h>
#include <string.h>

const char *fl_report_count(uint64_t value, size_t columns, char cell[REPORT_CELL])
{
	static const char units[] = "KMGTPE";
	char digits[24];
	size_t length, at = 0, unit = 0;

	snprintf(digits, sizeof(digits), "%" PRIu64, value);
	length = strlen(digits);
	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			cell[at++] = ',';
		cell[at++] = digits[i];
	}
	cell[at] = '\0';
	if (at <= columns)
		return cell;
	memcpy(cell, digits, length + 1);
	if (length <= columns)
		return cell;
	/* The widest scaled form, "999 E", has five columns. */
	while (value >= 1000000) {
		value /= 1000;
		unit++;
	}
	if (value < 10000)
		snprintf(cell, REPORT_CELL, "%" PRIu64 ".%02" PRIu64 " %c", value / 1000,
			 value % 1000 / 10, units[unit]);
	else if (value < 100000)
		snprintf(cell, REPORT_CELL, "%" PRIu64 ".%" PRIu64 " %c", value / 1000,
			 value % 1000 / 100, units[unit]);
	else
		snprintf(cell, REPORT_CELL, "%" PRIu64 " %c", value / 1000, units[unit]);
	return cell;
}
