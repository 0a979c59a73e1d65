/* SPDX-License-Identifier: Apache-2.0
 *
 * params.h - what the host tells the probes and what they leave behind. C and CUDA: one description for both.
 *
 * Times inside a probe are cycles of the SM's own clock, relative to the producer's first start; the host turns them into us
 * with the clock rate of the same producer in the same run: SMs of one device differ (1.976 and 1.980 GHz seen on one H200),
 * so what has to stay aligned over a run goes by the global clock. Records stay in shared memory until the run has ended: their stores would queue behind
 * the bursts they describe.
 */
#ifndef XST_PROBES_PARAMS_H
#define XST_PROBES_PARAMS_H

#include <stdint.h>

#include "device/fault.h"

enum { XSTI_PROBE_MOST_TARGETS = 8, XSTI_PROBE_MOST_BURSTS = 4096 };

/* Roles and phases in a fault. */
enum { XSTI_PROBE_ROLE_PRODUCER = 1, XSTI_PROBE_ROLE_LOADER = 2 };
enum { XSTI_PROBE_PHASE_START = 1, XSTI_PROBE_PHASE_GATE = 2, XSTI_PROBE_PHASE_LOAD = 3 };

/* Common start of all CTAs of a launch, in device memory, zero before each launch. */
struct xsti_start {
    uint32_t arrived;
    uint32_t pad;
    uint64_t start_ns; /* global_ns() at which every CTA begins; 0: not decided yet */
};

struct xsti_start_params {
    uint64_t start;        /* struct xsti_start */
    uint64_t fault;        /* struct xsti_fault */
    uint64_t gate;         /* uint32_t in host memory that opens the run on several devices at once; 0: none */
    uint64_t ready;        /* uint32_t in host memory: this device has arrived; 0: none */
    uint64_t limit_cycles; /* bound of every wait */
    uint32_t delay_ns;     /* from the last arrival to the start */
    uint32_t pad;
};

/* Where bytes go. Offsets inside a burst's region:
 * contiguous: producer * bytes + logical byte.
 * rows: (producer / per_row) * block_stride + (producer % per_row) * piece + row * pitch + byte in the piece. */
struct xsti_layout {
    uint64_t
        targets[XSTI_PROBE_MOST_TARGETS];     /* base addresses; burst b of producer p goes to (b + p) % target_count */
    uint32_t owners[XSTI_PROBE_MOST_TARGETS]; /* for the host: which of the machine's devices has them */
    uint32_t together;                        /* 1: burst b of every producer goes to b % target_count */
    uint32_t target_count;
    uint32_t regions;       /* bursts rotate over this many regions; the last burst has one of its own behind them */
    uint64_t region_stride; /* bytes from region to region */
    uint64_t bytes;         /* of one producer's burst */
    uint64_t piece;         /* contiguous: = bytes */
    uint64_t pitch;         /* contiguous: = bytes */
    uint64_t block_stride;  /* contiguous: = bytes */
    uint32_t per_row;       /* producers side by side in one row; contiguous: 1 */
    uint32_t seed;          /* of the payload, changes with every run */
};

struct xsti_burst_params {
    struct xsti_start_params start;
    struct xsti_layout layout;
    uint64_t records; /* producers x struct xsti_burst_record, each followed by bursts x struct xsti_burst_times */
    uint64_t record_stride;
    uint32_t bursts;
    uint32_t gap_cycles; /* from issue end (bulk: from staging release) to the next start */
    uint32_t period_ns;  /* burst n starts at n * period after the common start, or at once when late; 0: free */
    uint32_t chunk;      /* bulk: most bytes of one copy */
    uint32_t staging;    /* bulk: bytes of shared memory that bursts are sent from, over and over */
    uint32_t copies;     /* bulk: copies of one burst */
};

/* Bulk: one copy of a burst, prepared before the run so that issuing needs no arithmetic. */
struct xsti_copy {
    uint64_t offset; /* in the region, from the producer's base */
    uint32_t from;   /* in staging */
    uint32_t bytes;
};

/* One burst of one producer, cycles since the producer's first clock reading. */
struct xsti_burst_times {
    uint32_t start;
    uint32_t issue_end;
    uint32_t release; /* staging may be written again; = issue_end for plain stores */
};

struct xsti_burst_record {
    uint64_t start_ns; /* global_ns() at the first start */
    uint64_t end_ns;   /* global_ns() after the last fence */
    uint64_t cycles;   /* SM cycles between those two readings */
    uint32_t fenced;   /* end of the fence after the last burst, cycles since the first clock reading */
    uint32_t sm_id;
    uint32_t done; /* 1: the producer ran to its end */
    uint32_t pad;
};

/* Bystander probe: one burst, a delay, one local operation per producer. */
struct xsti_bystander_params {
    struct xsti_start_params start;
    struct xsti_layout layout; /* bytes 0: no burst */
    uint64_t records;          /* producers x struct xsti_bystander_record */
    uint64_t local;            /* local memory the operations touch */
    uint64_t local_stride;     /* per producer */
    uint32_t bulk;             /* 1: the burst is sent by bulk stores */
    uint32_t op;               /* enum xst_bystander_op */
    uint32_t delay_cycles;
    uint32_t chunk;
    uint32_t staging;
    uint32_t pad;
};

struct xsti_bystander_record {
    uint32_t issue; /* cycles */
    uint32_t op;    /* cycles */
    uint32_t sm_id;
    uint32_t done;
};

/* Loop probe: every CTA loads from local memory over and over for a span while the first `senders` of them send. */
struct xsti_loop_params {
    struct xsti_start_params start;
    struct xsti_layout layout; /* bytes: of one sender in the whole span; 0: nobody sends */
    uint64_t records;          /* CTAs x struct xsti_loop_record */
    uint64_t local;
    uint64_t local_stride; /* bytes of local memory one CTA walks through */
    uint64_t span_cycles;
    uint32_t senders;
    uint32_t slices;       /* the bytes are sent in this many equal parts */
    uint32_t slice_cycles; /* from slice to slice */
    uint32_t load_bytes;
    uint32_t bulk;
    uint32_t pad;
};

struct xsti_loop_record {
    uint64_t sum_cycles;
    uint32_t max_cycles;
    uint32_t loads;
    uint32_t sm_id;
    uint32_t done;
};

/* Payload check and poison. */
struct xsti_verify_params {
    struct xsti_layout layout; /* target_count and targets as in the run; only bytes at targets[target] are checked */
    uint64_t result;           /* struct xsti_verify_result */
    uint32_t target;
    uint32_t producers;
    uint32_t burst;  /* index of the last burst */
    uint32_t poison; /* 1: overwrite instead of checking */
    uint32_t wrap;   /* the payload starts over after this many words (bulk: the staging buffer); 0: never */
    uint32_t pad;
};

struct xsti_verify_result {
    unsigned long long wrong; /* words that differ */
    unsigned long long checked;
    uint32_t first_producer; /* of one wrong word */
    uint32_t first_word;
    uint32_t expected;
    uint32_t seen;
};

struct xsti_clock_params {
    uint64_t result; /* struct xsti_clock_result */
    uint64_t span_ns;
};

struct xsti_clock_result {
    uint64_t cycles;
    uint64_t ns;
};

#endif
