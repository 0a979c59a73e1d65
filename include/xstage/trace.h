/* SPDX-License-Identifier: Apache-2.0
 *
 * trace.h - what a kernel did, as its own clock saw it: spans of time on tracks, and the document they are kept in.
 *
 * A traced kernel leaves marks in a ring in device memory (cuda/device/trace.cuh): "since my last mark I did this". Read back,
 * a mark is a *span*: rank, SM, CTA, role and unit (which warpgroup or warp of the role), the tile it belongs to, begin and end.
 * Spans that store say how many bytes left the device, spans of mathematics how long their operands were late. One document may
 * hold several *calls*: the variants of a benchmark, each traced once.
 *
 * The document is JSON, schema xstage.trace/1, and at the same time a Chrome trace: Perfetto and chrome://tracing open it as it
 * is, one process per call and rank, one track per SM, role and unit. Facts are named integers that say what ran (heads, seq,
 * tile_rows, ...), so that a trace can be compared with what the kernel's traffic description promises.
 *
 * Times of one rank are on one clock. Clocks of different ranks are not compared: each rank's times begin at its first span.
 */
#ifndef XSTAGE_TRACE_H
#define XSTAGE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What happened between two marks. X(NAME, text, meaning) */
#define XST_TRACE_WHAT_MAP(X)                                                                                          \
    X(IDLE, "idle", "nothing that counts; not kept")                                                                   \
    X(LOAD, "load", "waiting for the tile's first operands")                                                           \
    X(MATH, "math", "from the first operands to the last product")                                                     \
    X(SLOT, "slot", "waiting for free staging")                                                                        \
    X(STAGE, "stage", "writing the result to staging")                                                                 \
    X(ISSUE, "issue", "storing, from the first store until the last was accepted")                                     \
    X(RELEASE, "release", "until staging may be written again")                                                        \
    X(FENCE, "fence", "until what was stored is visible")                                                              \
    X(PEER, "peer", "waiting for other ranks")                                                                         \
    X(HEAD, "head", "finding out which rows go where")                                                                 \
    X(PULL, "pull", "fetching rows from the ranks they live on")                                                       \
    X(ACT, "act", "activating a result and storing it on this device")                                                 \
    X(COMBINE, "combine", "summing what the ranks have sent")
enum xst_trace_what {
#define X(NAME, text, meaning) XST_TRACE_##NAME,
    XST_TRACE_WHAT_MAP(X)
#undef X
};
const char *xst_trace_what_text(enum xst_trace_what what);
int xst_trace_what_parse(const char *text, enum xst_trace_what *what_out); /* 0 when known */

#define XST_TRACE_ROLE_MAP(X)                                                                                          \
    X(LOAD, "load", "brings operands")                                                                                 \
    X(MATH, "math", "computes, and stores what it computed unless another role does")                                  \
    X(STORE, "store", "stores what others computed")
enum xst_trace_role {
#define X(NAME, text, meaning) XST_TRACE_ROLE_##NAME,
    XST_TRACE_ROLE_MAP(X)
#undef X
};
const char *xst_trace_role_text(enum xst_trace_role role);
int xst_trace_role_parse(const char *text, enum xst_trace_role *role_out);

enum { XST_TRACE_NO_TILE = -1 };

struct xst_trace_span {
    int32_t call; /* index of its call in the trace */
    int32_t rank;
    int32_t sm;
    int32_t cta;
    int32_t unit; /* which of its role in the CTA */
    enum xst_trace_role role;
    enum xst_trace_what what;
    int64_t tile;    /* number in the rank's walk; XST_TRACE_NO_TILE: none */
    double start_us; /* since the rank's first span of this call */
    double end_us;
    double bytes;    /* that left the device; 0 unless it stored */
    double stall_us; /* mathematics: how long operands were late after the first; else 0 */
};

struct xst_trace_fact {
    char name[24];
    int64_t value;
};

enum { XST_TRACE_MOST_FACTS = 32, XST_TRACE_MOST_CALLS = 16 };

struct xst_trace_call {
    char variant[24];   /* "fused_st16" */
    int64_t lost;       /* marks that the ring had no room for: the oldest ones */
    int64_t ranks;      /* that ran */
    double duration_us; /* longest rank, from first to last span */
};

struct xst_trace {
    char kernel[24]; /* "fa-a2a" */
    int64_t fact_count;
    struct xst_trace_fact facts[XST_TRACE_MOST_FACTS];
    int64_t call_count;
    struct xst_trace_call calls[XST_TRACE_MOST_CALLS];
    struct xst_trace_span *spans; /* by call, rank, start */
    size_t span_count;
    size_t span_room;
};

/* XST_ERR_RANGE when there is no room for another fact or call, or the name does not fit the struct. */
enum xst_status xst_trace_add_fact(struct xst_trace *trace, const char *name, int64_t value, struct xst_diag *diag);
enum xst_status xst_trace_add_call(struct xst_trace *trace, const char *variant, struct xst_diag *diag);

/* To the last call. */
enum xst_status xst_trace_add_span(struct xst_trace *trace, const struct xst_trace_span *span, struct xst_diag *diag);

/* XST_ERR_NO_DATA when the trace does not say it. */
enum xst_status xst_trace_fact(const struct xst_trace *trace, const char *name, int64_t *value_out,
                               struct xst_diag *diag);

/* Sorts the spans, moves each rank's times to begin at 0, fills ranks and duration_us of the calls. */
void xst_trace_finish(struct xst_trace *trace);

/* Means over a call's tiles, all ranks together; a tile has one part for each unit that computed it. NaN: there is none. */
struct xst_trace_times {
    int64_t parts;
    int64_t issues;
    double math_us;  /* of a part, from its first operands on */
    double stall_us; /* of a part: waiting for operands, first and later ones */
    double issue_us; /* of a part that was stored */
    double bytes;    /* that left the devices, in all */
};
void xst_trace_sum(const struct xst_trace *trace, int64_t call, struct xst_trace_times *times_out);

/* The document; freed by the caller. XST_ERR_RANGE for a name with a quote, a backslash or a control character, and for a rank,
 * SM or unit that the document has no place for. */
enum xst_status xst_trace_write(const struct xst_trace *trace, char **text_out, struct xst_diag *diag);

/* Reads one, from a file ("-": standard input) or from text, where `name` stands in messages. XST_ERR_PARSE, XST_ERR_RANGE or
 * XST_ERR_SCHEMA with the place of the first mistake. */
enum xst_status xst_trace_read(const char *path, struct xst_trace *trace_out, struct xst_diag *diag);
enum xst_status xst_trace_parse(const char *name, const char *text, size_t bytes, struct xst_trace *trace_out,
                                struct xst_diag *diag);
void xst_trace_free(struct xst_trace *trace);

#ifdef __cplusplus
}
#endif

#endif
