/* SPDX-License-Identifier: Apache-2.0
 *
 * Presets: unique names, sane numbers, and the nearest name for a wrong one.
 */
#include <xstage/shapes.h>

#include <string.h>

#include "support/support.h"

static void attention_presets(void **state)
{
    (void)state;
    size_t count = 0;
    const struct xst_fa_preset *const presets = xst_fa_presets(&count);
    assert_true(count >= 15);
    for (size_t i = 0; i < count; i++) {
        const struct xst_fa_preset *found = NULL;
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_fa_preset_find(presets[i].name, &found, &diag), &diag);
        assert_ptr_equal(found, &presets[i]); /* so names are unique */
        assert_true(presets[i].batch >= 1 && presets[i].heads >= 1 && presets[i].seq >= 1);
        assert_true(presets[i].head_dim == 64 || presets[i].head_dim == 128);
        assert_true(strlen(presets[i].model) > 0);
    }
}

static void recorded_shapes(void **state)
{
    (void)state;
    const struct xst_fa_preset *fa = NULL;
    const struct xst_moe_preset *moe = NULL;
    xt_ok(xst_fa_preset_find("flux1", &fa, NULL), NULL);
    assert_true(fa->heads == 24 && fa->head_dim == 128 && fa->seq == 4608 && fa->batch == 1);
    xt_ok(xst_fa_preset_find("wan2.1-14b", &fa, NULL), NULL);
    assert_true(fa->heads == 40 && fa->head_dim == 128 && fa->seq == 32760);
    xt_ok(xst_moe_preset_find("qwen3-30b", &moe, NULL), NULL);
    assert_true(moe->hidden == 2048 && moe->inter == 768 && moe->experts == 128 && moe->topk == 8);
}

static void expert_presets(void **state)
{
    (void)state;
    size_t count = 0;
    const struct xst_moe_preset *const presets = xst_moe_presets(&count);
    assert_true(count >= 10);
    for (size_t i = 0; i < count; i++) {
        const struct xst_moe_preset *found = NULL;
        struct xst_diag diag = {XST_OK, 0, ""};
        xt_ok(xst_moe_preset_find(presets[i].name, &found, &diag), &diag);
        assert_ptr_equal(found, &presets[i]);
        assert_true(presets[i].topk >= 1 && presets[i].topk <= presets[i].experts && presets[i].tokens >= 1);
    }
}

static void names_the_nearest(void **state)
{
    (void)state;
    const struct xst_fa_preset *fa = NULL;
    const struct xst_moe_preset *moe = NULL;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(xst_fa_preset_find("flux", &fa, &diag), XST_ERR_USAGE, &diag);
    xt_contains(diag.text, "did you mean \"flux1\"?");
    xt_status(xst_moe_preset_find("mixtral-8x7", &moe, &diag), XST_ERR_USAGE, &diag);
    xt_contains(diag.text, "did you mean \"mixtral-8x7b\"?");
    xt_status(xst_fa_preset_find("zzzzzzzzzz\n", &fa, &diag), XST_ERR_USAGE, &diag);
    xt_contains(diag.text, "xstage list shapes");
    assert_null(strchr(diag.text, '\n'));
    assert_null(fa);
    assert_null(moe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_presets),
        cmocka_unit_test(recorded_shapes),
        cmocka_unit_test(expert_presets),
        cmocka_unit_test(names_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
