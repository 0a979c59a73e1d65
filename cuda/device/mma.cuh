/* SPDX-License-Identifier: Apache-2.0
 *
 * mma.cuh - wgmma: a warpgroup's 64 x N tile of products with fp32 sums; an instruction is 32 bytes of a row deep, 16 values bf16
 * or 32 values e4m3.
 *
 * Sums: lane l of warp w holds rows 16 w + l / 4 and + 8; values 4 j, 4 j + 1 are columns 8 j + 2 (l mod 4) and + 1 of the first
 * row, 4 j + 2, 4 j + 3 the same columns of the second. As A operand in registers the packed pairs of values 8 k .. 8 k + 7 are
 * the four registers of step k, in this order: a tile of sums becomes an operand without any exchange.
 *
 * Issue order: mma_begin, any number of products, mma_commit, mma_wait<n>, hold(sums). Between the first and the last of these
 * nobody may touch the sums or the A registers; hold() keeps the compiler to that.
 */
#ifndef XST_DEVICE_MMA_CUH
#define XST_DEVICE_MMA_CUH

#include <stdint.h>

namespace xst {

__device__ __forceinline__ void mma_begin()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void mma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/* Until at most `Pending` of the committed groups are unfinished. */
template <int Pending> __device__ __forceinline__ void mma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/* No instruction: pins the values here, so that no read or write of them moves past the neighbouring asm. */
template <int N> __device__ __forceinline__ void hold(float (&values)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+f"(values[i])::"memory");
}

template <int N> __device__ __forceinline__ void hold(uint32_t (&values)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++)
        asm volatile("" : "+r"(values[i])::"memory");
}

/* mma_ss: sums (+)= A B with both operands in shared memory (descriptors of tile.cuh), A and B K-major.
 * mma_rs: sums += A B with A in four registers, B in shared memory and MN-major. */
template <int N> struct Mma;

#define XST_OUT8(d, i)                                                                                                 \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),        \
        "+f"(d[i + 7])

/* clang-format off */
#define XST_SUMS_0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define XST_SUMS_1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define XST_SUMS_2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define XST_SUMS_3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define XST_SUMS_4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define XST_SUMS_5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define XST_SUMS_6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define XST_SUMS_7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define XST_SUMS_8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define XST_SUMS_9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define XST_SUMS_10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define XST_SUMS_11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define XST_SUMS_12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define XST_SUMS_13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define XST_SUMS_14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define XST_SUMS_15 "%120, %121, %122, %123, %124, %125, %126, %127"
/* clang-format on */

/* N, then the numbers of the six operands behind the N / 2 outputs. */
#define XST_MMA(N, I0, I1, I2, I3, I4, I5)                                                                             \
    template <> struct Mma<N> {                                                                                        \
        template <bool Add> static __device__ __forceinline__ void ss(float (&d)[N / 2], uint64_t a, uint64_t b)       \
        {                                                                                                              \
            asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #I2 ", 0;\n"                                           \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" XST_LIST##N                      \
                         "}, %" #I0 ", %" #I1 ", p, 1, 1, 0, 0;\n}"                                                    \
                         : XST_OUTS##N(d)                                                                              \
                         : "l"(a), "l"(b), "n"(Add ? 1 : 0));                                                          \
        }                                                                                                              \
        static __device__ __forceinline__ void rs(float (&d)[N / 2], const uint32_t *a, uint64_t b)                    \
        {                                                                                                              \
            asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #I5 ", 0;\n"                                           \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" XST_LIST##N                      \
                         "}, "                                                                                         \
                         "{%" #I0 ", %" #I1 ", %" #I2 ", %" #I3 "}, %" #I4 ", p, 1, 1, 1;\n}"                          \
                         : XST_OUTS##N(d)                                                                              \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(1));                                \
        }                                                                                                              \
    }

#define XST_LIST64  XST_SUMS_0 ", " XST_SUMS_1 ", " XST_SUMS_2 ", " XST_SUMS_3
#define XST_LIST80  XST_LIST64 ", " XST_SUMS_4
#define XST_LIST128 XST_LIST80 ", " XST_SUMS_5 ", " XST_SUMS_6 ", " XST_SUMS_7
#define XST_LIST192 XST_LIST128 ", " XST_SUMS_8 ", " XST_SUMS_9 ", " XST_SUMS_10 ", " XST_SUMS_11
#define XST_LIST256 XST_LIST192 ", " XST_SUMS_12 ", " XST_SUMS_13 ", " XST_SUMS_14 ", " XST_SUMS_15

#define XST_OUTS64(d)  XST_OUT8(d, 0), XST_OUT8(d, 8), XST_OUT8(d, 16), XST_OUT8(d, 24)
#define XST_OUTS80(d)  XST_OUTS64(d), XST_OUT8(d, 32)
#define XST_OUTS128(d) XST_OUTS80(d), XST_OUT8(d, 40), XST_OUT8(d, 48), XST_OUT8(d, 56)
#define XST_OUTS192(d) XST_OUTS128(d), XST_OUT8(d, 64), XST_OUT8(d, 72), XST_OUT8(d, 80), XST_OUT8(d, 88)
#define XST_OUTS256(d) XST_OUTS192(d), XST_OUT8(d, 96), XST_OUT8(d, 104), XST_OUT8(d, 112), XST_OUT8(d, 120)

XST_MMA(64, 32, 33, 34, 35, 36, 37);
XST_MMA(80, 40, 41, 42, 43, 44, 45);
XST_MMA(128, 64, 65, 66, 67, 68, 69);
XST_MMA(192, 96, 97, 98, 99, 100, 101);
XST_MMA(256, 128, 129, 130, 131, 132, 133);

/* sums (+)= A B, both e4m3 in shared memory and K-major. The tensor core adds with fewer bits than a float has. */
template <bool Add> __device__ __forceinline__ void mma_e4m3_ss(float (&d)[64], uint64_t a, uint64_t b)
{
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %66, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {" XST_LIST128 "}, %64, %65, p, 1, 1;\n}"
                 : XST_OUTS128(d)
                 : "l"(a), "l"(b), "n"(Add ? 1 : 0));
}

template <bool Add> __device__ __forceinline__ void mma_e4m3_ss(float (&d)[128], uint64_t a, uint64_t b)
{
    asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %130, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {" XST_LIST256 "}, %128, %129, p, 1, 1;\n}"
                 : XST_OUTS256(d)
                 : "l"(a), "l"(b), "n"(Add ? 1 : 0));
}

} // namespace xst

#endif
