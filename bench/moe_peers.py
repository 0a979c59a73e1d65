#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mixture-of-experts layer against PyTorch's grouped GEMMs: same device, same run, order rotated from round to round.

usage: bench/moe_peers.py [LIBXSTAGE.so] [--json FILE] [--layers flash,v3,qwen235,qwen30] [--tokens 1024,8192] [--rounds 7]
One rank's share of 8 ranks, every row at home. Variants: moe_wave, moe_interleaved (lead --lead), moe_unfused; torch_gemms (the two
grouped GEMMs alone), torch_serial (gather, grouped GEMM, silu and product, grouped GEMM, weighted sum), both with weights of either
layout, ..._kn depth-major. Ours is compared with torch_serial before anything is timed. Prints a table; --json writes rows of the bench
schema. Needs PyTorch and a Hopper GPU.
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

i64, u64 = C.c_int64, C.c_uint64
LAYERS = {"flash": (4096, 2048, 32, 6), "v3": (7168, 2048, 32, 8), "pro": (7168, 3072, 48, 6), "qwen235": (4096, 1536, 16, 8),
          "qwen30": (2048, 768, 16, 8), "mixtral": (4096, 14336, 1, 2), "dit-xl": (1152, 4608, 1, 2)}


class Layer(C.Structure):
    _fields_ = [(n, i64) for n in ("hidden", "inter", "experts", "topk", "tokens_most", "ranks", "ctas")]
    _fields_ += [("dtype", C.c_int)]


class Layout(C.Structure):
    _fields_ = [(n, u64) for n in ("bytes", "x", "ids", "weights", "combine", "control", "x_scales")]


class Call(C.Structure):
    _fields_ = [("layer", Layer), ("rank", i64), ("tokens", i64), ("clamp", C.c_double), ("w1", u64), ("w2", u64), ("y", u64),
                ("buffers", C.POINTER(u64)), ("combine", C.POINTER(u64)), ("limit_us", C.c_double), ("w1_scales", u64),
                ("w2_scales", u64)]


class Order(C.Structure):
    _fields_ = [("schedule", C.c_int), ("lead", i64), ("group", i64), ("tile_rows", i64), ("store", C.c_int), ("slices", i64),
                ("delay_ns", i64), ("seed", i64), ("unit", i64)]


class Diag(C.Structure):
    _fields_ = [("status", C.c_int), ("line", i64), ("text", C.c_char * 1024)]


class Moe:
    """The kernels of one device, one rank."""

    def __init__(self, path):
        self.lib, self.diag, self.kernels = C.CDLL(path), Diag(), C.c_void_p()
        self.lib.xst_moe_sm_count.restype = i64
        self.ok(self.lib.xst_moe_open(i64(0), C.byref(self.kernels), C.byref(self.diag)))
        self.ctas = self.lib.xst_moe_sm_count(self.kernels)

    def ok(self, status):
        if status != 0:
            sys.exit(self.diag.text.decode())

    def prepare(self, x, ids, weights, w1, w2, y):
        """The call, with a symmetric buffer that holds the inputs."""
        tokens, hidden = x.shape
        layer = Layer(hidden, w2.shape[2], w2.shape[0], ids.shape[1], tokens, 1, self.ctas)
        layout = Layout()
        self.ok(self.lib.xst_moe_layout(C.byref(layer), C.byref(layout), C.byref(self.diag)))
        buffer = torch.zeros(layout.bytes + 1024, dtype=torch.uint8, device="cuda")
        skip = -buffer.data_ptr() % 1024
        for at, values in ((layout.x, x), (layout.ids, ids), (layout.weights, weights)):
            raw = values.contiguous().view(torch.uint8).flatten()
            buffer[skip + at:skip + at + raw.numel()].copy_(raw)
        self.keep = (buffer, (u64 * 1)(buffer.data_ptr() + skip))
        return Call(layer, 0, tokens, 0, w1.data_ptr(), w2.data_ptr(), y.data_ptr(), self.keep[1], None, 0)

    def enqueue(self, call, order, fused):
        function = self.lib.xst_moe_fused if fused else self.lib.xst_moe_unfused
        stream = C.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.ok(function(self.kernels, C.byref(call), C.byref(order), stream, C.byref(self.diag)))

    def finish(self, call):
        stream = C.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.ok(self.lib.xst_moe_status(self.kernels, C.byref(call), stream, C.byref(self.diag)))


def interleaved(gate, up):
    """(experts, inter, hidden) twice to (experts, 2 inter, hidden): 8 gate rows, 8 up rows, and so on."""
    experts, inter, hidden = gate.shape
    return torch.stack((gate.view(experts, inter // 8, 8, hidden), up.view(experts, inter // 8, 8, hidden)), 2).view(
        experts, 2 * inter, hidden)


def torch_layer(x, ids, weights, first, second):
    """Functions: the two GEMMs alone, and the whole layer. first (experts, hidden, 2 inter), second (experts, inter, hidden)."""
    tokens, topk = ids.shape
    flat = ids.flatten()
    order = flat.argsort(stable=True)
    inverse = order.argsort()
    ends = torch.bincount(flat, minlength=second.shape[0]).cumsum(0).to(torch.int32)
    share = weights.to(torch.bfloat16).unsqueeze(-1)
    rows = x[order // topk]
    act = torch.randn(rows.shape[0], second.shape[1], device="cuda", dtype=torch.bfloat16)

    def gemms():
        torch._grouped_mm(rows, first, offs=ends)
        torch._grouped_mm(act, second, offs=ends)

    def serial():
        both = torch._grouped_mm(x[order // topk], first, offs=ends)
        gate, up = both.chunk(2, -1)
        out = torch._grouped_mm(F.silu(gate) * up, second, offs=ends)
        return (out[inverse].view(tokens, topk, -1) * share).sum(1)
    return gemms, serial


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


def bench(moe, name, tokens, args):
    hidden, inter, experts, topk = LAYERS[name]
    gate, up = [torch.randn(experts, inter, hidden, device="cuda", dtype=torch.bfloat16) * (2 * hidden**-.5) for _ in range(2)]
    w2 = torch.randn(experts, hidden, inter, device="cuda", dtype=torch.bfloat16) * inter**-.5
    x = torch.randn(tokens, hidden, device="cuda", dtype=torch.bfloat16)
    weights, ids = torch.randn(tokens, max(experts, topk), device="cuda").softmax(-1).topk(topk, -1)
    ids = ids % experts
    y = torch.full((tokens, hidden), float("nan"), device="cuda", dtype=torch.bfloat16)
    w1 = interleaved(gate, up)
    first, second = torch.cat((gate, up), 1).transpose(1, 2), w2.transpose(1, 2)
    functions = {}
    for suffix, one, two in (("", first, second), ("_kn", first.contiguous(), second.contiguous())):
        functions["torch_gemms" + suffix], functions["torch_serial" + suffix] = torch_layer(x, ids, weights, one, two)
    serial = functions["torch_serial"]
    del gate, up
    call = moe.prepare(x, ids, weights.float(), w1, w2, y)
    rows = args.tile_rows or (64 if tokens * topk <= 64 * experts else 128)
    orders = {"moe_unfused": (Order(0, 0, 0, rows, 0, 1, 0, 0, 1), False), "moe_wave": (Order(0, 0, 0, rows, 0, 1, 0, 0, 1), True),
              "moe_interleaved": (Order(1, args.lead, 1, rows, 0, 1, 0, 0, 8 if 4 * inter * hidden > 16e6 else 1), True)}
    want = serial().double()
    for variant, (order, fused) in orders.items():
        functions[variant] = lambda order=order, fused=fused: moe.enqueue(call, order, fused)
        y.fill_(float("nan"))
        functions[variant]()
        moe.finish(call)
        got = y.double()
        off = (1 - 2 * (got * want).sum() / ((got * got).sum() + (want * want).sum())).item()
        if not off < 1e-4:
            sys.exit(f"{name} {tokens} {variant}: differs from PyTorch by {off}")
    flop = 6 * tokens * topk * hidden * inter
    times = time_rounds(functions, args.rounds, max(3, min(200, int(2e4 / (flop / 600e6 + 50)))))
    moe.finish(call)
    base = min(statistics.median(times[name]) for name in ("torch_serial", "torch_serial_kn"))
    for variant, values in times.items():
        median = statistics.median(values)
        print(f"{name:8s} T {tokens:5d} {variant:15s} {median:10.1f} us  {flop / median / 1e6:5.0f} TFLOP/s  "
              f"{base / median:.3f} x the faster torch_serial", flush=True)
        yield {"variant": variant, "layer": name, "p": 8, "hidden": hidden, "inter": inter, "experts": 8 * experts, "topk": topk,
               "tokens": tokens, "tile_rows": rows, "lead": args.lead if variant == "moe_interleaved" else None,
               "median_us": round(median, 3), "min_us": round(min(values), 3), "max_us": round(max(values), 3),
               "n": args.rounds, "tflops": round(flop / median / 1e6, 1), "ratio_to_torch": round(base / median, 4),
               "checked": variant.startswith("moe_")}


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("library", nargs="?", default=os.path.join(here, "..", "build", "libxstage.so"))
    parser.add_argument("--json")
    parser.add_argument("--layers", default="flash,v3,qwen235,qwen30")
    parser.add_argument("--tokens", default="1024,8192")
    parser.add_argument("--lead", type=int, default=300)
    parser.add_argument("--tile-rows", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    torch.manual_seed(1)
    moe = Moe(os.path.abspath(args.library))
    rows = []
    for name in args.layers.split(","):
        for tokens in map(int, args.tokens.split(",")):
            rows.extend(bench(moe, name, tokens, args))
            torch.cuda.empty_cache()
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "xstage.bench/1", "tool": "moe_peers.py", "argv": sys.argv[1:], "kernel": "moe",
                       "time_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                       "facts": {"device": torch.cuda.get_device_name(), "torch": torch.__version__}, "rows": rows}, file,
                      indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
