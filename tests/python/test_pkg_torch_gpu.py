# SPDX-License-Identifier: Apache-2.0
"""xstage.torch on a Hopper GPU: against float32 attention, as an operator of torch, in graphs, among processes."""

import os
import subprocess
import sys

import pytest
from package import SOURCE

torch = pytest.importorskip("torch", reason="this Python has no torch")
if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    pytest.skip("no Hopper GPU", allow_module_level=True)

import torch_ranks  # noqa: E402

import xstage  # noqa: E402
from xstage.torch import (  # noqa: E402
    FusedMoE,
    MoeOrder,
    UlyssesAttention,
    attention,
    quantise_blocks,
    quantise_rows,
)

E4M3 = torch.float8_e4m3fn
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE / "python"), "LD_PRELOAD": ""}

# Heads of one rank and rows of diffusion transformers: FLUX.1 on 2 and 4 ranks, odd lengths, Wan 2.1, SD3.5.
SHAPES = [
    (1, 4608, 12, 128),
    (1, 4481, 6, 128),
    (2, 4429, 19, 64),
    (1, 6921, 3, 128),
    (3, 1, 2, 64),
    (1, 127, 5, 128),
]


def tensors(batch, rows, heads, dim, keys=None):
    generator = torch.Generator(device="cuda").manual_seed(rows)
    sizes = [(batch, count, heads, dim) for count in (rows, keys or rows, keys or rows)]
    return [torch.randn(size, generator=generator, device="cuda", dtype=torch.bfloat16) for size in sizes]


def by_torch(q, k, v, scale=None, dtype=torch.float32):
    views = [x.transpose(1, 2).to(dtype) for x in (q, k, v)]
    return torch.nn.functional.scaled_dot_product_attention(*views, scale=scale).transpose(1, 2)


def check(got, q, k, v, scale=None):
    """No further from float32 attention than twice what torch's own bfloat16 attention is, and one rounding."""
    want = by_torch(q, k, v, scale)
    theirs = (by_torch(q, k, v, scale, torch.bfloat16).float() - want).abs().max().item()
    rounding = ((want + 0.3) - 0.3 - want).abs().max().item() + want.abs().max().item() * 2**-8
    worst = (got.float() - want).abs().max().item()
    assert got.shape == want.shape and worst <= 2 * theirs + 2 * rounding, f"off by {worst}; torch by {theirs}"


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
def test_against_scaled_dot_product_attention(shape):
    q, k, v = tensors(*shape)
    out = attention(q, k, v)
    assert out.is_contiguous()
    check(out, q, k, v)
    assert torch.equal(out, attention(q, k, v))


def test_scale_keys_and_strides():
    q, k, v = tensors(2, 300, 4, 128, keys=500)
    v[:, 450:] = float("nan")
    check(attention(q, k, v, scale=0.3, key_length=450), q, k[:, :450], v[:, :450], scale=0.3)
    packed = torch.randn(2, 200, 3, 4, 64, device="cuda", dtype=torch.bfloat16)  # as one projection gives it
    q, k, v = packed.unbind(2)
    check(attention(q, k, v), q, k, v)
    heads_first = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    assert torch.equal(attention(*heads_first), attention(q, k, v))
    with pytest.raises(xstage.RangeError, match="not a multiple of 16 bytes"):
        shifted = torch.randn(2 * 200 * 4 * 64 + 8, device="cuda", dtype=torch.bfloat16)[4 : 4 + 2 * 200 * 4 * 64]
        attention(shifted.view(2, 200, 4, 64), k, v)
    with pytest.raises(xstage.RangeError, match="key_length is 501"):
        attention(*tensors(2, 300, 4, 128, keys=500), key_length=501)
    with pytest.raises(xstage.UsageError, match="k is on cpu and q on cuda:0"):
        attention(q, k.cpu(), v)
    with pytest.raises(xstage.UsageError, match="v is float16"):
        attention(q, k, v.half())


def test_a_cached_shape_is_checked_again():
    q, k, v = tensors(1, 64, 2, 64)
    attention(q, k, v)
    with pytest.raises(xstage.UsageError, match="v is int16"):
        attention(q, k, v.view(torch.int16))
    with pytest.raises(xstage.UsageError, match="no backward"):
        attention(q.clone().requires_grad_(), k, v)
    with torch.no_grad():
        attention(q.clone().requires_grad_(), k, v)


def test_operator():
    for q, k, v in (tensors(1, 200, 2, 64), tensors(2, 65, 3, 128, keys=130)):
        torch.library.opcheck(torch.ops.xstage.attention.default, (q, k, v, -1, 0.1))
        torch.library.opcheck(
            torch.ops.xstage.attention.default, (q.transpose(0, 1).contiguous().transpose(0, 1), k, v, 60, 0.1)
        )


def test_streams():
    q, k, v = tensors(1, 2048, 8, 128)
    want = attention(q, k, v)
    side = torch.cuda.Stream()
    torch.cuda._sleep(20_000_000)
    q2 = q * 2
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        got = attention(q2 / 2, k, v)
    torch.cuda.current_stream().wait_stream(side)
    assert torch.equal(got, want)


def test_graph_replay():
    q, k, v = tensors(1, 1024, 4, 128)
    attention(q, k, v)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        first = attention(q, k, v)
        out = attention(first, k, v)
    for seed in range(5):
        for tensor in (q, k, v):
            tensor.normal_()
        graph.replay()
        assert torch.equal(out, attention(attention(q, k, v), k, v)), seed


def test_compile_has_no_breaks():
    attend = UlyssesAttention()

    def block(q, k, v):
        return attend(q * 1.5, k, v, softmax_scale=0.1) + q

    compiled = torch.compile(block, fullgraph=True, dynamic=True)
    for rows in (128, 200):
        q, k, v = tensors(1, rows, 4, 64)
        with torch.no_grad():
            assert torch.allclose(compiled(q, k, v).float(), block(q, k, v).float(), atol=0.05)


@pytest.mark.parametrize("scenario", ["shapes", "different", "absent", "silent", "many", "compiled"])
def test_two_ranks(scenario, tmp_path):
    for status, output in torch_ranks.run(scenario, 2, tmp_path, "cuda"):
        assert status == 0, output


def test_three_ranks(tmp_path):
    for status, output in torch_ranks.run("shapes", 3, tmp_path, "cuda"):
        assert status == 0, output


def test_a_graph_of_two_ranks(tmp_path):
    if torch.cuda.device_count() < 2:
        pytest.skip("one GPU: the exchange goes through the host, which no graph captures")
    for status, output in torch_ranks.run("graph", 2, tmp_path, "cuda"):
        assert status == 0, output


def test_a_killed_rank_is_a_reason_on_the_other(tmp_path):
    (status, output), (killed, _) = torch_ranks.run("killed", 2, tmp_path, "cuda")
    assert killed == -9 and status == 0, output


def wide(values, scales):
    """What e4m3 values with their scales stand for."""
    scales = scales.repeat_interleave(128, -1)
    return values.float() * (scales.repeat_interleave(128, 1) if values.dim() == 3 else scales)


def moe_by_torch(x, ids, weights, gate, up, down, clamp=None, e4m3=False):
    """The layer in float32, rounded to bfloat16 where the kernel rounds; `e4m3`: and quantised where it does."""

    def rounded(value):
        return value.bfloat16().float()

    def activated(value):
        return wide(*quantise_rows(value)) if e4m3 else rounded(value)

    if e4m3:
        x = wide(*quantise_rows(x))
        gate, up, down = (wide(*quantise_blocks(one)) for one in (gate, up, down))
    out = torch.zeros(x.shape, device=x.device)
    for slot in range(ids.shape[1]):
        part = torch.zeros(x.shape, device=x.device)
        for expert in range(gate.shape[0]):
            at = (ids[:, slot] == expert).nonzero()[:, 0]
            rows = x[at].float()
            g, u = rounded(rows @ gate[expert].float().T), rounded(rows @ up[expert].float().T)
            if clamp:
                g, u = g.clamp(max=clamp), u.clamp(-clamp, clamp)
            middle = activated(torch.nn.functional.silu(g) * u * weights[at, slot, None])
            part[at] = rounded(middle @ down[expert].float().T)
        out += part
    return out


def distance(got, want):
    return (1 - 2 * (got.float() * want).sum() / ((got.float() ** 2).sum() + (want**2).sum())).item()


def moe_case(tokens, hidden, inter, experts, topk, masked=False):
    generator = torch.Generator(device="cuda").manual_seed(tokens + hidden)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device="cuda")

    gate, up = (normal(experts, inter, hidden).mul(hidden**-0.5).bfloat16() for _ in range(2))
    down = normal(experts, hidden, inter).mul(inter**-0.5).bfloat16()
    x, weights = normal(tokens, hidden).bfloat16(), normal(tokens, topk).abs()
    ids = normal(tokens, experts).topk(topk, dim=1).indices
    if masked:
        ids[::3, 0] = -1
    return x, ids, weights, gate, up, down


@pytest.mark.parametrize(
    "size",
    [(300, 256, 192, 8, 2), (64, 512, 128, 4, 4), (1000, 128, 64, 16, 6)],
    ids=lambda size: "x".join(map(str, size)),
)
def test_moe(size):
    x, ids, weights, *matrices = moe_case(*size, masked=True)
    layer = FusedMoE(*matrices, topk=size[4], tokens_most=size[0])
    got = layer(x, ids, weights)
    layer.check()
    want = moe_by_torch(x, ids, weights, *matrices)
    assert distance(got, want) < 1e-5 and got.dtype == torch.bfloat16
    for order in (
        MoeOrder("interleaved"),
        MoeOrder("interleaved", lead=40, group=3, unit=4),
        MoeOrder("interleaved", tile_rows=64, store="paced", slices=4),
        MoeOrder(tile_rows=256),
    ):
        other = FusedMoE(*matrices, topk=size[4], tokens_most=size[0], order=order)
        assert other.layer == layer.layer and torch.equal(other(x, ids, weights), got), order
    apart = FusedMoE(*matrices, topk=size[4], tokens_most=size[0], fused=False)
    assert torch.equal(apart(x, ids, weights), got)
    clamped = FusedMoE(*matrices, topk=size[4], tokens_most=size[0], clamp=0.5)
    want = moe_by_torch(x, ids, weights, *matrices, clamp=0.5)
    assert (clamped(x, ids.int(), weights).float() - want).abs().max() < 0.02 * want.abs().max()
    assert layer(x[:0], ids[:0], weights[:0]).shape == (0, size[1])
    layer.check()
    layer.close()


@pytest.mark.parametrize(
    "size",
    [(300, 256, 256, 8, 2), (64, 512, 128, 4, 4), (1000, 128, 384, 16, 6)],
    ids=lambda size: "x".join(map(str, size)),
)
def test_moe_e4m3(size):
    x, ids, weights, *matrices = moe_case(*size, masked=True)
    made = {"topk": size[4], "tokens_most": size[0]}
    layer = FusedMoE(*matrices, dtype=E4M3, **made)
    got = layer(x, ids, weights)
    layer.check()
    assert distance(got, moe_by_torch(x, ids, weights, *matrices, e4m3=True)) < 1e-3 and got.dtype == torch.bfloat16
    assert distance(got, moe_by_torch(x, ids, weights, *matrices)) < 1e-2
    for order in (
        MoeOrder("interleaved"),
        MoeOrder("interleaved", lead=40, group=3, unit=4),
        MoeOrder("interleaved", tile_rows=128, store="paced", slices=4),
        MoeOrder(tile_rows=256),
        MoeOrder(dedup="on"),
        MoeOrder(dedup="off"),
    ):
        other = FusedMoE(*matrices, dtype=E4M3, order=order, **made)
        assert other.layer == layer.layer and torch.equal(other(x, ids, weights), got), order
    assert torch.equal(FusedMoE(*matrices, dtype=E4M3, fused=False, **made)(x, ids, weights), got)
    values, scales = zip(*(quantise_blocks(one) for one in matrices))
    given = FusedMoE(*values, scales=scales, **made)
    assert given.dtype is E4M3 and given.layer == layer.layer and torch.equal(given(x, ids, weights), got)
    ring = FusedMoE(*matrices, dtype=E4M3, order=MoeOrder(tile_rows=128), ring=256, **made)
    assert ring.layer != layer.layer and torch.equal(ring(x, ids, weights), got)
    with pytest.raises(xstage.RangeError, match="the ring of 64 rows holds 0 blocks of 128"):
        FusedMoE(*matrices, dtype=E4M3, order=MoeOrder(tile_rows=128), ring=64, **made)
    with pytest.raises(xstage.UsageError, match="ring is 256 with fused=False"):
        FusedMoE(*matrices, dtype=E4M3, ring=256, fused=False, **made)
    strided = torch.stack((x, x), dim=1)[:, 1]
    assert torch.equal(given(strided, ids.int(), weights), got)
    clamped = FusedMoE(*matrices, dtype=E4M3, clamp=0.5, **made)
    assert distance(clamped(x, ids, weights), moe_by_torch(x, ids, weights, *matrices, clamp=0.5, e4m3=True)) < 1e-3
    assert layer(x[:0], ids[:0], weights[:0]).shape == (0, size[1])
    assert FusedMoE(*matrices, **made).layer != layer.layer
    layer.check()
    layer.close()


@pytest.mark.parametrize("dtype", [torch.bfloat16, E4M3], ids=["bf16", "e4m3"])
def test_moe_as_an_operator(dtype):
    x, ids, weights, *matrices = moe_case(128, 256, 128, 4, 2)
    layer = FusedMoE(*matrices, topk=2, tokens_most=256, dtype=dtype)
    scales = layer.w1_scales, layer.w2_scales
    arguments = (x, ids, weights, layer.w1, layer.w2, *scales, 0.0, layer.order, True, layer.layer)
    # The test of the schema multiplies inputs, which torch cannot do with 8-bit floats.
    looked_at = ["test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"]
    looked_at += ["test_schema"] * (dtype is not E4M3)
    torch.library.opcheck(torch.ops.xstage.fused_moe.default, arguments, test_utils=looked_at)
    want = layer(x, ids, weights)
    with torch.no_grad():
        got = torch.compile(lambda x, ids, weights: layer(x * 1.0, ids, weights) + 1, fullgraph=True)(x, ids, weights)
    assert torch.allclose(got.float(), want.float() + 1, atol=0.05)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = layer(x, ids, weights)
    for _ in range(3):
        x.normal_()
        graph.replay()
        assert torch.equal(out, layer(x, ids, weights))
    with pytest.raises(xstage.UsageError, match="x is float16"):
        layer(x.half(), ids, weights)
    with pytest.raises(xstage.RangeError, match=r"ids is \(128, 1\); \(128, 2\) is needed"):
        layer(x, ids[:, :1], weights)
    with pytest.raises(xstage.RangeError, match="257 tokens, the layer was made for 256"):
        layer(x.new_zeros(257, 256), ids.new_zeros(257, 2), weights.new_zeros(257, 2))
    with pytest.raises(xstage.RangeError, match="multiple" if dtype is E4M3 else "not a multiple of 128"):
        FusedMoE(*moe_case(8, 192, 64, 4, 2)[3:], topk=2, tokens_most=8, dtype=dtype)
    layer.half()
    with pytest.raises(xstage.UsageError, match="w1 is float16; the layer was made with"):
        layer(x, ids, weights)
    layer.w1, layer.w2 = arguments[3:5]
    layer.w1_scales, layer.w2_scales = scales
    layer(x, ids + 3, weights)
    with pytest.raises(xstage.RangeError, match="id"):
        layer.check()
    layer.close()


def test_the_example_of_experts():
    command = [sys.executable, SOURCE / "examples/moe_layer.py", "--experts", "16", "--tokens", "300"]
    run = subprocess.run(
        [*command, "--schedule", "interleaved"], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert run.returncode == 0 and "16 of 16 experts, 2048 x 768: bfloat16" in run.stdout, run.stdout + run.stderr


@pytest.mark.parametrize("scenario", ["experts", "experts_e4m3"])
def test_moe_of_two_ranks(scenario, tmp_path):
    for status, output in torch_ranks.run(scenario, 2, tmp_path, "cuda"):
        assert status == 0, output
