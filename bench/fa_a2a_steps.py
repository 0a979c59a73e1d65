#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What traces of the fused attention kernel say about a tile behind a stalled burst; the numbers of `xstage simulate fa-a2a --as-traced`.

usage: bench/fa_a2a_steps.py [data/h200x2-fa-a2a-steps.csv]

A row is one tile: when the later of its two warpgroups began (start_us) and how long it computed from there (run_us), how far
apart the two began (skew_us), the longer of their two issues (issue_us; none where another warp sends), bytes that left. Made from
`xstage bench fa-a2a --target peer --trace` (24 heads, d = 128, 2 ranks); `call` numbers the two runs.
"""

import collections
import csv
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATH = sys.argv[1] if len(sys.argv) > 1 else ROOT / "data" / "h200x2-fa-a2a-steps.csv"
CTAS = 132
STALLED_US = {"st16": 0.9, "bulk": 1.5, "paced": 0.9}  # twice the floor of a tile
SLOW = 1.10  # of the first quartile: tiles take either 1.00 or 1.18 times it
RATE = 371.5e3  # bytes/us; Q(132) of plain stores and of the release: profiles/h200x2-calibrated.json
CAPACITY = {"st16": 2.893e6, "bulk": 1.289e6}


def read():
    """Tiles of every run by number."""
    runs = collections.defaultdict(dict)
    with open(PATH, newline="") as file:
        for row in csv.DictReader(file):
            runs[int(row["call"]), int(row["seq"]), row["variant"], int(row["rank"])][int(row["tile"])] = row
    return runs


def main():
    """One line a run, then the fitted numbers."""
    seen = collections.defaultdict(collections.Counter)
    extra = collections.defaultdict(list)
    first = collections.defaultdict(list)
    print("call  rows variant rank  slow tiles by wave           largest skew in step, out of step")
    for (call, seq, variant, rank), tiles in sorted(read().items()):
        run = {t: float(row["run_us"]) for t, row in tiles.items()}
        base = sorted(run.values())[len(run) // 4]
        slow = {t: us > SLOW * base and t >= 2 * CTAS for t, us in run.items()}  # the second wave's loads are late as well
        waves = [sum(slow[t] for t in run if t // CTAS == w) for w in range(max(run) // CTAS + 1)]
        skews = [[float(tiles[t]["skew_us"]) for t in run if t >= 2 * CTAS and slow[t] == out] for out in (0, 1)]
        print(f"{call:4} {seq:5} {variant:7} {rank:4}  {str(waves):28} {max(skews[0]):.1f}, {max(skews[1], default=0):.1f}")
        for t in run:
            before = t - CTAS
            if slow[t]:
                extra[variant].append(run[t] / base - 1)
            if before >= CTAS and seq == 8192 and tiles[before]["issue_us"]:
                stalled = float(tiles[before]["issue_us"]) > STALLED_US[variant]
                seen[variant]["slow" if slow[before] else "stalled" if stalled else "free", slow[t]] += 1
            if t < CTAS and tiles[t]["issue_us"]:
                first[variant].append(float(tiles[t]["issue_us"]))
    print()
    for variant in ("st16", "bulk"):
        enter, stay = seen[variant]["stalled", True], seen[variant]["slow", True]
        enters, stays = enter + seen[variant]["stalled", False], stay + seen[variant]["slow", False]
        free = seen[variant]["free", True], seen[variant]["free", False]
        print(
            f"{variant}: a slow tile takes {100 * statistics.mean(extra[variant]):.0f} % longer; slow behind a stalled burst "
            f"{enter} of {enters} ({enter / enters:.2f}), behind a burst on its floor {free[0]} of {sum(free)}, behind a slow "
            f"tile {stay} of {stays} ({stay / stays:.2f})"
        )
    issue = {variant: statistics.mean(first[variant]) for variant in ("st16", "bulk")}
    volume = CTAS * 32768.0
    capacity = volume - RATE * issue["st16"]
    rate = (volume - CAPACITY["bulk"]) / issue["bulk"]
    print(f"st16: the first wave issues in {issue['st16']:.2f} us: Q {capacity / 1e6:.2f} MB, {capacity / CAPACITY['st16']:.2f} of Q(132)")
    print(f"bulk: in {issue['bulk']:.2f} us: with Q of the release R is {rate / 1e3:.0f} GB/s, {rate / RATE:.2f} of R")


main()
