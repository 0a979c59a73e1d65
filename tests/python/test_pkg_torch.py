# SPDX-License-Identifier: Apache-2.0
"""xstage.torch without a GPU: errors, shapes of fake tensors, the exchange among processes over gloo."""

import package  # noqa: F401
import pytest

torch = pytest.importorskip("torch", reason="this Python has no torch")
if not hasattr(torch.library, "register_fake"):
    pytest.skip(f"torch {torch.__version__} has no torch.library.register_fake; 2.4 has", allow_module_level=True)

import torch_ranks  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402

import xstage  # noqa: E402
from xstage.torch import UlyssesAttention, attention, split_lengths, ulysses_attention  # noqa: E402


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
