/* SPDX-License-Identifier: MIT */
/*
 * Chains: the runs that files have been given so far, 16 bytes a run in one pool.
 * Must not know the allocator's rules; cutting gives the runs back to it.
 */
#ifndef FRAG_CHAIN_H
#define FRAG_CHAIN_H

#include <fraglab/alloc.h>

struct frag_link {
	fl_pblk start;
	uint32_t len;
	uint32_t next; /* index of the next link; 0: the last one */
};

/* Zero-initialise; link 0 is never used by a chain. */
struct frag_chains {
	FL_ARRAY(struct frag_link) links;
	uint32_t spare; /* first of the links to use again; 0: none */
};

/* The runs of one file, in logical order. Zero-initialised: empty. */
struct frag_chain {
	uint32_t first, last;
};

void frag_chains_free(struct frag_chains *chains);
/* Adds a run at the end, joined with the last one where they touch. FL_ENOMEM. */
int frag_chain_append(struct frag_chains *chains, struct frag_chain *chain,
		      struct fl_run run) FL_CHECKED;
/* Deletes (fl_alloc_delete) all but the first `left` blocks; the chain has more. */
int frag_chain_cut(struct frag_chains *chains, struct frag_chain *chain, uint64_t left,
		   struct fl_alloc *alloc) FL_CHECKED;
/* One past the last block; the chain is not empty. */
fl_pblk frag_chain_end(const struct frag_chains *chains, const struct frag_chain *chain);

#endif
