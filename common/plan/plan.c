/* SPDX-License-Identifier: MIT */
/*
 * A plan's life, its validation and its prediction by simulation. Must not order moves.
 */
#include <fraglab/plan.h>

#include "layout.h"

#include <stdlib.h>

void fl_plan_free(struct fl_plan *plan)
{
	if (!plan)
		return;
	fl_array_free(&plan->batches);
	fl_array_free(&plan->switches);
	fl_array_free(&plan->moves);
	fl_array_free(&plan->trees);
	free(plan);
}

static int run_through(const struct fl_map *map, const struct fl_plan *plan,
		       struct fl_layout **layout, struct fl_diag *diag)
{
	struct fl_layout *made;
	int error = fl_layout_new(map, &made);

	if (error)
		return error;
	for (size_t i = 0; i < plan->batches.count && !error; i++)
		error = fl_layout_step(made, plan, i, NULL, NULL, diag);
	if (error)
		fl_layout_free(made);
	else
		*layout = made;
	return error;
}

int fl_plan_validate(const struct fl_map *map, const struct fl_plan *plan, struct fl_diag *diag)
{
	struct fl_layout *layout;
	int error = run_through(map, plan, &layout, diag);

	if (!error)
		fl_layout_free(layout);
	return error;
}

int fl_plan_predict(const struct fl_map *map, const struct fl_plan *plan, struct fl_map **predicted,
		    struct fl_diag *diag)
{
	struct fl_layout *layout;
	int error = run_through(map, plan, &layout, diag);

	if (error)
		return error;
	error = fl_layout_to_map(layout, predicted, diag);
	fl_layout_free(layout);
	return error;
}
