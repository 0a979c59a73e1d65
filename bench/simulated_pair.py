#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the simulator says of rows measured between two GPUs, beside them: the tables of docs/simulate.md.

usage: bench/simulated_pair.py [BUILD] [PROFILE]

The kernel alone is taken from the measurement (its rate is set so that the simulated kernel without exchange takes as long);
what is compared is what the exchange adds. Simulated numbers are medians over seeds 1 to 7. No GPU; half a minute.
"""

import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
XSTAGE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build") / "xstage"
PROFILE = sys.argv[2] if len(sys.argv) > 2 else "h200x2-calibrated"
RESULTS = ROOT / "bench" / "results"
FA_RUNS = ("24x128", "build-tree", "build-before", "sender-24x128", "40x128", "24x64", "sender-24x64")
SEEDS = range(1, 8)


def simulate(arguments, seed=1):
    """One document of `xstage simulate`."""
    command = [str(XSTAGE), "simulate", *map(str, arguments), "--profile", PROFILE, "--seed", str(seed), "-q", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XSTAGE_DATA_DIR": str(ROOT)})
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)


def exposed(arguments):
    """Median over the seeds."""
    return statistics.median(simulate(arguments, seed)["exposed_us"] for seed in SEEDS)


def rate_of(arguments, alone_us):
    """TFLOP/s at which the kernel without exchange takes alone_us."""
    return 600 * simulate([*arguments, "--tflops", 600])["free_us"] / alone_us


def cell(measured, simulated):
    """Every measured run, and the simulation."""
    return "/".join(f"{m:.0f}" for m in measured) + f", {simulated:.0f}"


def attention():
    """Every variant of every shape up to 16k rows."""
    measured = collections.defaultdict(lambda: collections.defaultdict(list))
    for name in FA_RUNS:
        rows = collections.defaultdict(dict)
        for row in json.loads((RESULTS / f"2026-11-30-h200x2-fa-a2a-{name}.json").read_text())["rows"]:
            rows[row["heads"], row["head_dim"], row["seq"]][row["variant"]] = row["median_us"]
        for shape, times in rows.items():
            measured[shape]["alone"].append(times["fa_only"])
            for variant in ("fused_st16", "fused_bulk", "fused_paced"):
                measured[shape][variant].append(times[variant] - times["fa_only"])
    print("| heads x d, rows | alone | st16: measured, simulated | bulk | paced | st16 without the new terms |")
    print("|---|---|---|---|---|---|")
    for shape in sorted(measured, key=lambda s: (-s[1], s[0], s[2])):
        heads, dim, seq = shape
        if seq > 16384:
            continue
        runs = measured[shape]
        base = ["fa-a2a", "--heads", heads, "--head-dim", dim, "--seq", seq, "--ranks", 2, "--jitter", 0.005, "-x"]
        base += ["--tile-rows", 192] if dim == 64 else []
        base += ["--tflops", f"{rate_of(base, statistics.median(runs['alone'])):.1f}"]
        terms = ["--bystanders", "--as-traced"]
        plain = exposed([*base, *terms, "--dispersion"])
        bulk = exposed([*base, *terms, "--method", "bulk"])
        paced = exposed([*base, *terms, "--dispersion", "--issuer", "role", "--slices", 8])
        before = exposed([*base, "--bystanders"])
        print(
            f"| {heads} x {dim}, {seq:,} | {statistics.median(runs['alone']):.0f} | {cell(runs['fused_st16'], plain)} "
            f"| {cell(runs['fused_bulk'], bulk)} | {cell(runs['fused_paced'], paced)} | {before:.0f} |"
        )


def experts():
    """Every cell of the mixture-of-experts run that has its schedule alone beside it."""
    rows = json.loads((RESULTS / "2026-11-30-h200x2-moe.json").read_text())["rows"]
    best = {}
    for row in rows:
        if row["variant"] in ("moe_wave", "moe_interleaved") and row["residual_us"] is not None:
            if row["store"] == "at_once" and row["dtype"] == "bf16" and row["routing"] == "uniform" and not row["planned"]:
                key = tuple(row[k] for k in ("hidden", "inter", "experts", "topk", "tokens", "variant"))
                if key not in best or row["median_us"] < best[key]["median_us"]:
                    best[key] = row
    print("| layer, tokens | wave: measured, simulated us | exposed | interleaved | exposed |")
    print("|---|---|---|---|---|")
    shapes = collections.defaultdict(dict)
    for key, row in best.items():
        shapes[key[:5]][key[5]] = row
    for shape in sorted(shapes):
        cells = []
        for variant, schedule in (("moe_wave", "wave"), ("moe_interleaved", "interleaved")):
            row = shapes[shape].get(variant)
            if not row:
                cells += ["", ""]
                continue
            base = ["moe", "--ranks", 2, "--schedule", schedule, "--bystanders", "--jitter", 0.02, "-x"]
            for name, value in zip(("hidden", "inter", "experts", "topk", "tokens"), shape):
                base += [f"--{name}", value]
            if schedule == "interleaved":
                base += ["--lead", row["lead"], "--group", row["group"], "--unit", row["unit"]]
            alone = row["median_us"] - row["residual_us"]
            base += ["--tflops", f"{rate_of(base, alone):.1f}"]
            document = simulate(base)
            cells += [f"{row['median_us']:.0f}, {document['makespan_us']:.0f}"]
            cells += [f"{row['residual_us']:.0f}, {document['exposed_us']:.0f}"]
        print(f"| H {shape[0]}, I {shape[1]}, {shape[2]} experts, {shape[4]:,} | " + " | ".join(cells) + " |")


attention()
print()
experts()
