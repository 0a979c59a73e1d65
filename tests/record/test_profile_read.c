/* SPDX-License-Identifier: Apache-2.0
 *
 * What a reader accepts beside what it wrote: newer minor versions, byte-order marks, nulls. What it refuses is in bad/.
 */
#include <xstage/profile.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static char *small_text(void)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_profile profile = xt_small_profile();
    char *text = NULL;
    xt_ok(xst_profile_print(&profile, &text, &diag), &diag);
    xst_profile_free(&profile);
    return text;
}

/* `text` with the first `from` replaced by `to`; frees `text`. */
static char *replaced(char *text, const char *from, const char *to)
{
    char *const at = strstr(text, from);
    if (!at)
        fail_msg("the profile has no %s", from);
    char *changed = NULL;
    assert_true(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) > 0);
    free(text);
    return changed;
}

static enum xst_status parse(const char *text, struct xst_diag *warning, struct xst_diag *diag)
{
    struct xst_profile profile = {0};
    const enum xst_status status = xst_profile_parse("p.json", text, strlen(text), &profile, warning, diag);
    xst_profile_free(&profile);
    return status;
}

static void reads_what_was_written(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""}, warning = {XST_OK, 0, "stale"};
    char *const text = small_text();
    struct xst_profile profile = {0};
    xt_ok(xst_profile_parse("p.json", text, strlen(text), &profile, &warning, &diag), &diag);
    assert_string_equal(warning.text, "");
    assert_string_equal(profile.name, "small");
    const struct xst_path *const path = xt_path_of(&profile, XST_TARGET_PEER, XST_METHOD_ST16);
    xt_near(path->drain_bytes_per_us.value, 372000, 0);
    xt_near(path->drain_bytes_per_us.low, 371000, 0);
    assert_int_equal(path->drain_bytes_per_us.n, 9);
    xt_near(path->loop_us.low, 0.19, 0);
    assert_int_equal(path->loop_us.n, 30);
    xt_near(path->fence_us.value, 1.95, 0);
    assert_false(path->groups.known);
    assert_false(path->free_capacity_bytes.known);
    assert_int_equal(path->issue_floor.count, 6);
    assert_int_equal(path->issue_floor.points[5].source, XST_FLOOR_SOURCE_GIVEN);
    assert_int_equal(path->capacity.count, 2);
    xt_near(path->capacity.points[1].high, 2.5 * 1048576, 0);
    xt_near(path->residual_drain.high, 0.02, 0);
    assert_false(path->residual_floor.known);
    assert_int_equal(path->valid.bytes_high, 65536);
    assert_int_equal(path->rows_used, 40);
    xst_profile_free(&profile);
    free(text);
}

static void byte_order_mark_and_crlf(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *text = small_text(), *marked = NULL;
    assert_true(asprintf(&marked, "\xEF\xBB\xBF%s", text) > 0);
    xt_ok(parse(marked, NULL, &diag), &diag);
    free(marked);
    for (int i = 0; i < 5; i++)
        text = replaced(text, ",\n ", ",\r\n ");
    xt_ok(parse(text, NULL, &diag), &diag);
    free(text);
}

static void edited_content_is_refused(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *const text = replaced(small_text(), "\"rows_used\": 40", "\"rows_used\": 41");
    xt_status(parse(text, NULL, &diag), XST_ERR_PARSE, &diag);
    xt_contains(diag.text, "p.json: id is \"");
    xt_contains(diag.text, "edited by hand");
    free(text);
}

/* A key of a newer minor version warns, wherever it stands; with or without a place for the warning. */
static void unknown_keys_warn(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
        const char *key;
    } cases[] = {
        {"\"name\":", "\"colour\": 1, \"name\":", "\"colour\""},
        {"\"sm_count\":", "\"bios\": \"x\", \"sm_count\":", "\"machine.bios\""},
        {"\"target\":", "\"fabric\": null, \"target\":", "\"paths[0].fabric\""},
        {"\"value\":", "\"p99\": 5, \"value\":", "\"paths[0].drain_bytes_per_us.p99\""},
        {"\"us\":", "\"p99\": 5, \"us\":", "\"paths[0].issue_floor[0].p99\""},
        {"\"bytes\":", "\"p99\": 5, \"bytes\":", "\"paths[0].capacity[0].p99\""},
        {"\"bytes_per_us\":", "\"p99\": 5, \"bytes_per_us\":", "\"paths[0].drain_by_producers[0].p99\""},
        {"\"valid\": {", "\"valid\": {\"gap\": 1,", "\"paths[0].valid.gap\""},
        {"\"intervals\": {", "\"intervals\": {\"gap\": 1,", "\"paths[0].intervals.gap\""},
        {"\"residuals\": {", "\"residuals\": {\"gap\": 1,", "\"paths[0].residuals.gap\""},
        {"\"median_abs_rel_err\":", "\"p99\": 5, \"median_abs_rel_err\":", "\"paths[0].residuals.drain.p99\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_diag diag = {XST_OK, 0, ""}, warning = {XST_OK, 0, ""};
        char *const text = replaced(small_text(), cases[i].from, cases[i].to);
        xt_ok(parse(text, &warning, &diag), &diag);
        xt_contains(warning.text, cases[i].key);
        xt_contains(warning.text, "p.json");
        xt_ok(parse(text, NULL, &diag), &diag);
        free(text);
    }
}

static void schema_versions(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    char *text = replaced(small_text(), "xstage.profile/1", "xstage.profile/1.1");
    xt_ok(parse(text, NULL, &diag), &diag);
    text = replaced(text, "xstage.profile/1.1", "xstage.profile/2");
    xt_status(parse(text, NULL, &diag), XST_ERR_SCHEMA, &diag);
    xt_contains(diag.text, "xstage.profile/2");
    text = replaced(text, "xstage.profile/2", "xstage.profile/0");
    xt_status(parse(text, NULL, &diag), XST_ERR_SCHEMA, &diag);
    free(text);
}

static void standard_input_is_named(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    FILE *const before = freopen("/dev/null", "r", stdin);
    assert_non_null(before);
    struct xst_profile profile;
    xt_status(xst_profile_read("-", &profile, NULL, &diag), XST_ERR_PARSE, &diag);
    xt_contains(diag.text, "standard input: the file is empty");
}

/* Cut or with one byte changed, the document is refused: nothing of it may be read in silence. */
static void any_damage_is_noticed(void **state)
{
    (void)state;
    char *const text = small_text();
    const size_t length = strlen(text);
    struct xst_diag diag = {XST_OK, 0, ""};
    for (size_t cut = 0; cut + 2 < length; cut++) {
        struct xst_profile profile;
        char *const part = malloc(cut ? cut : 1);
        memcpy(part, text, cut);
        assert_int_not_equal(xst_profile_parse("p.json", part, cut, &profile, NULL, &diag), XST_OK);
        free(part);
    }
    for (size_t i = 0; i < length; i++) {
        const char before = text[i];
        /* a digit that becomes another digit changes a number, and the id knows; in a key it makes another key, which warns */
        if (before < '0' || before > '9')
            continue;
        text[i] = before == '9' ? '8' : (char)(before + 1);
        struct xst_diag warning = {XST_OK, 0, ""};
        if (parse(text, &warning, &diag) == XST_OK && !warning.text[0])
            fail_msg("byte %zu changed and nobody noticed: %.40s", i, text + i);
        text[i] = before;
    }
    free(text);
}

/* Every profile of the tree is readable, named like its file, and written back byte for byte. */
static void shipped_profiles(void **state)
{
    (void)state;
    DIR *const stream = opendir(XST_SOURCE_DIR "/profiles");
    int count = 0;
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        const size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        struct xst_diag diag = {XST_OK, 0, ""}, warning = {XST_OK, 0, ""};
        struct xst_profile profile = {0};
        char *const path = xt_join(XST_SOURCE_DIR "/profiles", entry->d_name);
        char *const text = xt_file_text(path, NULL);
        char *again = NULL;
        xt_ok(xst_profile_read(path, &profile, &warning, &diag), &diag);
        assert_string_equal(warning.text, "");
        assert_int_equal(strncmp(profile.name, entry->d_name, length - 5), 0);
        assert_int_equal(strlen(profile.name), length - 5);
        assert_true(profile.path_count > 0);
        xt_ok(xst_profile_print(&profile, &again, &diag), &diag);
        assert_string_equal(again, text);
        xst_profile_free(&profile);
        free(again);
        free(text);
        free(path);
        count++;
    }
    if (stream)
        closedir(stream);
    assert_true(count >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_was_written),    cmocka_unit_test(byte_order_mark_and_crlf),
        cmocka_unit_test(edited_content_is_refused), cmocka_unit_test(unknown_keys_warn),
        cmocka_unit_test(schema_versions),           cmocka_unit_test(standard_input_is_named),
        cmocka_unit_test(any_damage_is_noticed),     cmocka_unit_test(shipped_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
