/* SPDX-License-Identifier: Apache-2.0
 *
 * fixture.h - the machines the audit is tested on.
 */
#ifndef XST_TESTS_AUDIT_FIXTURE_H
#define XST_TESTS_AUDIT_FIXTURE_H

#include <stdlib.h>
#include <string.h>

#include <xstage/audit.h>

#include "support/support.h"

static const double mib = 1048576;

/* The published 148-SM machine, as stored. */
static inline struct xst_profile paper_profile(void)
{
    struct xst_profile profile = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_profile_read(XST_SOURCE_DIR "/profiles/paper-148sm.json", &profile, NULL, &diag), &diag);
    return profile;
}

/* A fit of recorded rows with the machine's facts. */
static inline struct xst_profile fitted_profile(struct xst_samples samples, const char *facts_name)
{
    struct xst_machine_facts facts;
    struct xst_profile profile = {0};
    struct xst_diag diag = {XST_OK, 0, ""};
    char *const path = xt_join(XST_SOURCE_DIR "/data", facts_name);
    xt_ok(xst_machine_facts_read(path, &facts, &diag), &diag);
    const struct xst_fit_options options = {&facts, "recorded"};
    xt_ok(xst_profile_fit(&samples, &options, &profile, NULL, &diag), &diag);
    free(path);
    xst_samples_free(&samples);
    return profile;
}

static inline struct xst_profile h200_profile(void)
{
    return fitted_profile(xt_nvlink_samples(), "h200x2.json");
}

static inline struct xst_profile host_profile(void)
{
    return fitted_profile(xt_host_samples(), "h200-host.json");
}

/* K producers x B bytes, everything remote, nothing promised. */
static inline struct xst_traffic plain_traffic(int64_t producers, double bytes, double gap_us)
{
    struct xst_traffic traffic = {.kernel = "test",
                                  .producers = producers,
                                  .bytes_per_producer = bytes,
                                  .remote_frac = 1,
                                  .burst_remote_frac = 1,
                                  .gap_us = gap_us,
                                  .prefetch_us = -1};
    return traffic;
}

static inline struct xst_audit audit_of(const struct xst_profile *profile, const struct xst_traffic *traffic)
{
    struct xst_audit audit;
    struct xst_diag diag = {XST_OK, 0, ""};
    xt_ok(xst_audit_traffic(profile, traffic, NULL, &audit, &diag), &diag);
    return audit;
}

/* The first action of a kind, or NULL. */
static inline const struct xst_action *action_of(const struct xst_audit *audit, enum xst_change what)
{
    for (size_t i = 0; i < audit->action_count; i++) {
        if (audit->actions[i].what == what)
            return &audit->actions[i];
    }
    return NULL;
}

#endif
