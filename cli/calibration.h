/* SPDX-License-Identifier: Apache-2.0
 *
 * calibration.h - one machine's rows, the profile fitted to them, and what is shown and kept of both.
 */
#ifndef XST_CLI_CALIBRATION_H
#define XST_CLI_CALIBRATION_H

#include <xstage/fit.h>

#include "measure_run.h"
#include "output.h"

enum { CLI_CALIBRATION_FILES = 64 };

struct calibration {
    char *files[CLI_CALIBRATION_FILES]; /* rows that are read instead of measured */
    size_t file_count;
    char spec[64];                     /* machine to measure; "": rows come from files */
    const char *asked;                 /* the same when named by --machine, of any length */
    struct xst_machine_facts measured; /* of that machine */
    struct cli_readings readings;
    char name[XST_NAME_BYTES];
    struct xst_samples samples;
    struct xst_machine_facts facts;
    struct xst_profile profile;
    struct xst_fit fit;
    struct xst_validation validation;
};

/* Fits the rows and compares every law with them. */
enum xst_status cli_calibration_fit(struct cli *cli, struct calibration *calibration);

/* folder/profile.json, report.html, figures/, and the rows when they were measured. */
enum xst_status cli_calibration_write(struct cli *cli, const struct calibration *calibration, const char *folder);

/* Before anything is measured: refuses a folder in which one of these exists. */
enum xst_status cli_calibration_check(struct cli *cli, const char *folder);

/* The lines a person reads; `folder` may be NULL. */
void cli_calibration_print(const struct calibration *calibration, const char *folder);

/* Adds origin, rows and profile. */
void cli_calibration_put(struct cli *cli, json_t *document, const struct calibration *calibration);

void cli_calibration_free(struct calibration *calibration);

#endif
