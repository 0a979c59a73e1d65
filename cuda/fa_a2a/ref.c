/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention by its definition, row by row, and the exchange as four nested loops.
 */
#include "fa_a2a/ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double rounded(double value)
{
    return xsti_bf16_to_float(xsti_float_to_bf16((float)value));
}

/* Element 0 of (batch, row, head) in a contiguous tensor with `rows` rows. */
static int64_t at(const struct xsti_fa_problem *problem, int64_t rows, int64_t batch, int64_t row, int64_t head)
{
    return ((batch * rows + row) * problem->heads + head) * problem->head_dim;
}

static int64_t keys_of(const struct xsti_fa_problem *problem, int64_t batch)
{
    return problem->key_lens ? problem->key_lens[batch] : problem->key_len;
}

/* Scores of one query row; the scale goes to the sum, or rounded into k. */
static void scores_of_row(const struct xsti_fa_problem *problem, const uint16_t *q, const uint16_t *k, int64_t batch,
                          int64_t head, int in_bf16, double *scores)
{
    const int64_t keys = keys_of(problem, batch);
    for (int64_t key = 0; key < keys; key++) {
        const uint16_t *const k_row = k + at(problem, problem->key_rows, batch, key, head);
        double sum = 0;
        for (int64_t i = 0; i < problem->head_dim; i++) {
            const double x = xsti_bf16_to_float(k_row[i]);
            sum += xsti_bf16_to_float(q[i]) * (in_bf16 ? rounded(x * problem->scale) : x);
        }
        scores[key] = in_bf16 ? rounded(sum) : sum * problem->scale;
    }
}

static void one_row(const struct xsti_fa_problem *problem, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                    int64_t batch, int64_t head, int in_bf16, double *weights, float *out, float *lse)
{
    const int64_t keys = keys_of(problem, batch);
    scores_of_row(problem, q, k, batch, head, in_bf16, weights);
    double most = -INFINITY, total = 0;
    for (int64_t key = 0; key < keys; key++)
        most = fmax(most, weights[key]);
    for (int64_t key = 0; key < keys; key++)
        total += weights[key] = exp(weights[key] - most);
    for (int64_t key = 0; key < keys; key++)
        weights[key] = in_bf16 ? rounded(weights[key] / total) : weights[key] / total;
    for (int64_t i = 0; i < problem->head_dim; i++) {
        double sum = 0;
        for (int64_t key = 0; key < keys; key++)
            sum += weights[key] * xsti_bf16_to_float(v[at(problem, problem->key_rows, batch, key, head) + i]);
        out[i] = (float)(in_bf16 ? rounded(sum) : sum);
    }
    if (lse)
        *lse = (float)(most + log(total));
}

static int all_rows(const struct xsti_fa_problem *problem, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                    int in_bf16, float *out, float *lse)
{
    double *const weights = malloc((size_t)problem->key_len * sizeof *weights);
    if (!weights)
        return -1;
    for (int64_t batch = 0; batch < problem->batch; batch++)
        for (int64_t head = 0; head < problem->heads; head++)
            for (int64_t row = 0; row < problem->seq; row++) {
                const int64_t here = at(problem, problem->seq, batch, row, head);
                one_row(problem, q + here, k, v, batch, head, in_bf16, weights, out + here,
                        lse ? lse + (batch * problem->heads + head) * problem->seq + row : NULL);
            }
    free(weights);
    return 0;
}

int xsti_fa_reference(const struct xsti_fa_problem *problem, const uint16_t *q, const uint16_t *k, const uint16_t *v,
                      float *out, float *lse)
{
    return all_rows(problem, q, k, v, 0, out, lse);
}

int xsti_fa_reference_bf16(const struct xsti_fa_problem *problem, const uint16_t *q, const uint16_t *k,
                           const uint16_t *v, float *out)
{
    return all_rows(problem, q, k, v, 1, out, NULL);
}

double xsti_fa_error(const uint16_t *got, const float *reference, const float *rounded_out, int64_t count,
                     double *bound_out)
{
    double error = 0, rounded_error = 0, rounding = 0;
    for (int64_t i = 0; i < count; i++) {
        const float there_and_back = reference[i] + 0.3f - 0.3f;
        const double off = fabs((double)xsti_bf16_to_float(got[i]) - reference[i]);
        error = isnan(error) || off <= error ? error : off; /* NaN wins */
        rounded_error = fmax(rounded_error, fabs((double)rounded_out[i] - reference[i]));
        rounding = fmax(rounding, fabs((double)there_and_back - reference[i]));
    }
    *bound_out = 2 * rounded_error + 2 * rounding;
    return error;
}

void xsti_fa_exchange(const struct xsti_fa_problem *problem, const uint16_t *o, int64_t ranks, const int64_t *row_first,
                      int64_t heads_total, int64_t head_first, uint16_t *const *outs)
{
    const int64_t d = problem->head_dim;
    for (int64_t p = 0; p < ranks; p++) {
        const int64_t rows = row_first[p + 1] - row_first[p];
        for (int64_t batch = 0; batch < problem->batch; batch++)
            for (int64_t row = 0; row < rows; row++)
                for (int64_t head = 0; head < problem->heads; head++)
                    memcpy(outs[p] + ((batch * rows + row) * heads_total + head_first + head) * d,
                           o + at(problem, problem->seq, batch, row_first[p] + row, head), (size_t)d * sizeof *o);
    }
}
