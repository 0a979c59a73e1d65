/* SPDX-License-Identifier: Apache-2.0
 *
 * job.h - a command run by several processes at once (mpirun, torchrun, srun): they meet, check that they were started alike,
 * and end alike. Rank 0 prints and writes files; the others speak only when rank 0 cannot.
 */
#ifndef XST_CLI_JOB_H
#define XST_CLI_JOB_H

#include <xstage/group.h>

#include "cli.h"

/* In the option table of a command that takes part in jobs. */
#define CLI_JOB_OPTIONS                                                                                                \
    {.name = "rank",                                                                                                   \
     .kind = CLI_INT,                                                                                                  \
     .arg = "R",                                                                                                       \
     .low = 0,                                                                                                         \
     .high = XST_GROUP_MOST_RANKS - 1,                                                                                 \
     .help = "which process of the job this one is; default: what mpirun, torchrun or srun say"},                      \
        {.name = "processes",                                                                                          \
         .kind = CLI_INT,                                                                                              \
         .arg = "N",                                                                                                   \
         .low = 1,                                                                                                     \
         .high = XST_GROUP_MOST_RANKS,                                                                                 \
         .help = "how many processes the job has; 1: this one stands alone"},                                          \
    {                                                                                                                  \
        .name = "rendezvous", .kind = CLI_TEXT, .arg = "WHERE",                                                        \
        .help = "where the processes meet: local:, file:DIR or tcp://HOST:PORT (not encrypted); default local:"        \
    }

struct cli_job {
    struct xst_ranks ranks;
    struct xst_rendezvous *rendezvous; /* NULL: alone */
    int told;                          /* rank 0 has the reason why there is no rendezvous */
    int agreed;                        /* all ranks hold the same reason why the job ends */
};

/* Finds out who we are and meets the others. XST_OK with cli->job set, ranks 1 when alone; else the reason in cli->diag. */
enum xst_status cli_job_begin(struct cli *cli, struct cli_job *job);

/* Leaves. All ranks return rank 0's exit code when all did well, else each an exit code of its own failure or the job's. */
int cli_job_end(struct cli *cli, int code);

/* This process's rank and their number; 0 and 1 alone, also for commands that take part in no job. */
int64_t cli_job_rank(const struct cli *cli);
int64_t cli_job_ranks(const struct cli *cli);

/* The group of the job, for collective calls. */
struct xst_group cli_job_group(const struct cli *cli);

/* Long work asks now and then: did another rank end the job? Never waits. */
enum xst_status cli_job_check(struct cli *cli);

/* All ranks have come to the same `status` with the same sentence: rank 0 says it for all. */
void cli_job_agreed(struct cli *cli, enum xst_status status);

/* The same for a `status` out of an exchange, which is everybody's unless the exchange itself failed. */
void cli_job_shared(struct cli *cli, enum xst_status status);

/* Before this process complains: 1 when rank 0 does it, because it has the reason too, or was just told. */
int cli_job_tell(struct cli *cli, enum xst_status status, const char *text);

#endif
