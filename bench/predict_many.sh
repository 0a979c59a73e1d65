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
for p in 2 4 8; do
    for shape in flux1 qwen-image sd3.5-large cogvideox-5b; do
        simulated "fa.$shape.$p" fa-a2a --preset $shape --ranks $p --tflops 640
    done
    for layer in qwen3-30b qwen3-235b deepseek-v4-flash deepseek-v3; do
        for tokens in 1024 8192; do
            for schedule in wave interleaved; do
                simulated "moe.$layer.$p.$tokens.$schedule" moe --preset $layer --tokens $tokens --ranks $p --tflops 593 \
                    --schedule $schedule
            done
        done
    done
done
python3 - "$scratch" <<'END'
import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])


def of(name):
    return json.loads((folder / f"{name}.json").read_text())


ranks = (2, 4, 8)
print("| shape | " + " | ".join(f"P = {p}: fused, exposed us" for p in ranks) + " |")
print("|---|" + "---|" * len(ranks))
for shape in ("flux1", "qwen-image", "sd3.5-large", "cogvideox-5b"):
    cells = []
    for p in ranks:
        d = of(f"fa.{shape}.{p}")
        cells.append(f"{d['makespan_us']:.0f}, {d['exposed_us']:.1f} ({100 * d['exposed_us'] / d['free_us']:.1f} %)")
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
END
