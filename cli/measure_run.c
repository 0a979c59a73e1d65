/* SPDX-License-Identifier: Apache-2.0 */
#include "measure_run.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <xstage/text_file.h>

#include "data_dir.h"
#include "options.h"

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t stop_asked;

static void on_stop(int number)
{
    (void)number;
    stop_asked = 1;
}

struct watch {
    struct cli *cli;
    struct xst_measure_sink rows;
    struct cli_readings *readings;
    size_t seen; /* cells */
    int terminal;
};

enum xst_status cli_machine_open(struct cli *cli, const char *spec, struct xst_machine **machine_out)
{
    struct xst_profile profile = {0};
    char name[PATH_MAX];
    const size_t length = strcspn(spec, ",");
    if (strncmp(spec, "sim:", 4) != 0 || length == 4 || strcspn(spec, "=") < length || length >= sizeof name)
        return xst_machine_open(spec, machine_out, &cli->diag);
    memcpy(name, spec + 4, length - 4);
    name[length - 4] = '\0';
    enum xst_status status = cli_profile_read(cli, name, &profile);
    if (status == XST_OK)
        status = xst_machine_open_profile_many(&profile, spec[length] ? spec + length + 1 : "",
                                               cli_has(cli, "seed") ? (uint64_t)cli_int(cli, "seed") : 1, machine_out,
                                               &cli->diag);
    xst_profile_free(&profile);
    return status;
}

/* `first`: of its cell; several senders have a row each. */
static void read_state(struct cli_readings *readings, const struct xst_measure_extras *extras, int first)
{
    const double clock = extras->sm_clock_ghz;
    readings->cells += first;
    readings->imprecise += first && !extras->precise;
    readings->verified_bytes += extras->verified_bytes;
    if (clock > 0 && (readings->sm_clock_ghz_low == 0 || clock < readings->sm_clock_ghz_low))
        readings->sm_clock_ghz_low = clock;
    if (clock > readings->sm_clock_ghz_high)
        readings->sm_clock_ghz_high = clock;
    if (extras->throttle[0] && strcmp(extras->throttle, "?") != 0 && !readings->throttle[0])
        snprintf(readings->throttle, sizeof readings->throttle, "%s", extras->throttle);
}

static enum xst_status on_row(void *user, const struct xst_measure_row *row, struct xst_diag *diag)
{
    struct watch *const watch = user;
    read_state(watch->readings, &row->extras, row->index + 1 > watch->seen);
    watch->seen = row->index + 1;
    if (watch->terminal)
        fprintf(stderr, "\rxstage %s: cell %zu of %zu, about %.0f s left   ", watch->cli->command->name, row->index + 1,
                row->count, row->seconds_left);
    return watch->rows.row(watch->rows.user, row, diag);
}

static int on_question(void *user)
{
    (void)user;
    return stop_asked;
}

static double now_s(void)
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return (double)now.tv_sec + (double)now.tv_usec * 1e-6;
}

enum xst_status cli_measure(struct cli *cli, struct xst_machine *machine, const struct xst_measure_request *requests,
                            size_t count, const struct xst_measure_options *options, struct xst_samples *samples,
                            struct cli_readings *readings)
{
    const struct itimerval no_alarm = {{0, 0}, {0, 0}};
    struct watch watch = {.cli = cli,
                          .rows = xst_measure_sink_samples(samples),
                          .readings = readings,
                          .terminal = !cli->quiet && isatty(STDERR_FILENO) == 1};
    const struct xst_measure_sink sink = {.user = &watch, .row = on_row, .stop = on_question};
    const struct sigaction action = {.sa_handler = on_stop};
    struct xst_measure_options bounded = *options;
    bounded.timeout_us = cli_real(cli, "timeout") * 1e6;
    setitimer(ITIMER_REAL, &no_alarm, NULL); /* the measurement keeps its own time, and the rows with it */
    /* They stay: a second Ctrl-C must not take the rows that are about to be written. */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    const double start_s = now_s();
    const enum xst_status status = xst_machine_measure(machine, requests, count, &bounded, &sink, &cli->diag);
    readings->seconds += now_s() - start_s;
    if (watch.terminal)
        fputs("\r\033[K", stderr);
    return status;
}

/* A zero-gap burst of all producers: near enough to R to place the gaps. */
static enum xst_status probe_drain(struct cli *cli, struct xst_machine *machine, enum xst_target target,
                                   int64_t sm_count, double *drain_out)
{
    const struct xst_measure_request request = xst_plan_drain_probe(target, sm_count);
    const struct xst_measure_options options = {.verify = 1};
    struct xst_samples samples = {0};
    struct cli_readings readings = {0};
    const enum xst_status status = cli_measure(cli, machine, &request, 1, &options, &samples, &readings);
    if (status == XST_OK && samples.rows[0].total_us > 0)
        *drain_out = (double)samples.rows[0].bursts * (double)samples.rows[0].producers *
                     (double)samples.rows[0].bytes_per_producer / samples.rows[0].total_us;
    xst_samples_free(&samples);
    return status;
}

/* Cells this machine cannot answer (bystanders on a synthetic machine without Q_free) are left out and counted. */
static size_t keep_possible(const struct xst_machine *machine, struct xst_measure_request *requests, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (xst_machine_check(machine, &requests[i], NULL) == XST_OK)
            requests[kept++] = requests[i];
    return kept;
}

enum xst_status cli_measure_calibration(struct cli *cli, struct xst_machine *machine, struct xst_samples *samples,
                                        struct cli_readings *readings)
{
    static const enum xst_target targets[] = {XST_TARGET_PEER, XST_TARGET_HOST};
    const struct xst_measure_options options = {.verify = 1};
    const struct xst_machine_facts *const facts = xst_machine_facts(machine);
    const int64_t sm_count = facts->sm_count.known ? (int64_t)facts->sm_count.value : 132;
    enum xst_status status = XST_OK;
    for (size_t t = 0; t < 2 && status == XST_OK; t++) {
        struct xst_measure_request *requests = NULL;
        size_t count = 0;
        double drain = 0;
        if (!xst_machine_has_target(machine, targets[t]))
            continue;
        status = probe_drain(cli, machine, targets[t], sm_count, &drain);
        if (status == XST_OK)
            status = xst_plan_calibration(targets[t], sm_count, drain, &requests, &count, &cli->diag);
        if (status != XST_OK)
            break;
        const size_t kept = keep_possible(machine, requests, count);
        if (kept < count)
            cli_note(cli, "%zu of %zu cells of the plan are left out: this machine cannot answer them", count - kept,
                     count);
        status = cli_measure(cli, machine, requests, kept, &options, samples, readings);
        free(requests);
    }
    return status;
}

static void set_measure(json_t *object, const char *key, const struct xst_measure *measure)
{
    if (measure->known)
        json_object_set_new(object, key, json_real(measure->value));
}

json_t *cli_facts_json(const struct xst_machine_facts *facts, const struct cli_readings *readings)
{
    json_t *const object = json_object();
    json_object_set_new(object, "machine", cli_string(facts->machine));
    json_object_set_new(object, "device", cli_string(facts->device));
    json_object_set_new(object, "driver", cli_string(facts->driver));
    json_object_set_new(object, "cuda", cli_string(facts->cuda));
    json_object_set_new(object, "date", cli_string(facts->date));
    json_object_set_new(object, "origin", cli_string(facts->origin));
    if (facts->note[0])
        json_object_set_new(object, "note", cli_string(facts->note));
    set_measure(object, "sm_count", &facts->sm_count);
    set_measure(object, "sm_clock_ghz", &facts->sm_clock_ghz);
    set_measure(object, "l2_bytes", &facts->l2_bytes);
    set_measure(object, "memory_gib", &facts->memory_gib);
    set_measure(object, "links_per_gpu", &facts->links_per_gpu);
    set_measure(object, "link_gb_per_s", &facts->link_gb_per_s);
    json_t *const state = json_object();
    json_object_set_new(state, "cells", json_integer(readings->cells));
    json_object_set_new(state, "imprecise_cells", json_integer(readings->imprecise));
    json_object_set_new(state, "verified_bytes", json_real(readings->verified_bytes));
    json_object_set_new(state, "sm_clock_ghz_low",
                        readings->sm_clock_ghz_low > 0 ? json_real(readings->sm_clock_ghz_low) : json_null());
    json_object_set_new(state, "sm_clock_ghz_high",
                        readings->sm_clock_ghz_high > 0 ? json_real(readings->sm_clock_ghz_high) : json_null());
    json_object_set_new(state, "throttle", json_string(readings->throttle));
    json_object_set_new(state, "seconds", json_real(readings->seconds));
    json_object_set_new(object, "readings", state);
    return object;
}

static enum xst_status write_facts(struct cli *cli, const char *path, const struct xst_machine_facts *facts,
                                   const struct cli_readings *readings)
{
    json_t *const object = cli_facts_json(facts, readings);
    const enum xst_status status = cli_write_json(cli, path, object);
    json_decref(object);
    return status;
}

enum xst_status cli_measure_check(struct cli *cli, const char *stem)
{
    static const char *const suffixes[] = {".csv", "-bystander.csv", "-loop.csv", "-per-producer.csv", ".json"};
    char path[PATH_MAX];
    enum xst_status status = XST_OK;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes && status == XST_OK; i++) {
        snprintf(path, sizeof path, "%s%s", stem, suffixes[i]);
        status = xst_text_check(path, cli->force, &cli->diag);
    }
    return status;
}

enum xst_status cli_measure_write(struct cli *cli, const char *stem, const struct xst_samples *samples,
                                  const struct xst_machine_facts *facts, const struct cli_readings *readings)
{
    const struct {
        const char *suffix;
        size_t count;
        enum xst_status (*write)(const char *path, const struct xst_samples *samples, int force, struct xst_diag *diag);
    } kinds[] = {
        {".csv", samples->row_count, xst_samples_write},
        {"-bystander.csv", samples->bystander_count, xst_samples_write_bystanders},
        {"-loop.csv", samples->loop_count, xst_samples_write_loops},
        {"-per-producer.csv", samples->producer_count, xst_samples_write_producers},
    };
    char path[PATH_MAX];
    enum xst_status status = XST_OK;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && status == XST_OK; k++) {
        snprintf(path, sizeof path, "%s%s", stem, kinds[k].suffix);
        if (kinds[k].count > 0)
            status = kinds[k].write(path, samples, cli->force, &cli->diag);
    }
    snprintf(path, sizeof path, "%s.json", stem);
    return status == XST_OK ? write_facts(cli, path, facts, readings) : status;
}
