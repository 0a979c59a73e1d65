/* SPDX-License-Identifier: Apache-2.0
 *
 * traffic.h - what a kernel stores, how much at once, and what it does in between.
 *
 * A traffic description is all the audit needs of a kernel: producers, bytes per burst, gap, store method, staging. Kernels in
 * this project derive theirs from (shape, plan) in cuda/<kernel>/traffic.c; anybody else's can be written as JSON in ten lines
 * (schema "xstage.traffic/1"; docs/traffic.md has the keys and an example).
 */
#ifndef XSTAGE_TRAFFIC_H
#define XSTAGE_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/profile.h>
#include <xstage/sample.h>
#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is known of how the producers' bursts lie in time. */
#define XST_PHASE_MAP(X)                                                                                               \
    X(UNKNOWN, "unknown", "nothing is promised: judged as aligned, drifting shown beside it")                          \
    X(ALIGNED, "aligned", "a barrier or equal tiles start the bursts together")                                        \
    X(SHIFTED, "shifted", "the design spreads the bursts over the period and says so")
enum xst_phase {
#define X(NAME, text, meaning) XST_PHASE_##NAME,
    XST_PHASE_MAP(X)
#undef X
};
const char *xst_phase_text(enum xst_phase phase);
int xst_phase_parse(const char *text, enum xst_phase *phase_out);

struct xst_traffic {
    char kernel[XST_NAME_BYTES]; /* name for people */
    struct xst_path_key path;    /* target, direction, method, threads, pattern */
    int64_t producers;           /* CTAs that burst at once (K) */
    double bytes_per_producer;   /* B: bytes of one producer's burst, local share included */
    double remote_frac;          /* f in the long run: share of the bytes that leave the device, (0, 1] */
    double burst_remote_frac;    /* largest share that leaves the device in one burst, [remote_frac, 1] */
    double gap_us;               /* useful time between issue end and next issue start */
    enum xst_phase phase;
    int64_t staging_slots;      /* output tiles one producer can hold back; 0: none stated */
    double prefetch_us;         /* local loads in flight ahead of their use, as time; negative: not stated */
    double bursts_per_producer; /* in one call; 0: not stated */
};

/* Reads and checks a description. Unknown keys are errors that name the nearest valid one. path "-" is standard input. */
enum xst_status xst_traffic_read(const char *path, struct xst_traffic *traffic_out, struct xst_diag *diag);
enum xst_status xst_traffic_parse(const char *name, const char *text, size_t text_bytes,
                                  struct xst_traffic *traffic_out, struct xst_diag *diag);

/* XST_ERR_RANGE with the field, its value and its bound. */
enum xst_status xst_traffic_check(const struct xst_traffic *traffic, struct xst_diag *diag);

#ifdef __cplusplus
}
#endif

#endif
