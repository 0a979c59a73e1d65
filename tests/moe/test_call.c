/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of the mixture-of-experts kernels without a device: what is allowed, what is refused and with which words.
 */
#include "support/support.h"

#include <math.h>

#include <xstage/moe_kernel.h>

#include "moe/layout.h"

static const uint64_t buffers[4] = {0x10000, 0x20000, 0x30000, 0x40000};
static const struct xst_moe_order good_order = {.schedule = XST_SCHEDULE_INTERLEAVED,
                                                .lead = 40,
                                                .group = 2,
                                                .tile_rows = 128,
                                                .store = XST_MOE_STORE_AT_ONCE};

static struct xst_moe_call good_call(void)
{
    return (struct xst_moe_call){.layer = {384, 192, 12, 4, 100, 4, 132, XST_MOE_BF16, 0},
                                 .rank = 3,
                                 .tokens = 100,
                                 .clamp = 10,
                                 .w1 = 0x1000,
                                 .w2 = 0x2010,
                                 .y = 0x3000,
                                 .buffers = buffers};
}

static void to_e4m3(struct xst_moe_call *call)
{
    call->layer.dtype = XST_MOE_E4M3;
    call->layer.inter = 256;
    call->w1_scales = 0x5004;
    call->w2_scales = 0x6004;
}

#define ALLOW(change)                                                                                                  \
    do {                                                                                                               \
        struct xst_moe_call call = good_call();                                                                        \
        struct xst_moe_order order = good_order;                                                                       \
        struct xst_diag diag = {0};                                                                                    \
        change;                                                                                                        \
        xt_ok(xst_moe_call_check(&call, &order, &diag), &diag);                                                        \
    } while (0)

#define REFUSE(change, status, words)                                                                                  \
    do {                                                                                                               \
        struct xst_moe_call call = good_call();                                                                        \
        struct xst_moe_order order = good_order;                                                                       \
        struct xst_diag diag = {0};                                                                                    \
        change;                                                                                                        \
        xt_status(xst_moe_call_check(&call, &order, &diag), status, &diag);                                            \
        xt_contains(diag.text, words);                                                                                 \
    } while (0)

static void what_is_allowed(void **state)
{
    (void)state;
    ALLOW((void)order);
    ALLOW(call.tokens = 0; call.y = 0);
    ALLOW(call.clamp = 0);
    ALLOW(order.schedule = XST_SCHEDULE_WAVE; order.lead = order.group = 0);
    ALLOW(order.tile_rows = 64);
    ALLOW(order.tile_rows = 256; call.layer.ctas = 130);
    for (int64_t slices = 1; slices <= 8; slices *= 2)
        ALLOW(order.store = XST_MOE_STORE_PACED; order.slices = slices);
    ALLOW(call.combine = buffers);
    ALLOW(to_e4m3(&call));
    ALLOW(to_e4m3(&call); order.tile_rows = 256);
}

static void calls_that_are_refused(void **state)
{
    static const uint64_t odd[4] = {0x10000, 0x20008, 0x30000, 0x40000}, none[4] = {0x10000, 0, 0x30000, 0x40000};
    (void)state;
    REFUSE(call.layer.hidden = 400, XST_ERR_RANGE, "hidden is 400, not a multiple of 128");
    REFUSE(call.rank = 4, XST_ERR_RANGE, "rank is 4, outside 0..3");
    REFUSE(call.rank = -1, XST_ERR_RANGE, "rank is -1, outside 0..3");
    REFUSE(call.tokens = 101, XST_ERR_RANGE, "tokens is 101, outside 0..100");
    REFUSE(call.clamp = -1, XST_ERR_RANGE, "clamp is -1");
    REFUSE(call.clamp = NAN, XST_ERR_RANGE, "clamp is");
    REFUSE(call.w1 = 0, XST_ERR_USAGE, "w1 is NULL");
    REFUSE(call.w2 = 0x2008, XST_ERR_RANGE, "w2 is 0x2008, not a multiple of 16 bytes");
    REFUSE(call.y = 0, XST_ERR_USAGE, "y is NULL");
    REFUSE(call.buffers = NULL, XST_ERR_USAGE, "buffers is NULL");
    REFUSE(call.buffers = odd, XST_ERR_RANGE, "buffers[1] is 0x20008, not a multiple of 1024 bytes");
    REFUSE(call.buffers = none, XST_ERR_USAGE, "buffers[1] is NULL");
    REFUSE(call.combine = none, XST_ERR_USAGE, "combine[1] is NULL");
    REFUSE(call.limit_us = -1, XST_ERR_RANGE, "limit_us is -1, outside 0..");
    REFUSE(call.layer.dtype = (enum xst_moe_dtype)2, XST_ERR_RANGE, "dtype is 2, outside 0..1");
    REFUSE(to_e4m3(&call); call.layer.inter = 192, XST_ERR_RANGE, "inter is 192, not a multiple of 128");
    REFUSE(to_e4m3(&call); call.w1_scales = 0, XST_ERR_USAGE, "w1_scales is NULL");
    REFUSE(to_e4m3(&call); call.w2_scales = 0x6002, XST_ERR_RANGE, "w2_scales is 0x6002, not a multiple of 4 bytes");
    REFUSE(to_e4m3(&call); order.tile_rows = 32, XST_ERR_RANGE, "tile_rows is 32, not 64, 128 or 256");
    REFUSE(call.combine = odd, XST_ERR_RANGE, "combine[1] is 0x20008, not a multiple of 16 bytes");
}

static void orders_that_are_refused(void **state)
{
    (void)state;
    REFUSE(order.schedule = (enum xst_schedule)2, XST_ERR_RANGE, "schedule is 2, outside 0..1");
    REFUSE(order.lead = 0, XST_ERR_RANGE, "lead is 0, outside 1..");
    REFUSE(order.group = 0, XST_ERR_RANGE, "group is 0, outside 1..");
    REFUSE(order.tile_rows = 256; call.layer.ctas = 131, XST_ERR_RANGE, "ctas is 131, odd");
    REFUSE(order.tile_rows = 96, XST_ERR_RANGE, "tile_rows is 96, not 64");
    REFUSE(order.store = (enum xst_moe_store)2, XST_ERR_RANGE, "store is 2, outside 0..1");
    REFUSE(order.store = XST_MOE_STORE_PACED; order.slices = 3, XST_ERR_RANGE, "slices is 3, not 1, 2, 4 or 8");
    REFUSE(order.delay_ns = -1, XST_ERR_RANGE, "delay_ns is -1, outside 0..");
    REFUSE(call.layer.tokens_most = 1 << 20; call.layer.topk = 16; call.layer.hidden = 65536;
           call.layer.inter = 65536, XST_ERR_RANGE, "more than a 32-bit count");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_allowed),
        cmocka_unit_test(calls_that_are_refused),
        cmocka_unit_test(orders_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
