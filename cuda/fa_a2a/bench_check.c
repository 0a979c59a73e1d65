/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks before anything is timed.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "fa_a2a/bench_state.h"
#include "fa_a2a/ref.h"

enum { SAMPLED_ROWS = 12 };

/* Sampled rows of rank 0's local output against the plain reference. */
static enum xst_status check_attention(struct xsti_fa_bench *b, struct xst_diag *diag)
{
    const struct xst_fa_a2a_bench *const request = b->request;
    const int64_t d = request->head_dim, row_elements = b->heads * d;
    const struct xsti_device *const device = &b->ranks[0].kernels->device;
    uint16_t got[128], q[128];
    float reference[128];
    for (int64_t i = 0; i < SAMPLED_ROWS; i++) {
        const int64_t row = i * (request->seq - 1) / (SAMPLED_ROWS - 1), head = i % b->heads;
        const int64_t batch = i % request->batch, base = batch * request->seq * row_elements;
        const int64_t at = base + row * row_elements + head * d;
        /* one query, its batch's keys, seen as `heads` heads; only `head` is asked for */
        uint16_t *const keys = malloc((size_t)(2 * request->seq * d) * 2), *const values = keys + request->seq * d;
        if (!keys)
            return xsti_fail_memory(diag);
        for (int64_t key = 0; key < request->seq; key++) {
            memcpy(keys + key * d, b->host[1] + base + key * row_elements + head * d, (size_t)d * 2);
            memcpy(values + key * d, b->host[2] + base + key * row_elements + head * d, (size_t)d * 2);
        }
        memcpy(q, b->host[0] + at, (size_t)d * 2);
        const struct xsti_fa_problem problem = {1, 1, request->seq, request->seq, 1, d, 1 / sqrt((double)d), NULL};
        const int failed = xsti_fa_reference(&problem, q, keys, values, reference, NULL);
        free(keys);
        if (failed)
            return xsti_fail_memory(diag);
        XSTI_TRY(xsti_device_read(device, got, b->ranks[0].local + (uint64_t)at * 2, (size_t)d * 2, diag));
        for (int64_t c = 0; c < d; c++) {
            const double off = fabs((double)xsti_bf16_to_float(got[c]) - reference[c]);
            if (!(off <= 0.02 * fabs((double)reference[c]) + 0.01))
                return xsti_fail(diag, XST_ERR_DEVICE,
                                 "fa-a2a bench: attention is wrong: row %lld, head %lld, column %lld is %g, not %g",
                                 (long long)row, (long long)head, (long long)c, xsti_bf16_to_float(got[c]),
                                 reference[c]);
        }
    }
    return XST_OK;
}

static enum xst_status read_output(struct xsti_fa_bench *b, int64_t p, uint64_t flip, void *to, struct xst_diag *diag)
{
    const struct xsti_device *const device = &b->ranks[p < b->active ? p : 0].kernels->device;
    return xsti_device_read(device, to, b->out[p] + flip, b->out_bytes[p], diag);
}

static enum xst_status poison_outputs(struct xsti_fa_bench *b, struct xst_diag *diag)
{
    for (int64_t p = 0; p < b->request->ranks; p++) {
        const struct xsti_device *const device = &b->ranks[p < b->active ? p : 0].kernels->device;
        if (b->pinned[p].host)
            memset(b->pinned[p].host, 0xff, 2 * b->flip);
        else
            XSTI_TRY(xsti_device_fill(device, b->out[p], 0xff, 2 * b->flip, diag));
        XSTI_TRY(xsti_device_wait(device, 10e6, "poisoning outputs", diag));
    }
    return XST_OK;
}

/* Every fused variant leaves the bytes that attention and then the exchange leave; call n is in buffer n % 2. */
static enum xst_status check_variants(struct xsti_fa_bench *b, unsigned char *want[XSTI_FA_BENCH_RANKS],
                                      unsigned char *got, struct xst_diag *diag)
{
    int64_t calls = 0;
    for (int v = XST_FA_A2A_VARIANT_SERIAL; v < XST_FA_A2A_VARIANT_COUNT; v++) {
        XSTI_TRY(poison_outputs(b, diag));
        XSTI_TRY(xsti_fa_bench_enqueue(b, (enum xst_fa_a2a_variant)v, 1, diag));
        XSTI_TRY(xsti_fa_bench_finish(b, diag));
        const uint64_t flip = ++calls % 2 ? b->flip : 0;
        if (v == XST_FA_A2A_VARIANT_SERIAL)
            XSTI_TRY(check_attention(b, diag));
        for (int64_t p = 0; p < b->request->ranks; p++) {
            assert(want[p]);
            XSTI_TRY(read_output(b, p, flip, v == XST_FA_A2A_VARIANT_SERIAL ? want[p] : got, diag));
            if (v != XST_FA_A2A_VARIANT_SERIAL && memcmp(got, want[p], b->out_bytes[p]) != 0)
                return xsti_fail(diag, XST_ERR_DEVICE, "fa-a2a bench: %s leaves other bytes at rank %lld than serial",
                                 xst_fa_a2a_variant_text((enum xst_fa_a2a_variant)v), (long long)p);
        }
    }
    return XST_OK;
}

enum xst_status xsti_fa_bench_check(struct xsti_fa_bench *b, struct xst_diag *diag)
{
    unsigned char *want[XSTI_FA_BENCH_RANKS] = {0}, *const got = malloc(b->flip);
    enum xst_status status = got ? XST_OK : xsti_fail_memory(diag);
    for (int64_t p = 0; p < b->request->ranks && status == XST_OK; p++)
        if (!(want[p] = malloc(b->out_bytes[p])))
            status = xsti_fail_memory(diag);
    if (status == XST_OK)
        status = check_variants(b, want, got, diag);
    for (int64_t p = 0; p < b->request->ranks; p++)
        free(want[p]);
    free(got);
    return status;
}
