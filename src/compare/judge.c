/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/judge.h"

#include <math.h>

const char *xst_moved_text(enum xst_moved moved)
{
    static const char *const texts[] = {
#define X(NAME, text, meaning) text,
        XST_MOVED_MAP(X)
#undef X
    };
    return (size_t)moved < sizeof texts / sizeof *texts ? texts[moved] : "?";
}

static double gap_covered(const struct xsti_side *before, const struct xsti_side *after)
{
    const double covered = after->value < before->value ? (before->value - before->low) + (after->high - after->value)
                                                        : (before->high - before->value) + (after->value - after->low);
    return covered > 0 ? covered : 0;
}

enum xst_moved xsti_moved_between(const struct xsti_side *before, const struct xsti_side *after, double noise_frac,
                                  int worse, double *change_frac_out, double *noise_frac_out)
{
    if (!after->known)
        return XST_MOVED_REMOVED;
    if (!before->known)
        return XST_MOVED_ADDED;
    const double change = after->value - before->value, size = fabs(before->value);
    const double noise = noise_frac * size + gap_covered(before, after);
    *change_frac_out = size > 0 ? change / size : 0;
    *noise_frac_out = size > 0 ? noise / size : noise_frac;
    /* A change of exactly the noise is within it, whatever rounding says. */
    if (fabs(change) <= noise * (1 + 1e-12))
        return XST_MOVED_SAME;
    return (change > 0) == (worse > 0) ? XST_MOVED_WORSE : XST_MOVED_BETTER;
}
