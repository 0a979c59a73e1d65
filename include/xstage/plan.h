/* SPDX-License-Identifier: Apache-2.0
 *
 * plan.h - what to launch: the settings a kernel takes, predicted for every candidate, with the reason each one lost.
 *
 * A plan answers for one of three questions: attention with its exchange (fa-a2a), a mixture-of-experts layer (moe),
 * or any traffic description. It lists every candidate that was considered. A candidate's `predicted_us` is the sum of
 * its parts; what the profile cannot tell is not known, and such a candidate cannot win. The chosen one has the least
 * predicted time; among equals the first, and candidates come in the order from simple to involved.
 *
 * A plan can be printed (schema "xstage.plan/1"), saved and read back. The planner uses the laws of model.h; a
 * simulator can be given by function pointer. A runtime that decides per step calls xst_moe_choose: no allocation, no
 * text.
 */
#ifndef XSTAGE_PLAN_H
#define XSTAGE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/fa_a2a.h>
#include <xstage/moe.h>
#include <xstage/profile.h>
#include <xstage/status.h>
#include <xstage/traffic.h>

#ifdef __cplusplus
extern "C" {
#endif

#define XST_PLAN_KIND_MAP(X)                                                                                           \
    X(FA_A2A, "fa-a2a", "attention fused with the exchange behind it")                                                 \
    X(MOE, "moe", "fused mixture-of-experts layer")                                                                    \
    X(TRAFFIC, "traffic", "any kernel, by its traffic description")
enum xst_plan_kind {
#define X(NAME, text, meaning) XST_PLAN_##NAME,
    XST_PLAN_KIND_MAP(X)
#undef X
};
const char *xst_plan_kind_text(enum xst_plan_kind kind);
int xst_plan_kind_parse(const char *text, enum xst_plan_kind *kind_out);

/* In which order a persistent grid walks the output tiles. */
#define XST_TILE_ORDER_MAP(X)                                                                                          \
    X(PEERS_FIRST, "peers_first", "rows of rank+1, rank+2, ..., own rows last")                                        \
    X(ROWS, "rows", "head by head, rows in order, whoever owns them")
enum xst_tile_order {
#define X(NAME, text, meaning) XST_TILE_ORDER_##NAME,
    XST_TILE_ORDER_MAP(X)
#undef X
};
const char *xst_tile_order_text(enum xst_tile_order order);
int xst_tile_order_parse(const char *text, enum xst_tile_order *order_out);

/* known == 0: the value is meaningless. */
struct xst_plan_number {
    double value;
    int32_t known;
};

/* In which plans a number stands. */
enum { XST_PLAN_IN_FA = 1, XST_PLAN_IN_MOE = 2, XST_PLAN_IN_TRAFFIC = 4, XST_PLAN_IN_ALL = 7 };

/* X(name, INT | REAL, plans, meaning): what a launcher takes from a candidate. */
#define XST_PLAN_SETTINGS(X)                                                                                           \
    X(tile_rows, INT, XST_PLAN_IN_FA, "b_m: rows of an output tile")                                                   \
    X(warpgroups, INT, XST_PLAN_IN_FA, "consumer warpgroups: one per 64 rows")                                         \
    X(chunk_bytes, REAL, XST_PLAN_IN_FA, "what one producer stores at once: the tile or a slice of it")                \
    X(slices, INT, XST_PLAN_IN_FA | XST_PLAN_IN_MOE, "pieces a tile leaves in during the next one (17); 1: at once")   \
    X(span_us, REAL, XST_PLAN_IN_FA, "time over which the slices leave (17); 0: at once")                              \
    X(wave_blocks, INT, XST_PLAN_IN_MOE, "row blocks of a wave at most; null: whole experts")                          \
    X(lead_tiles, INT, XST_PLAN_IN_MOE, "Linear-1 tiles that run ahead")                                               \
    X(group_tiles, INT, XST_PLAN_IN_MOE, "Linear-2 tiles per turn")                                                    \
    X(splits, REAL, XST_PLAN_IN_TRAFFIC, "bursts made of one burst of the description; below 1: bursts joined")        \
    X(producers, INT, XST_PLAN_IN_TRAFFIC, "CTAs that issue")                                                          \
    X(bytes_per_producer, REAL, XST_PLAN_IN_TRAFFIC, "bytes one issuer stores per burst")                              \
    X(gap_us, REAL, XST_PLAN_IN_TRAFFIC, "useful time between bursts")                                                 \
    X(staging_slots, INT, XST_PLAN_IN_FA | XST_PLAN_IN_TRAFFIC, "output tiles or bursts a producer can hold back")

/* predicted_us is the sum of the parts from compute_us to tail_us that are known. */
#define XST_PLAN_PARTS(X)                                                                                              \
    X(compute_us, REAL, XST_PLAN_IN_ALL, "useful time at the peak or given rate")                                      \
    X(exposed_issue_us, REAL, XST_PLAN_IN_ALL, "producers issue, or wait for the path or their staging")               \
    X(bystander_us, REAL, XST_PLAN_IN_FA | XST_PLAN_IN_TRAFFIC, "(16) beyond what is prefetched")                      \
    X(starve_us, REAL, XST_PLAN_IN_MOE, "CTAs wait for Linear-1 tiles, and end unequally")                             \
    X(pull_us, REAL, XST_PLAN_IN_MOE, "stores and the pull of rows share the way out")                                 \
    X(locality_us, REAL, XST_PLAN_IN_MOE, "intermediate activations beyond the L2 are read again")                     \
    X(weights_us, REAL, XST_PLAN_IN_MOE, "weights are read slower than they are used")                                 \
    X(order_us, REAL, XST_PLAN_IN_MOE, "what the order and staged stores cost with all rows at home, as measured")     \
    X(tail_us, REAL, XST_PLAN_IN_ALL, "last issue to remote visibility: backlog left, and the fence")

#define XST_PLAN_OTHERS(X)                                                                                             \
    X(predicted_drifting_us, REAL, XST_PLAN_IN_FA, "the same when bursts drift apart (1)")                             \
    X(waves, INT, XST_PLAN_IN_FA | XST_PLAN_IN_MOE, "rounds of the grid; moe: waves of experts")                       \
    X(efficiency, REAL, XST_PLAN_IN_FA, "share of the grid's tile slots that is used")                                 \
    X(math_rate, REAL, XST_PLAN_IN_FA, "rate of this tile size relative to the best one")                              \
    X(backlog_bytes, REAL, XST_PLAN_IN_FA | XST_PLAN_IN_TRAFFIC, "largest backlog")                                    \
    X(shared_bytes, REAL, XST_PLAN_IN_FA | XST_PLAN_IN_TRAFFIC, "shared memory of one CTA")                            \
    X(working_set_bytes, REAL, XST_PLAN_IN_MOE | XST_PLAN_IN_TRAFFIC, "bytes that have to stay in the L2")             \
    X(simulated_us, REAL, XST_PLAN_IN_ALL, "the simulator's word, where it was asked")

enum { XST_PLAN_REASON_BYTES = 256, XST_PLAN_TEXT_BYTES = 400 };

struct xst_plan_candidate {
    enum xst_method method;
    enum xst_tile_order order;  /* fa-a2a */
    enum xst_schedule schedule; /* moe */
    struct xst_plan_number predicted_us;
#define X(name, type, plans, meaning) struct xst_plan_number name;
    XST_PLAN_SETTINGS(X)
    XST_PLAN_PARTS(X)
    XST_PLAN_OTHERS(X)
#undef X
    int32_t pareto;                     /* traffic: nobody is better in time, shared memory and working set at once */
    int32_t extrapolated;               /* a number was read outside the profile's range */
    char reason[XST_PLAN_REASON_BYTES]; /* why it lost, or why it won */
};

/* What was asked. */
#define XST_PLAN_QUESTION(X)                                                                                           \
    X(batch, INT, XST_PLAN_IN_FA, "sequences in one call")                                                             \
    X(heads, INT, XST_PLAN_IN_FA, "attention heads of the model")                                                      \
    X(head_dim, INT, XST_PLAN_IN_FA, "d")                                                                              \
    X(seq, INT, XST_PLAN_IN_FA, "M")                                                                                   \
    X(hidden, INT, XST_PLAN_IN_MOE, "H")                                                                               \
    X(inter, INT, XST_PLAN_IN_MOE, "I")                                                                                \
    X(experts, INT, XST_PLAN_IN_MOE, "experts of the model")                                                           \
    X(topk, INT, XST_PLAN_IN_MOE, "experts of one token")                                                              \
    X(tokens, INT, XST_PLAN_IN_MOE, "tokens of one rank")                                                              \
    X(ranks, INT, XST_PLAN_IN_FA | XST_PLAN_IN_MOE, "devices that exchange")                                           \
    X(element_bytes, INT, XST_PLAN_IN_FA | XST_PLAN_IN_MOE, "bytes of one stored value")                               \
    X(block_rows, INT, XST_PLAN_IN_MOE, "rows of a tile")                                                              \
    X(tile_cols, INT, XST_PLAN_IN_FA | XST_PLAN_IN_MOE, "columns of an inner step or of a tile")                       \
    X(ctas, INT, XST_PLAN_IN_ALL, "CTAs of the grid")                                                                  \
    X(tflops, REAL, XST_PLAN_IN_FA | XST_PLAN_IN_MOE, "compute rate of the device that was taken")                     \
    X(burst_bytes_each, REAL, XST_PLAN_IN_TRAFFIC, "bytes_per_producer of the description")                            \
    X(burst_gap_us, REAL, XST_PLAN_IN_TRAFFIC, "gap_us of the description")                                            \
    X(bursts, REAL, XST_PLAN_IN_TRAFFIC, "bursts the predicted time is of; 1: one period in steady state, no tail")    \
    X(shared_limit_bytes, REAL, XST_PLAN_IN_FA | XST_PLAN_IN_TRAFFIC, "shared memory a CTA can have")

/* What holds for all candidates. */
#define XST_PLAN_ANSWERS(X)                                                                                            \
    X(drain_bytes_per_us, REAL, XST_PLAN_IN_ALL, "R of the chosen path")                                               \
    X(free_capacity_bytes, REAL, XST_PLAN_IN_FA | XST_PLAN_IN_TRAFFIC, "Q_free (16) of the chosen path")               \
    X(kv_us, REAL, XST_PLAN_IN_FA, "one inner step of the chosen tile at peak")                                        \
    X(recovery_gap_us, REAL, XST_PLAN_IN_FA, "G* (3) of the chosen tile, all of it remote")                            \
    X(m_upper_bound, INT, XST_PLAN_IN_FA, "(12): from this many rows on the rate bound holds")                         \
    X(m_upper_bound_remote, INT, XST_PLAN_IN_FA, "the same for the share that leaves the device")                      \
    X(rank, INT, XST_PLAN_IN_MOE, "the rank planned for")                                                              \
    X(rows, INT, XST_PLAN_IN_MOE, "rows it receives")                                                                  \
    X(blocks, INT, XST_PLAN_IN_MOE, "row blocks of it")                                                                \
    X(l1_tiles, INT, XST_PLAN_IN_MOE, "Linear-1 tiles of it")                                                          \
    X(l2_tiles, INT, XST_PLAN_IN_MOE, "Linear-2 tiles of it")                                                          \
    X(lead_knee_tiles, INT, XST_PLAN_IN_MOE, "D_knee: smallest lead without starvation in steady state, by the list")  \
    X(lead_startup_tiles, INT, XST_PLAN_IN_MOE, "the same, first two rounds included")                                 \
    X(lead_tail_tiles, INT, XST_PLAN_IN_MOE, "the same, start-up and tail included")                                   \
    X(lead_first_tiles, INT, XST_PLAN_IN_MOE, "(15), a first guess")                                                   \
    X(stall_saved_us, REAL, XST_PLAN_IN_MOE, "waits of the best wave plan minus those of the best interleaved one")    \
    X(locality_cost_us, REAL, XST_PLAN_IN_MOE, "own and memory cost of the best interleaved plan minus the wave's")    \
    X(l2_bytes, REAL, XST_PLAN_IN_MOE, "L2 size that was taken")                                                       \
    X(reread_bytes_per_us, REAL, XST_PLAN_IN_MOE, "rate at which bytes beyond the L2 come back")

struct xst_plan {
    enum xst_plan_kind kind;
    enum xst_target target; /* where the bytes go */
    enum xst_phase phase;
    char name[XST_NAME_BYTES]; /* preset, file, or "" */
    char profile_id[XST_ID_BYTES];
    char profile_name[XST_NAME_BYTES];
#define X(name, type, plans, meaning) struct xst_plan_number name;
    struct {
        XST_PLAN_QUESTION(X)
    } question;
    struct {
        XST_PLAN_ANSWERS(X)
    } answers;
#undef X
    struct xst_plan_candidate *considered; /* malloc'd; xst_plan_free */
    size_t count;
    int64_t chosen;    /* index, -1: nothing could be predicted */
    int64_t runner_up; /* the best one that differs, -1: none */
    char sentence[XST_PLAN_TEXT_BYTES];
    char runner_up_sentence[XST_PLAN_TEXT_BYTES];
    char note[XST_PLAN_TEXT_BYTES]; /* what else to know; "" */
};

/* One candidate for a person: "128-row tiles, bulk stores of 32 KiB, peers first". Returns text. */
const char *xst_plan_describe(const struct xst_plan *plan, const struct xst_plan_candidate *candidate, char *text,
                              size_t bytes);

/* The document as text (malloc'd, the caller frees), without tool, version, argv and time. */
enum xst_status xst_plan_print(const struct xst_plan *plan, char **text_out, struct xst_diag *diag);

/* Reads a printed plan and checks it: known words, finite numbers, the chosen candidate the least. Unknown keys are
 * left alone. path "-" is standard input. */
enum xst_status xst_plan_read(const char *path, struct xst_plan *plan_out, struct xst_diag *diag);
enum xst_status xst_plan_parse(const char *name, const char *text, size_t text_bytes, struct xst_plan *plan_out,
                               struct xst_diag *diag);
/* XST_ERR_RANGE when chosen or runner_up is no candidate, not predicted, or not the least. */
enum xst_status xst_plan_check(const struct xst_plan *plan, struct xst_diag *diag);
void xst_plan_free(struct xst_plan *plan);

/* Attention. Zero members take the default named beside them. */
enum { XST_PLAN_MOST_TILE_ROWS = 8 };
struct xst_plan_fa_options {
    int extrapolate;
    double peak_tflops;     /* the profile's */
    double given_tflops;    /* measured rate of the device; else the peak is taken */
    int64_t producers;      /* the profile's SM count */
    int64_t tile_cols;      /* 128 */
    int64_t stages;         /* 2: K/V tiles loaded ahead */
    double shared_bytes;    /* 232448: what a CTA can have on Hopper */
    enum xst_phase phase;   /* unknown or aligned: bursts start together; shifted: they drift */
    int methods;            /* bit per enum xst_method; 16-byte and bulk stores */
    int64_t most_slots;     /* 2: deepest staging considered */
    size_t tile_rows_count; /* 64, 128, 192 */
    int64_t tile_rows[XST_PLAN_MOST_TILE_ROWS];
    double math_rate[XST_PLAN_MOST_TILE_ROWS]; /* of each; xst_plan_math_rate */
};

/* Relative rate at which a CTA of tile_rows / 64 consumer warpgroups computes attention (docs/plan.md has the source
 * of each number); 1 for the best. */
double xst_plan_math_rate(int64_t head_dim, int64_t tile_rows);

enum xst_status xst_plan_fa_a2a(const struct xst_profile *profile, const struct xst_fa_a2a_shape *shape,
                                const struct xst_plan_fa_options *options, struct xst_plan *plan_out,
                                struct xst_diag *diag);

/* A mixture-of-experts layer, once per shape: what does not depend on the routing. */
struct xst_plan_moe_options {
    int extrapolate;
    double peak_tflops;         /* the profile's */
    double given_tflops;        /* measured rate of the device; else the peak is taken */
    double l2_bytes;            /* the profile's */
    double reread_bytes_per_us; /* 4.8e6: data-sheet memory rate of an H200 */
    int methods;                /* bit per enum xst_method; 16-byte and bulk stores */
    double order_cost_frac;     /* the interleaved order's own cost, as a share of the compute time; 0:
                                   XST_MOE_ORDER_COST_FRAC in units, XST_MOE_BLOCKS_COST_FRAC block by block;
                                   negative: none */
    double staged_cost_frac;    /* XST_MOE_STAGED_COST_FRAC: the same of bulk stores, which take shared memory from the
                                   operands; negative: none */
    int aligned; /* 1: Linear-2 tiles that begin together store together; 0: tiles are claimed and drift */
    /* Of a value of fetched rows, weights and activations (xst_moe_operand_bytes): 1 for e4m3; 0: element_bytes. */
    int64_t operand_bytes;
    int once; /* 1: a token's row is fetched once for all experts of a rank (dedup of moe_kernel.h); 0: for each */
};

/* What cuda/moe costs by itself on an H200 (docs/results.md, all rows at home): the interleaved order 1.5 to 3 % in units of 8
 * blocks, 5.7 % block by block (median of 20 cells of narrow layers, 0.4 to 10.8), paced stores 4 to 9 % of the wave schedule's
 * time with plain stores. */
#define XST_MOE_ORDER_COST_FRAC  0.03
#define XST_MOE_BLOCKS_COST_FRAC 0.06
#define XST_MOE_STAGED_COST_FRAC 0.06

struct xst_moe_setup {
    struct xst_moe_shape shape;
    struct xst_moe_plan plan; /* method and schedule are what is chosen */
    const struct xst_path
        *paths[3]; /* by enum xst_method; NULL: not considered. The profile has to outlive the setup */
    int extrapolate;
    double tflops;
    double l1_us, l2_us, act_us;
    int64_t l1_per_block, l2_per_block;
    double l2_bytes;
    double reread_bytes_per_us;
    double order_cost_frac, staged_cost_frac;
    int aligned;
    int64_t operand_bytes;
    int once;
    int64_t lead_first, lead_knee, lead_startup, lead_tail; /* -1: none */
    int64_t most_blocks;                                    /* of one rank, whatever the routing */
};

/* Finds the exact knees by the list schedule (audit.h): takes longer than a step, allocates while it runs. */
enum xst_status xst_moe_setup_make(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                                   const struct xst_moe_plan *plan, const struct xst_plan_moe_options *options,
                                   struct xst_moe_setup *setup_out, struct xst_diag *diag);

/* Why a candidate of a choice has no predicted time. */
#define XST_MOE_GAP_MAP(X)                                                                                             \
    X(NONE, "")                                                                                                        \
    X(DRAIN, "the profile has no drain rate for this method")                                                          \
    X(FLOOR, "the profile has no issue floor for this many producers and bytes")                                       \
    X(CAPACITY, "the profile has no capacity for this many producers")                                                 \
    X(FENCE, "the profile has no fence time for this method")
enum xst_moe_gap {
#define X(NAME, sentence) XST_MOE_GAP_##NAME,
    XST_MOE_GAP_MAP(X)
#undef X
};

struct xst_moe_candidate {
    enum xst_schedule schedule;
    enum xst_method method;
    int64_t lead_tiles;  /* interleaved */
    int64_t group_tiles; /* interleaved: Linear-2 tiles per turn */
    int64_t slices;      /* bulk: pieces a tile leaves in; 1 for plain stores */
    int64_t waves;       /* wave */
    int64_t wave_blocks; /* wave: blocks at most; 0: whole experts */
    double predicted_us; /* meaningless unless gap is NONE */
    double compute_us, exposed_issue_us, starve_us, pull_us, locality_us, weights_us, order_us, tail_us;
    double working_set_bytes;
    enum xst_moe_gap gap;
    int32_t extrapolated;
};

enum { XST_MOE_MOST_CANDIDATES = 72 };
struct xst_moe_choice {
    int64_t rows, blocks, l1_tiles, l2_tiles;
    int64_t count;
    int64_t chosen; /* -1: none could be predicted */
    struct xst_moe_candidate candidates[XST_MOE_MOST_CANDIDATES];
};

/* Bytes that xst_moe_choose needs for any routing of this setup. */
size_t xst_moe_workspace_bytes(const struct xst_moe_setup *setup);

/* One step: rows_per_expert[0 .. experts) are the rows this rank's experts received. No allocation, no text.
 * workspace: at least xst_moe_workspace_bytes, aligned as double. XST_ERR_RANGE when the counts are not possible. */
enum xst_status xst_moe_choose(const struct xst_moe_setup *setup, const int64_t *rows_per_expert, int64_t experts,
                               void *workspace, size_t workspace_bytes, struct xst_moe_choice *choice_out,
                               struct xst_diag *diag);

/* Row blocks whose tiles of a column should follow each other in the interleaved order (moe.h, unit): 8 where an expert's
 * Linear-1 weights, more than 16 MB, do not stay in the L2 until the expert's next blocks come; else 1. Waves hold whole experts
 * and need none. */
int64_t xst_moe_unit_of(const struct xst_moe_shape *shape);

/* What the fused kernel of moe_kernel.h is told, in its units: the least predicted candidate that it can run. It cuts no waves
 * (wave_blocks) and has no 4-byte stores; plain stores are `at_once`, bulk stores `paced`. The layer must be the setup's: sizes,
 * bf16, tiles of 256 columns and 64, 128 or 256 rows, `ctas` CTAs (two to a tile of 256 rows: plan for half as many producers).
 * No allocation. XST_ERR_RANGE names what differs; XST_ERR_NO_DATA when no such candidate was predicted. */
struct xst_moe_layer;
struct xst_moe_order;
enum xst_status xst_moe_order_of(const struct xst_moe_setup *setup, const struct xst_moe_choice *choice,
                                 const struct xst_moe_layer *layer, struct xst_moe_order *order_out,
                                 struct xst_diag *diag);

/* One rank's counts with every candidate and its reason. `rank` is only for the record. */
enum xst_status xst_plan_moe(const struct xst_profile *profile, const struct xst_moe_shape *shape,
                             const struct xst_moe_plan *plan, const struct xst_plan_moe_options *options, int64_t rank,
                             const int64_t *rows_per_expert, int64_t experts, struct xst_plan *plan_out,
                             struct xst_diag *diag);

/* Made-up routing of all ranks' tokens * topk rows over the model's experts, reproducible: nothing is drawn. */
#define XST_ROUTING_MAP(X)                                                                                             \
    X(UNIFORM, "uniform", "every expert the same")                                                                     \
    X(ZIPF, "zipf", "expert i in proportion to 1 / (i + 1)^skew")                                                      \
    X(HOT_EXPERT, "hot-expert", "one expert takes skew times the mean")                                                \
    X(HOT_RANK, "hot-rank", "the first rank's experts take skew times the mean")
enum xst_routing {
#define X(NAME, text, meaning) XST_ROUTING_##NAME,
    XST_ROUTING_MAP(X)
#undef X
};
const char *xst_routing_text(enum xst_routing routing);
int xst_routing_parse(const char *text, enum xst_routing *routing_out);

/* Fills counts_out[0 .. shape->experts). An expert takes at most every token once; what does not fit goes to the
 * others. */
enum xst_status xst_routing_make(enum xst_routing routing, double skew, const struct xst_moe_shape *shape,
                                 int64_t *counts_out, struct xst_diag *diag);

/* Experts of `rank`: [first, end) of the model's, the first experts % ranks ranks hold one more. shape->ranks is at least 1. */
void xst_moe_experts_of(const struct xst_moe_shape *shape, int64_t rank, int64_t *first_out, int64_t *end_out);

/* Any kernel. */
enum { XST_PLAN_MOST_STEPS = 16 };
struct xst_plan_traffic_options {
    int extrapolate;
    double shared_bytes; /* 232448 */
    int methods;         /* bit per enum xst_method; the description's, and bulk or 16-byte stores beside it */
    size_t splits_count; /* 1, 2, 4, 8, 16, 32, 1/2, 1/4 */
    double splits[XST_PLAN_MOST_STEPS];
    size_t slots_count; /* 1, 2, 3, 4 */
    int64_t slots[XST_PLAN_MOST_STEPS];
    size_t producers_count; /* all, 1/2, 1/4, 1/8 */
    int64_t producers[XST_PLAN_MOST_STEPS];
};

/* Total bytes and total gap are those of the description for every candidate. */
enum xst_status xst_plan_traffic(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                 const struct xst_plan_traffic_options *options, struct xst_plan *plan_out,
                                 struct xst_diag *diag);

/* A simulator's time for one candidate; XST_ERR_UNAVAILABLE when it has no form for this one, which is then passed
 * over. */
typedef enum xst_status xst_plan_simulator(void *context, const struct xst_plan *plan,
                                           const struct xst_plan_candidate *candidate, double *simulated_us_out,
                                           struct xst_diag *diag);

/* Asks `simulator` about the `most` candidates with the least predicted time and notes its answers. The choice
 * stays; the note says so when the simulator prefers another one. */
enum xst_status xst_plan_simulate(struct xst_plan *plan, xst_plan_simulator *simulator, void *context, size_t most,
                                  struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
