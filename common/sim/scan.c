/* SPDX-License-Identifier: MIT */
/*
 * The search of ext4's mballoc: which free run a request gets. Changes nothing; the names in
 * comments are those of fs/ext4/mballoc.c in Linux 6.18.
 */
#include "common/sim/sim.h"

#define MAX_TO_SCAN 200u /* s_mb_max_to_scan: runs looked at in all */
_Static_assert(MAX_TO_SCAN + 1 == FL_SIMGROUP_HEAD, "a group remembers what a search looks at");
#define MIN_TO_SCAN 10u	     /* s_mb_min_to_scan: once one fits, no more than that */
#define LINEAR_GROUPS 4u     /* s_mb_max_linear_groups: before the sets are asked */
#define SETS_FROM_GROUPS 16u /* MB_DEFAULT_LINEAR_SCAN_THRESHOLD: below, all go in order */
#define TRIM_ORDERS 3u	     /* s_mb_best_avail_max_trim_order */
#define FLEX_SPREAD 4u	     /* EXT4_FLEX_SIZE_DIR_ALLOC_SCHEME */

enum criterion {
	POWER2_ALIGNED,	  /* one buddy holds it all */
	GOAL_LENGTH_FAST, /* groups whose average free run is long enough */
	BEST_AVAILABLE,	  /* the same for less and less, but never less than is needed */
	GOAL_LENGTH_SLOW, /* groups with so many free blocks */
	ANY_FREE,
	CRITERIA
};

struct search {
	struct fl_alloc *alloc;
	const struct sim_request *request;
	unsigned criterion;
	unsigned order; /* of aim, when it is a power of two from 2 on; else 0 */
	uint32_t aim;
	uint32_t seen; /* runs */
	bool ended;    /* best is what it is to be */
	uint32_t best_group, best_start, best_len;
};

static unsigned log2_of(uint32_t value)
{
	return 31 - (unsigned)__builtin_clz(value);
}

unsigned sim_average_order(const struct fl_alloc *alloc, uint32_t blocks)
{
	unsigned order = blocks < 2 ? 0 : log2_of(blocks) - 1;

	return (unsigned)fl_min(order, alloc->top);
}

static void choose(struct search *s, uint32_t group, uint32_t start, uint32_t len)
{
	s->best_group = group;
	s->best_start = start;
	s->best_len = len;
}

/* ext4_mb_good_group */
static bool good_group(const struct search *s, uint32_t number)
{
	const struct fl_simgroup *group = &s->alloc->groups[number];
	uint32_t flex = s->alloc->geo.flex_groups;

	if (!group->free || (s->criterion != ANY_FREE && group->free < s->aim))
		return false;
	switch (s->criterion) {
	case POWER2_ALIGNED:
		/* The first of a flex group is for directories and metadata. */
		if (s->request->data && flex >= FLEX_SPREAD && number % flex == 0)
			return false;
		return s->order <= group->top && group->chunks[s->order] > 0;
	case GOAL_LENGTH_FAST:
	case BEST_AVAILABLE:
		return group->free / group->runs >= s->aim;
	default:
		return true;
	}
}

/* ext4_mb_simple_scan_group: the first of the smallest buddies that hold it. */
static void take_buddy(struct search *s, uint32_t number)
{
	const struct fl_simgroup *group = &s->alloc->groups[number];
	unsigned order = s->order;

	while (!fl_simgroup_has_buddy(group, order))
		order++;
	choose(s, number, fl_simgroup_buddy(group, order), s->aim);
	s->ended = true;
}

/* ext4_mb_measure_extent and ext4_mb_check_limits */
static void measure(struct search *s, uint32_t number, uint32_t start, uint32_t len)
{
	s->seen++;
	if (len == s->aim) {
		choose(s, number, start, len);
		s->ended = true;
		return;
	}
	if (s->best_len == 0 ||
	    (s->best_len < s->aim ? len > s->best_len : len > s->aim && len < s->best_len))
		choose(s, number, start, len);
	s->ended = s->seen > MAX_TO_SCAN || (s->best_len >= s->aim && s->seen > MIN_TO_SCAN);
}

/*
 * All runs before the first that holds it, as if each were measured: the longest counts. Returns
 * where that one begins. On a fragmented disk, most searches are this.
 */
static uint32_t measure_short_runs(struct search *s, uint32_t number)
{
	struct fl_simgroup *group = &s->alloc->groups[number];
	uint32_t long_at = group->size, start, len;

	if (fl_simgroup_next(group, 0, s->aim, &start, &len))
		long_at = start;
	s->seen += fl_simgroup_longest(group, long_at, MAX_TO_SCAN + 1 - s->seen, s->best_len,
				       &start, &len);
	if (len)
		choose(s, number, start, len);
	s->ended = s->seen > MAX_TO_SCAN;
	return long_at;
}

/* ext4_mb_complex_scan_group: goes through the runs in whole buddies. */
static void scan_runs(struct search *s, uint32_t number)
{
	const struct fl_simgroup *group = &s->alloc->groups[number];
	uint32_t least = s->criterion < GOAL_LENGTH_SLOW ? s->aim : 1;
	uint32_t pos = 0, start, len;

	if (least < s->aim && s->best_len < s->aim)
		pos = measure_short_runs(s, number);
	while (!s->ended && fl_simgroup_next(group, pos, least, &start, &len)) {
		for (pos = start; !s->ended && pos < start + len && start + len - pos >= least;) {
			uint32_t piece = fl_simgroup_extent(group, pos, start + len, s->aim);

			measure(s, number, pos, piece);
			pos += piece;
		}
		pos = start + len;
	}
	if (s->seen > MAX_TO_SCAN || s->best_len >= s->aim)
		s->ended = true;
}

static void scan_group(struct search *s, uint32_t number)
{
	if (!good_group(s, number))
		return;
	if (s->criterion == POWER2_ALIGNED)
		take_buddy(s, number);
	else
		scan_runs(s, number);
}

static void scan_linear(struct search *s, uint32_t *first, uint32_t count)
{
	for (; count && !s->ended; count--) {
		scan_group(s, *first);
		*first = *first + 1 == s->alloc->geo.groups ? 0 : *first + 1;
	}
}

/* The groups from .. to-1 of one set that are worth so much, in order. */
static void scan_set(struct search *s, struct sim_index *set, unsigned order, uint32_t least,
		     uint32_t from, uint32_t to)
{
	uint32_t at = from;

	while (!s->ended && (at = sim_index_next(set, order, at, least)) < to)
		scan_group(s, at++);
}

/* ext4_mb_scan_groups_best_avail */
static void scan_best_available(struct search *s, uint32_t from, uint32_t to)
{
	unsigned order = log2_of(s->request->aim);
	unsigned least = order > TRIM_ORDERS ? order - TRIM_ORDERS : 0;

	if (1u << least < s->request->want)
		least = log2_of(s->request->want) + 1;
	for (unsigned i = order + 1; i-- > least && !s->ended;) {
		s->aim = 1u << i;
		scan_set(s, &s->alloc->by_average, sim_average_order(s->alloc, s->aim), s->aim,
			 from, to);
	}
}

static void scan_sets(struct search *s, uint32_t from, uint32_t to)
{
	struct fl_alloc *alloc = s->alloc;

	switch (s->criterion) {
	case POWER2_ALIGNED:
		for (unsigned order = s->order; order <= alloc->top && !s->ended; order++)
			scan_set(s, &alloc->by_buddy, order, 1, from, to);
		return;
	case GOAL_LENGTH_FAST:
		for (unsigned order = sim_average_order(alloc, s->aim);
		     order <= alloc->top && !s->ended; order++)
			scan_set(s, &alloc->by_average, order, s->aim, from, to);
		return;
	case BEST_AVAILABLE:
		scan_best_available(s, from, to);
		return;
	default:
		scan_set(s, &alloc->by_free, 0, s->criterion == ANY_FREE ? 1 : s->aim, from, to);
	}
}

/* ext4_mb_scan_groups: one criterion over all groups. */
static void scan_groups(struct search *s)
{
	uint32_t groups = s->alloc->geo.groups, first = s->request->group;

	if (groups < SETS_FROM_GROUPS) {
		scan_linear(s, &first, groups);
		return;
	}
	if (s->criterion < GOAL_LENGTH_SLOW)
		scan_linear(s, &first, LINEAR_GROUPS);
	if (!s->ended)
		scan_sets(s, first, groups);
	if (!s->ended)
		scan_sets(s, 0, first);
	if (!s->ended)
		s->aim = s->request->aim;
}

bool sim_search(struct fl_alloc *alloc, const struct sim_request *request, struct fl_run *run)
{
	struct search s = {
		.alloc = alloc,
		.request = request,
		.aim = request->aim,
		.criterion = GOAL_LENGTH_FAST,
	};

	if (s.aim >= 2 && (s.aim & (s.aim - 1)) == 0 && log2_of(s.aim) <= alloc->top) {
		s.order = log2_of(s.aim);
		s.criterion = POWER2_ALIGNED;
	}
	for (; s.criterion < CRITERIA && !s.ended; s.criterion++)
		if (s.criterion != BEST_AVAILABLE || request->data)
			scan_groups(&s);
	if (s.best_len == 0)
		return false;
	*run = (struct fl_run){
		.start = fl_group_first(&alloc->geo, s.best_group) + s.best_start,
		.len = fl_min(s.best_len, s.aim),
	};
	return true;
}
