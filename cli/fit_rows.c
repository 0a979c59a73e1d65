/* SPDX-License-Identifier: Apache-2.0
 *
 * What a fit found, for a person; and its account of the rows.
 */
#include "fit_rows.h"

#include <stdlib.h>
#include <string.h>

#define X(NAME, sentence) +1
enum { EXCLUDE_COUNT = 0 XST_EXCLUDE_MAP(X), MOST_FLOOR_POINTS = 8 };
#undef X

int cli_profile_path_is_default(const struct xst_path *path)
{
    return path->threads == 256 && path->piece_bytes == 0 && path->pitch_bytes == 0;
}

/* "R       371.9 GB/s   (370.1 .. 373.4, 12 rows)" */
static void print_measure(const char *label, const struct xst_measure *measure, enum cli_show show, const char *unit,
                          const char *meaning)
{
    char value[48], low[48], high[48];
    if (!measure->known) {
        printf("  %-9s -  %s: the rows do not identify it\n", label, meaning);
        return;
    }
    printf("  %-9s %s%s", label, cli_show_number(measure->value, show, value, sizeof value), unit);
    if (measure->n > 0)
        printf("  (%s .. %s, %lld rows)", cli_show_number(measure->low, show, low, sizeof low),
               cli_show_number(measure->high, show, high, sizeof high), (long long)measure->n);
    printf("  %s\n", meaning);
}

static int is_power_of_two(int64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

/* At most this many points on a line. Without -v: the largest producer count of the table, at powers of two. */
static void print_floor(const struct cli *cli, const char *label, const struct xst_floor_table *table)
{
    int64_t most = 0, producers = 0;
    int on_line = 0;
    for (size_t i = 0; i < table->count; i++)
        most = table->points[i].producers > most ? table->points[i].producers : most;
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_floor_point *const point = &table->points[i];
        char bytes[32], us[32];
        if (!cli->verbose && (point->producers != most ||
                              (table->count > MOST_FLOOR_POINTS && !is_power_of_two(point->bytes_per_producer))))
            continue;
        if (point->producers != producers || on_line == MOST_FLOOR_POINTS) {
            printf("%s  %-9s K = %-4lld", on_line ? "\n" : "", producers ? "" : label, (long long)point->producers);
            producers = point->producers;
            on_line = 0;
        }
        printf("  %s: %s us", cli_show_number((double)point->bytes_per_producer, CLI_SHOW_BYTES, bytes, sizeof bytes),
               cli_show_number(point->us, CLI_SHOW_US, us, sizeof us));
        on_line++;
    }
    if (on_line)
        printf("\n");
}

static void print_capacity(const char *label, const struct xst_capacity_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct xst_capacity_point *const point = &table->points[i];
        char bytes[32], low[32], high[32];
        printf("  %-9s K = %-4lld  %s  (%s .. %s, %lld rows)\n", i ? "" : label, (long long)point->producers,
               cli_show_number(point->bytes, CLI_SHOW_BYTES, bytes, sizeof bytes),
               cli_show_number(point->low, CLI_SHOW_BYTES, low, sizeof low),
               cli_show_number(point->high, CLI_SHOW_BYTES, high, sizeof high), (long long)point->n);
    }
}

static void count_reasons(const struct xst_fit *fit, int path, size_t counts[EXCLUDE_COUNT])
{
    memset(counts, 0, EXCLUDE_COUNT * sizeof *counts);
    for (size_t i = 0; i < fit->row_count; i++) {
        if (path < 0 || fit->path[i] == path)
            counts[fit->exclude[i]]++;
    }
}

static void print_rows_account(const struct xst_fit *fit, int index, const struct xst_path *path)
{
    size_t counts[EXCLUDE_COUNT];
    count_reasons(fit, index, counts);
    printf("  rows      %lld used, %lld not", (long long)path->rows_used, (long long)path->rows_excluded);
    const char *separator = ": ";
    for (int reason = 1; reason < EXCLUDE_COUNT; reason++) {
        if (counts[reason]) {
            printf("%s%zu %s", separator, counts[reason], xst_exclude_text((enum xst_exclude)reason));
            separator = ", ";
        }
    }
    printf("\n");
}

static void print_path(const struct cli *cli, const struct xst_profile *profile, int index, const struct xst_fit *fit)
{
    const struct xst_path *const path = &profile->paths[index];
    char text[96], low[32], high[32];
    printf("\n%s%s%s\n", cli_bold(stdout), xst_path_text(path, text, sizeof text), cli_plain(stdout));
    print_measure("R", &path->drain_bytes_per_us, CLI_SHOW_RATE, "", "drain rate");
    print_floor(cli, "T0", &path->issue_floor);
    print_capacity("Q(K)", &path->capacity);
    print_floor(cli, "T0 rel.", &path->release_floor);
    print_capacity("Q rel.", &path->release_capacity);
    if (path->capacity_per_producer_bytes.known)
        print_measure("Q/K", &path->capacity_per_producer_bytes, CLI_SHOW_BYTES, "", "capacity per producer, small K");
    if (path->capacity_total_bytes.known)
        print_measure("Q total", &path->capacity_total_bytes, CLI_SHOW_BYTES, "", "capacity at large K");
    print_measure("d", &path->loop_us, CLI_SHOW_US, " us", "loop time per period");
    print_measure("F", &path->fence_us, CLI_SHOW_US, " us", "fence");
    print_measure("Q_free", &path->free_capacity_bytes, CLI_SHOW_BYTES, "", "backlog that delays no bystander");
    printf("  valid     %lld..%lld producers, %s..%s each\n", (long long)path->valid.producers_low,
           (long long)path->valid.producers_high,
           cli_show_number((double)path->valid.bytes_low, CLI_SHOW_BYTES, low, sizeof low),
           cli_show_number((double)path->valid.bytes_high, CLI_SHOW_BYTES, high, sizeof high));
    print_rows_account(fit, index, path);
}

static void print_reasons(const struct xst_fit *fit)
{
    size_t counts[EXCLUDE_COUNT];
    count_reasons(fit, -1, counts);
    printf("\nWhy rows were not used (--excluded lists them):\n");
    for (int reason = 1; reason < EXCLUDE_COUNT; reason++) {
        if (counts[reason])
            printf("  %-14s %5zu  %s\n", xst_exclude_text((enum xst_exclude)reason), counts[reason],
                   xst_exclude_sentence((enum xst_exclude)reason));
    }
}

/* file:line of a row, "row" where it has none. */
static const char *place_of(const struct xst_samples *samples, const struct xst_sample *row, char *text, size_t bytes)
{
    const char *const file = (size_t)row->source < samples->source_count ? samples->sources[row->source] : "row";
    const char *const slash = strrchr(file, '/');
    snprintf(text, bytes, "%s:%lld", slash ? slash + 1 : file, (long long)row->line);
    return text;
}

static void print_outliers(const struct cli *cli, const struct xst_samples *samples, const struct xst_fit *fit)
{
    enum { MOST = 6 };
    if (!fit->outlier_count)
        return;
    printf("\n%zu points off the law they should follow (reported, not dropped):\n", fit->outlier_count);
    for (size_t i = 0; i < fit->outlier_count; i++) {
        const struct xst_outlier *const outlier = &fit->outliers[i];
        char place[300];
        if (!cli->verbose && i == MOST) {
            printf("  ... %zu more: -v\n", fit->outlier_count - i);
            break;
        }
        printf("  %s: %s %.4g, expected %.4g (%+.1f %%)\n",
               place_of(samples, &samples->rows[outlier->row], place, sizeof place), outlier->quantity, outlier->value,
               outlier->expected, 100 * (outlier->value / outlier->expected - 1));
    }
}

/* What was read, by kind of row; load loops and per-producer rows do not serve this fit. */
static void print_counts(const struct xst_samples *samples)
{
    printf("%zu burst rows", samples->row_count);
    if (samples->bystander_count)
        printf(", %zu bystander rows", samples->bystander_count);
    if (samples->loop_count)
        printf(", %zu load loop rows", samples->loop_count);
    if (samples->producer_count)
        printf(", %zu per-producer rows", samples->producer_count);
    printf("; ");
}

void cli_fit_print(const struct cli *cli, const struct xst_profile *profile, const struct xst_samples *samples,
                   const struct xst_fit *fit)
{
    size_t hidden = 0;
    printf("%sProfile %s%s (id %s): %s\n", cli_bold(stdout), profile->name[0] ? profile->name : "(unnamed)",
           cli_plain(stdout), profile->id, profile->machine.machine[0] ? profile->machine.machine : "no machine facts");
    print_counts(samples);
    printf("%zu paths, %lld fitted numbers\n", profile->path_count, (long long)fit->parameter_count);
    for (size_t i = 0; i < profile->path_count; i++) {
        if (cli->verbose || cli_profile_path_is_default(&profile->paths[i]))
            print_path(cli, profile, (int)i, fit);
        else
            hidden++;
    }
    if (hidden)
        printf("\n%zu more paths (other thread counts and row patterns): -v\n", hidden);
    print_reasons(fit);
    print_outliers(cli, samples, fit);
}

void cli_fit_print_excluded(const struct cli *cli, const struct xst_profile *profile, const struct xst_samples *samples,
                            const struct xst_fit *fit)
{
    (void)cli;
    printf("\nRows that served no parameter:\n");
    for (size_t i = 0; i < fit->row_count; i++) {
        const struct xst_sample *const row = &samples->rows[i];
        char place[300], path[96] = "-";
        if (fit->exclude[i] == XST_EXCLUDE_NONE)
            continue;
        if (fit->path[i] >= 0)
            xst_path_text(&profile->paths[fit->path[i]], path, sizeof path);
        printf("  %-28s %-16s %-8s K %-4lld B %-8lld G %-8.3f %s: %s\n", place_of(samples, row, place, sizeof place),
               path, xst_mode_text(row->mode), (long long)row->producers, (long long)row->bytes_per_producer,
               row->gap_us, xst_exclude_text(fit->exclude[i]), xst_exclude_sentence(fit->exclude[i]));
    }
}

static json_t *excluded_json(const struct xst_samples *samples, const struct xst_fit *fit)
{
    json_t *const array = json_array();
    for (size_t i = 0; i < fit->row_count; i++) {
        const struct xst_sample *const row = &samples->rows[i];
        if (fit->exclude[i] == XST_EXCLUDE_NONE)
            continue;
        const char *const file = (size_t)row->source < samples->source_count ? samples->sources[row->source] : "";
        json_t *const object = json_object();
        json_object_set_new(object, "source", cli_string(file));
        json_object_set_new(object, "line", json_integer(row->line));
        json_object_set_new(object, "path", json_integer(fit->path[i]));
        json_object_set_new(object, "reason", json_string(xst_exclude_text(fit->exclude[i])));
        json_array_append_new(array, object);
    }
    return array;
}

json_t *cli_fit_json(const struct xst_samples *samples, const struct xst_profile *profile, const struct xst_fit *fit,
                     int with_rows)
{
    size_t counts[EXCLUDE_COUNT];
    count_reasons(fit, -1, counts);
    json_t *const object = json_object();
    json_object_set_new(object, "rows", json_integer((json_int_t)fit->row_count));
    json_object_set_new(object, "bystander_rows", json_integer((json_int_t)samples->bystander_count));
    json_object_set_new(object, "loop_rows", json_integer((json_int_t)samples->loop_count));
    json_object_set_new(object, "producer_rows", json_integer((json_int_t)samples->producer_count));
    json_object_set_new(object, "paths", json_integer((json_int_t)profile->path_count));
    json_object_set_new(object, "parameters", json_integer(fit->parameter_count));
    json_object_set_new(object, "rows_used", json_integer((json_int_t)counts[XST_EXCLUDE_NONE]));
    json_object_set_new(object, "rows_excluded", json_integer((json_int_t)(fit->row_count - counts[XST_EXCLUDE_NONE])));
    json_t *const reasons = json_object();
    for (int reason = 1; reason < EXCLUDE_COUNT; reason++)
        json_object_set_new(reasons, xst_exclude_text((enum xst_exclude)reason),
                            json_integer((json_int_t)counts[reason]));
    json_object_set_new(object, "excluded_by_reason", reasons);
    json_t *const outliers = json_array();
    for (size_t i = 0; i < fit->outlier_count; i++) {
        const struct xst_outlier *const outlier = &fit->outliers[i];
        const struct xst_sample *const row = &samples->rows[outlier->row];
        const char *const file = (size_t)row->source < samples->source_count ? samples->sources[row->source] : "";
        json_t *const item = json_object();
        json_object_set_new(item, "source", cli_string(file));
        json_object_set_new(item, "line", json_integer(row->line));
        json_object_set_new(item, "quantity", json_string(outlier->quantity));
        json_object_set_new(item, "value", cli_number(outlier->value));
        json_object_set_new(item, "expected", cli_number(outlier->expected));
        json_array_append_new(outliers, item);
    }
    json_object_set_new(object, "outliers", outliers);
    if (with_rows)
        json_object_set_new(object, "excluded", excluded_json(samples, fit));
    return object;
}
