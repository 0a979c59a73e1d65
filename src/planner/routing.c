/* SPDX-License-Identifier: Apache-2.0
 *
 * Made-up routing: rows per expert from weights, whole rows, nothing drawn.
 */
#include <math.h>
#include <string.h>

#include <xstage/plan.h>

#include "base/diag.h"

#define X(NAME, text, meaning)                                                                                         \
    case XST_ROUTING_##NAME:                                                                                           \
        return text;
const char *xst_routing_text(enum xst_routing routing)
{
    switch (routing) {
        XST_ROUTING_MAP(X)
    }
    return "?";
}
#undef X

#define X(NAME, word, meaning)                                                                                         \
    if (strcmp(text, word) == 0) {                                                                                     \
        *routing_out = XST_ROUTING_##NAME;                                                                             \
        return 0;                                                                                                      \
    }
int xst_routing_parse(const char *text, enum xst_routing *routing_out)
{
    XST_ROUTING_MAP(X)
    return -1;
}
#undef X

void xst_moe_experts_of(const struct xst_moe_shape *shape, int64_t rank, int64_t *first_out, int64_t *end_out)
{
    const int64_t each = shape->experts / shape->ranks, more = shape->experts % shape->ranks;
    *first_out = rank * each + (rank < more ? rank : more);
    *end_out = *first_out + each + (rank < more);
}

/* Share of one expert, not normalised. `hot` experts carry `skew` times the mean together with equal others. */
static double weight_of(enum xst_routing routing, double skew, int64_t expert, int64_t experts, int64_t hot)
{
    const double rest = (double)experts - (double)hot;
    switch (routing) {
    case XST_ROUTING_UNIFORM:
        return 1;
    case XST_ROUTING_ZIPF:
        return pow((double)(expert + 1), -skew);
    case XST_ROUTING_HOT_EXPERT:
    case XST_ROUTING_HOT_RANK:
        if (expert < hot)
            return skew;
        return rest > 0 ? fmax(((double)experts - skew * (double)hot) / rest, 0) : 0;
    }
    return 1;
}

/* Rows that exceed `most` per expert go, in turn, to those with room; the total is kept. */
static void spread(int64_t *counts, int64_t experts, int64_t left, int64_t most)
{
    while (left > 0) {
        int64_t open = 0;
        for (int64_t e = 0; e < experts; e++)
            open += counts[e] < most;
        const int64_t share = open > 0 && left / open > 0 ? left / open : 1;
        for (int64_t e = 0; e < experts && left > 0; e++) {
            const int64_t room = most - counts[e], wanted = share < left ? share : left;
            const int64_t given = wanted < room ? wanted : room;
            counts[e] += given;
            left -= given;
        }
    }
}

enum xst_status xst_routing_make(enum xst_routing routing, double skew, const struct xst_moe_shape *shape,
                                 int64_t *counts_out, struct xst_diag *diag)
{
    static const struct xst_moe_plan any = {128, 256, 64, 1, 1, 1, XST_METHOD_ST16, XST_SCHEDULE_WAVE, 0, 1};
    int64_t first = 0, end = 0;
    double sum = 0;
    XSTI_TRY(xst_moe_check(shape, &any, diag));
    if (strcmp(xst_routing_text(routing), "?") == 0 || !(skew >= 0 && skew <= 1e6))
        return xsti_fail(diag, XST_ERR_RANGE, "routing skew is %g, outside 0..1e6", skew);
    xst_moe_experts_of(shape, 0, &first, &end);
    const int64_t hot = routing == XST_ROUTING_HOT_RANK ? end : 1;
    const int64_t most = shape->ranks * shape->tokens, rows = most * shape->topk;
    for (int64_t e = 0; e < shape->experts; e++)
        sum += weight_of(routing, skew, e, shape->experts, hot);
    int64_t left = rows;
    for (int64_t e = 0; e < shape->experts; e++) {
        const double share = sum > 0 ? weight_of(routing, skew, e, shape->experts, hot) / sum : 0;
        const int64_t wanted = (int64_t)floor(share * (double)rows);
        counts_out[e] = wanted < most ? wanted : most;
        left -= counts_out[e];
    }
    spread(counts_out, shape->experts, left, most);
    return XST_OK;
}
