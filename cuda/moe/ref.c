/* SPDX-License-Identifier: Apache-2.0
 *
 * A mixture-of-experts layer by its definition: token by token, choice by choice.
 */
#include "moe/ref.h"

#include <math.h>
#include <stdlib.h>

static double rounded(double value, enum xsti_moe_rounding rounding)
{
    return rounding == XSTI_MOE_EXACT ? value : xsti_bf16_to_float(xsti_float_to_bf16((float)value));
}

/* Eight sums side by side: the order of a sum is nobody's promise, and compilers keep vectors busy with it. */
static double inner(const double *a, const uint16_t *b, int64_t count)
{
    double sums[8] = {0};
    for (int64_t i = 0; i < count; i += 8)
        for (int64_t j = 0; j < 8; j++)
            sums[j] += a[i + j] * xsti_bf16_to_float(b[i + j]);
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

double xsti_moe_activation(double clamp, double gate, double up, double weight)
{
    if (clamp > 0) {
        gate = fmin(gate, clamp);
        up = fmin(fmax(up, -clamp), clamp);
    }
    return gate / (1 + exp(-gate)) * up * weight;
}

int64_t xsti_moe_gate_row(int64_t column)
{
    return column / 8 * 16 + column % 8;
}

/* One choice of one token, added to `sum`. `act` has room for `inter` values. */
static void add_choice(const struct xsti_moe_problem *problem, enum xsti_moe_rounding rounding, const double *x,
                       int64_t expert, double weight, double *act, double *sum)
{
    const int64_t hidden = problem->hidden;
    for (int64_t column = 0; column < problem->inter; column++) {
        const uint16_t *const row = problem->w1[expert] + xsti_moe_gate_row(column) * hidden;
        const double gate = rounded(inner(x, row, hidden), rounding);
        const double up = rounded(inner(x, row + 8 * hidden, hidden), rounding);
        act[column] = rounded(xsti_moe_activation(problem->clamp, gate, up, weight), rounding);
    }
    for (int64_t column = 0; column < hidden; column++)
        sum[column] += rounded(inner(act, problem->w2[expert] + column * problem->inter, problem->inter), rounding);
}

int xsti_moe_reference(const struct xsti_moe_problem *problem, enum xsti_moe_rounding rounding, int64_t tokens,
                       const uint16_t *x, const int64_t *ids, const float *weights, double *y)
{
    const int64_t hidden = problem->hidden, topk = problem->topk;
    int failed = 0;
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t token = 0; token < tokens; token++) {
        double *const row = calloc((size_t)(hidden + problem->inter), sizeof *row), *const out = y + token * hidden;
        if (!row) {
            failed = 1;
            continue;
        }
        for (int64_t i = 0; i < hidden; i++) {
            row[i] = xsti_bf16_to_float(x[token * hidden + i]);
            out[i] = 0;
        }
        for (int64_t choice = 0; choice < topk; choice++)
            if (ids[token * topk + choice] >= 0)
                add_choice(problem, rounding, row, ids[token * topk + choice], weights[token * topk + choice],
                           row + hidden, out);
        for (int64_t i = 0; i < hidden; i++)
            out[i] = rounded(out[i], rounding);
        free(row);
    }
    return failed ? -1 : 0;
}

double xsti_moe_difference(const uint16_t *got, const double *want, int64_t count)
{
    double off = 0, sizes = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = xsti_bf16_to_float(got[i]);
        off += (value - want[i]) * (value - want[i]);
        sizes += value * value + want[i] * want[i];
    }
    return sizes > 0 || off != off ? off / sizes : 0;
}

double xsti_moe_row_error(const uint16_t *got, const double *want, int64_t rows, int64_t hidden)
{
    double most = 0;
    for (int64_t row = 0; row < rows; row++) {
        double off = 0, size = 0;
        for (int64_t i = row * hidden; i < (row + 1) * hidden; i++) {
            const double error = xsti_bf16_to_float(got[i]) - want[i];
            off += error * error;
            size += want[i] * want[i];
        }
        const double error = off == 0 ? 0 : sqrt(off / size);
        most = isnan(most) || error <= most ? most : error; /* NaN wins */
    }
    return most;
}
