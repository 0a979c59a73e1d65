#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The mechanism on one GPU: a share of the Combine rows goes to host memory, whose path drains slowly. Where Linear 2 alone asks for
# more than the path drains, and Linear 1 and 2 together do not, the wave schedule waits and the interleaved one hides it.
# Widths at a share of one half (which is also two ranks: bench/moe_mechanism_model.sh has the timeline's word), then shares at one
# width, then leads beside the knee, then turns of several tiles, then traced calls.
# usage: bench/moe_mechanism.sh BUILD OUT      (BUILD: a finished build; OUT: a folder for the documents)
set -eu
out=${2:?usage: bench/moe_mechanism.sh BUILD OUT}
build=$1
mkdir -p "$out"

# layer NAME ARGUMENTS...: 4,096 tokens with 4 choices, 16 experts here: 1,024 rows an expert
layer()
{
    name=$1
    shift
    timeout 120 "$build/xstage" bench moe --hidden 4096 --experts 32 --ranks 2 --topk 4 --tokens 4096 --target host --store at_once -q \
        --profile h200-host --rounds 5 --calls 4 --json="$out/mechanism-$name.json" "$@"
}
for inter in 512 1024 1536 2048 3072 4096; do
    layer "width-$inter" --inter $inter --remote-frac 0.5
done
layer shares --inter 1024 --remote-frac 0,0.05,0.1,0.15,0.2,0.25,0.3,0.4,0.5
layer leads --inter 2048 --remote-frac 0.5 --schedule interleaved --lead 16,32,64,96,128,160,192,256,320,384,512,1024,2048
layer groups --inter 2048 --remote-frac 0.5 --schedule interleaved --lead 128,256 --group 1,4,16,64,128
# What both schedules did, tile by tile: issue, waits for operands, backlog beside the laws.
for inter in 1024 2048 3072; do
    layer "traced-$inter" --inter $inter --remote-frac 0.5 --force --trace="$out/mechanism-trace-$inter.json"
    "$build/xstage" audit moe --trace "$out/mechanism-trace-$inter.json" --profile h200-host --force --json="$out/mechanism-audit-$inter.json"
done
