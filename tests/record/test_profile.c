/* SPDX-License-Identifier: Apache-2.0 */
#include <xstage/profile.h>

#include <math.h>
#include <string.h>

#include "support/support.h"

static void finds_paths_by_key(void **state)
{
    (void)state;
    struct xst_path paths[4] = {
        {.target = XST_TARGET_PEER, .threads = 256},
        {.target = XST_TARGET_PEER, .threads = 512},
        {.target = XST_TARGET_HOST, .threads = 128},
        {.target = XST_TARGET_PEER, .threads = 256, .piece_bytes = 256, .pitch_bytes = 3072},
    };
    const struct xst_profile profile = {.paths = paths, .path_count = 4};
    struct xst_path_key key = {XST_TARGET_PEER, XST_DIRECTION_ONE, XST_METHOD_ST16, 0, 0, 0};
    assert_ptr_equal(xst_profile_path(&profile, &key), &paths[0]);
    key.threads = 512;
    assert_ptr_equal(xst_profile_path(&profile, &key), &paths[1]);
    key.threads = 1024;
    assert_null(xst_profile_path(&profile, &key));
    key = (struct xst_path_key){XST_TARGET_HOST, XST_DIRECTION_ONE, XST_METHOD_ST16, 0, 0, 0};
    assert_ptr_equal(xst_profile_path(&profile, &key), &paths[2]); /* the only one there is */
    key.direction = XST_DIRECTION_BOTH;
    assert_null(xst_profile_path(&profile, &key));
    key = (struct xst_path_key){XST_TARGET_PEER, XST_DIRECTION_ONE, XST_METHOD_BULK, 0, 0, 0};
    assert_null(xst_profile_path(&profile, &key));
    key = (struct xst_path_key){XST_TARGET_PEER, XST_DIRECTION_ONE, XST_METHOD_ST16, 0, 256, 3072};
    assert_ptr_equal(xst_profile_path(&profile, &key), &paths[3]);
    key.pitch_bytes = 6144;
    assert_null(xst_profile_path(&profile, &key));
    const struct xst_profile none = {0};
    assert_null(xst_profile_path(&none, &key));
}

static void names_paths(void **state)
{
    (void)state;
    char text[64];
    struct xst_path path = {.target = XST_TARGET_PEER, .threads = 256};
    assert_string_equal(xst_path_text(&path, text, sizeof text), "peer/st16");
    path.direction = XST_DIRECTION_BOTH;
    path.method = XST_METHOD_BULK;
    assert_string_equal(xst_path_text(&path, text, sizeof text), "peer-bidir/bulk");
    path = (struct xst_path){.target = XST_TARGET_HOST,
                             .method = XST_METHOD_ST4,
                             .threads = 512,
                             .piece_bytes = 256,
                             .pitch_bytes = 6144};
    assert_string_equal(xst_path_text(&path, text, sizeof text), "host/st4/512thr/256B@6144");
    char small[6];
    assert_string_equal(xst_path_text(&path, small, sizeof small), "host/");
}

static void seal_refuses(struct xst_profile *profile, const char *part)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_status(xst_profile_seal(profile, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, part);
}

static void seal_checks(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    struct xst_path *const path = profile.paths;
    struct xst_diag diag = {XST_OK, 0, ""};
#define BROKEN(place, bad, part)                                                                                       \
    do {                                                                                                               \
        const double good_ = (double)(place);                                                                          \
        (place) = (bad);                                                                                               \
        seal_refuses(&profile, part);                                                                                  \
        (place) = good_;                                                                                               \
        xt_ok(xst_profile_seal(&profile, &diag), &diag);                                                               \
    } while (0)
    BROKEN(path->drain_bytes_per_us.value, 380000, "drain_bytes_per_us is 380000");
    BROKEN(path->drain_bytes_per_us.value, NAN, "drain_bytes_per_us is ");
    BROKEN(path->drain_bytes_per_us.high, 1e19, "drain_bytes_per_us is 372000 (371000..1e+19), outside");
    BROKEN(path->drain_bytes_per_us.low, 0, "drain_bytes_per_us is 372000 (0..373000), outside");
    BROKEN(path->loop_us.low, -0.5, "loop_us is 0.2 (-0.5..0.21), outside");
    BROKEN(path->issue_floor.points[0].us, -0.1, "issue_floor[0].us is -0.1, outside");
    BROKEN(path->capacity.points[0].low, -1, "capacity[0].bytes is ");
    BROKEN(path->loop_us.low, 0.5, "loop_us is 0.2");
    BROKEN(path->issue_floor.points[1].us, 0.01, "issue_floor[1].us is 0.01, below 0.08");
    BROKEN(path->issue_floor.points[1].us, NAN, "issue_floor[1].us is ");
    BROKEN(path->issue_floor.points[2].us, INFINITY, "issue_floor[2].us is inf, outside");
    BROKEN(path->issue_floor.points[1].producers, 200, "issue_floor[2] (1 producers");
    BROKEN(path->capacity.points[1].producers, 64, "capacity[1].producers is 64");
    BROKEN(path->capacity.points[0].high, 1, "capacity[0].bytes is ");
    BROKEN(path->capacity.points[0].bytes, NAN, "capacity[0].bytes is ");
    BROKEN(path->valid.producers_low, 133, "valid range is upside down");
    BROKEN(path->valid.bytes_high, 5, "valid range is upside down");
    BROKEN(path->piece_bytes, 64, "pitch_bytes is 0");
#undef BROKEN
    xst_profile_free(&profile);
    assert_null(profile.paths);
    xst_profile_free(&profile);
    xst_profile_free(NULL);
}

/* What the reader would refuse, the writer must not write. */
static void seal_refuses_what_cannot_be_read(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile = xt_small_profile();
    strcpy(profile.name, "caf\xe9");
    xt_status(xst_profile_seal(&profile, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "name");
    strcpy(profile.name, "caf\xc3\xa9");
    xt_ok(xst_profile_seal(&profile, &diag), &diag);
    strcpy(profile.machine.note, "\xff");
    xt_status(xst_profile_seal(&profile, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "note");
    xst_profile_free(&profile);
}

static void id_follows_the_content(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile a = xt_small_profile(), b = xt_small_profile();
    assert_int_equal(strlen(a.id), 16);
    assert_int_equal(strspn(a.id, "0123456789abcdef"), 16);
    assert_string_equal(a.id, b.id);
    strcpy(b.id, "stale");
    xt_ok(xst_profile_seal(&b, &diag), &diag);
    assert_string_equal(a.id, b.id);
    b.paths[0].loop_us.value += 1e-12; /* below nine digits */
    xt_ok(xst_profile_seal(&b, &diag), &diag);
    assert_string_equal(a.id, b.id);
    b.paths[0].loop_us.value += 1e-6;
    xt_ok(xst_profile_seal(&b, &diag), &diag);
    assert_string_not_equal(a.id, b.id);
    xst_profile_free(&a);
    xst_profile_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_paths_by_key),
        cmocka_unit_test(names_paths),
        cmocka_unit_test(seal_checks),
        cmocka_unit_test(seal_refuses_what_cannot_be_read),
        cmocka_unit_test(id_follows_the_content),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
