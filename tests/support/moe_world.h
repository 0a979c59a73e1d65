/* SPDX-License-Identifier: Apache-2.0
 *
 * moe_world.h - several virtual ranks of a mixture-of-experts layer on one device: a stream, a symmetric buffer and a share of the
 * SMs each, inputs on both sides, the plain reference's answers.
 */
#ifndef XST_TESTS_MOE_WORLD_H
#define XST_TESTS_MOE_WORLD_H

#include "support/support.h"

#include <xstage/moe_kernel.h>
#include <xstage/plan.h>
#include <xstage/trace.h>

#include "gpu/device.h"
#include "moe/ref.h"

enum { MOE_MOST_P = XST_MOE_MOST_RANKS, MOE_GUARD = 4096 };

/* The device and the kernels, for all worlds of a test program. */
struct moe_machine {
    struct xst_moe_kernels *kernels;
    struct xsti_driver driver;
    struct xsti_device device;
    CUstream streams[MOE_MOST_P];
};
/* 0, or 77 with the reason printed where there is no device that can run the kernels. */
int moe_machine_open(struct moe_machine *machine);
void moe_machine_close(struct moe_machine *machine);

/* A main(): opens the machine, runs the tests, or skips. An argument picks tests by name, with * and ?. */
int moe_machine_main(struct moe_machine *machine, int argc, char **argv, const struct CMUnitTest *tests, size_t count);

/* Which experts tokens choose. */
enum moe_pattern {
    MOE_DISTINCT,   /* different ones within a token */
    MOE_ANY,        /* the same one may come twice */
    MOE_ONE_EXPERT, /* the last one, always */
    MOE_ONE_RANK,   /* the first rank's */
    MOE_MASKED_RANK /* as MOE_ANY; the tokens of rank 1 choose nothing */
};

/* MOE_EXACT_NUMBERS: small integers and powers of two, sums without rounding: the answer has to be equal bit for bit. */
enum moe_numbers { MOE_RANDOM_NUMBERS, MOE_EXACT_NUMBERS };

struct moe_case {
    int64_t ranks, experts, hidden, inter, topk;
    int64_t tokens[MOE_MOST_P];
    double clamp;
    enum moe_pattern pattern;
    double masked; /* share of choices that are void */
    enum moe_numbers numbers;
};

/* e4m3 values and their scales, of tensors one behind the other. */
struct moe_quantised {
    uint8_t *values;
    float *scales;
};

/* One set of inputs of all ranks, with the answers. */
struct moe_inputs {
    int64_t tokens[MOE_MOST_P];
    uint16_t *x[MOE_MOST_P];
    struct moe_quantised x8[MOE_MOST_P]; /* e4m3: what x became */
    int64_t *ids[MOE_MOST_P];
    float *weights[MOE_MOST_P];
    double *exact[MOE_MOST_P];   /* y in double; not with e4m3 */
    double *rounded[MOE_MOST_P]; /* y, rounded where the kernel rounds */
};

struct moe_world {
    struct moe_machine *machine;
    struct xst_moe_layer layer;
    struct xst_moe_layout at;
    double clamp;
    uint16_t *w1, *w2; /* of all experts */
    const uint16_t **w1s, **w2s;
    struct moe_quantised w8; /* e4m3: w1, then w2 of all experts */
    uint64_t scales_at;
    uint64_t weights_at, bases[MOE_MOST_P], buffers[MOE_MOST_P], combine[MOE_MOST_P],
        y[MOE_MOST_P]; /* y: behind a guard band */
    int own_combine;   /* pass combine[] to the kernels */
    double limit_us;   /* of waits for other ranks; 0: the kernels' own */
};

/* Buffers for `tokens_most` tokens a rank; weights random or exact. */
void moe_world_make(struct moe_machine *machine, const struct moe_case *made, int64_t tokens_most,
                    struct moe_world *world);
/* The same with e4m3 operands, random; what the scales are varies by a factor of 64 from one to the next. */
void moe_world_make_e4m3(struct moe_machine *machine, const struct moe_case *made, int64_t tokens_most,
                         struct moe_world *world);
void moe_world_free(struct moe_world *world);

/* The same buffers, zeroed and laid out anew, with pools of `ring` rows (moe_kernel.h); 0: all blocks. */
void moe_world_ring(struct moe_world *world, int64_t ring);

/* Random inputs of a case; moe_inputs_solve fills the answers. */
void moe_inputs_make(const struct moe_world *world, const struct moe_case *made, struct moe_inputs *in);
void moe_inputs_solve(const struct moe_world *world, struct moe_inputs *in);
void moe_inputs_free(struct moe_inputs *in);

/* Inputs into the symmetric buffers; what is not input and may be anything is poisoned, the pools too, y with its guards. */
void moe_world_load(struct moe_world *world, const struct moe_inputs *in);

struct xst_moe_call moe_call_of(const struct moe_world *world, int64_t rank, int64_t tokens);
size_t moe_y_bytes(const struct moe_world *world, int64_t tokens);

enum moe_form { MOE_FUSED, MOE_UNFUSED };
/* Enqueues one call of one rank on its stream. */
void moe_enqueue(struct moe_world *world, enum moe_form form, int64_t rank, int64_t tokens,
                 const struct xst_moe_order *order);
/* Waits for all ranks; faults fail the test. */
void moe_finish(struct moe_world *world, const char *what);

/* Loads, runs rank r with orders[r % count], checks the guards and reads y; y[r] is malloc'd. */
void moe_run(struct moe_world *world, const struct moe_inputs *in, enum moe_form form,
             const struct xst_moe_order *orders, size_t count, const char *what, uint16_t *y[MOE_MOST_P]);

/* The same by fused kernels that leave a trace, whose one call is added to `trace`; orders have tiles of 128 rows. */
void moe_run_traced(struct moe_world *world, const struct moe_inputs *in, const struct xst_moe_order *orders,
                    size_t count, const char *what, struct xst_trace *trace, uint16_t *y[MOE_MOST_P]);

/* y against the answers: as near the exact one as rounding allows (1e-5 of moe_difference, or what the rounded answer needs), 5e-6 to
 * the rounded one (of a few rows: a gate that falls on the other side of a tie moves a whole row), no row off by 3 %; exact
 * numbers: equal. e4m3: to the rounded one MOE_E4M3_OFF (of a few rows more), no row off by MOE_E4M3_ROW. */
#define MOE_E4M3_OFF 1e-3
#define MOE_E4M3_ROW 0.1
void moe_check(const struct moe_world *world, const struct moe_inputs *in, enum moe_numbers numbers,
               uint16_t *const y[MOE_MOST_P], const char *what);
void moe_same(const struct moe_world *world, const struct moe_inputs *in, uint16_t *const a[MOE_MOST_P],
              uint16_t *const b[MOE_MOST_P], const char *what);
void moe_y_free(const struct moe_world *world, uint16_t *y[MOE_MOST_P]);

/* What the e4m3 worlds are made of (moe_world_e4m3.c): weights of all experts, a rank's rows, the answers. */
void moe_quantise_weights(struct moe_world *world);
void moe_quantise_rows(const struct moe_world *world, int64_t rank, struct moe_inputs *in);
void moe_solve_e4m3(const struct moe_world *world, int64_t rank, struct moe_inputs *in);
size_t moe_scale_count(const struct moe_world *world, int linear);

/* A list of orders that all have to give the same bits. */
const struct xst_moe_order *moe_orders(size_t *count_out);

/* What both types of operands are put through (moe_runs.c). A world of either type; all orders, alike and mixed over the ranks, fused
 * and not, on one set of inputs; the same inputs again and again, with and without delays; random layers, as many as
 * XSTAGE_FUZZ_MOE says or else `layers`, with `calls` calls each. */
int64_t moe_most_tokens(const struct moe_case *made);
void moe_world_of(struct moe_machine *machine, const struct moe_case *made, enum xst_moe_dtype dtype,
                  int64_t tokens_most, struct moe_world *world);
void moe_every_order(struct moe_machine *machine, const struct moe_case *made, enum xst_moe_dtype dtype,
                     const char *name);
void moe_repeats(struct moe_machine *machine, const struct moe_case *made, enum xst_moe_dtype dtype);
void moe_fuzz(struct moe_machine *machine, enum xst_moe_dtype dtype, int layers, int calls, uint64_t seed);

/* Reproducible noise of the worlds; moe_pick: 0 .. below - 1. */
void moe_seed(uint64_t seed);
int64_t moe_pick(int64_t below);

#endif
