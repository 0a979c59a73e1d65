/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows and lines the figures of the recorded machines show.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure_list.h"
#include "report/figures.h"
#include "support/support.h"

struct recorded {
    struct xst_samples samples;
    struct xst_profile profile;
    struct xst_report_section section;
};

static struct recorded recorded_of(struct xst_samples samples)
{
    struct recorded recorded = {.samples = samples};
    struct xst_diag diag = {0};
    xt_ok(xst_profile_fit(&samples, &(struct xst_fit_options){NULL, "test"}, &recorded.profile, NULL, &diag), &diag);
    return recorded;
}

static void recorded_free(struct recorded *recorded)
{
    xst_profile_free(&recorded->profile);
    xst_samples_free(&recorded->samples);
}

static struct xsti_figure_list figures_of(struct recorded *recorded)
{
    struct xsti_figure_list list = {0};
    struct xst_diag diag = {0};
    recorded->section = (struct xst_report_section){&recorded->profile, &recorded->samples, NULL, NULL};
    const struct xst_report_input input = {.sections = &recorded->section, .section_count = 1};
    xt_ok(xsti_figure_list_make(&input, &list, &diag), &diag);
    return list;
}

static const struct xsti_figure *find(const struct xsti_figure_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->entries[i].figure->id, id) == 0)
            return list->entries[i].figure;
    fail_msg("no figure %s", id);
    return NULL;
}

/* Largest |log(point / line)| of a group over the line's own x values; lines are interpolated. */
static double distance(const struct xsti_figure *figure, size_t group, size_t points, size_t line)
{
    const struct xsti_series *measured = NULL, *law = NULL;
    double worst = 0;
    for (size_t i = 0; i < figure->series_count; i++) {
        if (figure->series[i].group == group && figure->series[i].role == points)
            measured = &figure->series[i];
        if (figure->series[i].group == group && figure->series[i].role == line)
            law = &figure->series[i];
    }
    assert_true(measured && law);
    for (size_t i = 0; i < measured->count; i++) {
        size_t at = 1;
        while (at + 1 < law->count && law->x[at] < measured->x[i])
            at++;
        const double span = law->x[at] - law->x[at - 1], part = span > 0 ? (measured->x[i] - law->x[at - 1]) / span : 0;
        const double y = law->y[at - 1] + part * (law->y[at] - law->y[at - 1]);
        worst = fmax(worst, fabs(log(measured->y[i] / y)));
    }
    return worst;
}

static void nvlink_has_every_figure(void **state)
{
    (void)state;
    struct recorded recorded = recorded_of(xt_nvlink_samples());
    struct xsti_figure_list list = figures_of(&recorded);
    static const char *const ids[] = {"peer-issue-gap", "peer-period-gap", "peer-isolated",
                                      "peer-zero-gap",  "peer-aligned",    "peer-bulk-release"};
    assert_int_equal(list.count, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct xsti_figure *const figure = find(&list, ids[i]);
        assert_true(xsti_figure_measured(figure) >= 20);
        assert_true(figure->caption[0] && figure->title[0]);
        assert_non_null(strstr(figure->y.label, "\xC2\xB5s"));
    }
    /* Four sizes at 132 producers, 20 gaps and 1 zero-gap row each; the local control at two of them. */
    const struct xsti_figure *const issue = find(&list, "peer-issue-gap");
    assert_int_equal(issue->group_count, 4);
    assert_int_equal(issue->role_count, 3);
    assert_string_equal(issue->groups[2].name, "32 KiB");
    xsti_figure_list_free(&list);
    recorded_free(&recorded);
}

/* The drawn period line is law (4): no row of the largest sweep is further from it than model.md's worst. */
static void period_line_meets_the_rows(void **state)
{
    (void)state;
    struct recorded recorded = recorded_of(xt_nvlink_samples());
    struct xsti_figure_list list = figures_of(&recorded);
    const struct xsti_figure *const figure = find(&list, "peer-period-gap");
    for (size_t group = 0; group < figure->group_count; group++) {
        assert_true(distance(figure, group, 0, 1) < 0.15);
        assert_true(distance(figure, group, 0, 2) > 0.3);
    }
    xt_contains(figure->caption, "off by");
    xsti_figure_list_free(&list);
    recorded_free(&recorded);
}

static void host_has_no_control(void **state)
{
    (void)state;
    struct recorded recorded = recorded_of(xt_host_samples());
    struct xsti_figure_list list = figures_of(&recorded);
    const struct xsti_figure *const issue = find(&list, "host-issue-gap");
    for (size_t i = 0; i < issue->role_count; i++)
        assert_null(strstr(issue->roles[i].name, "control"));
    xt_contains(issue->caption, "132 producers \xC3\x97 16 KiB");
    xsti_figure_list_free(&list);
    recorded_free(&recorded);
}

/* Two sections of one target: ids stay unique, because they are anchors and file names. */
static void ids_are_unique(void **state)
{
    (void)state;
    struct recorded recorded = recorded_of(xt_host_samples());
    const struct xst_report_section sections[] = {{&recorded.profile, &recorded.samples, NULL, NULL},
                                                  {&recorded.profile, &recorded.samples, NULL, NULL}};
    const struct xst_report_input input = {.sections = sections, .section_count = 2};
    struct xsti_figure_list list = {0};
    struct xst_diag diag = {0};
    xt_ok(xsti_figure_list_make(&input, &list, &diag), &diag);
    find(&list, "host-issue-gap");
    find(&list, "host-issue-gap-2");
    for (size_t i = 0; i < list.count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(list.entries[i].figure->id, list.entries[j].figure->id);
    xsti_figure_list_free(&list);
    recorded_free(&recorded);
}

/* Without rows the law is drawn alone, and the legend says nothing of measurements. */
static void lines_stand_alone(void **state)
{
    (void)state;
    struct xst_profile profile = xt_small_profile();
    const struct xst_report_section section = {&profile, NULL, NULL, NULL};
    const struct xst_report_input input = {.sections = &section, .section_count = 1};
    struct xsti_figure_list list = {0};
    struct xst_diag diag = {0};
    xt_ok(xsti_figure_list_make(&input, &list, &diag), &diag);
    for (size_t i = 0; i < list.count; i++) {
        const struct xsti_figure *const figure = list.entries[i].figure;
        assert_int_equal(xsti_figure_measured(figure), 0);
        for (size_t r = 0; r < figure->role_count; r++)
            assert_null(strstr(figure->roles[r].name, "measured"));
    }
    xsti_figure_list_free(&list);
    xst_profile_free(&profile);
}

static struct xst_sample flow_row(enum xst_flow flow, int64_t senders, int64_t sender, double total_us)
{
    return (struct xst_sample){.mode = XST_MODE_PERIODIC,
                               .target = XST_TARGET_PEER,
                               .method = XST_METHOD_ST16,
                               .threads = 256,
                               .producers = 100,
                               .bytes_per_producer = 10000,
                               .bursts = 100,
                               .reps = 1,
                               .flow = flow,
                               .senders = senders,
                               .sender = sender,
                               .receiver = flow == XST_FLOW_INCAST ? 1 : -1,
                               .total_us = total_us};
}

/* 100 MB a sender. Into one receiver: all bytes over the longest time, less the fence; else the mean of the senders' own rates. A
 * run whose rows are not all there is left out. */
static void senders_by_hand(void **state)
{
    (void)state;
    struct recorded recorded = recorded_of(xt_nvlink_samples());
    const double fence_us = xsti_main_path(&recorded.profile, XST_TARGET_PEER)->fence_us.value;
    const struct xst_sample rows[] = {flow_row(XST_FLOW_INCAST, 1, 0, 250 + fence_us),
                                      flow_row(XST_FLOW_INCAST, 2, 0, 400 + fence_us),
                                      flow_row(XST_FLOW_INCAST, 2, 2, 500 + fence_us),
                                      flow_row(XST_FLOW_SPREAD, 1, 0, 200 + fence_us),
                                      flow_row(XST_FLOW_ROTATION, 2, 0, 250 + fence_us),
                                      flow_row(XST_FLOW_ROTATION, 2, 1, 500 + fence_us),
                                      flow_row(XST_FLOW_INCAST, 3, 0, 400 + fence_us)};
    struct xst_diag diag = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        xt_ok(xst_samples_append(&recorded.samples, &rows[i], &diag), &diag);
    struct xsti_figure_list list = figures_of(&recorded);
    const struct xsti_figure *const figure = find(&list, "peer-senders");
    assert_int_equal(xsti_figure_measured(figure), 4);
    size_t seen = 0;
    for (size_t s = 0; s < figure->series_count; s++)
        for (size_t p = 0; p < figure->series[s].count; p++) {
            const char *const name = figure->groups[figure->series[s].group].name;
            const double x = figure->series[s].x[p], y = figure->series[s].y[p];
            if (strcmp(name, "one pair") == 0)
                continue;
            seen++;
            xt_near(y, strstr(name, "all others") ? 500 : strstr(name, "all to all") ? 300 : 400, 1e-6);
            xt_near(x, strstr(name, "all others") ? 1 : strstr(name, "all to all") ? 2 : seen, 1e-9);
        }
    assert_int_equal(seen, 4);
    xt_contains(figure->caption, "2 senders bring 400 GB/s into one receiver");
    xsti_figure_list_free(&list);
    recorded_free(&recorded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvlink_has_every_figure), cmocka_unit_test(period_line_meets_the_rows),
        cmocka_unit_test(host_has_no_control),     cmocka_unit_test(ids_are_unique),
        cmocka_unit_test(lines_stand_alone),       cmocka_unit_test(senders_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
