/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate_sweep.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "job.h"
#include "options.h"
#include "simulate_args.h"

/* The command line of one point. It shares the original's memory and is not freed. */
static struct cli point_line(const struct cli *cli, const struct sweep *sweep, size_t point)
{
    struct cli line = *cli;
    for (size_t a = 0; a < sweep->axis_count; a++) {
        const struct sweep_axis *const axis = &sweep->axes[a];
        const size_t index = cli_axis_index(sweep, point, a);
        for (size_t i = 0; i < line.value_count; i++) {
            struct cli_value_of_option *const value = &line.values[i];
            if (value->option != axis->option)
                continue;
            value->given = 1;
            value->text = axis->text ? axis->words[index] : axis->column;
            value->number = axis->text ? 0 : axis->numbers.values[index];
        }
    }
    return line;
}

static void keep(const struct simulation *simulation, struct sweep_outcome *outcome)
{
    const struct xst_timeline_result *const result = &simulation->result;
    const int leads = simulation->kind == SIMULATION_MOE && simulation->moe_plan.schedule == XST_SCHEDULE_INTERLEAVED;
    outcome->done = 1;
    outcome->ranks = result->rank_count;
    outcome->lead_tiles = leads ? simulation->moe.lead : 0;
    outcome->tiles = result->tiles;
    outcome->bursts = result->bursts;
    outcome->makespan_us = result->makespan_us;
    outcome->sender_us = result->sender_us;
    outcome->free_us = result->free_us;
    outcome->exposed_us = result->exposed_us;
    outcome->issue_us = result->issue_us;
    outcome->issue_max_us = result->issue_max_us;
    outcome->backlog_peak_bytes = result->backlog_peak_bytes;
    outcome->sent_bytes = result->sent_bytes;
}

static enum xst_status run_point(const struct cli *cli, const struct xst_profile *profile, const struct sweep *sweep,
                                 size_t point, struct sweep_outcome *outcome)
{
    struct cli *const line = malloc(sizeof *line);
    struct simulation simulation = {0};
    memset(outcome, 0, sizeof *outcome);
    if (!line)
        return outcome->status = XST_ERR_MEMORY;
    *line = point_line(cli, sweep, point);
    line->diag.text[0] = '\0';
    const enum xst_status status = cli_simulate(line, profile, &simulation);
    outcome->status = (int32_t)status;
    outcome->stuck = status == XST_ERR_TIMEOUT && strncmp(line->diag.text, "no progress", 11) == 0;
    if (status == XST_OK)
        keep(&simulation, outcome);
    else
        memcpy(outcome->reason, line->diag.text, strnlen(line->diag.text, sizeof outcome->reason - 1));
    cli_simulation_free(&simulation);
    free(line);
    return outcome->stuck ? XST_OK : status;
}

/* This process's points: every ranks-th one. It stops at its first error; that of the lowest point is the one reported, so
 * that any number of processes says the same. */
static enum xst_status run_share(struct cli *cli, const struct xst_profile *profile, const struct sweep *sweep,
                                 struct sweep_outcome *share)
{
    const size_t rank = (size_t)cli_job_rank(cli), ranks = (size_t)cli_job_ranks(cli);
    const int terminal = !cli->quiet && isatty(STDERR_FILENO) == 1;
    enum xst_status status = XST_OK;
    for (size_t point = rank; point < sweep->point_count && status == XST_OK; point += ranks) {
        if (terminal)
            fprintf(stderr, "\rxstage simulate: point %zu of %zu ", point + 1, sweep->point_count);
        if (run_point(cli, profile, sweep, point, &share[point / ranks]) != XST_OK)
            break;
        status = cli_job_check(cli);
    }
    if (terminal)
        fputs("\r\033[K", stderr);
    return status;
}

static enum xst_status run_all(struct cli *cli, const struct xst_profile *profile, struct sweep *sweep)
{
    const struct xst_group group = cli_job_group(cli);
    const size_t ranks = (size_t)group.ranks, each = (sweep->point_count + ranks - 1) / ranks;
    struct sweep_outcome *const share = calloc(each, sizeof *share), *const all = calloc(each * ranks, sizeof *all);
    sweep->outcomes = calloc(each * ranks, sizeof *sweep->outcomes);
    enum xst_status status = XST_OK;
    if (!share || !all || !sweep->outcomes)
        status = cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    if (status == XST_OK)
        status = run_share(cli, profile, sweep, share);
    if (status == XST_OK)
        status = xst_group_gather(&group, share, each * sizeof *share, all, &cli->diag);
    for (size_t point = 0; status == XST_OK && point < sweep->point_count; point++) {
        sweep->outcomes[point] = all[point % ranks * each + point / ranks];
        sweep->outcomes[point].reason[CLI_REASON_BYTES - 1] = '\0';
    }
    free(share);
    free(all);
    return status;
}

/* The first point that failed, if any; every process finds the same. */
static enum xst_status find_failure(struct cli *cli, const struct sweep *sweep)
{
    char text[256];
    for (size_t point = 0; point < sweep->point_count; point++) {
        const struct sweep_outcome *const outcome = &sweep->outcomes[point];
        if (outcome->status != XST_OK && !outcome->stuck)
            return cli_say(&cli->diag, (enum xst_status)outcome->status, "%s: %s",
                           cli_axes_text(sweep, point, text, sizeof text), outcome->reason);
    }
    return XST_OK;
}

static void sweep_free(struct sweep *sweep)
{
    cli_axes_free(sweep);
    free(sweep->outcomes);
    free(sweep->rows);
}

int cli_simulate_sweep(struct cli *cli, const struct xst_profile *profile)
{
    struct sweep sweep = {0};
    int code = CLI_GOOD;
    enum xst_status status = XST_OK;
    if (cli_has(cli, "trace") || cli_has(cli, "svg"))
        status = cli_say(&cli->diag, XST_ERR_USAGE, "--trace and --svg show one simulation; --vary makes many");
    /* Every point, of every process, reads its kernel. */
    if (status == XST_OK &&
        (strcmp(cli->args[0], "-") == 0 || (cli_has(cli, "counts") && strcmp(cli_text(cli, "counts"), "-") == 0)))
        status =
            cli_say(&cli->diag, XST_ERR_USAGE, "--vary reads its input once a point: name a file, not standard input");
    if (status == XST_OK)
        status = cli_axes_parse(cli, &sweep);
    if (status == XST_OK)
        status = run_all(cli, profile, &sweep);
    if (status == XST_OK) {
        status = find_failure(cli, &sweep);
        if (status == XST_ERR_NO_DATA)
            cli_hint(cli, "--extrapolate reads the profile outside its range; other profiles: `xstage list profiles`");
        cli_job_agreed(cli, status);
    }
    if (status != XST_OK)
        code = cli_fail(cli, status);
    else if (cli_job_rank(cli) == 0)
        code = cli_sweep_show(cli, profile, &sweep);
    sweep_free(&sweep);
    return code;
}
