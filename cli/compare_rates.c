/* SPDX-License-Identifier: Apache-2.0 */
#include "compare_rates.h"

#include <math.h>
#include <stdlib.h>

#include <xstage/compare.h>

#include "data_dir.h"
#include "options.h"
#include "output.h"

struct row {
    struct xst_rate rate;
    double drain_bytes_per_us; /* NAN: the profile has no such path */
};

static struct cli_cell get_name(const void *row)
{
    return cli_text_cell(((const struct row *)row)->rate.name);
}

static struct cli_cell get_target(const void *row)
{
    return cli_text_cell(xst_target_text(((const struct row *)row)->rate.target));
}

static struct cli_cell get_rate(const void *row)
{
    return cli_real_cell(((const struct row *)row)->rate.bytes_per_us);
}

static struct cli_cell get_drain(const void *row)
{
    return cli_real_cell(((const struct row *)row)->drain_bytes_per_us);
}

static struct cli_cell get_share(const void *row)
{
    return cli_real_cell(((const struct row *)row)->drain_bytes_per_us / ((const struct row *)row)->rate.bytes_per_us);
}

static const struct cli_column columns[] = {
    {"name", NULL, CLI_SHOW_PLAIN, 0, get_name},
    {"target", NULL, CLI_SHOW_PLAIN, 0, get_target},
    {"rate_bytes_per_us", "rate", CLI_SHOW_RATE, 0, get_rate},
    {"drain_bytes_per_us", "R", CLI_SHOW_RATE, 0, get_drain},
    {"drain_over_rate", "R / rate", CLI_SHOW_PERCENT, 0, get_share},
};

/* R of the default path: 16-byte stores, contiguous, one direction. */
static double drain_of(const struct xst_profile *profile, enum xst_target target)
{
    const struct xst_path_key key = {.target = target, .direction = XST_DIRECTION_ONE, .method = XST_METHOD_ST16};
    const struct xst_path *const path = xst_profile_path(profile, &key);
    return path && path->drain_bytes_per_us.known ? path->drain_bytes_per_us.value : NAN;
}

static json_t *document_of(const struct cli *cli, const struct xst_profile *profile, const struct cli_table *table)
{
    json_t *const document = cli_document(cli, "compare", 1);
    json_object_set_new(document, "kind", json_string("rates"));
    json_object_set_new(document, "profile",
                        json_pack("{s:o, s:s}", "name", cli_string(profile->name), "id", profile->id));
    json_object_set_new(document, "rows", cli_table_json(table));
    return document;
}

int cli_compare_rates(struct cli *cli, const char *profile_name, const char *file)
{
    struct xst_profile profile = {0};
    struct xst_rate *rates = NULL;
    struct row *rows = NULL;
    size_t count = 0;
    enum xst_status status = cli_profile_read(cli, profile_name, &profile);
    if (status == XST_OK)
        status = xst_rates_read(file, &rates, &count, &cli->diag);
    if (status == XST_OK && !(rows = calloc(count, sizeof *rows)))
        status = cli_say(&cli->diag, XST_ERR_MEMORY, "out of memory");
    for (size_t i = 0; status == XST_OK && i < count; i++)
        rows[i] = (struct row){rates[i], drain_of(&profile, rates[i].target)};
    const struct cli_table table = {columns, sizeof columns / sizeof *columns, rows, count, sizeof *rows};
    int code;
    if (status != XST_OK) {
        code = cli_fail(cli, status);
    } else {
        if (cli_wants_text(cli))
            cli_table_print(cli, stdout, &table);
        code = cli_emit(cli, document_of(cli, &profile, &table), &table, CLI_GOOD);
    }
    free(rows);
    free(rates);
    xst_profile_free(&profile);
    return code;
}
