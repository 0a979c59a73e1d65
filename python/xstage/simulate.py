# SPDX-License-Identifier: Apache-2.0
"""The simulator: a kernel tile by tile on a machine's profile, on any number of ranks, without a GPU."""

from __future__ import annotations

import os
import weakref
from ctypes import byref, c_char_p, c_void_p, cast, string_at
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _abi
from ._library import call, function, text_call, word
from .audit import tiles_of
from .errors import UsageError
from .planner import _PI64, counts_array
from .profile import Profile, as_profile
from .shapes import AttentionShape, AttentionTiles, MoeShape, MoeTiles, Shape, Traffic, operand_bytes

_KIND_NAMES = {AttentionShape: (b"attention",), MoeShape: (b"Linear 1", b"Linear 2", b"combine"), Traffic: (b"work",)}


class Simulation:
    """A kernel's run through time. Times in us.

    Attributes:
        makespan_us: everything visible everywhere.
        sender_us: the last rank done and issued.
        free_us: the same kernel without its exchange; None: that run was left out.
        exposed_us: what the exchange adds to it; None likewise.
        barrier_us: moe: the last rank has passed the barrier before the combine; None where there is none.
        combine_us: moe: the longest combine of a rank; None likewise.
        publish_us: attention: fence and flag behind the last store; None elsewhere.
        issue_us, issue_max_us: of a burst, mean and worst.
        sent_bytes: by all ranks.
        backlog_peak_bytes: of one rank.
        tiles, events: how much was stepped through.
    """

    def __init__(self, result: _abi.xst_timeline_result, spans: _abi.xst_spans, kinds: tuple[bytes, ...]) -> None:
        self._result, self._spans = result, spans
        self._kinds = (c_char_p * 4)(*kinds)
        weakref.finalize(self, function("xst_timeline_result_free"), byref(result))
        weakref.finalize(self, function("xst_spans_free"), byref(spans))
        self.makespan_us: float = result.makespan_us
        self.sender_us: float = result.sender_us
        self.free_us: float | None = result.free_us if result.free_us >= 0 else None
        self.exposed_us: float | None = result.exposed_us if result.free_us >= 0 else None
        self.barrier_us: float | None = result.barrier_us or None
        self.combine_us: float | None = result.combine_us if result.barrier_us else None
        self.publish_us: float | None = result.publish_us or None
        self.issue_us: float = result.issue_us
        self.issue_max_us: float = result.issue_max_us
        self.sent_bytes: float = result.sent_bytes
        self.backlog_peak_bytes: float = result.backlog_peak_bytes
        self.tiles: int = result.tiles
        self.events: int = result.events

    def ranks(self) -> NDArray[np.void]:
        """One record a rank: math, store and pull times (busy_us, stall_us, wait_us), end_us, visible_us, bytes, ..."""
        return _records(self._result.ranks, self._result.rank_count, _abi.xst_rank_account)

    def series(self) -> NDArray[np.void]:
        """Backlog and egress over time: time_us, backlog_bytes, egress_bytes_per_us (all ranks), and the same of rank
        0."""
        return _records(self._result.series, self._result.series_count, _abi.xst_timeline_point)

    def svg(self, title: str = "", most_sms: int = 132) -> str:
        """A picture of the first rank: a line an SM, the backlog under it. Needs `pictures=True`."""
        self._need_spans()
        return text_call(
            "xst_timeline_svg", byref(self._spans), byref(self._result), self._kinds, title.encode(), most_sms
        )

    def trace(self) -> str:
        """Chrome trace events (JSON) for ui.perfetto.dev. Needs `pictures=True`."""
        self._need_spans()
        return text_call("xst_timeline_trace", byref(self._spans), byref(self._result), self._kinds)

    def _need_spans(self) -> None:
        if self._spans.count == 0:
            raise UsageError("the run kept no spans; simulate(..., pictures=True) does")

    def __repr__(self) -> str:
        exposed = "" if self.exposed_us is None else f", {self.exposed_us:.4g} us of it exposed"
        return f"<xstage.Simulation {self.makespan_us:.4g} us on {self._result.rank_count} ranks{exposed}>"


def _records(pointer: Any, count: int, struct: Any) -> NDArray[np.void]:
    plain = np.dtype(struct)
    if count == 0:
        return np.zeros(0, dtype=plain)
    return np.frombuffer(string_at(pointer, count * plain.itemsize), dtype=plain).copy()


def simulate(
    shape: Shape,
    profile: Profile | str | os.PathLike[str] = "h200x2-nvlink",
    *,
    tiles: AttentionTiles | MoeTiles | None = None,
    ranks: int | None = None,
    issuer: str = "own",
    coupling: str = "issue",
    jitter: float = 0.0,
    start_skew_us: float = 0.0,
    counts: ArrayLike | None = None,
    routing: str = "uniform",
    skew: float = 2.0,
    lead: int = 0,
    group: int = 1,
    ring_blocks: int = 0,
    pull: bool = True,
    dedup: bool = False,
    dtype: str = "bf16",
    tiles_only: bool = False,
    memory_bytes_per_us: float = 4.8e6,
    dispersion: bool = False,
    bystanders: bool = False,
    as_traced: bool = False,
    slices: int = 1,
    exact_links: bool = False,
    seed: int = 1,
    series_points: int = 400,
    free_run: bool = True,
    pictures: bool = False,
    picture_ranks: int = 2,
    extrapolate: bool = False,
) -> Simulation:
    """Steps a kernel through time.

    Args:
        shape: an `AttentionShape`, a `MoeShape`, or a `Traffic` description of any kernel.
        profile: a profile, or its name or file.
        tiles: how the kernel is cut; None takes the defaults.
        ranks: for traffic, default 2; else the shape's.
        issuer: "own" (the role that computed the tile issues) or "role" (one behind the staging slots).
        coupling: "issue", or "completion": the rival view, that issue waits for visibility.
        jitter: log-normal spread of the tiles' work, 0..10; 0: none.
        start_skew_us: each rank starts this much after the one before it.
        counts: moe: rows of each expert; None: made up by `routing` and `skew`.
        routing: moe: "uniform", "zipf", "hot-expert" or "hot-rank".
        skew: moe: see `routing()`.
        lead: moe, interleaved: Linear-1 tiles ahead; 0: `knee`.
        group: moe, interleaved: Linear-2 tiles in a row.
        ring_blocks: moe: row blocks the pools hold; 0: all.
        pull: moe: rows are fetched from their owners; False: they are there from the start.
        dedup: moe: a token's row is pulled once for all experts of a rank.
        dtype: moe: "bf16" or "e4m3", of what is pulled; the rate is that of `tiles`.
        tiles_only: moe: leave out the exchange of counts, the barrier behind the last store and the combine.
        memory_bytes_per_us: moe: rate of the combine's reads and writes; the default is an H200's data sheet.
        dispersion: SMs drain through the path's hardware groups, as far as the profile knows them.
        bystanders: a tile's loads wait behind stores (16).
        as_traced: attention: Q as the kernel's warpgroups meet it, and warpgroups out of step (docs/simulate.md).
        slices: bulk stores, or issuer "role": pieces in which a tile leaves during the next one.
        exact_links: settle the network at every change, with any number of ranks.
        seed: of what is drawn.
        series_points: most points of `Simulation.series`.
        free_run: also step the kernel without its exchange, which tells what is exposed.
        pictures: keep spans, for `Simulation.svg` and `trace`.
        picture_ranks: of so many ranks.
        extrapolate: read the profile's tables outside their valid range too.

    Raises:
        WaitTimeoutError: a schedule that cannot go on; says which task waits for what.
        UsageError, RangeError, NoDataError: as `audit`.
    """
    if as_traced and not isinstance(shape, AttentionShape):
        raise UsageError("as_traced goes with an AttentionShape")
    owner = as_profile(profile)
    result, spans = _abi.xst_timeline_result(), _abi.xst_spans(ranks=picture_ranks)
    options = _abi.xst_timeline_options(
        issuer=word("issuer", issuer),
        coupling=word("coupling", coupling),
        work_spread=jitter,
        start_skew_us=start_skew_us,
        no_free_run=int(not free_run),
        seed=seed,
        series_step_us=0.25,
        series_count=series_points,
        extrapolate=int(extrapolate),
        dispersion=int(dispersion),
        bystanders=int(bystanders),
        as_traced=int(as_traced),
        slices=slices,
        exact_links=int(exact_links),
    )
    if pictures:
        options.span = cast(function("xst_spans_add"), c_void_p)
        options.span_context = cast(byref(spans), c_void_p)
    if isinstance(shape, Traffic):
        if tiles is not None:
            raise UsageError("tiles do not go with a traffic description, which states its bursts itself")
        call("xst_timeline_traffic", byref(owner._struct), byref(shape._c()), ranks or 2, byref(options), byref(result))
        return Simulation(result, spans, _KIND_NAMES[Traffic])
    name, chosen = tiles_of(shape, tiles)
    if ranks is not None and ranks != shape.ranks:
        raise UsageError(f"ranks is {ranks} and the shape says {shape.ranks}")
    arguments = [byref(owner._struct), byref(shape._c()), byref(chosen._c())]
    if isinstance(shape, MoeShape):
        rows = counts_array(counts, shape, routing, skew)
        if chosen.schedule == "interleaved" and lead == 0:  # type: ignore[union-attr]
            lead = knee(shape, chosen, group, owner.sm_count or 1)  # type: ignore[arg-type]
        moe = _abi.xst_timeline_moe(
            lead=lead,
            group=group,
            ring_blocks=ring_blocks,
            no_pull=int(not pull),
            rows=rows.ctypes.data_as(_PI64),
            exchange=int(not tiles_only),
            memory_bytes_per_us=memory_bytes_per_us,
            once=int(dedup),
            operand_bytes=operand_bytes(dtype),
        )
        arguments.append(byref(moe))
    elif counts is not None or lead or dtype != "bf16":
        raise UsageError("counts, lead and dtype go with a MoeShape")
    call(f"xst_timeline_{name}", *arguments, byref(options), byref(result))
    return Simulation(result, spans, _KIND_NAMES[type(shape)])


def knee(shape: MoeShape, tiles: MoeTiles | None = None, group: int = 1, producers: int = 132) -> int:
    """The lead of the interleaved schedule, in Linear-1 tiles.

    Args:
        shape: the layer, with balanced routing.
        tiles: how it is cut; None: the defaults.
        group: Linear-2 tiles in a row.
        producers: CTAs of the grid, where `tiles` does not say.

    Returns:
        The smallest lead at which no Linear-2 tile waits in steady state; equation (15)'s first guess where a call is
        too short to have one. Never below what `group` Linear-2 tiles in a row need.
    """
    cut = (tiles or MoeTiles())._c()
    cut.producers = cut.producers or producers
    cut.sm_flop_per_us = cut.sm_flop_per_us or 1.0  # the lead depends on ratios of times alone
    counts, knees = _abi.xst_moe_counts(), _abi.xst_lead_knees()
    call("xst_moe_count", byref(shape._c()), byref(cut), byref(counts))
    problem = _abi.xst_lead_problem(
        blocks=counts.blocks,
        l1_per_block=counts.l1_per_block,
        l2_per_block=counts.l2_per_block,
        producers=cut.producers,
        l1_us=counts.l1_us,
        l2_us=counts.l2_us,
        act_us=counts.act_us,
    )
    call("xst_lead_find", byref(problem), byref(knees))
    found = knees.steady if knees.steady > 0 else function("xst_lead_first_tiles")(byref(problem))
    return int(max(found, counts.l1_per_block + group * counts.l1_per_block // counts.l2_per_block))


__all__ = ["Simulation", "knee", "simulate"]
