/* SPDX-License-Identifier: Apache-2.0
 *
 * The layer with e4m3 operands by its definition: dequantised values, multiplied and added in double.
 */
#include <math.h>
#include <stdlib.h>

#include "base/e4m3.h"
#include "moe/params.h"
#include "moe/ref.h"

enum { SCALED = XSTI_MOE_SCALED };

/* A problem, and what the 256 numbers mean. */
struct reader {
    const struct xsti_moe_problem_e4m3 *problem;
    double value[256];
};

static double as_bf16(double value)
{
    return xsti_bf16_to_float(xsti_float_to_bf16((float)value));
}

/* `count` values times a row of weights; a scale for each 128 of them. */
static double inner(const struct reader *reader, const double *a, const uint8_t *row, const float *scales,
                    int64_t count)
{
    double sum = 0;
    for (int64_t first = 0; first < count; first += SCALED) {
        double part = 0;
        for (int64_t i = first; i < first + SCALED; i++)
            part += a[i] * reader->value[row[i]];
        sum += part * scales[first / SCALED];
    }
    return sum;
}

/* 128 values to what is left of them. */
static void requantise(const struct reader *reader, double *values)
{
    float most = 0;
    for (int i = 0; i < SCALED; i++)
        most = fmaxf(most, fabsf((float)values[i]));
    const float scale = fmaxf(most * (1.0f / 448), XSTI_MOE_LEAST_SCALE);
    for (int i = 0; i < SCALED; i++)
        values[i] = scale * reader->value[xsti_float_to_e4m3((float)(values[i] / (double)scale))];
}

/* One choice of one token, added to `sum`. `act` has room for `inter` values. */
static void add_choice(const struct reader *reader, const double *x, int64_t expert, double weight, double *act,
                       double *sum)
{
    const struct xsti_moe_problem_e4m3 *const problem = reader->problem;
    const int64_t hidden = problem->hidden, inter = problem->inter, across = hidden / SCALED;
    for (int64_t column = 0; column < inter; column++) {
        const uint8_t *const row = problem->w1[expert] + xsti_moe_gate_row(column) * hidden;
        const float *const scales = problem->w1_scales[expert] + column / SCALED * across;
        const double gate = as_bf16(inner(reader, x, row, scales, hidden));
        const double up = as_bf16(inner(reader, x, row + 8 * hidden, scales + inter / SCALED * across, hidden));
        act[column] = xsti_moe_activation(problem->clamp, gate, up, weight);
    }
    for (int64_t column = 0; column < inter; column += SCALED)
        requantise(reader, act + column);
    for (int64_t column = 0; column < hidden; column++)
        sum[column] += as_bf16(inner(reader, act, problem->w2[expert] + column * inter,
                                     problem->w2_scales[expert] + column / SCALED * (inter / SCALED), inter));
}

int xsti_moe_reference_e4m3(const struct xsti_moe_problem_e4m3 *problem, int64_t tokens, const uint8_t *x,
                            const float *x_scales, const int64_t *ids, const float *weights, double *y)
{
    const int64_t hidden = problem->hidden, topk = problem->topk;
    struct reader reader = {.problem = problem};
    int failed = 0;
    for (int i = 0; i < 256; i++)
        reader.value[i] = xsti_e4m3_to_float((uint8_t)i);
#pragma omp parallel for schedule(dynamic) reduction(| : failed)
    for (int64_t token = 0; token < tokens; token++) {
        double *const row = calloc((size_t)(hidden + problem->inter), sizeof *row), *const out = y + token * hidden;
        if (!row) {
            failed = 1;
            continue;
        }
        for (int64_t i = 0; i < hidden; i++) {
            row[i] = reader.value[x[token * hidden + i]] * x_scales[(token * hidden + i) / SCALED];
            out[i] = 0;
        }
        for (int64_t choice = token * topk; choice < (token + 1) * topk; choice++)
            if (ids[choice] >= 0)
                add_choice(&reader, row, ids[choice], weights[choice], row + hidden, out);
        for (int64_t i = 0; i < hidden; i++)
            out[i] = as_bf16(out[i]);
        free(row);
    }
    return failed ? -1 : 0;
}
