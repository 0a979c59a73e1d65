/* SPDX-License-Identifier: Apache-2.0
 *
 * profile_fields.h - the keys of a profile document, one list per object, so that reader, writer and the unknown-key check
 * name the same things.
 */
#ifndef XSTI_RECORD_PROFILE_FIELDS_H
#define XSTI_RECORD_PROFILE_FIELDS_H

#define XSTI_PROFILE_SCHEMA "xstage.profile"
enum { XSTI_PROFILE_MAJOR = 1 };

/* Bounds of what stands in tables, for reader and check alike: what cannot be read must not be written. */
#define XSTI_MOST_US     1e12
#define XSTI_MOST_BYTES  1e18
#define XSTI_LEAST_DRAIN 1e-9

/* X(field): texts of struct xst_machine_facts */
#define XSTI_FACT_TEXTS(X) X(machine) X(device) X(driver) X(cuda) X(date) X(origin) X(note)

/* X(field, low, high): numbers of struct xst_machine_facts */
#define XSTI_FACT_NUMBERS(X)                                                                                           \
    X(sm_count, 1, 65536)                                                                                              \
    X(sm_clock_ghz, 1e-3, 1e3)                                                                                         \
    X(l2_bytes, 1, 1e15)                                                                                               \
    X(memory_gib, 1e-3, 1e9)                                                                                           \
    X(links_per_gpu, 0, 1e6)                                                                                           \
    X(link_gb_per_s, 1e-6, 1e9)                                                                                        \
    X(peak_bf16_tflops, 1e-3, 1e9)

/* X(field, low, high): scalars of struct xst_path printed as a number or null, their interval apart under "intervals" */
#define XSTI_PATH_FIRST_SCALARS(X)                                                                                     \
    X(loop_us, 0, 1e9)                                                                                                 \
    X(fence_us, 0, 1e9)                                                                                                \
    X(capacity_per_producer_bytes, 0, 1e15)                                                                            \
    X(capacity_total_bytes, 0, 1e15)                                                                                   \
    X(capacity_form_max_rel_err, 0, 1e9)                                                                               \
    X(free_capacity_bytes, 0, 1e15)                                                                                    \
    X(groups, 1, 65536)                                                                                                \
    X(share_spread_burst, 0, 1e3)                                                                                      \
    X(share_spread, 0, 1e3)

/* the same, of later versions: written only where known, so that what was written before keeps its bytes and its id */
#define XSTI_PATH_LATER_SCALARS(X) X(record_bytes, 0, 1e15) X(turn_us, 0, 1e9)

#define XSTI_PATH_SCALARS(X) XSTI_PATH_FIRST_SCALARS(X) XSTI_PATH_LATER_SCALARS(X)

/* X(key, field): |relative error| of the fitted tables on their own rows, median in value, worst in high */
#define XSTI_PATH_RESIDUALS(X) X(drain, residual_drain) X(floor, residual_floor) X(capacity, residual_capacity)

#endif
