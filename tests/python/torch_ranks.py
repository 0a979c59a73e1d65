# SPDX-License-Identifier: Apache-2.0
"""What one of several processes does in the tests of xstage.torch; a scenario is a function of this file.

As a script: torch_ranks.py SCENARIO RANK RANKS MEETING cpu|cuda. With cuda, rank r is on device r mod devices; ranks
that share a device meet over gloo, else over nccl.
"""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import package  # noqa: F401  finds the package of this tree


def run(scenario, ranks, folder, device="cpu", timeout_s=120):
    """[(exit status, output)] of all ranks; a process that is still there after `timeout_s` is a failure."""
    meeting = Path(folder) / f"meet-{scenario}-{ranks}"
    environment = {**os.environ, "LD_PRELOAD": "", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, scenario]
    processes = [
        subprocess.Popen(
            [*command, str(rank), str(ranks), str(meeting), device],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
        )
        for rank in range(ranks)
    ]
    end, outputs = time.monotonic() + timeout_s, []
    for process in processes:
        try:
            outputs.append((process, process.communicate(timeout=max(1, end - time.monotonic()))[0]))
        except subprocess.TimeoutExpired:
            process.kill()
            outputs.append((process, "HANGS\n" + process.communicate()[0]))
    return [(process.returncode, output) for process, output in outputs]


class World:
    """This process's part: group, device, random tensors that all ranks know."""

    def __init__(self, rank, ranks, meeting, kind):
        import torch
        import torch.distributed as dist

        self.torch, self.dist, self.rank, self.ranks = torch, dist, rank, ranks
        devices = torch.cuda.device_count() if kind == "cuda" else 0
        self.device = torch.device("cuda", rank % devices) if devices else torch.device("cpu")
        if devices:
            torch.cuda.set_device(self.device)
        backend = "nccl" if devices >= ranks else "gloo"
        dist.init_process_group(
            backend, init_method=f"file://{meeting}", rank=rank, world_size=ranks, timeout=timedelta(seconds=60)
        )
        self.kind = "fused" if devices else "torch"
        self.dtype = torch.bfloat16 if devices else torch.float32

    def single(self):
        """A group of this rank alone."""
        return self.dist.new_group([self.rank], backend="gloo", use_local_synchronization=True)

    def tensors(self, batch, lengths, heads, dim, text=0, seed=1):
        """Whole q, k, v and text q, k, v, the same on all ranks."""
        generator = self.torch.Generator().manual_seed(seed)

        def make(rows):
            return self.torch.randn(batch, rows, heads, dim, generator=generator).to(self.device, self.dtype)

        return [make(sum(lengths)) for _ in range(3)], [make(text) for _ in range(3)] if text else []

    def mine(self, tensors, lengths):
        first = sum(lengths[: self.rank])
        return [x[:, first : first + lengths[self.rank]] for x in tensors]

    def reference(self, tensors, text, lengths, keys=None, scale=None, front=True):
        """This rank's part of attention over everything, in float32."""
        torch = self.torch
        q, k, v = (x.float() for x in tensors)
        first = sum(lengths[: self.rank])
        q = q[:, first : first + lengths[self.rank]]
        if text:
            t = [x.float() for x in text]
            q = torch.cat([t[0], q] if front else [q, t[0]], dim=1)
            k, v = torch.cat([k, t[1]], dim=1), torch.cat([v, t[2]], dim=1)
        scores = torch.einsum("brhd,bkhd->bhrk", q, k[:, :keys]) * (scale or q.shape[3] ** -0.5)
        return torch.einsum("bhrk,bkhd->brhd", scores.softmax(-1), v[:, :keys])

    def close_to(self, got, want):
        worst = (got.float() - want).abs().max().item()
        limit = 0.02 * want.abs().max().item() + 1e-3 if self.kind == "fused" else 1e-5
        assert got.shape == want.shape and worst <= limit, f"largest difference {worst}, allowed {limit}"


def shapes(world):
    """Even and uneven rows and heads, batches, masked keys, replicated text in front and behind."""
    from xstage.torch import UlyssesAttention

    attend = UlyssesAttention(device=world.device, backend=world.kind, timeout_s=30)
    assert UlyssesAttention(device=world.device, backend=world.kind, timeout_s=30).exchange == attend.exchange
    ranks = world.ranks
    even, uneven = [96] * ranks, [130 + 37 * rank for rank in range(ranks)]
    cases = [
        (1, even, 2 * ranks, 128, 0, None, None),
        (2, uneven, 2 * ranks, 64, 0, None, None),
        (1, uneven, 2 * ranks + 1, 128, 0, sum(uneven) - 21, 0.3),
        (1, even, 2 * ranks, 64, 33, None, None),
        (2, uneven, 2 * ranks + 1, 128, 20, sum(uneven) + 11, None),
    ]
    for batch, lengths, heads, dim, text, keys, scale in cases:
        whole, joint = world.tensors(batch, lengths, heads, dim, text)
        for front in (True, False) if text else (True,):
            strategy = ("front" if front else "rear") if text else "none"
            names = ("joint_tensor_query", "joint_tensor_key", "joint_tensor_value")
            got = attend(
                *world.mine(whole, lengths),
                softmax_scale=scale,
                lengths=None if lengths is even else lengths,
                key_length=keys,
                joint_strategy=strategy,
                **dict(zip(names, joint)),
            )
            world.close_to(got, world.reference(whole, joint, lengths, keys, scale, front))
    attend.check()
    attend.close()


def different(world):
    """Ranks with different shapes: both sentences on all ranks, the next call works. Layers share a group's talk."""
    import xstage
    from xstage.torch import UlyssesAttention
    from xstage.torch._group import Ranks
    from xstage.torch.moe import LAYERS, _ranks

    attend = UlyssesAttention(device=world.device, backend=world.kind, timeout_s=30)
    whole, _ = world.tensors(1, [64 + world.rank], 2 * world.ranks, 128)
    try:
        attend(*whole)
    except xstage.UsageError as error:
        assert "differ between ranks" in str(error) and "lengths [64" in str(error) and "[65" in str(error), error
    else:
        raise AssertionError("no complaint")
    for changed, sentence in (
        ({"lengths": [64] * (world.ranks - 1) + [0]}, "at least one a rank"),
        ({}, "one shape is needed"),
    ):
        try:
            attend(*(x[:, :64] for x in whole[:2]), whole[2][:, : 64 - (not changed)], **changed)
        except (xstage.RangeError, xstage.UsageError) as error:
            assert sentence in str(error) or "does not go with" in str(error) or "brings" in str(error), error
        else:
            raise AssertionError("no complaint")
    lengths = [64] * world.ranks
    whole, _ = world.tensors(1, lengths, 2 * world.ranks, 128)
    world.close_to(attend(*world.mine(whole, lengths)), world.reference(whole, [], lengths))
    attend.close()
    again = UlyssesAttention(device=world.device, backend=world.kind, timeout_s=30)
    try:
        attend(*world.mine(whole, lengths))
    except xstage.UsageError as error:
        assert "was closed" in str(error), error
    else:
        raise AssertionError("no complaint")
    again.close()
    ranks = Ranks(None, 30)
    ranks.agree("long texts", "x" * 600)
    try:
        ranks.agree("long texts", "x" * 600 + str(world.rank))
    except xstage.UsageError as error:
        assert "long texts differ between ranks" in str(error), error
    else:
        raise AssertionError("no complaint")
    LAYERS[1] = SimpleNamespace(ranks=ranks, timeout_s=30)
    assert _ranks(None, 30) is ranks and _ranks(None, 20) is not ranks
    LAYERS.clear()


def absent(world):
    """The last rank never comes to the first call: the others say so within the time."""
    import xstage
    from xstage.torch import UlyssesAttention

    attend = UlyssesAttention(device=world.device, backend=world.kind, timeout_s=3)
    if world.rank == world.ranks - 1:
        time.sleep(5)
        os._exit(0)
    whole, _ = world.tensors(1, [64] * world.ranks, 2 * world.ranks, 128)
    start = time.monotonic()
    try:
        attend(*world.mine(whole, [64] * world.ranks))
    except xstage.WaitTimeoutError as error:
        assert "not all" in str(error) and time.monotonic() - start < 7, error
    else:
        raise AssertionError("no complaint")
    os._exit(0)


def killed(world):
    """The last rank is killed between two calls: the others have a reason within the time."""
    from xstage.torch import UlyssesAttention

    attend = UlyssesAttention(device=world.device, backend=world.kind, timeout_s=3)
    lengths = [64] * world.ranks
    whole, _ = world.tensors(1, lengths, 2 * world.ranks, 128)
    mine = world.mine(whole, lengths)
    world.close_to(attend(*mine), world.reference(whole, [], lengths))
    attend.check()
    world.dist.barrier()
    if world.rank == world.ranks - 1:
        os.kill(os.getpid(), signal.SIGKILL)
    start = time.monotonic()
    try:
        attend(*mine)
        attend.check(10)
    except (TimeoutError, RuntimeError) as error:
        print(f"after {time.monotonic() - start:.1f} s: {type(error).__name__}: {str(error).splitlines()[0]}")
        assert time.monotonic() - start < 20
        os._exit(0)
    raise AssertionError("no complaint")


def silent(world):
    """The last rank takes part in the exchange and never launches: the device wait runs out, and the next call says
    so."""
    import xstage
    from xstage.torch import UlyssesAttention
    from xstage.torch._exchange import exchange_of

    attend = UlyssesAttention(device=world.device, timeout_s=2)
    lengths = [64] * world.ranks
    mine = world.mine(world.tensors(1, lengths, 2 * world.ranks, 128)[0], lengths)
    for _ in range(3):
        attend(*mine)
    attend.check()
    exchange = exchange_of(attend.exchange)
    if world.rank == world.ranks - 1:
        exchange.assemble(*mine, [], lengths, True)
    else:
        attend(*mine)
        world.torch.cuda.synchronize()
        try:
            attend(*mine)
        except xstage.WaitTimeoutError as error:
            assert f"rank {world.rank} waited in vain for rank {world.ranks - 1}: call 4 expected, 3 seen" in str(
                error
            ), error
        else:
            raise AssertionError("no complaint")
    world.dist.barrier()
    exchange.abandon()


def many(world):
    """Calls back to back with changing inputs, now and then late on one rank; every result is right."""
    from xstage.torch import UlyssesAttention

    torch, calls = world.torch, int(os.environ.get("XSTAGE_CALLS", "60"))
    attend = UlyssesAttention(device=world.device, backend=world.kind, timeout_s=30, reuse_output=True)
    lengths = [200 + 64 * rank for rank in range(world.ranks)]
    sets = []
    for seed in range(4):
        whole, _ = world.tensors(1, lengths, 2 * world.ranks, 128, seed=seed)
        first = attend(*world.mine(whole, lengths), lengths=lengths).clone()
        world.close_to(first, world.reference(whole, [], lengths))
        sets.append((world.mine(whole, lengths), first))
    wrong = torch.zeros((), device=world.device)
    for call in range(calls):
        mine, want = sets[(call * 7 + call // 5) % len(sets)]
        if world.device.type == "cuda" and (call + world.rank) % 11 == 0:
            torch.cuda._sleep(2_000_000)
        wrong += (attend(*mine, lengths=lengths) != want).any()
    attend.check()
    assert wrong.item() == 0, f"{wrong.item()} of {calls} calls differ"
    attend.close()


def graph(world):
    """A captured graph of several attentions, replayed with new inputs, gives what eager calls give."""
    from xstage.torch import UlyssesAttention

    torch = world.torch
    attend = UlyssesAttention(device=world.device, timeout_s=30)
    lengths = [256] * world.ranks
    inputs = [x.clone() for x in world.mine(world.tensors(1, lengths, 2 * world.ranks, 128)[0], lengths)]

    def step():
        first = attend(*inputs)
        return attend(first, inputs[1], inputs[2])

    for _ in range(3):
        step()
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        output = step()
    for seed in range(2, 7):
        for buffer, new in zip(
            inputs, world.mine(world.tensors(1, lengths, 2 * world.ranks, 128, seed=seed)[0], lengths)
        ):
            buffer.copy_(new)
        captured.replay()
        replayed = output.clone()
        assert torch.equal(replayed, step()), f"replay {seed} differs"
    attend.check()
    attend.close()


def compiled(world):
    """torch.compile with fullgraph gives what eager gives."""
    from xstage.torch import UlyssesAttention

    torch = world.torch
    attend = UlyssesAttention(device=world.device, timeout_s=60)
    lengths = [192] * world.ranks
    mine = world.mine(world.tensors(1, lengths, 2 * world.ranks, 128)[0], lengths)

    def block(q, k, v):
        return attend(q * 1.5, k, v, softmax_scale=0.1) + q

    want = block(*mine)
    got = torch.compile(block, fullgraph=True)(*mine)
    world.close_to(got, want.float())
    attend.check()
    attend.close()


def experts_e4m3(world):
    """The same with 8-bit operands, as near to 16-bit ones as quantising allows."""
    experts(world, world.torch.float8_e4m3fn)


def experts(world, dtype=None):
    """Experts on two ranks give every rank bitwise what one rank with all experts gives."""
    import xstage
    from xstage.torch import FusedMoE

    torch, tokens, hidden, inter, count, topk = world.torch, 96, 256, 128, 2 * world.ranks + 1, 3
    generator = torch.Generator().manual_seed(5)

    def normal(*shape):
        return torch.randn(shape, generator=generator).to(world.device)

    gate, up = (normal(count, inter, hidden).mul(hidden**-0.5).bfloat16() for _ in range(2))
    down = normal(count, hidden, inter).mul(inter**-0.5).bfloat16()
    x, weights = normal(world.ranks, tokens, hidden).bfloat16(), normal(world.ranks, tokens, topk).abs()
    ids = normal(world.ranks, tokens, count).topk(topk, dim=2).indices
    first = sum(count // world.ranks + (rank < count % world.ranks) for rank in range(world.rank))
    mine = slice(first, first + count // world.ranks + (world.rank < count % world.ranks))
    local = gate[mine], up[mine], down[mine]
    layer = FusedMoE(*local, topk=topk, tokens_most=tokens, dtype=dtype, timeout_s=20)
    other = torch.float8_e4m3fn if world.rank else torch.bfloat16
    for most, kind, sentence in ((tokens + world.rank, dtype, "tokens_most 96"), (tokens, other, "float8_e4m3fn")):
        try:
            FusedMoE(*local, topk=topk, tokens_most=most, dtype=kind, timeout_s=20)
        except xstage.UsageError as error:
            assert "layers differ between ranks" in str(error) and sentence in str(error), error
        else:
            raise AssertionError("no complaint")
    got = [layer(x[world.rank], ids[world.rank], weights[world.rank]) for _ in range(5)]
    layer.check()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = layer(x[world.rank], ids[world.rank], weights[world.rank])
    for _ in range(3):
        graph.replay()
        got.append(out.clone())
    layer.check()
    layer.close()
    whole = {"topk": topk, "tokens_most": tokens, "group": world.single()}
    alone = FusedMoE(gate, up, down, dtype=dtype, **whole)
    want = alone(x[world.rank], ids[world.rank], weights[world.rank])
    alone.check()
    assert all(torch.equal(one, want) for one in got)
    exact = FusedMoE(gate, up, down, **whole)(x[world.rank], ids[world.rank], weights[world.rank]).float()
    apart = 1 - 2 * (want.float() * exact).sum() / ((want.float() ** 2).sum() + (exact**2).sum())
    assert apart <= (0 if dtype is None else 1e-2), apart


def main():
    scenario, rank, ranks, meeting, kind = sys.argv[1:]
    world = World(int(rank), int(ranks), meeting, kind)
    with world.torch.inference_mode():
        globals()[scenario](world)
    world.dist.barrier()
    world.dist.destroy_process_group()
    print(f"{scenario}: rank {rank} of {ranks} good")


if __name__ == "__main__":
    main()
