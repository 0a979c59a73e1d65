/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls: their bounds, the even split, the choice.
 */
#include <xstage/fa_a2a_kernel.h>

#include <math.h>

#include "base/diag.h"
#include "fa_a2a/fill.h"

/* Tile numbers, row numbers and key blocks are 32-bit on the device. */
enum { MOST_ROWS = 1 << 27, MOST_COUNT = 65535 };

size_t xst_fa_a2a_control_bytes(void)
{
    return sizeof(struct xsti_fa_control);
}

size_t xst_fa_a2a_fault_offset(void)
{
    return offsetof(struct xsti_fa_control, fault.set);
}

static enum xst_status in_range(const char *field, int64_t value, int64_t low, int64_t high, struct xst_diag *diag)
{
    if (value >= low && value <= high)
        return XST_OK;
    return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: %s is %lld, outside %lld..%lld", field, (long long)value,
                     (long long)low, (long long)high);
}

/* NULL is allowed where `needed` is 0. */
static enum xst_status aligned(const char *field, uint64_t address, int64_t multiple, int needed, struct xst_diag *diag)
{
    if (address == 0 && needed)
        return xsti_fail(diag, XST_ERR_USAGE, "fa-a2a call: %s is NULL", field);
    if (address % (uint64_t)multiple != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: %s is 0x%llx, not a multiple of %lld bytes", field,
                         (unsigned long long)address, (long long)multiple);
    return XST_OK;
}

static enum xst_status check_stride(const char *tensor, const char *which, int64_t stride, int64_t least,
                                    struct xst_diag *diag)
{
    const int64_t most = INT64_C(1) << 38;
    if (stride < least || stride > most)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: %s.%s_stride is %lld elements, outside %lld..%lld", tensor,
                         which, (long long)stride, (long long)least, (long long)most);
    if (stride % 8 != 0)
        return xsti_fail(diag, XST_ERR_RANGE,
                         "fa-a2a call: %s.%s_stride is %lld elements, not a multiple of 8 (16 bytes)", tensor, which,
                         (long long)stride);
    return XST_OK;
}

static enum xst_status check_tensor(const char *name, const struct xst_fa_a2a_tensor *tensor, int64_t head_dim,
                                    struct xst_diag *diag)
{
    XSTI_TRY(aligned(name, tensor->address, 16, 1, diag));
    XSTI_TRY(check_stride(name, "batch", tensor->batch_stride, head_dim, diag));
    XSTI_TRY(check_stride(name, "row", tensor->row_stride, head_dim, diag));
    return check_stride(name, "head", tensor->head_stride, head_dim, diag);
}

static enum xst_status check_owners(const struct xst_fa_a2a_call *call, struct xst_diag *diag)
{
    if (!call->row_first || !call->out || !call->control)
        return xsti_fail(diag, XST_ERR_USAGE, "fa-a2a call: %s is NULL",
                         !call->row_first ? "row_first" : (!call->out ? "out" : "control"));
    if (call->row_first[0] != 0 || call->row_first[call->ranks] != call->seq)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: row_first goes from %lld to %lld, not from 0 to seq (%lld)",
                         (long long)call->row_first[0], (long long)call->row_first[call->ranks], (long long)call->seq);
    for (int64_t p = 0; p < call->ranks; p++) {
        if (call->row_first[p] > call->row_first[p + 1])
            return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: row_first falls from %lld to %lld at rank %lld",
                             (long long)call->row_first[p], (long long)call->row_first[p + 1], (long long)p);
        XSTI_TRY(aligned("out", call->out[p], 16, call->row_first[p] < call->row_first[p + 1], diag));
        XSTI_TRY(aligned("control", call->control[p], 8, 1, diag));
    }
    return XST_OK;
}

/* What launch and push share: shape and owners. */
enum xst_status xsti_fa_check_exchange(const struct xst_fa_a2a_call *call, struct xst_diag *diag)
{
    XSTI_TRY(in_range("batch", call->batch, 1, MOST_COUNT, diag));
    XSTI_TRY(in_range("seq", call->seq, 1, MOST_ROWS, diag));
    XSTI_TRY(in_range("heads", call->heads, 1, MOST_COUNT, diag));
    XSTI_TRY(in_range("heads_total", call->heads_total, call->heads, MOST_COUNT, diag));
    XSTI_TRY(in_range("head_first", call->head_first, 0, call->heads_total - call->heads, diag));
    if (call->head_dim != 64 && call->head_dim != 128)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: head_dim is %lld; kernels exist for 64 and 128",
                         (long long)call->head_dim);
    XSTI_TRY(in_range("ranks", call->ranks, 1, XST_FA_A2A_MOST_RANKS, diag));
    XSTI_TRY(in_range("rank", call->rank, 0, call->ranks - 1, diag));
    if (call->batch * call->seq > INT32_MAX || call->batch * call->heads > INT32_MAX / (call->seq / 128 + 2))
        return xsti_fail(diag, XST_ERR_RANGE,
                         "fa-a2a call: batch %lld x heads %lld x seq %lld is more than a 32-bit count of tiles",
                         (long long)call->batch, (long long)call->heads, (long long)call->seq);
    XSTI_TRY(aligned("out_flip_bytes", call->out_flip_bytes, 16, 0, diag));
    return check_owners(call, diag);
}

static enum xst_status check_pairs(const struct xst_fa_a2a_call *call, const struct xst_fa_a2a_choice *choice,
                                   struct xst_diag *diag)
{
    XSTI_TRY(in_range("pairs", choice->pairs, 0, 1, diag));
    if (!choice->pairs)
        return XST_OK;
    if (call->head_dim != 128)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: pairs with head_dim %lld; they exist for 128",
                         (long long)call->head_dim);
    if (choice->ctas % 2 != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: ctas is %lld; pairs need an even number",
                         (long long)choice->ctas);
    if (call->key_lens != 0 && xsti_fa_pairs_split_batches(call, (int)(64 * choice->groups)))
        return xsti_fail(diag, XST_ERR_RANGE,
                         "fa-a2a call: pairs with key_lens, and an odd number of tiles of %lld rows in a batch: a pair "
                         "would have two lengths",
                         (long long)(64 * choice->groups));
    return XST_OK;
}

enum xst_status xst_fa_a2a_call_check(const struct xst_fa_a2a_call *call, const struct xst_fa_a2a_choice *choice,
                                      struct xst_diag *diag)
{
    XSTI_TRY(xsti_fa_check_exchange(call, diag));
    XSTI_TRY(in_range("key_len", call->key_len, 1, MOST_ROWS, diag));
    if (!(call->scale > 0) || !isfinite(call->scale))
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: scale is %g, a positive number is needed", call->scale);
    XSTI_TRY(check_tensor("q", &call->q, call->head_dim, diag));
    XSTI_TRY(check_tensor("k", &call->k, call->head_dim, diag));
    XSTI_TRY(check_tensor("v", &call->v, call->head_dim, diag));
    XSTI_TRY(aligned("lse", call->lse, 4, 0, diag));
    XSTI_TRY(aligned("key_lens", call->key_lens, 4, 0, diag));
    XSTI_TRY(in_range("groups", choice->groups, 2, 3, diag));
    XSTI_TRY(in_range("store", choice->store, XST_FA_A2A_STORE_ST16, XST_FA_A2A_STORE_PACED, diag));
    XSTI_TRY(in_range("ctas", choice->ctas, 1, MOST_COUNT, diag));
    XSTI_TRY(check_pairs(call, choice, diag));
    XSTI_TRY(in_range("delay_ns", choice->delay_ns, 0, 1000000, diag));
    if (choice->slices < 1 || choice->slices > 16 || 16 % choice->slices != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: slices is %lld, not 1, 2, 4, 8 or 16",
                         (long long)choice->slices);
    if (!(choice->drain_bytes_per_us >= 0) || !isfinite(choice->drain_bytes_per_us))
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: drain_bytes_per_us is %g; a rate, or 0, is needed",
                         choice->drain_bytes_per_us);
    return XST_OK;
}

enum xst_status xst_fa_a2a_call_split(struct xst_fa_a2a_call *call, int64_t heads_total, int64_t rank, int64_t ranks,
                                      int64_t *row_first, struct xst_diag *diag)
{
    XSTI_TRY(in_range("ranks", ranks, 1, XST_FA_A2A_MOST_RANKS, diag));
    XSTI_TRY(in_range("rank", rank, 0, ranks - 1, diag));
    XSTI_TRY(in_range("seq", call->seq, 1, MOST_ROWS, diag));
    if (heads_total < 1 || heads_total % ranks != 0)
        return xsti_fail(diag, XST_ERR_RANGE, "fa-a2a call: heads_total is %lld, not a multiple of ranks (%lld)",
                         (long long)heads_total, (long long)ranks);
    call->heads_total = heads_total;
    call->heads = heads_total / ranks;
    call->head_first = rank * call->heads;
    call->rank = rank;
    call->ranks = ranks;
    for (int64_t p = 0; p <= ranks; p++)
        row_first[p] = p * (call->seq / ranks) + (p < call->seq % ranks ? p : call->seq % ranks);
    call->row_first = row_first;
    return XST_OK;
}

/* Stores to other ranks make a CTA's own loads late, and a pair has half as many of them; by itself a pair is 1 to 2 % slower, which
 * short sequences do not get back (README.md). */
static int pairs_pay(const struct xst_fa_a2a_call *call, const struct xst_fa_a2a_choice *choice)
{
    const int64_t least_keys = 6144;
    if (choice->store != XST_FA_A2A_STORE_PACED || call->head_dim != 128 || choice->ctas % 2 != 0 ||
        call->key_len < least_keys)
        return 0;
    return call->key_lens == 0 || (call->row_first && !xsti_fa_pairs_split_batches(call, (int)(64 * choice->groups)));
}

/* Rates of the variants relative to each other, H200, README.md: rows times rate in full waves. */
struct xst_fa_a2a_choice xst_fa_a2a_choose(const struct xst_fa_a2a_call *call, int64_t sm_count)
{
    static const double rates[2][2] = {{0.62, 1.00}, {1.00, 0.99}}; /* [head_dim is 128][groups - 2] */
    struct xst_fa_a2a_choice choice = {.store = XST_FA_A2A_STORE_ST16, .slices = 8, .ctas = sm_count};
    double best = 0;
    for (int64_t groups = 2; groups <= 3; groups++) {
        const int64_t rows = 64 * groups;
        const int64_t tiles = call->batch * call->heads * ((call->seq + rows - 1) / rows);
        const int64_t waves = (tiles + sm_count - 1) / sm_count;
        const double rate = rates[call->head_dim == 128][groups - 2];
        const double time = (double)(waves * rows) / rate;
        if (groups == 2 || time < best) {
            best = time;
            choice.groups = groups;
            /* with one wave there is no next tile to send behind */
            choice.store = call->ranks > 1 && waves > 1 ? XST_FA_A2A_STORE_PACED : XST_FA_A2A_STORE_ST16;
        }
    }
    choice.pairs = pairs_pay(call, &choice);
    return choice;
}
