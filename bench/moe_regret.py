#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The planner's choice for every recorded cell of `xstage bench moe`, and what it would have cost.

usage: bench/moe_regret.py [BUILD] [RECORD.json...]      (default: build, every bench/results/*x2*moe*.json of xstage)

A cell is a layer, a number of tokens, a routing and a type. Asked is `xstage plan moe` as `bench moe` asks it (0.75 of the matrix
rate of the type), for the choice that the kernel can run; its time is that of the measured fused row with the same schedule and
store whose lead is nearest. Regret is against the best fused row of the cell. No GPU; a few seconds.
"""

import collections
import json
import math
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
XSTAGE = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build") / "xstage"
RECORDS = sys.argv[2:] or sorted((ROOT / "bench" / "results").glob("*x2*moe*.json"))
RATE = {"bf16": 0.75 * 790, "e4m3": 0.75 * 1200}
STORE = {"st16": "at_once", "bulk": "paced"}
CELL = ("preset", "dtype", "hidden", "inter", "experts", "topk", "tokens", "routing", "skew", "p")


def cells_of(path):
    """Fused rows by cell."""
    cells = collections.defaultdict(list)
    document = json.loads(pathlib.Path(path).read_text())
    if document.get("tool") != "xstage":
        return cells
    for row in document["rows"]:
        if row["variant"] in ("moe_wave", "moe_interleaved") and row["target"] == "peer":
            key = tuple(row.get(name) for name in CELL) + ("off" if row.get("dedup", "off") == "off" else "on",)
            cells[key].append(row)
    return cells


def choice(cell):
    """What the planner would have the kernel do."""
    command = [str(XSTAGE), "plan", "moe", "--ranks", cell["p"], "--gemm-tflops", RATE[cell["dtype"]], "-x", "-q", "--json"]
    for name in ("hidden", "inter", "experts", "topk", "tokens", "routing", "skew"):
        if cell[name] is not None:
            command += [f"--{name}", cell[name]]
    command += ["--dtype", cell["dtype"]] + (["--dedup"] if cell["dedup"] == "on" else [])
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, env={**os.environ, "XSTAGE_DATA_DIR": str(ROOT)}
    )
    if done.returncode:
        sys.exit(f"{command}\n{done.stderr}")
    runs = [c for c in json.loads(done.stdout)["considered"] if c["predicted_us"] and c["method"] in STORE]
    return min((c for c in runs if not c.get("wave_blocks")), key=lambda c: c["predicted_us"])


def main():
    """One line a cell, then the worst and the mean."""
    regrets = []
    print("| layer | tokens | type, routing | best fused row | planner: predicted | measured as | regret |")
    print("|---|---|---|---|---|---|---|")
    for path in RECORDS:
        for key, rows in cells_of(path).items():
            cell = dict(zip(CELL + ("dedup",), key))
            best = min(rows, key=lambda row: row["median_us"])
            chosen = choice(cell)
            wanted = "moe_" + chosen["schedule"], STORE[chosen["method"]]
            alike = [row for row in rows if (row["variant"], row["store"]) == wanted]
            name = f"{cell['preset'] or ''} H {cell['hidden']}, I {cell['inter']}, {cell['experts']} experts".strip()
            head = f"| {name} | {cell['tokens']:,} | {cell['dtype']}, {cell['routing']}{', once' if cell['dedup'] == 'on' else ''} |"
            lead = f", lead {chosen['lead_tiles']}" if chosen["lead_tiles"] else ""
            said = f"{chosen['schedule']}, {wanted[1]}{lead}: {chosen['predicted_us']:.0f}"
            of_best = f"{best['variant'][4:]}, {best['store']}{', lead ' + str(best['lead']) if best['lead'] else ''}: {best['median_us']:.0f}"
            if not alike:
                print(f"{head} {of_best} | {said} | not measured | |")
                continue
            row = min(alike, key=lambda r: abs(math.log((r["lead"] or 1) / (chosen["lead_tiles"] or 1))))
            regret = row["median_us"] / best["median_us"] - 1
            regrets.append(regret)
            found = f"{'lead ' + str(row['lead']) + ': ' if row['lead'] else ''}{row['median_us']:.0f}"
            print(f"{head} {of_best} | {said} | {found} | {100 * regret:.1f} % |")
    within = sum(r <= 0.02 for r in regrets)
    print(f"\n{len(regrets)} cells: mean regret {100 * sum(regrets) / len(regrets):.1f} %, worst {100 * max(regrets):.1f} %, within 2 % in {within}")


main()
