/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda, cuda:0, cuda:0,1: real devices behind the interface of machines. The
 * first device named sends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/diag.h"
#include "base/text.h"
#include "machine/cuda_machine.h"

/* Longest run: its cycles are kept in 32 bits. */
#define MOST_RUN_US 1.5e6

static struct xsti_cuda_machine *cuda_of(struct xst_machine *machine)
{
    return (struct xsti_cuda_machine *)machine;
}

static void close_cuda(struct xst_machine *base)
{
    struct xsti_cuda_machine *const machine = cuda_of(base);
    if (machine->side_count > 0) {
        xsti_pinned_free(&machine->sides[0].device, &machine->host);
        xsti_pinned_free(&machine->sides[0].device, &machine->gate);
    }
    for (size_t s = 0; s < machine->side_count; s++)
        xsti_cuda_side_close(&machine->sides[s]);
    xsti_nvml_close(&machine->nvml);
    xsti_driver_close(&machine->driver);
    free(machine);
}

/* All producers must run at the same time: the common start waits for every one
 * of them. */
static enum xst_status check_resident(const struct xsti_cuda_machine *machine,
                                      const struct xst_measure_request *request, const struct xsti_kernel *kernel,
                                      int64_t ctas, int64_t threads, size_t shared_bytes, struct xst_diag *diag)
{
    const struct xsti_device *const device = &machine->sides[0].device;
    int resident = 0;
    if (shared_bytes > (size_t)device->shared_bytes_block - 1024)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "a producer needs %zu bytes of shared memory (staging, "
                         "copies and %lld records) and device %d has %d",
                         shared_bytes, (long long)request->bursts, device->ordinal, device->shared_bytes_block - 1024);
    XSTI_TRY(xsti_kernel_resident_blocks(device, kernel, (int)threads, shared_bytes, &resident, diag));
    if (ctas > resident)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "%lld producers of %lld threads and %zu bytes of shared "
                         "memory do not fit on device %d at once: %d do",
                         (long long)ctas, (long long)threads, shared_bytes, device->ordinal, resident);
    return XST_OK;
}

static enum xst_status check_cuda(const struct xst_machine *base, const struct xst_measure_request *request,
                                  struct xst_diag *diag)
{
    const struct xsti_cuda_machine *const machine = (const struct xsti_cuda_machine *)base;
    const struct xsti_cuda_side *const side = &machine->sides[0];
    const struct xsti_cuda_shape shape = xsti_cuda_burst_shape(request);
    const size_t slice = request->slices > 0 ? (size_t)request->bytes_per_producer / (size_t)request->slices : 0;
    const double longest_us = request->gap_us > request->period_us ? request->gap_us : request->period_us;
    if (longest_us * (double)request->bursts + request->delay_us + request->span_us > MOST_RUN_US ||
        request->slice_every_us * (double)request->slices > MOST_RUN_US)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "one run would last %.3g s, %.3g s is the most: ask for "
                         "fewer bursts or a shorter gap",
                         longest_us * (double)request->bursts * 1e-6, MOST_RUN_US * 1e-6);
    switch (request->probe) {
    case XST_PROBE_BYSTANDER:
        if (request->method == XST_METHOD_ST4)
            return xsti_fail(diag, XST_ERR_USAGE, "the bystander probe sends with st16 or bulk, not with st4");
        if (request->bytes_per_producer > XSTI_CUDA_MOST_STAGING)
            return xsti_fail(diag, XST_ERR_RANGE, "bytes_per_producer is %lld; the bystander probe sends at most %d",
                             (long long)request->bytes_per_producer, XSTI_CUDA_MOST_STAGING);
        return check_resident(machine, request, &side->bystander, request->producers, request->threads,
                              shape.staging_bytes + (64u << 10), diag);
    case XST_PROBE_LOOP:
        if (request->method == XST_METHOD_ST4 || request->piece_bytes > 0)
            return xsti_fail(diag, XST_ERR_USAGE, "the load loop sends contiguous blocks with st16 or bulk");
        if (request->producers > side->device.sm_count)
            return xsti_fail(diag, XST_ERR_RANGE, "senders is %lld and device %d has %d SMs",
                             (long long)request->producers, side->device.ordinal, side->device.sm_count);
        return check_resident(machine, request, &side->loop, side->device.sm_count, request->threads + 32,
                              (size_t)request->load_bytes + (request->method == XST_METHOD_BULK ? slice : 0), diag);
    case XST_PROBE_BURST:
        break;
    }
    return check_resident(machine, request, &side->burst[request->method], request->producers, request->threads,
                          shape.shared_bytes, diag);
}

static enum xst_status run_cuda(struct xst_machine *base, const struct xst_measure_request *request, int64_t rep,
                                struct xsti_run *run, struct xst_diag *diag)
{
    (void)rep;
    switch (request->probe) {
    case XST_PROBE_BYSTANDER:
        return xsti_cuda_run_bystander(cuda_of(base), request, run, diag);
    case XST_PROBE_LOOP:
        return xsti_cuda_run_loop(cuda_of(base), request, run, diag);
    case XST_PROBE_BURST:
        break;
    }
    return xsti_cuda_run_burst(cuda_of(base), request, run, diag);
}

/* An aligned cell without a period gets the floor of one producer plus the gap.
 */
static enum xst_status prepare_cuda(struct xst_machine *base, struct xst_measure_request *request,
                                    struct xst_diag *diag)
{
    struct xst_measure_request floor = *request;
    struct xsti_run run = {.producers = NULL};
    if (request->probe != XST_PROBE_BURST || request->mode != XST_MODE_ALIGNED || request->period_us > 0)
        return XST_OK;
    floor.mode = XST_MODE_ISOLATED;
    floor.direction = XST_DIRECTION_ONE;
    floor.producers = floor.bursts = 1;
    floor.gap_us = 0;
    for (int i = 0; i < 3; i++)
        XSTI_TRY(xsti_cuda_run_burst(cuda_of(base), &floor, &run, diag));
    request->period_us = run.sample.release_mean_us + request->gap_us;
    return XST_OK;
}

static void extras_cuda(struct xst_machine *base, struct xst_measure_extras *extras)
{
    const struct xsti_cuda_machine *const machine = (const struct xsti_cuda_machine *)base;
    xsti_nvml_throttle(&machine->nvml, xsti_nvml_find(&machine->nvml, machine->sides[0].device.uuid), extras->throttle,
                       sizeof extras->throttle);
}

static const struct xsti_machine_ops cuda_ops = {
    .close = close_cuda,
    .check = check_cuda,
    .prepare = prepare_cuda,
    .run = run_cuda,
    .extras = extras_cuda,
    .warm_up = 1,
};

static struct xst_measure known(double value)
{
    return (struct xst_measure){.value = value, .low = value, .high = value, .n = 1, .known = 1};
}

static void fill_facts(struct xsti_cuda_machine *machine)
{
    struct xst_machine_facts *const facts = &machine->base.facts;
    const struct xsti_device *const device = &machine->sides[0].device;
    const xsti_nvml_device managed = xsti_nvml_find(&machine->nvml, device->uuid);
    const int64_t links = xsti_nvml_links(&machine->nvml, managed);
    const double rate = xsti_nvml_link_gb_per_s(&machine->nvml, managed);
    const time_t now = time(NULL);
    struct tm day;
    if (machine->side_count > 2)
        snprintf(facts->note, sizeof facts->note, "rows of one pair are of device %d to device %d, of %zu devices",
                 device->ordinal, machine->sides[1].device.ordinal, machine->side_count);
    if (gmtime_r(&now, &day))
        strftime(facts->date, sizeof facts->date, "%Y-%m-%d", &day);
    if (machine->side_count > 1)
        snprintf(facts->machine, sizeof facts->machine, "%zu x %.64s, one host", machine->side_count, device->name);
    else
        snprintf(facts->machine, sizeof facts->machine, "one %.64s, mapped pinned host memory over PCIe", device->name);
    snprintf(facts->device, sizeof facts->device, "%s", device->name);
    snprintf(facts->cuda, sizeof facts->cuda, "%d.%d", machine->driver.version / 1000,
             machine->driver.version % 1000 / 10);
    snprintf(facts->origin, sizeof facts->origin, "measured");
    xsti_nvml_driver(&machine->nvml, facts->driver, sizeof facts->driver);
    facts->sm_count = known(device->sm_count);
    facts->sm_clock_ghz = known(machine->sides[0].clock_ghz);
    facts->l2_bytes = known(device->l2_bytes);
    facts->memory_gib = known((double)device->memory_bytes / (1 << 30));
    if (links > 0)
        facts->links_per_gpu = known((double)links);
    if (rate > 0)
        facts->link_gb_per_s = known(rate);
    machine->base.devices = (int64_t)machine->side_count;
    machine->base.targets = 1u << XST_TARGET_HOST | 1u << XST_TARGET_LOCAL;
    if (machine->side_count > 1)
        machine->base.targets |= 1u << XST_TARGET_PEER;
}

/* "0,1" -> ordinals; "" -> device 0. */
static enum xst_status parse_ordinals(const char *text, int ordinals_out[XSTI_CUDA_MOST_DEVICES], size_t *count_out,
                                      struct xst_diag *diag)
{
    size_t count = 0;
    if (*text == '\0') {
        ordinals_out[0] = 0;
        *count_out = 1;
        return XST_OK;
    }
    for (const char *at = text;;) {
        const size_t length = strcspn(at, ",");
        char quoted[XSTI_QUOTE_BYTES];
        int64_t ordinal = 0;
        if (xsti_parse_int(at, length, &ordinal) != XSTI_NUMBER_OK || ordinal < 0 || ordinal > 1023)
            return xsti_fail(diag, XST_ERR_USAGE, "machine cuda:%s: %s is not a device number (0, 1, ...)", text,
                             xsti_quote(at, length, quoted));
        for (size_t i = 0; i < count; i++)
            if (ordinals_out[i] == (int)ordinal)
                return xsti_fail(diag, XST_ERR_USAGE, "machine cuda:%s: device %d is named twice", text, (int)ordinal);
        if (count == XSTI_CUDA_MOST_DEVICES)
            return xsti_fail(diag, XST_ERR_USAGE, "machine cuda:%s: at most %d devices", text, XSTI_CUDA_MOST_DEVICES);
        ordinals_out[count++] = (int)ordinal;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    *count_out = count;
    return XST_OK;
}

static enum xst_status open_sides(struct xsti_cuda_machine *machine, const int *ordinals, size_t count,
                                  struct xst_diag *diag)
{
    for (size_t i = 0; i < count; i++, machine->side_count++)
        XSTI_TRY(xsti_cuda_side_open(machine, ordinals[i], &machine->sides[i], diag));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            if (i != j)
                XSTI_TRY(xsti_device_enable_peer(&machine->sides[i].device, &machine->sides[j].device, diag));
    for (size_t i = 0; i < count; i++)
        XSTI_TRY(xsti_cuda_side_settle(&machine->sides[i], diag));
    return xsti_pinned_alloc(&machine->sides[0].device, 4096, &machine->gate, diag);
}

enum xst_status xsti_machine_open_cuda(const char *text, struct xst_machine **machine_out, struct xst_diag *diag)
{
    int ordinals[XSTI_CUDA_MOST_DEVICES];
    size_t count = 0;
    XSTI_TRY(parse_ordinals(text, ordinals, &count, diag));
    struct xsti_cuda_machine *const machine = calloc(1, sizeof *machine);
    if (!machine)
        return xsti_fail_memory(diag);
    machine->base.ops = &cuda_ops;
    machine->seed = 1;
    enum xst_status status = xsti_driver_open(&machine->driver, diag);
    if (status != XST_OK) {
        free(machine);
        return status;
    }
    xsti_nvml_open(&machine->nvml);
    status = open_sides(machine, ordinals, count, diag);
    if (status != XST_OK) {
        close_cuda(&machine->base);
        return status;
    }
    fill_facts(machine);
    *machine_out = &machine->base;
    return XST_OK;
}
