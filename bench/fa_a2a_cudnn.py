#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention alone against cuDNN's SDPA through PyTorch: same device, same run, order rotated from round to round.

usage: bench/fa_a2a_cudnn.py [LIBXSTAGE.so] [--json FILE] [--seq 4096,8192] [--heads 12] [--head-dim 128,64] [--rounds 7]
Prints a table; --json writes rows of the bench schema (variants fa_only_g2, fa_only_g3, both again with _pairs, fa_only as chosen, and cudnn). Outputs are compared
with PyTorch's fp32 attention before anything is timed. Needs PyTorch and a Hopper GPU.
"""
import argparse
import ctypes as C
import json
import os
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

i64, u64 = C.c_int64, C.c_uint64


class Tensor(C.Structure):
    _fields_ = [("address", u64), ("batch_stride", i64), ("row_stride", i64), ("head_stride", i64)]


class Call(C.Structure):
    _fields_ = [("batch", i64), ("seq", i64), ("key_len", i64), ("key_lens", u64)] + [
        (n, i64) for n in ("heads", "heads_total", "head_first", "head_dim", "rank", "ranks")] + [
        ("row_first", C.POINTER(i64)), ("scale", C.c_double), ("q", Tensor), ("k", Tensor), ("v", Tensor),
        ("out", C.POINTER(u64)), ("out_flip_bytes", u64), ("lse", u64), ("control", C.POINTER(u64)), ("epoch", u64)]


class Choice(C.Structure):
    _fields_ = [("groups", i64), ("store", C.c_int), ("slices", i64), ("ctas", i64), ("pairs", i64),
                ("drain_bytes_per_us", C.c_double), ("delay_ns", i64)]


class Diag(C.Structure):
    _fields_ = [("status", C.c_int), ("line", i64), ("text", C.c_char * 1024)]


class Attention:
    """xst_fa_a2a_launch with one rank."""

    def __init__(self, path):
        self.lib, self.diag, self.kernels = C.CDLL(path), Diag(), C.c_void_p()
        self.lib.xst_fa_a2a_choose.restype = Choice
        self.lib.xst_fa_a2a_choose.argtypes = [C.c_void_p, i64]
        self.lib.xst_fa_a2a_sm_count.restype = i64
        self.ok(self.lib.xst_fa_a2a_open(i64(0), C.byref(self.kernels), C.byref(self.diag)))
        self.lib.xst_fa_a2a_control_bytes.restype = C.c_size_t
        self.control = torch.zeros(self.lib.xst_fa_a2a_control_bytes(), dtype=torch.uint8, device="cuda")
        self.sms = self.lib.xst_fa_a2a_sm_count(self.kernels)

    def ok(self, status):
        if status != 0:
            sys.exit(self.diag.text.decode())

    def prepare(self, q, k, v, out, groups=0, pairs=None):
        """A function that enqueues one call on the current stream; and the groups it uses. `pairs` None: as chosen."""
        batch, seq, heads, dim = q.shape
        tensor = [Tensor(t.data_ptr(), t.stride(0), t.stride(1), t.stride(2)) for t in (q, k, v)]
        call = Call(batch, seq, k.shape[1], 0, heads, heads, 0, dim, 0, 1, (i64 * 2)(0, seq), dim**-0.5, *tensor,
                    (u64 * 1)(out.data_ptr()), 0, 0, (u64 * 1)(self.control.data_ptr()), 0)
        choice = self.lib.xst_fa_a2a_choose(C.byref(call), self.sms)
        choice.groups = groups or choice.groups
        choice.pairs = choice.pairs if pairs is None else pairs
        stream = C.c_void_p(torch.cuda.current_stream().cuda_stream)
        keep = (q, k, v, out)

        def enqueue(keep=keep):
            self.ok(self.lib.xst_fa_a2a_launch(self.kernels, C.byref(call), C.byref(choice), stream, C.byref(self.diag)))
        return enqueue, choice.groups


def check(enqueue, q, k, v, out):
    out.fill_(float("nan"))
    enqueue()
    rows = torch.linspace(0, q.shape[1] - 1, 64, device="cuda").long()
    scores = torch.einsum("brhd,bkhd->bhrk", q[:, rows].float(), k.float()) * q.shape[3]**-0.5
    want = torch.einsum("bhrk,bkhd->brhd", torch.softmax(scores, -1), v.float())
    error = (out[:, rows].float() - want).abs().max().item()
    if not error < 0.02 * want.abs().max().item() + 1e-3 or torch.isnan(out).any():
        sys.exit(f"wrong output: largest error {error}")


def time_rounds(functions, rounds, calls):
    times = {name: [] for name in functions}
    names = list(functions)
    for r in range(rounds):
        for name in names[r % len(names):] + names[:r % len(names)]:
            for _ in range(2):
                functions[name]()
            begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
            begin.record()
            for _ in range(calls):
                functions[name]()
            end.record()
            torch.cuda.synchronize()
            times[name].append(begin.elapsed_time(end) * 1e3 / calls)
    return times


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("library", nargs="?", default=os.path.join(here, "..", "build", "libxstage.so"))
    parser.add_argument("--json")
    parser.add_argument("--seq", default="1024,2048,4096,4608,8192,16384,32768")
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--head-dim", default="128,64")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(1)
    attention = Attention(os.path.abspath(args.library))
    rows = []
    for dim in map(int, args.head_dim.split(",")):
        for seq in map(int, args.seq.split(",")):
            q, k, v = [torch.randn(1, seq, args.heads, dim, device="cuda", dtype=torch.bfloat16) for _ in range(3)]
            out = torch.empty_like(q)
            functions, groups = {}, {}
            asked = {"fa_only_g2": (2, 0), "fa_only_g3": (3, 0), "fa_only": (0, None)}
            if dim == 128:
                asked |= {"fa_only_g2_pairs": (2, 1), "fa_only_g3_pairs": (3, 1)}
            for name, (count, pairs) in asked.items():
                functions[name], groups[name] = attention.prepare(q, k, v, out, count, pairs)
                check(functions[name], q, k, v, out)
            views = [t.transpose(1, 2) for t in (q, k, v)]
            functions["cudnn"] = lambda views=views: F.scaled_dot_product_attention(*views)
            flop = 4 * args.heads * seq * seq * dim
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                times = time_rounds(functions, args.rounds, max(3, min(200, int(1e4 / (flop / 550e6 + 20)))))
            base = statistics.median(times["cudnn"])
            for name, values in times.items():
                median = statistics.median(values)
                rows.append({"variant": name, "p": 1, "batch": 1, "heads": args.heads, "head_dim": dim, "seq": seq,
                             "groups": groups.get(name), "median_us": round(median, 3), "min_us": round(min(values), 3),
                             "max_us": round(max(values), 3), "n": args.rounds, "tflops": round(flop / median / 1e6, 1),
                             "ratio_to_cudnn": round(base / median, 4), "residual": None, "hiding_ratio": None,
                             "speedup": None, "checked": name != "cudnn"})
                print(f"d {dim} seq {seq:6d} {name:11s} {median:10.1f} us  {flop / median / 1e6:5.0f} TFLOP/s  "
                      f"{base / median:.3f} x cuDNN", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "xstage.bench/1", "tool": "fa_a2a_cudnn.py", "argv": sys.argv[1:], "kernel": "fa-a2a",
                       "time_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                       "facts": {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
                                 "cudnn": torch.backends.cudnn.version()}, "rows": rows}, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
