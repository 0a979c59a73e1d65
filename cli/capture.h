/* SPDX-License-Identifier: Apache-2.0
 *
 * capture.h - -o FILE of commands whose product is what they print: standard output goes to a file, whole or not at all.
 */
#ifndef XST_CLI_CAPTURE_H
#define XST_CLI_CAPTURE_H

#include "cli.h"

struct cli_capture {
    FILE *held;   /* what was printed; NULL: nothing is captured */
    int terminal; /* the real standard output */
};

/* Starts when the command says output_is_text and -o names a file; otherwise does nothing. */
enum xst_status cli_capture_start(struct cli *cli, struct cli_capture *capture);

/* Gives standard output back, and writes the file when `code` says that the command has answered. Returns an exit code. */
int cli_capture_end(struct cli *cli, struct cli_capture *capture, int code);

#endif
