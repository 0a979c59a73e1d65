/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks before anything is timed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "moe/bench_state.h"
#include "moe/params.h"
#include "moe/ref.h"

enum { SAMPLED_TOKENS = 6 };

static size_t y_bytes_of(const struct xsti_moe_bench_group *group, int64_t rank)
{
    return (size_t)(group->tokens[rank] * group->layer.hidden) * 2;
}

static const struct xsti_moe_bench_device *device_of(const struct xsti_moe_bench_state *b,
                                                     const struct xsti_moe_bench_group *group, int64_t rank)
{
    return &b->device[rank < group->active ? group->first_device + rank : 0];
}

static enum xst_status poison(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                              struct xst_diag *diag)
{
    for (int64_t r = 0; r < group->layer.ranks; r++) {
        const struct xsti_moe_bench_device *const own = device_of(b, group, r);
        const struct xsti_device *const device = &own->kernels->device;
        const size_t bytes = y_bytes_of(group, r);
        if (r >= group->active) {
            memset(group->pinned.host, 0xff, group->pinned.bytes);
        } else if (bytes > 0) {
            XSTI_TRY(xsti_device_fill(device, own->y, 0xff, bytes, diag));
            XSTI_TRY(xsti_device_fill(device, group->combine[r], 0xff, bytes * (size_t)group->layer.topk, diag));
        }
        XSTI_TRY(xsti_device_wait(device, 10e6, "poisoning outputs", diag));
    }
    return XST_OK;
}

/* One row of a rank's combine buffer. */
static enum xst_status read_slot(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                 int64_t r, int64_t flat, uint16_t *row, struct xst_diag *diag)
{
    const size_t bytes = (size_t)group->layer.hidden * 2;
    if (r < group->active)
        return xsti_device_read(&device_of(b, group, r)->kernels->device, row,
                                group->combine[r] + (uint64_t)flat * bytes, bytes, diag);
    memcpy(row, (const char *)group->pinned.host + (size_t)flat * bytes, bytes);
    return XST_OK;
}

/* What one choice is computed from, on the host: w1, w2, x and, with e4m3, their scales, one behind the other. */
struct part {
    enum xsti_moe_pool pool;
    uint64_t first;
    size_t count;
};
enum { PARTS = XSTI_MOE_POOL_COUNT };

static size_t parts_of(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group, int64_t r,
                       int64_t flat, struct part parts[PARTS])
{
    const int64_t hidden = group->layer.hidden, scaled = XSTI_MOE_SCALED;
    const size_t matrix = (size_t)(group->layer.inter * hidden);
    const size_t scales = (size_t)(group->layer.inter / scaled * (hidden / scaled)), across = (size_t)(hidden / scaled);
    const uint64_t expert = (uint64_t)(group->ids[r][flat] + group->first_expert[0]);
    const uint64_t token = (uint64_t)(group->first_token[r] + flat / group->layer.topk);
    const struct part all[PARTS] = {
        {XSTI_MOE_POOL_W1, expert * 2 * matrix, 2 * matrix},
        {XSTI_MOE_POOL_W2, expert * matrix, matrix},
        {XSTI_MOE_POOL_X, token * (uint64_t)hidden, (size_t)hidden},
        {XSTI_MOE_POOL_W1_SCALES, expert * 2 * scales, 2 * scales},
        {XSTI_MOE_POOL_W2_SCALES, expert * scales, scales},
        {XSTI_MOE_POOL_X_SCALES, token * across, across},
    };
    memcpy(parts, all, sizeof all);
    return b->request->dtype == XST_MOE_E4M3 ? PARTS : PARTS / 2;
}

static int solve_slot(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                      void *const tensors[PARTS], const float *weight, double *want)
{
    const int64_t hidden = group->layer.hidden, inter = group->layer.inter, zero = 0;
    if (b->request->dtype == XST_MOE_E4M3) {
        const uint8_t *const w1[1] = {tensors[0]}, *const w2[1] = {tensors[1]};
        const float *const s1[1] = {tensors[3]}, *const s2[1] = {tensors[4]};
        const struct xsti_moe_problem_e4m3 problem = {hidden, inter, 1, 1, b->request->clamp, w1, w2, s1, s2};
        return xsti_moe_reference_e4m3(&problem, 1, tensors[2], tensors[5], &zero, weight, want);
    }
    const uint16_t *const w1[1] = {tensors[0]}, *const w2[1] = {tensors[1]};
    const struct xsti_moe_problem problem = {hidden, inter, 1, 1, b->request->clamp, w1, w2};
    return xsti_moe_reference(&problem, XSTI_MOE_AS_BF16, 1, tensors[2], &zero, weight, want);
}

/* How far one row may be from the plain reference. bf16: a gate or up value that falls on the other side of a rounding tie moves the
 * row by d^2 / 2 of its squared length, d the share of that activation's step; with normal inputs and I = 768 the largest of a row's
 * activations makes that more than 2e-6 in half of all rows, more than 1e-5 in less than one of a hundred (and a tie is rare). What is
 * wrong is off by 1e-3 or more. e4m3: the tensor core adds products with fewer bits than a float has. */
static const double BF16_OFF = 1e-5, E4M3_OFF = 1e-3;

/* One choice against the plain reference. */
static enum xst_status check_slot(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                  int64_t r, int64_t flat, const uint16_t *got, struct xst_diag *diag)
{
    const double bound = b->request->dtype == XST_MOE_E4M3 ? E4M3_OFF : BF16_OFF;
    double *const want = malloc((size_t)group->layer.hidden * sizeof *want);
    void *tensors[PARTS] = {0};
    struct part parts[PARTS];
    const size_t count = parts_of(b, group, r, flat, parts);
    int failed = !want;
    double off = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        tensors[i] = malloc(parts[i].count * xsti_moe_bench_value_bytes(b, parts[i].pool));
        failed = !tensors[i];
        if (!failed)
            xsti_moe_bench_values(b, parts[i].pool, parts[i].first, parts[i].count, tensors[i]);
    }
    failed = failed || solve_slot(b, group, tensors, &group->weights[r][flat], want);
    if (!failed)
        off = xsti_moe_difference(got, want, group->layer.hidden);
    for (size_t i = 0; i < count; i++)
        free(tensors[i]);
    free(want);
    if (failed)
        return xsti_fail_memory(diag);
    if (!(off < bound))
        return xsti_fail(
            diag, XST_ERR_DEVICE,
            "moe bench: the result is wrong: rank %lld, token %lld, choice %lld (expert %lld) differs from "
            "the reference by %g, more than %g",
            (long long)r, (long long)(flat / group->layer.topk), (long long)(flat % group->layer.topk),
            (long long)(group->ids[r][flat] + group->first_expert[0]), off, bound);
    return XST_OK;
}

/* A token: its first choice against the reference, and y as the sum of its slots. `row` and `sums` have room for one row. */
static enum xst_status check_token(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                   int64_t r, int64_t token, const uint16_t *y, uint16_t *row, float *sums,
                                   struct xst_diag *diag)
{
    const int64_t topk = group->layer.topk, hidden = group->layer.hidden;
    int checked = 0;
    memset(sums, 0, (size_t)hidden * sizeof *sums);
    for (int64_t flat = token * topk; flat < (token + 1) * topk; flat++) {
        if (group->ids[r][flat] < 0)
            continue;
        XSTI_TRY(read_slot(b, group, r, flat, row, diag));
        if (!checked++)
            XSTI_TRY(check_slot(b, group, r, flat, row, diag));
        for (int64_t c = 0; c < hidden; c++)
            sums[c] += xsti_bf16_to_float(row[c]);
    }
    for (int64_t c = 0; y && c < hidden; c++)
        if (xsti_float_to_bf16(sums[c]) != y[token * hidden + c])
            return xsti_fail(diag, XST_ERR_DEVICE,
                             "moe bench: rank %lld, token %lld, column %lld is %g, not the sum of its slots (%g)",
                             (long long)r, (long long)token, (long long)c, xsti_bf16_to_float(y[token * hidden + c]),
                             sums[c]);
    return XST_OK;
}

static enum xst_status check_rank(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                  int64_t r, const uint16_t *y, struct xst_diag *diag)
{
    const size_t hidden = (size_t)group->layer.hidden;
    uint16_t *const row = malloc(hidden * sizeof *row);
    float *const sums = malloc(hidden * sizeof *sums);
    enum xst_status status = row && sums ? XST_OK : xsti_fail_memory(diag);
    for (int64_t i = 0; i < SAMPLED_TOKENS && i < group->tokens[r] && status == XST_OK; i++)
        status = check_token(b, group, r, i * (group->tokens[r] - 1) / (SAMPLED_TOKENS - 1), y, row, sums, diag);
    free(row);
    free(sums);
    return status;
}

/* What one call left: y of the ranks that compute, then the slots in host memory. */
struct left {
    unsigned char *bytes[XST_MOE_MOST_RANKS + 1];
};

static void left_free(struct left *left)
{
    for (int i = 0; i <= XST_MOE_MOST_RANKS; i++)
        free(left->bytes[i]);
    memset(left, 0, sizeof *left);
}

static enum xst_status read_left(const struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                 struct left *left, struct xst_diag *diag)
{
    for (int64_t r = 0; r < group->active; r++) {
        const struct xsti_moe_bench_device *const own = device_of(b, group, r);
        const size_t bytes = y_bytes_of(group, r);
        if (!(left->bytes[r] = malloc(bytes + 1)))
            return xsti_fail_memory(diag);
        if (bytes > 0)
            XSTI_TRY(xsti_device_read(&own->kernels->device, left->bytes[r], own->y, bytes, diag));
    }
    if (!group->pinned.host)
        return XST_OK;
    if (!(left->bytes[XST_MOE_MOST_RANKS] = malloc(group->pinned.bytes)))
        return xsti_fail_memory(diag);
    memcpy(left->bytes[XST_MOE_MOST_RANKS], group->pinned.host, group->pinned.bytes);
    return XST_OK;
}

static enum xst_status same(const struct xsti_moe_bench_group *group, const struct left *want, const struct left *got,
                            size_t entry, struct xst_diag *diag)
{
    for (int64_t r = 0; r < group->active; r++)
        if (memcmp(want->bytes[r], got->bytes[r], y_bytes_of(group, r)) != 0)
            return xsti_fail(diag, XST_ERR_DEVICE,
                             "moe bench: entry %zu leaves other bytes at rank %lld than the first", entry,
                             (long long)r);
    if (group->pinned.host &&
        memcmp(want->bytes[XST_MOE_MOST_RANKS], got->bytes[XST_MOE_MOST_RANKS], group->pinned.bytes) != 0)
        return xsti_fail(diag, XST_ERR_DEVICE, "moe bench: entry %zu leaves other bytes in host memory than the first",
                         entry);
    return XST_OK;
}

/* `want` is empty for the first entry of a group, and is then what this one left. */
static enum xst_status verify_group(struct xsti_moe_bench_state *b, const struct xsti_moe_bench_group *group,
                                    size_t entry, struct left *want, struct xst_diag *diag)
{
    struct left got = {0};
    enum xst_status status = read_left(b, group, &got, diag);
    if (want->bytes[0]) {
        status = status == XST_OK ? same(group, want, &got, entry, diag) : status;
        left_free(&got);
        return status;
    }
    for (int64_t r = 0; r < group->layer.ranks && status == XST_OK; r++)
        status = check_rank(b, group, r, (const uint16_t *)(const void *)got.bytes[r], diag);
    *want = got;
    return status;
}

static enum xst_status verify_entry(struct xsti_moe_bench_state *b, size_t i, struct left *main, struct left *alone,
                                    struct xst_diag *diag)
{
    const int is_alone = b->entries[i].form == XST_MOE_FORM_ALONE;
    const int64_t groups = is_alone ? b->devices : 1;
    for (int64_t g = 0; g < groups; g++)
        XSTI_TRY(poison(b, is_alone ? &b->alone[g] : &b->main, diag));
    XSTI_TRY(xsti_moe_bench_enqueue(b, &b->entries[i], 1, diag));
    XSTI_TRY(xsti_moe_bench_finish(b, diag));
    for (int64_t g = 0; g < groups; g++)
        XSTI_TRY(verify_group(b, is_alone ? &b->alone[g] : &b->main, i, is_alone ? &alone[g] : main, diag));
    return XST_OK;
}

enum xst_status xsti_moe_bench_verify(struct xsti_moe_bench_state *b, struct xst_diag *diag)
{
    struct left main = {0}, alone[XST_MOE_MOST_RANKS] = {0};
    enum xst_status status = XST_OK;
    for (size_t i = 0; i < b->entry_count && status == XST_OK; i++)
        status = verify_entry(b, i, &main, alone, diag);
    left_free(&main);
    for (int i = 0; i < XST_MOE_MOST_RANKS; i++)
        left_free(&alone[i]);
    return status;
}
