/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes of published models. Sequence lengths are tokens of image or video plus text.
 */
#include <xstage/shapes.h>

#include <string.h>

#include "base/diag.h"
#include "base/text.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct xst_fa_preset fa_presets[] = {
    {"flux1", "FLUX.1, 1024 x 1024", 1, 24, 128, 4608, "4096 image + 512 text"},
    {"flux1-1008", "FLUX.1, 1008 x 1008", 1, 24, 128, 4481, "3969 image + 512 text: odd"},
    {"flux1-768x1360", "FLUX.1, 768 x 1360", 1, 24, 128, 4592, "4080 image + 512 text"},
    {"flux1-2048", "FLUX.1, 2048 x 2048", 1, 24, 128, 16896, "16384 image + 512 text"},
    {"flux2-dev", "FLUX.2-dev, 1024 x 1024", 1, 48, 128, 4608, "4096 image + 512 text"},
    {"sd3-medium", "SD3-medium, 1024 x 1024", 2, 24, 64, 4429, "4096 image + 333 text; batch 2 by guidance"},
    {"sd3.5-large", "SD3.5-large, 1024 x 1024", 2, 38, 64, 4429, "4096 image + 333 text; batch 2 by guidance"},
    {"qwen-image", "Qwen-Image, 1328 x 1328", 1, 24, 128, 6921, "6889 image + 32 text; text length varies"},
    {"qwen-image-1664x928", "Qwen-Image, 1664 x 928", 1, 24, 128, 6064, "6032 image + 32 text; text length varies"},
    {"z-image", "Z-Image, 1024 x 1024", 1, 30, 128, 4224, "4096 image + 128 text; text length varies"},
    {"wan2.1-1.3b", "Wan 2.1 1.3B, 480p, 81 frames", 1, 12, 128, 32760, "21 x 30 x 52 video"},
    {"wan2.1-14b", "Wan 2.1 14B, 480p, 81 frames", 1, 40, 128, 32760, "21 x 30 x 52 video"},
    {"wan2.1-14b-720p", "Wan 2.1 14B, 720p, 81 frames", 1, 40, 128, 75600, "21 x 45 x 80 video"},
    {"wan2.2-ti2v-5b", "Wan 2.2 TI2V-5B, 704p, 121 frames", 1, 24, 128, 27280, "31 x 22 x 40 video"},
    {"hunyuan-video-544p", "HunyuanVideo, 544 x 960, 129 frames", 1, 24, 128, 67576, "67320 video + 256 text"},
    {"hunyuan-video", "HunyuanVideo, 720p, 129 frames", 1, 24, 128, 119056, "118800 video + 256 text"},
    {"cogvideox-2b", "CogVideoX-2B, 480 x 720, 49 frames", 2, 30, 64, 17776, "17550 video + 226 text; batch 2"},
    {"cogvideox-5b", "CogVideoX-5B, 480 x 720, 49 frames", 2, 48, 64, 17776, "17550 video + 226 text; batch 2"},
    {"cogvideox1.5-5b", "CogVideoX1.5-5B, 768 x 1360, 81 frames", 2, 48, 64, 45106, "44880 video + 226 text; batch 2"},
    {"mochi", "Mochi-1, 480 x 848, 163 frames", 1, 24, 128, 44776, "44520 video + 256 text"},
};

static const struct xst_moe_preset moe_presets[] = {
    {"deepseek-v4-flash", "DeepSeek-V4-Flash", 4096, 2048, 256, 6, 8192, ""},
    {"deepseek-v4-pro", "DeepSeek-V4-Pro", 7168, 3072, 384, 6, 8192, ""},
    {"deepseek-v3", "DeepSeek-V3 / R1", 7168, 2048, 256, 8, 4096, ""},
    {"kimi-k2", "Kimi-K2", 7168, 2048, 384, 8, 4096, "bound by weights until tokens are many"},
    {"glm-5.3-flash", "GLM-5.3-Flash", 4096, 2048, 288, 8, 4096, "36 experts on each of 8 ranks"},
    {"qwen3-235b", "Qwen3-235B-A22B", 4096, 1536, 128, 8, 4096, ""},
    {"qwen3-30b", "Qwen3-30B-A3B", 2048, 768, 128, 8, 4096, "fine-grained: the narrowest experts here"},
    {"mixtral-8x7b", "Mixtral 8x7B", 4096, 14336, 8, 2, 4096, "bound by compute"},
    {"gpt-oss-120b", "gpt-oss-120b-like", 2880, 2880, 128, 4, 4096, "hidden is not a multiple of 128"},
    {"dit-moe-s", "DiT-MoE S", 384, 1536, 8, 2, 16384, "shared experts left out"},
    {"dit-moe-b", "DiT-MoE B", 768, 3072, 8, 2, 16384, "shared experts left out"},
    {"dit-moe-l", "DiT-MoE L", 1024, 4096, 8, 2, 16384, "shared experts left out"},
    {"dit-moe-xl", "DiT-MoE XL", 1152, 4608, 8, 2, 16384, "shared experts left out"},
    {"dit-moe-g", "DiT-MoE G", 1408, 5632, 16, 2, 16384, "shared experts left out"},
};

const struct xst_fa_preset *xst_fa_presets(size_t *count_out)
{
    *count_out = COUNT(fa_presets);
    return fa_presets;
}

const struct xst_moe_preset *xst_moe_presets(size_t *count_out)
{
    *count_out = COUNT(moe_presets);
    return moe_presets;
}

static enum xst_status not_found(const char *kind, const char *name, const char *const *names, size_t count,
                                 struct xst_diag *diag)
{
    char quoted[XSTI_QUOTE_BYTES];
    const char *const nearest = xsti_nearest(name, names, count);
    xsti_quote(name, strlen(name), quoted);
    if (nearest)
        return xsti_fail(diag, XST_ERR_USAGE, "no %s shape is called %s; did you mean \"%s\"?", kind, quoted, nearest);
    return xsti_fail(diag, XST_ERR_USAGE, "no %s shape is called %s; `xstage list shapes` names them", kind, quoted);
}

enum xst_status xst_fa_preset_find(const char *name, const struct xst_fa_preset **preset_out, struct xst_diag *diag)
{
    const char *names[COUNT(fa_presets)];
    for (size_t i = 0; i < COUNT(fa_presets); i++) {
        names[i] = fa_presets[i].name;
        if (strcmp(name, names[i]) == 0) {
            *preset_out = &fa_presets[i];
            return XST_OK;
        }
    }
    return not_found("attention", name, names, COUNT(names), diag);
}

enum xst_status xst_moe_preset_find(const char *name, const struct xst_moe_preset **preset_out, struct xst_diag *diag)
{
    const char *names[COUNT(moe_presets)];
    for (size_t i = 0; i < COUNT(moe_presets); i++) {
        names[i] = moe_presets[i].name;
        if (strcmp(name, names[i]) == 0) {
            *preset_out = &moe_presets[i];
            return XST_OK;
        }
    }
    return not_found("mixture-of-experts", name, names, COUNT(names), diag);
}
