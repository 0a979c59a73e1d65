/* SPDX-License-Identifier: Apache-2.0
 *
 * Measured rows as tables: one column a field of sample.h, under its name.
 */
#include "measure_run.h"

static const char *target_text(enum xst_target target, enum xst_direction direction)
{
    static const char *const both[] = {"peer-bidir", "host-bidir", "local-bidir"};
    return direction == XST_DIRECTION_BOTH ? both[target] : xst_target_text(target);
}

/* One getter a column, from the field lists. */
#define CELL_MODE(record, name)   cli_text_cell(xst_mode_text(((const struct record *)row)->name))
#define CELL_METHOD(record, name) cli_text_cell(xst_method_text(((const struct record *)row)->name))
#define CELL_OP(record, name)     cli_text_cell(xst_bystander_op_text(((const struct record *)row)->name))
#define CELL_FLOW(record, name)   cli_text_cell(xst_flow_text(((const struct record *)row)->name))
#define CELL_INT(record, name)    cli_int_cell(((const struct record *)row)->name)
#define CELL_REAL(record, name)   cli_real_cell(((const struct record *)row)->name)
#define CELL_TARGET(record, name)                                                                                      \
    cli_text_cell(target_text(((const struct record *)row)->target, ((const struct record *)row)->direction))
#define GETTER(record, kind, name)                                                                                     \
    static struct cli_cell record##_##name(const void *row)                                                            \
    {                                                                                                                  \
        return CELL_##kind(record, name);                                                                              \
    }
#define COLUMN(record, name) {#name, NULL, CLI_SHOW_PLAIN, 0, record##_##name},

#define X(kind, name, low, high, meaning) GETTER(xst_sample, kind, name)
XST_SAMPLE_FIELDS(X)
XST_SAMPLE_FLOW_FIELDS(X)
#undef X
#define X(kind, name, low, high, meaning) GETTER(xst_bystander_sample, kind, name)
XST_BYSTANDER_FIELDS(X)
#undef X
#define X(kind, name, low, high, meaning) GETTER(xst_loop_sample, kind, name)
XST_LOOP_FIELDS(X)
#undef X

#define X(kind, name, low, high, meaning) COLUMN(xst_sample, name)
static const struct cli_column sample_columns[] = {XST_SAMPLE_FIELDS(X)},
                               flow_columns[] = {XST_SAMPLE_FIELDS(X) XST_SAMPLE_FLOW_FIELDS(X)};
#undef X
#define X(kind, name, low, high, meaning) COLUMN(xst_bystander_sample, name)
static const struct cli_column bystander_columns[] = {XST_BYSTANDER_FIELDS(X)};
#undef X
#define X(kind, name, low, high, meaning) COLUMN(xst_loop_sample, name)
static const struct cli_column loop_columns[] = {XST_LOOP_FIELDS(X)};
#undef X

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Who sends to whom is shown when it is more than one device to the next. */
struct cli_table cli_sample_table(const struct xst_samples *samples)
{
    for (size_t i = 0; i < samples->row_count; i++)
        if (samples->rows[i].flow != XST_FLOW_PAIR || samples->rows[i].senders > 0)
            return (struct cli_table){flow_columns, COUNT(flow_columns), samples->rows, samples->row_count,
                                      sizeof *samples->rows};
    return (struct cli_table){sample_columns, COUNT(sample_columns), samples->rows, samples->row_count,
                              sizeof *samples->rows};
}

struct cli_table cli_bystander_table(const struct xst_samples *samples)
{
    return (struct cli_table){bystander_columns, COUNT(bystander_columns), samples->bystanders,
                              samples->bystander_count, sizeof *samples->bystanders};
}

struct cli_table cli_loop_table(const struct xst_samples *samples)
{
    return (struct cli_table){loop_columns, COUNT(loop_columns), samples->loops, samples->loop_count,
                              sizeof *samples->loops};
}
