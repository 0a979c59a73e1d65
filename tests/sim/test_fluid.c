/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine against the laws, against a slow engine that knows no virtual time, and against what must hold in any run.
 */
#include "support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <xstage/model.h>
#include <xstage/sim.h>

enum { MANY = 132 };

/* One device of K like producers. */
struct device {
    struct xst_sim_source source;
    struct xst_sim_producer producers[MANY];
    struct xst_sim_pattern pattern;
    struct xst_sim_config config;
};

static void device_make(struct device *device, int64_t producers, double drain, double capacity,
                        const struct xst_sim_pattern *pattern)
{
    memset(device, 0, sizeof *device);
    device->source = (struct xst_sim_source){.drain_bytes_per_us = drain, .groups = 1};
    for (int64_t i = 0; i < producers; i++)
        device->producers[i] = (struct xst_sim_producer){.capacity_bytes = capacity / (double)producers, .weight = 1};
    device->pattern = *pattern;
    device->config = (struct xst_sim_config){.sources = &device->source,
                                             .source_count = 1,
                                             .producers = device->producers,
                                             .producer_count = producers,
                                             .next = xst_sim_pattern_next,
                                             .context = &device->pattern,
                                             .seed = 1};
}

static struct xst_sim_result run(const struct xst_sim_config *config)
{
    struct xst_sim_result result;
    struct xst_diag diag;
    xt_ok(xst_sim_run(config, &result, &diag), &diag);
    return result;
}

static const double R = 372e3, T0 = 0.5, Q = 2.4 * 1048576;

static void isolated_is_law_7(void **state)
{
    (void)state;
    static const int64_t bytes[] = {8192, 16384, 24576, 32768, 65536, 131072};
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        struct device device;
        device_make(&device, MANY, R, Q,
                    &(struct xst_sim_pattern){.bytes = (double)bytes[i], .floor_us = T0, .bursts = 1});
        struct xst_sim_result result = run(&device.config);
        const struct xst_stage stage = {T0, R, Q, MANY * (double)bytes[i]};
        const double law = xst_law_isolated_issue_us(&stage);
        xt_near(result.issue_mean_us, law, 0.01 * law);
        xt_near(result.makespan_us, fmax(T0, stage.burst_bytes / R), 0.01 * stage.burst_bytes / R);
        xst_sim_result_free(&result);
    }
}

/* A barrier before every burst: the gap starts when the last producer has issued. */
static int barrier_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const int64_t producers = MANY;
    if (!xst_sim_pattern_next(context, producer, step, now_us, step_out))
        return 0;
    step_out->wait_counter = step_out->post_counter = 0;
    step_out->wait_value = step * producers;
    return 1;
}

static void aligned_is_law_11(void **state)
{
    (void)state;
    static const double gaps[] = {0, 1, 3, 5, 6.5, 7, 10, 11.2, 15, 40};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
        for (int64_t bytes = 8192; bytes <= 65536; bytes *= 2) {
            struct device device;
            device_make(&device, MANY, R, Q,
                        &(struct xst_sim_pattern){.bytes = (double)bytes,
                                                  .floor_us = T0,
                                                  .gap_us = gaps[i],
                                                  .bursts = 100});
            device.config.next = barrier_next;
            device.config.counter_count = 1;
            struct xst_sim_result result = run(&device.config);
            const struct xst_stage stage = {T0, R, Q, MANY * (double)bytes};
            const double law = xst_law_aligned_issue_us(&stage, gaps[i]);
            xt_near(result.steady_issue_mean_us, law, 0.01 * law);
            xst_sim_result_free(&result);
        }
}

/* Only the middle half counts: early finishers leave the others a faster end. */
static int middle_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct xst_sim_pattern *const pattern = context;
    if (!xst_sim_pattern_next(context, producer, step, now_us, step_out))
        return 0;
    step_out->flags = step > pattern->bursts / 4 && step < 3 * pattern->bursts / 4 ? XST_SIM_STEADY : 0;
    return 1;
}

static void drifting_is_law_1(void **state)
{
    (void)state;
    static const double gaps[] = {0, 2, 5, 8, 10, 11.2, 14, 20};
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        struct device device;
        device_make(&device, MANY, R, Q,
                    &(struct xst_sim_pattern){.bytes = 32768, .floor_us = T0, .gap_us = gaps[i], .bursts = 3000});
        device.config.next = middle_next;
        device.config.share_spread_burst = 0.5;
        struct xst_sim_result result = run(&device.config);
        const struct xst_stage stage = {T0, R, Q, MANY * 32768.0};
        const double law = xst_law_period_us(&stage, gaps[i]);
        xt_near(result.steady_issue_mean_us, xst_law_issue_us(&stage, gaps[i]), 0.01 * law);
        xt_near(result.makespan_us / 3000, law, 0.01 * law);
        xst_sim_result_free(&result);
    }
}

/* ---- the slow engine: every rate anew at every event, by bisection ---- */

enum { FEW = 6, PORTS = 3, BURSTS = 5 };

struct slow {
    int count, groups;
    double drain;
    int group[FEW];
    double capacity[FEW], weight[FEW], floor[FEW], bytes[FEW], gap[FEW];
    double backlog[FEW], left[FEW], timer[FEW], rate[FEW];
    int issuing[FEW], done[FEW];
    double end[FEW], drained_at[FEW];
};

static double accept_rate(const struct slow *slow, int k)
{
    return slow->bytes[k] / slow->floor[k];
}

static int active(const struct slow *slow, int k)
{
    return slow->issuing[k] || slow->backlog[k] > 1e-6;
}

static double in_group(struct slow *slow, int group, double bytes_per_us)
{
    double low = 0, high = 1e9, sum = 0;
    for (int i = 0; i < 200; i++) {
        const double middle = 0.5 * (low + high);
        sum = 0;
        for (int k = 0; k < slow->count; k++)
            if (slow->group[k] == group && active(slow, k)) {
                slow->rate[k] = fmin(slow->weight[k] * middle, accept_rate(slow, k));
                sum += slow->rate[k];
            }
        if (sum < bytes_per_us)
            low = middle;
        else
            high = middle;
    }
    return sum;
}

static void set_rates(struct slow *slow)
{
    double low = 0, high = 1e9;
    for (int i = 0; i < 200; i++) {
        const double level = 0.5 * (low + high);
        double sum = 0;
        for (int g = 0; g < slow->groups; g++) {
            double wants = 0;
            for (int k = 0; k < slow->count; k++)
                wants += slow->group[k] == g && active(slow, k) ? accept_rate(slow, k) : 0;
            sum += fmin(level, wants);
        }
        if (sum < slow->drain)
            low = level;
        else
            high = level;
    }
    for (int k = 0; k < slow->count; k++)
        slow->rate[k] = 0;
    for (int g = 0; g < slow->groups; g++)
        in_group(slow, g, low);
}

static double accepted_rate(const struct slow *slow, int k)
{
    if (!slow->issuing[k])
        return 0;
    if (slow->backlog[k] < slow->capacity[k] - 1e-6)
        return accept_rate(slow, k);
    return fmin(accept_rate(slow, k), slow->rate[k]);
}

static void slow_run(struct slow *slow)
{
    double now = 0;
    for (;;) {
        set_rates(slow);
        double step = INFINITY;
        for (int k = 0; k < slow->count; k++) {
            const double in = accepted_rate(slow, k), net = in - slow->rate[k];
            if (slow->issuing[k])
                step = fmin(step, slow->left[k] / in);
            else if (slow->done[k] < BURSTS)
                step = fmin(step, slow->timer[k] - now);
            if (net > 1e-9 && slow->backlog[k] < slow->capacity[k] - 1e-6)
                step = fmin(step, (slow->capacity[k] - slow->backlog[k]) / net);
            if (net < -1e-9 && slow->backlog[k] > 1e-6)
                step = fmin(step, slow->backlog[k] / -net);
        }
        if (step == INFINITY)
            return;
        step = fmax(step, 0);
        now += step;
        for (int k = 0; k < slow->count; k++) {
            const double in = accepted_rate(slow, k);
            const double before = slow->backlog[k];
            slow->backlog[k] = fmax(0, before + (in - slow->rate[k]) * step);
            if (slow->issuing[k]) {
                slow->left[k] -= in * step;
                if (slow->left[k] < 1e-6) {
                    slow->issuing[k] = 0;
                    slow->done[k]++;
                    slow->end[k] = now;
                    slow->timer[k] = now + slow->gap[k];
                }
            }
            if (before > 1e-6 && slow->backlog[k] <= 1e-6)
                slow->drained_at[k] = now;
        }
        for (int k = 0; k < slow->count; k++)
            if (!slow->issuing[k] && slow->done[k] < BURSTS && slow->timer[k] <= now + 1e-9) {
                slow->issuing[k] = 1;
                slow->left[k] = slow->bytes[k];
            }
    }
}

static int slow_next(void *context, int64_t producer, int64_t step, double now_us, struct xst_sim_step *step_out)
{
    const struct slow *const slow = context;
    (void)now_us;
    if (step >= BURSTS)
        return 0;
    step_out->work_us = step ? slow->gap[producer] : (double)producer * 0.013;
    step_out->bytes = slow->bytes[producer];
    step_out->floor_us = slow->floor[producer];
    return 1;
}

static double uniform(unsigned *seed, double low, double high)
{
    return low + (high - low) * (double)rand_r(seed) / (double)RAND_MAX;
}

static void agrees_with_slow_engine(void **state)
{
    (void)state;
    for (unsigned trial = 0; trial < 300; trial++) {
        unsigned seed = trial + 1;
        struct slow slow = {.count = 1 + (int)(trial % FEW), .groups = 1 + (int)(trial / 7 % PORTS), .drain = 100};
        struct xst_sim_producer producers[FEW];
        for (int k = 0; k < slow.count; k++) {
            slow.group[k] = rand_r(&seed) % slow.groups;
            slow.capacity[k] = uniform(&seed, 0, 400);
            slow.weight[k] = uniform(&seed, 0.5, 2);
            slow.floor[k] = uniform(&seed, 1, 20);
            slow.bytes[k] = uniform(&seed, 100, 900);
            slow.gap[k] = uniform(&seed, 0.1, 15);
            slow.timer[k] = k * 0.013;
            producers[k] = (struct xst_sim_producer){0, slow.group[k], slow.capacity[k], slow.weight[k]};
        }
        const struct xst_sim_source source = {.drain_bytes_per_us = slow.drain, .groups = slow.groups};
        const struct xst_sim_config config = {.sources = &source,
                                              .source_count = 1,
                                              .producers = producers,
                                              .producer_count = slow.count,
                                              .next = slow_next,
                                              .context = &slow};
        struct xst_sim_result result = run(&config);
        slow_run(&slow);
        for (int k = 0; k < slow.count; k++) {
            xt_near(result.accounts[k].end_us, slow.end[k], 1e-4 * slow.end[k]);
            xt_near(fmax(result.accounts[k].drained_us, result.accounts[k].end_us),
                    fmax(slow.drained_at[k], slow.end[k]), 1e-4 * slow.end[k]);
        }
        xst_sim_result_free(&result);
    }
}

/* ---- what holds in any run ---- */

static void random_device(struct device *device, unsigned *seed)
{
    const int64_t producers = 1 + rand_r(seed) % 40;
    device_make(device, producers, uniform(seed, 1e4, 5e5), uniform(seed, 0, 3e6),
                &(struct xst_sim_pattern){.bytes = uniform(seed, 100, 1e5),
                                          .floor_us = uniform(seed, 0.05, 2),
                                          .gap_us = uniform(seed, 0, 10),
                                          .bursts = 1 + rand_r(seed) % 20});
    device->source.groups = 1 + rand_r(seed) % 8;
    for (int64_t i = 0; i < producers; i++) {
        device->producers[i].group = rand_r(seed) % device->source.groups;
        device->producers[i].weight = uniform(seed, 0.2, 5);
    }
    device->config.share_spread_burst = uniform(seed, 0, 1);
    device->config.share_spread = uniform(seed, 0, 0.5);
    device->config.series_step_us = uniform(seed, 0.1, 3);
    device->config.series_count = 200;
    device->config.seed = *seed;
}

static void conserves_bytes_and_capacity(void **state)
{
    (void)state;
    unsigned seed = 7;
    for (int trial = 0; trial < 200; trial++) {
        struct device device;
        random_device(&device, &seed);
        struct xst_sim_result result = run(&device.config);
        const double bytes =
            (double)device.config.producer_count * (double)device.pattern.bursts * device.pattern.bytes;
        xt_near(result.injected_bytes, bytes, 1e-6 * bytes);
        xt_near(result.drained_bytes, bytes, 1e-6 * bytes);
        double capacity = 0;
        for (int64_t i = 0; i < device.config.producer_count; i++)
            capacity += device.producers[i].capacity_bytes;
        for (size_t i = 0; i < result.series_count; i++)
            xt_within(result.series[i].backlog_bytes, 0, capacity * (1 + 1e-9) + 1e-3);
        assert_true(result.makespan_us >= bytes / device.source.drain_bytes_per_us * (1 - 1e-9));
        for (int64_t i = 0; i < result.account_count; i++) {
            assert_int_equal(result.accounts[i].bursts, device.pattern.bursts);
            assert_true(result.accounts[i].issue_us >=
                        device.pattern.floor_us * (double)device.pattern.bursts * (1 - 1e-9));
            assert_true(result.accounts[i].drained_us > 0);
        }
        xst_sim_result_free(&result);
    }
}

static void faster_drain_or_more_capacity_never_hurts(void **state)
{
    (void)state;
    for (double gap = 0; gap <= 12; gap += 3) {
        double last_issue[2] = {INFINITY, INFINITY};
        for (double scale = 0.5; scale <= 4; scale *= 1.3)
            for (int which = 0; which < 2; which++) {
                struct device device;
                device_make(&device, MANY, which ? R : R * scale, which ? Q * scale : Q,
                            &(struct xst_sim_pattern){.bytes = 32768, .floor_us = T0, .gap_us = gap, .bursts = 60});
                struct xst_sim_result result = run(&device.config);
                assert_true(result.issue_mean_us <= last_issue[which] * (1 + 1e-6));
                last_issue[which] = result.issue_mean_us;
                xst_sim_result_free(&result);
            }
    }
}

static void same_seed_same_run(void **state)
{
    (void)state;
    struct device device;
    device_make(&device, MANY, R, Q,
                &(struct xst_sim_pattern){.bytes = 32768, .floor_us = T0, .gap_us = 5, .bursts = 9});
    device.config.share_spread_burst = 0.4;
    struct xst_sim_result first = run(&device.config), second = run(&device.config);
    assert_memory_equal(first.accounts, second.accounts, (size_t)first.account_count * sizeof *first.accounts);
    assert_int_equal(first.events, second.events);
    device.config.seed++;
    struct xst_sim_result other = run(&device.config);
    assert_true(other.makespan_us != first.makespan_us);
    xst_sim_result_free(&first);
    xst_sim_result_free(&second);
    xst_sim_result_free(&other);
}

static void sources_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct device one;
    device_make(&one, 8, R, Q, &(struct xst_sim_pattern){.bytes = 65536, .floor_us = T0, .gap_us = 1, .bursts = 20});
    struct xst_sim_result alone = run(&one.config);
    struct xst_sim_source sources[3] = {one.source, one.source, one.source};
    struct device three = one;
    for (int i = 0; i < 24; i++)
        three.producers[i] = (struct xst_sim_producer){i / 8, 0, one.producers[0].capacity_bytes, 1};
    three.config.sources = sources;
    three.config.source_count = 3;
    three.config.producers = three.producers;
    three.config.producer_count = 24;
    three.config.context = &three.pattern;
    struct xst_sim_result together = run(&three.config);
    xt_near(together.makespan_us, alone.makespan_us, 1e-9 * alone.makespan_us);
    xt_near(together.issue_mean_us, alone.issue_mean_us, 1e-9 * alone.issue_mean_us);
    xst_sim_result_free(&alone);
    xst_sim_result_free(&together);
}

/* P devices, lanes to each destination; `lanes[s][d]` producers of source s store to d. */
static struct xst_sim_result run_exchange(int devices, const int *lanes, const double *ingress, double drain)
{
    struct xst_sim_source sources[8];
    struct xst_sim_destination destinations[8];
    struct xst_sim_producer producers[256];
    int count = 0;
    for (int s = 0; s < devices; s++) {
        sources[s] = (struct xst_sim_source){.drain_bytes_per_us = drain, .groups = devices};
        destinations[s] = (struct xst_sim_destination){ingress[s]};
        for (int d = 0; d < devices; d++)
            for (int i = 0; i < lanes[s * devices + d]; i++)
                producers[count++] = (struct xst_sim_producer){s, d, 20000, 1};
    }
    struct xst_sim_pattern pattern = {.bytes = 65536, .floor_us = 1, .gap_us = 0.1, .bursts = 400};
    const struct xst_sim_config config = {.sources = sources,
                                          .source_count = devices,
                                          .destinations = destinations,
                                          .destination_count = devices,
                                          .producers = producers,
                                          .producer_count = count,
                                          .next = xst_sim_pattern_next,
                                          .context = &pattern,
                                          .share_spread_burst = 0.3,
                                          .seed = 2};
    return run(&config);
}

static void incast_is_bound_by_the_ingress(void **state)
{
    (void)state;
    /* Three devices with 8 producers each store to the fourth, which takes in no more than one of them sends. */
    const int lanes[16] = {[0 * 4 + 3] = 8, [1 * 4 + 3] = 8, [2 * 4 + 3] = 8};
    const double ingress[4] = {R, R, R, R};
    struct xst_sim_result result = run_exchange(4, lanes, ingress, R);
    const double bytes = 24 * 400 * 65536.0;
    xt_near(result.makespan_us, bytes / R, 0.02 * bytes / R);
    xt_near(result.drained_bytes, bytes, 1e-6 * bytes);
    xst_sim_result_free(&result);
}

static void what_incast_leaves_goes_elsewhere(void **state)
{
    (void)state;
    /* Sources 0 and 1 meet at destination 2; source 0 stores to destination 1 as well and is not held up there. */
    const int lanes[9] = {[0 * 3 + 2] = 8, [1 * 3 + 2] = 8, [0 * 3 + 1] = 8};
    const double ingress[3] = {R, R, R / 2};
    struct xst_sim_result result = run_exchange(3, lanes, ingress, R);
    double end[3] = {0, 0, 0}; /* producers in the order they were made: (0,1), (0,2), (1,2) */
    for (int i = 0; i < 24; i++)
        end[i / 8] = fmax(end[i / 8], result.accounts[i].drained_us);
    const double part = 8 * 400 * 65536.0;
    xt_near(end[0], part / (0.75 * R), 0.03 * end[0]); /* R less the quarter that goes to destination 2 */
    xt_near(end[1], 2 * part / (R / 2), 0.03 * end[1]);
    xt_near(end[2], 2 * part / (R / 2), 0.03 * end[2]);
    xst_sim_result_free(&result);
}

static void wide_destinations_change_nothing(void **state)
{
    (void)state;
    /* One lane to each of four destinations with room to spare: as without destinations, up to the groups' order. */
    const int lanes[16] = {3, 2, 4, 1};
    const double ingress[4] = {10 * R, 10 * R, 10 * R, 10 * R};
    struct xst_sim_result with = run_exchange(4, lanes, ingress, R / 4);
    struct device device;
    device_make(&device, 10, R / 4, 200000,
                &(struct xst_sim_pattern){.bytes = 65536, .floor_us = 1, .gap_us = 0.1, .bursts = 400});
    device.source.groups = 4;
    for (int i = 0; i < 10; i++)
        device.producers[i].group = i < 3 ? 0 : i < 5 ? 1 : i < 9 ? 2 : 3;
    device.config.share_spread_burst = 0.3;
    device.config.seed = 2;
    struct xst_sim_result without = run(&device.config);
    for (int i = 0; i < 10; i++)
        xt_near(with.accounts[i].end_us, without.accounts[i].end_us, 1e-3 * without.accounts[i].end_us);
    xst_sim_result_free(&with);
    xst_sim_result_free(&without);
}

static void refuses_what_is_out_of_range(void **state)
{
    (void)state;
    struct device device;
    struct xst_sim_result result;
    struct xst_diag diag;
    const struct xst_sim_pattern pattern = {.bytes = 100, .floor_us = 1, .bursts = 1};
    device_make(&device, 2, R, Q, &pattern);
    device.source.drain_bytes_per_us = 0;
    xt_status(xst_sim_run(&device.config, &result, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "drain_bytes_per_us");
    device_make(&device, 2, R, Q, &pattern);
    device.producers[1].group = 1;
    xt_status(xst_sim_run(&device.config, &result, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "producers[1].group is 1");
    device_make(&device, 2, R, Q, &pattern);
    device.pattern.floor_us = 0;
    xt_status(xst_sim_run(&device.config, &result, &diag), XST_ERR_RANGE, &diag);
    xt_contains(diag.text, "floor_us");
    device_make(&device, 2, R, Q, &pattern);
    device.pattern.bursts = 1000;
    device.config.event_limit = 50;
    xt_status(xst_sim_run(&device.config, &result, &diag), XST_ERR_TIMEOUT, &diag);
    xt_contains(diag.text, "50 events");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(isolated_is_law_7),
        cmocka_unit_test(aligned_is_law_11),
        cmocka_unit_test(drifting_is_law_1),
        cmocka_unit_test(agrees_with_slow_engine),
        cmocka_unit_test(conserves_bytes_and_capacity),
        cmocka_unit_test(faster_drain_or_more_capacity_never_hurts),
        cmocka_unit_test(same_seed_same_run),
        cmocka_unit_test(sources_do_not_disturb_each_other),
        cmocka_unit_test(incast_is_bound_by_the_ingress),
        cmocka_unit_test(what_incast_leaves_goes_elsewhere),
        cmocka_unit_test(wide_destinations_change_nothing),
        cmocka_unit_test(refuses_what_is_out_of_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
