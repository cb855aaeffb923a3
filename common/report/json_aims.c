/* SPDX-License-Identifier: MIT */
/*
 * What was wanted of the layout beside what was achieved, as JSON.
 */
#include "json_value.h"

/* Shares and means as such, counts and bytes as whole numbers. */
static json_t *value_json(enum fl_aim_key key, uint64_t value)
{
	enum fl_aim_unit unit = fl_aim_unit(key);

	return unit == FL_AIM_RATIO || unit == FL_AIM_MEAN
		       ? json_real((double)value / (double)FL_AIM_ONE)
		       : whole(value);
}

json_t *fl_json_aims(const struct fl_report *report)
{
	json_t *rows = json_array();
	bool failed = false;

	for (size_t i = 0; i < report->aims.count; i++) {
		const struct fl_aim *aim = &report->aims.at[i];
		uint64_t value = fl_aim_value(aim->key, fl_report_outcome(report));
		json_t *row = json_object();

		failed |= put(row, "key", json_string(fl_aim_name(aim->key)));
		failed |= put(row, "wanted", value_json(aim->key, aim->wanted));
		failed |= put(row, "achieved", value_json(aim->key, value));
		failed |= put(row, "tolerance", value_json(aim->key, fl_aim_tolerance(aim)));
		failed |= put(row, "met", json_boolean(fl_aim_met(aim, value)));
		failed |= add(rows, row);
	}
	return finish(rows, failed);
}
