/* SPDX-License-Identifier: Apache-2.0
 *
 * sample.h - one measured row of the burst probe, and lists of such rows.
 *
 * A *sample* is what a probe saw when `producers` concurrent issuers (CTAs) each wrote bursts of `bytes_per_producer` bytes
 * to a target. Rows come from a device, a synthetic machine or a CSV file, and look the same from all three. The CSV column,
 * the struct field, the JSON key and the axis label of a quantity are one name; its unit ends the name.
 *
 * Times of a row are medians over `reps` repetitions of the whole run.
 */
#ifndef XSTAGE_SAMPLE_H
#define XSTAGE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How bursts follow each other. */
#define XST_MODE_MAP(X)                                                                                                \
    X(ISOLATED, "isolated", "one burst on an empty path, all producers start together")                                \
    X(PERIODIC, "periodic", "bursts and gaps repeated, every producer free to drift out of phase")                     \
    X(ALIGNED, "aligned", "every burst started by all producers together")

/* Where the bytes go. */
#define XST_TARGET_MAP(X)                                                                                              \
    X(PEER, "peer", "memory of another GPU")                                                                           \
    X(HOST, "host", "mapped pinned host memory")                                                                       \
    X(LOCAL, "local", "memory of the same GPU (the control)")

/* With which instruction. */
#define XST_METHOD_MAP(X)                                                                                              \
    X(ST16, "st16", "16-byte stores")                                                                                  \
    X(ST4, "st4", "4-byte stores")                                                                                     \
    X(BULK, "bulk", "bulk (TMA) stores from shared memory")

/* Which way the path is busy. In CSV the target text carries it: "peer" or "peer-bidir". */
#define XST_DIRECTION_MAP(X)                                                                                           \
    X(ONE, "one", "one direction")                                                                                     \
    X(BOTH, "both", "both directions at once")

/* Who sends to whom. `senders` devices send at once; a row is one sender's, its times that sender's own. */
#define XST_FLOW_MAP(X)                                                                                                \
    X(PAIR, "pair", "one device to one other")                                                                         \
    X(SPREAD, "spread", "one device to all others in turn")                                                            \
    X(INCAST, "incast", "several devices to one, all at once")                                                         \
    X(ROTATION, "rotation", "every device to all others in turn, all at once: burst b of r goes to r + 1 + b")

enum xst_mode {
#define X(NAME, text, meaning) XST_MODE_##NAME,
    XST_MODE_MAP(X)
#undef X
};
enum xst_target {
#define X(NAME, text, meaning) XST_TARGET_##NAME,
    XST_TARGET_MAP(X)
#undef X
};
enum xst_method {
#define X(NAME, text, meaning) XST_METHOD_##NAME,
    XST_METHOD_MAP(X)
#undef X
};
enum xst_direction {
#define X(NAME, text, meaning) XST_DIRECTION_##NAME,
    XST_DIRECTION_MAP(X)
#undef X
};

enum xst_flow {
#define X(NAME, text, meaning) XST_FLOW_##NAME,
    XST_FLOW_MAP(X)
#undef X
};

/* Text of an enumerator ("st16"), "?" when the value is none; and back: 0 on success, -1 when the text names none. */
const char *xst_mode_text(enum xst_mode mode);
const char *xst_target_text(enum xst_target target);
const char *xst_method_text(enum xst_method method);
const char *xst_direction_text(enum xst_direction direction);
const char *xst_flow_text(enum xst_flow flow);
int xst_mode_parse(const char *text, enum xst_mode *mode_out);
int xst_target_parse(const char *text, enum xst_target *target_out);
int xst_method_parse(const char *text, enum xst_method *method_out);
int xst_direction_parse(const char *text, enum xst_direction *direction_out);
int xst_flow_parse(const char *text, enum xst_flow *flow_out);

/* X(kind, name, low, high, meaning): the columns of a burst sample in file order, with the range a reader accepts.
 * kind: MODE, TARGET, METHOD are text columns; INT is an integer; REAL is a decimal number. */
#define XST_SAMPLE_FIELDS(X)                                                                                           \
    X(MODE, mode, 0, 0, "how bursts follow each other")                                                                \
    X(TARGET, target, 0, 0, "where the bytes go, and in which direction")                                              \
    X(METHOD, method, 0, 0, "store instruction")                                                                       \
    X(INT, threads, 1, 1024, "threads of one producer")                                                                \
    X(INT, producers, 1, 65536, "concurrent issuers (CTAs)")                                                           \
    X(INT, bytes_per_producer, 1, 1099511627776, "bytes one producer writes in one burst")                             \
    X(INT, piece_bytes, 0, 1099511627776, "bytes of one contiguous piece; 0: one block")                               \
    X(INT, pitch_bytes, 0, 1099511627776, "distance between pieces; 0: one block")                                     \
    X(REAL, gap_us, 0, 1e9, "useful time between issue end and next issue start")                                      \
    X(INT, bursts, 1, 1000000000, "bursts per producer in one run")                                                    \
    X(INT, reps, 1, 1000000000, "runs the medians are taken over")                                                     \
    X(REAL, issue_mean_us, 0, 1e9, "issue time, mean over producers and steady bursts")                                \
    X(REAL, issue_max_us, 0, 1e9, "issue time, worst producer")                                                        \
    X(REAL, release_mean_us, 0, 1e9, "until staging may be written again, mean; = issue for plain stores")             \
    X(REAL, period_mean_us, 0, 1e9, "each producer's own period, mean; 0: isolated")                                   \
    X(REAL, fenced_max_us, 0, 1e9, "last burst's start to the end of a system fence, worst producer")                  \
    X(REAL, total_us, 0, 1e12, "first start to last fenced end")

/* Further columns of rows that are more than one device to the next; files without them are read, and rows where all of them are 0
 * are written without them. Devices are counted as the machine names them. kind: FLOW is a text column. */
#define XST_SAMPLE_FLOW_FIELDS(X)                                                                                      \
    X(FLOW, flow, 0, 0, "who sends to whom")                                                                           \
    X(INT, senders, 0, 65536, "devices that send at once; 0: one")                                                     \
    X(INT, sender, 0, 65535, "the device whose row this is")                                                           \
    X(INT, receiver, -1, 65535, "where it sends to; -1: to all others in turn")

/* One row. `source` indexes xst_samples.sources, `line` is the row's 1-based line there (0: not from a file). */
struct xst_sample {
    enum xst_mode mode;
    enum xst_target target;
    enum xst_direction direction;
    enum xst_method method;
    int64_t threads;
    int64_t producers;
    int64_t bytes_per_producer;
    int64_t piece_bytes;
    int64_t pitch_bytes;
    double gap_us;
    int64_t bursts;
    int64_t reps;
    double issue_mean_us;
    double issue_max_us;
    double release_mean_us;
    double period_mean_us;
    double fenced_max_us;
    double total_us;
    enum xst_flow flow;
    int64_t senders;
    int64_t sender;
    int64_t receiver;
    int64_t source;
    int64_t line;
};

/* The operation a bystander performs on local memory after a burst. */
#define XST_BYSTANDER_OP_MAP(X)                                                                                        \
    X(LOAD, "load", "4-byte load")                                                                                     \
    X(LOAD_L2, "loadL2", "4-byte load of a line that is in L2")                                                        \
    X(LOAD_L1, "loadL1", "4-byte load of a line that is in L1")                                                        \
    X(BULKLOAD4K, "bulkload4K", "4 KiB bulk (TMA) load")                                                               \
    X(BULKLOAD64K, "bulkload64K", "64 KiB bulk (TMA) load")                                                            \
    X(ATOMIC, "atomic", "atomic add")                                                                                  \
    X(STORE_FENCE, "store+fence", "store and system fence")
enum xst_bystander_op {
#define X(NAME, text, meaning) XST_BYSTANDER_OP_##NAME,
    XST_BYSTANDER_OP_MAP(X)
#undef X
};
const char *xst_bystander_op_text(enum xst_bystander_op op);
int xst_bystander_op_parse(const char *text, enum xst_bystander_op *op_out);

/* One row of the bystander probe: a burst of producers x bytes, `delay_us` of nothing, then one local operation per
 * producer. bytes = 0 is the baseline: the same operation with no burst before it. */
#define XST_BYSTANDER_FIELDS(X)                                                                                        \
    X(TARGET, target, 0, 0, "where the burst went")                                                                    \
    X(METHOD, method, 0, 0, "store instruction of the burst")                                                          \
    X(INT, producers, 1, 65536, "concurrent issuers (CTAs)")                                                           \
    X(INT, bytes, 0, 1099511627776, "bytes one producer wrote; 0: baseline")                                           \
    X(OP, op, 0, 0, "local operation after the burst")                                                                 \
    X(REAL, delay_us, 0, 1e9, "time between issue end and the operation")                                              \
    X(REAL, issue_us, 0, 1e9, "issue time of the burst")                                                               \
    X(REAL, op_us_mean, 0, 1e9, "time of the operation, mean over producers")                                          \
    X(REAL, op_us_max, 0, 1e9, "time of the operation, worst producer")

struct xst_bystander_sample {
    enum xst_target target;
    enum xst_direction direction;
    enum xst_method method;
    int64_t producers;
    int64_t bytes;
    enum xst_bystander_op op;
    double delay_us;
    double issue_us;
    double op_us_mean;
    double op_us_max;
    int64_t source;
    int64_t line;
};

/* One row of the load loop beside senders: every SM loads `load_bytes` from local memory over and over for `span_us`, while the
 * first `senders` of them write `bytes` each in `slices` equal parts. `sender_*` are loads on SMs that send, `other_*` on those
 * that do not (0 loads: there was none); `_loads` is the mean number of loads of one SM. */
#define XST_LOOP_FIELDS(X)                                                                                             \
    X(TARGET, target, 0, 0, "where the bursts went")                                                                   \
    X(METHOD, method, 0, 0, "store instruction of the bursts")                                                         \
    X(INT, senders, 1, 65536, "SMs that send")                                                                         \
    X(INT, bytes, 0, 1099511627776, "bytes one sender wrote in the whole span; 0: baseline")                           \
    X(INT, slices, 1, 1000000, "equal parts in which they were sent")                                                  \
    X(REAL, slice_every_us, 0, 1e9, "time from one slice to the next")                                                 \
    X(INT, load_bytes, 1, 1048576, "bytes of one bulk (TMA) load")                                                     \
    X(REAL, span_us, 0, 1e9, "length of the loop")                                                                     \
    X(REAL, sender_mean_us, 0, 1e9, "time of a load, mean, SMs that send")                                             \
    X(REAL, sender_max_us, 0, 1e9, "time of a load, worst, SMs that send")                                             \
    X(REAL, sender_loads, 0, 1e12, "loads of one SM, mean, SMs that send")                                             \
    X(REAL, other_mean_us, 0, 1e9, "time of a load, mean, SMs that send nothing")                                      \
    X(REAL, other_max_us, 0, 1e9, "time of a load, worst, SMs that send nothing")                                      \
    X(REAL, other_loads, 0, 1e12, "loads of one SM, mean, SMs that send nothing")

struct xst_loop_sample {
    enum xst_target target;
    enum xst_direction direction;
    enum xst_method method;
    int64_t senders;
    int64_t bytes;
    int64_t slices;
    double slice_every_us;
    int64_t load_bytes;
    double span_us;
    double sender_mean_us;
    double sender_max_us;
    double sender_loads;
    double other_mean_us;
    double other_max_us;
    double other_loads;
    int64_t source;
    int64_t line;
};

/* One producer of one periodic run: shares differ by hardware group, so the table names the SM. */
#define XST_PRODUCER_FIELDS(X)                                                                                         \
    X(TARGET, target, 0, 0, "where the bytes go, and in which direction")                                              \
    X(METHOD, method, 0, 0, "store instruction")                                                                       \
    X(INT, producers, 1, 65536, "concurrent issuers (CTAs)")                                                           \
    X(INT, bytes_per_producer, 1, 1099511627776, "bytes one producer writes in one burst")                             \
    X(INT, bursts, 1, 1000000000, "bursts per producer in one run")                                                    \
    X(INT, producer, 0, 65535, "which one")                                                                            \
    X(INT, sm_id, 0, 65535, "the SM it ran on")                                                                        \
    X(REAL, issue_mean_us, 0, 1e9, "its issue time, mean over steady bursts")                                          \
    X(REAL, own_total_us, 0, 1e12, "its first start to its last issue end")                                            \
    X(REAL, fenced_total_us, 0, 1e12, "its first start to the end of its fence")

struct xst_producer_sample {
    enum xst_target target;
    enum xst_direction direction;
    enum xst_method method;
    int64_t producers;
    int64_t bytes_per_producer;
    int64_t bursts;
    int64_t producer;
    int64_t sm_id;
    double issue_mean_us;
    double own_total_us;
    double fenced_total_us;
    int64_t source;
    int64_t line;
};

/* Every row read so far, with the files they came from. Zero-initialise; free with xst_samples_free. */
struct xst_samples {
    struct xst_sample *rows;
    size_t row_count;
    struct xst_bystander_sample *bystanders;
    size_t bystander_count;
    struct xst_loop_sample *loops;
    size_t loop_count;
    struct xst_producer_sample *producers;
    size_t producer_count;
    char **sources; /* file names, in the order they were read */
    size_t source_count;
};

/* Reads a CSV file of burst, bystander, loop or per-producer rows (told apart by the header) and appends its rows.
 * Columns may stand in any order; a missing, duplicate or unknown column, a number that is NaN, infinite, out of range or
 * followed by anything is an error that names file, line, column and value. Accepts CRLF and a UTF-8 byte-order mark.
 * On error `samples` is left as it was. path "-" reads standard input. */
enum xst_status xst_samples_read(const char *path, struct xst_samples *samples, struct xst_diag *diag);

/* The same from memory; `name` stands for the file in messages. `text` need not end in NUL. */
enum xst_status xst_samples_parse(const char *name, const char *text, size_t text_bytes, struct xst_samples *samples,
                                  struct xst_diag *diag);

/* Appends one row (copied). */
enum xst_status xst_samples_append(struct xst_samples *samples, const struct xst_sample *row, struct xst_diag *diag);
enum xst_status xst_samples_append_bystander(struct xst_samples *samples, const struct xst_bystander_sample *row,
                                             struct xst_diag *diag);
enum xst_status xst_samples_append_loop(struct xst_samples *samples, const struct xst_loop_sample *row,
                                        struct xst_diag *diag);
enum xst_status xst_samples_append_producer(struct xst_samples *samples, const struct xst_producer_sample *row,
                                            struct xst_diag *diag);

/* Writes the burst rows as CSV: whole or not at all; an existing file is refused unless `force`. The other kinds of row have a
 * file, and a writer, of their own. */
enum xst_status xst_samples_write(const char *path, const struct xst_samples *samples, int force,
                                  struct xst_diag *diag);
enum xst_status xst_samples_write_bystanders(const char *path, const struct xst_samples *samples, int force,
                                             struct xst_diag *diag);
enum xst_status xst_samples_write_loops(const char *path, const struct xst_samples *samples, int force,
                                        struct xst_diag *diag);
enum xst_status xst_samples_write_producers(const char *path, const struct xst_samples *samples, int force,
                                            struct xst_diag *diag);

/* Releases everything and zeroes the struct. NULL is fine. */
void xst_samples_free(struct xst_samples *samples);

#ifdef __cplusplus
}
#endif

#endif
