/* SPDX-License-Identifier: Apache-2.0
 *
 * The page and the files, from the public interface alone.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/report.h>

#include "support/support.h"

static const char audit_text[] =
    "{\"schema\":\"xstage.audit/1\",\"audits\":[{\"kernel\":\"fa-a2a\",\"name\":\"<img "
    "src=x>\",\"verdict\":\"reshape\","
    "\"shape\":{\"heads\":24},\"rate\":{\"holds\":true,\"margin_bytes\":1048576},"
    "\"capacity\":{\"holds\":false,\"margin_bytes\":-2097152},\"bystander\":{\"holds\":null,\"delay_us\":null},"
    "\"aligned\":{\"verdict\":\"reshape\",\"issue_us\":4.94,\"period_us\":45.2,\"release_us\":null},"
    "\"numbers\":{\"burst_bytes\":4325376,\"recovery_gap_us\":11.1,\"capacity_bytes\":null},"
    "\"actions\":[{\"what\":\"bytes_per_producer\",\"from\":32768,\"to\":18432,\"predicted_issue_us\":0.26}]},"
    "{\"kernel\":\"moe\",\"verdict\":null}]}";

/* The page as text; the caller frees. */
static char *page_of(const struct xst_report_input *input)
{
    struct xst_diag diag = {0};
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "page.html");
    xt_ok(xst_report_write(path, input, 0, &diag), &diag);
    assert_int_equal(xt_folder_count(folder), 1);
    char *const text = xt_file_text(path, NULL);
    free(path);
    xt_folder_remove(folder);
    return text;
}

static char *profile_page(const struct xst_profile *profile)
{
    const struct xst_report_section section = {profile, NULL, NULL, NULL};
    return page_of(&(struct xst_report_input){.sections = &section, .section_count = 1});
}

static void shows_the_recorded_pair(void **state)
{
    (void)state;
    struct xst_samples samples = xt_nvlink_samples();
    struct xst_profile profile = {0};
    struct xst_fit fit = {0};
    struct xst_validation validation = {0};
    struct xst_diag diag = {0};
    xt_ok(xst_profile_fit(&samples, &(struct xst_fit_options){NULL, "pair"}, &profile, &fit, &diag), &diag);
    xt_ok(xst_validation_run(&profile, &samples, &fit, &validation, &diag), &diag);
    const struct xst_report_section section = {&profile, &samples, &fit, &validation};
    const struct xst_report_input input = {.sections = &section, .section_count = 1};
    char *const page = page_of(&input), *const again = page_of(&input);
    assert_string_equal(page, again);
    assert_true(strlen(page) < 400000);
    static const char *const parts[] =
        {"id=\"answers-1\"",        "id=\"figures-1\"",           "id=\"profile-1\"", "id=\"validation-1\"",
         "id=\"rows-1\"",           "id=\"peer-issue-gap-plot\"", "figure-data",      "peer/st16",
         "completion-coupled, (5)", "prefers-color-scheme: dark", "@media print"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        xt_contains(page, parts[i]);
    xt_contains(page, profile.id);
    xt_contains(page, "Permission is hereby granted");
    free(page);
    free(again);
    xst_validation_free(&validation);
    xst_fit_free(&fit);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

/* Foreign text is shown, never obeyed. */
static void escapes_foreign_text(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    static const char hostile[] = "</title><script>alert('x')</script>";
    strcpy(profile.name, hostile);
    strcpy(profile.machine.machine, hostile);
    strcpy(profile.machine.device, hostile);
    strcpy(profile.machine.note, hostile);
    strcpy(profile.machine.origin, hostile);
    const struct xst_report_section section = {&profile, NULL, NULL, NULL};
    const struct xst_report_document audit = {"audit.json", audit_text, strlen(audit_text)};
    char *const page = page_of(&(struct xst_report_input){.title = hostile,
                                                          .sections = &section,
                                                          .section_count = 1,
                                                          .audits = &audit,
                                                          .audit_count = 1});
    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "<img"));
    xt_contains(page, "&lt;/title&gt;&lt;script&gt;alert(&#39;x&#39;)");
    xt_contains(page, "&lt;img src=x&gt;");
    free(page);
    xst_profile_free(&profile);
}

static void shows_audits(void **state)
{
    (void)state;
    const struct xst_report_document audit = {"audit.json", audit_text, strlen(audit_text)};
    char *const page = page_of(&(struct xst_report_input){.audits = &audit, .audit_count = 1});
    xt_contains(page, "<span class=\"verdict bad\">reshape</span>");
    xt_contains(page, "2 MiB too much");
    xt_contains(page, "1 MiB to spare");
    xt_contains(page, "bytes per producer: from 32 KiB to 18 KiB, predicted issue 0.26 \xC2\xB5s");
    xt_contains(page, "not known");
    free(page);
}

static void refuses_other_documents(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum xst_status status;
    } cases[] = {{"{\"schema\":\"xstage.predict/1\"}", XST_ERR_SCHEMA},
                 {"{\"schema\":\"xstage.audit/2\"}", XST_ERR_SCHEMA},
                 {"{", XST_ERR_PARSE},
                 {"", XST_ERR_PARSE},
                 {"[]", XST_ERR_SCHEMA}};
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "page.html");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct xst_report_document audit = {"audit.json", cases[i].text, strlen(cases[i].text)};
        struct xst_diag diag = {0};
        const enum xst_status status =
            xst_report_write(path, &(struct xst_report_input){.audits = &audit, .audit_count = 1}, 0, &diag);
        assert_true(status != XST_OK);
        if (cases[i].status == XST_ERR_SCHEMA && cases[i].text[0] == '{')
            xt_status(status, XST_ERR_SCHEMA, &diag);
        xt_contains(diag.text, "audit.json");
    }
    assert_int_equal(xt_folder_count(folder), 0);
    free(path);
    xt_folder_remove(folder);
}

static void bench_rows_are_a_table(void **state)
{
    (void)state;
    static const char text[] =
        "{\"schema\":\"xstage.bench/1\",\"kernel\":\"fa-a2a\",\"rows\":[{\"variant\":\"fused_bulk\","
        "\"shape\":\"24x4608\",\"p\":2,\"median_us\":161.2,\"checked\":true,\"speedup\":null}]}";
    const struct xst_report_document bench = {"bench.json", text, strlen(text)};
    char *const page = page_of(&(struct xst_report_input){.benches = &bench, .bench_count = 1});
    xt_contains(page, "<td class=\"w\">fused_bulk</td>");
    xt_contains(page, "161 \xC2\xB5s");
    free(page);
}

/* A profile that knows little, and one that knows nothing, make a page with dashes. */
static void unknown_numbers_are_dashes(void **state)
{
    (void)state;
    struct xst_profile published = {0};
    struct xst_diag diag = {0};
    xt_ok(xst_profile_read(XST_SOURCE_DIR "/profiles/paper-148sm.json", &published, NULL, &diag), &diag);
    char *page = profile_page(&published);
    xt_contains(page, "717");
    xt_contains(page, "<td>\xE2\x80\x93</td>");
    free(page);
    xst_profile_free(&published);

    struct xst_path path = {.target = XST_TARGET_PEER,
                            .method = XST_METHOD_ST16,
                            .threads = 256,
                            .valid = {1, 1, 1, 1}};
    const struct xst_profile empty = {.id = "0", .paths = &path, .path_count = 1};
    page = profile_page(&empty);
    assert_null(strstr(page, "nan"));
    assert_null(strstr(page, "<figure"));
    free(page);
    const struct xst_profile none = {.id = "0"};
    free(profile_page(&none));
}

static void empty_samples_draw_nothing_measured(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_samples none = {0};
    const struct xst_report_section section = {&profile, &none, NULL, NULL};
    char *const page = page_of(&(struct xst_report_input){.sections = &section, .section_count = 1});
    xt_contains(page, "peer/st16");
    free(page);
    xst_profile_free(&profile);
}

static void writes_figures_as_files(void **state)
{
    (void)state;
    struct xst_samples samples = xt_host_samples();
    struct xst_profile profile = {0};
    struct xst_diag diag = {0};
    size_t count = 0;
    xt_ok(xst_profile_fit(&samples, &(struct xst_fit_options){NULL, "host"}, &profile, NULL, &diag), &diag);
    const struct xst_report_section section = {&profile, &samples, NULL, NULL};
    const struct xst_report_input input = {.sections = &section, .section_count = 1};
    char *const folder = xt_folder_make();
    xt_ok(xst_report_write_svgs(folder, &input, 0, &count, &diag), &diag);
    assert_int_equal(xt_folder_count(folder), (int)count);
    assert_true(count >= 4);
    xt_status(xst_report_write_svgs(folder, &input, 0, &count, &diag), XST_ERR_EXISTS, &diag);
    xt_ok(xst_report_write_svgs(folder, &input, 1, &count, &diag), &diag);
    xt_folder_remove(folder);
    xt_status(xst_report_write_svgs("/nonexistent/figures", &input, 0, &count, &diag), XST_ERR_IO, &diag);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
}

static void refuses_nothing_and_existing(void **state)
{
    (void)state;
    struct xst_diag diag = {0};
    struct xst_profile profile = xt_small_profile();
    const struct xst_report_section section = {&profile, NULL, NULL, NULL};
    const struct xst_report_input input = {.sections = &section, .section_count = 1};
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "page.html");
    xt_status(xst_report_write(path, &(struct xst_report_input){0}, 0, &diag), XST_ERR_NO_DATA, &diag);
    xt_file_make(path, "kept", 4);
    xt_status(xst_report_write(path, &input, 0, &diag), XST_ERR_EXISTS, &diag);
    char *const text = xt_file_text(path, NULL);
    assert_string_equal(text, "kept");
    free(text);
    xt_status(xst_report_write("/dev/full", &input, 1, &diag), XST_ERR_IO, &diag);
    free(path);
    xt_folder_remove(folder);
    xst_profile_free(&profile);
}

/* A decimal comma of the program's locale must not reach the page, and stays what it was. */
static void locale_does_not_matter(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    char *const plain = profile_page(&profile);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") || setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        char number[8], *const other = profile_page(&profile);
        assert_string_equal(plain, other);
        snprintf(number, sizeof number, "%.1f", 0.5);
        assert_string_equal(number, "0,5");
        free(other);
        setlocale(LC_NUMERIC, "C");
    }
    free(plain);
    xst_profile_free(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_the_recorded_pair),
        cmocka_unit_test(escapes_foreign_text),
        cmocka_unit_test(shows_audits),
        cmocka_unit_test(refuses_other_documents),
        cmocka_unit_test(bench_rows_are_a_table),
        cmocka_unit_test(unknown_numbers_are_dashes),
        cmocka_unit_test(empty_samples_draw_nothing_measured),
        cmocka_unit_test(writes_figures_as_files),
        cmocka_unit_test(refuses_nothing_and_existing),
        cmocka_unit_test(locale_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
