/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows in, rows out. What is refused is in bad/ (test_bad.c).
 */
#include <xstage/sample.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const char header[] =
    "mode,target,method,threads,producers,bytes_per_producer,piece_bytes,pitch_bytes,gap_us,bursts,reps,"
    "issue_mean_us,issue_max_us,release_mean_us,period_mean_us,fenced_max_us,total_us";
static const char good_row[] = "periodic,peer-bidir,bulk,512,132,32768,256,3072,5.125,64,5,4.7,6.1,4.75,11.9,13,765.5";

static void assert_same_rows(const struct xst_sample *a, const struct xst_sample *b, double tolerance)
{
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->target, b->target);
    assert_int_equal(a->direction, b->direction);
    assert_int_equal(a->method, b->method);
#define X(kind, name, low, high, meaning) X_##kind(name)
#define X_MODE(name)
#define X_TARGET(name)
#define X_METHOD(name)
#define X_INT(name)  assert_true(a->name == b->name);
#define X_REAL(name) xt_near(a->name, b->name, tolerance);
    XST_SAMPLE_FIELDS(X)
#undef X
}

static void recorded_files(void **state)
{
    (void)state;
    struct xst_samples nvlink = xt_nvlink_samples(), host = xt_host_samples();
    assert_int_equal(nvlink.row_count, 1515 + 254);
    assert_int_equal(nvlink.source_count, 2);
    assert_int_equal(host.row_count, 182 + 66);
    assert_int_equal(host.bystander_count, 360);
    assert_int_equal(host.source_count, 3);
    assert_int_equal(nvlink.rows[0].line, 2);
    assert_int_equal(nvlink.rows[1514].line, 1516);
    assert_int_equal(nvlink.rows[1515].line, 2);
    assert_int_equal(nvlink.rows[1515].source, 1);
    assert_int_equal(host.bystanders[0].source, 2);
    xt_contains(host.sources[2], "h200-host-bystander.csv");
    xst_samples_free(&nvlink);
    xst_samples_free(&host);
    assert_null(nvlink.rows);
    xst_samples_free(&nvlink);
    xst_samples_free(NULL);
}

/* The other two kinds of row are told by their header and kept apart. */
static void other_kinds_of_row(void **state)
{
    (void)state;
    struct xst_samples samples = {0};
    xt_data_read("h200-host-bystander-loop.csv", &samples);
    assert_int_equal(samples.loop_count, 200);
    xt_data_read("h200-host-per-producer.csv", &samples);
    assert_int_equal(samples.producer_count, 392);
    assert_int_equal(samples.loop_count, 200);
    assert_int_equal(samples.row_count, 0);
    assert_int_equal(samples.source_count, 2);
    xst_samples_free(&samples);
    assert_int_equal(samples.producer_count, 0);
}

/* Whatever the decimal sign of the program's locale, a file has points; the same for profiles. */
static void files_have_points_in_any_locale(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples samples = {0}, again = {0};
    struct xst_profile profile = xt_small_profile();
    char *plain = NULL, *comma = NULL;
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "rows.csv");
    char command[512];
    xt_data_read("h200-host-aligned.csv", &samples);
    xt_ok(xst_profile_print(&profile, &plain, &diag), &diag);
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    const int made = system(command) >= 0;
    setenv("LOCPATH", folder, 1);
    const int set = made && setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    const enum xst_status printed = xst_profile_print(&profile, &comma, &diag);
    const enum xst_status written = xst_samples_write(path, &samples, 0, &diag);
    const enum xst_status read = xst_samples_read(path, &again, &diag);
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -rf %s/de_DE.UTF-8", folder);
    assert_int_equal(system(command), 0);
    xt_folder_remove(folder);
    xt_ok(printed, &diag);
    xt_ok(written, &diag);
    xt_ok(read, &diag);
    assert_string_equal(plain, comma);
    assert_int_equal(again.row_count, samples.row_count);
    xt_near(again.rows[0].total_us, samples.rows[0].total_us, 0);
    free(path);
    free(plain);
    free(comma);
    xst_profile_free(&profile);
    xst_samples_free(&samples);
    xst_samples_free(&again);
    if (!set)
        skip();
}

static void one_row(const char *text, struct xst_sample *row)
{
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples samples = {0};
    xt_ok(xst_samples_parse("t.csv", text, strlen(text), &samples, &diag), &diag);
    assert_int_equal(samples.row_count, 1);
    *row = samples.rows[0];
    xst_samples_free(&samples);
}

static void every_field(void **state)
{
    (void)state;
    char text[1000];
    struct xst_sample row;
    snprintf(text, sizeof text, "%s\n%s\n", header, good_row);
    one_row(text, &row);
    const struct xst_sample want = {.mode = XST_MODE_PERIODIC,
                                    .target = XST_TARGET_PEER,
                                    .direction = XST_DIRECTION_BOTH,
                                    .method = XST_METHOD_BULK,
                                    .threads = 512,
                                    .producers = 132,
                                    .bytes_per_producer = 32768,
                                    .piece_bytes = 256,
                                    .pitch_bytes = 3072,
                                    .gap_us = 5.125,
                                    .bursts = 64,
                                    .reps = 5,
                                    .issue_mean_us = 4.7,
                                    .issue_max_us = 6.1,
                                    .release_mean_us = 4.75,
                                    .period_mean_us = 11.9,
                                    .fenced_max_us = 13,
                                    .total_us = 765.5};
    assert_same_rows(&row, &want, 0);
    assert_int_equal(row.line, 2);
}

static void forms_of_the_same_file(void **state)
{
    (void)state;
    char text[1000];
    struct xst_sample want, row;
    snprintf(text, sizeof text, "%s\n%s\n", header, good_row);
    one_row(text, &want);
    static const char *const forms[] = {"%s\r\n%s\r\n", "%s\n%s", "\xEF\xBB\xBF%s\n%s\n",
                                        "# note\n%s\n\n# note\n%s\n\n", "\n%s\r\n%s"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(text, sizeof text, forms[i], header, good_row);
        one_row(text, &row);
        assert_same_rows(&row, &want, 0);
    }
}

/* Columns may stand in any order: here reversed. */
static void columns_in_any_order(void **state)
{
    (void)state;
    char text[1000] = "", forward[1000];
    struct xst_sample want, row;
    snprintf(forward, sizeof forward, "%s\n%s\n", header, good_row);
    one_row(forward, &want);
    const char *const lines[] = {header, good_row};
    for (int l = 0; l < 2; l++) {
        char copy[400];
        const char *fields[32];
        int count = 0;
        snprintf(copy, sizeof copy, "%s", lines[l]);
        for (char *save = NULL, *field = strtok_r(copy, ",", &save); field; field = strtok_r(NULL, ",", &save))
            fields[count++] = field;
        for (int f = count; f-- > 0;) {
            strcat(text, fields[f]);
            strcat(text, f ? "," : "\n");
        }
    }
    one_row(text, &row);
    assert_same_rows(&row, &want, 0);
}

static void limits_are_inclusive(void **state)
{
    (void)state;
    char text[1000];
    struct xst_sample row;
    snprintf(text, sizeof text, "%s\nisolated,local,st4,1024,65536,1099511627776,0,0,1e9,1000000000,1,0,0,0,0,0,1e12\n",
             header);
    one_row(text, &row);
    assert_true(row.bytes_per_producer == INT64_C(1099511627776));
    xt_near(row.gap_us, 1e9, 0);
}

static void write_and_read_back(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples samples = xt_nvlink_samples(), again = {0};
    char *const folder = xt_folder_make(), *const path = xt_join(folder, "rows.csv"),
                *const second = xt_join(folder, "again.csv");
    xt_ok(xst_samples_write(path, &samples, 0, &diag), &diag);
    xt_status(xst_samples_write(path, &samples, 0, &diag), XST_ERR_EXISTS, &diag);
    xt_ok(xst_samples_read(path, &again, &diag), &diag);
    assert_int_equal(again.row_count, samples.row_count);
    for (size_t i = 0; i < samples.row_count; i++)
        assert_same_rows(&samples.rows[i], &again.rows[i], 0);
    xt_ok(xst_samples_write(second, &again, 0, &diag), &diag);
    char *const a = xt_file_text(path, NULL), *const b = xt_file_text(second, NULL);
    assert_string_equal(a, b);
    assert_int_equal(xt_folder_count(folder), 2);
    free(a);
    free(b);
    free(path);
    free(second);
    xt_folder_remove(folder);
    xst_samples_free(&samples);
    xst_samples_free(&again);
}

static void append_copies(void **state)
{
    (void)state;
    struct xst_diag diag = {XST_OK, 0, ""};
    struct xst_samples samples = {0};
    struct xst_sample row = {.producers = 1};
    for (int i = 1; i <= 1000; i++) {
        row.producers = i;
        xt_ok(xst_samples_append(&samples, &row, &diag), &diag);
    }
    assert_int_equal(samples.row_count, 1000);
    for (int i = 1; i <= 1000; i++)
        assert_int_equal(samples.rows[i - 1].producers, i);
    xst_samples_free(&samples);
}

/* Columns that say who sends where: files without them are read, and rows that do not need them are written without. */
static void flow_columns(void **state)
{
    (void)state;
    static const char text[] =
        "mode,target,method,threads,producers,bytes_per_producer,piece_bytes,pitch_bytes,gap_us,bursts,reps,"
        "issue_mean_us,issue_max_us,release_mean_us,period_mean_us,fenced_max_us,total_us,flow,senders,"
        "sender,receiver\n"
        "periodic,peer,st16,256,132,32768,0,0,0,48,5,1,2,1,3,4,500,incast,3,2,1\n"
        "periodic,peer,st16,256,132,32768,0,0,0,48,5,1,2,1,3,4,500,spread,1,0,-1\n"
        "periodic,peer,st16,256,132,32768,0,0,0,48,5,1,2,1,3,4,500,pair,0,0,0\n";
    const char *const path = "flows.csv";
    struct xst_samples samples = {0}, again = {0};
    struct xst_diag diag = {0};
    xt_ok(xst_samples_parse("text", text, sizeof text - 1, &samples, &diag), &diag);
    assert_int_equal(samples.row_count, 3);
    assert_int_equal(samples.rows[0].flow, XST_FLOW_INCAST);
    assert_int_equal(samples.rows[0].senders, 3);
    assert_int_equal(samples.rows[0].sender, 2);
    assert_int_equal(samples.rows[1].receiver, -1);
    xt_ok(xst_samples_write(path, &samples, 1, &diag), &diag);
    xt_ok(xst_samples_read(path, &again, &diag), &diag);
    for (size_t i = 0; i < 3; i++) {
        assert_same_rows(&samples.rows[i], &again.rows[i], 1e-9);
        assert_int_equal(samples.rows[i].flow, again.rows[i].flow);
        assert_int_equal(samples.rows[i].senders, again.rows[i].senders);
        assert_int_equal(samples.rows[i].sender, again.rows[i].sender);
        assert_int_equal(samples.rows[i].receiver, again.rows[i].receiver);
    }
    samples.rows[0] = samples.rows[2];
    samples.row_count = 1;
    xt_ok(xst_samples_write(path, &samples, 1, &diag), &diag);
    xst_samples_free(&again);
    xt_ok(xst_samples_read(path, &again, &diag), &diag);
    assert_int_equal(again.rows[0].flow, XST_FLOW_PAIR);
    char line[512];
    FILE *const file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_null(strstr(line, "flow"));
    fclose(file);
    remove(path);
    xst_samples_free(&samples);
    xst_samples_free(&again);
    xt_status(xst_samples_parse("text", text, sizeof text - 1 - strlen("pair,0,0,0\n"), &samples, &diag), XST_ERR_PARSE,
              &diag);
    xst_samples_free(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_files),         cmocka_unit_test(every_field),
        cmocka_unit_test(forms_of_the_same_file), cmocka_unit_test(columns_in_any_order),
        cmocka_unit_test(limits_are_inclusive),   cmocka_unit_test(write_and_read_back),
        cmocka_unit_test(flow_columns),           cmocka_unit_test(append_copies),
        cmocka_unit_test(other_kinds_of_row),     cmocka_unit_test(files_have_points_in_any_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
