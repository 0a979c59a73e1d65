#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mixture-of-experts layer of random weights in bfloat16 and in e4m3 (FP8): how far apart, and how long each takes.

    python examples/moe_layer.py                              one GPU holds all experts
    torchrun --nproc-per-node 2 examples/moe_layer.py         a GPU a process, each with its share of the experts

Needs Hopper GPUs. Exit status 1 when the types are further apart than quantising explains. `--experts`, `--hidden`,
`--inter` and `--topk` default to those of Qwen3-30B-A3B.
"""

import argparse
import os
import sys

import torch
import torch.distributed as dist

from xstage.torch import FusedMoE, MoeOrder


def call_us(run, calls: int = 20) -> float:
    """Time of one call on the device."""
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(3):
        run()
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1e3 / calls


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--experts", type=int, default=128, help="of all ranks together")
    parser.add_argument("--hidden", type=int, default=2048)
    parser.add_argument("--inter", type=int, default=768)
    parser.add_argument("--topk", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=4096, help="of each rank")
    parser.add_argument("--schedule", choices=("wave", "interleaved"), default="wave")
    args = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("a Hopper GPU is needed; torch sees none")

    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
    torch.cuda.set_device(device)
    if ranks > 1:
        dist.init_process_group("nccl" if torch.cuda.device_count() >= ranks else "gloo")

    torch.manual_seed(rank)
    local = args.experts // ranks + (rank < args.experts % ranks)

    def matrices(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(local, rows, columns, device=device).mul_(columns**-0.5).bfloat16()

    gate, up, down = (matrices(*shape) for shape in [(args.inter, args.hidden)] * 2 + [(args.hidden, args.inter)])
    x = torch.randn(args.tokens, args.hidden, device=device, dtype=torch.bfloat16)
    weights, ids = torch.softmax(torch.randn(args.tokens, args.experts, device=device), -1).topk(args.topk)
    made = {"topk": args.topk, "tokens_most": args.tokens, "order": MoeOrder(args.schedule)}
    with torch.inference_mode():
        layers = {kind: FusedMoE(gate, up, down, dtype=kind, **made) for kind in (torch.bfloat16, torch.float8_e4m3fn)}
        outputs = [layer(x, ids, weights).float() for layer in layers.values()]
        for layer in layers.values():
            layer.check()
        times = [call_us(lambda layer=layer: layer(x, ids, weights)) for layer in layers.values()]
    exact, quantised = outputs
    apart = 1 - 2 * (exact * quantised).sum() / ((exact**2).sum() + (quantised**2).sum())
    print(
        f"rank {rank} of {ranks} on {device}: {args.tokens} tokens, {local} of {args.experts} experts, "
        f"{args.hidden} x {args.inter}: bfloat16 {times[0]:.0f} us, e4m3 {times[1]:.0f} us, {apart.item():.1e} apart",
        flush=True,
    )
    for layer in layers.values():
        layer.close()
    if ranks > 1:
        dist.destroy_process_group()
    return 0 if apart < 1e-2 else 1


if __name__ == "__main__":
    sys.exit(main())
