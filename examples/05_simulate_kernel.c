/* SPDX-License-Identifier: Apache-2.0
 *
 * A kernel of your own, tile by tile: a GEMM whose epilogue scatters its tiles to the ranks that own the rows (reduce-scatter),
 * on 4 ranks. The description is gemm_next.   05_simulate_kernel [profiles/h200x2-nvlink.json]
 */
#include <stdio.h>

#include <xstage/timeline.h>

/* 8192 x 8192 bf16 result, depth 2048 on this rank; tiles of 128 x 256, rows owned in four equal parts. */
struct gemm {
    int64_t row_tiles, column_tiles, ranks, sms;
    double tile_us;
};

static int gemm_next(void *context, int64_t rank, int64_t sm, int64_t taken, struct xst_tile *tile_out)
{
    const struct gemm *const gemm = context;
    const int64_t index = sm + taken * gemm->sms;
    if (index >= gemm->row_tiles * gemm->column_tiles)
        return 0;
    const int64_t part = index * gemm->ranks / (gemm->row_tiles * gemm->column_tiles);
    const int64_t owner = (rank + 1 + part) % gemm->ranks; /* peers first, own rows last */
    const double bytes = 128 * 256 * 2;
    tile_out->work_us = gemm->tile_us;
    tile_out->remote_bytes = owner == rank ? 0 : bytes;
    tile_out->local_bytes = owner == rank ? bytes : 0;
    tile_out->mix = (int32_t)owner; /* where to: a row of `mixes` below */
    tile_out->id = index;
    return 1;
}

int main(int argc, char **argv)
{
    const struct xst_path_key key = {.target = XST_TARGET_PEER, .method = XST_METHOD_BULK};
    const int64_t to[] = {0, 1, 2, 3};
    const double all[] = {1};
    const struct xst_mix mixes[] = {{1, to, all}, {1, to + 1, all}, {1, to + 2, all}, {1, to + 3, all}};
    struct gemm gemm = {8192 / 128, 8192 / 256, 4, 132, 2.0 * 128 * 256 * 2048 / (989.4e6 / 132)};
    struct xst_timeline_config config = {.ranks = 4,
                                         .sms = gemm.sms,
                                         .staging_slots = 2,
                                         .mixes = mixes,
                                         .mix_count = 4};
    struct xst_timeline_result result;
    struct xst_profile profile;
    struct xst_diag diag;
    if (xst_profile_read(argc > 1 ? argv[1] : "profiles/h200x2-nvlink.json", &profile, NULL, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", diag.text);
        return 2;
    }
    config.context = &gemm;
    config.next = gemm_next;
    const struct xst_path *const path = xst_profile_path(&profile, &key);
    if (!path || xst_timeline_machine_read(path, gemm.sms, 65536, 1, &config.machine, &diag) != XST_OK ||
        xst_timeline_run(&config, &result, &diag) != XST_OK) {
        fprintf(stderr, "%s\n", path ? diag.text : "the profile has no path peer/bulk");
        xst_profile_free(&profile);
        return 2;
    }
    printf("%.1f us, %.1f of compute; SM stalls %.1f us, staging is busy %.2f us per tile\n", result.makespan_us,
           (double)((gemm.row_tiles * gemm.column_tiles + gemm.sms - 1) / gemm.sms) * gemm.tile_us,
           result.ranks[0].math.stall_us, result.issue_us);
    xst_timeline_result_free(&result);
    xst_profile_free(&profile);
    return 0;
}
