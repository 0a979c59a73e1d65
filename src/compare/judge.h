/* SPDX-License-Identifier: Apache-2.0
 *
 * judge.h - two values with their spreads: did it move, and for the worse?
 */
#ifndef XSTI_COMPARE_JUDGE_H
#define XSTI_COMPARE_JUDGE_H

#include <xstage/compare.h>

enum { XSTI_HIGHER_IS_WORSE = 1, XSTI_LOWER_IS_WORSE = -1 };

/* A value with what is known of its spread; known == 0: not there. */
struct xsti_side {
    int known;
    double value;
    double low;
    double high;
};

/* The change counts beyond noise_frac of the first value plus what of both intervals lies between the two values. Sets both
 * fractions when both sides are known. */
enum xst_moved xsti_moved_between(const struct xsti_side *before, const struct xsti_side *after, double noise_frac,
                                  int worse, double *change_frac_out, double *noise_frac_out);

#endif
