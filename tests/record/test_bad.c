/* SPDX-License-Identifier: Apache-2.0
 *
 * Every file of tests/record/bad must be refused in one sentence. NAME.expect beside NAME says how: "status", "line", and any
 * number of "text" fragments. *.csv are samples, *.json profiles.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const char folder[] = XST_SOURCE_DIR "/tests/record/bad";

static int has_ending(const char *name, const char *ending)
{
    const size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

static void read_samples(const char *path, enum xst_status *status, struct xst_diag *diag)
{
    /* What was read before must survive a bad file. */
    struct xst_samples samples = {0};
    xt_data_read("h200-host-aligned.csv", &samples);
    const size_t rows = samples.row_count;
    const double total_us = samples.rows[rows - 1].total_us;
    *status = xst_samples_read(path, &samples, diag);
    assert_int_equal(samples.row_count, rows);
    assert_int_equal(samples.source_count, 1);
    assert_int_equal(samples.bystander_count, 0);
    xt_near(samples.rows[rows - 1].total_us, total_us, 0);
    xt_data_read("h200-host-aligned.csv", &samples);
    assert_int_equal(samples.row_count, 2 * rows);
    xst_samples_free(&samples);
}

static void read_profile(const char *path, enum xst_status *status, struct xst_diag *diag)
{
    struct xst_profile profile, untouched;
    memset(&profile, 0x5a, sizeof profile);
    memset(&untouched, 0x5a, sizeof untouched);
    *status = xst_profile_read(path, &profile, NULL, diag);
    assert_memory_equal(&profile, &untouched, sizeof profile);
}

/* 0 when the file was refused as its .expect says. */
static int check(const char *name)
{
    char *const path = xt_join(folder, name);
    char *expect_path = NULL;
    assert_true(asprintf(&expect_path, "%s.expect", path) > 0);
    char *const expect = xt_file_text(expect_path, NULL);
    enum xst_status status = XST_OK;
    struct xst_diag diag = {XST_OK, 0, ""};
    if (has_ending(name, ".csv"))
        read_samples(path, &status, &diag);
    else
        read_profile(path, &status, &diag);
    int bad = status == XST_OK || diag.status != status || !strstr(diag.text, name) || strchr(diag.text, '\n');
    char found[64];
    snprintf(found, sizeof found, "%s:%lld:", name, (long long)diag.line);
    if (diag.line && status != XST_ERR_NO_DATA)
        bad |= !strstr(diag.text, found);
    int texts = 0;
    for (char *save = NULL, *line = strtok_r(expect, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "status ", 7) == 0)
            bad |= strcmp(xst_status_name(status), line + 7) != 0;
        else if (strncmp(line, "line ", 5) == 0)
            bad |= diag.line != atoll(line + 5);
        else if (strncmp(line, "text ", 5) == 0 && ++texts)
            bad |= !strstr(diag.text, line + 5);
        else
            bad = 1;
    }
    bad |= texts == 0;
    if (bad)
        print_error("%s: %s, line %lld: %s\n", name, xst_status_name(status), (long long)diag.line, diag.text);
    free(expect);
    free(expect_path);
    free(path);
    return bad;
}

static void every_bad_file(const char *ending, int least)
{
    DIR *const stream = opendir(folder);
    assert_non_null(stream);
    int count = 0, bad = 0;
    for (const struct dirent *entry; (entry = readdir(stream));) {
        if (!has_ending(entry->d_name, ending))
            continue;
        count++;
        bad += check(entry->d_name);
    }
    closedir(stream);
    assert_true(count >= least);
    assert_int_equal(bad, 0);
}

static void bad_samples(void **state)
{
    (void)state;
    every_bad_file(".csv", 75);
}

static void bad_profiles(void **state)
{
    (void)state;
    every_bad_file(".json", 50);
}

/* Cut anywhere, a good file is refused or read as fewer rows; it never gives a row that was not written. */
static void truncated_anywhere(void **state)
{
    (void)state;
    struct xst_samples whole = {0};
    xt_data_read("h200-host-aligned.csv", &whole);
    size_t bytes = 0;
    char *const text = xt_file_text(XST_SOURCE_DIR "/data/h200-host-aligned.csv", &bytes);
    const size_t end = bytes < 1200 ? bytes : 1200;
    for (size_t cut = 0; cut < end; cut++) {
        struct xst_samples samples = {0};
        struct xst_diag diag = {XST_OK, 0, ""};
        /* malloc'd to its exact length, so that a read past the end is seen by the sanitizers */
        char *const part = malloc(cut + 1);
        memcpy(part, text, cut);
        char *const exact = realloc(part, cut ? cut : 1);
        if (xst_samples_parse("cut.csv", exact, cut, &samples, &diag) == XST_OK) {
            assert_true(samples.row_count > 0);
            for (size_t i = 0; i + 1 < samples.row_count; i++)
                xt_near(samples.rows[i].total_us, whole.rows[i].total_us, 0);
        } else {
            assert_int_equal(samples.row_count, 0);
            xt_contains(diag.text, "cut.csv");
        }
        xst_samples_free(&samples);
        free(exact);
    }
    free(text);
    xst_samples_free(&whole);
}

static void not_files(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples samples = {0};
    struct xst_profile profile;
    xt_status(xst_samples_read(folder, &samples, &diag), XST_ERR_IO, &diag);
    xt_contains(diag.text, "is a directory");
    xt_status(xst_profile_read(folder, &profile, NULL, &diag), XST_ERR_IO, &diag);
    xt_contains(diag.text, "is a directory");
    xt_status(xst_samples_read("/nowhere/at/all.csv", &samples, &diag), XST_ERR_IO, &diag);
    xt_status(xst_profile_read("/nowhere/at/all.json", &profile, NULL, NULL), XST_ERR_IO, NULL);
    xt_status(xst_samples_read("/dev/null", &samples, &diag), XST_ERR_PARSE, &diag);
    xt_contains(diag.text, "the file is empty");
    assert_null(samples.rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_samples),
        cmocka_unit_test(bad_profiles),
        cmocka_unit_test(truncated_anywhere),
        cmocka_unit_test(not_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
