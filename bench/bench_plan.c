/* SPDX-License-Identifier: Apache-2.0
 *
 * Time of one xst_moe_choose, what a runtime calls per layer and step, for every stored shape on 8 ranks; of the setup
 * it is called with; and of a whole attention plan. Reports, never judges.
 */
#include <stdio.h>
#include <stdlib.h>

#include <xstage/plan.h>
#include <xstage/shapes.h>

#include "bench.h"

enum { REPETITIONS = 101, MOST_EXPERTS = 1024 };

static const struct xst_moe_plan plan =
    {.tile_rows = 128, .tile_cols = 256, .tile_depth = 64, .stages = 4, .staging_slots = 1, .act_frac = 0.1};

static int bench_moe(const struct xst_profile *profile, const struct xst_moe_preset *preset, struct xst_diag *diag)
{
    static double choose_us[REPETITIONS];
    static int64_t counts[MOST_EXPERTS];
    static struct xst_moe_choice choice;
    const struct xst_moe_shape shape =
        {preset->hidden, preset->inter, preset->experts, preset->topk, preset->tokens, 8, 2};
    struct xst_moe_setup setup;
    int64_t first = 0, end = 0;
    char name[64], note[128];
    double setup_us = bench_now_us();
    if (xst_moe_setup_make(profile, &shape, &plan, NULL, &setup, diag) != XST_OK ||
        xst_routing_make(XST_ROUTING_ZIPF, 0.5, &shape, counts, diag) != XST_OK)
        return -1;
    setup_us = bench_now_us() - setup_us;
    xst_moe_experts_of(&shape, 0, &first, &end);
    const size_t bytes = xst_moe_workspace_bytes(&setup);
    void *const workspace = malloc(bytes);
    if (!workspace)
        return -1;
    for (int r = 0; r < REPETITIONS; r++) {
        const double start_us = bench_now_us();
        if (xst_moe_choose(&setup, counts + first, end - first, workspace, bytes, &choice, diag) != XST_OK)
            return -1;
        choose_us[r] = bench_now_us() - start_us;
    }
    snprintf(name, sizeof name, "choose %s", preset->name);
    snprintf(note, sizeof note, "%lld tiles, %lld candidates, workspace %zu KiB, setup %.1f ms",
             (long long)(choice.l1_tiles + choice.l2_tiles), (long long)choice.count, bytes / 1024, setup_us * 1e-3);
    bench_print(name, choose_us, REPETITIONS, 1e-3, "ms", note);
    free(workspace);
    return 0;
}

static int bench_attention(const struct xst_profile *profile, const char *name, struct xst_diag *diag)
{
    double plan_us[9];
    const struct xst_fa_preset *preset = NULL;
    char text[64];
    size_t count = 0;
    if (xst_fa_preset_find(name, &preset, diag) != XST_OK)
        return -1;
    const struct xst_fa_a2a_shape shape = {preset->batch, preset->heads, preset->head_dim, preset->seq, 8, 2};
    for (int r = 0; r < 9; r++) {
        struct xst_plan result;
        const double start_us = bench_now_us();
        if (xst_plan_fa_a2a(profile, &shape, NULL, &result, diag) != XST_OK)
            return -1;
        plan_us[r] = bench_now_us() - start_us;
        count = result.count;
        xst_plan_free(&result);
    }
    snprintf(text, sizeof text, "%zu candidates, 8 ranks", count);
    bench_print(name, plan_us, 9, 1e-3, "ms", text);
    return 0;
}

int main(void)
{
    struct xst_profile profile;
    struct xst_diag diag = {XST_OK, 0, ""};
    size_t count = 0;
    const struct xst_moe_preset *const presets = xst_moe_presets(&count);
    int failed = xst_profile_read(XST_SOURCE_DIR "/profiles/h200x2-nvlink.json", &profile, NULL, &diag) != XST_OK;
    bench_machine();
    for (size_t i = 0; !failed && i < count; i++)
        failed = bench_moe(&profile, &presets[i], &diag) != 0;
    if (!failed)
        failed =
            bench_attention(&profile, "flux1", &diag) != 0 || bench_attention(&profile, "hunyuan-video", &diag) != 0;
    if (failed) {
        fprintf(stderr, "%s\n", diag.text);
        return 2;
    }
    xst_profile_free(&profile);
    return 0;
}
