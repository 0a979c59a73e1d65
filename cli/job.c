/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"

int64_t cli_job_rank(const struct cli *cli)
{
    return cli->job ? cli->job->ranks.rank : 0;
}

int64_t cli_job_ranks(const struct cli *cli)
{
    return cli->job ? cli->job->ranks.ranks : 1;
}

struct xst_group cli_job_group(const struct cli *cli)
{
    const struct xst_group alone = {.rank = 0, .ranks = 1};
    return cli->job && cli->job->rendezvous ? *xst_rendezvous_group(cli->job->rendezvous) : alone;
}

enum xst_status cli_job_check(struct cli *cli)
{
    return cli->job && cli->job->rendezvous ? xst_rendezvous_check(cli->job->rendezvous, &cli->diag) : XST_OK;
}

int cli_job_tell(struct cli *cli, enum xst_status status, const char *text)
{
    struct cli_job *const job = cli->job;
    if (!job || job->ranks.rank == 0)
        return 0;
    if (!job->rendezvous)
        return job->told;
    if (!job->agreed)
        xst_rendezvous_abort(job->rendezvous, status, text);
    return job->agreed || xst_rendezvous_told(job->rendezvous);
}

void cli_job_agreed(struct cli *cli, enum xst_status status)
{
    if (cli->job && status != XST_OK)
        cli->job->agreed = 1;
}

void cli_job_shared(struct cli *cli, enum xst_status status)
{
    if (cli->job && cli->job->rendezvous && !xst_rendezvous_ended(cli->job->rendezvous))
        cli_job_agreed(cli, status);
}

/* The words that may differ: which process one is. */
static int is_own_word(const char *word, int *skip_out)
{
    *skip_out = strcmp(word, "--rank") == 0;
    return *skip_out || strncmp(word, "--rank=", 7) == 0;
}

/* Processes that were started with different words would wait for each other in different places. */
static enum xst_status check_words(struct cli *cli, const struct xst_group *group)
{
    char what[32], count[32];
    const char **const words = calloc((size_t)cli->argc + 1, sizeof *words);
    int word_count = 0, skip = 0;
    if (!words)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (int i = 1; i < cli->argc; i++) {
        if (!is_own_word(cli->argv[i], &skip))
            words[word_count++] = cli->argv[i];
        i += skip;
    }
    snprintf(count, sizeof count, "%d", word_count);
    enum xst_status status = xst_group_same(group, "versions of xstage", xst_version(), &cli->diag);
    if (status == XST_OK)
        status = xst_group_same(group, "counts of arguments", count, &cli->diag);
    for (int i = 0; i < word_count && status == XST_OK; i++) {
        snprintf(what, sizeof what, "arguments number %d", i + 1);
        status = xst_group_same(group, what, words[i], &cli->diag);
    }
    free(words);
    return status;
}

/* Only rank 0 has something to say on standard output. */
static enum xst_status be_silent(struct cli *cli)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0)
        return cli_say(&cli->diag, XST_ERR_IO, "/dev/null: cannot open");
    close(nowhere);
    cli->quiet = 1;
    return XST_OK;
}

static enum xst_status meet(struct cli *cli, struct cli_job *job)
{
    /* With --timeout the others have come before it runs out, so that it is said who is missing. A sweep may take hours, and
     * the dead are noticed without any limit: without --timeout a day is only for those that stand still. */
    const double day_s = 86400, limit_s = cli_real(cli, "timeout"), join_s = 0.8 * limit_s;
    const struct xst_rendezvous_options options = {.where = job->ranks.rendezvous,
                                                   .job = job->ranks.job,
                                                   .rank = job->ranks.rank,
                                                   .ranks = job->ranks.ranks,
                                                   .join_seconds = join_s > 0 && join_s < 60 ? join_s : 60,
                                                   .gather_seconds = limit_s > 0 ? limit_s : day_s,
                                                   .told_out = &job->told};
    enum xst_status status = xst_rendezvous_open(&options, &job->rendezvous, &cli->diag);
    if (status != XST_OK && job->ranks.launcher[0])
        cli_hint(cli, "this is process %lld of %lld by %s; --processes 1 makes it stand alone",
                 (long long)job->ranks.rank, (long long)job->ranks.ranks, job->ranks.launcher);
    if (status != XST_OK)
        return status;
    const struct xst_group group = cli_job_group(cli);
    status = job->ranks.rank > 0 ? be_silent(cli) : XST_OK;
    status = xst_group_agree(&group, status, &cli->diag);
    return status == XST_OK ? check_words(cli, &group) : status;
}

enum xst_status cli_job_begin(struct cli *cli, struct cli_job *job)
{
    const struct xst_ranks_asked asked = {.rank = cli_has(cli, "rank") ? cli_int(cli, "rank") : -1,
                                          .ranks = cli_has(cli, "processes") ? cli_int(cli, "processes") : -1,
                                          .rendezvous = cli_text(cli, "rendezvous")};
    *job = (struct cli_job){.ranks = {.rank = 0, .ranks = 1}};
    cli->job = job;
    enum xst_status status = xst_ranks_find(&asked, &job->ranks, &cli->diag);
    if (status != XST_OK)
        cli_hint(cli, "--processes 1 makes this process stand alone");
    if (status == XST_OK && job->ranks.ranks > 1)
        status = meet(cli, job);
    cli_job_shared(cli, status);
    return status;
}

/* The status that gives this exit code. */
static enum xst_status status_of(const struct cli *cli, int code)
{
    if (cli->diag.status != XST_OK && (int)cli_exit_of(cli->diag.status) == code)
        return cli->diag.status;
    return code == CLI_USAGE ? XST_ERR_USAGE : code == CLI_UNAVAILABLE ? XST_ERR_UNAVAILABLE : XST_ERR_DEVICE;
}

int cli_job_end(struct cli *cli, int code)
{
    struct cli_job *const job = cli->job;
    int codes[XST_GROUP_MOST_RANKS] = {0};
    if (!job || !job->rendezvous)
        return code;
    const struct xst_group group = cli_job_group(cli);
    if (code == CLI_GOOD || code == CLI_NO) {
        const enum xst_status status = xst_group_gather(&group, &code, sizeof code, codes, &cli->diag);
        code = status == XST_OK ? codes[0] : cli_fail(cli, status);
    } else if (!job->agreed) {
        /* The others wait for how this one ends. */
        xst_rendezvous_abort(job->rendezvous, status_of(cli, code), cli->diag.text[0] ? cli->diag.text : "it failed");
    }
    xst_rendezvous_close(job->rendezvous);
    job->rendezvous = NULL;
    return code;
}
