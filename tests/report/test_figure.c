/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "support/support.h"

static void keeps_points_sorted_and_finite(void **state)
{
    (void)state;
    struct xsti_figure figure = {0};
    const size_t role = xsti_figure_role(&figure, XSTI_ROLE_POINTS, "measured");
    const size_t group = xsti_figure_group(&figure, "%d KiB", 8);
    xsti_figure_point(&figure, group, role, 3, 30);
    xsti_figure_point(&figure, group, role, 1, 10);
    xsti_figure_point(&figure, group, role, NAN, 1);
    xsti_figure_point(&figure, group, role, 1, INFINITY);
    xsti_figure_point(&figure, group, role, 2, 20);
    xsti_figure_finish(&figure);
    assert_int_equal(figure.series_count, 1);
    assert_int_equal(figure.series[0].count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(figure.series[0].x[i] == (double)i + 1 && figure.series[0].y[i] == 10 * ((double)i + 1));
    assert_int_equal(xsti_figure_measured(&figure), 3);
    xsti_figure_free(&figure);
}

/* The legend must not speak of what is not drawn. */
static void drops_what_is_empty(void **state)
{
    (void)state;
    struct xsti_figure figure = {0};
    const size_t measured = xsti_figure_role(&figure, XSTI_ROLE_POINTS, "measured");
    const size_t law = xsti_figure_role(&figure, XSTI_ROLE_LINE, "model");
    const size_t first = xsti_figure_group(&figure, "first"), second = xsti_figure_group(&figure, "second");
    (void)xsti_figure_series(&figure, first, measured);
    xsti_figure_point(&figure, second, law, 1, 1);
    xsti_figure_finish(&figure);
    assert_int_equal(figure.role_count, 1);
    assert_int_equal(figure.group_count, 1);
    assert_string_equal(figure.roles[0].name, "model");
    assert_string_equal(figure.groups[0].name, "second");
    assert_int_equal(figure.series[0].role, 0);
    assert_int_equal(figure.series[0].group, 0);
    xsti_figure_free(&figure);
}

static void has_room_for_more_than_it_keeps(void **state)
{
    (void)state;
    struct xsti_figure figure = {0};
    for (size_t i = 0; i < 3 * XSTI_MOST_GROUPS; i++)
        for (size_t r = 0; r < 3 * XSTI_MOST_ROLES; r++)
            xsti_figure_point(&figure, xsti_figure_group(&figure, "g"), xsti_figure_role(&figure, XSTI_ROLE_LINE, "r"),
                              1, 1);
    assert_true(figure.group_count <= XSTI_MOST_GROUPS && figure.role_count <= XSTI_MOST_ROLES);
    assert_true(figure.series_count <= XSTI_MOST_SERIES);
    xsti_figure_finish(&figure);
    xsti_figure_free(&figure);
}

static struct xsti_figure hostile(void)
{
    struct xsti_figure figure = {.labels = XSTI_LABELS_MARGIN};
    strcpy(figure.id, "peer-test");
    strcpy(figure.title, "<b>&\"title\"");
    strcpy(figure.caption, "</desc>");
    strcpy(figure.x.label, "a<b");
    strcpy(figure.y.label, "c>d");
    const size_t role = xsti_figure_role(&figure, XSTI_ROLE_HOLLOW, "<i>");
    for (int i = 0; i < 5; i++)
        xsti_figure_point(&figure, xsti_figure_group(&figure, "</script>%d", i), role, i, 1 + 0.001 * i);
    xsti_figure_finish(&figure);
    return figure;
}

static void svg_escapes(void **state)
{
    (void)state;
    struct xsti_figure figure = hostile();
    struct xsti_out out = {0};
    xsti_put_svg(&out, &figure, 1);
    assert_null(strstr(out.text, "<b>"));
    assert_null(strstr(out.text, "<i>"));
    assert_null(strstr(out.text, "</script>"));
    xt_contains(out.text, "&lt;b&gt;&amp;&quot;title&quot;");
    xt_contains(out.text, "&lt;/script&gt;4");
    assert_memory_equal(out.text, "<svg ", 5);
    xsti_out_free(&out);
    xsti_put_plot(&out, &figure);
    assert_null(strstr(out.text, "<"));
    xsti_out_free(&out);
    xsti_figure_free(&figure);
}

/* Labels of lines that end together are moved apart. */
static void labels_do_not_touch(void **state)
{
    (void)state;
    struct xsti_figure figure = hostile();
    struct xsti_out out = {0};
    double before = -100;
    int found = 0;
    xsti_put_svg(&out, &figure, 0);
    for (const char *at = out.text; (at = strstr(at, " lb\" x=\"")); at++) {
        const double y = atof(strstr(at, " y=\"") + 4);
        assert_true(fabs(y - before) >= 14);
        before = y;
        found++;
    }
    assert_int_equal(found, 5);
    xsti_out_free(&out);
    xsti_figure_free(&figure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_points_sorted_and_finite),
        cmocka_unit_test(drops_what_is_empty),
        cmocka_unit_test(has_room_for_more_than_it_keeps),
        cmocka_unit_test(svg_escapes),
        cmocka_unit_test(labels_do_not_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
