/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline/kernel.h"

#include <math.h>

#include "base/diag.h"

enum xst_status xsti_kernel_rate(const struct xst_profile *profile, int64_t *sms, double *sm_flop_per_us,
                                 struct xst_diag *diag)
{
    const struct xst_machine_facts *const facts = &profile->machine;
    const double device_sms = facts->sm_count.known ? facts->sm_count.value : (double)*sms;
    if (*sms == 0 && !facts->sm_count.known)
        return xsti_fail(diag, XST_ERR_NO_DATA,
                         "the profile does not know how many SMs the device has; give --producers");
    if (*sms == 0)
        *sms = (int64_t)facts->sm_count.value;
    if (*sm_flop_per_us > 0)
        return XST_OK;
    if (!facts->peak_bf16_tflops.known)
        return xsti_fail(diag, XST_ERR_NO_DATA, "the profile does not know the device's peak rate; give --tflops");
    *sm_flop_per_us = facts->peak_bf16_tflops.value * 1e6 / device_sms;
    return XST_OK;
}

enum xst_status xsti_kernel_config(const struct xst_profile *profile, const struct xst_path_key *key, int64_t sms,
                                   double bytes, const struct xst_timeline_options *options,
                                   struct xst_timeline_config *config, struct xst_diag *diag)
{
    struct xst_path wanted = {.target = key->target, .direction = key->direction, .method = key->method};
    char text[64];
    const struct xst_path *const path = xst_profile_path(profile, key);
    if (!path)
        return xsti_fail(diag, XST_ERR_NO_DATA, "profile %.60s has no path %s", profile->name,
                         xst_path_text(&wanted, text, sizeof text));
    XSTI_TRY(xst_timeline_machine_read(path, sms, bytes, options->extrapolate, &config->machine, diag));
    if (options->ingress_bytes_per_us > 0)
        config->machine.ingress_bytes_per_us = options->ingress_bytes_per_us;
    if (options->dispersion && !path->groups.known)
        return xsti_fail(diag, XST_ERR_NO_DATA,
                         "profile %.60s does not know the groups of path %s; `xstage fit --dispersion` finds them",
                         profile->name, xst_path_text(path, text, sizeof text));
    if (options->bystanders && !path->free_capacity_bytes.known)
        return xsti_fail(diag, XST_ERR_NO_DATA,
                         "profile %.60s does not know Q_free of path %s, the backlog that delays no load",
                         profile->name, xst_path_text(path, text, sizeof text));
    if (options->dispersion)
        config->machine.groups = (int64_t)path->groups.value;
    config->bystanders = options->bystanders;
    config->exact_links = options->exact_links;
    config->slices = options->slices;
    config->scale_out = options->scale_out;
    if (options->scale_out.domain_ranks > 0 &&
        options->scale_out.domain_ranks <
            config->ranks) { /* kernels exchange evenly, or with everybody: something crosses */
        if (!(options->scale_out.latency_us >= 0 && options->scale_out.latency_us <= 1e9))
            return xsti_fail(diag, XST_ERR_RANGE, "latency_us is %g, outside 0..1e9", options->scale_out.latency_us);
        config->machine.visible_us += options->scale_out.latency_us;
        config->machine.signal_us += options->scale_out.latency_us;
    }
    config->sms = sms;
    config->issuer = options->issuer;
    config->coupling = options->coupling;
    config->work_spread = options->work_spread;
    config->start_skew_us = options->start_skew_us;
    config->rate_step_us = options->rate_step_us;
    config->seed = options->seed;
    config->event_limit = options->event_limit;
    config->series_step_us = options->series_step_us;
    config->series_count = options->series_count;
    config->span = options->span;
    config->span_context = options->span_context;
    return XST_OK;
}

enum xst_status xsti_kernel_run(struct xst_timeline_config *config, const struct xst_timeline_options *options,
                                void (*rewind)(void *context), struct xst_timeline_result *result_out,
                                struct xst_diag *diag)
{
    struct xst_timeline_result result, bare;
    XSTI_TRY(xst_timeline_run(config, &result, diag));
    if (!options->no_free_run) {
        struct xst_timeline_config alone = *config;
        alone.free_exchange = 1;
        alone.span = NULL;
        alone.series_count = 0;
        if (rewind)
            rewind(config->context);
        const enum xst_status status = xst_timeline_run(&alone, &bare, diag);
        if (status != XST_OK) {
            xst_timeline_result_free(&result);
            return status;
        }
        result.free_us = bare.sender_us;
        result.exposed_us = result.makespan_us - result.free_us;
        xst_timeline_result_free(&bare);
    }
    *result_out = result;
    return XST_OK;
}
