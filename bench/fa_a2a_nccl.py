#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention by cuDNN, then the exchange of its rows by NCCL and the permutation into the owners' layout: what a fused
kernel replaces. The same shapes as `xstage bench fa-a2a`: a rank has all rows of its heads and gets its rows of all.

usage: torchrun --nproc-per-node 2 bench/fa_a2a_nccl.py [--json FILE] [--shapes 24x128,40x128,24x64] [--seq 4096,8192]
       [--rounds 5]
Without attention the exchange is a2a_only; serial is one after the other. Times are of calls back to back, medians over
rounds, variants in rotated order; each round counts the slowest rank.
"""

import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel


def round_us(run, calls):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(2):
        run()
    dist.barrier()
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    torch.cuda.synchronize()
    mine = torch.tensor([begin.elapsed_time(end) * 1e3 / calls], device="cuda")
    dist.all_reduce(mine, dist.ReduceOp.MAX)
    return mine.item()


def variants_of(seq, heads, dim, ranks):
    """Functions of no argument. The output of attention is (1, heads, rows, dim) of contiguous (1, rows, heads, dim)."""
    local = heads // ranks
    q, k, v = [torch.randn(1, seq, local, dim, device="cuda", dtype=torch.bfloat16).transpose(1, 2) for _ in range(3)]
    source = torch.empty(seq, local, dim, device="cuda", dtype=torch.bfloat16)
    got = torch.empty_like(source)

    def exchange(rows=source):
        dist.all_to_all_single(got, rows)  # (ranks, rows here, local heads, dim)
        return got.view(ranks, seq // ranks, local, dim).transpose(0, 1).reshape(seq // ranks, heads, dim)

    def attend():
        return F.scaled_dot_product_attention(q, k, v)

    def serial():
        return exchange(attend().transpose(1, 2).reshape(seq, local, dim))

    return {"fa_only": attend, "a2a_only": exchange, "serial": serial}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json")
    parser.add_argument("--shapes", default="24x128", help="heads x head dimension, of the model")
    parser.add_argument("--seq", default="1024,2048,4096,8192,16384,32768")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    ranks = dist.get_world_size()
    torch.manual_seed(rank)
    rows = []
    for heads, dim in (map(int, shape.split("x")) for shape in args.shapes.split(",")):
        for seq in map(int, args.seq.split(",")):
            runs = variants_of(seq, heads, dim, ranks)
            flop = 4 * heads // ranks * seq * seq * dim
            calls = max(3, min(200, int(1e4 / (flop / 550e6 + 60))))
            times = {name: [] for name in runs}
            with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
                for r in range(args.rounds):
                    names = list(runs)
                    for name in names[r % 3 :] + names[: r % 3]:
                        times[name].append(round_us(runs[name], calls))
            for name, values in times.items():
                median = statistics.median(values)
                rows.append({"variant": name, "p": ranks, "batch": 1, "heads": heads, "head_dim": dim, "seq": seq,
                             "median_us": round(median, 3), "min_us": round(min(values), 3),
                             "max_us": round(max(values), 3), "n": args.rounds, "calls": calls,
                             "tflops": None if name == "a2a_only" else round(flop / median / 1e6, 1)})
                if rank == 0:
                    print(f"{heads} x {dim} seq {seq:6d} {name:9s} {median:10.1f} us", flush=True)
    if args.json and rank == 0:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "xstage.bench/1", "tool": "fa_a2a_nccl.py", "argv": sys.argv[1:], "kernel": "fa-a2a",
                       "time_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                       "facts": {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
                                 "cudnn": torch.backends.cudnn.version(),
                                 "nccl": ".".join(map(str, torch.cuda.nccl.version()))}, "rows": rows}, file, indent=1)
            file.write("\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
