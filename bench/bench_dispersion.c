/* SPDX-License-Identifier: Apache-2.0
 *
 * bench_dispersion - how far law, rival and fluid are from the recorded free-running rows with a gap, per producer count. The
 * fluid's dispersion is fitted to half of the rows of a path; only the other half is judged. Evidence of
 * docs/notes/0005-dispersion.md.
 */
#include <math.h>
#include <stdint.h>

#include <xstage/fit.h>
#include <xstage/sim.h>

#include "bench.h"

enum { SEEDS = 3, MODELS = 5 };

static const char *const MODEL_NAMES[MODELS] = {"completion-coupled", "law", "fluid, equal shares", "fluid, ports only",
                                                "fluid, ports and spread"};

struct dataset {
    const char *name;
    enum xst_target target;
    const char *files[2];
};

/* The last three are of another probe, which keeps its records in shared memory. */
static const struct dataset DATASETS[] = {
    {"NVLink pair, peer/st16", XST_TARGET_PEER, {"h200x2-bursts.csv", "h200x2-rows.csv"}},
    {"host path, host/st16", XST_TARGET_HOST, {"h200-host-bursts.csv", NULL}},
    {"NVLink pair, other probe, peer/st16", XST_TARGET_PEER, {"h200x2-calibrate.csv", "h200x2-clock.csv"}},
    {"host path, other probe, host/st16", XST_TARGET_HOST, {"h200-host-calibrate.csv", "h200-host-clock.csv"}},
    {"host path of the pair, other probe, host/st16", XST_TARGET_HOST, {"h200x2-calibrate.csv", NULL}},
};

struct errors {
    double *period;
    double *issue;
    int count;
};

static int fail(const struct xst_diag *diag)
{
    fprintf(stderr, "bench_dispersion: %s\n", diag->text);
    return 3;
}

/* What a model says of a row. */
static int predict(int model, const struct xst_path *path, const struct xst_sample *row, uint64_t seed,
                   double *total_us_out, double *issue_us_out)
{
    if (model < 2) {
        struct xst_row_prediction prediction;
        xst_row_predict(path, row, model == 0 ? XST_MODEL_COMPLETION_COUPLED : XST_MODEL_LAW, &prediction);
        *total_us_out = prediction.total_us;
        *issue_us_out = prediction.issue_us;
        return prediction.known;
    }
    struct xst_path shares = *path;
    shares.groups.known = model >= 3;
    shares.share_spread_burst.known = shares.share_spread.known = model == 4;
    struct xst_fluid_prediction prediction;
    if (xst_fluid_row_predict(&shares, row, seed, &prediction, NULL) != XST_OK)
        return 0;
    *total_us_out = prediction.total_us;
    *issue_us_out = prediction.issue_us;
    return 1;
}

static double at(const double *sorted, int count, double frac)
{
    return 100 * sorted[(int)(frac * (count - 1) + 0.5)];
}

static void judge(const struct xst_path *path, const struct xst_samples *samples, const unsigned char *held_out,
                  int64_t producers, uint64_t seed, struct errors *errors)
{
    for (int model = 0; model < MODELS; model++) {
        errors->count = 0;
        for (size_t i = 0; i < samples->row_count; i++) {
            const struct xst_sample *const row = &samples->rows[i];
            double total_us, issue_us;
            if (!held_out[i] || (producers && row->producers != producers) ||
                !predict(model, path, row, seed + i, &total_us, &issue_us))
                continue;
            errors->period[errors->count] = fabs(total_us / row->total_us - 1);
            errors->issue[errors->count++] = fabs(issue_us - row->issue_mean_us) / row->period_mean_us;
        }
        if (errors->count == 0)
            continue;
        qsort(errors->period, (size_t)errors->count, sizeof(double), bench_compare);
        qsort(errors->issue, (size_t)errors->count, sizeof(double), bench_compare);
        printf("%5s  %-24s %4d", "", MODEL_NAMES[model], errors->count);
        const double *const values[2] = {errors->period, errors->issue};
        for (int v = 0; v < 2; v++)
            printf("   %6.2f %6.2f %6.2f", at(values[v], errors->count, 0.5), at(values[v], errors->count, 0.9),
                   at(values[v], errors->count, 1));
        putchar('\n');
    }
}

static int run_seed(struct xst_path *path, const struct xst_samples *samples, uint64_t seed, unsigned char *held_out,
                    struct errors *errors)
{
    static const int64_t PRODUCERS[] = {16, 32, 64, 132, 0};
    struct xst_diag diag;
    struct xst_dispersion dispersion;
    const struct xst_dispersion_options options = {.seed = seed, .held_out = held_out};
    const double start = bench_now_us();
    if (xst_path_fit_dispersion(path, samples, &options, &dispersion, &diag) != XST_OK)
        return fail(&diag);
    printf(
        "seed %d: %.0f ports, spread per burst %.2f (%.2f..%.2f), lasting %.2f (%.2f..%.2f), record %.0f bytes, turn %.2f us; "
        "%d rows fitted, %d held out, %d simulations, %.1f s\n",
        (int)seed, path->groups.value, path->share_spread_burst.value, path->share_spread_burst.low,
        path->share_spread_burst.high, path->share_spread.value, path->share_spread.low, path->share_spread.high,
        path->record_bytes.value, path->turn_us.value, (int)dispersion.rows_fit, (int)dispersion.rows_held_out,
        (int)dispersion.simulations, (bench_now_us() - start) * 1e-6);
    printf("%5s  %-24s %4s   %20s   %20s\n", "K", "held-out rows, % error", "n", "period med, p90, max",
           "issue med, p90, max");
    for (size_t k = 0; k < sizeof PRODUCERS / sizeof *PRODUCERS; k++) {
        int rows = 0;
        for (size_t i = 0; i < samples->row_count; i++)
            rows += held_out[i] && (!PRODUCERS[k] || samples->rows[i].producers == PRODUCERS[k]);
        if (rows == 0)
            continue;
        if (PRODUCERS[k])
            printf("%5d\n", (int)PRODUCERS[k]);
        else
            printf("%5s\n", "all");
        judge(path, samples, held_out, PRODUCERS[k], seed, errors);
    }
    return 0;
}

static int read_fit(const char *const *files, int count, const struct dataset *dataset, struct xst_samples *samples,
                    struct xst_profile *profile, struct xst_path **path_out)
{
    struct xst_diag diag;
    const struct xst_path_key key = {dataset->target, XST_DIRECTION_ONE, XST_METHOD_ST16, 256, 0, 0};
    for (int i = 0; i < count && files[i]; i++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/data/%s", XST_SOURCE_DIR, files[i]);
        if (xst_samples_read(name, samples, &diag) != XST_OK)
            return fail(&diag);
    }
    if (xst_profile_fit(samples, NULL, profile, NULL, &diag) != XST_OK)
        return fail(&diag);
    *path_out = NULL;
    for (size_t i = 0; i < profile->path_count; i++)
        if (&profile->paths[i] == xst_profile_path(profile, &key))
            *path_out = &profile->paths[i];
    return *path_out ? 0 : 3;
}

static int run_dataset(const struct dataset *dataset)
{
    struct xst_samples samples = {0};
    struct xst_profile profile;
    struct xst_path *path = NULL;
    if (read_fit(dataset->files, 2, dataset, &samples, &profile, &path) != 0)
        return 3;
    unsigned char *const held_out = calloc(samples.row_count, 1);
    struct errors errors = {calloc(samples.row_count, sizeof(double)), calloc(samples.row_count, sizeof(double)), 0};
    int rc = path && held_out && errors.period && errors.issue ? 0 : 3;
    printf("== %s\n", dataset->name);
    for (int seed = 1; seed <= SEEDS && rc == 0; seed++)
        rc = run_seed(path, &samples, (uint64_t)seed, held_out, &errors);
    free(held_out);
    free(errors.period);
    free(errors.issue);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
    return rc;
}

/* Nothing of these rows was seen: tables from another file of the probe that recorded them, shares from the first probe. */
struct blind {
    const char *name;
    const struct dataset *shares;
    const char *tables, *rows;
};

static const struct blind BLINDS[] = {
    {"blind: NVLink pair, bursts on a clock and beside it", &DATASETS[0], "h200x2-calibrate.csv", "h200x2-clock.csv"},
    {"blind: host path, the same", &DATASETS[1], "h200-host-calibrate.csv", "h200-host-clock.csv"},
};

static int run_blind(const struct blind *blind)
{
    struct xst_samples seen = {0}, tables = {0}, rows = {0};
    struct xst_profile shares = {0}, profile = {0};
    struct xst_path *from = NULL, *path = NULL;
    struct xst_diag diag;
    char name[1024];
    snprintf(name, sizeof name, "%s/data/%s", XST_SOURCE_DIR, blind->rows);
    int rc = read_fit(blind->shares->files, 2, blind->shares, &seen, &shares, &from);
    rc = rc ? rc : read_fit(&blind->tables, 1, blind->shares, &tables, &profile, &path);
    if (rc == 0 &&
        (xst_samples_read(name, &rows, &diag) != XST_OK ||
         xst_path_fit_dispersion(from, &seen, &(struct xst_dispersion_options){.seed = 1}, NULL, &diag) != XST_OK))
        rc = fail(&diag);
    unsigned char *const judged = calloc(rows.row_count + 1, 1);
    struct errors errors = {calloc(rows.row_count + 1, sizeof(double)), calloc(rows.row_count + 1, sizeof(double)), 0};
    rc = rc || !judged || !errors.period || !errors.issue ? 3 : 0;
    if (rc == 0) {
        path->groups = from->groups;
        path->share_spread_burst = from->share_spread_burst;
        path->share_spread = from->share_spread;
        for (size_t i = 0; i < rows.row_count; i++)
            judged[i] = rows.rows[i].mode == XST_MODE_PERIODIC && rows.rows[i].gap_us > 0 &&
                        xst_path_has_row(path, &rows.rows[i]);
        printf("== %s\n", blind->name);
        judge(path, &rows, judged, 0, 1, &errors);
    }
    free(judged);
    free(errors.period);
    free(errors.issue);
    xst_profile_free(&shares);
    xst_profile_free(&profile);
    xst_samples_free(&seen);
    xst_samples_free(&tables);
    xst_samples_free(&rows);
    return rc;
}

int main(void)
{
    bench_machine();
    for (size_t i = 0; i < sizeof DATASETS / sizeof *DATASETS; i++) {
        const int rc = run_dataset(&DATASETS[i]);
        if (rc)
            return rc;
    }
    for (size_t i = 0; i < sizeof BLINDS / sizeof *BLINDS; i++) {
        const int rc = run_blind(&BLINDS[i]);
        if (rc)
            return rc;
    }
    return 0;
}
