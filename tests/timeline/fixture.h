/* SPDX-License-Identifier: Apache-2.0
 *
 * A small machine as a profile in memory, and what the timeline's tests say.
 */
#ifndef XST_TESTS_TIMELINE_FIXTURE_H
#define XST_TESTS_TIMELINE_FIXTURE_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <xstage/timeline.h>

/* 132 SMs, 989.4 TFLOP/s; peer paths st16 and bulk with the same R, T0 in proportion to bytes, c per SM. */
struct fixture {
    struct xst_profile profile;
    struct xst_path paths[2];
    struct xst_floor_point floor[2];
    struct xst_capacity_point capacity[1];
};

static inline void fixture_make(struct fixture *fixture, double drain, double floor_per_byte, double capacity)
{
    memset(fixture, 0, sizeof *fixture);
    fixture->floor[0] = (struct xst_floor_point){132, 64, 64 * floor_per_byte, XST_FLOOR_SOURCE_GIVEN};
    fixture->floor[1] = (struct xst_floor_point){132, 1 << 20, 1048576 * floor_per_byte, XST_FLOOR_SOURCE_GIVEN};
    fixture->capacity[0] = (struct xst_capacity_point){132, 132 * capacity, 0, 0, 1};
    for (int i = 0; i < 2; i++) {
        struct xst_path *const path = &fixture->paths[i];
        path->target = XST_TARGET_PEER;
        path->method = i ? XST_METHOD_BULK : XST_METHOD_ST16;
        path->threads = 256;
        path->drain_bytes_per_us = (struct xst_measure){drain, drain, drain, 1, 1};
        path->issue_floor = (struct xst_floor_table){fixture->floor, 2};
        path->capacity = (struct xst_capacity_table){fixture->capacity, 1};
    }
    strcpy(fixture->profile.name, "fixture");
    fixture->profile.machine.sm_count = (struct xst_measure){132, 132, 132, 1, 1};
    fixture->profile.machine.peak_bf16_tflops = (struct xst_measure){989.4, 989.4, 989.4, 1, 1};
    fixture->profile.paths = fixture->paths;
    fixture->profile.path_count = 2;
}

static inline void fixture_near(double value, double wanted, double frac)
{
    if (!(fabs(value - wanted) <= frac * fabs(wanted) + 1e-9))
        fail_msg("%.12g is not within %g of %.12g", value, frac, wanted);
}

static inline void fixture_ok(enum xst_status status, const struct xst_diag *diag)
{
    if (status != XST_OK)
        fail_msg("%s", diag->text);
}

/* xorshift, for shapes nobody thought of */
static inline int64_t fixture_draw(uint64_t *state, int64_t low, int64_t high)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return low + (int64_t)(*state % (uint64_t)(high - low + 1));
}

#endif
