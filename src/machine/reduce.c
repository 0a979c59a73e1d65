/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/reduce.h"

#include "base/stats.h"

static const struct xsti_burst_record *record_of(const struct xsti_burst_records *records, int64_t producer)
{
    return (const struct xsti_burst_record *)(records->bytes + (size_t)producer * records->stride);
}

static const struct xsti_burst_times *times_of(const struct xsti_burst_records *records, int64_t producer)
{
    return (const struct xsti_burst_times *)(record_of(records, producer) + 1);
}

static double clock_of(const struct xsti_burst_record *record, double known_ghz)
{
    enum { LONG_ENOUGH_NS = 100000 };
    const uint64_t ns = record->end_ns - record->start_ns;
    return ns > LONG_ENOUGH_NS ? (double)record->cycles / (double)ns : known_ghz;
}

double xsti_reduce_clock_ghz(const struct xsti_burst_records *records, double known_ghz)
{
    enum { MOST = 256 }; /* enough producers to say what is usual */
    double clocks[MOST];
    size_t count = 0;
    for (int64_t p = 0; p < records->producers && count < MOST; p++)
        clocks[count++] = clock_of(record_of(records, p), known_ghz);
    return xsti_median(clocks, count);
}

int64_t xsti_reduce_first_unfinished(const struct xsti_burst_records *records)
{
    for (int64_t p = 0; p < records->producers; p++)
        if (!record_of(records, p)->done || record_of(records, p)->cycles > UINT32_MAX)
            return p;
    return -1;
}

void xsti_reduce_burst(const struct xsti_burst_records *records, double known_ghz, struct xst_sample *sample)
{
    const int64_t first = records->bursts / 2, last = records->bursts - 1;
    const double steady = (double)records->producers * (double)(records->bursts - first);
    double issue = 0, issue_max = 0, release = 0, period = 0, fenced_max = 0;
    uint64_t start_ns = UINT64_MAX, end_ns = 0;
    for (int64_t p = 0; p < records->producers; p++) {
        const struct xsti_burst_record *const record = record_of(records, p);
        const struct xsti_burst_times *const times = times_of(records, p);
        const double us = 1e-3 / clock_of(record, known_ghz);
        for (int64_t b = first; b <= last; b++) {
            const double took = (times[b].issue_end - times[b].start) * us;
            issue += took;
            issue_max = took > issue_max ? took : issue_max;
            release += (times[b].release - times[b].start) * us;
        }
        if (last > first)
            period += (times[last].start - times[first].start) * us / (double)(last - first);
        const double fenced = (record->fenced - times[last].start) * us;
        fenced_max = fenced > fenced_max ? fenced : fenced_max;
        start_ns = record->start_ns < start_ns ? record->start_ns : start_ns;
        end_ns = record->end_ns > end_ns ? record->end_ns : end_ns;
    }
    sample->issue_mean_us = issue / steady;
    sample->issue_max_us = issue_max;
    sample->release_mean_us = release / steady;
    sample->period_mean_us = period / (double)records->producers;
    sample->fenced_max_us = fenced_max;
    sample->total_us = (double)(end_ns - start_ns) * 1e-3;
}

void xsti_reduce_producers(const struct xsti_burst_records *records, double known_ghz, const struct xst_sample *sample,
                           struct xst_producer_sample *rows_out)
{
    const int64_t first = records->bursts / 2, last = records->bursts - 1;
    for (int64_t p = 0; p < records->producers; p++) {
        const struct xsti_burst_times *const times = times_of(records, p);
        const double us = 1e-3 / clock_of(record_of(records, p), known_ghz);
        double issue = 0;
        for (int64_t b = first; b <= last; b++)
            issue += times[b].issue_end - times[b].start;
        rows_out[p] = (struct xst_producer_sample){
            .target = sample->target,
            .direction = sample->direction,
            .method = sample->method,
            .producers = sample->producers,
            .bytes_per_producer = sample->bytes_per_producer,
            .bursts = sample->bursts,
            .producer = p,
            .sm_id = record_of(records, p)->sm_id,
            .issue_mean_us = issue / (double)(last - first + 1) * us,
            .own_total_us = (double)(times[last].issue_end - times[0].start) * us,
            .fenced_total_us = (double)(record_of(records, p)->fenced - times[0].start) * us,
        };
    }
}
