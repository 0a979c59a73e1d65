/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys other tools rely on, and null for what is not known.
 */
#include <jansson.h>

#include "audit/fixture.h"

static json_t *printed(const struct xst_audit *audit)
{
    char *text = NULL;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_audit_print(audit, &text, &diag), &diag);
    json_t *const root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(root);
    free(text);
    return root;
}

static void keys_of_a_failing_design(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    const struct xst_traffic traffic = plain_traffic(132, 32768, 109);
    const struct xst_audit audit = audit_of(&profile, &traffic);
    json_t *const root = printed(&audit);
    static const char *const keys[] = {"kernel",  "shape",     "profile",     "rate",    "capacity",
                                       "verdict", "bystander", "numbers",     "actions", "sentence",
                                       "reason",  "note",      "extrapolated"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_non_null(json_object_get(root, keys[i]));
    assert_string_equal(json_string_value(json_object_get(root, "verdict")), "reshape");
    assert_true(json_is_true(json_object_get(json_object_get(root, "rate"), "holds")));
    assert_true(json_is_false(json_object_get(json_object_get(root, "capacity"), "holds")));
    assert_true(json_is_null(json_object_get(json_object_get(root, "bystander"), "holds")));
    assert_true(json_is_null(json_object_get(json_object_get(root, "bystander"), "delay_us")));
    const json_t *const numbers = json_object_get(root, "numbers");
    xt_near(json_number_value(json_object_get(numbers, "burst_bytes")), 132 * 32768.0, 0);
    xt_near(json_number_value(json_object_get(numbers, "gap_us")), 109, 0);
    const json_t *const actions = json_object_get(root, "actions");
    assert_int_equal(json_array_size(actions), audit.action_count);
    for (size_t i = 0; i < json_array_size(actions); i++) {
        const json_t *const action = json_array_get(actions, i);
        assert_non_null(json_object_get(action, "what"));
        assert_non_null(json_object_get(action, "from"));
        assert_non_null(json_object_get(action, "to"));
        assert_true(json_is_number(json_object_get(action, "predicted_issue_us")));
    }
    json_decref(root);
    xst_profile_free(&profile);
}

static void nulls(void **state)
{
    (void)state;
    struct xst_profile profile = paper_profile();
    const struct xst_traffic traffic = plain_traffic(100, 1024, 1);
    const struct xst_audit audit = audit_of(&profile, &traffic);
    json_t *const root = printed(&audit);
    assert_true(json_is_null(json_object_get(root, "verdict")));
    assert_true(json_is_null(json_object_get(json_object_get(root, "rate"), "holds")));
    assert_true(json_is_null(json_object_get(json_object_get(root, "rate"), "margin_bytes")));
    assert_true(json_is_null(json_object_get(json_object_get(root, "numbers"), "issue_us")));
    assert_true(json_is_string(json_object_get(root, "reason")));
    json_decref(root);
    xst_profile_free(&profile);
}

static void kernels_add_their_own(void **state)
{
    (void)state;
    struct xst_profile profile = h200_profile();
    struct xst_audit audit;
    const struct xst_fa_a2a_shape fa = {1, 24, 128, 4608, 2, 2};
    const struct xst_fa_a2a_plan fa_plan = {.tile_rows = 128, .tile_cols = 128, .stages = 2, .staging_slots = 1};
    xt_ok(xst_audit_fa_a2a(&profile, &fa, &fa_plan, NULL, &audit, NULL), NULL);
    json_t *root = printed(&audit);
    assert_string_equal(json_string_value(json_object_get(root, "kernel")), "fa-a2a");
    xt_near(json_number_value(json_object_get(root, "m_upper_bound")), 1280, 0);
    xt_near(json_number_value(json_object_get(json_object_get(root, "shape"), "seq")), 4608, 0);
    json_decref(root);
    const struct xst_moe_shape moe = {2048, 768, 128, 8, 4096, 2, 2};
    const struct xst_moe_plan moe_plan =
        {.tile_rows = 128, .tile_cols = 256, .tile_depth = 64, .stages = 4, .staging_slots = 1, .act_frac = 0.1};
    xt_ok(xst_audit_moe(&profile, &moe, &moe_plan, NULL, &audit, NULL), NULL);
    root = printed(&audit);
    assert_string_equal(json_string_value(json_object_get(root, "kernel")), "moe");
    assert_true(json_is_number(json_object_get(root, "lead_knee_tiles")));
    assert_int_equal(json_array_size(json_object_get(root, "schedules")), 2);
    assert_string_equal(json_string_value(json_object_get(root, "recommended_schedule")), "interleaved");
    json_decref(root);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_a_failing_design),
        cmocka_unit_test(nulls),
        cmocka_unit_test(kernels_add_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
