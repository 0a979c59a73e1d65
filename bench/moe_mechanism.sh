#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The mechanism on one GPU: a share of the Combine rows goes to host memory, whose path drains slowly. Where the wave schedule asks
# for more than the path drains and the interleaved one does not, the wave waits and the interleaved schedule hides it. First shares
# and widths, then leads beside the knee.
# usage: bench/moe_mechanism.sh BUILD OUT      (BUILD: a finished build; OUT: a folder for the documents)
set -eu
build=$1
out=$2
mkdir -p "$out"

# layer NAME ARGUMENTS...: 4,096 tokens, 16 experts here, 4 choices: 1,024 rows an expert
layer()
{
    name=$1
    shift
    timeout 120 "$build/xstage" bench moe --hidden 4096 --experts 128 --ranks 8 --topk 4 --tokens 4096 --target host --store at_once -q \
        --profile h200-host --rounds 5 --calls 4 --json="$out/$name.json" "$@"
}
for inter in 512 1024 2048 4096; do
    layer "mechanism-shares-$inter" --inter $inter --remote-frac 0,0.01,0.02,0.04,0.06,0.08,0.12,0.16,0.24
done
for inter in 1024 2048; do
    layer "mechanism-leads-$inter" --inter $inter --remote-frac 0.06 --lead 8,32,64,96,128,160,192,256,384,512,768,1024,2048,4096
done
