/* SPDX-License-Identifier: Apache-2.0
 *
 * Bringing tokens without a device: what is refused, with which words.
 */
#include "support/support.h"

#include <xstage/moe_kernel.h>

static const uint64_t buffers[2] = {0x10000, 0x20000};

#define REFUSE(change, status, words)                                                                                  \
    do {                                                                                                               \
        struct xst_moe_call call = {.layer = {384, 192, 12, 4, 100, 2, 132, XST_MOE_BF16, 0},                          \
                                    .rank = 1,                                                                         \
                                    .tokens = 7,                                                                       \
                                    .buffers = buffers};                                                               \
        struct xst_moe_tokens tokens = {.x = 0x1010,                                                                   \
                                        .x_stride = 392,                                                               \
                                        .ids = 0x2008,                                                                 \
                                        .id_bytes = 8,                                                                 \
                                        .weights = 0x3004};                                                            \
        struct xst_diag diag = {0};                                                                                    \
        change;                                                                                                        \
        xt_status(xst_moe_bring(NULL, &call, &tokens, NULL, &diag), status, &diag);                                    \
        xt_contains(diag.text, words);                                                                                 \
    } while (0)

static void refused(void **state)
{
    (void)state;
    REFUSE(call.tokens = 101, XST_ERR_RANGE, "tokens is 101, outside 0..100");
    REFUSE(call.buffers = NULL, XST_ERR_USAGE, "buffers is NULL");
    REFUSE(tokens.x = 0, XST_ERR_USAGE, "moe tokens: x is NULL");
    REFUSE(tokens.x = 0x1008, XST_ERR_RANGE, "x is 0x1008, not a multiple of 16 bytes");
    REFUSE(tokens.x_stride = 376, XST_ERR_RANGE, "x_stride is 376, not a multiple of 8 (16 bytes) in hidden (384)");
    REFUSE(tokens.x_stride = 385, XST_ERR_RANGE, "x_stride is 385");
    REFUSE(tokens.id_bytes = 2, XST_ERR_RANGE, "id_bytes is 2, not 4 or 8");
    REFUSE(tokens.ids = 0x2004, XST_ERR_RANGE, "ids is 0x2004, not a multiple of 8 bytes");
    REFUSE(tokens.weights = 0x3002, XST_ERR_RANGE, "weights is 0x3002, not a multiple of 4 bytes");
}

/* Nothing is there to be read then. */
static void no_tokens(void **state)
{
    (void)state;
    struct xst_diag diag = {0};
    const struct xst_moe_call call = {.layer = {384, 192, 12, 4, 100, 2, 132, XST_MOE_BF16, 0}, .buffers = buffers};
    const struct xst_moe_tokens tokens = {.id_bytes = 4};
    xt_ok(xst_moe_bring(NULL, &call, &tokens, NULL, &diag), &diag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refused), cmocka_unit_test(no_tokens)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
