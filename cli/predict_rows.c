/* SPDX-License-Identifier: Apache-2.0 */
#include "predict_rows.h"

#include <string.h>

static struct cli_cell get_extrapolated(const void *row)
{
    return cli_bool_cell(((const struct xst_timing *)row)->extrapolated != 0);
}

static struct cli_cell get_reason(const void *row)
{
    return cli_text_cell(xst_reason_sentence(((const struct xst_timing *)row)->reason));
}

#define X(name, needs, law, meaning)                                                                                   \
    static struct cli_cell get_##name(const void *row)                                                                 \
    {                                                                                                                  \
        const struct xst_timing *const timing = row;                                                                   \
        return (timing->known & (needs)) == (needs) ? cli_real_cell(timing->name) : cli_null();                        \
    }
XST_TIMING_FIELDS(X)
#undef X

/* Columns a person sees without -v. */
static int is_key_column(const char *name)
{
    static const char *const names[] = {"producers",
                                        "bytes_per_producer",
                                        "gap_us",
                                        "issue_floor_us",
                                        "issue_us",
                                        "issue_aligned_us",
                                        "period_us",
                                        "recovery_gap_us",
                                        "isolated_issue_us",
                                        "margin_rate_bytes",
                                        "margin_capacity_bytes"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0)
            return 1;
    }
    return 0;
}

static enum cli_show show_of(const char *name)
{
    const size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, "_us") == 0)
        return CLI_SHOW_US;
    return strstr(name, "bytes") ? CLI_SHOW_BYTES : CLI_SHOW_PLAIN;
}

void cli_predict_columns(struct cli_column columns[CLI_PREDICT_COLUMNS], int staged, int extrapolate)
{
    size_t count = 0;
#define X(field, needs, law, meaning)                                                                                  \
    columns[count++] = (struct cli_column){#field, NULL, show_of(#field), !is_key_column(#field), get_##field};
    XST_TIMING_FIELDS(X)
#undef X
    for (size_t i = 0; i < count; i++) {
        if (staged && strncmp(columns[i].name, "release_", 8) == 0)
            columns[i].wide = 0;
    }
    columns[count++] = (struct cli_column){"extrapolated", NULL, CLI_SHOW_PLAIN, !extrapolate, get_extrapolated};
    columns[count] = (struct cli_column){"reason", NULL, CLI_SHOW_PLAIN, 1, get_reason};
}
