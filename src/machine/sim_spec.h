/* SPDX-License-Identifier: Apache-2.0
 *
 * sim_spec.h - the text of a synthetic machine:
 * producers=132,drain=372GB/s,per-producer=19KiB,total=2.4MiB,floor=50GB/s,fence=2us,spread=0.25,noise=0.02,seed=1
 */
#ifndef XSTI_MACHINE_SIM_SPEC_H
#define XSTI_MACHINE_SIM_SPEC_H

#include <stdint.h>

#include <xstage/status.h>

/* X(key, kind, member, fallback, low, high, meaning): kind is RATE, BYTES,
 * TIME, REAL or COUNT, and says which units a value may carry. A fallback below
 * 0: the key is needed. */
#define XSTI_SIM_KEYS(X)                                                                                               \
    X("producers", COUNT, producers, -1, 1, 65536, "producers that fill the device")                                   \
    X("drain", RATE, drain_bytes_per_us, -1, 1, 1e9, "R")                                                              \
    X("per-producer", BYTES, per_producer_bytes, -1, 1, 1e12, "capacity of one producer")                              \
    X("total", BYTES, total_bytes, 1e15, 1, 1e15, "bound of all capacities together")                                  \
    X("floor", RATE, floor_bytes_per_us, -1, 1, 1e9, "rate at which one producer issues without backpressure")         \
    X("fence", TIME, fence_us, 1, 0, 1e6, "F")                                                                         \
    X("loop", TIME, loop_us, 0, 0, 1e6, "d")                                                                           \
    X("free", BYTES, free_bytes, 0, 0, 1e15, "Q_free; 0: bystanders cannot be asked")                                  \
    X("groups", COUNT, groups, 1, 1, 1024, "hardware groups with equal shares")                                        \
    X("spread", REAL, share_spread_burst, 0, 0, 3, "spread of the shares, drawn at every burst")                       \
    X("share-spread", REAL, share_spread, 0, 0, 3, "spread of the shares, drawn once")                                 \
    X("devices", COUNT, devices, 2, 2, 1024, "that send to each other")                                                \
    X("ingress", RATE, ingress_bytes_per_us, 0, 0, 1e9, "most that one device takes in; 0: R")                         \
    X("domain", COUNT, domain_devices, 0, 0, 1024, "devices of one NVLink domain; 0: all of them")                     \
    X("nic", RATE, nic_bytes_per_us, 400e3, 1, 1e9, "of a domain's interfaces together, each way")                     \
    X("noise", REAL, noise, 0, 0, 1, "relative spread of every measured time")                                         \
    X("seed", COUNT, seed, 1, 0, 4294967295.0, "of shares and noise")

struct xsti_sim_spec {
#define X(key, kind, member, fallback, low, high, meaning) double member;
    XSTI_SIM_KEYS(X)
#undef X
};

/* What a stored machine may be given beside its name: whatever says how many of them there are and how they meet. */
enum xst_status xsti_sim_spec_parse_many(const char *text, struct xsti_sim_spec *spec_out, struct xst_diag *diag);

/* Unknown and repeated keys, missing keys, wrong units and values out of range
 * are errors that name the key. */
enum xst_status xsti_sim_spec_parse(const char *text, struct xsti_sim_spec *spec_out, struct xst_diag *diag);

#endif
