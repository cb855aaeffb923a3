/* SPDX-License-Identifier: MIT */
/*
 * From a map to a plan and what it promises; in a dry run also what a part of it would. Must not
 * write anything.
 */
#include "common/cli/run.h"
#include "common/cli/signals.h"

#include <fraglab/util.h>
#include <inttypes.h>
#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

/* Small batches where a budget is to be kept closely; 0: as they come. */
static uint64_t batch_blocks(uint64_t budget_blocks, uint32_t block_bytes)
{
	uint64_t most = FL_PLAN_BATCH_BYTES / block_bytes;

	return budget_blocks ? fl_max(fl_min(budget_blocks / 8, most), 1) : 0;
}

/* For plans that are only tried: nothing is shown. */
static int silent_step(void *context, const char *unit, uint64_t done, uint64_t total)
{
	(void)context, (void)unit, (void)done, (void)total;
	return fl_signals_stop_asked() ? FL_ECANCELLED : 0;
}

static int watch_step(void *context, const char *unit, uint64_t done, uint64_t total)
{
	struct run *run = context;

	run->progress.unit = unit;
	fl_progress_update(&run->progress, done, total);
	return silent_step(context, unit, done, total);
}

/* Target layout and plan: where everything shall go, and the way there. */
static int plan_way(struct run *run, uint64_t most, struct fl_report *report,
		    struct fl_target *target, struct fl_plan **plan)
{
	const struct fl_order_options order = {
		.batch_blocks = batch_blocks(most, run->units->geo.block_bytes)};
	const struct fl_watch watch = {report == &run->report ? watch_step : silent_step, run};
	int error;

	fl_progress_phase(&run->progress, "planning", NULL, 1);
	error = run->program->target(run->program->settings, run->units, &run->analysis, &watch,
				     target, report, &run->diag);
	fl_progress_clear(&run->progress);
	if (!error)
		error = fl_target_finish(target, run->units, &run->diag);
	if (!error)
		error = fl_plan_order(run->units, target, &order, plan, &run->diag);
	/* One that promises fragments gone does not leave more of them. */
	if (!error && (*plan)->left_blocks && run->program->leaves)
		error = fl_plan_cut_losses(run->units, *plan, &run->diag);
	return error;
}

/* As plan_way, of a program that is told of a budget of so many bytes; 0: of none. */
static int plan_way_told(struct run *run, uint64_t told, uint64_t most, struct fl_report *report,
			 struct fl_target *target, struct fl_plan **plan)
{
	struct fl_budget *budget = run->program->budget;
	const uint64_t asked = budget->bytes;
	int error;

	budget->bytes = told;
	error = plan_way(run, fl_max(most, 1), report, target, plan);
	budget->bytes = asked;
	return error;
}

/*
 * The better of two within a budget of so much, each as far as it gains: the way that it is best
 * spent on; where that gains nothing, the way to the end. *next: blocks, as fl_plan_cut_to_gain.
 */
static int plan_budget(struct run *run, uint64_t bytes, struct fl_report *report,
		       struct fl_target *target, struct fl_plan **plan, uint64_t *next)
{
	const enum fl_gain *gain = &run->program->budget->gain; /* the target sets it */
	const uint64_t most = bytes / run->units->geo.block_bytes;
	uint64_t spent;
	int error = plan_way_told(run, bytes, most, report, target, plan);

	if (!error)
		error = fl_plan_cut_to_gain(run->units, *plan, most, *gain, &spent, &run->diag);
	if (error || (*plan)->batches.count)
		return error;
	fl_plan_free(*plan);
	*plan = NULL;
	fl_target_free(target);
	error = plan_way_told(run, 0, most, report, target, plan);
	if (error || (!(*plan)->left_blocks && (*plan)->moved_blocks <= most))
		return error;
	return fl_plan_cut_to_gain(run->units, *plan, most, *gain, next, &run->diag);
}

/* What a run with a budget of so much would move; 0: nothing. */
static int try_budget(struct run *run, uint64_t blocks, uint64_t *moved)
{
	struct fl_report ignored = {0};
	struct fl_target target = {0};
	struct fl_plan *plan = NULL;
	uint64_t next;
	int error = plan_budget(run, blocks * run->units->geo.block_bytes, &ignored, &target, &plan,
				&next);

	*moved = error ? 0 : plan->moved_blocks;
	fl_plan_free(plan);
	fl_target_free(&target);
	fl_report_free(&ignored);
	return error;
}

/* As a user would write it: in whole MiB, or in KiB where it is less than one. */
static uint64_t round_up(const struct run *run, uint64_t blocks)
{
	uint64_t block_bytes = run->units->geo.block_bytes, bytes = blocks * block_bytes;
	uint64_t unit = fl_max(bytes < MIB ? 1024 : MIB, block_bytes);

	return fl_div_up(bytes, unit) * (unit / block_bytes);
}

/*
 * A budget that brings an improvement, where this one brings none; 0: none does. How large
 * batches are depends on the budget, so what one plan needs another may not do with: each is tried.
 * `next`: what the way to the end needs, as planned for this budget.
 */
static int find_next(struct run *run, uint64_t next, uint64_t *enough)
{
	uint64_t blocks = fl_max(run->program->budget->bytes / run->units->geo.block_bytes, 1);
	uint64_t moved = 0, step = 4; /* each costs a whole planning */
	int error = 0;

	*enough = 0;
	/* A way may move some blocks twice. */
	while (!error && !moved && blocks < 2 * run->units->geo.blocks) {
		blocks =
			round_up(run, blocks < next && next < step * blocks ? next : step * blocks);
		error = try_budget(run, blocks, &moved);
	}
	if (error || !moved)
		return error;
	*enough = blocks;
	moved = round_up(run, moved);
	if (moved >= blocks)
		return 0;
	blocks = moved;
	error = try_budget(run, blocks, &moved);
	if (moved)
		*enough = blocks;
	return error;
}

/* A plan that keeps the budget, if there is one, and then makes nothing worse. */
static int plan_within(struct run *run, struct fl_report *report, struct fl_target *target,
		       struct fl_plan **plan)
{
	const struct fl_budget *budget = run->program->budget;
	uint64_t next = 0, enough;
	int error;

	if (!budget || !budget->bytes)
		return plan_way(run, 0, report, target, plan);
	error = plan_budget(run, budget->bytes, report, target, plan, &next);
	if (error || (*plan)->batches.count)
		return error;
	error = find_next(run, next, &enough);
	report->next_bytes = enough * run->units->geo.block_bytes;
	return error;
}

int fl_run_plan(struct run *run)
{
	const uint64_t block_bytes = run->units->geo.block_bytes;
	int error;

	run->action = "planning";
	error = plan_within(run, &run->report, &run->target, &run->plan);
	if (error)
		return error;
	run->report.planned_bytes = run->plan->moved_blocks * block_bytes;
	run->report.needed_bytes = run->plan->needed_blocks * block_bytes;
	if (run->options->verbose)
		fl_message(run->program->name, run->image,
			   "planned: %zu moves in %zu batches, %" PRIu64 " blocks to move, %" PRIu64
			   " have to, %" PRIu64 " find no room",
			   run->plan->moves.count, run->plan->batches.count,
			   run->plan->moved_blocks, run->plan->needed_blocks,
			   run->plan->left_blocks);
	return 0;
}

/* Validates a plan and gives the map it leads to, in blocks. */
static int follow(struct run *run, const struct fl_plan *plan, struct fl_map **predicted)
{
	int error = fl_plan_predict(run->units, plan, predicted, &run->diag);

	return error ? error : fl_map_into_blocks(predicted, &run->diag);
}

int fl_run_predict(struct run *run, bool *beyond)
{
	struct fl_map *predicted = NULL;
	int error;

	run->action = "checking the plan";
	error = follow(run, run->plan, &predicted);
	if (!error)
		error = fl_run_measure(run, predicted, &run->report.predicted);
	if (!error)
		run->report.has_predicted = true;
	if (!error && run->options->dry_run)
		error = fl_run_find_left(run, predicted, beyond);
	fl_map_free(predicted);
	return error;
}

/* The reading that the budget is to make better, where that is among the workloads. */
static enum fl_workload reading_of(const struct run *run)
{
	const struct fl_analyze_options *analysis = &run->analysis;

	for (size_t i = 0; i < analysis->workload_count; i++)
		if (analysis->workloads[i] == run->program->budget->reading)
			return analysis->workloads[i];
	return analysis->workloads[0];
}

static struct fl_curve_point point_of(const struct run *run, const struct fl_metrics *metrics,
				      uint64_t bytes)
{
	const struct fl_io_metrics *io = metrics->io;

	while (io->workload != reading_of(run))
		io++;
	return (struct fl_curve_point){.bytes = bytes,
				       .fragments = metrics->files.fragments,
				       .seeks = io->seeks,
				       .sequential_ratio = io->sequential_ratio,
				       .free_extents = metrics->free.extents,
				       .largest_free_bytes = metrics->free.largest_bytes};
}

/* What a run with this budget would come to. */
static int measure_within(struct run *run, uint64_t bytes, struct fl_curve_point *point)
{
	struct fl_analyze_options analysis = run->analysis;
	struct fl_report ignored = {0};
	struct fl_target target = {0};
	struct fl_map *predicted = NULL;
	struct fl_plan *plan = NULL;
	struct fl_metrics *metrics = calloc(1, sizeof(*metrics));
	uint64_t next;
	int error = FL_ENOMEM;

	if (!metrics)
		return error;
	analysis.workloads[0] = reading_of(run);
	analysis.workload_count = 1;
	error = plan_budget(run, bytes, &ignored, &target, &plan, &next);
	if (!error)
		error = follow(run, plan, &predicted);
	if (!error)
		error = fl_analyze(predicted, &analysis, metrics);
	if (!error)
		*point = point_of(run, metrics,
				  plan->moved_blocks * (uint64_t)run->units->geo.block_bytes);
	fl_map_free(predicted);
	fl_plan_free(plan);
	fl_target_free(&target);
	fl_report_free(&ignored);
	free(metrics);
	return error;
}

int fl_run_draw_curve(struct run *run)
{
	static const unsigned percents[FL_CURVE_POINTS - 2] = {10, 25, 50};
	struct fl_report *report = &run->report;
	const struct fl_budget *budget = run->program->budget;
	const uint64_t block_bytes = run->units->geo.block_bytes;
	int error = 0;

	/* Each point is a plan of its own: not where nobody reads it. */
	if (run->options->quiet && !run->options->json)
		return 0;
	if (!budget || budget->bytes || report->planned_bytes < 100 * block_bytes ||
	    !report->predicted.io_count)
		return 0;
	run->action = "planning with less";
	report->curve[0] = point_of(run, &report->images[0].metrics, 0);
	for (size_t i = 0; i < FL_CURVE_POINTS - 2 && !error; i++)
		error = measure_within(run, report->planned_bytes / 100 * percents[i],
				       &report->curve[i + 1]);
	report->curve[FL_CURVE_POINTS - 1] =
		point_of(run, &report->predicted, report->planned_bytes);
	report->has_curve = !error;
	return error;
}
