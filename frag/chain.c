/* SPDX-License-Identifier: MIT */
/*
 * Lists of runs in one pool with a spare list. Must not decide where blocks go.
 */
#include "frag/chain.h"

void frag_chains_free(struct frag_chains *chains)
{
	fl_array_free(&chains->links);
	chains->spare = 0;
}

static int new_link(struct frag_chains *chains, struct frag_link link, uint32_t *index)
{
	if (chains->spare) {
		*index = chains->spare;
		chains->spare = chains->links.at[*index].next;
		chains->links.at[*index] = link;
		return 0;
	}
	if (chains->links.count == 0 && fl_array_push(&chains->links, (struct frag_link){0}))
		return FL_ENOMEM;
	if (chains->links.count >= UINT32_MAX || fl_array_push(&chains->links, link))
		return FL_ENOMEM;
	*index = (uint32_t)(chains->links.count - 1);
	return 0;
}

int frag_chain_append(struct frag_chains *chains, struct frag_chain *chain, struct fl_run run)
{
	struct frag_link link = {.start = run.start, .len = (uint32_t)run.len};
	uint32_t index;
	int err;

	if (chain->last) {
		struct frag_link *last = &chains->links.at[chain->last];

		if (last->start + last->len == run.start && run.len <= UINT32_MAX - last->len) {
			last->len += link.len;
			return 0;
		}
	}
	err = new_link(chains, link, &index);
	if (err)
		return err;
	if (chain->last)
		chains->links.at[chain->last].next = index;
	else
		chain->first = index;
	chain->last = index;
	return 0;
}

int frag_chain_cut(struct frag_chains *chains, struct frag_chain *chain, uint64_t left,
		   struct fl_alloc *alloc)
{
	struct frag_chain kept = {0};
	uint32_t i = chain->first, gone;

	for (; left && left >= chains->links.at[i].len; i = chains->links.at[i].next) {
		left -= chains->links.at[i].len;
		kept = (struct frag_chain){.first = chain->first, .last = i};
	}
	gone = i;
	for (; i; i = chains->links.at[i].next) {
		struct frag_link *link = &chains->links.at[i];
		struct fl_run run = {link->start + left, link->len - left};
		int err = fl_alloc_delete(alloc, run);

		if (err)
			return err;
		if (left) {
			link->len = (uint32_t)left;
			kept = (struct frag_chain){.first = chain->first, .last = i};
			gone = link->next;
			left = 0;
		}
	}
	if (gone) {
		chains->links.at[chain->last].next = chains->spare;
		chains->spare = gone;
	}
	*chain = kept;
	if (kept.last)
		chains->links.at[kept.last].next = 0;
	return 0;
}

fl_pblk frag_chain_end(const struct frag_chains *chains, const struct frag_chain *chain)
{
	const struct frag_link *last = &chains->links.at[chain->last];

	return last->start + last->len;
}
