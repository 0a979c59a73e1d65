/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells of a table, and how a person sees them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

struct cli_cell cli_null(void)
{
    return (struct cli_cell){CLI_CELL_NULL, NULL, 0, 0};
}

struct cli_cell cli_text_cell(const char *text)
{
    return text && text[0] ? (struct cli_cell){CLI_CELL_TEXT, text, 0, 0} : cli_null();
}

struct cli_cell cli_int_cell(int64_t value)
{
    return (struct cli_cell){CLI_CELL_INT, NULL, value, (double)value};
}

struct cli_cell cli_real_cell(double value)
{
    return isfinite(value) ? (struct cli_cell){CLI_CELL_REAL, NULL, 0, value} : cli_null();
}

struct cli_cell cli_bool_cell(int value)
{
    return (struct cli_cell){CLI_CELL_BOOL, NULL, value != 0, 0};
}

/* Four significant digits without an exponent. */
static void four_digits(double value, const char *unit, char *text, size_t bytes)
{
    const double size = fabs(value);
    const int decimals = size < 0.0005 ? 0 : size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
    snprintf(text, bytes, "%.*f%s", decimals, size < 0.0005 ? 0.0 : value, unit);
}

static void show_bytes(double value, char *text, size_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    size_t power = 0;
    while (power < 4 && fabs(value) >= 1024) {
        value /= 1024;
        power++;
    }
    if (value == floor(value) && fabs(value) < 1024)
        snprintf(text, bytes, "%.0f%s", value, units[power]);
    else if (power == 0)
        snprintf(text, bytes, "%.0f B", value);
    else
        snprintf(text, bytes, "%.*f%s", fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0, value, units[power]);
}

const char *cli_show_number(double value, enum cli_show show, char *text, size_t bytes)
{
    if (!isfinite(value)) {
        snprintf(text, bytes, "-");
        return text;
    }
    switch (show) {
    case CLI_SHOW_PLAIN:
        snprintf(text, bytes, "%.6g", value);
        break;
    case CLI_SHOW_FULL:
        snprintf(text, bytes, "%.9g", value);
        break;
    case CLI_SHOW_US:
        four_digits(value, "", text, bytes);
        break;
    case CLI_SHOW_BYTES:
        show_bytes(value, text, bytes);
        break;
    case CLI_SHOW_RATE:
        four_digits(value / 1000, " GB/s", text, bytes);
        break;
    case CLI_SHOW_PERCENT:
        snprintf(text, bytes, "%.*f %%", fabs(value) < 0.09995 ? 2 : 1, 100 * value);
        break;
    }
    return text;
}

const char *cli_show_cell(const struct cli_cell *cell, enum cli_show show, char *text, size_t bytes)
{
    switch (cell->kind) {
    case CLI_CELL_NULL:
        snprintf(text, bytes, "-");
        break;
    case CLI_CELL_TEXT:
        snprintf(text, bytes, "%s", cell->text);
        break;
    case CLI_CELL_BOOL:
        snprintf(text, bytes, "%s", cell->integer ? "yes" : "no");
        break;
    case CLI_CELL_INT:
        if (show == CLI_SHOW_PLAIN)
            snprintf(text, bytes, "%lld", (long long)cell->integer);
        else
            cli_show_number((double)cell->integer, show, text, bytes);
        break;
    case CLI_CELL_REAL:
        cli_show_number(cell->real, show, text, bytes);
        break;
    }
    return text;
}

static const char *colour(FILE *out, const char *code)
{
    const char *const no = getenv("NO_COLOR"), *const terminal = getenv("TERM");
    const int wanted = !(no && no[0]) && !(terminal && strcmp(terminal, "dumb") == 0) && isatty(fileno(out)) == 1;
    return wanted ? code : "";
}

const char *cli_good(FILE *out)
{
    return colour(out, "\033[32m");
}

const char *cli_bad(FILE *out)
{
    return colour(out, "\033[31m");
}

const char *cli_bold(FILE *out)
{
    return colour(out, "\033[1m");
}

const char *cli_plain(FILE *out)
{
    return colour(out, "\033[0m");
}
