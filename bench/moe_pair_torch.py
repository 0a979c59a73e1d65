#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mixture-of-experts layer between GPUs as an unfused sequence: NCCL all-to-all, PyTorch's grouped GEMMs, all-to-all, sum.

usage: torchrun --nproc-per-node 2 bench/moe_pair_torch.py [--json FILE] [--rounds 15]
Row counts of the exchange are known beforehand and not exchanged. Times are the slowest rank's, one call at a time behind a barrier.
Rows of the bench schema: torch_gemms (both GEMMs), torch_dispatch, torch_serial.
"""
import argparse
import json
import os
import statistics
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

LAYERS = {"qwen3-30b/4": (2048, 768, 32, 8), "flash/4": (4096, 2048, 64, 6), "qwen3-235b/4": (4096, 1536, 32, 8),
          "width-512": (4096, 512, 32, 8)}
TOKENS = {"width-512": (4096,)}


def time_calls(function, rounds):
    times = []
    for turn in range(rounds + 3):
        dist.barrier()
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
        begin.record()
        function()
        end.record()
        torch.cuda.synchronize()
        if turn >= 3:
            times.append(begin.elapsed_time(end) * 1e3)
    slowest = torch.tensor(times, device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.tolist()


class Sequence:
    """One layer's buffers and steps on this rank."""

    def __init__(self, layer, tokens, generator):
        hidden, inter, experts, topk = layer
        ranks = dist.get_world_size()
        here = experts // ranks

        def noise(*shape):
            return torch.randn(*shape, device="cuda", dtype=torch.bfloat16, generator=generator)
        self.x, self.topk, self.hidden, self.tokens = noise(tokens, hidden), topk, hidden, tokens
        self.w1, self.w2 = noise(here, hidden, 2 * inter) * hidden**-.5, noise(here, inter, hidden) * inter**-.5
        scores = torch.randn(tokens, experts, device="cuda", generator=generator)
        weights, ids = scores.softmax(-1).topk(topk, -1)
        self.weights = weights.to(torch.bfloat16).unsqueeze(-1)
        flat = ids.flatten()
        self.order = flat.argsort(stable=True)
        self.back = self.order.argsort()
        sent = torch.bincount(flat, minlength=experts)
        got = torch.empty_like(sent)
        dist.all_to_all_single(got, sent)
        self.sends, self.gets = sent.view(ranks, here).sum(1).tolist(), got.view(ranks, here).sum(1).tolist()
        by_expert = torch.repeat_interleave(torch.arange(here, device="cuda").repeat(ranks), got)
        self.sort = by_expert.argsort(stable=True)
        self.unsort = self.sort.argsort()
        self.ends = got.view(ranks, here).sum(0).cumsum(0).to(torch.int32)
        self.rows = sum(self.gets)

    def dispatch(self):
        rows = torch.empty(self.rows, self.hidden, device="cuda", dtype=torch.bfloat16)
        dist.all_to_all_single(rows, self.x[self.order // self.topk], self.gets, self.sends)
        return rows[self.sort]

    def compute(self, rows):
        gate, up = torch._grouped_mm(rows, self.w1, offs=self.ends).chunk(2, -1)
        return torch._grouped_mm(F.silu(gate) * up, self.w2, offs=self.ends)

    def combine(self, out):
        slots = torch.empty(self.tokens * self.topk, self.hidden, device="cuda", dtype=torch.bfloat16)
        dist.all_to_all_single(slots, out[self.unsort], self.sends, self.gets)
        return (slots[self.back].view(self.tokens, self.topk, self.hidden) * self.weights).sum(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=15)
    args = parser.parse_args()
    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device(f"cuda:{rank}"))
    generator = torch.Generator(device="cuda")
    generator.manual_seed(1 + rank)
    rows = []
    for name, layer in LAYERS.items():
        for tokens in TOKENS.get(name, (1024, 4096, 8192)):
            s = Sequence(layer, tokens, generator)
            pool = s.dispatch()
            act = torch.randn(s.rows, layer[1], device="cuda", dtype=torch.bfloat16)
            steps = {"torch_gemms": lambda s=s, pool=pool, act=act: (torch._grouped_mm(pool, s.w1, offs=s.ends),
                                                                     torch._grouped_mm(act, s.w2, offs=s.ends)),
                     "torch_dispatch": s.dispatch, "torch_serial": lambda s=s: s.combine(s.compute(s.dispatch()))}
            flop = 6 * s.rows * layer[0] * layer[1]
            for variant, step in steps.items():
                times = time_calls(step, args.rounds)
                median = statistics.median(times)
                rows.append({"variant": variant, "layer": name, "target": "peer", "p": dist.get_world_size(), "hidden": layer[0],
                             "inter": layer[1], "experts": layer[2], "topk": layer[3], "tokens": tokens,
                             "median_us": round(median, 3), "min_us": round(min(times), 3), "max_us": round(max(times), 3),
                             "n": args.rounds, "tflops": round(flop / median / 1e6, 1) if variant != "torch_dispatch" else None,
                             "checked": False})
                if rank == 0:
                    print(f"{name:12s} T {tokens:5d} {variant:15s} {median:10.1f} us", flush=True)
            del s, pool, act
            torch.cuda.empty_cache()
    if rank == 0 and args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"schema": "xstage.bench/1", "tool": "moe_pair_torch.py", "argv": [], "kernel": "moe",
                       "time_utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                       "facts": {"device": torch.cuda.get_device_name(), "torch": torch.__version__}, "rows": rows}, file,
                      indent=1)
            file.write("\n")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
