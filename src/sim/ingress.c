/* SPDX-License-Identifier: Apache-2.0
 *
 * Max-min fair rates of flows between sources and destinations, by progressive filling: all flows grow alike until a source,
 * a destination or what a flow can use is exhausted; those concerned stop, the others grow on.
 */
#include <math.h>

#include "sim/engine.h"

/* A flow that drains all it can use is given this much more, so that rounding does not make it share. */
static const double HEADROOM = 1e-6;
static const double FULL = 1e-9;

static int32_t source_end(const struct xsti_engine *engine, int32_t flow)
{
    return flow / engine->lanes;
}

static int32_t destination_end(const struct xsti_engine *engine, int32_t flow)
{
    return engine->ends - engine->lanes + flow % engine->lanes;
}

static double limit_of(const struct xsti_engine *engine, int32_t end)
{
    const struct xst_sim_config *const config = engine->config;
    return end < config->source_count ? config->sources[end].drain_bytes_per_us
                                      : config->destinations[end - config->source_count].ingress_bytes_per_us;
}

static void stop(struct xsti_engine *engine, int32_t flow, double rate)
{
    engine->rates[flow] = -rate; /* negative: it no longer grows */
    engine->open[source_end(engine, flow)]--;
    engine->open[destination_end(engine, flow)]--;
}

/* How far all open flows can grow together; 0 flows open: INFINITY. */
static double growth(const struct xsti_engine *engine, double level)
{
    double least = INFINITY;
    for (int32_t end = 0; end < engine->ends; end++)
        if (engine->open[end] > 0)
            least = xsti_min(least, engine->room[end] / engine->open[end]);
    for (int32_t flow = 0; flow < engine->source_count; flow++)
        if (engine->rates[flow] > 0)
            least = xsti_min(least, engine->sources[flow].wants - level);
    return xsti_max(0, least);
}

static void solve(struct xsti_engine *engine)
{
    for (int32_t end = 0; end < engine->ends; end++) {
        engine->room[end] = limit_of(engine, end);
        engine->open[end] = 0;
    }
    for (int32_t flow = 0; flow < engine->source_count; flow++) {
        const int grows = engine->sources[flow].active > 0;
        engine->rates[flow] = grows; /* positive: open */
        engine->open[source_end(engine, flow)] += grows;
        engine->open[destination_end(engine, flow)] += grows;
    }
    for (double level = 0, step; (step = growth(engine, level)) < INFINITY;) {
        level += step;
        for (int32_t end = 0; end < engine->ends; end++)
            engine->room[end] -= step * engine->open[end];
        int stopped = 0;
        for (int32_t flow = 0; flow < engine->source_count; flow++) {
            const double wants = engine->sources[flow].wants;
            if (!(engine->rates[flow] > 0))
                continue;
            const int32_t from = source_end(engine, flow), to = destination_end(engine, flow);
            if (level >= wants * (1 - FULL)) {
                stop(engine, flow, wants * (1 + HEADROOM));
                stopped = 1;
            } else if (engine->room[from] <= FULL * limit_of(engine, from) ||
                       engine->room[to] <= FULL * limit_of(engine, to)) {
                stop(engine, flow, xsti_max(level, FULL));
                stopped = 1;
            }
        }
        if (!stopped)
            break; /* rounding only; every flow keeps its level */
    }
}

void xsti_ingress_balance(struct xsti_engine *engine, struct xsti_source *source)
{
    solve(engine);
    for (int32_t flow = 0; flow < engine->source_count; flow++) {
        struct xsti_source *const other = &engine->sources[flow];
        const double rate = fabs(engine->rates[flow]);
        if (other->active > 0 && other->drain != rate) {
            other->drain = rate;
            xsti_balance_source(engine, other);
        } else if (other == source) {
            xsti_balance_source(engine, other);
        }
    }
}
