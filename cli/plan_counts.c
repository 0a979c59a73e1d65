/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "plan_args.h"

/* A number of 18 digits and its neighbours. */
enum { WORD_BYTES = 32 };
static const int64_t most_rows = INT64_C(1) << 50;

static int is_separator(int c)
{
    return isspace(c) || c == ',' || c == '[' || c == ']';
}

static enum xst_status take(struct cli *cli, const char *path, int64_t line, const char *word, int64_t *counts,
                            int64_t experts, int64_t *used)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(word, &end, 10);
    if (*end || errno || !isdigit((unsigned char)*word))
        return cli_say(&cli->diag, XST_ERR_PARSE, "%s:%lld: '%s' is not a number of rows", path, (long long)line, word);
    if (value > most_rows)
        return cli_say(&cli->diag, XST_ERR_RANGE, "%s:%lld: %lld rows, outside 0..%lld", path, (long long)line, value,
                       (long long)most_rows);
    if (*used == experts)
        return cli_say(&cli->diag, XST_ERR_PARSE, "%s:%lld: more than %lld counts, one per expert is needed", path,
                       (long long)line, (long long)experts);
    counts[(*used)++] = value;
    return XST_OK;
}

static enum xst_status read_stream(struct cli *cli, const char *path, FILE *stream, int64_t *counts, int64_t experts)
{
    char word[WORD_BYTES];
    size_t length = 0;
    int64_t used = 0, line = 1;
    int comment = 0, c = 0;
    do {
        c = fgetc(stream);
        comment = (comment || c == '#') && c != '\n' && c != EOF;
        if (comment || c == EOF || is_separator(c)) {
            word[length] = '\0';
            const enum xst_status status = length ? take(cli, path, line, word, counts, experts, &used) : XST_OK;
            if (status != XST_OK)
                return status;
            length = 0;
        } else if (length + 1 == sizeof word || !isprint(c)) {
            return cli_say(&cli->diag, XST_ERR_PARSE, "%s:%lld: not a number of rows", path, (long long)line);
        } else {
            word[length++] = (char)c;
        }
        line += c == '\n';
    } while (c != EOF);
    if (used < experts)
        return cli_say(&cli->diag, XST_ERR_PARSE, "%s: %lld counts, one for each of %lld experts is needed", path,
                       (long long)used, (long long)experts);
    return XST_OK;
}

enum xst_status cli_counts_read(struct cli *cli, const char *path, int64_t *counts, int64_t experts)
{
    const int input = strcmp(path, "-") == 0;
    FILE *const stream = input ? stdin : fopen(path, "r");
    if (!stream)
        return cli_say(&cli->diag, XST_ERR_IO, "%s: %s", path, strerror(errno));
    const enum xst_status status = read_stream(cli, input ? "standard input" : path, stream, counts, experts);
    const int broken = ferror(stream);
    if (!input)
        fclose(stream);
    if (broken)
        return cli_say(&cli->diag, XST_ERR_IO, "%s could not be read", path);
    return status;
}
