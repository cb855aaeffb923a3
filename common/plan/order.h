/* SPDX-License-Identifier: MIT */
/*
 * Private to plan: the state of ordering. A piece is a part of a move that is small
 * enough to be found by place through buckets. Must not be needed outside this folder.
 */
#ifndef FRAGLAB_PLAN_ORDER_H
#define FRAGLAB_PLAN_ORDER_H

#include <fraglab/blockset.h>
#include <fraglab/plan.h>

#define NONE UINT32_MAX

/*
 * Blocks of a bucket, doubled while there are more than MOST_BUCKETS of them (8 bytes each). No
 * piece crosses a bucket's edge, neither where it is nor where it goes, so that whatever happens
 * at a place concerns the few pieces of one bucket.
 */
#define BUCKET_BLOCKS 256u
#define MOST_BUCKETS (UINT64_C(1) << 24)

enum piece_state {
	PIECE_WAITING, /* some of its destination is occupied */
	PIECE_READY,   /* in the ready queue */
	PIECE_DONE,    /* at its destination */
};

enum piece_kind {
	PIECE_DATA,
	PIECE_TREE_NOW,	 /* a mapping-tree block of a file where it is now: can be in the way */
	PIECE_TREE_GOAL, /* one of its final places: waits for them to be free */
};

struct piece {
	fl_pblk at, to;
	fl_pblk from; /* where it was before the batch that is being formed; valid when moving */
	fl_lblk lblk;
	uint32_t len;
	uint32_t file;			/* index into order->files */
	uint32_t next;			/* next piece of the file in logical order */
	uint32_t next_here, next_there; /* in the bucket of at, of to */
	uint32_t blocked;		/* blocks of the destination that are occupied */
	uint32_t walk;			/* the last walk along blockers that saw it */
	uint32_t depth;			/* how many wait before it, found by that walk */
	uint8_t state, kind;
	bool unwritten, moving, evicted, partial; /* partial: in the list of partly free ones */
	bool gone;				  /* PIECE_TREE_NOW: the tree has left */
};

struct order_file {
	uint32_t target;       /* index into target->files */
	uint32_t first;	       /* first piece */
	uint32_t waiting;      /* data pieces not at their destination */
	uint32_t tree_blocked; /* final tree blocks that are occupied */
	fl_pblk *tree;	       /* tree blocks now (owned) */
	size_t tree_count;
	bool tree_home; /* tree is at its final place */
	bool touched;	/* in the batch that is being formed */
};

struct ready_key {
	uint64_t behind; /* blocks from where the last batch ended to the piece's destination */
	uint32_t index;
};

struct order {
	const struct fl_map *map;
	const struct fl_target *target;
	struct fl_plan *plan;
	struct fl_blockset *free;    /* free on disk before the batch that is being formed */
	struct fl_blockset *wanted;  /* destinations not reached yet */
	struct fl_blockset *scratch; /* free and not wanted */
	fl_pblk scratch_cursor;
	/* Destinations of ready pieces, lent to mapping trees when there is no scratch. */
	struct fl_runs lent;
	FL_ARRAY(struct piece) pieces;
	FL_ARRAY(struct order_file) files;
	uint32_t *here, *there; /* bucket heads by at, by to */
	size_t bucket_count;
	unsigned bucket_shift;		 /* log2 of the blocks of a bucket */
	FL_ARRAY(uint32_t) ready;	 /* piece indexes */
	FL_ARRAY(struct ready_key) keys; /* scratch, to sort them */
	uint64_t ready_blocks;
	fl_pblk written_to;		/* where the piece ends that was taken last */
	FL_ARRAY(uint32_t) partial;	/* waiting pieces whose destination became partly free */
	FL_ARRAY(uint32_t) trees_ready; /* files whose tree alone can go home */
	FL_ARRAY(uint32_t) touched;	/* files of the batch that is being formed */
	struct fl_runs freed;		/* by the batch that is being formed */
	uint64_t part_blocks;		/* what is worth splitting off */
	/* Not worth it so far; in partial again when more of their destination is free. */
	FL_ARRAY(uint32_t) put_off;
	uint64_t put_off_part;	 /* part_blocks when all of them were looked at last */
	uint64_t evicted_blocks; /* in all */
	uint64_t waiting_blocks; /* data blocks not at their destination */
	uint64_t waiting_before; /* when the pace was looked at last; 0: not yet */
	size_t trees_away;	 /* files whose tree is not at its final place */
	/* order_tight: the window, in buckets; what lies before it is done. */
	bool tight;
	size_t window_first, window_end;
	uint32_t walk_start; /* where the search for cycles goes on */
	uint64_t batch_blocks;
	uint64_t budget; /* scratch of the batch that is being formed, less what is promised */
	uint32_t walk;	 /* number of the last walk along blockers */
	FL_ARRAY(uint32_t) path;   /* of the walk at hand; of order_tight: what is evicted */
	struct fl_extents mapping; /* of the file being emitted; kept to save allocations */
};

static inline size_t order_bucket(const struct order *order, fl_pblk block)
{
	return (size_t)(block >> order->bucket_shift);
}

/* Fills pieces, files and indexes from map and target. */
int order_setup(struct order *order) FL_CHECKED;
void order_teardown(struct order *order);

/* Makes a tree block known as something that can be in the way. */
int order_add_tree_place(struct order *order, uint32_t file, fl_pblk block) FL_CHECKED;
/* Cuts a piece in two; the new one gets the blocks from `keep` on. Both stay indexed. */
int piece_split(struct order *order, uint32_t piece, uint32_t keep, uint32_t *tail) FL_CHECKED;
/* Recounts what blocks a waiting piece and queues it when nothing does. */
int piece_recount(struct order *order, uint32_t piece) FL_CHECKED;
/* Tells every waiting piece that a run of blocks has become free. */
int order_freed(struct order *order, struct fl_run run) FL_CHECKED;
/* The piece (data or tree) that occupies a block; NONE when no movable one does. */
uint32_t order_occupant(const struct order *order, fl_pblk block);
/*
 * Splits partly free destinations off, so that their parts become ready: where part_blocks are
 * free, or nearly all; all of them when nothing is ready.
 */
int order_split_partial(struct order *order) FL_CHECKED;

/*
 * Breaks cycles, and chains so long that following them would cost many batches: moves pieces
 * that block others into scratch space, about `limit` blocks, marking their files as touched.
 */
int order_evict(struct order *order, uint64_t limit) FL_CHECKED;

/* Whether there is scratch for the file's mapping tree in the batch that is being formed. */
bool order_affordable(const struct order *order, uint32_t file);
/* Marks a file as part of the batch that is being formed. */
int order_touch(struct order *order, uint32_t file) FL_CHECKED;
/*
 * When no ready piece is affordable, but some are ready: lends destinations of others, which then
 * wait again, so that one is.
 */
int order_lend(struct order *order) FL_CHECKED;
/* Takes up to len scratch or lent blocks as one run. FL_ENOROOM: there is none. */
int order_take_scratch(struct order *order, uint64_t len, struct fl_run *run) FL_CHECKED;
/*
 * The whole way from here on, when the calls above find nothing to do: window by window. Ends
 * when all is done or nothing goes any more.
 */
int order_tight(struct order *order) FL_CHECKED;
/*
 * Of order_tight: up to len free blocks outside the window, from `from` on if there are any; then
 * takes them.
 */
bool order_take_outside(struct order *order, fl_pblk from, uint64_t len, struct fl_run *run);
int order_occupy(struct order *order, struct fl_run run) FL_CHECKED;
/* Moves a piece whose destination is free there, as part of the batch that is being formed. */
int order_take_piece(struct order *order, struct piece *piece) FL_CHECKED;
/* Lists a piece in the bucket where it is. */
void order_index_here(struct order *order, uint32_t piece);
/* Emits the batch from the files touched; *moved is false when nothing could be done. */
int order_emit(struct order *order, bool *moved) FL_CHECKED;

#endif
