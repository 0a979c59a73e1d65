#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What the timeline says of bench/moe_mechanism.sh: the same layers between two ranks whose path is the recorded host path. No GPU.
# usage: bench/moe_mechanism_model.sh BUILD OUT TFLOPS      (TFLOPS: the rate of the rows named alone_ of that run)
set -eu
tflops=${3:?usage: bench/moe_mechanism_model.sh BUILD OUT TFLOPS}
build=$1
out=$2
mkdir -p "$out"
here=$(dirname "$0")
# The timeline knows paths to peers: the host path under that name.
sed 's/,host,/,peer,/' "$here/../data/h200-host-bursts.csv" >"$out/host-as-peer.csv"
"$build/xstage" fit "$out/host-as-peer.csv" -q --force -o "$out/host-as-peer.json" >/dev/null

# layer NAME SCHEDULE ARGUMENTS...
layer()
{
    name=$1
    schedule=$2
    shift 2
    "$build/xstage" simulate moe --hidden 4096 --experts 32 --ranks 2 --topk 4 --tokens 4096 --no-pull --producers 131 --tflops "$tflops" \
        --profile "$out/host-as-peer.json" -q --schedule "$schedule" --force --json="$out/model-$name.json" "$@" >/dev/null
}
for inter in 512 1024 1536 2048 3072 4096; do
    layer "width-$inter-wave" wave --inter $inter
    layer "width-$inter-interleaved" interleaved --inter $inter
done
for lead in 16 32 64 96 128 160 192 256 320 384 512 1024 2048; do
    layer "lead-$lead" interleaved --inter 2048 --lead $lead
done
