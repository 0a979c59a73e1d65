# SPDX-License-Identifier: Apache-2.0
"""xstage.torch without a GPU: errors, shapes of fake tensors, the exchange among processes over gloo."""

from ctypes import POINTER, c_byte, c_float, c_uint16, cast

import package  # noqa: F401
import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch")
if not hasattr(torch.library, "register_fake"):
    pytest.skip(f"torch {torch.__version__} has no torch.library.register_fake; 2.4 has", allow_module_level=True)

import torch_ranks  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import xstage  # noqa: E402
from xstage import _abi  # noqa: E402
from xstage._library import function  # noqa: E402
from xstage.torch import (  # noqa: E402
    FusedMoE,
    UlyssesAttention,
    _layer,
    attention,
    moe,
    quantise_blocks,
    quantise_rows,
    split_lengths,
    ulysses_attention,
)

E4M3 = torch.float8_e4m3fn


def tensors(*shape, dtype=torch.bfloat16):
    return [torch.randn(*shape).to(dtype) for _ in range(3)]


@pytest.mark.parametrize(
    "change, kind, sentence",
    [
        (lambda q, k, v: (q, k, v), xstage.UsageError, "q is on cpu; a CUDA device is needed"),
        (lambda q, k, v: (q.half(), k, v), xstage.UsageError, "q is float16; bfloat16 is needed"),
        (lambda q, k, v: (q, k, v.float()), xstage.UsageError, "v is float32; bfloat16 is needed"),
        (lambda q, k, v: (q[0], k, v), xstage.UsageError, "q has 3 dimensions"),
        (
            lambda q, k, v: (q, k, v.mT.contiguous().mT),
            xstage.UsageError,
            r"v has stride \d+ in its last dimension; 1 is needed",
        ),
        (
            lambda q, k, v: (q, k, torch.zeros(2, 64, 4, 132, dtype=q.dtype)[..., :128]),
            xstage.UsageError,
            "v has strides .* multiples of 8",
        ),
        (
            lambda q, k, v: (q[..., :32], k[..., :32], v[..., :32]),
            xstage.RangeError,
            "head_dim is 32; kernels exist for 64 and 128",
        ),
        (
            lambda q, k, v: (q, k[:, :, :2], v),
            xstage.RangeError,
            r"k is \(2, 64, 2, 128\), which does not go with q \(2, 64, 4, 128\)",
        ),
        (
            lambda q, k, v: (q, k, v[:, :9]),
            xstage.RangeError,
            r"v is \(2, 9, 4, 128\), which does not go with q .* and k",
        ),
        (
            lambda q, k, v: (q.requires_grad_(), k, v),
            xstage.UsageError,
            "q requires a gradient; these kernels have no backward",
        ),
    ],
)
def test_a_tensor_that_does_not_fit(change, kind, sentence):
    with pytest.raises(kind, match=sentence):
        attention(*change(*tensors(2, 64, 4, 128)))


def test_arguments_that_would_change_something():
    attend = UlyssesAttention(backend="torch")
    q, k, v = tensors(1, 16, 2, 64)
    neutral = {
        "dropout_p": 0.0,
        "causal": False,
        "window_size": (-1, -1),
        "alibi_slopes": None,
        "return_attn_probs": False,
    }
    assert attend(q, k, v, **neutral).shape == q.shape
    for changed, sentence in (
        ({"causal": True}, "causal is True"),
        ({"dropout_p": 0.1}, "dropout_p is 0.1"),
        ({"window_size": (3, 3)}, "window_size"),
    ):
        with pytest.raises(xstage.UsageError, match=sentence):
            attend(q, k, v, **changed)
    with pytest.raises(TypeError, match="dropout"):
        attend(q, k, v, dropout=0.0)
    with pytest.raises(xstage.UsageError, match="lengths is .16, 16. and rank 0 of 1 brings 16"):
        attend(q, k, v, lengths=[16, 16])
    with pytest.raises(xstage.UsageError, match='joint_strategy is "rear" and 1 of'):
        attend(q, k, v, joint_strategy="rear", joint_tensor_query=q)
    with pytest.raises(xstage.UsageError, match="valid are fused, torch"):
        UlyssesAttention(backend="fast")
    with pytest.raises(xstage.UsageError, match="valid are st16, bulk, paced"):
        UlyssesAttention(store="st17")
    assert split_lengths(11, 4) == [3, 3, 3, 2]


def test_one_rank_is_plain_attention():
    q, k, v = tensors(2, 40, 4, 64, dtype=torch.float32)
    text = tensors(2, 7, 4, 64, dtype=torch.float32)
    names = ("joint_tensor_query", "joint_tensor_key", "joint_tensor_value")
    got = ulysses_attention(
        q, k, v, backend="torch", joint_strategy="front", key_length=44, softmax_scale=0.2, **dict(zip(names, text))
    )
    whole = [torch.cat(pair, dim=1) for pair in ((text[0], q), (k, text[1]), (v, text[2]))]
    views = [x.transpose(1, 2) for x in (whole[0], whole[1][:, :44], whole[2][:, :44])]
    want = torch.nn.functional.scaled_dot_product_attention(*views, scale=0.2).transpose(1, 2)
    assert torch.allclose(got, want, atol=1e-6)


def test_fake_tensors_have_the_shapes():
    with FakeTensorMode():
        q, k, v = (torch.empty(2, rows, 6, 128, dtype=torch.bfloat16, device="cuda") for rows in (50, 70, 70))
        out = torch.ops.xstage.attention(q.transpose(0, 1).contiguous().transpose(0, 1), k, v, -1, 0.1)
        assert (
            out.shape == q.shape and out.is_contiguous() and out.dtype == torch.bfloat16 and out.device.type == "cuda"
        )
        out = torch.ops.xstage.ulysses_attention(q, q, q, [], [40, 50, 60], 1, -1, 0.1, False, False, 1)
        assert out.shape == (2, 50, 6, 128)
        text = [torch.empty(2, 8, 6, 128, dtype=torch.bfloat16, device="cuda") for _ in range(3)]
        out = torch.ops.xstage.ulysses_attention(q, q, q, text, [40, 50, 60], 1, -1, 0.1, False, False, 1)
        assert out.shape == (2, 58, 6, 128)
        x, ids = torch.empty(5, 256, dtype=torch.bfloat16, device="cuda"), torch.empty(5, 2, device="cuda")
        out = torch.ops.xstage.fused_moe(x.mT.contiguous().mT, ids, ids, x, x, None, None, 0.0, 0, True, 1)
        assert out.shape == x.shape and out.is_contiguous() and out.dtype == torch.bfloat16


def test_it_exports_whole_with_any_length():
    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.attend = UlyssesAttention()

        def forward(self, q, k, v):
            return self.attend(q * 2, k, v, softmax_scale=0.1) + q

    q, k, v = tensors(1, 128, 4, 64)
    rows = torch.export.Dim("rows", min=2, max=4096)
    with torch.no_grad():
        program = torch.export.export(Block(), (q, k, v), dynamic_shapes=[{1: rows}] * 3, strict=True)
    calls = [node for node in program.graph.nodes if node.target is torch.ops.xstage.attention.default]
    assert len(calls) == 1 and isinstance(calls[0].meta["val"].shape[1], torch.SymInt)


def test_the_dispatcher_is_left_out_only_where_nobody_watches():
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    from xstage.torch._attention import unwatched

    class Functions(TorchFunctionMode):
        def __torch_function__(self, function, types, arguments=(), words=None):
            return function(*arguments, **(words or {}))

    class Dispatches(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, arguments=(), words=None):
            return function(*arguments, **(words or {}))

    x, seen = torch.randn(3, 2), []
    assert unwatched(x, x, x) and not unwatched(x, torch.nn.Parameter(x), x)
    for mode in (Functions(), Dispatches(), FakeTensorMode()):
        with mode:
            assert not unwatched(x, x, x), mode
    torch.func.vmap(lambda one: seen.append(unwatched(one, one, one)) or one)(x)
    torch.jit.trace(lambda one: seen.append(unwatched(one, one, one)) or one + 1, x, check_trace=False)
    compiled = torch.compile(lambda one: one + unwatched(one, one, one), backend="eager", fullgraph=True)
    assert not any(seen) and torch.equal(compiled(x), x)


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e4, 1e-30])
def test_quantised_as_the_library_does(spread):
    torch.manual_seed(6)
    x = (spread * torch.randn(256, 512) * torch.exp(3 * torch.randn(256, 512))).bfloat16()
    x[3] = 0
    for name, shape, (values, scales) in (
        ("xst_moe_quantise_rows", (256, 4), quantise_rows(x)),
        ("xst_moe_quantise_blocks", (2, 4), [one[0] for one in quantise_blocks(x[None])]),
    ):
        want, want_scales = torch.empty(x.shape, dtype=torch.uint8), torch.empty(shape)
        scales_at = cast(want_scales.data_ptr(), POINTER(c_float))
        function(name)(cast(x.data_ptr(), POINTER(c_uint16)), 256, 512, want.data_ptr(), scales_at)
        assert torch.equal(values.view(torch.uint8), want) and torch.equal(scales, want_scales)
    with pytest.raises(xstage.RangeError, match=r"\(256, 500\); \(rows, columns\) with columns a multiple of 128"):
        quantise_rows(x[:, :500])
    with pytest.raises(xstage.RangeError, match="rows and columns multiples of 128"):
        quantise_blocks(x[None, :200])


def moe_matrices(experts=4, hidden=256, inter=128, dtype=torch.bfloat16, device="cuda"):
    shapes = (experts, inter, hidden), (experts, inter, hidden), (experts, hidden, inter)
    return [torch.randn(shape, device=device).mul(shape[2] ** -0.5).to(dtype) for shape in shapes]


@pytest.mark.parametrize(
    "change, words, kind, sentence",
    [
        (
            lambda g, u, d: (g.cpu(), u, d),
            {},
            xstage.UsageError,
            "gate is bfloat16 on cpu; bfloat16 or float8_e4m3fn on",
        ),
        (
            lambda g, u, d: (g, u, d.half()),
            {},
            xstage.UsageError,
            "down is float16 on cuda:0; bfloat16 or float8_e4m3fn",
        ),
        (lambda g, u, d: (g, u.to(E4M3), d), {}, xstage.UsageError, "up is float8_e4m3fn on cuda:0 and gate bfloat16"),
        (lambda g, u, d: (g[0], u, d), {}, xstage.RangeError, r"gate is \(128, 256\); one matrix for each"),
        (lambda g, u, d: (g, u[:3], d), {}, xstage.RangeError, r"up is \(3, 128, 256\); \(4, 128, 256\) is needed"),
        (lambda g, u, d: (g, u, d.mT), {}, xstage.RangeError, r"down is \(4, 128, 256\); \(4, 256, 128\) is needed"),
        (
            lambda g, u, d: (g, u, d),
            {"dtype": torch.float8_e5m2},
            xstage.UsageError,
            "dtype is float8_e5m2; valid are bfloat16, float8_e4m3fn",
        ),
        (
            lambda g, u, d: (g[:, :64], u[:, :64], d[..., :64]),
            {"dtype": E4M3},
            xstage.RangeError,
            r"gate is \(4, 64, 256\); with float8_e4m3fn, inter and hidden are multiples of 128",
        ),
        (lambda g, u, d: (g, u, d), {"scales": (1, 2, 3)}, xstage.UsageError, "scales are given and .* are bfloat16"),
        (
            lambda g, u, d: (g.to(E4M3), u.to(E4M3), d.to(E4M3)),
            {"dtype": torch.bfloat16},
            xstage.UsageError,
            "dtype is bfloat16 and gate, up and down are float8_e4m3fn",
        ),
        (
            lambda g, u, d: (g.to(E4M3), u.to(E4M3), d.to(E4M3)),
            {},
            xstage.UsageError,
            "scales=.of gate, of up, of down. are needed",
        ),
        (
            lambda g, u, d: (g.to(E4M3), u.to(E4M3), d.to(E4M3)),
            {"scales": [torch.ones(4, 1, 2, dtype=torch.float64)] * 3},
            xstage.UsageError,
            "the scales of gate are float64 on cpu; float32 on cuda:0 is needed",
        ),
    ],
)
def test_matrices_that_do_not_fit(change, words, kind, sentence):
    with FakeTensorMode(), pytest.raises(kind, match=sentence):
        FusedMoE(*change(*moe_matrices(device="cuda:0")), topk=2, tokens_most=8, **words)


def test_scales_that_do_not_fit():
    matrices = [one.to(E4M3) for one in moe_matrices(device="cpu")]
    good = [torch.ones(4, 1, 2), torch.ones(4, 1, 2), torch.ones(4, 2, 1)]
    assert moe._check_scales(good, matrices) is good
    for at, wrong, sentence in (
        (
            1,
            torch.ones(4, 2, 1),
            r"the scales of up are \(4, 2, 1\); \(4, 1, 2\) is needed, one for each 128 x 128 values",
        ),
        (2, -good[2], "the scales of down are not all positive numbers"),
        (0, good[0] / 0, "the scales of gate are not all positive numbers"),
    ):
        with pytest.raises(xstage.RangeError, match=sentence):
            moe._check_scales([*good[:at], wrong, *good[at + 1 :]], matrices)


class Launches:
    """The library with its launch replaced by the layer's formula, on the memory that a launch would read."""

    def __init__(self, monkeypatch):
        self.layer, self.module = None, None
        monkeypatch.setattr(_layer, "kernels_of", lambda index: (None, 132))
        monkeypatch.setattr(_layer, "function", lambda name: getattr(self, name, None) or function(name))
        monkeypatch.setattr(_layer, "stream_of", lambda index: 0)
        monkeypatch.setattr(_layer, "on_device", lambda index, launch, *arguments: launch(*arguments))
        checked = moe._check_matrices
        monkeypatch.setattr(moe, "_check_matrices", lambda matrices, dtype: self.checked(checked, matrices, dtype))

    def checked(self, check, matrices, dtype):
        with FakeTensorMode() as mode:
            return check([mode.from_tensor(one).to("cuda:0") for one in matrices], dtype)

    def xst_moe_bring(self, kernels, call_ref, tokens_ref, stream, diag_ref):
        call, tokens = call_ref._obj, tokens_ref._obj
        if call.tokens == 0:
            self.brought = torch.empty(0, call.layer.hidden), torch.empty(0, 1), torch.empty(0, 1)
            return function("xst_moe_bring")(None, call_ref, tokens_ref, None, diag_ref)
        rows = (c_uint16 * ((call.tokens - 1) * tokens.x_stride + call.layer.hidden)).from_address(tokens.x)
        x = torch.frombuffer(rows, dtype=torch.bfloat16).as_strided(
            (call.tokens, call.layer.hidden), (tokens.x_stride, 1)
        )
        ids, weights = (
            torch.frombuffer((c_byte * (call.tokens * call.layer.topk * size)).from_address(at), dtype=dtype)
            for at, size, dtype in (
                (tokens.ids, tokens.id_bytes, torch.int64 if tokens.id_bytes == 8 else torch.int32),
                (tokens.weights, 4, torch.float32),
            )
        )
        if call.layer.dtype == _abi.XST_MOE_E4M3:
            values, scales = quantise_rows(x)
            x = values.float() * scales.repeat_interleave(128, -1)
        self.brought = x.float(), ids.view(call.tokens, -1), weights.view(call.tokens, -1)
        return 0

    def xst_moe_fused(self, kernels, call_ref, order, stream, diag_ref):
        call = call_ref._obj
        assert function("xst_moe_call_check")(call_ref, order, diag_ref) == 0, diag_ref._obj.text
        layer, module, tokens = self.layer, self.module, call.tokens
        assert (call.w1, call.w2) == (module.w1.data_ptr(), module.w2.data_ptr()) and order.tile_rows in (64, 128)
        (x, ids, weights), w1, w2 = self.brought, module.w1.float(), module.w2.float()
        gate, up = w1.unflatten(1, (-1, 2, 8)).unbind(2)
        matrices = [gate.flatten(1, 2), up.flatten(1, 2), w2]
        if layer.dtype is E4M3:
            assert (call.w1_scales, call.w2_scales) == (module.w1_scales.data_ptr(), module.w2_scales.data_ptr())
            scales = [one.repeat_interleave(128, -1) for one in (*module.w1_scales.unbind(1), module.w2_scales)]
            matrices = [one * scale.repeat_interleave(128, 1) for one, scale in zip(matrices, scales)]
        want = moe_formula(x, ids, weights, *matrices)
        memory = (c_uint16 * want.numel()).from_address(call.y) if tokens else bytearray(2)
        torch.frombuffer(memory, dtype=torch.bfloat16)[: want.numel()].copy_(want.flatten())
        return 0


def moe_formula(x, ids, weights, gate, up, down):
    out = torch.zeros(x.shape)
    for token, choices in enumerate(ids.tolist()):
        for slot, expert in enumerate(choices):
            middle = torch.nn.functional.silu(gate[expert] @ x[token]) * (up[expert] @ x[token])
            out[token] += down[expert] @ (weights[token, slot] * middle)
    return out


@pytest.mark.parametrize("given", ["bf16", "quantised", "scales"])
def test_what_a_launch_is_given(given, monkeypatch):
    torch.manual_seed(5)
    library = Launches(monkeypatch)
    matrices = moe_matrices(device="cpu")
    x, weights, ids = torch.randn(20, 256).bfloat16(), torch.rand(20, 2), torch.randint(0, 4, (20, 2))
    if given == "scales":
        values, scales = zip(*(quantise_blocks(one) for one in matrices))
        library.module = FusedMoE(*values, scales=scales, topk=2, tokens_most=32)
    else:
        library.module = FusedMoE(*matrices, dtype=E4M3 if given == "quantised" else None, topk=2, tokens_most=32)
    library.layer = _layer.LAYERS[library.module.layer]
    want = moe_formula(x.float(), ids, weights, *(one.float() for one in matrices))
    strided = torch.randn(20, 300).bfloat16()
    strided[:, :256] = x
    apart = torch.zeros(20 * 256 + 1, dtype=torch.bfloat16)[1:].view(20, 256).copy_(x)
    for tokens, rows, choices in (
        (20, x, ids),
        (7, x, ids.int()),
        (0, x, ids),
        (20, strided[:, :256], ids.mT.contiguous().mT),
        (20, torch.stack((x, x), dim=1)[:, 1], ids.int()),
        (20, apart, ids),
        (1, x[:1].as_strided((1, 256), (3, 1)), ids),
    ):
        got = library.module(rows[:tokens], choices[:tokens], weights[:tokens].double())
        error = (got.float() - want[:tokens]).norm() / (want[:tokens].norm() + 1e-9)
        assert got.dtype == torch.bfloat16 and error < (0.01 if given == "bf16" else 0.15), error
    other = FusedMoE(*matrices, dtype=None if given != "bf16" else E4M3, topk=2, tokens_most=32)
    assert other.layer != library.module.layer
    kept = library.module.w1
    library.module.w1 = kept.half()
    with pytest.raises(xstage.UsageError, match="w1 is float16; the layer was made with"):
        library.module(x, ids, weights)
    library.module.w1 = kept
    with pytest.raises(xstage.UsageError, match="w2 is on meta and the layer's"):
        library.layer.check_matrices(kept, library.module.w2.to("meta"), None, None)
    if given != "bf16":
        library.module.w1_scales = None
        with pytest.raises(xstage.UsageError, match="w1_scales is None; the layer was made with float32"):
            library.module(x, ids, weights)
    for one in (library.module, other):
        one.close()
    assert not _layer.LAYERS and _abi.XST_MOE_E4M3 == 1


@pytest.mark.parametrize("ranks", [2, 3])
def test_shapes_among_ranks(ranks, tmp_path):
    for status, output in torch_ranks.run("shapes", ranks, tmp_path):
        assert status == 0, output


@pytest.mark.parametrize("scenario", ["different", "absent", "many"])
def test_two_ranks(scenario, tmp_path):
    for status, output in torch_ranks.run(scenario, 2, tmp_path):
        assert status == 0, output


def test_a_killed_rank_is_a_reason_on_the_other(tmp_path):
    (status, output), (killed, _) = torch_ranks.run("killed", 2, tmp_path)
    assert killed == -9 and status == 0, output
