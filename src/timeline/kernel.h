/* SPDX-License-Identifier: Apache-2.0
 *
 * kernel.h - what the kernels' timelines share.
 */
#ifndef XSTI_TIMELINE_KERNEL_H
#define XSTI_TIMELINE_KERNEL_H

#include <xstage/timeline.h>

#pragma GCC visibility push(hidden)

/* SMs of the device and the rate of one, where the plan leaves them 0: from the profile. */
enum xst_status xsti_kernel_rate(const struct xst_profile *profile, int64_t *sms, double *sm_flop_per_us,
                                 struct xst_diag *diag);

/* The path's machine with the options' changes, and the options' part of the config. */
enum xst_status xsti_kernel_config(const struct xst_profile *profile, const struct xst_path_key *key, int64_t sms,
                                   double bytes, const struct xst_timeline_options *options,
                                   struct xst_timeline_config *config, struct xst_diag *diag);

/* The run; and with `rewind` the same program again without its exchange. rewind starts the program over. */
enum xst_status xsti_kernel_run(struct xst_timeline_config *config, const struct xst_timeline_options *options,
                                void (*rewind)(void *context), struct xst_timeline_result *result_out,
                                struct xst_diag *diag);

#pragma GCC visibility pop

#endif
