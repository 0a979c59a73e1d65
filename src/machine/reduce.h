/* SPDX-License-Identifier: Apache-2.0
 *
 * reduce.h - from the records of one run to the columns of a row. No device is
 * involved.
 */
#ifndef XSTI_MACHINE_REDUCE_H
#define XSTI_MACHINE_REDUCE_H

#include <stddef.h>
#include <stdint.h>

#include <xstage/sample.h>

#include "probes/params.h"

struct xsti_burst_records {
    const unsigned char *bytes; /* producers x (record, bursts x times), `stride` apart */
    size_t stride;
    int64_t producers;
    int64_t bursts;
};

static inline size_t xsti_burst_record_stride(int64_t bursts)
{
    return (sizeof(struct xsti_burst_record) + (size_t)bursts * sizeof(struct xsti_burst_times) + 15) / 16 * 16;
}

/* Median over producers of the SM clock during the run. A producer that ran for
 * less than 100 us cannot say it (the global clock moves in steps of 32 ns) and
 * counts with `known_ghz`. SMs of one device differ, so each producer's times
 * are turned into us with its own clock. */
double xsti_reduce_clock_ghz(const struct xsti_burst_records *records, double known_ghz);

/* Fills the six times of `sample`: issue and release over producers and steady
 * bursts (the second half), the period of each producer's own second half, the
 * last burst's fence, and the total by the global clock. */
void xsti_reduce_burst(const struct xsti_burst_records *records, double known_ghz, struct xst_sample *sample);

/* One row a producer; identity columns are taken from `sample`. */
void xsti_reduce_producers(const struct xsti_burst_records *records, double known_ghz, const struct xst_sample *sample,
                           struct xst_producer_sample *rows_out);

/* The first producer that did not run to its end, -1 when all did; so did a run
 * longer than the records' 32-bit cycles. */
int64_t xsti_reduce_first_unfinished(const struct xsti_burst_records *records);

#endif
