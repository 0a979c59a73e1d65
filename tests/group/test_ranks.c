/* SPDX-License-Identifier: Apache-2.0
 *
 * Who a process is: every launcher's variables, what wins, and what makes no sense.
 */
#include "support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xstage/group.h>

static const char *const all_names[] = {
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "PMIX_NAMESPACE",
    "OMPI_MCA_ess_base_jobid",
    "OMPI_MCA_orte_hnp_uri",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    "PMI_JOBID",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_LOCALID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_STEP_NUM_TASKS",
    "ENVIRONMENT",
};

static int clear(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all_names / sizeof *all_names; i++)
        unsetenv(all_names[i]);
    return 0;
}

/* "A=1 B=2" */
static void set(const char *list)
{
    char copy[512], *rest = NULL;
    clear(NULL);
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        char *const equals = strchr(word, '=');
        *equals = '\0';
        setenv(word, equals + 1, 1);
    }
}

static struct xst_ranks find(const char *list)
{
    struct xst_ranks ranks;
    struct xst_diag diag = {0};
    set(list);
    xt_ok(xst_ranks_find(NULL, &ranks, &diag), &diag);
    return ranks;
}

static void test_alone(void **state)
{
    const struct xst_ranks ranks = find("");
    (void)state;
    assert_int_equal(ranks.rank, 0);
    assert_int_equal(ranks.ranks, 1);
    assert_int_equal(ranks.local_rank, -1);
    assert_string_equal(ranks.launcher, "");
    assert_string_equal(ranks.rendezvous, "");
}

static void test_launchers(void **state)
{
    static const struct {
        const char *list;
        const char *launcher;
        const char *job;
        int rank, ranks, local_rank;
    } cases[] = {
        {"RANK=3 WORLD_SIZE=8 LOCAL_RANK=1 MASTER_ADDR=node7 MASTER_PORT=29500 TORCHELASTIC_RUN_ID=abc", "torchrun",
         "torchrun/node7/29500/abc", 3, 8, 1},
        {"RANK=0 WORLD_SIZE=2", "torchrun", "torchrun/session ", 0, 2, -1},
        {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1 PMIX_NAMESPACE=17 PMI_RANK=1 PMI_SIZE=2",
         "Open MPI", "Open MPI/17", 1, 2, 1},
        {"PMI_RANK=2 PMI_SIZE=4 MPI_LOCALRANKID=0", "MPICH", "MPICH/session ", 2, 4, 0},
        {"SLURM_PROCID=5 SLURM_NTASKS=16 SLURM_LOCALID=1 SLURM_JOB_ID=99 SLURM_STEP_ID=0", "Slurm", "Slurm/99/0", 5, 16,
         1},
        /* inner launchers under Slurm, whose own numbers may be any */
        {"SLURM_PROCID=0 SLURM_NTASKS=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "Open MPI", "Open MPI/", 1, 2,
         -1},
        {"SLURM_PROCID=1 SLURM_NTASKS=2 RANK=9 WORLD_SIZE=16", "torchrun", "torchrun/", 9, 16, -1},
        /* one torchrun a node, started by mpirun: the counts differ, the inner one decides */
        {"RANK=9 WORLD_SIZE=16 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "torchrun", "torchrun/", 9, 16, -1},
        /* a script that hands on what mpirun said */
        {"RANK=1 WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "torchrun", "torchrun/", 1, 2, -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct xst_ranks ranks = find(cases[i].list);
        assert_string_equal(ranks.launcher, cases[i].launcher);
        assert_int_equal(ranks.rank, cases[i].rank);
        assert_int_equal(ranks.ranks, cases[i].ranks);
        assert_int_equal(ranks.local_rank, cases[i].local_rank);
        assert_string_equal(ranks.rendezvous, "local:");
        if (strncmp(ranks.job, cases[i].job, strlen(cases[i].job)) != 0)
            fail_msg("job \"%s\", wanted \"%s...\"", ranks.job, cases[i].job);
    }
}

/* An allocation without a step, and the script of a batch job, are no ranks. */
static void test_slurm_alone(void **state)
{
    (void)state;
    assert_int_equal(find("SLURM_NTASKS=4 SLURM_JOB_ID=99").ranks, 1);
    assert_int_equal(find("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_LOCALID=0 ENVIRONMENT=BATCH").ranks, 1);
    assert_int_equal(find("SLURM_PROCID=0 SLURM_NTASKS=4 ENVIRONMENT=BATCH SLURM_STEP_NUM_TASKS=4").ranks, 4);
}

static void test_nonsense(void **state)
{
    static const struct {
        const char *list;
        const char *words;
    } cases[] = {
        {"RANK=1", "RANK is set and WORLD_SIZE is not; torchrun sets both"},
        {"WORLD_SIZE=2", "WORLD_SIZE is set and RANK is not"},
        {"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_SIZE is set and OMPI_COMM_WORLD_RANK is not; Open MPI sets both"},
        {"RANK=one WORLD_SIZE=2", "RANK is \"one\", which is not a number"},
        {"RANK=-1 WORLD_SIZE=2", "RANK is -1, outside 0..1024"},
        {"RANK=0 WORLD_SIZE=0", "WORLD_SIZE is 0, outside 1..1024"},
        {"RANK=0 WORLD_SIZE=5000", "WORLD_SIZE is 5000, outside 1..1024"},
        {"RANK=0 WORLD_SIZE=99999999999999999999", "WORLD_SIZE is \"99999999999999999999\", which is too large"},
        {"PMI_RANK=4 PMI_SIZE=4", "PMI_RANK is 4 and PMI_SIZE is 4; a rank is below the count"},
        {"RANK=1 WORLD_SIZE=2 LOCAL_RANK=2", "LOCAL_RANK is 2 and WORLD_SIZE is 2; a local rank is below the count"},
        {"RANK=0 WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2",
         "RANK is 0 (torchrun) and OMPI_COMM_WORLD_RANK is 1 (Open MPI), of 2 ranks each: unset one of them"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct xst_ranks ranks;
        struct xst_diag diag = {0};
        set(cases[i].list);
        xt_status(xst_ranks_find(NULL, &ranks, &diag), XST_ERR_USAGE, &diag);
        xt_contains(diag.text, cases[i].words);
    }
}

static void test_asked(void **state)
{
    const struct xst_ranks_asked both = {1, 3, NULL}, alone = {-1, 1, NULL}, place = {-1, -1, "file:/tmp"},
                                 whole = {0, 2, "tcp://:29400"}, rank = {1, -1, NULL}, count = {-1, 4, NULL},
                                 beyond = {3, 3, NULL}, none = {-1, 0, NULL};
    struct xst_ranks ranks;
    struct xst_diag diag = {0};
    (void)state;
    set("RANK=0 WORLD_SIZE=2");
    xt_ok(xst_ranks_find(&both, &ranks, &diag), &diag);
    assert_int_equal(ranks.rank * 10 + ranks.ranks, 13);
    assert_string_equal(ranks.launcher, "options");
    xt_contains(ranks.job, "options/session ");
    xt_ok(xst_ranks_find(&alone, &ranks, &diag), &diag);
    assert_int_equal(ranks.ranks, 1);
    xt_ok(xst_ranks_find(&place, &ranks, &diag), &diag);
    assert_string_equal(ranks.rendezvous, "file:/tmp");
    assert_string_equal(ranks.job, "torchrun");
    xt_ok(xst_ranks_find(&whole, &ranks, &diag), &diag);
    assert_string_equal(ranks.rendezvous, "tcp://:29400");
    assert_string_equal(ranks.job, "options");
    xt_ok(xst_ranks_find(&rank, &ranks, &diag), &diag);
    assert_int_equal(ranks.rank * 10 + ranks.ranks, 12);
    /* wrong variables can be overruled */
    set("RANK=7 WORLD_SIZE=2");
    xt_status(xst_ranks_find(NULL, &ranks, &diag), XST_ERR_USAGE, &diag);
    xt_ok(xst_ranks_find(&both, &ranks, &diag), &diag);
    xt_ok(xst_ranks_find(&alone, &ranks, &diag), &diag);
    assert_int_equal(ranks.ranks, 1);
    set("");
    xt_status(xst_ranks_find(&rank, &ranks, &diag), XST_ERR_USAGE, &diag);
    xt_status(xst_ranks_find(&count, &ranks, &diag), XST_ERR_USAGE, &diag);
    xt_status(xst_ranks_find(&beyond, &ranks, &diag), XST_ERR_USAGE, &diag);
    xt_contains(diag.text, "rank 3 of 3 processes");
    xt_status(xst_ranks_find(&none, &ranks, &diag), XST_ERR_USAGE, &diag);
    xt_ok(xst_ranks_find(&place, &ranks, &diag), &diag);
    assert_string_equal(ranks.rendezvous, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_alone, clear),       cmocka_unit_test_teardown(test_launchers, clear),
        cmocka_unit_test_teardown(test_slurm_alone, clear), cmocka_unit_test_teardown(test_nonsense, clear),
        cmocka_unit_test_teardown(test_asked, clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
