/* SPDX-License-Identifier: Apache-2.0
 *
 * measure_run.h - running requests on a machine for a person who watches: progress, Ctrl-C, time limit, readings.
 */
#ifndef XST_CLI_MEASURE_RUN_H
#define XST_CLI_MEASURE_RUN_H

#include <xstage/machine.h>

#include "output.h"

/* Opens `spec`; sim:NAME finds stored profiles as --profile does, and --seed is its seed. */
enum xst_status cli_machine_open(struct cli *cli, const char *spec, struct xst_machine **machine_out);

/* The state of the machine over all cells, kept beside the rows. */
struct cli_readings {
    int64_t cells;
    int64_t imprecise; /* cells that did not reach the precision asked for */
    double verified_bytes;
    double sm_clock_ghz_low; /* 0: not known */
    double sm_clock_ghz_high;
    char throttle[128]; /* first reason seen, "" none */
    double seconds;
};

/* Runs all requests and appends the rows. Ctrl-C and SIGTERM end it after the run at hand: XST_ERR_INTERRUPTED, and the rows
 * until then are complete. --timeout bounds it (XST_ERR_TIMEOUT, likewise). */
enum xst_status cli_measure(struct cli *cli, struct xst_machine *machine, const struct xst_measure_request *requests,
                            size_t count, const struct xst_measure_options *options, struct xst_samples *samples,
                            struct cli_readings *readings);

/* The default calibration of every path the machine has but local memory: `samples` gets the rows. */
enum xst_status cli_measure_calibration(struct cli *cli, struct xst_machine *machine, struct xst_samples *samples,
                                        struct cli_readings *readings);

/* Facts and readings as the JSON that lies beside the rows. */
json_t *cli_facts_json(const struct xst_machine_facts *facts, const struct cli_readings *readings);

/* stem.csv, stem-bystander.csv, stem-loop.csv, stem-per-producer.csv (those that have rows) and stem.json. */
enum xst_status cli_measure_write(struct cli *cli, const char *stem, const struct xst_samples *samples,
                                  const struct xst_machine_facts *facts, const struct cli_readings *readings);

/* Refuses, before anything is measured, names that are taken. */
enum xst_status cli_measure_check(struct cli *cli, const char *stem);

/* The rows of one kind as a table: CSV names, as the library writes them. */
struct cli_table cli_sample_table(const struct xst_samples *samples);
struct cli_table cli_bystander_table(const struct xst_samples *samples);
struct cli_table cli_loop_table(const struct xst_samples *samples);

#endif
