# SPDX-License-Identifier: Apache-2.0
"""bfloat16 to e4m3 with a scale for 128 values of a row, or for 128 x 128 values: value = scale * e4m3.

The same bits as xst_moe_quantise_rows and xst_moe_quantise_blocks of the library: the largest value becomes 448, no
scale is below 2^-40.
"""

from __future__ import annotations

import torch

from ..errors import RangeError

E4M3 = torch.float8_e4m3fn
SCALED = 128
_LEAST_SCALE = 2.0**-40


def _scales(most: torch.Tensor, largest: torch.Tensor, scales_out: torch.Tensor) -> torch.Tensor:
    """For the largest absolute values. `largest` is 448 on the same device: by a number, torch divides by its rounded
    inverse."""
    return torch.div(most, largest, out=scales_out).clamp_(min=_LEAST_SCALE)


def quantise_rows(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A matrix in e4m3, with a scale for each 128 values of a row.

    Args:
        x: (rows, columns), columns a multiple of 128.

    Returns:
        (rows, columns) float8_e4m3fn and (rows, columns / 128) float32. Infinities and NaN become NaN, and so may the
        values they share a scale with.

    Raises:
        RangeError: the shape.
    """
    if x.dim() != 2 or x.shape[1] % SCALED:
        raise RangeError(f"the matrix is {tuple(x.shape)}; (rows, columns) with columns a multiple of 128 is needed")
    values = torch.empty(x.shape, dtype=E4M3, device=x.device)
    scales = torch.empty((x.shape[0], x.shape[1] // SCALED), device=x.device)
    groups = x.unflatten(1, (-1, SCALED))
    most = torch.linalg.vector_norm(groups, float("inf"), dim=2, dtype=torch.float32)
    _scales(most, scales.new_full((), 448.0), scales)
    values.view(groups.shape).copy_(torch.div(groups, scales[:, :, None]))
    return values, scales


def quantise_blocks(matrices: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Matrices in e4m3, with a scale for each 128 x 128 values, as `FusedMoE` takes them.

    Args:
        matrices: (experts, rows, columns), rows and columns multiples of 128.

    Returns:
        (experts, rows, columns) float8_e4m3fn and (experts, rows / 128, columns / 128) float32. Infinities and NaN
        become NaN, and so may the values they share a scale with.

    Raises:
        RangeError: the shape.
    """
    if matrices.dim() != 3 or matrices.shape[1] % SCALED or matrices.shape[2] % SCALED:
        raise RangeError(
            f"the matrices are {tuple(matrices.shape)}; (experts, rows, columns) with rows and columns multiples of "
            "128 is needed"
        )
    experts, rows, columns = matrices.shape
    values = torch.empty(matrices.shape, dtype=E4M3, device=matrices.device)
    scales = torch.empty((experts, rows // SCALED, columns // SCALED), device=matrices.device)
    largest = scales.new_full((), 448.0)
    for matrix, value, scale in zip(matrices, values, scales):  # one at a time: the quotients are float32
        blocks = matrix.unflatten(1, (-1, SCALED)).unflatten(0, (-1, SCALED))
        most = torch.linalg.vector_norm(blocks, float("inf"), dim=(1, 3), dtype=torch.float32)
        _scales(most, largest, scale)
        value.view(blocks.shape).copy_(torch.div(blocks, scale[:, None, :, None]))
    return values, scales
