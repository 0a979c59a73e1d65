/* SPDX-License-Identifier: Apache-2.0 */
#include "support/synth.h"

#include <math.h>

#include <xstage/model.h>

double xt_random(uint64_t *seed, double low, double high)
{
    /* splitmix64 */
    uint64_t word = (*seed += UINT64_C(0x9e3779b97f4a7c15));
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    word ^= word >> 31;
    return low + (high - low) * (double)(word >> 11) / 9007199254740992.0;
}

double xt_machine_floor_us(const struct xt_machine *machine, double bytes_per_producer)
{
    return machine->floor_us + bytes_per_producer / machine->floor_bytes_per_us;
}

double xt_machine_capacity_bytes(const struct xt_machine *machine, double producers)
{
    return fmin(producers * machine->capacity_per_producer_bytes, machine->capacity_total_bytes);
}

double xt_machine_knee_bytes(const struct xt_machine *machine, double producers)
{
    /* K*B - R*(f + B/r) = Q */
    const double slope = producers - machine->drain_bytes_per_us / machine->floor_bytes_per_us;
    if (slope <= 0)
        return INFINITY;
    return (xt_machine_capacity_bytes(machine, producers) + machine->drain_bytes_per_us * machine->floor_us) / slope;
}

static double log_random(uint64_t *seed, double low, double high)
{
    return exp(xt_random(seed, log(low), log(high)));
}

struct xt_machine xt_machine_draw(uint64_t seed, int64_t *producers_out)
{
    struct xt_machine machine = {.seed = seed * 1000003 + 17};
    uint64_t *const from = &machine.seed;
    const double producers = floor(log_random(from, 16, 160));
    machine.drain_bytes_per_us = log_random(from, 20e3, 800e3);
    /* all producers together offer 3 to 20 times the drain, one of them less than it */
    machine.floor_bytes_per_us = machine.drain_bytes_per_us * fmin(xt_random(from, 3, 20) / producers, 0.9);
    machine.floor_us = xt_random(from, 0.05, 0.15);
    machine.capacity_per_producer_bytes = log_random(from, 8e3, 40e3);
    machine.capacity_total_bytes = xt_random(from, 0, 1) < 0.5
                                       ? INFINITY
                                       : producers * machine.capacity_per_producer_bytes * xt_random(from, 0.5, 0.9);
    machine.loop_us = xt_random(from, 0.1, 0.4);
    machine.fence_us = xt_random(from, 0.5, 3);
    machine.noise = xt_random(from, 0.01, 0.02);
    machine.drifting = xt_random(from, 0, 1) < 0.5;
    *producers_out = (int64_t)producers;
    return machine;
}

static double noisy(struct xt_machine *machine, double value)
{
    return value * (1 + machine->noise * xt_random(&machine->seed, -1, 1));
}

static struct xst_stage stage_of(const struct xt_machine *machine, int64_t producers, int64_t bytes)
{
    return (struct xst_stage){xt_machine_floor_us(machine, (double)bytes), machine->drain_bytes_per_us,
                              xt_machine_capacity_bytes(machine, (double)producers), (double)producers * (double)bytes};
}

void xt_machine_row(struct xt_machine *machine, enum xst_mode mode, int64_t producers, int64_t bytes, double gap_us,
                    int64_t bursts, struct xst_samples *samples)
{
    struct xst_stage stage = stage_of(machine, producers, bytes);
    const double between_us = mode == XST_MODE_ISOLATED ? 0 : gap_us + machine->loop_us;
    /* Producers out of phase never meet the capacity bound: what the gap drains is always free again. */
    if (mode == XST_MODE_PERIODIC && machine->drifting)
        stage.capacity_bytes = fmax(stage.capacity_bytes, stage.drain_bytes_per_us * between_us);
    struct xst_step step = {0, 0, 0};
    double total_us = 0, issue_sum_us = 0, issue_max_us = 0;
    int64_t steady = 0;
    for (int64_t i = 0; i < bursts; i++) {
        step = xst_law_step(&stage, step.backlog_after_gap_bytes, between_us);
        total_us += step.issue_us + (i + 1 < bursts ? between_us : 0);
        if (2 * i >= bursts || bursts == 1) {
            issue_sum_us += step.issue_us;
            issue_max_us = fmax(issue_max_us, step.issue_us);
            steady++;
        }
    }
    const double issue_us = noisy(machine, issue_sum_us / (double)steady);
    const double tail_us =
        step.backlog_after_issue_bytes / stage.drain_bytes_per_us + noisy(machine, machine->fence_us);
    const struct xst_sample row = {
        .mode = mode,
        .target = XST_TARGET_PEER,
        .threads = 256,
        .producers = producers,
        .bytes_per_producer = bytes,
        .gap_us = gap_us,
        .bursts = bursts,
        .reps = 5,
        .issue_mean_us = issue_us,
        .issue_max_us = fmax(issue_us, issue_max_us),
        .release_mean_us = issue_us,
        .period_mean_us = mode == XST_MODE_ISOLATED ? 0 : issue_us + gap_us + noisy(machine, machine->loop_us),
        .fenced_max_us = issue_us + tail_us,
        .total_us = noisy(machine, total_us) + tail_us,
    };
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_samples_append(samples, &row, &diag), &diag);
}

static int64_t whole_bytes(double bytes)
{
    return (int64_t)(16 * ceil(bytes / 16));
}

/* The largest finite knee, of the largest count that has one; 64 KiB when no count can stall. */
static double largest_knee(const struct xt_machine *machine, const int64_t *counts, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        const double knee = xt_machine_knee_bytes(machine, (double)counts[i]);
        largest = isfinite(knee) ? fmax(largest, knee) : largest;
    }
    return largest > 0 ? largest : 65536;
}

void xt_machine_isolated(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples)
{
    /* From 1 KiB up in steps of a quarter, to three knees of the count that stalls last. */
    const double most = 3 * largest_knee(machine, counts, count);
    for (size_t i = 0; i < count; i++) {
        for (double bytes = 1024; bytes < 1.25 * most; bytes *= 1.25)
            xt_machine_row(machine, XST_MODE_ISOLATED, counts[i], whole_bytes(bytes), 0, 1, samples);
    }
}

void xt_machine_zero_gap(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples)
{
    for (size_t i = 0; i < count; i++) {
        for (double bytes = 4096; bytes < 150000; bytes *= 2)
            xt_machine_row(machine, XST_MODE_PERIODIC, counts[i], whole_bytes(bytes), 0, 128, samples);
    }
}

/* Gaps up to twice V/R. */
static void sweep_gaps(struct xt_machine *machine, enum xst_mode mode, const int64_t *counts, size_t count,
                       struct xst_samples *samples)
{
    for (size_t i = 0; i < count; i++) {
        for (double bytes = 8192; bytes < 70000; bytes *= 2) {
            const double drain_us = (double)counts[i] * bytes / machine->drain_bytes_per_us;
            for (double share = 0.1; share < 2.05; share += 0.1)
                xt_machine_row(machine, mode, counts[i], whole_bytes(bytes), drain_us * share, 96, samples);
        }
    }
}

void xt_machine_gaps(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples)
{
    sweep_gaps(machine, XST_MODE_PERIODIC, counts, count, samples);
}

void xt_machine_aligned(struct xt_machine *machine, const int64_t *counts, size_t count, struct xst_samples *samples)
{
    sweep_gaps(machine, XST_MODE_ALIGNED, counts, count, samples);
}
