/* SPDX-License-Identifier: Apache-2.0
 *
 * group.h - the processes of a job: which of them am I, and how do all of them exchange a few bytes.
 *
 * A *group* is one collective function, an all-gather, with its context. Whoever has one supplies it: MPI, torch.distributed, a
 * test. Where there is none, a *rendezvous* makes one for the processes that a launcher started, over a socket:
 *
 *   local:              of this machine, named after user and job; no file
 *   file:DIR            of this machine, a file in DIR
 *   tcp://HOST:PORT     an empty host is 127.0.0.1
 *
 * Nothing of it is encrypted. The first two let nobody in but the same user; TCP lets in whoever reaches the port and knows the
 * job's name: it is meant for loopback, or for a network that only the job's owner uses.
 */
#ifndef XSTAGE_GROUP_H
#define XSTAGE_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { XST_GROUP_TEXT_BYTES = 256, XST_GROUP_MOST_RANKS = 1024, XST_GROUP_MOST_BYTES = 256 << 20 };

/* What every collective call of the library is given. */
struct xst_group {
    int64_t rank;
    int64_t ranks;
    /* Each rank gives `bytes` bytes at `mine`, as many as every other rank, and gets `ranks * bytes` at `all_out` in order of
     * rank. All ranks call it equally often and in the same order. XST_OK, or an error with its sentence in `diag` (may be
     * NULL) within a bounded time; after an error the group is of no more use. NULL is fine where ranks is 1. */
    enum xst_status (*gather)(void *context, const void *mine, size_t bytes, void *all_out, struct xst_diag *diag);
    void *context;
};

/* The group's all-gather; alone, the copy it amounts to. XST_ERR_RANGE above XST_GROUP_MOST_BYTES in all. */
enum xst_status xst_group_gather(const struct xst_group *group, const void *mine, size_t bytes, void *all_out,
                                 struct xst_diag *diag);

/* All ranks are here. */
enum xst_status xst_group_barrier(const struct xst_group *group, struct xst_diag *diag);

/* Every rank says how it fared; all get XST_OK when all did well, else the status and the sentence of the lowest rank that did
 * not ("rank 2: ..."). `mine` and `diag` are this rank's own outcome; diag receives the common one. */
enum xst_status xst_group_agree(const struct xst_group *group, enum xst_status mine, struct xst_diag *diag);

/* XST_ERR_USAGE on all ranks, with both texts, unless all gave the same `text`; `what` says what the text is. */
enum xst_status xst_group_same(const struct xst_group *group, const char *what, const char *text,
                               struct xst_diag *diag);

/* Who a process is. */
struct xst_ranks {
    int64_t rank;
    int64_t ranks;
    int64_t local_rank;                    /* among the job's processes on this machine; -1 not known */
    char launcher[32];                     /* "torchrun", "Open MPI", "MPICH", "Slurm", "options"; "" alone */
    char rendezvous[XST_GROUP_TEXT_BYTES]; /* where the job meets unless told otherwise; "" alone */
    char job[XST_GROUP_TEXT_BYTES];        /* what tells this job from others */
};

/* What a person said. -1 and NULL: nothing. */
struct xst_ranks_asked {
    int64_t rank;
    int64_t ranks;
    const char *rendezvous;
};

/* Reads what the launchers leave in the environment; what was asked wins over it (`asked` may be NULL).
 *
 *   torchrun            RANK, WORLD_SIZE, LOCAL_RANK
 *   Open MPI            OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_RANK
 *   MPICH, Intel MPI    PMI_RANK, PMI_SIZE, MPI_LOCALRANKID
 *   Slurm               SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID
 *
 * The first in this order that is there decides; Slurm is often around the others. Half a pair, a number that is none, a rank
 * that is not below the count, and two launchers that give the same count and different ranks are XST_ERR_USAGE. With none of
 * them, rank 0 of 1. */
enum xst_status xst_ranks_find(const struct xst_ranks_asked *asked, struct xst_ranks *ranks_out, struct xst_diag *diag);

/* A meeting of all ranks. One thread at a time may use it; several may each hold a rank of their own. */
struct xst_rendezvous;

struct xst_rendezvous_options {
    const char *where; /* "local:", "file:DIR" or "tcp://HOST:PORT"; rank 0 listens there */
    const char *job;   /* the same on all ranks; processes of another job are turned away. NULL: "" */
    int64_t rank;
    int64_t ranks;
    double join_seconds;   /* until all are there; 0: 60 */
    double gather_seconds; /* until all have come to an exchange; 0: 600 */
    int *told_out;         /* may be NULL; 1 when opening failed for a reason that rank 0 has too */
};

/* Meets the others. What can go wrong is one sentence: nobody there within the time, two processes of the same rank, different
 * counts, another job or another version of the protocol. A socket file is gone once all are there; one left by a job that
 * crashed is replaced, one of a job that lives is XST_ERR_EXISTS. */
enum xst_status xst_rendezvous_open(const struct xst_rendezvous_options *options,
                                    struct xst_rendezvous **rendezvous_out, struct xst_diag *diag);

/* The all-gather of this meeting. A rank that dies, leaves or sends another number of bytes ends it on all ranks, with the
 * reason. Valid until the rendezvous is closed. */
const struct xst_group *xst_rendezvous_group(const struct xst_rendezvous *rendezvous);

/* Between exchanges: has one of the others ended the job? XST_OK when not; never waits. */
enum xst_status xst_rendezvous_check(struct xst_rendezvous *rendezvous, struct xst_diag *diag);

/* 1 when rank 0 knows why this job ended (it told us, or we it): then it is rank 0 that has to say so. */
int xst_rendezvous_told(const struct xst_rendezvous *rendezvous);

/* 1 when nothing can be exchanged any more. */
int xst_rendezvous_ended(const struct xst_rendezvous *rendezvous);

/* Ends the job on all ranks, with this rank's reason. */
void xst_rendezvous_abort(struct xst_rendezvous *rendezvous, enum xst_status status, const char *reason);

/* Leaves. Ranks that still wait for this one are told. NULL is fine. */
void xst_rendezvous_close(struct xst_rendezvous *rendezvous);

#ifdef __cplusplus
}
#endif

#endif
