/* SPDX-License-Identifier: Apache-2.0
 *
 * A mixture-of-experts layer on one GPU: buffers, weights, one fused call, one token computed again by hand.
 * usage: 06_run_moe        exit status 77 where there is no GPU that can run it
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/moe_kernel.h>
#include <xstage/workspace.h>

enum { H = 256, I = 128, E = 8, K = 2, T = 100 };

static struct xst_diag diag;

static void must(enum xst_status status)
{
    if (status == XST_OK)
        return;
    printf("%s\n", diag.text);
    exit(status == XST_ERR_UNAVAILABLE ? 77 : 1);
}

/* The driver's copies; an application that uses the CUDA run time calls cudaMemcpy. */
static int (*to_device)(uint64_t to, const void *from, size_t bytes);
static int (*to_host)(void *to, uint64_t from, size_t bytes);

static float wide(uint16_t bf16)
{
    const uint32_t bits = (uint32_t)bf16 << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Random values in -scale .. scale, cut to bf16. */
static void fill(uint16_t *values, size_t count, float scale)
{
    for (size_t i = 0; i < count; i++) {
        const float value = scale * ((float)rand() / (float)RAND_MAX * 2 - 1);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        values[i] = (uint16_t)(bits >> 16);
    }
}

static uint16_t gate[E][I][H], up[E][I][H], w1[E][2 * I][H], w2[E][H][I], x[T][H], y[T][H];
static int64_t ids[T][K];
static float weights[T][K];

/* Column c of token t by the formula. */
static double by_hand(int t, int c)
{
    double sum = 0;
    for (int k = 0; k < K; k++) {
        const int64_t e = ids[t][k];
        for (int i = 0; i < I; i++) {
            double g = 0, u = 0;
            for (int h = 0; h < H; h++) {
                g += (double)wide(gate[e][i][h]) * wide(x[t][h]);
                u += (double)wide(up[e][i][h]) * wide(x[t][h]);
            }
            sum += weights[t][k] * g / (1 + exp(-g)) * u * wide(w2[e][c][i]);
        }
    }
    return sum;
}

static uint64_t device_memory(size_t bytes)
{
    const struct xst_group alone = {.ranks = 1};
    struct xst_workspace *workspace; /* freed with the process */
    must(xst_workspace_create(bytes, 0, &alone, &workspace, &diag));
    return xst_workspace_pointers(workspace)[0];
}

int main(void)
{
    struct xst_moe_kernels *kernels;
    struct xst_moe_layout at;
    must(xst_moe_open(0, &kernels, &diag));
    const struct xst_moe_layer layer = {.hidden = H,
                                        .inter = I,
                                        .experts = E,
                                        .topk = K,
                                        .tokens_most = T,
                                        .ranks = 1,
                                        .ctas = xst_moe_sm_count(kernels)};
    must(xst_moe_layout(&layer, &at, &diag));
    const uint64_t buffer = device_memory(at.bytes); /* zeroed; with several ranks, one workspace of all of them */
    const uint64_t w1_at = device_memory(sizeof w1), w2_at = device_memory(sizeof w2), y_at = device_memory(sizeof y);

    void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *const copies[2] = {dlsym(driver, "cuMemcpyHtoD_v2"), dlsym(driver, "cuMemcpyDtoH_v2")};
    memcpy(&to_device, &copies[0], sizeof to_device);
    memcpy(&to_host, &copies[1], sizeof to_host);

    fill(&gate[0][0][0], sizeof gate / 2, 0.1f);
    fill(&up[0][0][0], sizeof up / 2, 0.1f);
    fill(&w2[0][0][0], sizeof w2 / 2, 0.1f);
    fill(&x[0][0], sizeof x / 2, 1);
    for (int e = 0; e < E; e++)
        xst_moe_interleave_w1(&gate[e][0][0], &up[e][0][0], I, H, &w1[e][0][0]);
    for (int t = 0; t < T; t++)
        for (int k = 0; k < K; k++) {
            ids[t][k] = (t + 3 * k) % E;
            weights[t][k] = k == 0 ? 0.75f : 0.25f;
        }
    int failed = to_device(w1_at, w1, sizeof w1) | to_device(w2_at, w2, sizeof w2) |
                 to_device(buffer + at.x, x, sizeof x) | to_device(buffer + at.ids, ids, sizeof ids) |
                 to_device(buffer + at.weights, weights, sizeof weights);

    const struct xst_moe_call call =
        {.layer = layer, .tokens = T, .w1 = w1_at, .w2 = w2_at, .y = y_at, .buffers = &buffer};
    const struct xst_moe_order order = {.schedule = XST_SCHEDULE_INTERLEAVED, .lead = 200, .group = 1, .tile_rows = 64};
    must(xst_moe_fused(kernels, &call, &order, NULL, &diag));
    must(xst_moe_status(kernels, &call, NULL, &diag));
    failed |= to_host(y, y_at, sizeof y);

    const double want = by_hand(T / 2, 5), got = wide(y[T / 2][5]);
    printf("token %d, column 5: %.4f, by hand %.4f\n", T / 2, got, want);
    xst_moe_close(kernels);
    return failed || !(fabs(got - want) < 0.02 * fabs(want) + 0.01);
}
