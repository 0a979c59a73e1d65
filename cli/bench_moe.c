/* SPDX-License-Identifier: Apache-2.0
 *
 * A mixture-of-experts layer, shape by shape: which ways are timed beside each other, and what the planner would have chosen.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/audit.h>
#include <xstage/shapes.h>

#include "bench_moe.h"
#include "bench_moe_rows.h"
#include "bench_moe_trace.h"
#include "bench_rows.h"
#include "options.h"

/* Matrix rates of the floor: cuBLAS on an H200; for e4m3 an assumption. */
enum { BF16_TFLOPS = 790, E4M3_TFLOPS = 1200 };
/* Share of the floor's rate that the kernel reaches (floor_ratio of the wave at 8,192 tokens a rank,
 * bench/results/2026-11-30-h200x2-moe.json: 0.67 to 0.79): bursts come as fast as tiles are finished, not as fast as they could
 * be. */
static const double PLANNED_RATE = 0.75;
enum { TILE_COLS = 256, TILE_DEPTH_BYTES = 128, STAGES = 4, PAIR_ROWS = 256, H200_SMS = 132 };

/* What one table is made of. */
struct job {
    struct cli *cli;
    struct xst_profile profile;
    struct cli_bench_moe_list list;
    const char *preset; /* of the shape being timed; "" none */
};

/* One shape with its entries. */
struct cell {
    struct xst_moe_bench bench;
    int64_t tile_rows;
    int64_t knee;
    struct xst_moe_bench_entry entries[XST_MOE_BENCH_MOST_ENTRIES];
    size_t count;
    size_t asked;   /* of them, not the planner's alone */
    size_t planned; /* index; XST_MOE_BENCH_MOST_ENTRIES: none */
    double predicted_us;
};

static int64_t given_or(const struct cli *cli, const char *name, int64_t otherwise)
{
    return cli_has(cli, name) ? cli_int(cli, name) : otherwise;
}

static struct xst_moe_shape shape_of(const struct xst_moe_bench *bench)
{
    return (struct xst_moe_shape){.hidden = bench->hidden,
                                  .inter = bench->inter,
                                  .experts = bench->experts,
                                  .topk = bench->topk,
                                  .tokens = bench->tokens,
                                  .ranks = bench->ranks,
                                  .element_bytes = 2};
}

/* Two CTAs share the widest tile; knees and plans then count pairs. */
static int64_t ctas_of_tile(const struct cell *cell)
{
    return cell->tile_rows == PAIR_ROWS ? 2 : 1;
}

static struct xst_moe_plan plan_of(const struct cell *cell, int64_t producers)
{
    return (struct xst_moe_plan){.tile_rows = cell->tile_rows,
                                 .tile_cols = TILE_COLS,
                                 .tile_depth = TILE_DEPTH_BYTES / (cell->bench.dtype == XST_MOE_E4M3 ? 1 : 2),
                                 .producers = producers,
                                 .stages = STAGES,
                                 .staging_slots = 1,
                                 .act_frac = 0.1,
                                 .sm_flop_per_us = cell->bench.flop_per_us / (double)producers};
}

static int same(const struct xst_moe_bench_entry *a, const struct xst_moe_bench_entry *b)
{
    const struct xst_moe_order *const x = &a->order, *const y = &b->order;
    return a->form == b->form && x->schedule == y->schedule && x->lead == y->lead && x->group == y->group &&
           x->store == y->store && x->slices == y->slices && x->unit == y->unit && x->dedup == y->dedup;
}

/* Its index; the one that is there already when it comes twice. */
static enum xst_status add(struct job *job, struct cell *cell, enum xst_moe_form form, struct xst_moe_order order,
                           size_t *index_out)
{
    const struct xst_moe_layer layer = {.topk = cell->bench.topk,
                                        .tokens_most = cell->bench.tokens,
                                        .ring = cell->bench.ring};
    order.tile_rows = cell->tile_rows;
    order.dedup = xst_moe_dedup_of(&layer, &order);
    order.unit = order.unit > 1 ? order.unit : 1;
    if (order.schedule == XST_SCHEDULE_WAVE)
        order.lead = order.group = 0;
    const struct xst_moe_bench_entry entry = {form, order};
    for (size_t i = 0; i < cell->count; i++)
        if (same(&cell->entries[i], &entry)) {
            *index_out = i;
            return XST_OK;
        }
    if (cell->count == XST_MOE_BENCH_MOST_ENTRIES)
        return cli_say(&job->cli->diag, XST_ERR_USAGE,
                       "more than %d ways to carry out one layer; give fewer leads, or one schedule or store",
                       XST_MOE_BENCH_MOST_ENTRIES);
    *index_out = cell->count;
    cell->entries[cell->count++] = entry;
    return XST_OK;
}

/* Fused, and where rows leave the device the same with every row at home. */
static enum xst_status add_fused(struct job *job, struct cell *cell, const struct xst_moe_order *order,
                                 size_t *index_out)
{
    size_t alone;
    enum xst_status status = add(job, cell, XST_MOE_FORM_FUSED, *order, index_out);
    if (status == XST_OK && cell->bench.target != XST_TARGET_LOCAL)
        status = add(job, cell, XST_MOE_FORM_ALONE, *order, &alone);
    return status;
}

static int asked(const struct cli *cli, const char *option, const char *word)
{
    const char *const text = cli_text(cli, option);
    return strcmp(text, "all") == 0 || strcmp(text, word) == 0;
}

/* In units a block's last column comes when its unit's does: the knee lies that much further. */
static int64_t lead_of(const struct cell *cell, int64_t unit)
{
    return cell->knee + (unit - 1) * ((2 * cell->bench.inter + TILE_COLS - 1) / TILE_COLS);
}

static enum xst_status add_leads(struct job *job, struct cell *cell, struct xst_moe_order order)
{
    const struct cli_sweep *const leads = cli_sweep_of(job->cli, "lead");
    const struct cli_sweep *const groups = cli_sweep_of(job->cli, "group");
    enum xst_status status = XST_OK;
    size_t index;
    for (size_t g = 0; g < groups->count; g++)
        for (size_t i = 0; i < (leads->count ? leads->count : 1) && status == XST_OK; i++) {
            order.group = (int64_t)groups->values[g];
            order.lead = leads->count ? (int64_t)leads->values[i] : lead_of(cell, order.unit);
            status = add_fused(job, cell, &order, &index);
        }
    return status;
}

static enum xst_status add_schedules(struct job *job, struct cell *cell, struct xst_moe_order order)
{
    const struct cli_sweep *const units = cli_sweep_of(job->cli, "unit");
    const struct xst_moe_shape shape = shape_of(&cell->bench);
    enum xst_status status = XST_OK;
    size_t index;
    for (size_t u = 0; u < units->count && status == XST_OK; u++) {
        const int64_t unit = (int64_t)units->values[u];
        order.schedule = XST_SCHEDULE_WAVE;
        order.unit = unit > 0 ? unit : 1;
        if (asked(job->cli, "schedule", "wave"))
            status = add_fused(job, cell, &order, &index);
        order.schedule = XST_SCHEDULE_INTERLEAVED;
        order.unit = unit > 0 ? unit : xst_moe_unit_of(&shape);
        if (status == XST_OK && asked(job->cli, "schedule", "interleaved"))
            status = add_leads(job, cell, order);
    }
    return status;
}

/* D_knee: the least lead at which nothing waits in steady state, for balanced routing; start-up's where the call has none. */
static enum xst_status find_knee(struct job *job, struct cell *cell, int64_t producers)
{
    const struct xst_moe_shape shape = shape_of(&cell->bench);
    const struct xst_moe_plan plan = plan_of(cell, producers);
    struct xst_moe_counts counts;
    struct xst_lead_knees knees;
    enum xst_status status = xst_moe_count(&shape, &plan, &counts, &job->cli->diag);
    if (status != XST_OK)
        return status;
    const struct xst_lead_problem problem = {counts.blocks, counts.l1_per_block, counts.l2_per_block, producers,
                                             counts.l1_us,  counts.l2_us,        counts.act_us};
    status = xst_lead_find(&problem, &knees, &job->cli->diag);
    cell->knee = knees.steady > 0 ? knees.steady : knees.startup > 0 ? knees.startup : xst_lead_first_tiles(&problem);
    return status;
}

/* What the planner predicts for an order it gave. */
static double predicted_us_of(const struct xst_moe_choice *choice, const struct xst_moe_order *order)
{
    const enum xst_method method = order->store == XST_MOE_STORE_PACED ? XST_METHOD_BULK : XST_METHOD_ST16;
    double least_us = INFINITY;
    for (int64_t i = 0; i < choice->count; i++) {
        const struct xst_moe_candidate *const candidate = &choice->candidates[i];
        if (candidate->gap == XST_MOE_GAP_NONE && candidate->wave_blocks == 0 && candidate->method == method &&
            candidate->schedule == order->schedule) /* the order is the least of these */
            least_us = fmin(least_us, candidate->predicted_us);
    }
    return least_us;
}

/* Counts of the model, the planner's workspace and its answer. */
struct asking {
    int64_t *counts;
    void *workspace;
    struct xst_moe_choice *choice;
};

static enum xst_status ask(struct job *job, const struct xst_moe_bench *bench, const struct xst_moe_setup *setup,
                           struct asking *asking)
{
    struct xst_diag *const diag = &job->cli->diag;
    const size_t bytes = xst_moe_workspace_bytes(setup);
    const struct xst_moe_shape shape = shape_of(bench);
    int64_t first = 0, end = 0;
    asking->counts = calloc((size_t)bench->experts, sizeof *asking->counts);
    asking->workspace = malloc(bytes);
    asking->choice = calloc(1, sizeof *asking->choice);
    if (!asking->counts || !asking->workspace || !asking->choice)
        return cli_say(diag, XST_ERR_MEMORY, "out of memory");
    const enum xst_status status = xst_moe_bench_counts(bench, asking->counts, diag);
    xst_moe_experts_of(&shape, 0, &first, &end);
    return status == XST_OK
               ? xst_moe_choose(setup, asking->counts, end - first, asking->workspace, bytes, asking->choice, diag)
               : status;
}

/* Whether the ring that was asked for holds what the order needs. */
static int fits_ring(const struct cell *cell, const struct xst_moe_order *order)
{
    const struct xst_moe_bench *const bench = &cell->bench;
    const int peers = bench->target == XST_TARGET_PEER;
    const struct xst_moe_layer layer = {.hidden = bench->hidden,
                                        .inter = bench->inter,
                                        .experts =
                                            peers ? bench->experts : (bench->experts + bench->ranks - 1) / bench->ranks,
                                        .topk = bench->topk,
                                        .tokens_most = bench->tokens,
                                        .ranks = peers ? bench->ranks : 1,
                                        .ctas = 1,
                                        .ring = bench->ring};
    return bench->ring == 0 || xst_moe_ring_blocks(&layer, order) * order->tile_rows <= bench->ring;
}

/* The planner knows peers; with a local target it is asked what one rank should do, and a host path it has no form for. */
static enum xst_status add_planned(struct job *job, struct cell *cell, int64_t producers)
{
    struct xst_diag *const diag = &job->cli->diag;
    const struct xst_moe_bench *const bench = &cell->bench;
    const struct xst_moe_plan plan = plan_of(cell, producers);
    const struct xst_moe_shape shape = shape_of(bench);
    const struct xst_moe_layer layer = {.dtype = bench->dtype,
                                        .hidden = bench->hidden,
                                        .inter = bench->inter,
                                        .experts = bench->experts,
                                        .topk = bench->topk,
                                        .tokens_most = bench->tokens,
                                        .ranks = bench->ranks,
                                        .ctas = producers * ctas_of_tile(cell),
                                        .ring = bench->ring};
    struct xst_moe_order order = {.dedup = strcmp(cli_text(job->cli, "dedup"), "off") == 0 ? XST_MOE_DEDUP_OFF
                                                                                           : XST_MOE_DEDUP_AUTO};
    const enum xst_moe_dedup dedup = xst_moe_dedup_of(&layer, &order);
    const struct xst_plan_moe_options options = {.extrapolate = 1,
                                                 .given_tflops = PLANNED_RATE * bench->flop_per_us / 1e6,
                                                 .operand_bytes = bench->dtype == XST_MOE_E4M3,
                                                 .once = dedup == XST_MOE_DEDUP_ON};
    struct xst_moe_setup setup;
    struct asking asking = {0};
    cell->planned = XST_MOE_BENCH_MOST_ENTRIES;
    if (bench->target == XST_TARGET_HOST)
        return XST_OK;
    enum xst_status status = xst_moe_setup_make(&job->profile, &shape, &plan, &options, &setup, diag);
    if (status == XST_OK)
        status = ask(job, bench, &setup, &asking);
    if (status == XST_OK)
        status = xst_moe_order_of(&setup, asking.choice, &layer, &order, diag);
    if (status == XST_OK && fits_ring(cell, &order)) {
        order.dedup = dedup;
        cell->predicted_us = predicted_us_of(asking.choice, &order);
        status = add_fused(job, cell, &order, &cell->planned);
    }
    free(asking.counts);
    free(asking.workspace);
    free(asking.choice);
    return status;
}

/* Both schedules with each store that was asked for. */
static enum xst_status add_stores(struct job *job, struct cell *cell, enum xst_moe_dedup dedup)
{
    struct xst_moe_order order = {.store = XST_MOE_STORE_AT_ONCE, .slices = 1, .dedup = dedup};
    enum xst_status status = XST_OK;
    if (asked(job->cli, "store", "at_once"))
        status = add_schedules(job, cell, order);
    order.store = XST_MOE_STORE_PACED;
    order.slices = cli_int(job->cli, "slices");
    if (status == XST_OK && asked(job->cli, "store", "paced"))
        status = add_schedules(job, cell, order);
    return status;
}

static enum xst_status add_entries(struct job *job, struct cell *cell)
{
    const int64_t producers = (cell->bench.ctas > 0 ? cell->bench.ctas : H200_SMS) / ctas_of_tile(cell);
    const struct xst_moe_order order = {.schedule = XST_SCHEDULE_WAVE, .store = XST_MOE_STORE_AT_ONCE, .slices = 1};
    size_t index;
    enum xst_status status = find_knee(job, cell, producers);
    if (status == XST_OK && cell->bench.ring == 0) /* separate kernels need all blocks */
        status = add(job, cell, XST_MOE_FORM_UNFUSED, order, &index);
    for (int dedup = XST_MOE_DEDUP_AUTO; dedup <= XST_MOE_DEDUP_OFF && status == XST_OK; dedup++)
        if (strcmp(cli_text(job->cli, "dedup"), xst_moe_dedup_text((enum xst_moe_dedup)dedup)) == 0 ||
            (dedup != XST_MOE_DEDUP_AUTO && strcmp(cli_text(job->cli, "dedup"), "both") == 0))
            status = add_stores(job, cell, (enum xst_moe_dedup)dedup);
    cell->asked = cell->count;
    return status == XST_OK ? add_planned(job, cell, producers) : status;
}

static enum xst_status keep(struct job *job, const struct cell *cell, const struct xst_moe_bench_row *rows)
{
    double best_us = INFINITY;
    struct cli_bench_moe_row *const grown =
        realloc(job->list.rows, (job->list.count + cell->count) * sizeof *job->list.rows);
    if (!grown)
        return cli_say(&job->cli->diag, XST_ERR_MEMORY, "out of memory");
    job->list.rows = grown;
    for (size_t i = 0; i < cell->count; i++)
        if (rows[i].entry.form == XST_MOE_FORM_FUSED)
            best_us = fmin(best_us, rows[i].median_us);
    for (size_t i = 0; i < cell->count; i++) {
        const int planned = i == cell->planned;
        grown[job->list.count++] =
            (struct cli_bench_moe_row){.preset = job->preset,
                                       .bench = cell->bench,
                                       .row = rows[i],
                                       .planned = planned,
                                       .predicted_us = planned ? cell->predicted_us : NAN,
                                       .regret_frac = planned ? rows[i].median_us / best_us - 1 : NAN,
                                       .stall_us = NAN,
                                       .issue_us = NAN};
    }
    return XST_OK;
}

/* Blocks of 128 rows waste less than half of themselves from 64 rows an expert on. */
static int64_t tile_rows_of(const struct cli *cli, const struct xst_moe_bench *bench)
{
    const int64_t given = cli_int(cli, "tile-rows");
    if (given)
        return given;
    const int few = bench->tokens * bench->topk * bench->ranks <= 64 * bench->experts;
    return few && !cli_has(cli, "trace") ? 64 : 128;
}

static enum xst_status bench_cell(struct job *job, const struct xst_moe_bench *bench)
{
    struct xst_moe_bench_row rows[XST_MOE_BENCH_MOST_ENTRIES];
    struct cell cell = {.bench = *bench, .tile_rows = tile_rows_of(job->cli, bench)};
    cell.bench.ring *= cell.tile_rows; /* asked for in blocks */
    enum xst_status status = add_entries(job, &cell);
    if (status == XST_OK)
        status = xst_moe_bench_run(&cell.bench, cell.entries, cell.count, rows, &job->cli->diag);
    if (status == XST_OK)
        status = keep(job, &cell, rows);
    if (status == XST_OK && cli_has(job->cli, "trace"))
        status = cli_bench_moe_trace(job->cli, &cell.bench, cell.entries, cell.asked,
                                     job->list.rows + job->list.count - cell.count);
    return status;
}

static enum xst_status need(struct cli *cli, const char *name, int64_t value)
{
    if (value > 0)
        return XST_OK;
    cli_hint(cli, "give the dimensions, or --preset NAME of `xstage list shapes`");
    return cli_say(&cli->diag, XST_ERR_USAGE, "--%s is needed", name);
}

static void fill_type(const struct cli *cli, struct xst_moe_bench *bench)
{
    const int is_e4m3 = strcmp(cli_text(cli, "dtype"), "e4m3") == 0;
    bench->dtype = is_e4m3 ? XST_MOE_E4M3 : XST_MOE_BF16;
    bench->flop_per_us = 1e6 * (cli_has(cli, "gemm-tflops") ? cli_real(cli, "gemm-tflops")
                                : is_e4m3                   ? E4M3_TFLOPS
                                                            : BF16_TFLOPS);
}

static enum xst_status fill_bench(struct job *job, const struct xst_moe_preset *preset, struct xst_moe_bench *bench)
{
    struct cli *const cli = job->cli;
    *bench = (struct xst_moe_bench){.hidden = given_or(cli, "hidden", preset ? preset->hidden : 0),
                                    .inter = given_or(cli, "inter", preset ? preset->inter : 0),
                                    .experts = given_or(cli, "experts", preset ? preset->experts : 0),
                                    .topk = given_or(cli, "topk", preset ? preset->topk : 0),
                                    .tokens = preset ? preset->tokens : 4096,
                                    .ranks = cli_int(cli, "ranks"),
                                    .skew = cli_real(cli, "skew"),
                                    .clamp = cli_real(cli, "clamp"),
                                    .ctas = given_or(cli, "ctas", 0),
                                    .rounds = cli_int(cli, "rounds"),
                                    .calls = cli_int(cli, "calls"),
                                    .seed = cli_has(cli, "seed") ? (uint64_t)cli_int(cli, "seed") : 1,
                                    .memory_bytes_per_us = cli_real(cli, "memory-gb-per-s") * 1000};
    fill_type(cli, bench);
    xst_target_parse(cli_has(cli, "target") ? cli_text(cli, "target") : "local", &bench->target);
    xst_routing_parse(cli_text(cli, "routing"), &bench->routing);
    bench->drain_bytes_per_us = cli_bench_drain(&job->profile, bench->target);
    const struct {
        const char *name;
        int64_t value;
    } needed[] = {{"hidden", bench->hidden},
                  {"inter", bench->inter},
                  {"experts", bench->experts},
                  {"topk", bench->topk}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        const enum xst_status status = need(cli, needed[i].name, needed[i].value);
        if (status != XST_OK)
            return status;
    }
    const int64_t tile_rows = cli_int(cli, "tile-rows");
    if (tile_rows != 0 && tile_rows != 64 && tile_rows != 128 && tile_rows != PAIR_ROWS)
        return cli_say(&cli->diag, XST_ERR_USAGE,
                       "--tile-rows is %lld, not 64, 128 or 256 (0: by the rows of an expert)", (long long)tile_rows);
    if (tile_rows == PAIR_ROWS && bench->ctas % 2 != 0)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--ctas is %lld, odd; two compute a tile of %d rows",
                       (long long)bench->ctas, PAIR_ROWS);
    if (cli_given(cli, "remote-frac") && bench->target != XST_TARGET_HOST)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--remote-frac goes with --target host; peers share rows by routing");
    return XST_OK;
}

/* All token counts, remote shares and rings of one shape. */
static enum xst_status bench_shape(struct job *job, const char *name)
{
    const struct cli_sweep *const tokens = cli_sweep_of(job->cli, "tokens"), *const shares =
                                                                                 cli_sweep_of(job->cli, "remote-frac");
    const struct cli_sweep *const rings = cli_sweep_of(job->cli, "ring");
    const struct xst_moe_preset *preset = NULL;
    struct xst_moe_bench bench;
    enum xst_status status = name ? xst_moe_preset_find(name, &preset, &job->cli->diag) : XST_OK;
    if (status == XST_OK)
        status = fill_bench(job, preset, &bench);
    job->preset = preset ? preset->name : "";
    for (size_t t = 0; status == XST_OK && t < (tokens->count ? tokens->count : 1); t++)
        for (size_t s = 0; status == XST_OK && s < (bench.target == XST_TARGET_HOST ? shares->count : 1); s++) {
            if (tokens->count)
                bench.tokens = (int64_t)tokens->values[t];
            bench.remote_frac = bench.target == XST_TARGET_HOST ? shares->values[s] : 0;
            for (size_t r = 0; status == XST_OK && r < rings->count; r++) {
                bench.ring = (int64_t)rings->values[r];
                status = bench_cell(job, &bench);
            }
        }
    return status;
}

static enum xst_status bench_all(struct job *job)
{
    struct cli *const cli = job->cli;
    char names[1024], *rest = names, *name;
    enum xst_status status = XST_OK;
    if (!cli_has(cli, "preset"))
        return bench_shape(job, NULL);
    if (strlen(cli_text(cli, "preset")) >= sizeof names)
        return cli_say(&cli->diag, XST_ERR_USAGE, "--preset is longer than %zu bytes", sizeof names - 1);
    strcpy(names, cli_text(cli, "preset"));
    while (status == XST_OK && (name = strsep(&rest, ",")))
        status = bench_shape(job, name);
    return status;
}

int cli_bench_moe(struct cli *cli)
{
    struct job job = {.cli = cli};
    enum xst_status status = cli_profile_load(cli, &job.profile);
    if (status != XST_OK)
        return cli_fail(cli, status);
    status = cli_bench_moe_trace_check(cli);
    if (status == XST_OK)
        status = bench_all(&job);
    const struct cli_table table = cli_bench_moe_table(&job.list);
    const int code = status == XST_OK ? cli_bench_emit(cli, "moe", &table) : cli_fail(cli, status);
    free(job.list.rows);
    xst_profile_free(&job.profile);
    return code;
}
