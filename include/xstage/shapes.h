/* SPDX-License-Identifier: Apache-2.0
 *
 * shapes.h - named shapes of real models, so that an audit or a benchmark can be asked for by name.
 *
 * Attention shapes are those of diffusion transformers under Ulysses parallelism: heads and sequence are of the whole model
 * (image or video tokens plus text), not of one rank. Mixture-of-experts shapes are one layer's; tokens are per rank.
 */
#ifndef XSTAGE_SHAPES_H
#define XSTAGE_SHAPES_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

struct xst_fa_preset {
    const char *name;  /* "flux1" */
    const char *model; /* "FLUX.1, 1024 x 1024" */
    int64_t batch;
    int64_t heads;
    int64_t head_dim;
    int64_t seq;      /* tokens of the joint sequence */
    const char *note; /* what the tokens are */
};

struct xst_moe_preset {
    const char *name;  /* "qwen3-30b" */
    const char *model; /* "Qwen3-30B-A3B" */
    int64_t hidden;
    int64_t inter; /* width after the gated activation */
    int64_t experts;
    int64_t topk;
    int64_t tokens; /* per rank */
    const char *note;
};

/* All presets, in the order they are listed. */
const struct xst_fa_preset *xst_fa_presets(size_t *count_out);
const struct xst_moe_preset *xst_moe_presets(size_t *count_out);

/* By name. XST_ERR_USAGE names the nearest one. */
enum xst_status xst_fa_preset_find(const char *name, const struct xst_fa_preset **preset_out, struct xst_diag *diag);
enum xst_status xst_moe_preset_find(const char *name, const struct xst_moe_preset **preset_out, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
