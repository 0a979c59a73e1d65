#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ulysses attention of xstage.torch between GPUs, fused and by torch alone, as a model calls it: sequence-sharded in
and out.

usage: torchrun --nproc-per-node 2 bench/torch_pair.py [--json FILE] [--seq 4608,8192] [--heads 24] [--head-dim 128]
The variant "torch" exchanges through NCCL on both sides of cuDNN's attention; both exchange q, k and v in the same way.
Outputs are compared before anything is timed. Times are medians over rounds, variants in rotated order; each round
counts the slowest rank. --graph times replays of captured graphs, which leave the host out.
"""

import argparse
import json
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.attention import SDPBackend, sdpa_kernel

import xstage
from xstage.torch import UlyssesAttention, split_lengths


def captured(run):
    """A function that replays a graph of `run`."""
    run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def round_us(run, calls):
    """One round: time of a call, the slowest rank's."""
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


def variants_of(attentions, q, k, v, lengths):
    """What is timed. Raises SystemExit when an output is wrong."""
    runs = {name: (lambda attend=attend: attend(q, k, v, lengths=lengths)) for name, attend in attentions.items()}
    want = runs["torch"]().float()
    for name in runs:
        worst = (runs[name]().float() - want).abs().max().item()
        if not worst <= 0.02 * want.abs().max().item():
            sys.exit(f"{name} is off by {worst} with {lengths} rows")
    return runs


def measure(attentions, args, seq, rank, ranks):
    """Rows of one length."""
    lengths = split_lengths(seq, ranks)
    torch.manual_seed(rank)
    size = (1, lengths[rank], args.heads, args.head_dim)
    q, k, v = (torch.randn(size, device="cuda", dtype=torch.bfloat16) for _ in range(3))
    flop = 4 * args.heads / ranks * seq * seq * args.head_dim
    calls = max(3, min(100, int(2e4 / (flop / 500e6 + 60))))
    with torch.inference_mode(), sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        runs = variants_of(attentions, q, k, v, lengths)
        if args.graph:
            runs.update({f"{name}_replayed": captured(run) for name, run in list(runs.items())})
        times = {name: [] for name in runs}
        names = list(runs)
        for number in range(args.rounds):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                times[name].append(round_us(runs[name], calls))
    shape = {"p": ranks, "batch": 1, "heads": args.heads, "head_dim": args.head_dim, "seq": seq}
    rows = []
    for name, values in times.items():
        median = statistics.median(values)
        base = statistics.median(times["torch_replayed" if name.endswith("_replayed") else "torch"])
        spread = {"min_us": round(min(values), 2), "max_us": round(max(values), 2), "n": len(values)}
        derived = {"tflops": round(flop / median / 1e6, 1), "speedup": round(base / median, 4)}
        head = {"variant": f"ulysses_{name}", **shape, "median_us": round(median, 2)}
        rows.append({**head, **spread, **derived, "residual": None, "hiding_ratio": None, "checked": True})
        if rank == 0:
            print(f"{seq:6d} rows {name:21s} {median:9.1f} us  {derived['speedup']:.3f} x torch", flush=True)
    return rows


def write(path, rows):
    facts = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "nccl": ".".join(map(str, torch.cuda.nccl.version())),
        "version": xstage.version(),
    }
    document = {
        "schema": "xstage.bench/1",
        "tool": "torch_pair.py",
        "argv": sys.argv[1:],
        "kernel": "ulysses",
        "time_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "facts": facts,
        "rows": rows,
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json")
    parser.add_argument("--seq", default="4608,8192,16384,32760")
    parser.add_argument("--heads", type=int, default=24)
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--graph", action="store_true")
    args = parser.parse_args()
    rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    attentions = {
        "fused": UlyssesAttention(device=device, reuse_output=True),
        "fused_copied": UlyssesAttention(device=device),
        "torch": UlyssesAttention(device=device, backend="torch"),
    }
    rows = [row for seq in map(int, args.seq.split(",")) for row in measure(attentions, args, seq, rank, ranks)]
    attentions["fused"].check()
    if args.json and rank == 0:
        write(args.json, rows)
    attentions["fused"].close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
