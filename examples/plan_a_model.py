#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""From a machine's profile to a schedule for one model's attention, with pictures; needs no GPU.

    python examples/plan_a_model.py flux1 --ranks 2 -o out/flux1

Audits the attention and its all-to-all as written (16-byte stores at each tile's end), takes the planner's choice, steps both through time
and writes one timeline each: before.svg and after.svg, a line an SM with the stage's backlog under it.
"""

import argparse
from pathlib import Path

import xstage
from xstage import AttentionShape, AttentionTiles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("preset", nargs="?", default="flux1", help=", ".join(xstage.attention_presets()))
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--profile", default="h200x2-nvlink", help=", ".join(xstage.stored()))
    parser.add_argument("-o", "--output", default="out/plan_a_model", type=Path)
    args = parser.parse_args()

    profile = xstage.Profile.load(args.profile)
    shape = AttentionShape.preset(args.preset, args.ranks)
    print(f"{shape.heads} heads of {shape.head_dim}, {shape.seq} rows, {shape.ranks} ranks of {profile.machine['machine']}")

    before = AttentionTiles()
    audit = xstage.audit(shape, profile, tiles=before)
    print(audit.sentence)
    for action in audit.actions[:1]:
        print("  first:", action["text"])

    plan = xstage.plan(shape, profile)
    print("plan:", plan.sentence)
    chosen = plan.chosen
    if chosen is None:
        raise SystemExit(plan.data["note"] or "nothing could be predicted")
    after = AttentionTiles(chosen["tile_rows"], method=chosen["method"], staging_slots=chosen["staging_slots"])

    args.output.mkdir(parents=True, exist_ok=True)
    for name, tiles in (("before", before), ("after", after)):
        run = xstage.simulate(shape, profile, tiles=tiles, pictures=True)
        title = f"{args.preset}, {args.ranks} ranks: {tiles.tile_rows} rows a tile, {tiles.method}"
        (args.output / f"{name}.svg").write_text(run.svg(title), encoding="utf-8")
        print(f"{name}: {run.makespan_us:.1f} us, {run.exposed_us:.2f} us of it the exchange; {args.output / name}.svg")


if __name__ == "__main__":
    main()
