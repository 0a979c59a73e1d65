#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the simulator says of 4 and 8 GPUs, before anybody measures them: attention + exchange of the image models, and
# mixture-of-experts layers in both schedules. Prints the tables of docs/predictions.md. No GPU; a minute.
# usage: bench/predict_many.sh [BUILD]      BUILD: a built tree (default: build)
set -eu
cd "$(dirname "$0")/.."
xstage=${1:-build}/xstage
profile=h200x2-calibrated
XSTAGE_DATA_DIR=${XSTAGE_DATA_DIR:-$PWD}
export XSTAGE_DATA_DIR
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# simulated NAME ARGUMENTS...: one document
simulated()
{
    name=$1
    shift
    "$xstage" simulate "$@" --profile $profile --bystanders --json="$scratch/$name.json" -q >/dev/null
}
# measured NAME DEVICES ARGUMENTS...: rows of so many synthetic devices
measured()
{
    name=$1
    devices=$2
    shift 2
    "$xstage" measure --machine "sim:$profile,devices=$devices" -K 132 -B 32K --reps 3 "$@" -q -o "$scratch/$name.csv"
}
for p in 2 4 8; do
    for shape in flux1 qwen-image sd3.5-large cogvideox-5b; do
        simulated "fa.$shape.$p.st16" fa-a2a --preset $shape --ranks $p --tflops 640 --dispersion --jitter 0.005
        simulated "fa.$shape.$p.traced" fa-a2a --preset $shape --ranks $p --tflops 640 --dispersion --jitter 0.005 --as-traced
        simulated "fa.$shape.$p.paced" fa-a2a --preset $shape --ranks $p --tflops 640 --dispersion --jitter 0.005 \
            --issuer role --slices 8
    done
    for layer in qwen3-30b qwen3-235b deepseek-v4-flash deepseek-v3; do
        for tokens in 1024 8192; do
            for schedule in wave interleaved; do
                simulated "moe.$layer.$p.$tokens.$schedule" moe --preset $layer --tokens $tokens --ranks $p --tflops 593 --dedup \
                    --jitter 0.02 --schedule $schedule
            done
        done
    done
done
measured many.4 4 --senders 1,3 --all-to-all --all-peers
measured many.8 8 --senders 7 --all-to-all --all-peers
measured many.2 2 --all-to-all
python3 - "$scratch" <<'END'
import csv
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def of(name):
    return json.loads((folder / f"{name}.json").read_text())


ranks = (2, 4, 8)
print("| shape | " + " | ".join(f"P = {p}: alone: st16, as traced, paced" for p in ranks) + " |")
print("|---|" + "---|" * len(ranks))
for shape in ("flux1", "qwen-image", "sd3.5-large", "cogvideox-5b"):
    cells = []
    for p in ranks:
        d, traced, paced = (of(f"fa.{shape}.{p}.{how}") for how in ("st16", "traced", "paced"))
        cells.append(f"{d['free_us']:.0f}: {d['exposed_us']:.1f}, {traced['exposed_us']:.1f}, {paced['exposed_us']:.1f}")
    print(f"| {shape} | " + " | ".join(cells) + " |")
print()
print("| layer | tokens | " + " | ".join(f"EP = {p}: wave, interleaved us (ratio)" for p in ranks) + " |")
print("|---|---|" + "---|" * len(ranks))
for layer in ("qwen3-30b", "qwen3-235b", "deepseek-v4-flash", "deepseek-v3"):
    for tokens in (1024, 8192):
        cells = []
        for p in ranks:
            wave, inter = (of(f"moe.{layer}.{p}.{tokens}.{s}")["makespan_us"] for s in ("wave", "interleaved"))
            cells.append(f"{wave:.0f}, {inter:.0f} ({wave / inter:.2f})")
        print(f"| {layer} | {tokens} | " + " | ".join(cells) + " |")
print()
print("| who sends | senders | GB/s into the receiver, or of each sender | issue of a burst, mean us |")
print("|---|---|---|---|")
FENCE_US = 1.9409
for devices in (2, 4, 8):
    runs = {}
    for row in csv.DictReader((folder / f"many.{devices}.csv").open()):
        runs.setdefault((row["flow"], int(row["senders"])), []).append(row)
    for (flow, senders), rows in runs.items():
        sent = [48 * 132 * 32768 / (float(r["total_us"]) - FENCE_US) / 1000 for r in rows]
        longest = max(float(r["total_us"]) for r in rows) - FENCE_US
        rate = senders * 48 * 132 * 32768 / longest / 1000 if flow == "incast" else sum(sent) / len(sent)
        issue = sum(float(r["issue_mean_us"]) for r in rows) / len(rows)
        where = {"incast": "to one", "spread": f"to {devices - 1} others in turn", "rotation": "all to all"}[flow]
        print(f"| {where} | {senders} | {rate:.0f} | {issue:.1f} |")
END
