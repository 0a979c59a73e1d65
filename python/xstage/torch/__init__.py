# SPDX-License-Identifier: Apache-2.0
"""xstage for PyTorch: the fused kernels as operators and modules.

    from xstage.torch import FusedMoE, UlyssesAttention
    attend = UlyssesAttention(group)              # one process a GPU; torchrun started them
    out = attend(q, k, v)                         # (batch, rows of this rank, heads, head_dim) in and out
    layer = FusedMoE(gate, up, down, topk=8, tokens_most=4096, group=group)
    y = layer(x, ids, weights)                    # (tokens of this rank, hidden) in and out

For inference: there is no backward. Operators are `torch.ops.xstage.attention`, `torch.ops.xstage.ulysses_attention`
and `torch.ops.xstage.fused_moe`; they run on the current stream, replay in CUDA graphs and compile without graph
breaks.
"""

import torch as _torch

if not hasattr(_torch.library, "register_fake"):
    raise ImportError(f"xstage.torch needs PyTorch 2.4 or newer; this is {_torch.__version__}")

from ._quantise import quantise_blocks, quantise_rows  # noqa: E402
from .moe import FusedMoE, MoeOrder, interleave  # noqa: E402
from .ulysses import UlyssesAttention, attention, split_lengths, ulysses_attention  # noqa: E402

__all__ = [
    "FusedMoE",
    "MoeOrder",
    "UlyssesAttention",
    "attention",
    "interleave",
    "quantise_blocks",
    "quantise_rows",
    "split_lengths",
    "ulysses_attention",
]
