/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xstage/text_file.h>

#include "options.h"

enum xst_status cli_capture_start(struct cli *cli, struct cli_capture *capture)
{
    const char *const path = cli_text(cli, "output");
    *capture = (struct cli_capture){NULL, -1};
    if (!cli->command->output_is_text || !path || strcmp(path, "-") == 0)
        return XST_OK;
    const enum xst_status status = xst_text_check(path, cli->force, &cli->diag);
    if (status != XST_OK)
        return status;
    capture->held = tmpfile();
    capture->terminal = dup(STDOUT_FILENO);
    if (!capture->held || capture->terminal < 0 || dup2(fileno(capture->held), STDOUT_FILENO) < 0) {
        const int reason = errno;
        (void)cli_capture_end(cli, capture, CLI_FAILED);
        return cli_say(&cli->diag, XST_ERR_IO, "cannot make a temporary file for --output: %s", strerror(reason));
    }
    return XST_OK;
}

static enum xst_status keep(struct cli *cli, FILE *held)
{
    const off_t bytes = fseeko(held, 0, SEEK_END) == 0 ? ftello(held) : -1;
    char *const text = bytes >= 0 ? malloc((size_t)bytes + 1) : NULL;
    if (!text)
        return cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    rewind(held);
    enum xst_status status;
    if (fread(text, 1, (size_t)bytes, held) == (size_t)bytes)
        status = xst_text_write(cli_text(cli, "output"), text, (size_t)bytes, cli->force, &cli->diag);
    else
        status = cli_say(&cli->diag, XST_ERR_IO, "the temporary file for --output cannot be read back");
    free(text);
    return status;
}

int cli_capture_end(struct cli *cli, struct cli_capture *capture, int code)
{
    enum xst_status status = XST_OK;
    if (capture->terminal < 0) {
        if (capture->held)
            fclose(capture->held);
        return code;
    }
    if (fflush(stdout) != 0)
        status = cli_say(&cli->diag, XST_ERR_IO, "cannot hold the output for --output: %s", strerror(errno));
    if (status == XST_OK && capture->held && (code == CLI_GOOD || code == CLI_NO))
        status = keep(cli, capture->held);
    dup2(capture->terminal, STDOUT_FILENO);
    close(capture->terminal);
    if (capture->held)
        fclose(capture->held);
    return status == XST_OK ? code : cli_fail(cli, status);
}
