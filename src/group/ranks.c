/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this process is, read off what launchers leave in the environment.
 */
#include <xstage/group.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/text.h"

enum { MOST_IDS = 4 };

/* One launcher's variables. `ids` name what all processes of a job share and other jobs do not. */
struct launcher {
    const char *name;
    const char *rank;
    const char *ranks;
    const char *local_rank;
    int outer; /* often around another launcher, so its numbers may differ from that one's */
    const char *ids[MOST_IDS];
};

/* Innermost first: the launcher that started this very process decides. */
static const struct launcher launchers[] = {
    {"torchrun",
     "RANK",
     "WORLD_SIZE",
     "LOCAL_RANK",
     0,
     {"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}},
    {"Open MPI",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     0,
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri", NULL}},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", 0, {"PMI_JOBID", NULL}},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", 1, {"SLURM_JOB_ID", "SLURM_STEP_ID", NULL}},
};
enum { LAUNCHERS = sizeof launchers / sizeof launchers[0] };

/* "" when not set. */
static const char *text_of(const char *name)
{
    const char *const text = getenv(name);
    return text ? text : "";
}

static int is_set(const char *name)
{
    return text_of(name)[0] != '\0';
}

static enum xst_status read_count(const char *name, int64_t low, int64_t *value_out, struct xst_diag *diag)
{
    const char *const text = text_of(name);
    char quoted[XSTI_QUOTE_BYTES];
    int64_t value = 0;
    const enum xsti_number number = xsti_parse_int(text, strlen(text), &value);
    if (number != XSTI_NUMBER_OK)
        return xsti_fail(diag, XST_ERR_USAGE, "environment: %s is %s, which %s", name,
                         xsti_quote(text, strlen(text), quoted), xsti_number_complaint(number));
    if (value < low || value > XST_GROUP_MOST_RANKS)
        return xsti_fail(diag, XST_ERR_USAGE, "environment: %s is %lld, outside %lld..%d", name, (long long)value,
                         (long long)low, XST_GROUP_MOST_RANKS);
    *value_out = value;
    return XST_OK;
}

/* sbatch runs its script once, with the numbers of a task; only what srun starts in it is one of several. */
static int is_batch_script(void)
{
    return strcmp(text_of("ENVIRONMENT"), "BATCH") == 0 && !is_set("SLURM_STEP_NUM_TASKS");
}

static int is_there(const struct launcher *launcher)
{
    if (!is_set(launcher->rank) && !is_set(launcher->ranks))
        return 0;
    /* A Slurm allocation without a step has a count and no rank. */
    return !launcher->outer || (is_set(launcher->rank) && is_set(launcher->ranks) && !is_batch_script());
}

static enum xst_status read_launcher(const struct launcher *launcher, struct xst_ranks *ranks_out,
                                     struct xst_diag *diag)
{
    struct xst_ranks found = {.rank = 0, .ranks = 1, .local_rank = -1};
    if (!is_set(launcher->rank) || !is_set(launcher->ranks)) {
        const int has_rank = is_set(launcher->rank);
        return xsti_fail(diag, XST_ERR_USAGE, "environment: %s is set and %s is not; %s sets both",
                         has_rank ? launcher->rank : launcher->ranks, has_rank ? launcher->ranks : launcher->rank,
                         launcher->name);
    }
    XSTI_TRY(read_count(launcher->ranks, 1, &found.ranks, diag));
    XSTI_TRY(read_count(launcher->rank, 0, &found.rank, diag));
    if (found.rank >= found.ranks)
        return xsti_fail(diag, XST_ERR_USAGE, "environment: %s is %lld and %s is %lld; a rank is below the count",
                         launcher->rank, (long long)found.rank, launcher->ranks, (long long)found.ranks);
    if (is_set(launcher->local_rank)) {
        XSTI_TRY(read_count(launcher->local_rank, 0, &found.local_rank, diag));
        if (found.local_rank >= found.ranks)
            return xsti_fail(diag, XST_ERR_USAGE,
                             "environment: %s is %lld and %s is %lld; a local rank is below the count",
                             launcher->local_rank, (long long)found.local_rank, launcher->ranks,
                             (long long)found.ranks);
    }
    snprintf(found.launcher, sizeof found.launcher, "%s", launcher->name);
    *ranks_out = found;
    return XST_OK;
}

/* Two launchers that count alike and number differently: one of them is not this process's. */
static enum xst_status check_others(size_t chosen, const struct xst_ranks *ranks, struct xst_diag *diag)
{
    for (size_t i = chosen + 1; i < LAUNCHERS; i++) {
        struct xst_ranks other;
        if (launchers[i].outer || !is_there(&launchers[i]))
            continue;
        XSTI_TRY(read_launcher(&launchers[i], &other, diag));
        if (other.ranks == ranks->ranks && other.rank != ranks->rank)
            return xsti_fail(diag, XST_ERR_USAGE,
                             "environment: %s is %lld (%s) and %s is %lld (%s), of %lld ranks each: unset one of them",
                             launchers[chosen].rank, (long long)ranks->rank, ranks->launcher, launchers[i].rank,
                             (long long)other.rank, other.launcher, (long long)ranks->ranks);
    }
    return XST_OK;
}

static void append(char *text, size_t bytes, const char *part)
{
    const size_t at = strlen(text);
    snprintf(text + at, bytes - at, "%s%s", at ? "/" : "", part);
}

/* What tells this job from others on this machine: the launcher's own names, else the session all its processes are in (the
 * parent would not do: a shell may stand between it and each of them). Where a person named the place to meet, that place is
 * the name. */
static void name_job(const struct launcher *launcher, int placed, struct xst_ranks *ranks)
{
    char session[32];
    int named = 0;
    snprintf(ranks->job, sizeof ranks->job, "%s", ranks->launcher);
    for (size_t i = 0; launcher && i < MOST_IDS && launcher->ids[i]; i++) {
        if (is_set(launcher->ids[i])) {
            append(ranks->job, sizeof ranks->job, text_of(launcher->ids[i]));
            named = 1;
        }
    }
    if (named || placed)
        return;
    snprintf(session, sizeof session, "session %ld", (long)getsid(0));
    append(ranks->job, sizeof ranks->job, session);
}

static enum xst_status use_asked(const struct xst_ranks_asked *asked, struct xst_ranks *ranks, struct xst_diag *diag)
{
    const int has_rank = asked->rank >= 0, has_ranks = asked->ranks >= 0;
    if (asked->ranks == 0 || asked->ranks > XST_GROUP_MOST_RANKS)
        return xsti_fail(diag, XST_ERR_USAGE, "%lld processes were asked for; a job has 1..%d", (long long)asked->ranks,
                         XST_GROUP_MOST_RANKS);
    if (has_ranks && !has_rank && asked->ranks > 1)
        return xsti_fail(diag, XST_ERR_USAGE, "%lld processes were asked for, and not which of them this one is",
                         (long long)asked->ranks);
    if (has_rank && !has_ranks && ranks->ranks == 1 && asked->rank > 0)
        return xsti_fail(diag, XST_ERR_USAGE, "rank %lld was asked for, and not of how many processes",
                         (long long)asked->rank);
    const int64_t count = has_ranks ? asked->ranks : ranks->ranks;
    const int64_t rank = has_rank ? asked->rank : 0;
    if (rank >= count)
        return xsti_fail(diag, XST_ERR_USAGE, "rank %lld of %lld processes was asked for; a rank is below the count",
                         (long long)rank, (long long)count);
    *ranks = (struct xst_ranks){.rank = rank, .ranks = count, .local_rank = -1, .launcher = "options"};
    return XST_OK;
}

enum xst_status xst_ranks_find(const struct xst_ranks_asked *asked, struct xst_ranks *ranks_out, struct xst_diag *diag)
{
    struct xst_ranks ranks = {.rank = 0, .ranks = 1, .local_rank = -1};
    const struct launcher *launcher = NULL;
    const int by_hand = asked && (asked->rank >= 0 || asked->ranks >= 0);
    /* All said: what launchers left is not even looked at, so that they can be overruled when they are wrong. */
    const int whole = by_hand && asked->ranks >= 0 && (asked->rank >= 0 || asked->ranks == 1);
    for (size_t i = 0; !whole && !launcher && i < LAUNCHERS; i++) {
        if (!is_there(&launchers[i]))
            continue;
        XSTI_TRY(read_launcher(&launchers[i], &ranks, diag));
        XSTI_TRY(check_others(i, &ranks, diag));
        launcher = &launchers[i];
    }
    if (by_hand)
        XSTI_TRY(use_asked(asked, &ranks, diag));
    if (ranks.ranks > 1) {
        name_job(by_hand ? NULL : launcher, asked && asked->rendezvous, &ranks);
        snprintf(ranks.rendezvous, sizeof ranks.rendezvous, "local:");
    }
    if (ranks.ranks > 1 && asked && asked->rendezvous) {
        if (strlen(asked->rendezvous) >= sizeof ranks.rendezvous)
            return xsti_fail(diag, XST_ERR_USAGE, "the rendezvous has %zu bytes, more than %d",
                             strlen(asked->rendezvous), XST_GROUP_TEXT_BYTES - 1);
        snprintf(ranks.rendezvous, sizeof ranks.rendezvous, "%s", asked->rendezvous);
    }
    *ranks_out = ranks;
    return XST_OK;
}
