/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit of any traffic, and the steps that the kernels' audits share.
 */
#include <xstage/audit.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "audit/judge.h"
#include "base/diag.h"

static enum xst_status check_options(const struct xst_audit_options *options, struct xst_diag *diag)
{
    if (!(options->peak_tflops >= 0 && options->peak_tflops <= 1e9))
        return xsti_fail(diag, XST_ERR_RANGE, "peak_tflops is %g, outside 0..1e9", options->peak_tflops);
    if (!(options->given_tflops >= 0 && options->given_tflops <= 1e9))
        return xsti_fail(diag, XST_ERR_RANGE, "given_tflops is %g, outside 0..1e9", options->given_tflops);
    if (options->lead < 0)
        return xsti_fail(diag, XST_ERR_RANGE, "lead is %lld, at least 0 is needed", (long long)options->lead);
    return XST_OK;
}

/* The paths of a target, for the message that the wanted one is not there. */
static void list_paths(const struct xst_profile *profile, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < profile->path_count && at + 64 < size; i++) {
        char name[64];
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? ", " : "",
                               xst_path_text(&profile->paths[i], name, sizeof name));
    }
}

enum xst_status xsti_audit_begin(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                 const struct xst_audit_options *options, struct xst_audit *audit,
                                 const struct xst_path **path_out, struct xst_diag *diag)
{
    char paths[512];
    struct xsti_judgement judgement;
    XSTI_TRY(check_options(options, diag));
    XSTI_TRY(xst_traffic_check(traffic, diag));
    const struct xst_path *const path = xst_profile_path(profile, &traffic->path);
    if (!path) {
        list_paths(profile, paths, sizeof paths);
        return xsti_fail(diag, XST_ERR_NO_DATA,
                         "profile %s has no path %s/%s of that direction, threads and pattern; it has %s",
                         profile->name[0] ? profile->name : profile->id, xst_target_text(traffic->path.target),
                         xst_method_text(traffic->path.method), paths);
    }
    xsti_judge(path, traffic, options->extrapolate, &judgement);
    memcpy(audit->profile_id, profile->id, sizeof audit->profile_id);
    memcpy(audit->profile_name, profile->name, sizeof audit->profile_name);
    audit->traffic = *traffic;
    audit->verdict = judgement.verdict;
    audit->rate = judgement.rate;
    audit->capacity = judgement.capacity;
    audit->staging = judgement.staging;
    audit->bystander_holds = judgement.bystander_holds;
    audit->aligned = judgement.aligned;
    audit->drifting = judgement.drifting;
    audit->numbers = judgement.numbers;
    audit->extrapolated = judgement.extrapolated;
    *path_out = path;
    return XST_OK;
}

/* The verdict is about compute at peak; what a measured rate would change stands beside it. */
static void given_rate(const struct xst_audit_options *options, double peak_tflops, struct xst_audit *audit)
{
    struct xst_audit_numbers *const numbers = &audit->numbers;
    if (!(options->given_tflops > 0 && peak_tflops > 0))
        return;
    numbers->given_tflops = xsti_number_of(options->given_tflops);
    numbers->gap_given_us = xsti_number_of(numbers->gap_us.value * peak_tflops / options->given_tflops);
    if (!numbers->issue_floor_us.known || !numbers->drain_bytes_per_us.known)
        return;
    const struct xst_stage stage = {numbers->issue_floor_us.value, numbers->drain_bytes_per_us.value, INFINITY,
                                    numbers->remote_bytes.value};
    numbers->margin_rate_given_bytes = xsti_number_of(xst_law_margin_rate_bytes(&stage, numbers->gap_given_us.value));
}

static double peak_of(const struct xst_profile *profile, const struct xst_audit_options *options)
{
    if (options->peak_tflops > 0)
        return options->peak_tflops;
    return profile->machine.peak_bf16_tflops.known ? profile->machine.peak_bf16_tflops.value : 0;
}

void xsti_audit_finish(const struct xst_profile *profile, const struct xst_path *path,
                       const struct xst_audit_options *options, struct xst_audit *audit)
{
    struct xsti_judgement judgement;
    if (audit->kind != XST_AUDIT_TRAFFIC)
        given_rate(options, peak_of(profile, options), audit);
    xsti_judge(path, &audit->traffic, options->extrapolate, &judgement);
    xsti_actions_find(profile, path, options->extrapolate, audit);
    xsti_audit_say(profile, path, judgement.missing, audit);
}

enum xst_status xsti_machine_rate(const struct xst_profile *profile, const struct xst_audit_options *options,
                                  int64_t *producers, double *sm_flop_per_us, double *peak_tflops_out,
                                  struct xst_diag *diag)
{
    const struct xst_measure *const sms = &profile->machine.sm_count;
    const char *const name = profile->name[0] ? profile->name : profile->id;
    *peak_tflops_out = peak_of(profile, options);
    if (*producers == 0) {
        if (!sms->known)
            return xsti_fail(diag, XST_ERR_NO_DATA, "profile %s does not know the machine's SM count; give --producers",
                             name);
        *producers = (int64_t)sms->value;
    }
    if (*sm_flop_per_us > 0)
        return XST_OK;
    if (*peak_tflops_out <= 0)
        return xsti_fail(diag, XST_ERR_NO_DATA, "profile %s does not know the machine's peak rate; give --peak-tflops",
                         name);
    *sm_flop_per_us = *peak_tflops_out * 1e6 / (sms->known ? sms->value : (double)*producers);
    return XST_OK;
}

enum xst_status xst_audit_traffic(const struct xst_profile *profile, const struct xst_traffic *traffic,
                                  const struct xst_audit_options *options, struct xst_audit *audit_out,
                                  struct xst_diag *diag)
{
    static const struct xst_audit_options none = {0};
    const struct xst_path *path = NULL;
    struct xst_audit audit = {.kind = XST_AUDIT_TRAFFIC};
    if (!options)
        options = &none;
    XSTI_TRY(xsti_audit_begin(profile, traffic, options, &audit, &path, diag));
    xsti_audit_finish(profile, path, options, &audit);
    *audit_out = audit;
    return XST_OK;
}
