#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A diffusion transformer's joint block, twice: on one rank with torch's attention, and with its image tokens shared by
all ranks.

    python examples/dit_block.py                              one process: the kernel beside torch's attention
    torchrun --nproc-per-node 2 examples/dit_block.py         two ranks, a GPU each (or one GPU, or none: then torch's)

Weights are random and the same everywhere. Text tokens are on all ranks, as in FLUX-like models. Prints how far the two
ways are apart and, on GPUs, how long a block takes; exit status 1 when they differ by more than rounding.
"""

import argparse
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

from xstage.torch import UlyssesAttention, split_lengths


class JointBlock(nn.Module):
    """Modulated attention over text and image tokens, then an MLP on the image tokens."""

    def __init__(self, heads: int, dim: int, attend: nn.Module) -> None:
        super().__init__()
        width = heads * dim
        self.heads, self.attend = heads, attend
        self.norm = nn.LayerNorm(width, elementwise_affine=False)
        self.modulation = nn.Linear(width, 6 * width)
        self.image_qkv, self.text_qkv = nn.Linear(width, 3 * width), nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(approximate="tanh"), nn.Linear(4 * width, width))

    def forward(self, image: torch.Tensor, text: torch.Tensor, time: torch.Tensor, lengths: list[int]) -> torch.Tensor:
        """image: (batch, own tokens, width); text: (batch, text tokens, width); time: (batch, width)."""
        shift_a, scale_a, gate_a, shift_m, scale_m, gate_m = self.modulation(time)[:, None].chunk(6, dim=-1)
        hidden = self.norm(image) * (1 + scale_a) + shift_a
        q, k, v = (x.unflatten(-1, (self.heads, -1)) for x in self.image_qkv(hidden).chunk(3, dim=-1))
        text_q, text_k, text_v = (
            x.unflatten(-1, (self.heads, -1)) for x in self.text_qkv(self.norm(text)).chunk(3, dim=-1)
        )
        joint = {"joint_tensor_query": text_q, "joint_tensor_key": text_k, "joint_tensor_value": text_v}
        mixed = self.attend(q, k, v, lengths=lengths, joint_strategy="front", **joint)
        image = image + gate_a * self.out(mixed[:, text.shape[1] :].flatten(2))
        return image + gate_m * self.mlp(self.norm(image) * (1 + scale_m) + shift_m)


class Alone(nn.Module):
    """torch's attention over everything on one device, with the arguments of the other one."""

    def forward(self, q, k, v, *, lengths, joint_strategy, joint_tensor_query, joint_tensor_key, joint_tensor_value):
        whole = ((joint_tensor_query, q), (joint_tensor_key, k), (joint_tensor_value, v))
        views = [torch.cat(pair, dim=1).transpose(1, 2) for pair in whole]
        return nn.functional.scaled_dot_product_attention(*views).transpose(1, 2)


def block_us(run, calls: int = 20) -> float:
    """Time of one block on the device."""
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
    parser.add_argument("--image", type=int, default=1021, help="image tokens, all ranks together; any number")
    parser.add_argument("--text", type=int, default=77)
    parser.add_argument("--heads", type=int, default=6)
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--backend", choices=("fused", "torch"), help="default: fused where there is a GPU")
    args = parser.parse_args()

    rank, ranks = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    gpus = torch.cuda.device_count()
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)) % gpus) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    if ranks > 1:
        dist.init_process_group("nccl" if gpus >= ranks else "gloo")
    dtype = torch.bfloat16 if gpus else torch.float32

    torch.manual_seed(1)  # the same weights and tokens on every rank
    width = args.heads * args.head_dim
    alone = JointBlock(args.heads, args.head_dim, Alone()).to(device, dtype).eval()
    shared = JointBlock(
        args.heads,
        args.head_dim,
        UlyssesAttention(device=device, backend=args.backend or ("fused" if gpus else "torch")),
    )
    shared = shared.to(device, dtype).eval()
    shared.load_state_dict(alone.state_dict())
    image, text, time = (
        torch.randn(1, *size).to(device, dtype) for size in ((args.image, width), (args.text, width), (width,))
    )

    lengths = split_lengths(args.image, ranks)
    first = sum(lengths[:rank])
    mine = image[:, first : first + lengths[rank]]
    with torch.inference_mode():
        want = alone(image, text, time, [args.image])[:, first : first + lengths[rank]].float()
        got = shared(mine, text, time, lengths).float()
        worst, largest = (got - want).abs().max().item(), want.abs().max().item()
        good = worst <= (0.02 if gpus else 1e-5) * largest
        times = ""
        if gpus:
            one, all_of_them = (
                block_us(lambda: alone(image, text, time, [args.image])),
                block_us(lambda: shared(mine, text, time, lengths)),
            )
            times = f"; a block takes {one:.0f} us on one rank, {all_of_them:.0f} us on {ranks}"
    print(
        f"rank {rank} of {ranks} on {device}: {lengths[rank]} of {args.image} image tokens, {args.text} text tokens: "
        f"outputs differ by {worst:.2g} of {largest:.2g}{times}",
        flush=True,
    )
    if ranks > 1:
        shared.attend.close()
        dist.destroy_process_group()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
